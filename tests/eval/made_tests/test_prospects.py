"""Which problems need tests, and what is gathered of each: programs, families of models, and how strong they are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from db.engine import Store
from db.problems import list_problems
from db.records import (
    ProgramRole,
)
from eval.made_tests.gathering import Gatherer, family_of
from eval.made_tests.prospects import look, problems_in_need
from sandbox import Verdict
from tests.eval.made_tests.stored_sums import (
    FEW,
    HIDDEN,
    REGISTRY,
    answer,
    built,
    give,
    id_of,
    judge,
    make,
    refer,
    refused,
    vote,
)
from tests.eval.made_tests.sums import FUNCTIONS, SAMPLES, STATEMENT, row


def test_a_tuned_model_is_no_family_of_its_own(store: Store) -> None:
    """elm and what was made of it are one family, so that three models of it decide nothing."""
    assert family_of(REGISTRY, "graft") == family_of(REGISTRY, "elm") == "elm"
    assert family_of(REGISTRY, "nobody-knows") is None
    give(store, row())
    for model in ("elm", "graft"):
        answer(store, model, "right")
    assert "completions of 2 models pass the samples" in refused(make(store)).message


def test_who_needs_tests_newest_first(store: Store) -> None:
    released = {"a": "2026-01-01T00:00:00Z", "b": "2026-02-01T00:00:00Z", "c": "2026-01-15T00:00:00Z"}
    give(
        store,
        *(row(name, released=date) for name, date in released.items()),
        row("undated", released=None),
        row("whole", tests=[*SAMPLES, HIDDEN]),
        row("elsewhere", platform="atcoder", released="2025-01-01T00:00:00Z"),
        row("untested", tests=[]),
    )
    refer(store, ("right", ProgramRole.ACCEPTED), native_id="a")
    built(make(store, "a"))

    def needing(**options: Any) -> list[str]:
        with store.read() as session:
            names = {one.problem_id: one.key.native_id for one in list_problems(session)}
            return [names[one] for one in problems_in_need(session, **options)]

    assert needing() == ["b", "c", "a", "elsewhere", "undated"]
    assert needing(platforms=["AtCoder"]) == ["elsewhere"]
    assert needing(since=datetime(2026, 1, 1, tzinfo=UTC), until=datetime(2026, 2, 1, tzinfo=UTC)) == ["c", "a"]
    assert set(needing(with_tests=True)) == {"b", "c", "a", "elsewhere", "undated", "whole"}


def test_a_look_says_who_could_decide(store: Store) -> None:
    give(store, row(), row("told", statement=STATEMENT.replace("All values", "$A$ is beautiful.\n- All values")))
    vote(store, "right", "right too", "right again")
    with store.read() as session:
        gatherer = Gatherer.of(session, REGISTRY)
        found, told = look(session, gatherer, [id_of(store), id_of(store, "told")], FEW)
    assert found.has_grammar
    assert (found.n_references, found.n_models, found.n_families, found.can_decide) == (0, 3, 2, True)
    assert told.refusal is not None
    assert told.refusal.message == "the statement's input was not understood: $A$ is beautiful."
    assert (told.plan, told.can_decide) == (None, False)


def test_a_strong_model_is_one_whose_programs_are_accepted(store: Store) -> None:
    give(store, row(tests=[*SAMPLES, HIDDEN]), row("other", tests=[*SAMPLES, HIDDEN]))
    answer(store, "oak-1", "right", "no negatives")
    answer(store, "oak-1", "right too", "right again", native_id="other")
    verdicts = dict.fromkeys(FUNCTIONS, "accepted") | {"no negatives": "wrong_answer"}
    judge(store, verdicts)
    with store.read() as session:
        gathered = Gatherer.of(session, REGISTRY).gather(session, id_of(store))
    assert {one.name: one.known for one in gathered.material.programs} == {
        "oak-1 #0": Verdict.ACCEPTED,
        "oak-1 #1": Verdict.WRONG_ANSWER,
    }
    assert [one.standing for one in gathered.material.programs] == [0.75, 0.75]
