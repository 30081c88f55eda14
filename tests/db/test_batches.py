from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from db import batches
from db.batches import Result, Tally, save_in_batches
from db.engine import Store
from db.importing import MAX_KEPT, Note, Refusal
from db.records import SaveOutcome

Item = str | Refusal | Note


def outcomes(session: Any, rows: Sequence[str]) -> list[Result]:
    kinds: dict[str, Result] = {"new": SaveOutcome.CREATED, "same": SaveOutcome.UNCHANGED, "other": None}
    return [kinds.get(row, Refusal(row, "is refused by the store")) for row in rows]


def run(store: Store, items: Sequence[Item], **more: Any) -> Tally:
    tally = Tally()
    save_in_batches(store, items, outcomes, tally, size=len, **more)
    return tally


def test_what_became_of_each_row_is_told_in_the_order_of_the_file(store: Store) -> None:
    items: list[Item] = [
        "new",
        Refusal("line 2", "bad"),
        "worse",
        Note("line 4", "odd"),
        "other",
        "same",
        Refusal("line 7", "bad"),
    ]
    report = run(store, items).report(["the end"])
    assert (report.created, report.updated, report.unchanged, report.n_refused) == (1, 0, 1, 3)
    assert [refusal.where for refusal in report.refused] == ["line 2", "worse", "line 7"]
    assert report.notes == ("line 4: odd", "the end")


def test_a_batch_ends_by_rows_and_by_what_they_hold(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_ROWS", 3)
    monkeypatch.setattr(batches, "BATCH_BYTES", 100)
    steps: list[int] = []
    items: list[Item] = [*["new"] * 4, "x" * 200, *[Refusal("a", "b")] * 4]
    run(store, items, progress=steps.append)
    assert steps == [3, 5, 8, 9]


def test_nothing_is_counted_of_a_batch_that_fails(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_ROWS", 2)
    tally = Tally()

    def save(session: Any, rows: Sequence[str]) -> list[Result]:
        if "broken" in rows:
            raise KeyboardInterrupt
        return outcomes(session, rows)

    with pytest.raises(KeyboardInterrupt):
        save_in_batches(store, ["new", "new", "new", "broken", "new"], save, tally, size=len)
    assert tally.report().created == 2


def test_refusals_and_notes_are_counted_beyond_those_kept(store: Store) -> None:
    many = MAX_KEPT + 1234
    items: list[Item] = [Refusal("a", "b"), Note("a", "b")]
    report = run(store, items * many).report(["the end"])
    assert (len(report.refused), report.n_refused) == (MAX_KEPT, many)
    assert (len(report.notes), report.notes[-2:]) == (MAX_KEPT + 2, ("and 1,234 more notes", "the end"))
