"""Training cut-offs and other coarse dates, read as people write them.

A cut-off is kept as it was written and as the span of days that the words allow. Where the span matters, its END
counts: a model "trained up to 2023-10" may have seen the last evening of October in the last time zone on earth
(UTC-12).

The end and the window that follows it fit together without a gap and without an overlap::

    last day (UTC-12)      ...2023-10-31T23:59:59.999999-12:00 | 2023-11-01T00:00-12:00...
    Cutoff.end             ...2023-11-01T11:59:59.999999Z      |
    Cutoff.after                                               | 2023-11-01T12:00Z...

``Cutoff.end`` is the last instant (clocks here tick in microseconds) that may still be training data, ``Cutoff.after``
the first that may not. "Published strictly after the end" and "published in the half-open window [after, ...)"
therefore select the same problems.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

LAST_ZONE_OFFSET = timedelta(hours=12)
"""How long a day goes on at UTC-12 after it has ended in UTC."""

TICK = timedelta(microseconds=1)
UNKNOWN_WORDS = frozenset({"", "-", "?", "n/a", "na", "none", "null", "tbd", "unknown", "not stated"})
_DAY_IN_DIGITS = re.compile(r"[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}")
HINT = 'write it as "2023-09", "2023-09-30", "2024-Q1", "early 2024" or "2024"; leave it out if it is not known'


class CutoffUnreadable(ValueError):
    """A date that cannot be read. ``message`` says what and where, ``hint`` what to write instead."""

    def __init__(self, message: str, hint: str = HINT) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class CutoffPrecision(StrEnum):
    """How finely a cut-off is known, from fine to coarse. A part of a year is "early", "mid" or "late"."""

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    PART_OF_YEAR = "part_of_year"
    YEAR = "year"


@dataclass(frozen=True)
class Cutoff:
    """A coarse date: the words, and the first and last day that they allow."""

    as_written: str
    first: date
    last: date
    precision: CutoffPrecision

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise ValueError(f"a cut-off cannot end on {self.last} before it begins on {self.first}")

    @property
    def is_read_as_month(self) -> bool:
        """Whether a day was written that counts as its whole month, since lists write months so."""
        return self.precision is CutoffPrecision.MONTH and _DAY_IN_DIGITS.fullmatch(self.as_written) is not None

    @property
    def in_words(self) -> str:
        """As it was written, and how it was read where that is not the same: "2023-01-01 (read as the month)"."""
        return f"{self.as_written} (read as the month)" if self.is_read_as_month else self.as_written

    @property
    def after(self) -> datetime:
        """The first UTC instant that is certainly after the cut-off: the end of the last day at UTC-12."""
        following = self.last + timedelta(days=1)
        return datetime(following.year, following.month, following.day, tzinfo=UTC) + LAST_ZONE_OFFSET

    @property
    def end(self) -> datetime:
        """The last UTC instant that may still belong to the training data: one tick before ``after``."""
        return self.after - TICK


class _Span(NamedTuple):
    first: date
    last: date
    precision: CutoffPrecision


_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# Not from the calendar module, whose names follow the user's locale.
_MONTHS = {name[:length]: number for length in (3, 9) for number, name in enumerate(_MONTH_NAMES, 1)} | {"sept": 9}

_PARTS = {
    "early": (1, 4), "beginning of": (1, 4), "start of": (1, 4),
    "mid": (5, 8), "middle of": (5, 8),
    "late": (10, 12), "end of": (10, 12),
}  # fmt: skip

_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_MONTH_NAME = r"(?P<name>[a-z]{3,9})\.?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        _YEAR,
        _YEAR + r"[-./](?P<month>[0-9]{1,2})",
        _YEAR + r"-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})",
        _YEAR + r"(?P<dotted>[./])(?P<month>[0-9]{1,2})[./](?P<day>[0-9]{1,2})",
        _YEAR + r"[- ]?q(?P<quarter>[1-4])",
        r"q(?P<quarter>[1-4])[-/ ]?" + _YEAR,
        r"(?P<part>early|mid|late|(?:beginning|start|middle|end) of)[- ]" + _YEAR,
        _MONTH_NAME + r"[ ,-]+" + _YEAR,
        _MONTH_NAME + r" (?P<day>[0-9]{1,2}),? " + _YEAR,
        r"(?P<day>[0-9]{1,2})\.? " + _MONTH_NAME + r",? " + _YEAR,
    )
)
_PHASES = re.compile(r"(?:pre-?training|mid-?training|post-?training|fine-?tuning|training|distillation)(?: data)?")


def parse_cutoff(text: str, *, from_registry: bool = False) -> Cutoff:
    """Read a cut-off as people write it; see the module's docstring for what its end is.

    A plain ISO day is that day. A dotted day ("2024.06.01") counts as its month: registries that write dates so use the
    first or last day as a stand-in for a month. With ``from_registry`` an ISO day that is the first or the last of its
    month is taken for such a stand-in too; "1 June 2024" never is. Of several phases ("Pretraining 2022.09, Finetuning
    2023.07") the latest counts. Raises ``CutoffUnreadable``.
    """
    words = re.sub(r"\s+", " ", text).strip()
    span = _read(words.lower(), from_registry) or _latest_phase(words.lower(), from_registry)
    if span is None:
        raise CutoffUnreadable(f'cannot read the date "{words}"')
    return Cutoff(words, *span)


def is_unknown(text: str) -> bool:
    """Whether the words say that no date is known ("unknown", "TBD", "-", nothing at all)."""
    return text.strip().lower() in UNKNOWN_WORDS


def _read(words: str, from_registry: bool) -> _Span | None:
    """The days that the words allow, or None where they have no known form or name a day that does not exist."""
    for form in _FORMS:
        match = form.fullmatch(words)
        if match is not None:
            span = _span(match.groupdict(), from_registry)
            if span is not None:
                return span
    return None


def _latest_phase(words: str, from_registry: bool) -> _Span | None:
    """The latest date of a list of training phases, or None where it is none or one of its dates cannot be read."""
    before, *dates = _PHASES.split(words)
    if before.strip() or not dates:
        return None
    spans = [_read(text.strip(" ,;:"), from_registry) for text in dates]
    known = [span for span in spans if span is not None]
    return max(known, key=lambda span: span.last) if len(known) == len(spans) else None


def _span(parts: dict[str, str | None], from_registry: bool) -> _Span | None:
    """The days that a matched form allows, or None where it names a month or a day that does not exist."""
    year = int(parts["year"] or 0)
    if parts.get("quarter"):
        last_month = 3 * int(parts["quarter"] or 0)
        return _Span(date(year, last_month - 2, 1), _month_end(year, last_month), CutoffPrecision.QUARTER)
    if parts.get("part"):
        first_month, last_month = _PARTS[parts["part"] or ""]
        return _Span(date(year, first_month, 1), _month_end(year, last_month), CutoffPrecision.PART_OF_YEAR)
    if parts.get("month") is None and parts.get("name") is None:
        return _Span(date(year, 1, 1), date(year, 12, 31), CutoffPrecision.YEAR)
    month = _MONTHS.get(parts["name"] or "", 0) if parts.get("name") else int(parts["month"] or 0)
    if not 1 <= month <= 12:
        return None
    whole_month = _Span(date(year, month, 1), _month_end(year, month), CutoffPrecision.MONTH)
    if parts.get("day") is None:
        return whole_month
    may_stand_in = from_registry and not parts.get("name")
    return _day_span(int(parts["day"] or 0), whole_month, bool(parts.get("dotted")), may_stand_in)


def _day_span(day: int, whole_month: _Span, dotted: bool, may_stand_in: bool) -> _Span | None:
    """The day, or the whole month where the day stands in for one; None where the month has no such day."""
    if not 1 <= day <= whole_month.last.day:
        return None
    if dotted or (may_stand_in and day in (1, whole_month.last.day)):
        return whole_month
    exact = whole_month.first.replace(day=day)
    return _Span(exact, exact, CutoffPrecision.DAY)


def _month_end(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])
