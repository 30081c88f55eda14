"""Tallies: published counts, one for each problem, model and origin."""

from __future__ import annotations

from dataclasses import replace

import pytest

from db.answered import problems_of_tallies
from db.engine import Store
from db.problems import save_problem
from db.records import SaveOutcome, TallyRecord
from db.tallies import (
    TallyRow,
    UnknownProblem,
    list_tally_models,
    load_tallies,
    save_tallies,
    save_tally,
)
from tests.db.builders import NOW, key_of, problem, row_counts

CREATED, UPDATED, UNCHANGED = SaveOutcome


def tally(native: str = "p1", model: str = "m", n: int = 10, correct: int = 4, origin: str = "site") -> TallyRecord:
    return TallyRecord(key_of(native), model, n, correct, origin)


def test_tallies_are_saved_once_changed_and_listed(store: Store) -> None:
    with store.write() as session:
        first = save_problem(session, problem("p1"), now=NOW).problem_id
        second = save_problem(session, problem("p2"), now=NOW).problem_id
        assert save_tally(session, tally()) is CREATED
        assert save_tally(session, tally()) is UNCHANGED
        results = save_tallies(
            session,
            [
                tally("p2"),
                tally("p2"),
                tally("p2", correct=5),
                tally("none"),
                tally("p1", correct=0),
                tally("p1", "a", origin="log"),
            ],
        )
        assert results[:3] == [CREATED, UNCHANGED, UPDATED]
        assert isinstance(results[3], UnknownProblem)
        assert results[4:] == [UPDATED, CREATED]
        assert row_counts(session)["tally"] == 3
        with pytest.raises(UnknownProblem, match="judge:none"):
            save_tally(session, tally("none"))
        assert save_tallies(session, []) == []
    with store.read() as session:
        everything = [
            TallyRow(first, "a", "log", 10, 4),
            TallyRow(first, "m", "site", 10, 0),
            TallyRow(second, "m", "site", 10, 5),
        ]
        assert load_tallies(session) == everything
        assert load_tallies(session, ["m", "x"]) == everything[1:]
        assert load_tallies(session, origin="log") == everything[:1]
        assert load_tallies(session, ["m"], "log") == []
        assert list_tally_models(session) == ["a", "m"]


def test_results_of_another_scenario_stand_beside_the_others(store: Store) -> None:
    with store.write() as session:
        first = save_problem(session, problem("p1"), now=NOW).problem_id
        save_tally(session, tally())
        repaired = replace(tally(correct=6), scenario="self_repair")
        assert save_tallies(session, [repaired, repaired, replace(repaired, n_correct=7)]) == [
            CREATED,
            UNCHANGED,
            UPDATED,
        ]
        assert save_tally(session, replace(repaired, n_correct=8)) is UPDATED
        plain, other = TallyRow(first, "m", "site", 10, 4), TallyRow(first, "m", "site", 10, 8, "self_repair")
        assert load_tallies(session) == [plain]
        assert load_tallies(session, scenario="self_repair") == [other]
        assert load_tallies(session, scenario=None) == [plain, other]
        assert problems_of_tallies(session, ["m"]) == {("m", "site"): {first}}
        assert problems_of_tallies(session, ["m"], scenario="execution") == {}
