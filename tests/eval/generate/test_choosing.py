"""Which problems a model is asked: what it will be scored on, if it can be asked, and all others with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store, open_store
from db.problems import problem_ids, save_problem
from db.records import (
    ContestRecord,
    DateClaim,
    IoKind,
    Precision,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from eval.evaluation import RunOutcomes, eligible_problems
from eval.generate.choosing import Choice, choose_problems
from eval.generate.conditions import Asking, OtherVersion, read_asking
from eval.generate.prompts import load_prompt
from eval.generate.sampling import Sampling
from eval.outcomes import load_problem_facts
from eval.settings import Settings
from tests.eval.facts import NOW, model, registry

REGISTRY = registry(model("nova-1", "2024-10"), model("nova-undated", None))
ASKING = Asking(load_prompt("plain", "code_generation"), "python3")
TEST = TestCaseRecord("1", b"1\n", b"2\n", TestOrigin.OFFICIAL)


def record(native_id: str, day: str | None, **changes: Any) -> ProblemRecord:
    dated = None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC)
    fields: dict[str, Any] = {
        "dates": () if dated is None else (DateClaim(str(day), dated, Precision.INSTANT, "nova"),),
        "contest": ContestRecord("nova", f"round of {day}", starts_at=dated),
        "statement": "Add one.",
        "suite": SuiteRecord((TEST,), changes.pop("io_kind", IoKind.STDIN), changes.pop("entry_point", None)),
    }
    return ProblemRecord(ProblemKey("nova", native_id), "A problem", source="nova", **(fields | changes))


RECORDS = (
    record("old", "2024-10-31"),
    record("second", "2025-03-01"),
    record("first", "2025-02-01"),
    record("undated", None),
    record("untested", "2025-02-01", suite=None),
    record("broken", "2025-02-01", flags=(("bad_tests", "the second breaks its limits"),)),
    record("silent", "2025-02-01", statement=""),
    record("picture", "2025-02-01", flags=(("needs_image", "as drawn"),)),
    record("illustrated", "2025-04-01", flags=(("has_image", "![x](y)"),)),
    record("japanese", "2025-02-01", language="ja"),
    record("called", "2025-05-01", io_kind=IoKind.FUNCTION, entry_point="f"),
)
AFTER_CUTOFF = Settings()
EVERYTHING = Settings(after_cutoff=False, since=datetime(2020, 1, 1, tzinfo=UTC), include_flagged=True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        with opened.write() as session:
            for one in RECORDS:
                save_problem(session, one, now=NOW)
        yield opened


def choose(
    store: Store, settings: Settings = AFTER_CUTOFF, name: str = "nova-1", asking: Asking = ASKING, **more: Any
) -> Choice:
    with store.read() as session:
        return choose_problems(session, name, REGISTRY, settings, asking, now=NOW, **more)


def names(store: Store, choice: Choice) -> list[str]:
    with store.read() as session:
        ids = {number: key.native_id for key, number in problem_ids(session, (one.key for one in RECORDS)).items()}
    return [ids[number] for number in choice.problem_ids]


def test_what_is_asked_is_what_will_be_scored(store: Store) -> None:
    choice = choose(store)
    assert names(store, choice) == ["first", "second", "illustrated", "called"]
    assert choice.left_out == {
        "bad tests": 1,
        "flagged: needs_image": 1,
        "no statement": 1,
        "no tests": 1,
        "publication date unknown": 1,
        "published before the cut-off": 1,
        "statement is not in English (ja)": 1,
    }
    with store.read() as session:
        eligible = eligible_problems(
            load_problem_facts(session), RunOutcomes("nova-1", ()), REGISTRY, Settings(), now=NOW
        )
    assert set(choice.problem_ids) <= {one.problem_id for one in eligible}


def test_a_window_of_ones_own(store: Store) -> None:
    choice = choose(store, EVERYTHING)
    assert names(store, choice) == ["old", "broken", "first", "second", "illustrated", "called"]
    assert choice.left_out["needs a picture"] == 1
    assert "untested" in names(store, choose(store, include_untested=True))


def test_a_model_that_is_not_scored_is_not_asked(store: Store) -> None:
    choice = choose(store, name="nova-undated")
    assert choice.problem_ids == ()
    assert choice.not_scored
    assert choose(store, EVERYTHING, name="nova-undated").problem_ids


def test_only_some_problems(store: Store) -> None:
    choice = choose(store, only={ProblemKey("nova", "second"), ProblemKey("nova", "old")})
    assert names(store, choice) == ["second"]
    assert choice.left_out == {"not among the problems named": 9, "published before the cut-off": 1}


def test_a_limit_draws_the_same_problems_each_time(store: Store) -> None:
    found = [names(store, choose(store, limit=size)) for size in (1, 2, 3, 9)]
    assert [len(one) for one in found] == [1, 2, 3, 4]
    assert set(found[0]) < set(found[1]) < set(found[2]) < set(found[3])
    assert all(one == [name for name in found[3] if name in one] for one in found)  # oldest first, whatever was drawn
    assert choose(store, limit=1).left_out["beyond the limit"] == 3


def test_calls_are_asked_for_in_python_alone(store: Store) -> None:
    choice = choose(store, asking=Asking(ASKING.prompt, "rust"))
    assert names(store, choice) == ["first", "second", "illustrated"]
    assert choice.left_out["call-based: only python3 is called"] == 1


def test_conditions_say_how_a_run_asks() -> None:
    asking = Asking(ASKING.prompt, "cpp20", reasoning_is_answer=True)
    conditions = asking.conditions("nova-1-fp8", Sampling(temperature=1, seed=3))
    assert conditions == {
        "scenario": "code_generation",
        "prompt": "plain-1",
        "prompt_digest": ASKING.prompt.digest,
        "language": "cpp20",
        "extraction": "2",
        "asked_as": "nova-1-fp8",
        "temperature": 1.0,
        "seed": 3,
        "reasoning_is_answer": True,
    }
    assert read_asking(conditions) == asking
    assert "reasoning_is_answer" not in ASKING.conditions("nova-1", Sampling())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prompt_digest": "000000000000"}, "the run goes by the prompt plain-1 (000000000000), this version has"),
        ({"prompt": "plain-9"}, "the run goes by the prompt plain-9"),
        ({"prompt": "gone-1"}, 'no prompt of code_generation is called "gone"'),
        ({"extraction": "0"}, "the run goes by rules of extraction 0, this version has 2"),
        ({"prompt": None}, "the run was not asked by this command"),
    ],
)
def test_runs_that_this_version_cannot_go_on_with(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(OtherVersion) as refused:
        read_asking(ASKING.conditions("nova-1", Sampling()) | changes)
    assert refused.value.message.startswith(message)
    assert refused.value.hint
