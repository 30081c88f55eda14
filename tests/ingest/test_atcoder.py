"""AtCoder: its lists of contests and of tasks, asked for through the source's own functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.records import ContestKind, ContestRecord
from ingest.errors import Absent, PageChanged, SourceError
from ingest.pages import Page
from ingest.sources import Check, ProblemRef
from ingest.sources._atcoder_pages import read_archive, read_overview, read_tasks, read_times
from tests.ingest.atcoder_site import (
    ARCHIVE,
    CONTEST,
    END,
    FILES,
    OVERVIEW,
    SITE,
    SOURCE,
    START,
    TASK,
    TASKS,
    FakeSite,
    page_of,
    text_of,
    wanted,
)


def test_contests_of_the_window_are_listed_from_every_category() -> None:
    listing = SOURCE.discover(FakeSite(), wanted())
    found = {contest.native_id: contest for contest in listing.contests}
    assert {native: contest.starts_at for native, contest in found.items() if contest.starts_at} == {
        "zbc412": datetime(2026, 3, 7, 12, tzinfo=UTC),
        "zrc230": datetime(2026, 3, 1, 12, tzinfo=UTC),
        "zhc041": datetime(2026, 2, 13, 10, tzinfo=UTC),
        "zwc0021": datetime(2026, 3, 6, 11, tzinfo=UTC),
        "zwc0020": datetime(2026, 3, 5, 11, tzinfo=UTC),
        "adt_easy_20260305_1": datetime(2026, 3, 5, 7, tzinfo=UTC),
        "adt_all_20260305_1": datetime(2026, 3, 5, 7, tzinfo=UTC),
        "zhc042": datetime(2026, 3, 1, 3, tzinfo=UTC),
        "zbc413": datetime(2026, 3, 14, 12, tzinfo=UTC),
    }
    assert found["zrc230"].title == "Lamp Regular Contest 230 & Friends"
    assert found["zhc041"].ends_at == datetime(2026, 2, 28, 14, 59, tzinfo=UTC)
    assert found["zbc412"].url == f"{SITE}/contests/zbc412"
    assert listing.is_complete
    assert listing.known - found.keys() == {"zbc408", "zupc2025"}


def test_trainings_and_permanent_contests_are_marked() -> None:
    found = {contest.native_id: contest for contest in SOURCE.discover(FakeSite(), wanted()).contests}
    kinds = {native: contest.kind for native, contest in found.items() if contest.kind is not ContestKind.ROUND}
    assert kinds == {
        "adt_easy_20260305_1": ContestKind.TRAINING,
        "adt_all_20260305_1": ContestKind.TRAINING,
        "zpractice": ContestKind.PERMANENT,
        "zbs": ContestKind.PERMANENT,
    }
    assert (found["zpractice"].starts_at, found["zpractice"].ends_at) == (None, None)
    assert found["zbs"].title == "Lamp Beginners Selection (C++)"


def test_what_was_seen_is_counted_by_category_before_the_window_cuts() -> None:
    site = FakeSite()
    listing = SOURCE.discover(site, wanted())
    assert listing.seen == {
        "archive": 5,
        "category_20": 2,
        "category_60": 3,
        "recent": 2,
        "running": 1,
        "upcoming": 1,
        "permanent": 2,
    }
    assert len(site.asked) == len(set(site.asked)) == 9


def test_a_page_that_leads_to_a_series_is_no_contest() -> None:
    listing = SOURCE.discover(FakeSite(), wanted())
    assert "zdt_top" not in {contest.native_id for contest in listing.contests}
    assert "zdt_top is left out: category_60 lists it without start and duration" in listing.notes


def test_the_walk_ends_where_nothing_can_start_in_the_window() -> None:
    site = FakeSite()
    SOURCE.discover(site, wanted(since=datetime(2026, 2, 20, tzinfo=UTC)))
    assert [url for url in site.asked if "category" not in url and "archive" in url] == [
        f"{ARCHIVE}&page=1",
        f"{ARCHIVE}&page=2",
    ]


def test_the_walk_ends_at_the_last_page_of_the_pagination() -> None:
    site = FakeSite()
    listing = SOURCE.discover(site, wanted(since=datetime(2015, 1, 1, tzinfo=UTC)))
    assert f"{ARCHIVE}&page=4" not in site.asked
    assert "ztc002" in {contest.native_id for contest in listing.contests}


def without_pagination(name: str) -> str:
    return re.sub(r'<ul class="pagination.*?</ul>', "", text_of(name), flags=re.DOTALL)


def test_without_a_pagination_the_walk_ends_at_the_page_after_the_last() -> None:
    changed = {f"{ARCHIVE}&page={number}": without_pagination(f"archive_{number}.html") for number in (1, 2, 3)}
    site = FakeSite(changed | {f"{ARCHIVE}&page=4": text_of("archive_end.html")})
    listing = SOURCE.discover(site, wanted(since=datetime(2015, 1, 1, tzinfo=UTC)))
    assert site.asked[3] == f"{ARCHIVE}&page=4"
    assert listing.seen["archive"] == 6


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param("<html><body><h1>Maintenance</h1></body></html>", "has no 'li.active a", id="a notice"),
        pytest.param(text_of("archive_end.html")[:700], "is cut off", id="cut off"),
        pytest.param(
            text_of("archive_2.html").replace("<tr>", "<div>").replace("</tr>", "</div>"),
            "links to the contest zbc408, but has no row for it",
            id="no table any more",
        ),
        pytest.param(without_pagination("archive_1.html"), "shows again", id="the page before"),
    ],
)
def test_a_page_without_the_archive_is_never_its_end(body: str, said: str) -> None:
    changed = {f"{ARCHIVE}&page=1": without_pagination("archive_1.html"), f"{ARCHIVE}&page=2": body}
    with pytest.raises(PageChanged, match=re.escape(said)) as caught:
        SOURCE.discover(FakeSite(changed), wanted(since=datetime(2015, 1, 1, tzinfo=UTC)))
    assert "page=2" in caught.value.message
    assert caught.value.snapshot_id == 7


def test_an_archive_without_a_single_contest_is_a_fault() -> None:
    with pytest.raises(PageChanged, match="has no contest at all"):
        SOURCE.discover(FakeSite({f"{ARCHIVE}&page=1": text_of("archive_end.html")}), wanted())


def test_a_category_that_vanished_is_seen_in_its_count() -> None:
    listing = SOURCE.discover(FakeSite({f"{ARCHIVE}&category=60&page=1": text_of("archive_end.html")}), wanted())
    assert listing.seen["category_60"] == 0


def test_another_column_changes_nothing() -> None:
    page = text_of("archive_1.html")
    wider = page.replace("<tr>", '<tr><td><input type="checkbox"></td>')
    assert read_archive(page_of(wider)) == read_archive(page_of(page))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda page: page.replace("01:40", "100 min"), "without duration: '2026-03-07 21:00:00+0900", id="unit"
        ),
        pytest.param(
            lambda page: re.sub(r"</?time[^>]*>", "", page), "without start: '2026-03-07", id="no time element"
        ),
        pytest.param(
            lambda page: page.replace("/contests/zbc412", "/c/zbc412"), "with 0 contests instead of one", id="link"
        ),
        pytest.param(
            lambda page: re.sub(r"</?time[^>]*>|\d\d:\d\d<", "<", page), "3 rows, and none has a start", id="no dates"
        ),
        pytest.param(
            lambda page: page.replace("2026-03-07 21:00:00+0900", "2026-03-07 21:00").replace("p1=248", "p1=136"),
            "has a time that cannot be read",
            id="another zone",
        ),
        pytest.param(
            lambda page: page.replace("2026-03-07 21:00:00", "9999-12-31 23:00:00").replace("01:40", "99:40"),
            "ends after all dates: '9999-12-31",
            id="beyond the calendar",
        ),
    ],
)
def test_a_row_that_cannot_be_read_is_named(change: Callable[[str], str], said: str) -> None:
    with pytest.raises(PageChanged, match=re.escape(said)):
        read_archive(page_of(change(text_of("archive_1.html"))))


def test_a_page_saved_from_a_browser_gives_the_same_contests() -> None:
    page = text_of("archive_1.html")
    names = count(1)
    saved = re.sub(r"(<time[^>]*>)[^<]*", lambda match: f"{match[1]}3月{next(names)}日 (土) 4:00", page)
    saved = saved.replace("href='/", f"href='{SITE}/").replace('href="/', f'href="{SITE}/').replace("&p1", "&amp;p1")
    assert read_archive(page_of(saved)) == read_archive(page_of(page))


READERS: dict[str, Callable[[Page], object]] = {
    "archive_1.html": read_archive,
    "overview.html": read_overview,
    "tasks.html": lambda page: (read_times(page), read_tasks(page, "zbc412")),
}


@given(st.sampled_from(sorted(READERS)), st.floats(0, 1), st.integers(0, 400), st.text(max_size=20))
@settings(max_examples=60)
def test_a_damaged_page_is_read_or_refused(name: str, place: float, length: int, instead: str) -> None:
    text = text_of(name)
    begin = int(place * len(text))
    try:
        READERS[name](page_of(text[:begin] + instead + text[begin + length :]))
    except SourceError as error:
        assert error.message.startswith(f"{SITE}/page ")


def test_the_overview_needs_its_permanent_contests() -> None:
    with pytest.raises(PageChanged, match="contest-table-permanent"):
        read_overview(page_of(text_of("overview.html").replace("contest-table-permanent", "contests-always")))


def test_the_overview_may_have_nothing_running() -> None:
    page = re.sub(r'<div id="contest-table-action">.*?<hr>', "", text_of("overview.html"), flags=re.DOTALL)
    overview = read_overview(page_of(page))
    assert (overview.running, len(overview.upcoming)) == ((), 1)


def test_a_moved_start_is_read_again() -> None:
    moved = text_of("overview.html").replace("2026-03-14 21:00:00", "2026-03-14 21:15:00")
    listing = SOURCE.discover(FakeSite({OVERVIEW: moved}), wanted())
    (contest,) = [contest for contest in listing.contests if contest.native_id == "zbc413"]
    assert contest.starts_at == datetime(2026, 3, 14, 12, 15, tzinfo=UTC)
    assert contest.ends_at == datetime(2026, 3, 14, 13, 55, tzinfo=UTC)


def test_a_stored_contest_that_moved_out_of_the_window_is_listed_with_its_new_start() -> None:
    """Ahead of the window on the page of current contests, and before it on a page of the archive that is read."""
    moved = FakeSite({OVERVIEW: text_of("overview.html").replace("2026-03-14 21:00:00", "2026-05-14 21:00:00")})
    before = SOURCE.discover(moved, wanted())
    assert {"zbc413", "zbc408"} <= before.known - {contest.native_id for contest in before.contests}
    listing = SOURCE.discover(moved, replace(wanted(), stored=frozenset({"zbc413", "zbc408", "zother"})))
    found = {contest.native_id: contest.starts_at for contest in listing.contests}
    assert found["zbc413"] == datetime(2026, 5, 14, 12, tzinfo=UTC)
    assert found.keys() == {contest.native_id for contest in before.contests} | {"zbc413", "zbc408"}


def test_tasks_are_listed_with_their_own_ids() -> None:
    listed = SOURCE.list_problems(FakeSite(), CONTEST, wanted())
    assert listed.problems == (
        ProblemRef("zbc412_a", "Two Lamps", "A"),
        ProblemRef("zrc230_a", "Lamplighter's Walk", "B"),
        ProblemRef("zbc412_h", "Dark - or Bright", "Ex"),
    )
    assert (listed.contest, listed.notes) == (CONTEST, ())


def test_the_dates_of_the_contests_own_page_win() -> None:
    planned = replace(CONTEST, starts_at=START - timedelta(minutes=10))
    listed = SOURCE.list_problems(FakeSite(), planned, wanted())
    assert (listed.contest.starts_at, listed.contest.ends_at) == (START, END)
    assert listed.notes == (
        "it runs 2026-03-07T12:00Z to 2026-03-07T13:40Z by its own page, "
        "2026-03-07T11:50Z to 2026-03-07T13:40Z by the list of contests",
    )


def test_a_contest_that_was_moved_into_the_future_lists_nothing_yet() -> None:
    moved = text_of("tasks.html").replace("2026-03-07T", "2026-03-17T")
    listed = SOURCE.list_problems(FakeSite({TASKS: moved}), CONTEST, wanted())
    assert listed.problems == ()
    assert listed.contest.starts_at == START + timedelta(days=10)
    assert listed.notes[-1] == "it has not ended: its tasks wait"


def test_a_permanent_contest_gets_no_dates() -> None:
    permanent = ContestRecord("atcoder", "zbc412", kind=ContestKind.PERMANENT)
    assert SOURCE.list_problems(FakeSite(), permanent, wanted()).contest == permanent


def test_a_hidden_contest_is_absent() -> None:
    with pytest.raises(Absent):
        SOURCE.list_problems(FakeSite(), replace(CONTEST, native_id="zbc999"), wanted())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda page: re.sub(r"<tbody>.*</tbody>", "<tbody></tbody>", page, flags=re.DOTALL),
            "without rows",
            id="empty",
        ),
        pytest.param(
            lambda page: re.sub(r"<table.*</table>", "", page, flags=re.DOTALL), "no 'table tbody'", id="no table"
        ),
        pytest.param(lambda page: page.replace("moment(", "dayjs("), "no 'startTime' in a script", id="no constant"),
        pytest.param(lambda page: page.replace("T21:00:00+09:00", "T21:00:00"), "has no time zone", id="no zone"),
        pytest.param(lambda page: page.replace("T22:40", "T20:40"), "an end before its start", id="ends first"),
        pytest.param(
            lambda page: page.replace("/tasks/zrc230_a", "/t/zrc230_a"),
            "no task of zbc412: \"B Lamplighter's Walk",
            id="link",
        ),
        pytest.param(
            lambda page: page.replace("/zbc412/tasks", "/zbc411/tasks"),
            "no task of zbc412: 'A Two Lamps",
            id="other contest",
        ),
        pytest.param(lambda page: text_of("overview.html"), "no 'startTime' in a script", id="another page"),
    ],
)
def test_a_list_of_tasks_that_cannot_be_read_is_a_fault(change: Callable[[str], str], said: str) -> None:
    with pytest.raises(PageChanged, match=re.escape(said)):
        SOURCE.list_problems(FakeSite({TASKS: change(text_of("tasks.html"))}), CONTEST, wanted())


@pytest.mark.parametrize("check", SOURCE.checks, ids=[check.name for check in SOURCE.checks])
def test_every_check_asks_a_host_of_the_source_and_refuses_another_page(check: object) -> None:
    assert isinstance(check, Check)
    assert check.request.url.split("/")[2] in {host.name for host in SOURCE.hosts}
    with pytest.raises(PageChanged):
        check.read(page_of("<html><body><h1>Just a moment...</h1></body></html>"))


def test_checks_take_the_pages_they_are_for() -> None:
    """But for the list of tasks, which has to be the one of the contest that the check names."""
    checks = {check.request.url: check for check in SOURCE.checks}
    assert checks.keys() & FILES.keys() == FILES.keys() - {TASKS, TASK, f"{ARCHIVE}&page=2", f"{ARCHIVE}&page=3"}
    for url in checks.keys() & FILES.keys():
        checks[url].read(page_of(text_of(FILES[url]), url))
    checks[f"{SITE}/contests/abc308/tasks/abc308_h?lang=en"].read(page_of(text_of("task.html")))


def test_hosts_are_asked_once_a_second_and_a_cookie_comes_from_the_environment() -> None:
    assert [(host.name, host.interval_s) for host in SOURCE.hosts] == [("atcoder.jp", 1.0), ("kenkoooo.com", 1.0)]
    assert SOURCE.hosts[0].secret is not None
    assert SOURCE.hosts[0].secret.variable == "LIVE_ATCODER_COOKIE"
    assert not SOURCE.twins
