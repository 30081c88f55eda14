"""Pairs of near-duplicates and fingerprints in the store, and what is loaded to compare problems."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from db.duplicates import (
    HAND,
    MAX_SAMPLE_BYTES,
    MAX_STATEMENT_BYTES,
    TWIN,
    DuplicateVerdict,
    list_pairs,
    load_candidates,
    load_fingerprints,
    save_fingerprints,
    save_pair,
    without_fingerprint,
)
from db.engine import Store
from db.problems import save_problem
from db.records import ContestKind, ContestRecord, Precision, ProblemRecord, SaveOutcome, TestOrigin
from tests.db.builders import LATER, NOW, case, claim, key_of, problem, suite_of

SAME, RELATED, DIFFERENT = DuplicateVerdict.SAME, DuplicateVerdict.RELATED, DuplicateVerdict.DIFFERENT
START = datetime(2026, 3, 5, 14, 35, tzinfo=UTC)


def save(store: Store, records: Iterable[ProblemRecord]) -> list[int]:
    with store.write() as session:
        return [save_problem(session, record, now=NOW).problem_id for record in records]


def some_problems(store: Store, n: int) -> list[int]:
    return save(store, (problem(f"p{number}", statement=f"Task {number}") for number in range(n)))


def pair_up(
    session: Session,
    first: int,
    second: int,
    verdict: DuplicateVerdict = SAME,
    method: str = "text",
    reason: str = "why",
) -> SaveOutcome:
    return save_pair(session, first, second, verdict, 0.9, method, reason, NOW)


def test_a_pair_is_one_whatever_its_order_and_saved_once(store: Store) -> None:
    one, two, three = some_problems(store, 3)
    with store.write() as session:
        assert save_pair(session, two, one, SAME, 0.95, "text", "word for word", NOW) is SaveOutcome.CREATED
        assert save_pair(session, one, two, SAME, 0.95, "text", "word for word", LATER) is SaveOutcome.UNCHANGED
        assert pair_up(session, three, two, RELATED) is SaveOutcome.CREATED
    with store.read() as session:
        first, second = list_pairs(session)
        assert (first.first_id, first.second_id, first.first, first.second) == (one, two, key_of("p0"), key_of("p1"))
        assert (first.verdict, first.similarity, first.method, first.reason) == (SAME, 0.95, "text", "word for word")
        assert first.found_at == NOW
        assert list_pairs(session, RELATED) == [second]
        assert list_pairs(session, DIFFERENT) == []


def test_another_verdict_takes_the_place_of_the_first_and_its_date(store: Store) -> None:
    one, two = some_problems(store, 2)
    with store.write() as session:
        pair_up(session, one, two, RELATED)
        assert save_pair(session, one, two, RELATED, 0.9, "text", "better words", LATER) is SaveOutcome.UPDATED
        assert list_pairs(session)[0].found_at == NOW
        assert save_pair(session, one, two, DIFFERENT, 0.5, "text", "edited", LATER) is SaveOutcome.UPDATED
        (pair,) = list_pairs(session)
        assert (pair.verdict, pair.similarity, pair.reason, pair.found_at) == (DIFFERENT, 0.5, "edited", LATER)


def test_a_machine_never_overwrites_a_person(store: Store) -> None:
    one, two = some_problems(store, 2)
    with store.write() as session:
        assert pair_up(session, one, two, SAME) is SaveOutcome.CREATED
        assert pair_up(session, one, two, DIFFERENT, HAND, "two tasks") is SaveOutcome.UPDATED
        assert pair_up(session, one, two, SAME) is SaveOutcome.UNCHANGED
        assert pair_up(session, two, one, DIFFERENT) is SaveOutcome.UNCHANGED
        (pair,) = list_pairs(session)
        assert (pair.verdict, pair.method, pair.reason) == (DIFFERENT, HAND, "two tasks")
        assert pair_up(session, one, two, SAME, HAND, "on second thoughts") is SaveOutcome.UPDATED


def test_a_machine_never_undoes_that_two_problems_are_the_same(store: Store) -> None:
    one, two = some_problems(store, 2)
    with store.write() as session:
        pair_up(session, one, two, RELATED)
        assert pair_up(session, one, two, SAME) is SaveOutcome.UPDATED
        for verdict in (RELATED, DIFFERENT):
            for method in ("text", "text of a later version"):
                assert pair_up(session, one, two, verdict, method, "edited") is SaveOutcome.UNCHANGED
        (pair,) = list_pairs(session)
        assert (pair.verdict, pair.method, pair.reason) == (SAME, "text", "why")
        assert pair_up(session, one, two, SAME, reason="equal samples as well") is SaveOutcome.UPDATED
        assert pair_up(session, one, two, DIFFERENT, HAND, "two tasks") is SaveOutcome.UPDATED
        assert list_pairs(session)[0].verdict is DIFFERENT


def test_a_comparison_never_takes_the_place_of_a_twin(store: Store) -> None:
    one, two = some_problems(store, 2)
    with store.write() as session:
        assert pair_up(session, one, two, DIFFERENT) is SaveOutcome.CREATED
        assert pair_up(session, one, two, SAME, TWIN, "one round, two divisions") is SaveOutcome.UPDATED
        for verdict in DuplicateVerdict:
            assert pair_up(session, one, two, verdict, "text", "word for word") is SaveOutcome.UNCHANGED
        (pair,) = list_pairs(session)
        assert (pair.verdict, pair.method, pair.reason) == (SAME, TWIN, "one round, two divisions")
        assert pair_up(session, one, two, SAME, TWIN, "one round, three divisions") is SaveOutcome.UPDATED
        assert pair_up(session, one, two, DIFFERENT, HAND, "two tasks") is SaveOutcome.UPDATED
        assert pair_up(session, one, two, SAME, TWIN, "one round, two divisions") is SaveOutcome.UNCHANGED


def test_what_is_no_pair_is_refused(store: Store) -> None:
    one, two = some_problems(store, 2)
    with store.write() as session:
        with pytest.raises(ValueError, match="cannot be a duplicate of itself"):
            pair_up(session, one, one)
        for similarity in (-0.1, 1.1, float("nan")):
            with pytest.raises(ValueError, match="similarity must be between 0 and 1"):
                save_pair(session, one, two, SAME, similarity, "text", "why", NOW)
        with pytest.raises(ValueError, match="now must be an aware UTC datetime"):
            save_pair(session, one, two, SAME, 1, "text", "why", datetime(2026, 1, 1))
        with pytest.raises(ValueError, match="method must not be empty"):
            pair_up(session, one, two, method="")


def test_fingerprints_are_asked_for_until_each_current_revision_has_one(store: Store) -> None:
    one, two, three = some_problems(store, 3)
    save(store, [replace(problem("bare"), statement="")])
    with store.write() as session:
        assert without_fingerprint(session, "v1", limit=2) == [one, two]
        revisions = {
            problem_id: candidate.revision_id for problem_id, candidate in load_candidates(session, [one, two]).items()
        }
        save_fingerprints(session, "v1", {revisions[one]: b"1", revisions[two]: b""})
        save_fingerprints(session, "v1", {})
        assert without_fingerprint(session, "v1", limit=9) == [three]
        assert load_fingerprints(session, "v1") == [(revisions[one], one, b"1"), (revisions[two], two, b"")]
        assert load_fingerprints(session, "v1", {revisions[one]}) == [(revisions[two], two, b"")]
        assert load_fingerprints(session, "v2") == []
    save(store, [problem("p0", statement="Task 0, edited")])
    with store.read() as session:
        assert without_fingerprint(session, "v1", limit=9) == [one, three]
        assert load_fingerprints(session, "v1") == [(revisions[two], two, b"")]


def test_another_kind_takes_the_place_of_a_fingerprint(store: Store) -> None:
    (one,) = some_problems(store, 1)
    with store.write() as session:
        revision = load_candidates(session, [one])[one].revision_id
        save_fingerprints(session, "v1", {revision: b"1"})
        assert without_fingerprint(session, "v2", limit=9) == [one]
        save_fingerprints(session, "v2", {revision: b"2"})
        assert load_fingerprints(session, "v2") == [(revision, one, b"2")]
        assert without_fingerprint(session, "v1", limit=9) == [one]


def test_a_candidate_has_the_samples_of_the_current_suite(store: Store) -> None:
    tests = (
        case("1", "1 2\n", "3\n", TestOrigin.SAMPLE),
        case("2", "2 2\n", "4\n", TestOrigin.SAMPLE),
        case("3", "5 5\n", None, TestOrigin.SAMPLE),
        case("4", "9 9\n", "18\n"),
    )
    one, two = save(store, [problem("p0", suite=suite_of(*tests), statement="Añade"), problem("p1")])
    with store.read() as session:
        found = load_candidates(session, [two, one, one, 999])
    assert found.keys() == {one, two}
    assert (found[one].key, found[one].title, found[one].text) == (key_of("p0"), "Problem p0", "Añade")
    assert found[one].samples == {(b"1 2\n", b"3\n"), (b"2 2\n", b"4\n")}
    assert found[two].samples == frozenset()


def test_a_problem_without_a_statement_is_no_candidate(store: Store) -> None:
    ids = save(store, [replace(problem("bare"), statement="")])
    with store.read() as session:
        assert load_candidates(session, ids) == {}


def test_only_rounds_count_as_contests(store: Store) -> None:
    base = replace(problem("p0"), dates=(claim("2026-03-05"),))
    rounds = [
        ContestRecord("judge", "r1", starts_at=START),
        ContestRecord("judge", "r2"),
        ContestRecord("judge", "training", starts_at=LATER, kind=ContestKind.TRAINING),
        ContestRecord("judge", "practice", kind=ContestKind.PERMANENT),
    ]
    (one, *_) = save(store, [replace(base, contest=contest) for contest in rounds])
    with store.read() as session:
        candidate = load_candidates(session, [one])[one]
    assert len(candidate.contests) == 2
    assert candidate.starts == {START}


@pytest.mark.parametrize(
    ("precision", "starts"),
    [(Precision.DAY, {datetime(2026, 3, 5, tzinfo=UTC)}), (Precision.MONTH, set()), (Precision.YEAR, set())],
)
def test_without_a_start_the_day_stands_for_it(store: Store, precision: Precision, starts: set[datetime]) -> None:
    record = replace(
        problem("p0", dates=[claim("2026-03-05", precision)]), contest=ContestRecord("judge", "r1", title="Round 1")
    )
    (one,) = save(store, [record])
    with store.read() as session:
        assert load_candidates(session, [one])[one].starts == starts


def test_what_is_too_large_is_not_read(store: Store) -> None:
    large = "x" * (MAX_SAMPLE_BYTES + 1)
    tests = suite_of(case("1", large, "1\n", TestOrigin.SAMPLE))
    one, two = save(
        store,
        [problem("p0", suite=tests), problem("p1", statement="y" * (MAX_STATEMENT_BYTES + 1))],
    )
    with store.read() as session:
        found = load_candidates(session, [one, two])
    digest = hashlib.sha256(large.encode()).hexdigest().encode()
    assert found[one].samples == {(digest, b"1\n")}
    assert found[two].text == ""
