"""AtCoder: contests from its archive and its page of current ones, problems from the contests' own pages.

The archive without a category leaves out Weekday Contests (20) and Daily Training (60), so these are asked for on their
own; in Japanese, because some contests are listed in it alone. A task's id is the same in every contest that lists it.
The files of kenkoooo's AtCoder Problems check the dates, give the difficulties, and know the first contest of a task
that a later one lists again; without them a run is as good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from db.digests import sha256_hex
from db.records import (
    ContestKind,
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SightingRecord,
    SuiteRecord,
)
from ingest.errors import SourceError
from ingest.pages import Fetch, Page, Request
from ingest.sources import Check, Host, Listing, ProblemList, ProblemRef, ReadProblem, Secret, Source, Wanted
from ingest.sources._atcoder_pages import (
    SITE,
    ArchivePage,
    ContestRow,
    choose_samples,
    read_archive,
    read_overview,
    read_task,
    read_tasks,
    read_times,
)
from ingest.sources._kenkoooo import (
    RESOURCES,
    TRAINING_PREFIX,
    KnownContest,
    Place,
    home_contests,
    read_contests,
    read_difficulties,
    read_places,
    read_problems,
)
from ingest.sources._samples_as_tests import sample_tests
from ingest.statements.wording import read_wording

PLATFORM = "atcoder"

_TRAINING = "60"
_CATEGORIES = ("", "20", _TRAINING)
_OVERVIEW = f"{SITE}/contests/?lang=ja"
_MAX_NOTES = 20
_Content = TypeVar("_Content")


@dataclass(frozen=True)
class _CrossCheck:
    """What kenkoooo's files add to a listing."""

    notes: tuple[str, ...]
    sightings: tuple[SightingRecord, ...]
    difficulties: Mapping[str, str]


def discover(fetch: Fetch, wanted: Wanted) -> Listing:
    """The contests that are wanted, those still to come among them, and the permanent ones."""
    contests, seen, notes = _all_listed(fetch, wanted.since)
    listed = tuple(
        contest
        for contest in contests.values()
        if contest.starts_at is None or wanted.wants(contest.native_id, contest.starts_at)
    )
    check = _cross_check(fetch, wanted, contests)
    return Listing(
        listed,
        known=frozenset(contests),
        seen=seen,
        notes=(*notes, *check.notes),
        sightings=check.sightings,
        difficulties=check.difficulties,
    )


def _all_listed(fetch: Fetch, since: datetime) -> tuple[dict[str, ContestRecord], dict[str, int], list[str]]:
    """Every contest on the pages that have to be looked at, how many each list has, and what was left out."""
    contests: dict[str, ContestRecord] = {}
    seen: dict[str, int] = {}
    notes: list[str] = []
    for category in _CATEGORIES:
        name = f"category_{category}" if category else "archive"
        seen[name] = 0
        for page in _archive_pages(fetch, category, since):
            seen[name] += len(page.rows) + len(page.menus)
            notes += [f"{menu} is left out: {name} lists it without start and duration" for menu in page.menus]
            contests |= {row.contest_id: _contest(row, is_training=category == _TRAINING) for row in page.rows}
    overview = read_overview(fetch(_OVERVIEW))
    for name, rows in (("recent", overview.recent), ("running", overview.running), ("upcoming", overview.upcoming)):
        seen[name] = len(rows)
        contests = {row.contest_id: _contest(row) for row in rows} | contests
    seen["permanent"] = len(overview.permanent)
    permanent = {row.contest_id: replace(_contest(row), kind=ContestKind.PERMANENT) for row in overview.permanent}
    return permanent | contests, seen, notes


def _archive_pages(fetch: Fetch, category: str, since: datetime) -> Iterator[ArchivePage]:
    """The pages of the archive from the newest on, until one has nothing that could start in the window.

    The archive has been sorted by the start and by the end of its contests, so a page is judged by its ends.
    """
    known: set[str] = set()
    number = 0
    while True:
        number += 1
        page = fetch(_archive_url(category, number))
        archive = read_archive(page)
        if not archive.rows and not archive.menus and number == 1 and not category:
            raise page.changed("has no contest at all")
        yield archive
        if archive.last_page is not None and number >= archive.last_page:
            return
        if all(row.ends_at is not None and row.ends_at < since for row in archive.rows):
            return
        if known.issuperset(row.contest_id for row in archive.rows):
            raise page.changed("shows again what the pages before it showed")
        known |= {row.contest_id for row in archive.rows}


