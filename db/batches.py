"""Saving what a file gives in batches, each in a transaction of its own: what was saved before a failure stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from db.importing import MAX_KEPT, ImportReport, Note, Refusal
from db.records import SaveOutcome

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.engine import Store

BATCH_ROWS = 200
BATCH_BYTES = 8 * 1024 * 1024
"""A batch ends at so many rows or at so many bytes of what they hold, whichever comes first: single rows of real data
hold a hundred MB of tests."""

Row = TypeVar("Row")

Result = SaveOutcome | Refusal | None
"""What became of a row; None: it was left aside."""

Progress = Callable[[int], None]
"""Called after each batch with the number of rows read so far, refused ones included."""


class Tally:
    """What has become of the rows of one import so far."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._outcomes: Counter[SaveOutcome] = Counter()
        self._refused: list[Refusal] = []
        self._notes: list[str] = []
        self._n_refused = 0
        self._n_notes = 0

    def add(self, result: Result | Note) -> None:
        """Count what became of one row, or keep a note."""
        if isinstance(result, Note):
            self._n_notes += 1
            if len(self._notes) < MAX_KEPT:
                self._notes.append(str(result))
            return
        self.n_rows += 1
        if isinstance(result, Refusal):
            self._n_refused += 1
            if len(self._refused) < MAX_KEPT:
                self._refused.append(result)
        elif result is not None:
            self._outcomes[result] += 1

    def report(self, closing_notes: Iterable[str] = ()) -> ImportReport:
        """The whole of it; the closing notes come last and are all kept."""
        unkept = self._n_notes - len(self._notes)
        more = [f"and {unkept:,} more notes"] if unkept else []
        return ImportReport(
            created=self._outcomes[SaveOutcome.CREATED],
            updated=self._outcomes[SaveOutcome.UPDATED],
            unchanged=self._outcomes[SaveOutcome.UNCHANGED],
            refused=tuple(self._refused),
            notes=(*self._notes, *more, *closing_notes),
            n_refused=self._n_refused,
        )


def save_in_batches(
    store: Store,
    items: Iterable[Row | Refusal | Note],
    save: Callable[[Session, Sequence[Row]], Sequence[Result]],
    tally: Tally,
    *,
    size: Callable[[Row], int],
    progress: Progress | None = None,
) -> None:
    """Save the rows of `items` and count into `tally` what became of all items, in their order.

    `save` gives what became of each row of a batch, in their order. `size` is what a row holds, in bytes or characters.
    """
    for batch in _batches(items, size):
        _save(store, batch, save, tally)
        batch.clear()  # the next batch is read before this name is bound again
        if progress is not None:
            progress(tally.n_rows)


def _batches(items: Iterable[Row | Refusal | Note], size: Callable[[Row], int]) -> Iterator[list[Row | Refusal | Note]]:
    batch: list[Row | Refusal | Note] = []
    total = 0
    for item in items:
        batch.append(item)
        if not isinstance(item, Refusal | Note):
            total += size(item)
        del item  # the batch alone holds it
        if len(batch) >= BATCH_ROWS or total >= BATCH_BYTES:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _save(
    store: Store,
    batch: list[Row | Refusal | Note],
    save: Callable[[Session, Sequence[Row]], Sequence[Result]],
    tally: Tally,
) -> None:
    rows = [item for item in batch if not isinstance(item, Refusal | Note)]
    saved: Iterator[Result] = iter(())
    if rows:
        with store.write() as session:
            saved = iter(save(session, rows))
    # Counted only now that the transaction has been kept.
    for item in batch:
        tally.add(item if isinstance(item, Refusal | Note) else next(saved))
