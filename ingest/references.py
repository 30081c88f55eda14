"""Importing programs that a user gives for problems of the store, with what each is to its problem.

The programs of one problem may stand anywhere in a file. They are read once, put aside in a file without a name, and
saved problem by problem, each in one transaction: a problem has all its new programs or all its former ones.
"""

from __future__ import annotations

import functools
import json
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Final

from db.batches import Tally
from db.engine import Store
from db.errors import AmbiguousProblem
from db.identity import find_problem, problem_ids
from db.importing import ImportReport, Note, Refusal, UnreadableSource
from db.records import GIVEN_BY_USER, ProblemKey, ProgramRole, ReferenceRecord, SaveOutcome
from db.references import list_references, save_references
from db.refused import keep_refused
from ingest.errors import BadRow
from ingest.reference_formats import ReferenceRow, load_format

MOST_PROGRAMS: Final = 1000
"""So many programs a problem are taken from one file."""
MOST_PROBLEM_BYTES: Final = 32 * 1024 * 1024
"""The programs of one problem are held in memory together: so many bytes of them are taken from one file."""

_REMEMBERED: Final = 4096
_SHOWN: Final = 3


def import_references(
    store: Store, path: Path, format_name: str, *, source: str = GIVEN_BY_USER, now: datetime
) -> ImportReport:
    """Save the programs at `path`, written in the format `format_name`; the report counts programs.

    For each problem that is named there they take the place of all that ``source`` had for it; other problems, and
    other sources, keep theirs. Importing the same again changes nothing. ``UnknownFormat``, ``UnreadableSource`` and
    the store's own errors end the import; a program that is not taken is a refusal in the report.
    """
    reference_format = load_format(format_name)
    if not path.exists():
        raise UnreadableSource(f"{path} does not exist", "check the path")
    tally = Tally()
    find = functools.lru_cache(maxsize=_REMEMBERED)(functools.partial(_find, store))
    try:
        with tempfile.TemporaryFile() as file:
            aside = _Aside(file)
            for item in reference_format.read(path):
                if not isinstance(item, ReferenceRow):
                    tally.add(item)
                elif isinstance(found := find(item.problem), int):
                    aside.put(found, item)
                else:
                    tally.add(Refusal(item.where, *found, item.raw))
            for problem_id in aside.problem_ids:
                _save(store, problem_id, aside.rows(problem_id), source, tally)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableSource(f"{error.filename or path} cannot be read: {reason}", "check the file") from None
    return keep_refused(store, path, tally.report(), now=now)


def user_source(name: str) -> str:
    """The source under which the programs of a user are kept that they call so: "user", or "user:NAME".

    ``BadRow`` for a name that cannot be shown on one line.
    """
    stripped = name.strip()
    if stripped == GIVEN_BY_USER:
        return GIVEN_BY_USER
    own = stripped.removeprefix(f"{GIVEN_BY_USER}:").strip()
    if not own or not own.isprintable():
        raise BadRow(f"{name!r} is no name for a source", "use letters, digits and signs")
    return f"{GIVEN_BY_USER}:{own}"


class _Aside:
    """Programs put aside in a file, to be read by problem. In memory are eight bytes for each."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._offsets: dict[int, array[int]] = {}

    @property
    def problem_ids(self) -> Iterable[int]:
        """The problems of all programs, as they first came."""
        return self._offsets

    def put(self, problem_id: int, row: ReferenceRow) -> None:
        one = row.program
        self._offsets.setdefault(problem_id, array("q")).append(self._file.tell())
        fields = [row.where, row.problem, one.name, one.language, one.code, str(one.role), row.raw]
        self._file.write(json.dumps(fields).encode() + b"\n")

    def rows(self, problem_id: int) -> Iterator[ReferenceRow]:
        """The programs of a problem, as they came."""
        for offset in self._offsets[problem_id]:
            self._file.seek(offset)
            where, problem, name, language, code, role, raw = json.loads(self._file.readline())
            yield ReferenceRow(where, problem, ReferenceRecord(name, language, code, ProgramRole(role)), raw)


def _find(store: Store, written: str) -> int | tuple[str, str]:
    """The id of the problem that is named so, or why there is none and what to do."""
    with store.read() as session:
        for separator in ":/":
            platform, _, native_id = written.partition(separator)
            if platform and native_id:
                for found in problem_ids(session, [ProblemKey(platform, native_id)]).values():
                    return found
        try:
            key = find_problem(session, written)
        except AmbiguousProblem as error:
            return str(error), f"write {' or '.join(map(str, error.keys[:_SHOWN]))}"
        if key is not None:
            return problem_ids(session, [key])[key]
    return f"no problem {written} in the store", "import or collect the problem first; live problems list shows all"


def _save(store: Store, problem_id: int, rows: Iterable[ReferenceRow], source: str, tally: Tally) -> None:
    """Make these all the programs that ``source`` has for a problem, but for those that are refused."""
    taken: dict[str, ReferenceRecord] = {}
    room = MOST_PROBLEM_BYTES
    named = ""
    for row in rows:
        named = named or row.problem
        one = row.program
        room -= len(one.code.encode())
        if one.name in taken:
            reason = f"{row.problem} has a program called {one.name!r} already; the first was taken"
            tally.add(Refusal(row.where, reason, "give each program of a problem its own name", row.raw))
        elif room < 0 or len(taken) == MOST_PROGRAMS:
            most = f"{MOST_PROGRAMS:,} programs and {MOST_PROBLEM_BYTES // 1024**2} MiB"
            reason = f"{row.problem} has more than {most} here; the first were taken"
            tally.add(Refusal(row.where, reason, "leave out some of them", row.raw))
        else:
            taken[one.name] = one
    with store.write() as session:
        stored = [one for one in list_references(session, problem_id) if one.source == source]
        save_references(session, problem_id, list(taken.values()), source=source)
    before = {one.name: ReferenceRecord(one.name, one.language, one.code, one.role) for one in stored}
    # Counted only now that the transaction has been kept.
    for name, one in taken.items():
        if name not in before:
            tally.add(SaveOutcome.CREATED)
        else:
            tally.add(SaveOutcome.UNCHANGED if before[name] == one else SaveOutcome.UPDATED)
    if gone := [name for name in before if name not in taken]:
        more = f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
        tally.add(
            Note(named, f"former programs of {source} that are not here are gone: {', '.join(gone[:_SHOWN])}{more}")
        )
