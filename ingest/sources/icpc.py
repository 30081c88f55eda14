"""Problem packages of ICPC-style contests in local folders, git checkouts for example. Nothing is fetched.

The folders are ``paths`` in the configuration's table ``[sources.icpc]``. Packages are read as by ``--format kattis``
and have the same ids, so that the two never make two problems of one. Packages that stand in one folder are one contest
here, even where that folder holds other things and its packages are known by their own names alone.

A folder holds what its owner put there, long after the contest as a rule: everything in it is listed, whatever the
window; and what is moved away says nothing about whether it is public, so that nothing here is ever withdrawn.

Dates come from the package, and a package without one is undated. What is claimed, from the surest on:

1. the contest's day, where a ``manifest.json`` gives it;
2. without it, ``embargo_until`` (2025-09), which reads as UTC: the package may not be shown before. Until that instant
   it is left out. It is not claimed beside a day, because a mirror's embargo ends after the contest;
3. a day, or the year that ``source`` names ("NCPC 2021"). Two years ("2021/2022") say nothing certain.

The day of a commit is no date: it says when the package was put there.

A statement in LaTeX stays LaTeX. How its answers are judged is the package's to say; the wording is only asked about
images (``\\includegraphics``): ``needs_image`` where the text depends on one, else ``has_image``. The format's own
``\\illustration`` is an ornament and counts for neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from db.records import ContestRecord, DateClaim, Precision, ProblemKey
from ingest.dates import read_date, zoned_instant
from ingest.errors import Absent, BadRow, NotConfigured, PageChanged
from ingest.formats.kattis import PLATFORM, contest_of, package_folders, problem_key, read_package
from ingest.packages import Package, open_package
from ingest.pages import Fetch
from ingest.sources import Listing, ProblemList, ProblemRef, ReadProblem, Source, Wanted
from ingest.statements.wording import read_wording

NAME: Final = "icpc"
_HINT: Final = 'Write paths = ["/folder/of/packages"] under [sources.icpc] in the configuration.'

_DAY = re.compile(r"(?<![\d-])\d{4}-\d{2}-\d{2}(?![\d-])")
_YEAR = re.compile(r"(?<!\d)(?:19[89]\d|20\d\d)(?!\d)")
_SEASON = re.compile(r"\d{4}\s*[/–-]\s*(?:\d{2}|\d{4})(?!\d)")
_COMMENT = re.compile(r"(?<!\\)%.*")
_IMAGE = re.compile(r"\\includegraphics\s*(?:\[[^\[\]]*\]\s*)?\{([^{}]*)\}")
_IMAGE_FLAGS: Final = ("needs_image", "has_image")
_REFERENCE = re.compile(r"~?\\ref\s*\{[^{}]*\}")


@dataclass(frozen=True)
class Found:
    """A package's folder, with the root that it was found under and the contest that it is listed in."""

    folder: Path
    root: Path
    contest_id: str

    @property
    def key(self) -> ProblemKey:
        """Its identity."""
        return problem_key(self.folder)

    @property
    def where(self) -> str:
        """Its place, for a line about it."""
        return self.folder.relative_to(self.root.parent).as_posix()


def discover(fetch: Fetch, wanted: Wanted) -> Listing:
    """One contest for each folder of packages. ``NotConfigured`` without folders, ``PageChanged`` without packages."""
    contests: list[ContestRecord] = []
    notes: list[str] = []
    found = list(_packages(wanted))
    if not found:
        raise PageChanged(f"there is no problem package in {', '.join(map(str, _paths(wanted)))}", _HINT)
    for contest_id, members in _by_contest(found, notes).items():
        shown = [package for member in members if not _is_hidden(package := _open(member), wanted.now)]
        if shown:
            titles = (package.source for package in shown if package is not None)
            contests.append(ContestRecord(PLATFORM, contest_id, next(filter(None, titles), None)))
        if len(shown) < len(members):
            notes.append(f"{len(members) - len(shown)} packages of {contest_id} wait for the end of their embargo")
    return Listing(tuple(contests), is_complete=False, seen={"packages": len(found)}, notes=tuple(notes))


def list_problems(fetch: Fetch, contest: ContestRecord, wanted: Wanted) -> ProblemList:
    """The packages of a contest's folder, sorted by name; one that cannot be read is listed under its folder's name."""
    refs = []
    for member in _members(contest, wanted):
        package = _open(member)
        if not _is_hidden(package, wanted.now):
            refs.append(ProblemRef(member.key.native_id, package.title if package else member.folder.name))
    return ProblemList(contest, tuple(refs))


def read_problem(fetch: Fetch, listed: ProblemList, ref: ProblemRef, wanted: Wanted) -> ReadProblem:
    """A package whole. Tests that were refused are notes."""
    for member in _members(listed.contest, wanted):
        if member.key.native_id == ref.native_id:
            return _read(member, listed.contest, wanted.now)
    raise Absent(f"the package {ref.native_id} is not in its folder any more", "nothing is to be done")


