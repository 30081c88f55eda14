"""When a source is due: cron texts, the instants they mean, and which of these has not been done. Pure.

Everything is planned in UTC: each day has every hour once there, so that no instant is skipped or comes twice in the
night of a clock change, and a source is asked at the same distance all year. A user's zone is for display.

A text has the five fields of cron(5), with two differences: one that names both days of the month and days of the
week is refused, because cron takes either and readers expect both; and ``7`` is Sunday as ``0`` is. APScheduler counts
days of the week from Monday (its issue 286), so they are handed to it by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from db.records import require_utc

NIGHTLY: Final = "17 3 * * *"
"""The default: an hour at which few contests run, and a minute at which few others knock."""

_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAY = "|".join(("[0-7]", *_DAYS))
_DAYS_PART = re.compile(rf"(?:\*|(?P<first>{_DAY})(?:-(?P<last>{_DAY}))?)(?:/(?P<step>[1-7]))?", re.ASCII)
_FIELDS: Final = "minute, hour, day of the month, month, day of the week"
_FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LATE: Final = timedelta(minutes=1)


class CronUnreadable(ValueError):
    """A text that is no schedule. ``message`` says what is wrong with it, ``hint`` how to write one."""

    def __init__(self, message: str, hint: str = f"Write {_FIELDS}, as cron does: {NIGHTLY!r} is 03:17 UTC.") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Trigger(Protocol):
    """What gives the instants of a schedule; APScheduler's triggers do."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        """The first instant at or after `now`, None when there is none."""
        ...


@dataclass(frozen=True)
class Due:
    """An instant of a schedule that is to be done, how late that is, and the number of the attempt that this will be.

    The attempt is what two processes that find the same instant agree by: only one of them can make it.
    """

    planned_at: datetime
    late: timedelta
    attempt: int = 1

    @property
    def is_late(self) -> bool:
        """Whether it is worth a word: the process was down, or busy."""
        return self.late >= _LATE

    def lateness(self) -> str:
        """One line for a person."""
        return f"planned for {self.planned_at:%Y-%m-%d %H:%M} UTC, {_in_words(self.late)} late"


def parse_cron(text: str) -> Trigger:
    """The schedule that a cron text means, in UTC. ``CronUnreadable`` says what is wrong with it."""
    from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]

    fields = text.split()
    if len(fields) != 5 or not text.isascii():
        raise CronUnreadable(f"the schedule {text!r} has not the five fields of cron")
    minute, hour, day, month, day_of_week = fields
    weekdays = _weekdays(day_of_week.lower(), text)
    if day != "*" and weekdays != "*":
        raise CronUnreadable(
            f"the schedule {text!r} names days of the month and days of the week", 'write "*" for one of the two'
        )
    try:
        trigger: Trigger = CronTrigger(
            minute=minute, hour=hour, day=day, month=month, day_of_week=weekdays, timezone=UTC
        )
    except (ValueError, TypeError) as error:
        raise CronUnreadable(f"the schedule {text!r} cannot be read: {error}") from None
    if trigger.get_next_fire_time(None, _FIRST) is None:
        raise CronUnreadable(f"the schedule {text!r} names a day that never comes", "check day and month")
    return trigger


def _weekdays(field: str, text: str) -> str:
    """The field as names for APScheduler: "*", or all its days one by one, since its ranges begin on Monday."""
    if field == "*":
        return field
    days: set[int] = set()
    for part in field.split(","):
        match = _DAYS_PART.fullmatch(part)
        if not match:
            raise CronUnreadable(
                f"the schedule {text!r} cannot be read: {part!r} is no day of the week",
                f"write {', '.join(_DAYS)}, or 0 to 7 with 0 and 7 for Sunday",
            )
        first, last, step = match["first"], match["last"], match["step"]
        begin = _day_number(first) if first else 0
        end = (_day_number(last) if last else begin) if first and (last or not step) else 6
        if begin > end and last in {"sun", "7", "0"}:
            end = 7
        if begin > end:
            raise CronUnreadable(
                f"the schedule {text!r} cannot be read: {part!r} runs backwards", "a week begins on Sunday"
            )
        days |= {number % 7 for number in range(begin, end + 1, int(step or 1))}
    return ",".join(_DAYS[number] for number in sorted(days))


def _day_number(name: str) -> int:
    return int(name) if name.isdigit() else _DAYS.index(name)


def latest_planned(trigger: Trigger, now: datetime) -> datetime:
    """The last instant of the schedule at or before `now`. ``ValueError`` when it has none within a century.

    Triggers only look forward: the search doubles its way back until one fires in time, then halves the span.
    """
    require_utc("now", now)
    span = timedelta(minutes=1)
    while not _fires_between(trigger, now - span, now):
        span *= 2
        if span > timedelta(days=36_525):
            raise ValueError(f"{trigger} has no instant in the century before {now.isoformat()}")
    begin, end = now - span, now - span / 2
    if _fires_between(trigger, end, now):
        begin, end = end, now
    while end - begin > timedelta(seconds=1):
        middle = begin + (end - begin) / 2
        if _fires_between(trigger, middle, now):
            begin = middle
        else:
            end = middle
    return _next(trigger, begin)


def due(trigger: Trigger, last_done: datetime | None, now: datetime) -> datetime | None:
    """The instant that is to be done at `now`, None when the last one is done (`last_done` is a planned instant).

    However many were missed, it is the latest alone: one run makes up for all of them.
    """
    require_utc("last_done", last_done)
    planned_at = latest_planned(trigger, now)
    return planned_at if last_done is None or last_done < planned_at else None


def _next(trigger: Trigger, moment: datetime) -> datetime:
    fires = trigger.get_next_fire_time(None, moment)
    assert fires is not None
    return fires.astimezone(UTC)


def _fires_between(trigger: Trigger, begin: datetime, end: datetime) -> bool:
    fires = trigger.get_next_fire_time(None, begin)
    return fires is not None and fires <= end


def _in_words(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    days, hours = divmod(minutes // 60, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"
