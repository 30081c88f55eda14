"""When to ask again: which answers pass, how long to wait, and what Retry-After says. Pure but for the given dice."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

PASSING: Final = frozenset({429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
"""Statuses of a trouble that may pass; those from 520 are a content network's for a site that does not answer it."""


def backoff_s(attempt: int, base_s: float, longest_s: float, dice: random.Random) -> float:
    """Seconds to wait after the `attempt`-th try (from 1): doubling, with full jitter, so that callers spread out."""
    return dice.uniform(0, min(longest_s, base_s * 2.0 ** min(attempt - 1, 60)))


def retry_after(headers: Mapping[str, str], now: datetime, longest_s: float) -> datetime:
    """The instant from which a host wants to be asked again: Retry-After in seconds or as an HTTP date.

    `now` when it says nothing that can be read; never before that, nor more than `longest_s` seconds after it.
    """
    written = headers.get("retry-after", "").strip()
    latest = now + timedelta(seconds=longest_s)
    if written.isascii() and written.isdigit():
        return min(now + timedelta(seconds=min(float(written), longest_s)), latest)
    try:
        at = parsedate_to_datetime(written)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):  # years and offsets that no calendar has
        return now
    return max(now, min(at, latest))