def _read(member: Found, contest: ContestRecord, now: datetime) -> ReadProblem:
    try:
        package = open_package(member.folder)
        found = read_package(package, member.where)
        dates = (*found.record.dates, *claimed_dates(package, contest.native_id, now, has_day=bool(found.record.dates)))
    except (BadRow, OSError) as error:
        hint = error.hint if isinstance(error, BadRow) else ""
        raise PageChanged(f"{member.where}: {error}", hint or "Repair the package, or move it away.") from None
    record = replace(
        found.record,
        source=NAME,
        contest=contest,
        dates=dates,
        flags=(*found.record.flags, *image_flags(package.statement)),
    )
    return ReadProblem(record, (*map(str, found.refused), *map(str, found.notes)))


def claimed_dates(package: Package, contest_id: str, now: datetime, *, has_day: bool) -> tuple[DateClaim, ...]:
    """What the package itself says of its date; ``has_day`` says that a manifest gives the contest's day."""
    claims = []
    embargo = _embargo(package)
    if embargo is not None and not has_day:
        claims.append(embargo)
    for source in package.sources:
        written = _day_or_year(source, now)
        if written is not None:
            claims.append(replace(read_date(written, "problem.yaml"), as_written=source, contest=contest_id))
    return tuple(claims)


def _day_or_year(source: str, now: datetime) -> str | None:
    """The one day or year that the name of a contest holds, not after this year; None when nothing is certain."""
    days = {match[0] for match in _DAY.finditer(source)}
    years = {match[0] for match in _YEAR.finditer(source)}
    if len(days) == 1:
        return days.pop()
    if len(years) != 1 or days or _SEASON.search(source):
        return None
    year = years.pop()
    return year if int(year) <= now.year else None


def _embargo(package: Package) -> DateClaim | None:
    """The end of the embargo, in UTC as the format says. ``UnreadableDate`` for one that cannot be read."""
    written = package.embargo_until
    if written is None:
        return None
    source = "embargo_until"
    if ":" in written:
        return DateClaim(written, zoned_instant(written, UTC), Precision.INSTANT, source)
    return read_date(written, source)


def _is_hidden(package: Package | None, now: datetime) -> bool:
    """Whether the package may not be shown yet. One that cannot be read is no secret: what is wrong has to be seen."""
    embargo = _embargo(package) if package is not None else None
    return embargo is not None and embargo.earliest > now


def image_flags(statement: str) -> tuple[tuple[str, str], ...]:
    """What is to be said of the images that a statement includes; LaTeX is shown to the rules as Markdown."""
    text = _COMMENT.sub("", statement) if "\\includegraphics" in statement else statement
    shown = _REFERENCE.sub("", _IMAGE.sub(r"![\1](\1)", text))
    return tuple(flag for flag in read_wording(shown).flags if flag[0] in _IMAGE_FLAGS)


def _paths(wanted: Wanted) -> list[Path]:
    given = wanted.settings.get("paths")
    if not isinstance(given, list) or not given or not all(isinstance(path, str) and path for path in given):
        raise NotConfigured("the source icpc has no folder of packages", _HINT)
    paths = [Path(path).expanduser().resolve() for path in given]
    for path in paths:
        if not path.is_dir():
            raise NotConfigured(f"{path} is not a folder", _HINT)
    return paths


def _packages(wanted: Wanted) -> Iterator[Found]:
    for root in _paths(wanted):
        for folder in package_folders(root):
            contest = contest_of(folder)
            yield Found(folder, root, contest.native_id if contest else folder.parent.name)


def _by_contest(found: list[Found], notes: list[str]) -> dict[str, list[Found]]:
    """The packages by contest. Of two folders with one id, or two packages, the first is taken."""
    groups: dict[str, list[Found]] = {}
    keys: set[ProblemKey] = set()
    for member in found:
        group = groups.setdefault(member.contest_id, [])
        if (group and group[0].folder.parent != member.folder.parent) or member.key in keys:
            notes.append(f"{member.folder} is left out: its id {member.key} or its contest's is taken already")
            continue
        keys.add(member.key)
        group.append(member)
    return {contest_id: group for contest_id, group in groups.items() if group}


def _members(contest: ContestRecord, wanted: Wanted) -> list[Found]:
    members = _by_contest(list(_packages(wanted)), []).get(contest.native_id)
    if members is None:
        raise Absent(f"there is no folder of packages {contest.native_id} any more", "nothing is to be done")
    return members


def _open(member: Found) -> Package | None:
    """The package's metadata; None where it cannot be read, which is said when the problem is read whole."""
    try:
        package = open_package(member.folder)
        _embargo(package)
    except (BadRow, OSError):
        return None
    return package


SOURCE = Source(
    name=NAME,
    description="problem packages in local folders (Kattis/ICPC format)",
    hosts=(),
    discover=discover,
    list_problems=list_problems,
    read_problem=read_problem,
    required_settings=("paths",),
)
