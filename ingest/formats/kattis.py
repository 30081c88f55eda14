"""Problem packages in the Kattis/ICPC format: a folder with ``problem.yaml``, or a tree of folders that holds such.

Read are the legacy form, 2023-07-draft and 2025-09. The problem's platform is "icpc". Its id is "contest/package" when
the folder above is a contest's (it has a ``contest.yaml`` or ``problemset.yaml``, or holds nothing but packages),
otherwise the package's name: so the id does not depend on which folder was named for the import. The format has no
field for the day of the contest; a ``manifest.json`` beside the packages (or beside their contests) may give it, as a
list of ``{"dir": "contest/package", "contest_date": "2021-06-26"}``.

Tests are ``data/sample`` (origin sample) and ``data/secret`` (official), with names relative to ``data/``. The default
output validator compares without regard to letter case; its flags, per package, group and test, become comparison
rules. A validator of the package's own becomes the suite's checker, with which an interactive problem's programs talk;
groups and scores become the suite's groups. What the sandbox cannot judge is flagged with the reason:
``custom_validator`` or ``interactive`` (the validator cannot be run here), ``scoring`` or ``test_groups`` (how its
groups are graded), ``multi_pass``, ``submit_answer``. A stated time limit is taken; where
there is none, the judge's own holds. Submissions that its authors know to be accepted are its reference solutions.

The statement is kept as it is written, LaTeX or Markdown, in the language of its file's name (English where there is
one); the others are its translations. One that is only a PDF is flagged ``pdf_statement``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.importing import Note, Refusal, UnreadableSource
from db.records import ContestRecord, DateClaim, IoKind, ProblemKey, ProblemRecord, SuiteRecord
from ingest.dates import read_date
from ingest.errors import BadRow
from ingest.formats import Item
from ingest.package_groups import Ungradable, read_groups
from ingest.package_submissions import read_references
from ingest.package_tests import PackageTests, read_tests
from ingest.package_validators import NoChecker, read_validator
from ingest.packages import Package, open_package
from sandbox.plain import checker_as_plain, groups_as_plain
from sandbox.programs import Checker, Groups

NAME = "kattis"
DESCRIPTION = "a problem package in the Kattis/ICPC format, or a folder tree of them"
PLATFORM = "icpc"

_CONTEST_FILES = ("contest.yaml", "problemset.yaml")


@dataclass(frozen=True)
class PackageRead:
    """A package's problem, the tests that were refused, and what a reader should know about the others."""

    record: ProblemRecord
    refused: tuple[Refusal, ...]
    notes: tuple[Note, ...]


def read(path: Path) -> Iterator[Item]:
    """Stream the packages at and below `path`, sorted by folder. ``UnreadableSource`` when there is none."""
    if not path.is_dir():
        raise UnreadableSource(f"{path} is not a folder", "unpack the package, and give the folder with problem.yaml")
    found = False
    for folder in package_folders(path.resolve()):
        found = True
        yield from _items(folder, _shown(folder, path.resolve()))
    if not found:
        raise UnreadableSource(f"{path} holds no problem package", "a package is a folder with a file problem.yaml")


def package_folders(root: Path) -> Iterator[Path]:
    """The folders of the packages at and below `root`, sorted by name level by level; none lies in another."""
    for folder, below, files in os.walk(root):
        if "problem.yaml" in files:
            below.clear()
            yield Path(folder)
        below[:] = sorted(name for name in below if not name.startswith("."))


def _shown(folder: Path, root: Path) -> str:
    return folder.name if folder == root else folder.relative_to(root).as_posix()


def _items(folder: Path, where: str) -> Iterator[Item]:
    try:
        found = read_package(open_package(folder), where)
    except BadRow as error:
        yield Refusal(where, error.reason, error.hint)
        return
    yield found.record
    yield from found.refused
    yield from found.notes


def read_package(package: Package, where: str) -> PackageRead:
    """The problem of a package with its tests; ``where`` begins the lines about it. ``BadRow`` says what is wrong."""
    contest = contest_of(package.folder, package.source)
    dates = _dates(package.folder)
    tests = read_tests(package, where)
    suite, obstacles = _suite(package, tests)
    flags = (*package.flags, *obstacles)
    if tests.refused:
        given = len(tests.cases) + len(tests.refused)
        flags = (*flags, ("partial_tests", f"{len(tests.refused)} of {given} tests were refused at import"))
    record = ProblemRecord(
        key=problem_key(package.folder),
        title=package.title,
        dates=dates,
        source=NAME,
        contest=contest,
        statement=package.statement,
        language=package.language,
        translations=package.translations,
        suite=suite if suite.tests else None,
        flags=flags,
        references=read_references(package),
    )
    notes = [Note(where, note) for note in package.notes]
    if tests.normalised:
        notes.append(Note(where, _normalised(tests.normalised)))
    return PackageRead(record, tuple(tests.refused), tuple(notes))


def _suite(package: Package, tests: PackageTests) -> tuple[SuiteRecord, list[tuple[str, str]]]:
    """The tests with what judges them, and flags for what of that the sandbox cannot do."""
    flags: list[tuple[str, str]] = []
    checker: Checker | None = None
    groups: Groups | None = None
    try:
        checker = read_validator(package, tests.checker_flags)
    except NoChecker as error:
        flags.append(("interactive" if package.is_interactive else "custom_validator", error.reason))
    try:
        groups = read_groups(package, [case.name for case in tests.cases])
    except Ungradable as error:
        flags.append(("scoring" if package.is_scoring else "test_groups", error.reason))
    suite = SuiteRecord(
        tests.cases,
        io_kind=IoKind.INTERACTIVE if package.is_interactive and checker is not None else IoKind.STDIN,
        comparison=tests.comparison,
        time_limit_s=package.time_limit_s,
        memory_limit_bytes=package.memory_limit_bytes,
        checker=None if checker is None else checker_as_plain(checker),
        groups=None if groups is None else groups_as_plain(groups),
    )
    return suite, flags


def _normalised(files: list[str]) -> str:
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f"normalised to UTF-8 with LF line ends: {', '.join(files[:3])}{more}"


def problem_key(folder: Path) -> ProblemKey:
    """The identity of the package in `folder`."""
    contest = contest_of(folder)
    return ProblemKey(PLATFORM, f"{contest.native_id}/{folder.name}" if contest else folder.name)


def contest_of(folder: Path, title: str | None = None) -> ContestRecord | None:
    """The contest that the package in `folder` belongs to: the folder above, where that is a contest's."""
    parent = folder.parent
    if any((parent / name).is_file() for name in _CONTEST_FILES) or _holds_only_packages(parent):
        return ContestRecord(PLATFORM, parent.name, title) if parent.name else None
    return None


def _holds_only_packages(folder: Path) -> bool:
    below = [entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    return all((entry / "problem.yaml").is_file() for entry in below)


def _dates(folder: Path) -> tuple[DateClaim, ...]:
    """The contest day that a manifest one or two folders up gives for this package."""
    for above in list(folder.parents)[:2]:
        manifest = above / "manifest.json"
        if manifest.is_file():
            for entry in _manifest_entries(manifest):
                if entry.get("dir") == folder.relative_to(above).as_posix() and entry.get("contest_date"):
                    return (read_date(str(entry["contest_date"]), "manifest.json"),)
    return ()


def _manifest_entries(manifest: Path) -> list[dict[str, Any]]:
    try:
        entries = json.loads(manifest.read_bytes())
    except (ValueError, RecursionError) as error:
        raise BadRow(f"{manifest.name} is not JSON ({error})", f"repair {manifest}, or move it away") from None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
