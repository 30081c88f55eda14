"""Importing problems: any problem format into the store, in batches, with a report of what was done and refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from db.batches import Progress, Result, Tally, save_in_batches
from db.engine import Store
from db.importing import ImportReport, Note, Refusal, UnreadableSource
from db.problems import find_problem, list_problems, save_problem
from db.records import ProblemKey, ProblemRecord
from db.refused import keep_refused
from ingest.formats import load_format
from ingest.hidden_tests import with_weak_tests_flagged

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from ingest.validating import InputValidator


def import_problems(
    store: Store,
    path: Path,
    format_name: str,
    *,
    now: datetime,
    progress: Progress | None = None,
    validator: InputValidator | None = None,
    known_only: bool = False,
) -> ImportReport:
    """Save the problems at `path`, written in the format `format_name`, and report what was done.

    Importing the same again changes nothing. Each batch is one transaction, so that an interruption loses at most the
    batch at hand. ``UnknownFormat``, ``UnreadableSource`` and the store's own errors end the import, as do those of the
    `validator` of inputs; a bad row, and a test that the validator refuses, is a refusal in the report.

    `known_only` is for tests that come apart from the list of their problems: a problem that is not in the store is
    refused, and the problems of the same platforms that have no tests after it are noted.
    """
    problem_format = load_format(format_name)
    if not path.exists():
        raise UnreadableSource(f"{path} does not exist", "check the path")
    tally = Tally()
    importer = _Importer(tally, now, known_only=known_only)
    items = problem_format.read(path)
    if validator is not None:
        items = validator.check(items)
    try:
        save_in_batches(store, items, importer.save, tally, size=_size, progress=progress)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableSource(f"{error.filename or path} cannot be read: {reason}", "check the file") from None
    missing = _without_tests(store, {key.platform for key in importer.seen}) if known_only else []
    return keep_refused(store, path, tally.report(missing), now=now)


class _Importer:
    """Saves batches of problems; ``seen`` are those that came by."""

    def __init__(self, tally: Tally, now: datetime, *, known_only: bool) -> None:
        self._tally = tally
        self._now = now
        self._known_only = known_only
        self.seen: set[ProblemKey] = set()

    def save(self, session: Session, records: Sequence[ProblemRecord]) -> list[Result]:
        """What became of each problem, in their order."""
        return [self._save_one(session, record) for record in records]

    def _save_one(self, session: Session, record: ProblemRecord) -> Result:
        key = record.key
        if key in self.seen:  # two versions of one problem would alternate for ever
            return Refusal(str(key), "appears more than once here; the first was taken", "keep one of them")
        self.seen.add(key)
        if self._known_only and find_problem(session, key.native_id, key.platform) is None:
            return Refusal(str(key), "is not in the store", "import the list that it belongs to first")
        saved = save_problem(session, with_weak_tests_flagged(record), now=self._now)
        if saved.date_note:
            self._tally.add(Note(str(key), saved.date_note))
        return saved.outcome


def _without_tests(store: Store, platforms: set[str]) -> list[str]:
    """A line for each problem of these platforms that cannot be judged for want of tests."""
    with store.read() as session:
        problems = [problem for platform in sorted(platforms) for problem in list_problems(session, platform=platform)]
    return [f"{problem.key}: has no tests" for problem in problems if not problem.n_tests]


def _size(record: ProblemRecord) -> int:
    tests = record.suite.tests if record.suite else ()
    return len(record.statement) + sum(len(test.input) + len(test.expected or b"") for test in tests)
