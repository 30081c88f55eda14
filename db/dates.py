"""Which of several date claims decides, and whether they contradict each other. Pure."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from datetime import MAXYEAR, UTC, datetime, timedelta

from db.records import DateClaim, Precision

_RANK = {precision: rank for rank, precision in enumerate(Precision)}
_MONTHS = {Precision.MONTH: 1, Precision.QUARTER: 3, Precision.YEAR: 12}
_LATEST = datetime.max.replace(tzinfo=UTC)


def _later_by_months(start: datetime, months: int) -> datetime:
    year, month0 = divmod(start.year * 12 + start.month - 1 + months, 12)
    if year > MAXYEAR:
        return _LATEST
    day = min(start.day, calendar.monthrange(year, month0 + 1)[1])
    return start.replace(year=year, month=month0 + 1, day=day)


def claim_end(claim: DateClaim) -> datetime:
    """The first instant after the span that a claim allows. An instant is a span of one microsecond."""
    if claim.precision in _MONTHS:
        return _later_by_months(claim.earliest, _MONTHS[claim.precision])
    width = timedelta(days=1) if claim.precision is Precision.DAY else timedelta(microseconds=1)
    return claim.earliest + width if claim.earliest < _LATEST - width else _LATEST


def agree(first: DateClaim, second: DateClaim) -> bool:
    """Whether both claims can be true of one instant: their spans overlap, or both name the same start."""
    if first.earliest == second.earliest:
        return True
    return first.earliest < claim_end(second) and second.earliest < claim_end(first)


def order_of(claim: DateClaim) -> tuple[int, datetime, str, str]:
    """Sort key that puts the deciding claim first: finest precision, then earliest instant, then by name."""
    return (_RANK[claim.precision], claim.earliest, claim.source, claim.as_written)


def best_claim(claims: Iterable[DateClaim]) -> DateClaim | None:
    """The claim that decides ``released_at``, or None when nobody claims anything."""
    return min(claims, key=order_of, default=None)


def disagreement(claims: Sequence[DateClaim]) -> str | None:
    """One line that names the claims which contradict another one and the one that decides; None when all agree.

    Of what one source says (of several contests that have the problem), only its first claim is looked at.
    """
    first: dict[str, DateClaim] = {}
    for claim in sorted(claims, key=order_of):
        first.setdefault(claim.source, claim)
    ordered = list(first.values())
    at_odds = [claim for claim in ordered if any(not agree(claim, other) for other in ordered)]
    if not at_odds:
        return None
    said = ", ".join(f"{claim.source} says {claim.as_written!r} ({claim.precision})" for claim in at_odds)
    best = ordered[0]
    return f"dates disagree: {said}; {best.source} decides with {best.earliest.isoformat()}"
