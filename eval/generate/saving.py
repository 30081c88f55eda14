"""Saving answers while others are asked for: many in one transaction, and none counts before it is in the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from db.completions import RunRecord, save_run
from db.errors import CompletionConflict
from db.records import SaveOutcome
from db.responses import FailureRecord, ResponseRecord, save_failures, save_responses

if TYPE_CHECKING:
    from db.engine import Store

Saved = SaveOutcome | CompletionConflict | None
"""What became of a record; None for a failed request."""


class Saver:
    """Saves the records of one run, from one event loop. The run is made with the first of them.

    Records that come while others are committed go with the next transaction, all at once, so that the number of
    commits follows the disk and not the number of answers. A commit goes through to its end whoever is cancelled, and
    ``on_saved`` is told of each record in it.
    """

    def __init__(
        self,
        store: Store,
        run: RunRecord,
        *,
        run_id: int | None,
        now: Callable[[], datetime],
        on_saved: Callable[[ResponseRecord | FailureRecord, Saved], None],
    ) -> None:
        self._store = store
        self._run = run
        self.run_id = run_id
        """The run's id; None while nothing was saved of one that was not there yet."""
        self._now = now
        self._on_saved = on_saved
        self._waiting: list[tuple[ResponseRecord | FailureRecord, asyncio.Future[None]]] = []
        self._committing: asyncio.Task[None] | None = None

    async def save(self, record: ResponseRecord | FailureRecord) -> None:
        """Come back when the record is committed. Raises ``StoreError``."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((record, future))
        if self._committing is None or self._committing.done():
            self._committing = asyncio.create_task(self._commit())
        await future

    async def drain(self) -> None:
        """Come back when all that was handed in is committed, or has failed to be."""
        if self._committing is not None:
            await asyncio.shield(self._committing)

    async def _commit(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            error: Exception | None = None
            try:
                results = await asyncio.to_thread(self._write, [record for record, _ in group])
                for (record, _), result in zip(group, results, strict=True):
                    self._on_saved(record, result)
            except Exception as problem:
                error = problem  # raised where the records were handed in, since nobody waits for this task
            for _, future in group:
                if future.done():
                    continue
                if error is not None:
                    future.set_exception(error)
                else:
                    future.set_result(None)

    def _write(self, records: Sequence[ResponseRecord | FailureRecord]) -> list[Saved]:
        with self._store.write() as session:
            run_id = self.run_id if self.run_id is not None else save_run(session, self._run, now=self._now())
            answers = [record for record in records if isinstance(record, ResponseRecord)]
            outcomes = iter(save_responses(session, run_id, answers) if answers else ())
            failures = [record for record in records if isinstance(record, FailureRecord)]
            if failures:
                save_failures(session, run_id, failures)
        self.run_id = run_id
        return [next(outcomes) if isinstance(record, ResponseRecord) else None for record in records]
