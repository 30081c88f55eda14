"""Suites with tests that were made here: kept with what they are made of, and current while nothing better is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from db.completions import RunRecord, save_completions, save_run
from db.digests import suite_digest
from db.engine import Store
from db.errors import UnknownRow
from db.judgements import (
    EnvironmentRecord,
    JudgementRecord,
    count_pending,
    iter_pending,
    save_environment,
    save_judgements,
)
from db.made_suites import (
    MadeSuiteRecord,
    MadeSuiteRow,
    base_suite_id,
    list_made_suites,
    load_made_details,
    save_made_suite,
)
from db.problems import ProblemSummary, list_problems, load_suite, save_problem
from db.records import IoKind, MadeStrength, SaveOutcome, SuiteRecord, TestOrigin
from tests.db.builders import LATER, NOW, case, completion, problem, row_counts, suite_of

SAMPLE = case("s", "2 3\n", "5\n", TestOrigin.SAMPLE)
MADE = case("m1", "0 0\n", "0\n", TestOrigin.GENERATED)
MORE = case("m2", "9 9\n", "18\n", TestOrigin.GENERATED)
OFFICIAL = case("1", "4 5\n", "9\n")
SAMPLES = suite_of(SAMPLE)
STRENGTH = MadeStrength(7, 6, 5, 4, 30, 20, 3, 0)
DETAILS = {"voters": ["b", "a"], "set_aside": {"m3": "they disagree \ud83d"}}


def made(base: int, *tests: Any, revision_id: int | None = None, **changes: Any) -> MadeSuiteRecord:
    record = MadeSuiteRecord(suite_of(SAMPLE, *(tests or (MADE,))), base, revision_id, "r1", 7, STRENGTH, DETAILS)
    return replace(record, **changes)


def shown(store: Store, native_id: str = "p1") -> ProblemSummary:
    with store.read() as session:
        (found,) = [one for one in list_problems(session) if one.key.native_id == native_id]
        return found


def rows(store: Store) -> list[MadeSuiteRow]:
    with store.read() as session:
        return list_made_suites(session)


def save(store: Store, record: MadeSuiteRecord, problem_id: int) -> tuple[int, SaveOutcome]:
    with store.write() as session:
        return save_made_suite(session, problem_id, record, now=LATER)


def give(store: Store, suite: SuiteRecord, statement: str = "Add two numbers.") -> int:
    """Save the problem p1 with these tests; the id of the suite that is current then."""
    with store.write() as session:
        save_problem(session, problem(suite=suite, statement=statement), now=NOW)
    found = shown(store).suite_id
    assert found is not None
    return found


@pytest.fixture
def base(store: Store) -> int:
    """The suite of p1, which has one sample."""
    return give(store, SAMPLES)


@pytest.fixture
def problem_id(store: Store, base: int) -> int:
    return shown(store).problem_id


def test_made_suite_is_current_and_comes_back(store: Store, base: int, problem_id: int) -> None:
    before = shown(store)
    assert (before.samples_only, before.hidden_origins, before.strength) == (True, (), None)
    with store.read() as session:
        revision = session.execute(text("SELECT current_revision_id FROM problem")).scalar_one()
    record = made(base, MADE, MORE, revision_id=revision, seed=2**63 - 1)
    suite_id, outcome = save(store, record, problem_id)
    assert outcome is SaveOutcome.CREATED
    after = shown(store)
    assert (after.suite_id, after.n_tests, after.samples_only) == (suite_id, 3, False)
    assert (after.hidden_origins, after.strength) == ((TestOrigin.GENERATED,), STRENGTH)
    assert rows(store) == [
        MadeSuiteRow(
            problem_id=problem_id,
            key=after.key,
            suite_id=suite_id,
            digest=suite_digest(record.suite),
            n_tests=3,
            n_made=2,
            recipe="r1",
            seed=2**63 - 1,
            made_at=LATER,
            base_suite_id=base,
            revision_id=revision,
            is_current=True,
            is_older=False,
            strength=STRENGTH,
        )
    ]
    with store.read() as session:
        assert load_suite(session, suite_id) == record.suite
        assert load_made_details(session, suite_id) == DETAILS


def test_twice_is_once(store: Store, base: int, problem_id: int) -> None:
    suite_id, _ = save(store, made(base), problem_id)
    with store.read() as session:
        before = row_counts(session)
    assert save(store, made(base), problem_id) == (suite_id, SaveOutcome.UNCHANGED)
    with store.read() as session:
        assert row_counts(session) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"details": {"voters": []}},
        {"strength": replace(STRENGTH, n_wrong_killed=7)},
        {"strength": replace(STRENGTH, n_right_killed=1)},
        {"recipe": "r2"},
        {"seed": -1},
        {"revision_id": 1},
    ],
)
def test_what_is_said_of_the_same_suite_is_replaced(
    store: Store, base: int, problem_id: int, changes: dict[str, Any]
) -> None:
    suite_id, _ = save(store, made(base), problem_id)
    record = made(base, **changes)
    with store.write() as session:
        assert save_made_suite(session, problem_id, record, now=NOW) == (suite_id, SaveOutcome.UPDATED)
        assert load_made_details(session, suite_id) == record.details
    (row,) = rows(store)
    assert (row.recipe, row.seed, row.strength, row.revision_id, row.made_at) == (
        record.recipe,
        record.seed,
        record.strength,
        record.revision_id,
        NOW,
    )
    assert shown(store).strength == record.strength


def test_samples_that_come_again_leave_it_current(store: Store, base: int, problem_id: int) -> None:
    suite_id, _ = save(store, made(base), problem_id)
    with store.write() as session:
        assert save_problem(session, problem(suite=SAMPLES), now=LATER).outcome is SaveOutcome.UNCHANGED
    assert give(store, suite_of(SAMPLE, case("again", "2 3\n", "5\n"))) == suite_id
    # Tests that nothing can be judged by are no better than samples.
    assert give(store, suite_of(case("1", "4 5\n", None))) == suite_id
    assert shown(store).strength == STRENGTH


def test_a_sample_that_is_corrected_ends_what_was_made_from_it(store: Store, base: int, problem_id: int) -> None:
    save(store, made(base), problem_id)
    corrected = give(store, suite_of(replace(SAMPLE, expected=b"6\n")))
    after = shown(store)
    assert (after.suite_id, after.samples_only, after.strength) == (corrected, True, None)
    assert [row.is_current for row in rows(store)] == [False]


def test_official_tests_win_when_they_come_and_nothing_is_lost(store: Store, base: int, problem_id: int) -> None:
    suite_id, _ = save(store, made(base), problem_id)
    official = give(store, suite_of(SAMPLE, OFFICIAL))
    after = shown(store)
    assert official not in (base, suite_id)
    assert (after.hidden_origins, after.strength, after.samples_only) == ((TestOrigin.OFFICIAL,), None, False)
    (row,) = rows(store)
    assert (row.suite_id, row.is_current, row.strength) == (suite_id, False, STRENGTH)
    with store.read() as session:
        assert load_made_details(session, suite_id) == DETAILS
        assert base_suite_id(session, problem_id) == official
    # Made again, it does not come back.
    assert save(store, made(official, MADE, MORE), problem_id)[1] is SaveOutcome.CREATED
    assert save(store, made(base), problem_id)[1] is SaveOutcome.UNCHANGED
    assert shown(store).suite_id == official
    assert [row.is_current for row in rows(store)] == [False, False]


@pytest.mark.parametrize("origin", [TestOrigin.GENERATED, TestOrigin.RECOVERED])
def test_tests_of_any_origin_win_where_they_were_not_made_here(
    store: Store, base: int, problem_id: int, origin: TestOrigin
) -> None:
    theirs = give(store, suite_of(SAMPLE, replace(OFFICIAL, origin=origin)))
    save(store, made(theirs), problem_id)
    after = shown(store)
    assert (after.suite_id, after.hidden_origins, after.strength) == (theirs, (origin,), None)


def test_the_last_made_suite_is_current(store: Store, base: int, problem_id: int) -> None:
    first, _ = save(store, made(base), problem_id)
    second, _ = save(store, made(base, MADE, MORE), problem_id)
    assert [(row.suite_id, row.is_current) for row in rows(store)] == [(first, False), (second, True)]
    assert save(store, made(base), problem_id) == (first, SaveOutcome.UPDATED)
    assert [(row.suite_id, row.is_current) for row in rows(store)] == [(first, True), (second, False)]


def test_a_problem_that_was_not_judged_gets_its_first_tests(store: Store) -> None:
    base = give(store, suite_of(case("1", "4 5\n", None)))
    suite_id, _ = save(store, made(base), shown(store).problem_id)
    assert shown(store).suite_id == suite_id


def test_answers_are_judged_anew_on_made_tests_and_again_on_official_ones(
    store: Store, base: int, problem_id: int
) -> None:
    with store.write() as session:
        run = save_run(session, RunRecord("model"), now=NOW)
        save_completions(session, run, [completion(sample=0), completion(sample=1, code="print(6)")])
        environment = save_environment(session, EnvironmentRecord("sha", "docker", {}), now=NOW)

    def judge_all() -> set[int]:
        with store.write() as session:
            waiting = iter_pending(session, environment)
            verdicts = [JudgementRecord(one.completion_id, one.suite_id, "accepted", [], NOW) for one in waiting]
            save_judgements(session, environment, verdicts)
            assert count_pending(session, environment) == 0
            return {one.suite_id for one in waiting}

    def n_pending() -> int:
        with store.read() as session:
            return count_pending(session, environment)

    assert judge_all() == {base}
    suite_id, _ = save(store, made(base), problem_id)
    assert n_pending() == 2
    assert judge_all() == {suite_id}
    save(store, made(base, details={}), problem_id)
    assert n_pending() == 0, "other details are no other tests"
    official = give(store, suite_of(SAMPLE, OFFICIAL))
    assert n_pending() == 2
    save(store, made(official, MADE, MORE), problem_id)
    assert n_pending() == 2, "made tests that do not count are not judged"
    assert judge_all() == {official}


def test_older_is_what_was_made_from_something_else(store: Store, base: int, problem_id: int) -> None:
    with store.read() as session:
        revision = session.execute(text("SELECT current_revision_id FROM problem")).scalar_one()
    save(store, made(base, revision_id=revision), problem_id)
    assert [row.is_older for row in rows(store)] == [False]
    give(store, SAMPLES, statement="Add two large numbers.")
    assert [row.is_older for row in rows(store)] == [True]
    give(store, SAMPLES, statement="Add two numbers.")
    with store.read() as session:
        # The words of before are current again: it is the same revision.
        assert session.execute(text("SELECT current_revision_id FROM problem")).scalar_one() == revision
    assert [row.is_older for row in rows(store)] == [False]
    give(store, replace(SAMPLES, time_limit_s=3.0))
    (row,) = rows(store)
    assert (row.is_older, row.is_current) == (True, True)
    with store.read() as session:
        newest = base_suite_id(session, problem_id)
    assert newest not in (None, base)


def test_the_base_is_what_counts_apart_from_made_suites(store: Store) -> None:
    official = give(store, suite_of(SAMPLE, OFFICIAL))
    problem_id = shown(store).problem_id
    assert give(store, SAMPLES) == official
    with store.write() as session:
        assert base_suite_id(session, problem_id) == official, "samples that came later count for less"
        untested = save_problem(session, replace(problem("p2"), suite=None), now=NOW).problem_id
        assert base_suite_id(session, untested) is None
        assert base_suite_id(session, untested + 1) is None


def test_suites_are_listed_by_problem(store: Store, base: int, problem_id: int) -> None:
    with store.write() as session:
        other = save_problem(session, problem("p0", suite=SAMPLES), now=NOW).problem_id
        other_base = base_suite_id(session, other)
        assert other_base is not None
        save_made_suite(session, problem_id, made(base), now=NOW)
        save_made_suite(session, problem_id, made(base, MADE, MORE), now=NOW)
        save_made_suite(session, other, made(other_base), now=NOW)
        assert [row.problem_id for row in list_made_suites(session)] == [other, problem_id, problem_id]
        assert [row.problem_id for row in list_made_suites(session, problem_ids=[other])] == [other]
        assert list_made_suites(session, problem_ids=[]) == []
        # The same tests for two problems are two suites.
        assert len({row.suite_id for row in list_made_suites(session)}) == 3


def test_tests_that_came_from_elsewhere_are_not_called_made(store: Store, base: int, problem_id: int) -> None:
    theirs = give(store, suite_of(SAMPLE, replace(MADE, origin=TestOrigin.OFFICIAL)))
    assert save(store, made(base), problem_id) == (theirs, SaveOutcome.UNCHANGED)
    assert rows(store) == []
    with store.read() as session, pytest.raises(UnknownRow, match=f"no suite with made tests {theirs} in the store"):
        load_made_details(session, theirs)


def test_what_is_refused_leaves_no_trace(store: Store, base: int, problem_id: int) -> None:
    suite_id, _ = save(store, made(base), problem_id)
    with store.write() as session:
        other = save_problem(session, problem("p2"), now=NOW).problem_id
        before = row_counts(session)
        new = made(base, MADE, MORE)
        for broken in (replace(new, details={"share": float("nan")}), replace(new, details={"who": {1, 2}})):
            with pytest.raises((ValueError, TypeError), match="JSON"):
                save_made_suite(session, problem_id, broken, now=NOW)
        with pytest.raises(UnknownRow, match=f"no problem {other + 1} in the store"):
            save_made_suite(session, other + 1, new, now=NOW)
        for wrong in (suite_id, suite_id + 100):
            with pytest.raises(UnknownRow, match=f"no test suite to make tests for {wrong} in the store"):
                save_made_suite(session, problem_id, replace(new, base_suite_id=wrong), now=NOW)
        with pytest.raises(UnknownRow, match=f"no test suite to make tests for {base}"):
            save_made_suite(session, other, new, now=NOW)
        with pytest.raises(ValueError, match="now must be an aware UTC datetime"):
            save_made_suite(session, problem_id, new, now=NOW.replace(tzinfo=None))
        assert row_counts(session) == before


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"suite": SAMPLES}, "no others, not none"),
        ({"suite": suite_of(SAMPLE, replace(MADE, input=SAMPLE.input, expected=SAMPLE.expected))}, "not none"),
        ({"suite": suite_of(SAMPLE, replace(MADE, expected=None))}, "not none"),
        ({"suite": suite_of(SAMPLE, MADE, OFFICIAL)}, "not generated, official"),
        ({"recipe": ""}, "recipe must not be empty"),
        ({"seed": 2**63}, "seed must fit into 64 bits"),
    ],
)
def test_records_that_say_nothing_sound_are_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        made(1, **changes)


@pytest.mark.parametrize("kind", [IoKind.FUNCTION, IoKind.DESIGN])
def test_a_made_suite_keeps_the_way_to_meet_its_tests(store: Store, base: int, problem_id: int, kind: IoKind) -> None:
    suite = replace(suite_of(SAMPLE, MADE), io_kind=kind, entry_point="add", signature={"parameters": ["integer"]})
    suite_id, _ = save(store, made(base, suite=suite), problem_id)
    with store.read() as session:
        assert load_suite(session, suite_id) == suite
