"""Months of publication as an axis: each month one wide, instants in between. UTC. Pure."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

MOST_LABELS = 7
_STEPS = (1, 2, 3, 6, 12, 24, 60, 120)


def month_of(name: str) -> int:
    """A month ("2025-01") as a number, of which the next month's is one more."""
    year, month = name.split("-")
    return 12 * int(year) + int(month) - 1


def month_text(month: int) -> str:
    """A month's number as it is written: "2025-01"."""
    return f"{month // 12:04d}-{month % 12 + 1:02d}"


def month_at(instant: datetime | date) -> int:
    """The number of the month that an instant (UTC) or a day lies in."""
    return 12 * instant.year + instant.month - 1


@dataclass(frozen=True)
class Calendar:
    """The months from ``first`` to ``last``, both of them in it; the axis runs from 0 to their number."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """How many months there are."""
        return self.last - self.first + 1

    def middle(self, month: int) -> float:
        """Where the middle of a month is."""
        return month - self.first + 0.5

    def place(self, instant: datetime | date) -> float:
        """Where an instant (a day: its beginning) is; below 0 or above ``length`` where it is outside."""
        at = (
            instant if isinstance(instant, datetime) else datetime(instant.year, instant.month, instant.day, tzinfo=UTC)
        )
        days = (at - datetime(at.year, at.month, 1, tzinfo=UTC)).total_seconds() / 86400
        return month_at(at) - self.first + days / monthrange(at.year, at.month)[1]

    def labels(self) -> tuple[list[float], list[str]]:
        """Which months are named, and where: those that begin a year, a half, a quarter, as few as can be read."""
        step = next((one for one in _STEPS if self.length <= one * MOST_LABELS), _STEPS[-1])
        named = [month for month in range(self.first, self.last + 1) if month % step == 0] or [self.first]
        return [self.middle(month) for month in named], [month_text(month) for month in named]


def calendar_of(months: Iterable[int]) -> Calendar | None:
    """The calendar of these months, None where there is none."""
    found = set(months)
    return Calendar(min(found), max(found)) if found else None