def _archive_url(category: str, number: int) -> str:
    wanted = f"&category={category}" if category else ""
    return f"{SITE}/contests/archive?lang=ja{wanted}&page={number}"


def _contest(row: ContestRow, *, is_training: bool = False) -> ContestRecord:
    is_training |= row.contest_id.startswith(TRAINING_PREFIX)
    return ContestRecord(
        PLATFORM,
        row.contest_id,
        row.title,
        row.starts_at,
        row.ends_at,
        ContestKind.TRAINING if is_training else ContestKind.ROUND,
        f"{SITE}/contests/{row.contest_id}",
    )


def _cross_check(fetch: Fetch, wanted: Wanted, contests: Mapping[str, ContestRecord]) -> _CrossCheck:
    notes: list[str] = []

    def take(name: str, read: Callable[[Page], _Content], otherwise: _Content) -> _Content:
        try:
            return read(fetch(f"{RESOURCES}/{name}"))
        except SourceError as error:
            notes.append(f"kenkoooo's {name} could not be taken: {error.message}")
            return otherwise

    known: dict[str, KnownContest] = take("contests.json", read_contests, {})
    nowhere: tuple[Place, ...] = ()
    places = take("contest-problem.json", read_places, nowhere) + take("problems.json", read_problems, nowhere)
    difficulties: dict[str, str] = take("problem-models.json", read_difficulties, {})
    differences = list(_differences(contests, known, wanted))
    notes += differences[:_MAX_NOTES]
    if len(differences) > _MAX_NOTES:
        notes.append(f"and {len(differences) - _MAX_NOTES} more differences from kenkoooo")
    return _CrossCheck(tuple(notes), tuple(_sightings(contests, known, places, wanted)), difficulties)


def _differences(
    contests: Mapping[str, ContestRecord], known: Mapping[str, KnownContest], wanted: Wanted
) -> Iterator[str]:
    """Where kenkoooo has other dates than AtCoder, or a contest of the window that AtCoder does not list."""
    for contest_id, theirs in sorted(known.items()):
        ours = contests.get(contest_id)
        if theirs.starts_at is None or not wanted.wants(contest_id, theirs.starts_at):
            continue
        if ours is None:
            yield f"{contest_id} is not listed by AtCoder; kenkoooo has it start {theirs.starts_at:%Y-%m-%dT%H:%MZ}"
        elif ours.starts_at is not None and (ours.starts_at, ours.ends_at) != (theirs.starts_at, theirs.ends_at):
            yield (
                f"{contest_id} runs {_span(ours.starts_at, ours.ends_at)} by AtCoder, "
                f"{_span(theirs.starts_at, theirs.ends_at)} by kenkoooo"
            )


def _span(starts_at: datetime, ends_at: datetime | None) -> str:
    return f"{starts_at:%Y-%m-%dT%H:%MZ} to {'?' if ends_at is None else format(ends_at, '%Y-%m-%dT%H:%MZ')}"


def _sightings(
    contests: Mapping[str, ContestRecord],
    known: Mapping[str, KnownContest],
    places: tuple[Place, ...],
    wanted: Wanted,
) -> Iterator[SightingRecord]:
    """Tasks that a round of the window lists again: they were public since their first contest, stored here or not."""
    starts = {contest_id: contest.starts_at for contest_id, contest in known.items()}
    starts |= {contest_id: contest.starts_at for contest_id, contest in contests.items() if contest.starts_at}
    homes = home_contests(starts, places)
    for place in sorted(set(places), key=lambda place: (place.contest_id, place.task_id)):
        contest = contests.get(place.contest_id)
        home = homes.get(place.task_id)
        if contest is None or contest.kind is not ContestKind.ROUND or contest.starts_at is None or home is None:
            continue
        if wanted.wants(contest.native_id, contest.starts_at) and home.starts_at < contest.starts_at:
            reason = f"{home.contest_id} listed it before {place.contest_id}"
            yield SightingRecord(ProblemKey(PLATFORM, place.task_id), home.starts_at, "kenkoooo", reason)


