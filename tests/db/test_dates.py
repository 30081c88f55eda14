"""Which date claim decides, and when two contradict each other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from db.claims import superseded_claims
from db.dates import agree, best_claim, claim_end, disagreement
from db.engine import Store
from db.problems import list_problems, save_problem
from db.records import ContestRecord, DateClaim, Precision, SaveOutcome
from tests.db.builders import LATER, NOW, claim, key_of, problem, row_counts

INSTANT, DAY, MONTH, QUARTER, YEAR = Precision


def utc(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("precision", "start", "end"),
    [
        (INSTANT, "2024-02-29T10:00", "2024-02-29T10:00:00.000001"),
        (DAY, "2024-02-29", "2024-03-01"),
        (MONTH, "2024-12-01", "2025-01-01"),
        (MONTH, "2024-01-31", "2024-02-29"),
        (QUARTER, "2023-11-30", "2024-02-29"),
        (QUARTER, "2024-10-01", "2025-01-01"),
        (YEAR, "2024-02-29", "2025-02-28"),
        (DAY, "9999-12-31", "9999-12-31T23:59:59.999999"),
        (YEAR, "9999-12-01", "9999-12-31T23:59:59.999999"),
    ],
)
def test_the_span_of_a_claim(precision: Precision, start: str, end: str) -> None:
    assert claim_end(claim(start, precision)) == utc(end)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (claim("2023-08-21"), claim("2023-09-21T14:35", INSTANT), False),
        (claim("2023-09-21"), claim("2023-09-21T14:35", INSTANT), True),
        (claim("2023-09-21"), claim("2023-09-22T00:00", INSTANT), False),
        (claim("2023-09-01", MONTH), claim("2023-09-30"), True),
        (claim("2023-09-01", MONTH), claim("2023-10-01"), False),
        (claim("2023-01-01", YEAR), claim("2023-10-01", QUARTER), True),
        (claim("2023-09-21T14:35", INSTANT), claim("2023-09-21T14:35", INSTANT), True),
        (claim("2023-09-21T14:35", INSTANT), claim("2023-09-21T14:36", INSTANT), False),
    ],
)
def test_claims_agree_when_their_spans_overlap(first: DateClaim, second: DateClaim, expected: bool) -> None:
    assert agree(first, second) is expected
    assert agree(second, first) is expected


def test_a_problem_without_a_date_has_none(store: Store) -> None:
    with store.write() as session:
        assert save_problem(session, problem(dates=()), now=NOW).date_note is None
        (listed,) = list_problems(session)
    assert listed.released_at is None
    assert listed.released_precision is None
    assert listed.exposed_at is None
    assert listed.date_claims == ()
    assert best_claim([]) is None
    assert disagreement([]) is None


def test_a_finer_date_from_elsewhere_decides_and_both_stay_visible(store: Store) -> None:
    day = claim("2023-08-21", DAY, "lists")
    exact = claim("2023-09-21T14:35", INSTANT, "platform")
    with store.write() as session:
        assert save_problem(session, problem(dates=[day]), now=NOW).date_note is None
        assert list_problems(session)[0].released_at == utc("2023-08-21")
        saved = save_problem(session, problem(dates=[exact]), now=LATER)
        (listed,) = list_problems(session)
    assert saved.outcome is SaveOutcome.UPDATED
    assert listed.released_at == listed.exposed_at == utc("2023-09-21T14:35")
    assert listed.released_precision is INSTANT
    assert listed.date_claims == (exact, day)
    note = saved.date_note or ""
    assert "lists says '2023-08-21' (day)" in note
    assert "platform decides with 2023-09-21T14:35:00+00:00" in note
    with store.write() as session:  # The coarse one again: nothing moves back, and the note is still there.
        again = save_problem(session, problem(dates=[day]), now=LATER)
    assert (again.outcome, again.date_note) == (SaveOutcome.UNCHANGED, saved.date_note)


CLAIMS = st.lists(
    st.builds(
        DateClaim,
        as_written=st.sampled_from(["a", "b"]),
        earliest=st.datetimes(datetime(2020, 1, 1), datetime(2020, 12, 31), timezones=st.just(UTC)),
        precision=st.sampled_from(Precision),
        source=st.sampled_from(["x", "y", "z"]),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda claim: claim.source,  # of one source the newest word counts, so that there the order matters
)


@settings(max_examples=40, deadline=None)
@given(claims=CLAIMS, data=st.data())
def test_the_order_of_claims_does_not_matter(shared_store: Store, claims: list[DateClaim], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(claims))
    with shared_store.write() as session:
        first, second = f"first-{row_counts(session)}", f"second-{row_counts(session)}"
        one_by_one = [save_problem(session, problem(first, dates=[said]), now=NOW) for said in claims]
        at_once = save_problem(session, problem(second, dates=shuffled), now=NOW)
        listed = {one.key: one for one in list_problems(session)}
    a, b = listed[key_of(first)], listed[key_of(second)]
    assert (a.released_at, a.released_precision, a.exposed_at) == (b.released_at, b.released_precision, b.exposed_at)
    assert a.date_claims == b.date_claims
    assert one_by_one[-1].date_note == at_once.date_note
    best = best_claim(claims)
    assert best is not None
    assert a.released_at == best.earliest
    assert not any(
        (list(Precision).index(other.precision), other.earliest)
        < (list(Precision).index(best.precision), a.released_at)
        for other in claims
    )


def test_a_source_that_corrects_itself_is_believed_and_its_first_word_is_kept(store: Store) -> None:
    first, second = claim("2026-03-05T14:35", INSTANT, "platform"), claim("2026-03-05T14:50", INSTANT, "platform")
    with store.write() as session:
        problem_id = save_problem(session, problem(dates=[first]), now=NOW).problem_id
        saved = save_problem(session, problem(dates=[second]), now=LATER)
        (listed,) = list_problems(session)
        assert (saved.outcome, saved.date_note) == (SaveOutcome.UPDATED, None)
        assert (listed.released_at, listed.date_claims) == (utc("2026-03-05T14:50"), (second,))
        assert superseded_claims(session, problem_id) == [(first, LATER)]
        assert save_problem(session, problem(dates=[second]), now=LATER).outcome is SaveOutcome.UNCHANGED
        # Back to what it said first: no third row, and the second word is put aside.
        save_problem(session, problem(dates=[first]), now=LATER)
        assert list_problems(session)[0].date_claims == (first,)
        assert row_counts(session)["date_claim"] == 2


def test_several_contests_of_one_platform_are_no_disagreement(store: Store) -> None:
    first = replace(claim("2017-02-11T12:00", INSTANT, "platform"), contest="main")
    again = replace(claim("2017-05-01T12:00", INSTANT, "platform"), contest="mirror")
    with store.write() as session:
        save_problem(session, problem(dates=[again]), now=NOW)
        saved = save_problem(session, problem(dates=[first]), now=NOW)
        (listed,) = list_problems(session)
    assert saved.date_note is None
    assert listed.date_claims == (first, again)
    assert listed.released_at == utc("2017-02-11T12:00")


def test_instants_are_stored_as_utc_and_sort_as_text(sqlite_store: Store) -> None:
    with sqlite_store.write() as session:
        save_problem(session, problem("a", dates=[claim("2026-02-28T15:00", INSTANT)]), now=NOW)
        save_problem(session, problem("b", dates=[claim("2026-02-28T15:00:00.5", INSTANT)]), now=NOW)
        raw = session.execute(text("SELECT released_at FROM problem ORDER BY native_id")).scalars().all()
        listed = list_problems(session)
    assert raw == ["2026-02-28 15:00:00.000000", "2026-02-28 15:00:00.500000"]
    assert [one.released_at for one in listed] == [utc("2026-02-28T15:00"), utc("2026-02-28T15:00:00.5")]
    assert all(one.released_at and one.released_at.utcoffset() == timedelta(0) for one in listed)


def test_naive_and_foreign_instants_are_refused_at_the_edge(store: Store) -> None:
    naive, tokyo = datetime(2026, 3, 1), datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=9)))
    for wrong in (naive, tokyo):
        with pytest.raises(ValueError, match=r"DateClaim\.earliest"):
            DateClaim("x", wrong, DAY, "list")
        with pytest.raises(ValueError, match=r"ContestRecord\.starts_at"):
            ContestRecord("judge", "c", starts_at=wrong)
        with store.write() as session, pytest.raises(ValueError, match="now"):
            save_problem(session, problem(), now=wrong)
