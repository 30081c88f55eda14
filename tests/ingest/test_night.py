"""Whole nights of the three main sites, in this process: the first one, the next ones, and contests that move.

The sites are those of ``night_world``; each expected value stands here as the pages of these sites say it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from db.contests import load_contests, start_history
from db.duplicates import list_pairs
from db.engine import Store
from db.ingest_runs import IngestOutcome, list_runs
from db.problems import ProblemSummary, find_problem, list_problems, list_revisions, load_suite
from db.records import ContestKind, Precision, ProblemKey, SuiteRecord
from db.snapshots import ResponseRecord, get_snapshot, list_snapshots, save_snapshot
from ingest.planning import parse_cron
from ingest.schedule import run_due
from tests.db.builders import row_counts
from tests.ingest.night_runs import DAY, Nights, contents, nights
from tests.ingest.night_world import (
    ATCODER,
    CODEFORCES,
    HOSTS,
    INTERVALS_S,
    KENKOOOO,
    LEETCODE,
    SOURCES,
    problem_set,
)

NIGHT = datetime(2026, 3, 10, 3, 17, tzinfo=UTC)
FIRST_REQUESTS = {CODEFORCES: 10, ATCODER: 9, KENKOOOO: 5, LEETCODE: 8}
MIB = 2**20
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    """The first night, over. Nobody changes it."""
    with nights(tmp_path_factory.mktemp("first"), NIGHT) as run:
        reports = run.run()
        assert {name: report.result.outcome for name, report in reports.items()} == dict.fromkeys(
            SOURCES, IngestOutcome.COMPLETED
        )
        yield run


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Nights]:
    """Nights to come, with an empty store."""
    with nights(tmp_path, NIGHT) as run:
        yield run


def stored(store: Store) -> dict[str, ProblemSummary]:
    with store.read() as session:
        return {one.key.native_id: one for one in list_problems(session)}


def all_completed(run: Nights, *sources: str) -> bool:
    return {report.result.outcome for report in run.run(*sources).values()} == {IngestOutcome.COMPLETED}


@pytest.mark.parametrize(
    ("source", "counts"),
    [
        ("codeforces", {"contests_listed": 4, "contests_read": 3, "problems_new": 6, "twins_new": 1, "requests": 10}),
        ("atcoder", {"contests_listed": 4, "contests_read": 1, "problems_new": 3, "twins_new": 0, "requests": 14}),
        ("leetcode", {"contests_listed": 3, "contests_read": 2, "problems_new": 3, "twins_new": 0, "requests": 8}),
    ],
)
def test_the_first_night_says_what_it_did(first: Nights, source: str, counts: dict[str, int]) -> None:
    with first.store.read() as session:
        (run,) = list_runs(session, source)
    assert {name: run.counts[name] for name in counts} == counts
    quiet = ("failures", "contests_incomplete", "contests_withdrawn", "problems_withdrawn", "retries", "not_modified")
    assert [run.counts[name] for name in quiet] == [0] * len(quiet)


def test_each_host_is_asked_for_each_thing_once(first: Nights) -> None:
    assert first.sites.n_asked() == FIRST_REQUESTS
    for host in HOSTS:
        asked = first.sites.asked(host)
        assert asked[0] == "/robots.txt"
        assert len(set(asked)) == len(asked)
    assert first.sites.asked(ATCODER)[1:] == [
        "/contests/archive?lang=ja&page=1",
        "/contests/archive?lang=ja&category=20&page=1",
        "/contests/archive?lang=ja&category=60&page=1",
        "/contests/?lang=ja",
        "/contests/zbc501/tasks?lang=en",
        "/contests/zbc501/tasks/zbc501_a?lang=en",
        "/contests/zbc501/tasks/zbc501_b?lang=en",
        "/contests/zbc501/tasks/zbc501_c?lang=en",
    ]
    assert [target for target in first.sites.asked(CODEFORCES) if target.startswith("/contest/")] == [
        "/contest/9103/problems?locale=en",
        "/contest/9103/problem/B?locale=en",
        "/contest/9101/problems?locale=en",
        "/contest/9102/problems?locale=en",
    ]


@pytest.mark.parametrize("host", HOSTS)
def test_no_two_requests_to_a_host_are_closer_than_its_interval(first: Nights, host: str) -> None:
    to_first, *others = first.sites.gaps_s(host)
    # What its robots.txt asks for is known once that has been read.
    assert to_first >= (2.0 if host == CODEFORCES else INTERVALS_S[host])
    assert min(others) >= INTERVALS_S[host]


def test_every_response_is_a_snapshot(first: Nights) -> None:
    with first.store.read() as session:
        snapshots = list_snapshots(session)
        bodies = {one.url: get_snapshot(session, one.id).body for one in snapshots}
    asked = [f"https://{one.host}{one.target}" for host in HOSTS for one in first.sites.arrivals(host)]
    assert len(snapshots) == sum(FIRST_REQUESTS.values())
    assert sorted(one.url for one in snapshots) == sorted(asked)
    assert {one.url for one in snapshots if one.status == 404} == {
        f"https://{host}/robots.txt" for host in HOSTS if host != CODEFORCES
    }
    assert b"An old fisherman walks along the quay" in bodies[problem_set("9102")]


def test_problems_are_dated_by_the_starts_of_their_contests(first: Nights) -> None:
    round_start, weekly = datetime(2026, 3, 7, 14, 35, tzinfo=UTC), datetime(2026, 3, 8, 2, 30, tzinfo=UTC)
    educational, beginners = datetime(2026, 3, 5, 14, 35, tzinfo=UTC), datetime(2026, 3, 8, 12, 0, tzinfo=UTC)
    found = stored(first.store)
    assert {native_id: one.released_at for native_id, one in found.items()} == {
        **dict.fromkeys(("9101A", "9101B", "9102A", "9102B"), round_start),
        **dict.fromkeys(("9103A", "9103B"), educational),
        **dict.fromkeys(("zbc501_a", "zbc501_b", "zbc501_c"), beginners),
        **dict.fromkeys(("98001", "98002"), weekly),
        "98011": datetime(2026, 3, 9, 14, 30, tzinfo=UTC),
    }
    assert {one.released_precision for one in found.values()} == {Precision.INSTANT}


def suites(store: Store) -> dict[str, SuiteRecord]:
    with store.read() as session:
        found = {one.key.native_id: one.suite_id for one in list_problems(session)}
        return {native_id: load_suite(session, suite) for native_id, suite in found.items() if suite is not None}


def test_samples_are_kept_to_the_byte(first: Nights) -> None:
    samples = {
        native_id: [(test.input, test.expected) for test in suite.tests]
        for native_id, suite in suites(first.store).items()
    }
    fisherman = [(b"5\n2 1 3 3 7\n", b"12\n"), (b"1\n1000000000\n", b"1000000000\n")]
    assert samples == {
        "9101A": [(b"3\n1 2 3\n", b"4\n"), (b"1\n0\n", b"0\n")],
        "9101B": [(b"10 2 3\n", b"2.0000000\n")],
        "9102A": fisherman,
        "9102B": [(b"ssf\n", b"YES\n"), (b"sf\n", b"NO\n")],
        "9103B": [(b"3 4\n1 4 9\n", b"2\n")],
        "zbc501_a": [(b"2 3\n", b"3\n"), (b"1 1\n", b"0\n")],
        "zbc501_b": [(b"2\n9 low  water\n3 high\n", b"3 high\n9 low  water\n")],
        "zbc501_c": fisherman,
        "98001": [(b"[1,4,9]", b"5"), (b"[3]", b"0")],
        "98011": [(b'"oh"\n2', b'"oh-oh"')],
    }


def test_limits_comparisons_and_entry_points_are_those_of_the_pages(first: Nights) -> None:
    found = suites(first.store)
    assert {native_id: (one.time_limit_s, one.memory_limit_bytes) for native_id, one in found.items()} == {
        "9101A": (1.5, 256 * MIB),
        "9101B": (1.0, 512 * MIB),
        "9102A": (2.0, 256 * MIB),
        "9102B": (1.0, 256 * MIB),
        "9103B": (1.0, 256 * MIB),
        "zbc501_a": (2.0, 1024 * MIB),
        "zbc501_b": (2.5, 512 * MIB),
        "zbc501_c": (3.0, 1024 * MIB),
        "98001": (None, None),
        "98011": (None, None),
    }
    assert {native_id: one.comparison for native_id, one in found.items() if one.comparison} == {
        "9101B": {"absolute_tolerance": 1e-6, "relative_tolerance": 1e-6},
        "9102B": {"case_sensitive": False},
    }
    assert {one.entry_point for one in found.values()} == {None, "widestGap", "heardBelow"}


def test_flags_say_what_cannot_be_judged_and_why(first: Nights) -> None:
    copy = (
        "the same as codeforces:9102A, public since 2026-03-07T14:35:00+00:00: 93.9% of the sequences of 5 words are "
        "shared, their samples are equal, and so are the numbers in the text."
    )
    assert {native_id: one.flags for native_id, one in stored(first.store).items() if one.flags} == {
        "zbc501_c": (("exposed_earlier", copy),),
        "9103A": (("interactive", "Interaction"),),
        "9103B": (("multiple_answers", "If there are several answers, print any of them."),),
        "98002": (("statement_unavailable", "its content is empty, it is for subscribers"),),
    }


def test_statements_keep_their_mathematics_and_their_languages(first: Nights) -> None:
    found = stored(first.store)
    with first.store.read() as session:
        bell, rope = (list_revisions(session, found[native_id].problem_id) for native_id in ("9101A", "zbc501_a"))
    (only,) = bell
    assert r"if $1 \le n \le 10^5$ and $0 \le a_i \le 10^9$?" in only.statement
    assert sorted((one.language, one.is_current) for one in rope) == [("en", True), ("ja", False)]


def test_the_problem_of_two_divisions_is_one_with_two_ids(first: Nights) -> None:
    with first.store.read() as session:
        assert find_problem(session, "9102C") == ProblemKey("codeforces", "9101A")
        held = {one.record.native_id: one for one in load_contests(session, "codeforces")}
    assert (held["9102"].n_listed, held["9102"].n_stored) == (3, 3)
    assert held["9102"].collected_at is not None


def test_a_training_dates_nothing_and_contests_to_come_wait(first: Nights) -> None:
    with first.store.read() as session:
        held = {one.record.native_id: one for source in SOURCES for one in load_contests(session, source)}
    training, *to_come = (held[native_id] for native_id in ("adt_easy_1", "9110", "zbc502", "weekly-contest-802"))
    assert (training.record.kind, training.n_listed) == (ContestKind.TRAINING, None)
    assert [(one.record.starts_at, one.n_stored) for one in to_come] == [
        (datetime(2026, 3, 16, 14, 35, tzinfo=UTC), 0),
        (datetime(2026, 3, 14, 12, 0, tzinfo=UTC), 0),
        (datetime(2026, 3, 15, 2, 30, tzinfo=UTC), 0),
    ]
    # kenkoooo's file names the training for this task: it took the place of the round that had it first.
    assert stored(first.store)["zbc501_a"].contest == "zbc501"


def test_the_same_task_on_another_site_is_found(first: Nights) -> None:
    with first.store.read() as session:
        (pair,) = list_pairs(session)
    assert {str(pair.first), str(pair.second)} == {"codeforces:9102A", "atcoder:zbc501_c"}


def test_a_second_night_on_which_nothing_happened_adds_no_row(world: Nights) -> None:
    assert all_completed(world)
    with world.store.read() as session:
        before = row_counts(session)
    held = contents(world.store)
    world.wait_until(NIGHT + DAY + 5 * MINUTE)
    reports = world.run()
    assert {report.result.outcome for report in reports.values()} == {IngestOutcome.COMPLETED}
    with world.store.read() as session:
        after = row_counts(session)
    assert after == before | {"ingest_run": before["ingest_run"] + len(SOURCES)}
    assert contents(world.store) == held
    # Each robots.txt is asked for again, since it was read more than a day ago; only Codeforces has one.
    assert world.sites.n_asked() == FIRST_REQUESTS
    not_modified = {name: report.result.counts["not_modified"] for name, report in reports.items()}
    assert not_modified == {"codeforces": 10, "atcoder": 8 + 4, "leetcode": 2}
    with world.store.read() as session:
        assert min(one.validated_at for one in list_snapshots(session)) > NIGHT + DAY


def test_a_night_that_brings_ratings_alone_adds_the_pages_that_changed_and_nothing_else(world: Nights) -> None:
    assert all_completed(world)
    with world.store.read() as session:
        before = row_counts(session)
    world.world.is_rated = True
    world.wait_until(NIGHT + DAY)
    assert all_completed(world)
    with world.store.read() as session:
        after = row_counts(session)
    assert {name: after[name] - before[name] for name in after if after[name] != before[name]} == {
        "ingest_run": 3,
        "snapshot": 2,
        "blob": 2,
    }
    found = stored(world.store)
    assert (found["9101A"].difficulty, found["zbc501_a"].difficulty) == ("1900", "712")


def test_a_contest_to_come_that_is_moved_is_one_contest_with_two_starts(world: Nights) -> None:
    assert all_completed(world)
    starts = {
        ("codeforces", "9110"): datetime(2026, 3, 16, 14, 35, tzinfo=UTC),
        ("atcoder", "zbc502"): datetime(2026, 3, 14, 12, 0, tzinfo=UTC),
        ("leetcode", "weekly-contest-802"): datetime(2026, 3, 15, 2, 30, tzinfo=UTC),
    }
    for _, native_id in starts:
        world.world.move(native_id, 2 * DAY)
    world.wait_until(NIGHT + DAY)
    for name, report in world.run().items():
        assert report.result.counts["contests_moved"] == 1, name
    world.wait_until(NIGHT + 9 * DAY)
    assert all_completed(world)
    with world.store.read() as session:
        for (platform, native_id), start in starts.items():
            (held,) = [one for one in load_contests(session, platform) if one.record.native_id == native_id]
            assert (held.record.starts_at, held.n_stored) == (start + 2 * DAY, 1)
            assert [one for one, _ in start_history(session, platform, native_id)] == [start, start + 2 * DAY]
    found = stored(world.store)
    assert [found[native_id].released_at for native_id in ("9110A", "zbc502_a", "98021")] == [
        start + 2 * DAY for start in starts.values()
    ]


def test_a_start_that_is_corrected_after_its_problems_were_read_dates_them_anew(world: Nights) -> None:
    assert all_completed(world)
    later = 15 * MINUTE
    for native_id in ("9103", "zbc501", "biweekly-contest-401"):
        world.world.move(native_id, later)
    world.wait_until(NIGHT + DAY)
    assert all_completed(world)
    found = stored(world.store)
    starts = {
        "9103A": datetime(2026, 3, 5, 14, 50, tzinfo=UTC),
        "9103B": datetime(2026, 3, 5, 14, 50, tzinfo=UTC),
        "zbc501_a": datetime(2026, 3, 8, 12, 15, tzinfo=UTC),
        "98011": datetime(2026, 3, 9, 14, 45, tzinfo=UTC),
    }
    for native_id, start in starts.items():
        (claim,) = found[native_id].date_claims
        assert (found[native_id].released_at, found[native_id].exposed_at, claim.earliest) == (start, start, start)
    assert found["9101A"].released_at == datetime(2026, 3, 7, 14, 35, tzinfo=UTC)
    assert len(found) == 12


def test_a_question_that_was_listed_before_its_contest_was_public_by_then(world: Nights) -> None:
    assert all_completed(world, "leetcode")
    assert "98021" not in stored(world.store)
    world.wait_until(NIGHT + 6 * DAY)
    assert all_completed(world, "leetcode")
    early = stored(world.store)["98021"]
    assert early.released_at == datetime(2026, 3, 15, 2, 30, tzinfo=UTC)
    assert early.exposed_at is not None
    assert NIGHT < early.exposed_at < NIGHT + MINUTE
    assert [name for name, _ in early.flags] == ["early_access"]


def test_the_snapshots_alone_give_the_same_problems_without_a_request(first: Nights, world: Nights) -> None:
    with first.store.read() as session:
        kept = [get_snapshot(session, one.id) for one in list_snapshots(session)]
    with world.store.write() as session:
        for one in kept:
            said = {name: getattr(one, name) for name in ResponseRecord.__dataclass_fields__}
            save_snapshot(session, ResponseRecord(**said), now=one.fetched_at)
    reports = world.run(offline=True)
    assert {report.result.outcome for report in reports.values()} == {IngestOutcome.COMPLETED}
    assert {report.result.counts["requests"] for report in reports.values()} == {0}
    assert world.sites.asked() == []
    assert contents(world.store) == contents(first.store)


def test_nights_that_were_missed_are_made_up_for_by_one_run_that_says_how_late_it_is(world: Nights) -> None:
    triggers = dict.fromkeys(SOURCES, parse_cron("17 3 * * *"))
    stop = threading.Event()

    def look() -> tuple[list[tuple[str, datetime | None, IngestOutcome]], tuple[str, ...]]:
        due = run_due(world.store, triggers, world.run_one, now=world.now, stop=stop)
        return [(one.source, one.planned_at, one.result.outcome) for one in due.reports], due.not_due

    assert look() == ([(name, NIGHT, IngestOutcome.COMPLETED) for name in SOURCES], ())
    world.sites.clear()
    assert look() == ([], SOURCES)
    assert world.sites.asked() == []
    world.wait_until(NIGHT + 3 * DAY + timedelta(hours=5))
    assert look() == ([(name, NIGHT + 3 * DAY, IngestOutcome.COMPLETED) for name in SOURCES], ())
    with world.store.read() as session:
        for name in SOURCES:
            newest, *_ = list_runs(session, name)
            assert newest.notes[0] == "planned for 2026-03-13 03:17 UTC, 5 h 0 min late"
            assert len(list_runs(session, name)) == 2
