"""Reading of AtCoder's pages: lists of contests, a contest's tasks, a task's statement. Pure.

Cells are found by what they hold, never by their number: columns come and go with rights and years. Pages saved from
a browser differ in two ways: links are whole addresses, and a script has rewritten the times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from bs4 import Tag

from ingest.dates import zoned_instant
from ingest.errors import BadRow
from ingest.pages import Page
from ingest.statements.markdown import to_markdown
from ingest.statements.samples import Samples, find_samples, html_blocks

SITE = "https://atcoder.jp"

_TOKYO = timezone(timedelta(hours=9))
_CONTEST_LINK = re.compile(r"(?:https?://atcoder\.jp)?/contests/(?!archive\b)([^/?#]+)/?(?:[?#].*)?")
_TASK_LINK = re.compile(r"(?:https?://atcoder\.jp)?/contests/([^/?#]+)/tasks/([^/?#]+)/?(?:[?#].*)?")
_DURATION = re.compile(r"(\d{1,4}):([0-5]\d)", re.ASCII)
_TOKYO_LINK = re.compile(r"[?&]iso=(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:\d\d)?&p1=248(?!\d)", re.ASCII)
_PAGE_NUMBER = re.compile(r"[?&]page=(\d+)", re.ASCII)
_MOMENT = r"var\s+{}\s*=\s*moment\([\"']([^\"']+)[\"']\)"
_LIMITS = re.compile(
    r"(?:Time Limit|実行時間制限)\s*[:：]\s*([\d.]+)\s*(m?sec|ms|s)\b.{0,200}?"
    r"(?:Memory Limit|メモリ制限)\s*[:：]\s*([\d.]+)\s*([KMG]?i?B)\b",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
# A warning while the contest runs; what the page's script adds for copying, which is in pages saved from a browser.
_NO_STATEMENT = ".alert, [role=alert], .btn-copy, .div-btn-copy, .source-code-for-copy"
_ARCHIVE_TAB = 'li.active a[href*="/contests/archive"]'
_LANGUAGES = ("en", "ja")
_WIDTH = 80
_BEYOND_ALL = 2.0**32
"""No limit is so large, in whatever unit; no integer of a database holds what the units make of larger ones."""


@dataclass(frozen=True)
class ContestRow:
    """A row of a list of contests; the instants are None where it shows none, as in the table of permanent ones."""

    contest_id: str
    title: str
    starts_at: datetime | None = None
    ends_at: datetime | None = None


@dataclass(frozen=True)
class ArchivePage:
    """One page of the archive of ended contests.

    ``menus`` are rows without any date: pages that lead to a series of contests. ``last_page`` is the last page that
    this one links to, None when it links to none.
    """

    rows: tuple[ContestRow, ...]
    menus: tuple[str, ...]
    last_page: int | None


@dataclass(frozen=True)
class Overview:
    """The page of current contests; ``recent`` are the last ones that ended."""

    running: tuple[ContestRow, ...]
    upcoming: tuple[ContestRow, ...]
    recent: tuple[ContestRow, ...]
    permanent: tuple[ContestRow, ...]


@dataclass(frozen=True)
class ContestTimes:
    """When a contest starts and ends, by the constants in the script of each of its pages, and the start's words."""

    starts_at: datetime
    ends_at: datetime
    start_as_written: str


@dataclass(frozen=True)
class TaskRow:
    """A row of a contest's list of tasks. ``task_id`` is the task's own id, whose prefix may be another contest's."""

    index: str
    task_id: str
    title: str


@dataclass(frozen=True)
class Statement:
    """A task's statement in one language."""

    language: str
    markdown: str
    samples: Samples


@dataclass(frozen=True)
class TaskPage:
    """A task's own page. Limits are None where it states none (0 sec, 0 KB); ``statements`` has English first."""

    title: str
    time_limit_s: float | None
    memory_limit_bytes: int | None
    times: ContestTimes
    statements: tuple[Statement, ...]


