"""Saving problems: twice is once, an edit adds, and what comes back is what went in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.digests import suite_digest
from db.engine import Store
from db.errors import UnknownRow
from db.problems import (
    AmbiguousProblem,
    UnknownProblem,
    find_problem,
    flag_problem,
    list_problems,
    list_revisions,
    load_suite,
    problem_ids,
    save_problem,
)
from db.records import (
    ContestRecord,
    IoKind,
    Precision,
    ProblemKey,
    ProblemRecord,
    SaveOutcome,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from tests.db.builders import LATER, NOW, case, claim, key_of, problem, row_counts, suite_of

FULL = ProblemRecord(
    key=ProblemKey("judge", "full"),
    title="Sum — of two",
    dates=(claim("2024-05-04T12:00", Precision.INSTANT),),
    source="archive",
    url="https://judge.example/full",
    difficulty="800",
    contest=ContestRecord("judge", "round-7", "Round 7", datetime(2024, 5, 4, 12, tzinfo=UTC), None),
    contest_index="A",
    statement="Add two numbers.",
    starter_code="class Solution: ...",
    suite=SuiteRecord(
        tests=(
            TestCaseRecord("sample 1", b"\x00\xff\r\n", b"", TestOrigin.SAMPLE),
            TestCaseRecord("big", b"1\n" * 10_000, b"2\n", TestOrigin.RECOVERED, {"kind": "exact"}),
            TestCaseRecord("no answer", b"3\n", None, TestOrigin.GENERATED),
        ),
        io_kind=IoKind.FUNCTION,
        entry_point="add",
        comparison={"kind": "tokens", "absolute_tolerance": 1e-6},
        time_limit_s=2.5,
        memory_limit_bytes=8 * 2**30,
    ),
    flags=(("interactive", "asks the judge"),),
)


def test_everything_comes_back(store: Store) -> None:
    with store.write() as session:
        saved = save_problem(session, FULL, now=NOW)
    assert (saved.outcome, saved.date_note) == (SaveOutcome.CREATED, None)
    assert FULL.suite is not None
    with store.read() as session:
        (listed,) = list_problems(session)
        assert listed.suite_id is not None
        assert load_suite(session, listed.suite_id) == FULL.suite
        (revision,) = list_revisions(session, saved.problem_id)
    assert listed.problem_id == saved.problem_id
    assert listed.key == FULL.key
    assert (listed.title, listed.url, listed.difficulty) == (FULL.title, FULL.url, FULL.difficulty)
    assert (listed.contest, listed.io_kind, listed.status) == ("round-7", "function", "active")
    assert listed.date_claims == FULL.dates
    assert listed.released_at == listed.exposed_at == datetime(2024, 5, 4, 12, tzinfo=UTC)
    assert (listed.n_tests, listed.samples_only) == (2, False)
    assert listed.suite_digest == suite_digest(FULL.suite)
    assert listed.comparison == FULL.suite.comparison
    assert listed.flags == FULL.flags
    assert (revision.statement, revision.starter_code) == (FULL.statement, FULL.starter_code)
    assert (revision.source, revision.first_seen_at, revision.is_current) == ("archive", NOW, True)


def test_the_same_record_twice_changes_nothing(store: Store) -> None:
    with store.write() as session:
        first = save_problem(session, FULL, now=NOW)
        before, listed = row_counts(session), list_problems(session)
        again = save_problem(session, FULL, now=LATER)
        assert (again.outcome, again.problem_id) == (SaveOutcome.UNCHANGED, first.problem_id)
        assert (row_counts(session), list_problems(session)) == (before, listed)


def test_a_record_that_says_less_takes_nothing_away(store: Store) -> None:
    with store.write() as session:
        save_problem(session, FULL, now=NOW)
        before = list_problems(session)
        bare = ProblemRecord(FULL.key, FULL.title, (), "other", suite=SuiteRecord(()))
        assert save_problem(session, bare, now=LATER).outcome is SaveOutcome.UNCHANGED
        less_known = replace(FULL, contest=ContestRecord("judge", "round-7"), contest_index=None)
        assert save_problem(session, less_known, now=LATER).outcome is SaveOutcome.UNCHANGED
        assert list_problems(session) == before


def test_an_edited_statement_is_a_new_revision(store: Store) -> None:
    with store.write() as session:
        problem_id = save_problem(session, problem(statement="Add."), now=NOW).problem_id
        edited = save_problem(session, problem(statement="Add two."), now=LATER)
        assert edited.outcome is SaveOutcome.UPDATED
        old, new = list_revisions(session, problem_id)
        assert (old.statement, old.is_current, old.first_seen_at) == ("Add.", False, NOW)
        assert (new.statement, new.is_current, new.first_seen_at) == ("Add two.", True, LATER)
        # Back to the first wording: it is current again, and no third revision.
        assert save_problem(session, problem(statement="Add."), now=LATER).outcome is SaveOutcome.UPDATED
        assert [one.is_current for one in list_revisions(session, problem_id)] == [True, False]


def test_other_tests_are_a_new_suite_and_the_old_one_stays(store: Store) -> None:
    more = suite_of(case("1", "2 3\n", "5\n"), case("2", "4 5\n", "9\n"))
    with store.write() as session:
        save_problem(session, problem(), now=NOW)
        (first,) = list_problems(session)
        assert save_problem(session, problem(suite=more), now=LATER).outcome is SaveOutcome.UPDATED
        (second,) = list_problems(session)
        assert first.suite_id is not None
        assert second.suite_id is not None
        assert second.suite_id != first.suite_id
        assert second.n_tests == 2
        assert load_suite(session, first.suite_id) == suite_of()
        assert load_suite(session, second.suite_id) == more


def test_samples_alone_do_not_replace_a_fuller_suite(store: Store) -> None:
    samples = suite_of(case("1", "2 3\n", "5\n", TestOrigin.SAMPLE))
    with store.write() as session:
        save_problem(session, problem(suite=samples), now=NOW)
        assert list_problems(session)[0].samples_only
        more = suite_of(case("1", "2 3\n", "5\n", TestOrigin.SAMPLE), case("2", "4 5\n", "9\n"))
        save_problem(session, problem(suite=more), now=NOW)
        (full,) = list_problems(session)
        assert not full.samples_only
        assert save_problem(session, problem(suite=samples), now=LATER).outcome is SaveOutcome.UNCHANGED
        assert list_problems(session)[0].suite_id == full.suite_id


@pytest.mark.parametrize(
    "changed",
    [
        SuiteRecord((case("1", "2 3", "5"),)),
        SuiteRecord((case("1", "2 3\n", "6\n"),)),
        SuiteRecord((case("1", "2 3\n", None),)),
        SuiteRecord((replace(case("1", "2 3\n", "5\n"), comparison={"kind": "exact"}),)),
        SuiteRecord((case("1", "2 3\n", "5\n"), case("2", "2 3\n", "5\n"))),
        replace(suite_of(), io_kind=IoKind.FUNCTION),
        replace(suite_of(), entry_point="add"),
        replace(suite_of(), comparison={"relative_tolerance": 1e-9}),
        replace(suite_of(), time_limit_s=1.0),
        replace(suite_of(), memory_limit_bytes=1),
    ],
)
def test_the_digest_of_a_suite_follows_what_decides_a_verdict(changed: SuiteRecord) -> None:
    assert suite_digest(changed) != suite_digest(suite_of())


def test_names_origins_and_spellings_are_not_in_the_digest() -> None:
    renamed = SuiteRecord((case("other", "2 3\n", "5\n", TestOrigin.SAMPLE),))
    assert suite_digest(renamed) == suite_digest(suite_of())
    assert suite_digest(replace(suite_of(), time_limit_s=2)) == suite_digest(replace(suite_of(), time_limit_s=2.0))
    first = suite_digest(replace(suite_of(), comparison={"a": 1, "b": 2}))
    assert first == suite_digest(replace(suite_of(), comparison={"b": 2, "a": 1}))


def test_hidden_tests_that_are_samples_again_leave_a_suite_of_samples_only(store: Store) -> None:
    sample, again = case("s", "2 3\n", "5\n", TestOrigin.SAMPLE), case("1", "2 3\n", "5\n")
    with store.write() as session:
        save_problem(session, problem("again", suite=suite_of(sample, again)), now=NOW)
        save_problem(session, problem("other", suite=suite_of(sample, case("1", "2 3\n", "6\n"))), now=NOW)
        save_problem(session, problem("hidden", suite=suite_of(again)), now=NOW)
        listed = {one.key.native_id: one.samples_only for one in list_problems(session)}
    assert listed == {"again": True, "other": False, "hidden": False}


def test_only_tests_with_an_answer_count(store: Store) -> None:
    with store.write() as session:
        save_problem(session, problem("none", suite=suite_of(case("1", "x", None))), now=NOW)
        sampled = suite_of(case("1", "x", "y", TestOrigin.SAMPLE), case("2", "z", None))
        save_problem(session, problem("samples", suite=sampled), now=NOW)
        save_problem(session, ProblemRecord(key_of("untested"), "T", (), "list"), now=NOW)
        listed = {one.key.native_id: (one.n_tests, one.samples_only) for one in list_problems(session)}
    assert listed == {"none": (0, False), "samples": (1, True), "untested": (0, False)}


def test_a_record_that_cannot_be_saved_leaves_no_trace(store: Store) -> None:
    unsayable = replace(suite_of(), comparison={"absolute_tolerance": float("nan")})
    with store.write() as session:
        with pytest.raises(ValueError, match="JSON"):
            save_problem(session, problem("bad", suite=unsayable), now=NOW)
        assert not any(row_counts(session).values())
        save_problem(session, problem("good"), now=NOW)
    with store.read() as session:
        assert [one.key.native_id for one in list_problems(session)] == ["good"]


def test_a_problem_is_found_by_id(store: Store) -> None:
    with store.write() as session:
        for platform in ("atcoder", "leetcode"):
            save_problem(session, problem("1", platform=platform), now=NOW)
        save_problem(session, problem("2", platform="atcoder"), now=NOW)
        assert find_problem(session, "2") == ProblemKey("atcoder", "2")
        assert find_problem(session, "1", "leetcode") == ProblemKey("leetcode", "1")
        assert find_problem(session, "2", "leetcode") is None
        assert find_problem(session, "3") is None
        with pytest.raises(AmbiguousProblem, match="atcoder:1, leetcode:1") as caught:
            find_problem(session, "1")
        assert caught.value.keys == (ProblemKey("atcoder", "1"), ProblemKey("leetcode", "1"))
        assert set(problem_ids(session, [ProblemKey("atcoder", "1"), ProblemKey("x", "1")])) == {
            ProblemKey("atcoder", "1")
        }
        assert [one.key.native_id for one in list_problems(session, platform="atcoder")] == ["1", "2"]
        assert len(list_problems(session)) == 3


def test_flags_accumulate(store: Store) -> None:
    with store.write() as session:
        save_problem(session, FULL, now=NOW)
        assert flag_problem(session, FULL.key, "bad_tests", "test 2", by="ann", now=NOW) is SaveOutcome.CREATED
        assert flag_problem(session, FULL.key, "bad_tests", "test 2", by="bob", now=LATER) is SaveOutcome.UNCHANGED
        (listed,) = list_problems(session)
        assert listed.flags == (("interactive", "asks the judge"), ("bad_tests", "test 2"))
        with pytest.raises(UnknownProblem, match="no problem judge:none"):
            flag_problem(session, key_of("none"), "bad_tests", "", by="ann", now=NOW)
        with pytest.raises(ValueError, match="flag name"):
            flag_problem(session, FULL.key, "", "", by="ann", now=NOW)


def test_a_problem_of_several_contests_counts_with_the_first_dated_one(store: Store) -> None:
    late = ContestRecord("judge", "a-late", starts_at=datetime(2024, 6, 1, tzinfo=UTC))
    undated = ContestRecord("judge", "a-gym")
    with store.write() as session:
        for contest in (undated, late, FULL.contest):
            save_problem(session, replace(FULL, contest=contest), now=NOW)
        (listed,) = list_problems(session)
        assert listed.contest == "round-7"
        moved = replace(late, starts_at=datetime(2024, 1, 1, tzinfo=UTC))
        assert save_problem(session, replace(FULL, contest=moved), now=NOW).outcome is SaveOutcome.UPDATED
        assert save_problem(session, replace(FULL, contest_index="B"), now=NOW).outcome is SaveOutcome.UPDATED
        (listed,) = list_problems(session)
        assert listed.contest == "a-late"
        assert row_counts(session)["contest"] == 3


def test_an_unknown_suite_is_named(store: Store) -> None:
    with store.read() as session, pytest.raises(UnknownRow, match="no test suite 7"):
        load_suite(session, 7)


CASES = st.builds(
    TestCaseRecord,
    name=st.sampled_from(["1", "2"]),
    input=st.binary(max_size=4),
    expected=st.none() | st.binary(max_size=4),
    origin=st.sampled_from(TestOrigin),
)
RECORDS = st.builds(
    ProblemRecord,
    key=st.sampled_from([key_of("a"), key_of("b"), key_of("a", "other")]),
    title=st.sampled_from(["T", "U", ""]),
    dates=st.lists(st.sampled_from([claim(), claim("2024-05-01", Precision.MONTH, "x")]), max_size=2).map(tuple),
    source=st.sampled_from(["list", "archive"]),
    difficulty=st.none() | st.sampled_from(["easy", "hard"]),
    contest=st.none() | st.builds(ContestRecord, st.just("judge"), st.sampled_from(["c", "d"])),
    statement=st.sampled_from(["", "one", "two"]),
    suite=st.none() | st.builds(SuiteRecord, st.lists(CASES, max_size=2).map(tuple)),
    flags=st.lists(st.tuples(st.just("odd"), st.sampled_from(["r", "s"])), max_size=2).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(RECORDS, max_size=6))
def test_any_sequence_of_saves_is_idempotent(shared_store: Store, records: list[ProblemRecord]) -> None:
    with shared_store.write() as session:
        for record in records:
            save_problem(session, record, now=NOW)
            before, listed = row_counts(session), list_problems(session)
            assert save_problem(session, record, now=LATER).outcome is SaveOutcome.UNCHANGED
            assert (row_counts(session), list_problems(session)) == (before, listed)
        counts, after = row_counts(session), list_problems(session)
        for record in records:  # The whole file once more: no new row, and the same state at the end.
            save_problem(session, record, now=LATER)
        assert (row_counts(session), list_problems(session)) == (counts, after)


def test_a_problem_is_found_by_what_a_source_calls_it(store: Store) -> None:
    with store.write() as session:
        first = save_problem(session, replace(problem("1873A"), other_ids=("1873_A",)), now=NOW)
        again = save_problem(session, replace(problem("1873A"), other_ids=("1873_A",)), now=LATER)
        assert (again.outcome, again.problem_id) == (SaveOutcome.UNCHANGED, first.problem_id)
        assert find_problem(session, "1873_A") == key_of("1873A")
        assert problem_ids(session, [key_of("1873_A")]) == {key_of("1873_A"): first.problem_id}
        # An id that is a problem of its own is not taken from it.
        save_problem(session, problem("b"), now=NOW)
        save_problem(session, replace(problem("1873A"), other_ids=("b",)), now=NOW)
        assert find_problem(session, "b") == key_of("b")
