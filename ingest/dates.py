"""Dates as sources write them, turned into claims that keep the words, the precision and the source. Pure.

Nothing is guessed: a time of day without a zone is refused, because it may be off by a day, and so is a word.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, tzinfo

from db.records import DateClaim, Precision
from ingest.errors import UnreadableDate

_HINT = "write an instant with its zone (2024-05-04T12:00:00Z), a day (2024-05-04), or 2024-05, 2024-Q2, 2024"
_CALENDAR = re.compile(r"(?P<year>\d{4})(?:-Q(?P<quarter>[1-4])|-(?P<month>\d{2})(?:-(?P<day>\d{2}))?)?", re.ASCII)
_TIMED = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})[T ](?P<time>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?) ?(?P<zone>Z|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
_EPOCH_YEAR = 1970
_FIRST_CONTEST_YEAR, _LAST_CONTEST_YEAR = 1971, 2200


def read_date(text: str, source: str) -> DateClaim:
    """The claim that `text` makes: an instant with its zone, a day, a month, a quarter or a year.

    A coarse date counts as its earliest instant. ``UnreadableDate`` for anything else, a naive time of day included.
    """
    words = text.strip()
    if match := _CALENDAR.fullmatch(words):
        return _calendar_claim(text, match, source)
    match = _TIMED.fullmatch(words)
    if not match:
        raise UnreadableDate(f"{text!r} is not a date", _HINT)
    if match["zone"] is None:
        raise UnreadableDate(f"{text!r} has a time of day but no time zone", "add Z for UTC, or the offset (+09:00)")
    return DateClaim(text, _instant(text, match), Precision.INSTANT, source)


def read_zoneless_date(text: str, source: str) -> DateClaim:
    """Like `read_date`, for sources known to write a time of day without a zone: of that, only the day is believed.

    The day counts from its UTC midnight. The words are kept whole.
    """
    match = _TIMED.fullmatch(text.strip())
    if match is None or match["zone"] is not None:
        return read_date(text, source)
    _instant(text, match)
    claim = read_date(match["day"], source)
    return DateClaim(text, claim.earliest, Precision.DAY, source)


def epoch_instant(value: object, *, unit_s: float = 1) -> datetime | None:
    """The UTC instant of an epoch number in units of `unit_s` seconds; None where it says that nothing is known.

    Nothing, an empty text and numbers up to 0 are such: sources write them for contests without a start.
    ``UnreadableDate`` for what is no number, or no date of a contest (in another unit, say).
    """
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        seconds = float(value) * unit_s if isinstance(value, (int, float, str)) else math.nan
        if seconds <= 0:
            return None
        instant = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UnreadableDate(f"{value!r} is not an epoch ({error})", _HINT) from None
    if not _FIRST_CONTEST_YEAR <= instant.year <= _LAST_CONTEST_YEAR:
        raise UnreadableDate(
            f"{value!r} would be in the year {instant.year}", "check the unit: seconds or milliseconds"
        )
    return instant


def zoned_instant(text: str, zone: tzinfo | None) -> datetime:
    """The UTC instant of a date and time; one without an offset is in `zone`, the one that its source declares.

    ``UnreadableDate`` when it has no offset and no zone is declared: local time is never guessed.
    """
    match = _TIMED.fullmatch(text.strip())
    if match is None:
        raise UnreadableDate(f"{text!r} is not a date with a time of day", _HINT)
    if match["zone"] is None:
        if zone is None:
            raise UnreadableDate(
                f"{text!r} has no time zone, and its source declares none", "declare the source's zone"
            )
        return _after_epoch(text, _instant(text, match).replace(tzinfo=zone).astimezone(UTC))
    return _instant(text, match)


def _calendar_claim(text: str, match: re.Match[str], source: str) -> DateClaim:
    month, day, precision = 1, 1, Precision.YEAR
    if match["quarter"]:
        month, precision = 3 * int(match["quarter"]) - 2, Precision.QUARTER
    elif match["day"]:
        month, day, precision = int(match["month"]), int(match["day"]), Precision.DAY
    elif match["month"]:
        month, precision = int(match["month"]), Precision.MONTH
    try:
        earliest = datetime(int(match["year"]), month, day, tzinfo=UTC)
    except ValueError as error:
        raise UnreadableDate(f"{text!r} is not a date: {error}", _HINT) from None
    return DateClaim(text, _after_epoch(text, earliest), precision, source)


def _instant(text: str, match: re.Match[str]) -> datetime:
    zone = match["zone"] or "Z"
    try:
        moment = datetime.fromisoformat(f"{match['day']}T{match['time']}{zone}").astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UnreadableDate(f"{text!r} is not a date: {error}", _HINT) from None
    return _after_epoch(text, moment)


def _after_epoch(text: str, earliest: datetime) -> datetime:
    """An empty date that went through a clock comes out as 1970: it would pass for a very old problem."""
    if earliest.year <= _EPOCH_YEAR:
        raise UnreadableDate(f"{text!r} is no date of a contest problem", "leave the date out when it is unknown")
    return earliest