def read_archive(page: Page) -> ArchivePage:
    """A page of the archive; without rows it is one after the last. ``PageChanged`` names what cannot be read."""
    soup = page.whole_soup()
    rows = [_contest_row(page, row) for row in soup.select("table tbody tr")]
    dated = tuple(row for row in rows if row.starts_at)
    if len(rows) > 1 and not dated:
        raise page.changed(f"has {len(rows)} rows, and none has a start and a duration")
    if not rows:
        page.one(soup, _ARCHIVE_TAB)
        if stray := next(_contest_links(soup), None):
            raise page.changed(f"links to the contest {stray[0]}, but has no row for it")
    links = [_PAGE_NUMBER.search(str(link["href"])) for link in soup.select(".pagination a[href]")]
    menus = tuple(row.contest_id for row in rows if not row.starts_at)
    return ArchivePage(dated, menus, max((int(match[1]) for match in links if match), default=None))


def read_overview(page: Page) -> Overview:
    """The page of current contests. ``PageChanged`` when it has no permanent one: there always are."""
    soup = page.whole_soup()
    running, upcoming, recent, permanent = (
        tuple(_contest_row(page, row) for row in soup.select(f"#contest-table-{name} tbody tr"))
        for name in ("action", "upcoming", "recent", "permanent")
    )
    if not permanent:
        raise page.changed("has no row in '#contest-table-permanent'")
    if undated := next((row.contest_id for row in (*running, *upcoming, *recent) if row.starts_at is None), None):
        raise page.changed(f"has no start and no duration for the contest {undated}")
    return Overview(running, upcoming, recent, permanent)


def _contest_row(page: Page, row: Tag) -> ContestRow:
    links = dict(_contest_links(row))
    if len(links) != 1:
        raise page.changed(f"has a row with {len(links)} contests instead of one: {_shown(row)!r}")
    ((contest_id, title),) = links.items()
    cells = (cell.get_text(strip=True) for cell in row.select("td"))
    duration = next((match for cell in cells if (match := _DURATION.fullmatch(cell))), None)
    time = row.select_one("time")
    if time is None and duration is None:
        return ContestRow(contest_id, title)
    if time is None or duration is None:
        raise page.changed(f"has a row without {'start' if time is None else 'duration'}: {_shown(row)!r}")
    starts_at = _start(page, time)
    try:
        ends_at = starts_at + timedelta(hours=int(duration[1]), minutes=int(duration[2]))
    except OverflowError:
        raise page.changed(f"has a contest that ends after all dates: {_shown(row)!r}") from None
    return ContestRow(contest_id, title, starts_at, ends_at)


def _contest_links(root: Tag) -> Iterator[tuple[str, str]]:
    for link in root.select("a[href]"):
        title = _plain(link.get_text())
        if title and (match := _CONTEST_LINK.fullmatch(str(link["href"]))):
            yield match[1], title


def _start(page: Page, time: Tag) -> datetime:
    """The instant of a ``time``: from its own offset, else from the link around it, which is in Tokyo's time."""
    written = time.get_text(strip=True)
    link = time.find_parent("a", href=True)
    try:
        return zoned_instant(written, None)
    except BadRow as error:
        if link is None or not (match := _TOKYO_LINK.search(str(link["href"]))):
            raise page.changed(f"has a time that cannot be read: {error.reason}") from None
    year, month, day, hour, minute = match.groups()
    return _instant(page, f"{year}-{month}-{day}T{hour}:{minute}", _TOKYO)


def read_times(page: Page) -> ContestTimes:
    """When the contest of a page below ``/contests/ID`` starts and ends. ``PageChanged`` when it does not say."""
    text = page.text()
    written = []
    for name in ("startTime", "endTime"):
        match = re.search(_MOMENT.format(name), text)
        if match is None:
            raise page.changed(f"has no {name!r} in a script")
        written.append(match[1])
    starts_at, ends_at = (_instant(page, words) for words in written)
    if ends_at < starts_at:
        raise page.changed(f"has an end before its start: {written[1]!r}")
    return ContestTimes(starts_at, ends_at, written[0])


def _instant(page: Page, words: str, zone: timezone | None = None) -> datetime:
    try:
        return zoned_instant(words, zone)
    except BadRow as error:
        raise page.changed(f"has a date that cannot be read: {error.reason}") from None