def list_problems(fetch: Fetch, contest: ContestRecord, wanted: Wanted) -> ProblemList:
    """The tasks on the contest's own page, with the dates of its script, which win over the archive's.

    No problem is listed while these say that the contest has not ended: it was moved.
    """
    page = fetch(f"{SITE}/contests/{contest.native_id}/tasks?lang=en")
    times = read_times(page)
    if contest.kind is ContestKind.PERMANENT:
        dated = contest
    else:
        dated = replace(contest, starts_at=times.starts_at, ends_at=times.ends_at)
    notes = []
    if contest.starts_at is not None and dated != contest:
        notes.append(
            f"it runs {_span(times.starts_at, times.ends_at)} by its own page, "
            f"{_span(contest.starts_at, contest.ends_at)} by the list of contests"
        )
    if dated.ends_at is not None and not dated.has_ended(wanted.now):
        notes.append("it has not ended: its tasks wait")
        return ProblemList(dated, (), tuple(notes))
    rows = read_tasks(page, contest.native_id)
    return ProblemList(dated, tuple(ProblemRef(row.task_id, row.title, row.index) for row in rows), tuple(notes))


def read_problem(fetch: Fetch, listed: ProblemList, ref: ProblemRef, wanted: Wanted) -> ReadProblem:
    """One task whole. English is preferred; a task that has only Japanese is kept in it."""
    contest = listed.contest
    url = f"{SITE}/contests/{contest.native_id}/tasks/{ref.native_id}"
    page = fetch(f"{url}?lang=en")
    task = read_task(page, ref.index)
    samples, notes = choose_samples(task.statements)
    preferred, *others = task.statements
    wording = read_wording(preferred.markdown)
    is_interactive = any(name == "interactive" for name, _ in wording.flags)
    if not samples.pairs and not is_interactive:
        if heading := next((name for statement in task.statements for name in statement.samples.unpaired), None):
            raise page.changed(f"has the heading {heading!r}, but no sample")
        notes = (*notes, "it has no sample")
    if contest.starts_at is not None and task.times.starts_at != contest.starts_at:
        notes = (*notes, f"its page has the contest start {task.times.start_as_written}, unlike the list of tasks")
    record = ProblemRecord(
        key=ProblemKey(PLATFORM, ref.native_id),
        title=task.title,
        dates=_dates(contest, task.times.starts_at, task.times.start_as_written),
        source=PLATFORM,
        url=url,
        contest=contest,
        contest_index=ref.index,
        statement=preferred.markdown,
        language=preferred.language,
        translations=tuple((other.language, other.markdown) for other in others),
        suite=SuiteRecord(
            tests=() if is_interactive else sample_tests(samples.pairs),
            comparison=wording.comparison,
            time_limit_s=task.time_limit_s,
            memory_limit_bytes=task.memory_limit_bytes,
        ),
        flags=wording.flags,
        page_sha256=sha256_hex(page.body),
    )
    return ReadProblem(record, notes)


def _dates(contest: ContestRecord, starts_at: datetime, as_written: str) -> tuple[DateClaim, ...]:
    if contest.kind is not ContestKind.ROUND:
        return ()
    return (DateClaim(as_written, starts_at, Precision.INSTANT, PLATFORM, contest.native_id),)


def _checked_archive(page: Page) -> ArchivePage:
    archive = read_archive(page)
    if not archive.rows:
        raise page.changed("has no contest")
    return archive


SOURCE = Source(
    name=PLATFORM,
    description="AtCoder's contests and tasks, with kenkoooo's AtCoder Problems as a check",
    hosts=(
        Host("atcoder.jp", 1.0, Secret("LIVE_ATCODER_COOKIE")),
        Host("kenkoooo.com", 1.0),
    ),
    discover=discover,
    list_problems=list_problems,
    read_problem=read_problem,
    checks=(
        Check("archive", Request(_archive_url("", 1)), _checked_archive),
        Check("Weekday Contests", Request(_archive_url("20", 1)), _checked_archive),
        Check("Daily Training", Request(_archive_url(_TRAINING, 1)), _checked_archive),
        Check("current contests", Request(_OVERVIEW), read_overview),
        Check("tasks", Request(f"{SITE}/contests/abc308/tasks?lang=en"), lambda page: read_tasks(page, "abc308")),
        Check(
            "statement",
            Request(f"{SITE}/contests/abc308/tasks/abc308_h?lang=en"),
            lambda page: choose_samples(read_task(page, "Ex").statements),
        ),
        Check("kenkoooo contests", Request(f"{RESOURCES}/contests.json"), read_contests),
        Check("kenkoooo places of tasks", Request(f"{RESOURCES}/contest-problem.json"), read_places),
        Check("kenkoooo problems", Request(f"{RESOURCES}/problems.json"), read_problems),
        Check("kenkoooo difficulties", Request(f"{RESOURCES}/problem-models.json"), read_difficulties),
    ),
)
