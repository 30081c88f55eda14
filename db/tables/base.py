"""What all tables share."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, MetaData
from sqlmodel import SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
JSON_VALUE = JSON(none_as_null=True)


def starts_as(value: str) -> dict[str, Any]:
    """What rows that were there before the column get, and new ones that say nothing."""
    return {"server_default": value}


class Base(SQLModel):
    """Parent of all tables, with metadata of its own so that another library's SQLModel tables never mix in."""

    metadata = MetaData(naming_convention=NAMING)
