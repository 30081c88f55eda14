"""Rows that imports refused, kept with what they said, so that nothing is lost when the file is gone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import select, true
from sqlalchemy.orm import Session

from db import tables as t
from db.engine import Store
from db.importing import ImportReport
from db.records import storable_text
from db.sql import upsert_rows


@dataclass(frozen=True)
class RefusedRow:
    """A row that was not taken; ``raw`` is the beginning of it, "" where the reader had no text of it."""

    file: str
    place: str
    reason: str
    hint: str
    raw: str
    refused_at: datetime


def keep_refused(store: Store, file: Path, report: ImportReport, *, now: datetime) -> ImportReport:
    """Keep the refusals of a report on `file`, each once however often it is imported; gives the report back."""
    rows = [
        {
            "file": str(file.absolute()),
            "place": storable_text(one.where),
            "reason": storable_text(one.reason),
            "hint": storable_text(one.hint),
            "raw": storable_text(one.raw),
            "refused_at": now,
        }
        for one in report.refused
    ]
    if rows:
        with store.write() as session:
            upsert_rows(
                session,
                t.refused_row,
                rows,
                key=("file", "place", "reason"),
                replace=("hint", "raw", "refused_at"),
                only_where=true(),
            )
    return report


def list_refused(session: Session, limit: int = 1000) -> list[RefusedRow]:
    """The rows that were refused last, the newest first."""
    query = select(t.refused_row).order_by(t.refused_row.c.refused_at.desc(), t.refused_row.c.id).limit(limit)
    return [
        RefusedRow(row.file, row.place, row.reason, row.hint, row.raw, row.refused_at) for row in session.execute(query)
    ]
