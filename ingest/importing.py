"""Importing problems: any problem format into the store, in batches, with a report of what was done and refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from db.engine import Store
from db.importing import MAX_KEPT, ImportReport, Note, Refusal, UnreadableSource
from db.problems import save_problem
from db.records import ProblemKey, ProblemRecord, SaveOutcome
from ingest.formats import Item, load_format

BATCH_ROWS = 200
BATCH_BYTES = 32 * 1024 * 1024
"""A batch is one transaction, saved at so many problems or so many bytes of tests, whichever comes first: single rows
of real data hold a hundred MB of tests."""


def import_problems(
    store: Store,
    path: Path,
    format_name: str,
    *,
    now: datetime,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Save the problems at `path`, written in the format `format_name`, and report what was done.

    Importing the same again changes nothing. Each batch is one transaction, so that an interruption loses at most the
    batch at hand. `progress` is called after each batch with the number of problems read so far. ``UnknownFormat``,
    ``UnreadableSource`` and the store's own errors end the import; a bad row is a refusal in the report.
    """
    problem_format = load_format(format_name)
    if not path.exists():
        raise UnreadableSource(f"{path} does not exist", "Check the path.")
    tally = _Tally()
    try:
        for batch in _batches(problem_format.read(path), tally):
            _save(store, batch, tally, now)
            batch.clear()  # the reader goes on before this name is bound again
            if progress:
                progress(tally.n_read)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableSource(f"{error.filename or path} cannot be read: {reason}", "Check the file.") from None
    return tally.report()


class _Tally:
    """What has happened so far in one import."""

    def __init__(self) -> None:
        self.n_read = 0
        self._outcomes: Counter[SaveOutcome] = Counter()
        self._refused: list[Refusal] = []
        self._notes: list[str] = []
        self._n_refused = 0
        self._n_notes = 0
        self._seen: set[ProblemKey] = set()

    def first_time(self, key: ProblemKey) -> bool:
        """Whether this import meets `key` for the first time. Two versions of one problem would alternate for ever."""
        if key in self._seen:
            self.refuse(Refusal(str(key), "appears more than once here; the first was taken", "Keep one of them."))
            return False
        self._seen.add(key)
        return True

    def refuse(self, refusal: Refusal) -> None:
        self._n_refused += 1
        if len(self._refused) < MAX_KEPT:
            self._refused.append(refusal)

    def note(self, text: str) -> None:
        self._n_notes += 1
        if len(self._notes) < MAX_KEPT:
            self._notes.append(text)

    def count(self, outcome: SaveOutcome) -> None:
        self._outcomes[outcome] += 1

    def report(self) -> ImportReport:
        dropped = self._n_notes - len(self._notes)
        more = [f"and {dropped} more notes"] if dropped else []
        return ImportReport(
            created=self._outcomes[SaveOutcome.CREATED],
            updated=self._outcomes[SaveOutcome.UPDATED],
            unchanged=self._outcomes[SaveOutcome.UNCHANGED],
            refused=tuple(self._refused),
            notes=(*self._notes, *more),
            n_refused=self._n_refused,
        )


def _batches(items: Iterator[Item], tally: _Tally) -> Iterator[list[ProblemRecord]]:
    """The problems in batches; refusals and notes go to `tally` on the way. No reference to a problem is kept here."""
    batch: list[ProblemRecord] = []
    size = 0
    for item in items:
        if isinstance(item, Refusal):
            tally.refuse(item)
        elif isinstance(item, Note):
            tally.note(str(item))
        elif tally.first_time(item.key):
            tally.n_read += 1
            batch.append(item)
            size += _size(item)
        del item
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _size(record: ProblemRecord) -> int:
    tests = record.suite.tests if record.suite else ()
    return len(record.statement) + sum(len(test.input) + len(test.expected or b"") for test in tests)


def _save(store: Store, batch: list[ProblemRecord], tally: _Tally, now: datetime) -> None:
    """Save one batch in one transaction. What it did is counted only after the transaction has been kept."""
    with store.write() as session:
        saved = [(record.key, save_problem(session, record, now=now)) for record in batch]
    for key, outcome in saved:
        tally.count(outcome.outcome)
        if outcome.date_note:
            tally.note(f"{key}: {outcome.date_note}")
