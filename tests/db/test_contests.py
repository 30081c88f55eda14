"""Contests: moved starts, memberships, withdrawal after two listings, and twins."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from db.contests import (
    ListingChange,
    load_contests,
    mark_collected,
    note_listing,
    note_problem_list,
    save_contest,
    start_history,
    stored_ids,
)
from db.engine import Store
from db.identity import add_other_id
from db.problems import find_problem, list_problems, list_revisions, save_problem
from db.records import ContestKind, ContestRecord, DateClaim, Precision, ProblemKey, ProblemRecord, SaveOutcome
from db.twins import find_twin
from tests.db.builders import LATER, NOW, row_counts, suite_of

START = datetime(2026, 3, 5, 14, 35, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def contest(native_id: str = "c1", start: datetime | None = START, **changes: object) -> ContestRecord:
    ends_at = None if start is None else start + timedelta(hours=2)
    return replace(ContestRecord("judge", native_id, f"Round {native_id}", start, ends_at), **changes)  # type: ignore[arg-type]


def problem(native_id: str, held: ContestRecord, index: str = "A", title: str = "") -> ProblemRecord:
    start = held.starts_at
    dates = (DateClaim(str(start), start, Precision.INSTANT, "judge", held.native_id),) if start else ()
    return ProblemRecord(
        key=ProblemKey("judge", native_id),
        title=title or f"Problem {native_id}",
        dates=dates,
        source="judge",
        contest=held,
        contest_index=index,
        statement=f"The text of {native_id}.",
        suite=suite_of(),
    )


def test_a_start_that_moves_twice_is_one_contest_with_a_history(store: Store) -> None:
    moves = [START, START + 10 * MINUTE, START + 15 * MINUTE]
    with store.write() as session:
        outcomes = [save_contest(session, contest(start=start), source="judge", now=NOW) for start in moves]
        again = save_contest(session, contest(start=moves[-1]), source="judge", now=LATER)
        (stored,) = load_contests(session, "judge")
        assert [one.moved_from for one in outcomes] == [None, *moves[:2]]
        assert (again.outcome, again.moved_from) == (SaveOutcome.UNCHANGED, None)
        assert stored.record.starts_at == moves[-1]
        assert [start for start, _ in start_history(session, "judge", "c1")] == moves
        assert row_counts(session)["problem"] == 0


def test_a_contest_that_moves_after_its_problems_were_read_is_read_again(store: Store) -> None:
    with store.write() as session:
        saved = save_problem(session, problem("p", contest()), now=NOW)
        (stored,) = load_contests(session, "judge")
        mark_collected(session, stored.contest_id, n_listed=1, complete=True, now=NOW)
        moved = contest(start=START + timedelta(days=1))
        assert save_contest(session, moved, source="judge", now=LATER).moved_from == START
        assert load_contests(session, "judge")[0].collected_at is None
        save_problem(session, problem("p", moved), now=LATER)
        (listed,) = list_problems(session)
        assert listed.problem_id == saved.problem_id
        assert listed.released_at == listed.exposed_at == START + timedelta(days=1)
        assert len(listed.date_claims) == 1


def test_a_bare_record_changes_neither_kind_nor_start(store: Store) -> None:
    with store.write() as session:
        save_contest(session, contest(kind=ContestKind.TRAINING), source="judge", now=NOW)
        bare = ContestRecord("judge", "c1")
        assert save_contest(session, bare, source="list", now=LATER).outcome is SaveOutcome.UNCHANGED
        (stored,) = load_contests(session, "judge")
        assert (stored.record.kind, stored.record.starts_at) == (ContestKind.TRAINING, START)


def test_one_task_of_two_contests_stays_where_it_is(store: Store) -> None:
    """A crawler for which the latest row wins moves tasks from contest to contest for ever."""
    main = contest("zgc009", datetime(2017, 2, 11, 12, tzinfo=UTC))
    mirror = contest("zrex2017", datetime(2017, 5, 20, 4, tzinfo=UTC))
    crawls = {
        "main": [problem("zgc009_a", main, "A"), problem("zgc009_b", main, "B")],
        "mirror": [problem("zgc009_a", mirror, "C"), problem("zgc009_b", mirror, "D")],
    }
    dumps = []
    with store.write() as session:
        for name in ("main", "mirror", "main", "mirror"):
            for record in crawls[name]:
                save_problem(session, record, now=NOW)
            dumps.append((row_counts(session), list_problems(session)))
        assert dumps[1] == dumps[3]
        assert row_counts(session)["problem"] == 2
        assert row_counts(session)["contest_problem"] == 4
        assert {one.released_at for one in list_problems(session)} == {main.starts_at}


WINDOW = {"since": START - timedelta(days=1), "until": START + timedelta(days=1)}


def test_two_listings_without_it_withdraw_a_contest_and_its_problems(store: Store) -> None:
    with store.write() as session:
        for native in ("90201", "90202"):
            held = contest(native)
            save_problem(session, problem(f"{native}A", held), now=NOW)
            if native == "90201":
                save_problem(session, problem(f"{native}B", held, "B"), now=NOW)
        listed = ["90201"]
        assert note_listing(session, "judge", listed, **WINDOW, now=NOW) == ListingChange()
        first = {one.key.native_id: one.status for one in list_problems(session)}
        assert set(first.values()) == {"active"}
        assert note_listing(session, "judge", listed, **WINDOW, now=LATER) == ListingChange(("90202",))
        contest_id = load_contests(session, "judge")[0].contest_id
        for now, expected in ((NOW, ListingChange()), (LATER, ListingChange(("90201B",)))):
            assert note_problem_list(session, contest_id, "judge", ["90201A"], now=now) == expected
        status = {one.key.native_id: one.status for one in list_problems(session)}
        assert status == {"90201A": "active", "90201B": "withdrawn", "90202A": "withdrawn"}
        gone = {one.key.native_id: one.flags for one in list_problems(session)}
        assert "not listed any more" in dict(gone["90202A"])["withdrawn"]
        assert gone["90201A"] == ()
        # Back in the listing: all as before, no row lost.
        assert note_listing(session, "judge", ["90201", "90202"], **WINDOW, now=LATER).restored == ("90202",)
        assert note_problem_list(session, contest_id, "judge", ["90201A", "90201B"], now=LATER).restored == ("90201B",)
        assert {one.status for one in list_problems(session)} == {"active"}
        assert {one.flags for one in list_problems(session)} == {()}


def test_a_listing_in_between_starts_the_count_anew(store: Store) -> None:
    with store.write() as session:
        save_contest(session, contest("c1"), source="judge", now=NOW)
        for night, listed in enumerate((["x"], ["c1"], ["x"])):
            now = NOW + timedelta(days=night)
            assert note_listing(session, "judge", listed, **WINDOW, now=now) == ListingChange()
        assert note_listing(session, "judge", ["x"], **WINDOW, now=NOW + timedelta(days=3)).withdrawn == ("c1",)


def test_the_same_night_tried_again_proves_nothing_more(store: Store) -> None:
    with store.write() as session:
        save_contest(session, contest("c1"), source="judge", now=NOW)
        for minutes in (0, 1, 90, 700):
            now = NOW + timedelta(minutes=minutes)
            assert note_listing(session, "judge", ["x"], **WINDOW, now=now) == ListingChange()
        assert note_listing(session, "judge", ["x"], **WINDOW, now=NOW + timedelta(hours=12)).withdrawn == ("c1",)


def test_a_round_that_turns_out_to_be_a_training_dates_nothing(store: Store) -> None:
    later = contest("c2", START + timedelta(days=9))
    with store.write() as session:
        save_problem(session, problem("p", contest()), now=NOW)
        save_problem(session, problem("p", later), now=NOW)
        assert list_problems(session)[0].released_at == START
        save_contest(session, contest(kind=ContestKind.TRAINING), source="judge", now=LATER)
        (listed,) = list_problems(session)
        assert listed.released_at == listed.exposed_at == later.starts_at


def test_contests_outside_of_the_listing_are_not_missed(store: Store) -> None:
    with store.write() as session:
        save_contest(session, contest("old", START - timedelta(days=30)), source="judge", now=NOW)
        save_contest(session, contest("undated", None), source="judge", now=NOW)
        save_contest(session, replace(contest("other"), platform="elsewhere"), source="judge", now=NOW)
        for _ in range(3):
            assert note_listing(session, "judge", ["x"], **WINDOW, now=NOW) == ListingChange()


def test_a_problem_that_another_contest_still_lists_stays(store: Store) -> None:
    with store.write() as session:
        save_problem(session, problem("p", contest("c1")), now=NOW)
        save_problem(session, problem("p", contest("c2", START + 30 * MINUTE)), now=NOW)
        for _ in range(2):
            note_listing(session, "judge", ["c2"], **WINDOW, now=NOW)
        assert list_problems(session)[0].status == "active"


def test_twins_become_one_problem_with_two_ids(store: Store) -> None:
    first, second = contest("1198"), contest("1199")
    with store.write() as session:
        saved = save_problem(session, problem("1198A", first, title="Sound  of Bells"), now=NOW)
        record = problem("1199C", second, "C", title="Sound of Bells")
        twin = find_twin(session, record)
        assert twin is not None
        assert (twin.problem_id, twin.name, twin.other_id) == (saved.problem_id, "judge:1198A", None)
        assert add_other_id(session, twin.problem_id, record.key, twin.reason, now=NOW)
        for _ in range(2):
            assert save_problem(session, record, now=LATER).problem_id == saved.problem_id
        assert find_twin(session, record) is None
        assert row_counts(session)["problem"] == 1
        assert find_problem(session, "1199C") == ProblemKey("judge", "1198A")
        assert [one.statement for one in list_revisions(session, saved.problem_id)] == ["The text of 1198A."]
        assert {row.record.native_id: row.n_stored for row in load_contests(session, "judge")} == {"1198": 1, "1199": 1}
        assert stored_ids(session, load_contests(session, "judge")[1].contest_id) == {"1198A", "1199C"}


@pytest.mark.parametrize(
    ("title", "start", "native"),
    [
        ("Another", START, "1199"),  # same start, other title
        ("Bells", START + MINUTE, "1199"),  # same title, other start: short names come again
        ("Bells", START, "1198"),  # same contest: two problems by definition
    ],
)
def test_no_twins(store: Store, title: str, start: datetime, native: str) -> None:
    with store.write() as session:
        save_problem(session, problem("1198A", contest("1198"), title="Bells"), now=NOW)
        assert find_twin(session, problem("x", contest(native, start), title=title)) is None


def test_twins_that_are_both_stored_already_are_told(store: Store) -> None:
    with store.write() as session:
        first = save_problem(session, problem("1198A", contest("1198"), title="Bells"), now=NOW)
        record = problem("1199C", contest("1199"), title="Bells")
        second = save_problem(session, record, now=NOW)
        twin = find_twin(session, record)
        assert twin is not None
        assert (twin.problem_id, twin.other_id) == (first.problem_id, second.problem_id)
