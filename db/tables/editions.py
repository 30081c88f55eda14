"""The table of editions: results as they stood when they were frozen."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field

from db.tables.base import Base


class Edition(Base, table=True):
    """A frozen edition under its name as it was typed. Never changed once written.

    ``digest`` is the sha256 of its bytes in hex, by which it is published; ``body_sha256`` says where they are kept.
    """

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    digest: str
    frozen_at: datetime
    body_sha256: str = Field(foreign_key="blob.sha256")
