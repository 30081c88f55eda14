"""From a store to an edition: the same store gives the same bytes, and what is frozen is what the store holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from db.completions import RunRecord, save_completion, save_run
from db.engine import Store, open_store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import flag_problem, save_problem
from db.records import (
    CompletionRecord,
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TallyRecord,
    TestCaseRecord,
    TestOrigin,
)
from db.tallies import save_tally
from eval.editions.document import Edition, EditionSettings, to_bytes
from eval.editions.freezing import Chosen, NothingToFreeze, freeze
from eval.editions.parts import public_part
from eval.labels import LabelUnknown
from eval.models import Registry
from tests.eval.facts import NOW, model, registry, utc

KEYS = [ProblemKey("atcoder", f"p{number}") for number in range(4)]
LEETCODE = [ProblemKey("leetcode", f"q{number}") for number in range(2)]
MODELS = registry(model("m", "2023-10"), model("other", "2023-10", origins=("/somewhere/models.toml",)))
ENVIRONMENT = EnvironmentRecord("e" * 64, "docker", {"python": "3.11.2"})
WRONG = [{"name": "1", "verdict": "accepted"}, {"name": "2", "verdict": "wrong_answer", "detail": "got 3, not 4"}]


SAMPLE = TestCaseRecord("1", b"1\n", b"2\n", TestOrigin.SAMPLE)
HIDDEN = TestCaseRecord("2", b"3\n", b"4\n", TestOrigin.OFFICIAL)


def save(store: Store, keys: Iterable[ProblemKey], tests: tuple[TestCaseRecord, ...] = (SAMPLE, HIDDEN)) -> None:
    with store.write() as session:
        for key in keys:
            claims = (DateClaim("2024-01-05", utc("2024-01-05"), Precision.DAY, "a test"),)
            contest = ContestRecord("atcoder", "abc300")
            record = ProblemRecord(
                key,
                key.native_id,
                claims,
                "a test",
                difficulty="easy",
                contest=contest,
                statement="Add one.",
                suite=SuiteRecord(tests),
            )
            save_problem(session, record, now=NOW)


def judge(
    store: Store,
    results: Sequence[tuple[ProblemKey, str, str]],
    *,
    temperature: float = 0.2,
    environment: EnvironmentRecord = ENVIRONMENT,
    now: datetime = NOW,
) -> None:
    """Save samples of the model "m" as (problem, code, verdict), each a sample of its own, and judge them."""
    with store.write() as session:
        run_id = save_run(session, RunRecord("m", "", {"temperature": temperature}), now=NOW)
        for sample, (key, code, _) in enumerate(results):
            save_completion(session, run_id, CompletionRecord(key, sample, code))
        environment_id = save_environment(session, environment, now=NOW)
    with store.write() as session:
        found = iter_pending(session, environment_id, run_ids=[run_id], limit=1000)
        pending = {item.sample_index: item for item in found}
        records = [
            JudgementRecord(
                pending[sample].completion_id,
                pending[sample].suite_id,
                verdict,
                WRONG if verdict == "wrong_answer" else [],
                now,
            )
            for sample, (_, _, verdict) in enumerate(results)
        ]
        save_judgements(session, environment_id, records)


def tally(store: Store, name: str, keys: Iterable[ProblemKey]) -> None:
    with store.write() as session:
        for key in keys:
            save_tally(session, TallyRecord(key, name, 2, 1, "a site"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        yield opened


def frozen_of(store: Store, registry: Registry = MODELS, **choices: Any) -> Edition:
    return freeze(store, registry, Chosen(EditionSettings(), **choices), software="livecut 0.1.0")


def test_two_stores_filled_in_another_order_give_the_same_bytes(tmp_path: Path) -> None:
    bodies = []
    for name, keys in (("a", KEYS), ("b", KEYS[::-1])):
        with open_store(f"sqlite:///{tmp_path / name}.db") as store:
            save(store, keys)
            tally(store, "other", keys[:2] if name == "a" else keys[2:][::-1])
            tally(store, "m", keys)
            bodies.append(to_bytes(frozen_of(store)))
            bodies.append(to_bytes(frozen_of(store)))
    assert len(set(bodies)) == 1
    assert b"/somewhere" not in bodies[0]


def test_two_runs_of_one_model_saved_in_another_order_give_the_same_bytes(tmp_path: Path) -> None:
    bodies = []
    for name, order in (("a", 1), ("b", -1)):
        with open_store(f"sqlite:///{tmp_path / name}.db") as store:
            save(store, KEYS)
            for temperature, verdict in [(0.2, "accepted"), (0.9, "wrong_answer")][::order]:
                judge(store, [(KEYS[0], "print(1)", verdict)], temperature=temperature)
            edition = frozen_of(store)
            bodies.append(to_bytes(edition))
            assert [(run.name, run.label, run.stored_label, run.n_correct) for run in edition.runs] == [
                ("m (temperature 0.2)", "temperature 0.2", "", (1,)),
                ("m (temperature 0.9)", "temperature 0.9", "", (0,)),
            ]
    assert len(set(bodies)) == 1


def test_problems_and_runs_are_those_of_the_store(store: Store) -> None:
    save(store, KEYS)
    with store.write() as session:
        flag_problem(session, KEYS[1], "private", "held back", by="a test", now=NOW)
    judge(store, [(KEYS[0], "print(1)", "accepted"), (KEYS[0], "print(2)", "wrong_answer")])
    tally(store, "other", KEYS[:3])
    edition = frozen_of(store)
    assert [(one.written_id, one.facts.is_private) for one in edition.problems] == [
        ("atcoder:p0", False),
        ("atcoder:p1", True),
        ("atcoder:p2", False),
        ("atcoder:p3", False),
    ]
    assert [(run.name, run.problems, run.n_samples, run.n_correct, run.imported) for run in edition.runs] == [
        ("m", (0,), (2,), (1,), False),
        ("other", (0, 1, 2), (2, 2, 2), (1, 1, 1), True),
    ]
    assert edition.environment is not None
    assert (edition.environment.digest, edition.environment.details) == ("e" * 64, {"python": "3.11.2"})
    assert edition.as_of == NOW
    assert [row.n_judged for row in edition.numbers.own.rows] == [1, 2]
    revision = edition.problems[0].revision
    assert revision is not None
    assert len(revision) == 64


def test_failures_are_counted_and_drawn_the_same_way_each_time(store: Store) -> None:
    save(store, KEYS)
    with store.write() as session:
        flag_problem(session, KEYS[1], "private", "held back", by="a test", now=NOW)
    many = [(KEYS[0], f"print({sample})\n" * 100, "wrong_answer") for sample in range(5)]
    judge(store, [*many, (KEYS[2], "print(7)", "accepted"), (KEYS[1], "print('private')", "wrong_answer")])
    (failures,) = frozen_of(store).failures
    assert (failures.run, failures.verdicts) == ("m", {"accepted": 1, "wrong_answer": 5})
    assert len(failures.sampled) == 3
    for one in failures.sampled:
        assert (one.problem, one.verdict, one.test, one.language) == ("atcoder:p0", "wrong_answer", "2", "python3")
        assert one.is_cut
        assert one.code == f"print({one.sample_index})\n" * 60
    assert frozen_of(store).failures == (failures,)
    assert b"got 3" not in to_bytes(frozen_of(store))  # a test's expected output is the platform's


def test_withdrawn_and_unnamed_models_are_left_out(store: Store) -> None:
    save(store, KEYS)
    tally(store, "m", KEYS)
    tally(store, "other", KEYS)
    left = frozen_of(store, withdrawn={"M": "asked by its provider"})
    assert [run.name for run in left.runs] == ["other"]
    assert left.withdrawn == {"M": "asked by its provider"}
    assert [run.name for run in frozen_of(store).runs] == ["m", "other"]
    chosen = frozen_of(store, models=frozenset({"m"}))
    assert [(run.name, run.is_shown) for run in chosen.runs] == [("m", True), ("other", False)]
    assert [row.run for row in chosen.numbers.own.rows] == ["m"]
    public = public_part(chosen)
    assert [run.name for run in public.runs] == ["m"]
    assert [entry.name for entry in public.models] == ["m"]
    # That it could be a control is said; nothing else of it is.
    gaps = public.numbers.contamination
    assert set(gaps.data["controls"]) == {"m", "other"}
    quiet = replace(gaps, data={name: value for name, value in gaps.data.items() if name != "controls"})
    assert b'"other"' not in to_bytes(replace(public, numbers=replace(public.numbers, contamination=quiet)))
    # A withdrawn model is no peer either.
    alone = frozen_of(store, models=frozenset({"m"}), withdrawn={"other": "asked by its provider"})
    assert [run.name for run in alone.runs] == ["m"]


def test_filters_choose_what_is_shown_and_all_problems_are_frozen(store: Store) -> None:
    save(store, [*KEYS, *LEETCODE])
    tally(store, "m", [*KEYS, *LEETCODE])
    edition = freeze(store, MODELS, Chosen(EditionSettings(platforms=("leetcode",))), software="x")
    assert len(edition.problems) == 6
    assert [row.n_universe for row in edition.numbers.own.rows] == [2]
    public = public_part(edition)
    assert [one.written_id for one in public.problems] == ["leetcode:q0", "leetcode:q1"]
    assert [run.problems for run in public.runs] == [(0, 1)]
    assert b"atcoder" not in to_bytes(public)
    with pytest.raises(LabelUnknown):
        freeze(store, MODELS, Chosen(EditionSettings(platforms=("nowhere",))), software="x")


def test_a_store_without_problems_or_results_gives_none(store: Store) -> None:
    with pytest.raises(NothingToFreeze, match="no problem"):
        frozen_of(store)
    save(store, KEYS)
    with pytest.raises(NothingToFreeze, match="no result"):
        frozen_of(store)
