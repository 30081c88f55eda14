"""The time that fetching waits by, as a parameter: tests hand in one that skips the waiting."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """``now`` is the aware UTC instant, ``monotonic`` counts seconds and never steps, ``sleep`` waits for seconds."""

    def now(self) -> datetime:
        """The aware UTC instant that it is."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""
        ...

    def sleep(self, seconds: float) -> None:
        """Come back after so many seconds."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The aware UTC instant that it is."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Come back after so many seconds."""
        time.sleep(seconds)
