"""What the formats share that give one row or several for each element of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from db.importing import Refusal
from db.json_lines import JsonRow, named
from eval.formats._fields import BadRow, Row, as_row

T = TypeVar("T")


def build_rows(
    items: Iterable[JsonRow | Refusal], build: Callable[[str, Row], Iterator[T]], *ids: str
) -> Iterator[T | Refusal]:
    """What ``build`` gives for each object and where it stands; ``ids`` are the fields that name it there.

    What is no object, and what ``build`` ends with ``BadRow``, is a refusal.
    """
    for item in items:
        if isinstance(item, Refusal):
            yield item
            continue
        where = item.where
        for field in ids:
            where = named(where, item.value, field)
        try:
            yield from build(where, as_row(item.value))
        except BadRow as error:
            yield Refusal(where, error.reason, error.hint, item.raw)
