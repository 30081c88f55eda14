"""Importing problems: any problem format into the store, in batches, with a report of what was done and refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from db.batches import Progress, Result, Tally, save_in_batches
from db.engine import Store
from db.importing import ImportReport, Note, Refusal, UnreadableSource
from db.problems import save_problem
from db.records import ProblemKey, ProblemRecord
from db.refused import keep_refused
from ingest.formats import load_format

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


def import_problems(
    store: Store,
    path: Path,
    format_name: str,
    *,
    now: datetime,
    progress: Progress | None = None,
) -> ImportReport:
    """Save the problems at `path`, written in the format `format_name`, and report what was done.

    Importing the same again changes nothing. Each batch is one transaction, so that an interruption loses at most the
    batch at hand. ``UnknownFormat``, ``UnreadableSource`` and the store's own errors end the import; a bad row is a
    refusal in the report.
    """
    problem_format = load_format(format_name)
    if not path.exists():
        raise UnreadableSource(f"{path} does not exist", "Check the path.")
    tally = Tally()
    importer = _Importer(tally, now)
    try:
        save_in_batches(store, problem_format.read(path), importer.save, tally, size=_size, progress=progress)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableSource(f"{error.filename or path} cannot be read: {reason}", "Check the file.") from None
    return keep_refused(store, path, tally.report(), now=now)


class _Importer:
    """Saves batches of problems."""

    def __init__(self, tally: Tally, now: datetime) -> None:
        self._tally = tally
        self._now = now
        self._seen: set[ProblemKey] = set()

    def save(self, session: Session, records: Sequence[ProblemRecord]) -> list[Result]:
        """What became of each problem, in their order."""
        return [self._save_one(session, record) for record in records]

    def _save_one(self, session: Session, record: ProblemRecord) -> Result:
        key = record.key
        if key in self._seen:  # two versions of one problem would alternate for ever
            return Refusal(str(key), "appears more than once here; the first was taken", "Keep one of them.")
        self._seen.add(key)
        saved = save_problem(session, record, now=self._now)
        if saved.date_note:
            self._tally.add(Note(str(key), saved.date_note))
        return saved.outcome


def _size(record: ProblemRecord) -> int:
    tests = record.suite.tests if record.suite else ()
    return len(record.statement) + sum(len(test.input) + len(test.expected or b"") for test in tests)
