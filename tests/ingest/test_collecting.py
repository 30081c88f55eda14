"""One run of one source: what is read, what is left alone, what is kept of failures, and how the next run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from db.contests import load_contests, start_history
from db.engine import Store, open_store
from db.ingest_runs import IngestOutcome
from db.problems import find_problem, list_problems, list_revisions
from db.records import ContestKind, ProblemKey, SightingRecord
from ingest.choosing import plan
from ingest.collecting import collect
from ingest.errors import AuthRequired, BadRow, Blocked, PageChanged, Unreachable
from ingest.runs import RunResult, RunStopped
from tests.db.builders import row_counts
from tests.ingest.judge_source import NAME, NOW, START, World, contest, no_fetch, wanted

DAY = timedelta(days=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def run(store: Store, world: World, *, twins: bool = False, days_later: int = 0) -> RunResult:
    world.asked.clear()
    now = NOW + days_later * DAY
    return collect(store, world.source(twins=twins), no_fetch, wanted(now), check=lambda: None)


def titles(store: Store) -> dict[str, str]:
    with store.read() as session:
        return {one.key.native_id: one.title for one in list_problems(session)}


def small_world() -> World:
    return World(contests=[contest("c1"), contest("c2", START + DAY)], problems={"c1": ["One", "Two"], "c2": ["Three"]})


def test_contests_that_ended_are_read_and_a_second_run_adds_nothing(store: Store) -> None:
    world = small_world()
    world.contests.append(contest("future", NOW + DAY))
    first = run(store, world)
    assert (first.outcome, first.failures) == (IngestOutcome.COMPLETED, ())
    assert {name: first.counts[name] for name in ("contests_listed", "contests_read", "problems_new")} == {
        "contests_listed": 3,
        "contests_read": 2,
        "problems_new": 3,
    }
    assert world.asked == ["", "c1", "c1A", "c1B", "c2", "c2A"]
    with store.read() as session:
        before, listed = row_counts(session), list_problems(session)
        assert {one.released_at for one in listed} == {START, START + DAY}
    second = run(store, world, days_later=1)
    assert (second.counts["problems_new"], second.counts["problems_unchanged"]) == (0, 3)
    with store.read() as session:
        assert (row_counts(session), list_problems(session)) == (before, listed)


def test_contests_that_ended_long_ago_are_not_read_again(store: Store) -> None:
    world = small_world()
    run(store, world)
    run(store, world, days_later=20)
    assert world.asked == [""]


def test_what_one_problem_lacks_does_not_stop_the_others_and_only_it_is_read_next_time(store: Store) -> None:
    world = World(contests=[contest("c1")], problems={"c1": ["One", "Two", "Three", "Four"]})
    world.faults["c1C"] = PageChanged("https://judge.example/c1C has no 'pre'", snapshot_id=None)
    first = run(store, world)
    assert first.outcome is IngestOutcome.PARTIAL
    ((failure),) = first.failures
    assert (failure.what, failure.kind) == ("c1/C", "page_changed")
    assert "has no 'pre'" in failure.error
    assert first.error is not None
    with store.read() as session:
        (held,) = load_contests(session, NAME)
        assert (held.n_listed, held.n_stored, held.collected_at) == (4, 3, None)
    world.faults.clear()
    second = run(store, world, days_later=1)
    assert world.asked == ["", "c1", "c1C"]
    assert (second.outcome, second.counts["problems_new"]) == (IngestOutcome.COMPLETED, 1)
    with store.read() as session:
        assert load_contests(session, NAME)[0].collected_at is not None


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (AuthRequired("https://judge.example/c1 wants a login"), "auth_required"),
        (BadRow("time_limit_s is -1"), "invalid"),
        (KeyError("title"), "error"),
    ],
)
def test_one_contest_that_cannot_be_read_leaves_the_others(store: Store, fault: Exception, kind: str) -> None:
    world = small_world()
    world.faults["c1"] = fault
    result = run(store, world)
    assert (result.outcome, [one.kind for one in result.failures]) == (IngestOutcome.PARTIAL, [kind])
    assert set(titles(store)) == {"c2A"}


@pytest.mark.parametrize("fault", [NotImplementedError("zip"), OverflowError(), AssertionError(), RecursionError()])
def test_whatever_a_parser_raises_ends_nothing_but_its_problem(store: Store, fault: Exception) -> None:
    world = small_world()
    world.faults["c1A"] = fault
    result = run(store, world)
    assert [(one.what, one.kind) for one in result.failures] == [("c1/A", "error")]
    assert set(titles(store)) == {"c1B", "c2A"}


def test_one_problem_that_can_never_be_read_keeps_no_correction_of_the_others_away(store: Store) -> None:
    world = World([contest("c1")], {"c1": ["One", "Two"]})
    world.faults["c1B"] = PageChanged("https://judge.example/c1B is a PDF")
    run(store, world)
    world.statements["c1A"] = "Corrected."
    run(store, world, days_later=1)
    assert world.asked == ["", "c1", "c1B"]
    run(store, world, days_later=4)
    assert world.asked == ["", "c1", "c1B", "c1A"]
    with store.read() as session:
        (only,) = list_problems(session)
        assert [one.statement for one in list_revisions(session, only.problem_id)][-1] == "Corrected."


def test_what_an_offline_run_lacks_proves_nothing(store: Store) -> None:
    world = small_world()
    world.contests.append(contest("c3"))
    world.problems["c3"] = ["Four"]
    run(store, world)
    del world.contests[0], world.problems["c3"]
    world.problems["c3"] = ["Another"]
    for night in (1, 2, 3):
        now = NOW + night * DAY
        collect(store, world.source(), no_fetch, wanted(now), check=lambda: None, is_live=False)
    with store.read() as session:
        assert {one.status for one in list_problems(session)} == {"active"}


def test_difficulties_that_cannot_be_taken_are_a_note(store: Store) -> None:
    world = World([contest("c1")], {"c1": ["One"]}, difficulties={"": "1500"})
    result = run(store, world)
    assert result.outcome is IngestOutcome.COMPLETED
    assert any("difficulties could not be taken" in note for note in result.notes)


def test_a_host_that_blocks_ends_the_run(store: Store) -> None:
    world = small_world()
    world.faults["c1B"] = Blocked("judge.example shows a challenge")
    result = run(store, world)
    assert world.asked == ["", "c1", "c1A", "c1B"]
    assert (result.outcome, [one.kind for one in result.failures]) == (IngestOutcome.PARTIAL, ["blocked"])


def test_a_host_that_does_not_answer_any_more_ends_the_run(store: Store) -> None:
    world = World(contests=[contest("c1")], problems={"c1": list("abcdef")})
    world.faults |= {f"c1{letter}": Unreachable("no answer") for letter in "ABCDEF"}
    result = run(store, world)
    assert world.asked == ["", "c1", "c1A", "c1B", "c1C"]
    assert (result.outcome, len(result.failures)) == (IngestOutcome.FAILED, 3)


def test_a_source_that_cannot_be_listed_fails_whole(store: Store) -> None:
    world = small_world()
    run(store, world)
    with store.read() as session:
        before = row_counts(session)
    world.faults[""] = PageChanged("the archive has no table")
    with pytest.raises(PageChanged, match="no table"):
        run(store, world, days_later=1)
    with store.read() as session:
        assert row_counts(session) == before


def test_a_night_that_finds_nothing_where_contests_are_known_is_a_failed_night(store: Store) -> None:
    world = small_world()
    run(store, world)
    world.contests.clear()
    for night in (1, 2, 3):
        with pytest.raises(PageChanged, match="lists nothing, though 2 contests are known"):
            run(store, world, days_later=night)
    with store.read() as session:
        assert {one.status for one in list_problems(session)} == {"active"}


def test_an_empty_window_of_a_new_source_is_no_failure(store: Store) -> None:
    assert run(store, World()).outcome is IngestOutcome.COMPLETED


def test_a_listing_that_lost_most_of_what_is_known_is_not_believed(store: Store) -> None:
    natives = [f"c{n}" for n in range(6)]
    world = World([contest(native) for native in natives], {native: ["T"] for native in natives})
    run(store, world)
    world.contests = world.contests[:1]
    for night in (1, 2, 3):
        result = run(store, world, days_later=night)
        assert "lacks 5 of 6 contests" in result.failures[0].error
        assert result.outcome is IngestOutcome.PARTIAL
    with store.read() as session:
        assert {one.status for one in list_problems(session)} == {"active"}


def test_what_vanishes_from_two_good_listings_is_withdrawn(store: Store) -> None:
    world = small_world()
    world.contests += [contest("c3"), contest("c4")]
    world.problems |= {"c3": ["Four"], "c4": ["Five"]}
    run(store, world)
    del world.contests[1]
    world.problems["c1"] = ["One"]
    withdrawn = [run(store, world, days_later=night).counts for night in (1, 2)]
    assert [(one["contests_withdrawn"], one["problems_withdrawn"]) for one in withdrawn] == [(0, 0), (1, 1)]
    with store.read() as session:
        status = {one.key.native_id: one.status for one in list_problems(session)}
    assert status == {"c1A": "active", "c1B": "withdrawn", "c2A": "withdrawn", "c3A": "active", "c4A": "active"}


def test_a_contest_that_is_moved_before_it_begins_is_one_contest(store: Store) -> None:
    """Replay of a start that was moved twice; while the contest has not begun no problem is asked for."""
    planned = NOW + timedelta(minutes=30)
    world = World(problems={"c1": ["One"]})
    for minutes in (0, 10, 15):
        world.contests = [contest("c1", planned + timedelta(minutes=minutes))]
        assert run(store, world).outcome is IngestOutcome.COMPLETED
        assert world.asked == [""]
    run(store, world, days_later=1)
    with store.read() as session:
        assert [start - planned for start, _ in start_history(session, NAME, "c1")] == [
            timedelta(minutes=minutes) for minutes in (0, 10, 15)
        ]
        (only,) = list_problems(session)
    assert only.released_at == planned + timedelta(minutes=15)


def test_a_start_that_is_corrected_afterwards_dates_the_problems_anew(store: Store) -> None:
    world = World([contest("c1")], {"c1": ["One", "Two"]})
    run(store, world)
    world.contests = [contest("c1", START - DAY)]
    result = run(store, world, days_later=1)
    assert result.counts["contests_moved"] == 1
    assert any("was moved" in note for note in result.notes)
    with store.read() as session:
        assert {one.released_at for one in list_problems(session)} == {START - DAY}
        assert all(len(one.date_claims) == 1 for one in list_problems(session))


def test_an_edited_statement_is_a_new_revision(store: Store) -> None:
    world = World([contest("c1")], {"c1": ["One"]})
    run(store, world)
    world.statements["c1A"] = "Another text."
    assert run(store, world, days_later=1).counts["problems_updated"] == 1
    with store.read() as session:
        (problem,) = list_problems(session)
        assert len(list_revisions(session, problem.problem_id)) == 2
        assert problem.released_at == START


def test_twins_of_two_divisions_are_one_problem(store: Store) -> None:
    world = World([contest("d1"), contest("d2")], {"d1": ["Shared", "Hard"], "d2": ["Easy", "Shared"]})
    for night in (0, 1):
        result = run(store, world, twins=True, days_later=night)
        assert set(titles(store)) == {"d1A", "d1B", "d2A"}
        assert result.counts["twins_new"] == (1 if night == 0 else 0)
    with store.read() as session:
        assert find_problem(session, "d2B") == ProblemKey(NAME, "d1A")
        assert [held.collected_at is not None for held in load_contests(session, NAME)] == [True, True]


def test_trainings_and_permanent_contests_are_known_and_never_read(store: Store) -> None:
    world = World(
        [contest("adt", kind=ContestKind.TRAINING), contest("abs", None, kind=ContestKind.PERMANENT)],
        {"adt": ["Old"], "abs": ["Older"]},
    )
    assert run(store, world).outcome is IngestOutcome.COMPLETED
    assert world.asked == [""]
    with store.read() as session:
        assert len(load_contests(session, NAME)) == 2


def test_a_round_with_a_year_only_is_read_once(store: Store) -> None:
    world = World([contest("y2026", None)], {"y2026": ["One"]})
    run(store, world)
    run(store, world, days_later=1)
    assert world.asked == [""]
    with store.read() as session:
        (only,) = list_problems(session)
        assert (only.released_at, only.exposed_at) == (None, None)


def test_local_folders_are_read_again_every_time(store: Store) -> None:
    world = World([contest("y2026", None)], {"y2026": ["One"]})
    for titles_now in (["One"], ["One", "Two"]):
        world.problems["y2026"] = titles_now
        collect(store, world.source(is_local=True), no_fetch, wanted(), check=lambda: None)
        assert set(titles(store).values()) == set(titles_now)


def test_a_run_that_is_told_to_stop_keeps_its_account(store: Store) -> None:
    world = small_world()

    def stop_after_two() -> None:
        if len(world.asked) > 3:
            raise RunStopped

    result = collect(store, world.source(), no_fetch, wanted(), check=stop_after_two)
    assert (result.outcome, result.counts["problems_new"]) == (IngestOutcome.PARTIAL, 2)
    assert run(store, world).counts["problems_new"] == 1


def test_sightings_and_difficulties_of_the_listing_are_kept(store: Store) -> None:
    world = World([contest("c1")], {"c1": ["One"]}, difficulties={"c1A": "1500", "unknown": "3"})
    seen = START - DAY
    world.sightings = (SightingRecord(ProblemKey(NAME, "c1A"), seen, NAME, "in the problem list"),)
    run(store, world)
    run(store, world, days_later=1)
    with store.read() as session:
        (only,) = list_problems(session)
    assert (only.exposed_at, only.difficulty) == (seen, "1500")
    assert [name for name, _ in only.flags] == ["early_access"]


def test_text_that_could_not_be_decoded_is_refused(store: Store) -> None:
    world = World([contest("c1")], {"c1": ["One"]}, statements={"c1A": "最短�路"})
    result = run(store, world)
    assert [one.kind for one in result.failures] == ["invalid"]
    assert titles(store) == {}


def test_the_share_of_each_category_is_in_the_counts(store: Store) -> None:
    world = small_world()
    world.seen = {"rounds": 2, "daily": 0}
    counts = run(store, world).counts
    assert (counts["listed_rounds"], counts["listed_daily"]) == (2, 0)


def test_a_plan_changes_nothing(store: Store) -> None:
    world = small_world()
    world.contests.append(contest("future", NOW + DAY))
    planned = plan(store, world.source(), no_fetch, wanted())
    assert [one.record.native_id for one in planned.contests] == ["c1", "c2"]
    with store.read() as session:
        assert not any(row_counts(session).values())


def test_a_contest_that_is_moved_out_of_the_window_is_not_withdrawn(store: Store) -> None:
    world = World([contest("c1"), contest("c2"), contest("far", NOW + 3 * DAY)], {"c1": ["One"], "c2": ["Two"]})
    run(store, world)
    world.contests = world.contests[:2]
    world.known = frozenset({"far"})
    for night in (1, 2, 3):
        assert run(store, world, days_later=night).counts["contests_withdrawn"] == 0


def test_a_problem_that_is_locked_after_it_was_read_stays_usable(store: Store) -> None:
    world = World([contest("c1")], {"c1": ["One"]})
    run(store, world)
    world.locked = {"c1A"}
    result = run(store, world, days_later=1)
    assert any("is locked now" in note for note in result.notes)
    with store.read() as session:
        (only,) = list_problems(session)
    assert (only.flags, only.n_tests) == ((), 1)


def test_a_problem_that_was_locked_from_the_start_waits_for_its_text(store: Store) -> None:
    world = World([contest("c1")], {"c1": ["One"]}, locked={"c1A"})
    run(store, world)
    with store.read() as session:
        assert [name for name, _ in list_problems(session)[0].flags] == ["statement_unavailable"]
    world.locked = set()
    run(store, world, days_later=1)
    with store.read() as session:
        (only,) = list_problems(session)
    assert (only.flags, only.n_tests, only.released_at) == ((), 1, START)