def read_tasks(page: Page, contest_id: str) -> tuple[TaskRow, ...]:
    """The tasks that a contest lists, in their order. ``PageChanged`` when the table is missing, empty or odd."""
    rows = page.one(page.whole_soup(), "table tbody").select("tr")
    if not rows:
        raise page.changed("has a table of tasks without rows")
    return tuple(_task_row(page, row, contest_id) for row in rows)


def _task_row(page: Page, row: Tag, contest_id: str) -> TaskRow:
    links = [
        (match[2], _plain(link.get_text()))
        for link in row.select("a[href]")
        if (match := _TASK_LINK.fullmatch(str(link["href"]))) and match[1] == contest_id
    ]
    if len(links) < 2 or len({task_id for task_id, _ in links}) != 1 or not all(text for _, text in links):
        raise page.changed(f"has a row that is no task of {contest_id}: {_shown(row)!r}")
    (task_id, index), (_, title) = links[:2]
    return TaskRow(index, task_id, title)


def read_task(page: Page, index: str | None) -> TaskPage:
    """A task's own page; its title begins with the `index` that its contest gives it. ``PageChanged`` names a lack."""
    soup = page.whole_soup()
    heading = page.one(soup, "span.h2")
    title = _plain("".join(heading.find_all(string=True, recursive=False)))
    statement = page.one(soup, "#task-statement")
    for added in statement.select(_NO_STATEMENT):
        added.decompose()
    limits = next((match for p in soup.select("p") if (match := _LIMITS.search(p.get_text()))), None)
    if limits is None:
        raise page.changed("has no time and memory limit")
    statements = read_statements(statement, base_url=page.url)
    if not title or not statements:
        raise page.changed(f"has an empty {'#task-statement' if title else 'span.h2'!r}")
    return TaskPage(
        title.removeprefix(f"{index} - "),
        _seconds(page, limits[1], limits[2]),
        _bytes(page, limits[3], limits[4]),
        read_times(page),
        statements,
    )


def _seconds(page: Page, number: str, unit: str) -> float | None:
    return _number(page, number) / (1000 if unit.lower().startswith("m") else 1) or None


def _bytes(page: Page, number: str, unit: str) -> int | None:
    """The site's MB has always been MiB; it says so since 2025."""
    return int(_number(page, number) * _UNITS[unit.upper().replace("I", "")]) or None


def _number(page: Page, written: str) -> float:
    try:
        number = float(written)
    except ValueError:
        number = _BEYOND_ALL
    if number >= _BEYOND_ALL:
        raise page.changed(f"has {written[:_WIDTH]!r} for a limit")
    return number


def read_statements(root: Tag, *, base_url: str = "") -> tuple[Statement, ...]:
    """The statement below `root` in each language that is there, English first.

    Old tasks do not say their language: it is Japanese where the text has Japanese letters.
    """
    parts = {language: root.select_one(f"span.lang-{language}") for language in _LANGUAGES}
    found = {language: part for language, part in parts.items() if part is not None}
    if not found:
        found = {"ja" if _JAPANESE.search(root.get_text()) else "en": root}
    return tuple(
        Statement(language, markdown, find_samples(html_blocks(part)))
        for language, part in found.items()
        if (markdown := to_markdown(part, base_url=base_url)).strip()
    )


def choose_samples(statements: Iterable[Statement]) -> tuple[Samples, tuple[str, ...]]:
    """The samples of one language, and notes where the languages disagree.

    Every language repeats all samples, so one language's are taken whole: where there are some and none lacks its
    partner, then where they are most, then the first language's.
    """
    given = tuple(statements)
    best = max(given, key=lambda statement: _worth(statement.samples))
    counts = ", ".join(f"{statement.language} {len(statement.samples.pairs)}" for statement in given)
    notes = []
    if len({len(statement.samples.pairs) for statement in given}) > 1:
        notes.append(f"the sample count differs between languages: {counts}; taken from {best.language}")
    elif len({statement.samples.pairs for statement in given}) > 1:
        notes.append(f"the samples differ between languages; taken from {best.language}")
    notes += [f"no sample belongs to {name!r}" for name in best.samples.unpaired]
    return best.samples, tuple(notes)


def _worth(samples: Samples) -> tuple[bool, int]:
    return bool(samples.pairs) and not samples.unpaired, len(samples.pairs)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _shown(row: Tag) -> str:
    return _plain(row.get_text(" "))[:_WIDTH]
