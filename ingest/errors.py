"""What can be wrong with one row of an import, and what can go wrong with a source; what ends an import as a whole
stands in ``db.importing``.

ValueError
└── BadRow                   one row is wrong; the others go on (formats turn it into a ``Refusal``)
    └── UnreadableDate       a date that says nothing certain
Exception
└── SourceError              a source, a contest or a page could not be taken; the others go on
    ├── FetchError           nothing usable came back from an address
    │   ├── Absent           it is not there (404, 410)
    │   ├── AuthRequired     it wants a login
    │   ├── Blocked          a challenge page, a refusal, or the host's circuit is open
    │   ├── Disallowed       the host's robots.txt forbids it
    │   ├── TooLarge         the answer is larger than an answer may be
    │   ├── TimedOut         the answer did not end in time, or the run's deadline has passed
    │   ├── Unreachable      no connection, or the server's own errors, after all retries
    │   └── NotRecorded      offline, and no snapshot of it is in the store
    ├── PageChanged          an answer came, but what has to be in it is not
    ├── NotConfigured        the source needs a setting that nobody gave
    └── BrokenSource         the source's own module does not load
"""

from __future__ import annotations

from typing import ClassVar


class BadRow(ValueError):
    """One row that is not taken. ``reason`` says what is wrong, ``hint`` what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class UnreadableDate(BadRow):
    """A date that cannot be read, or that leaves open which instant it means."""


class SourceError(Exception):
    """Something of a source that could not be taken. ``message`` says what and where, ``hint`` what to do.

    ``kind`` is the word under which runs keep it, ``snapshot_id`` the response that shows it, where there is one.
    """

    kind: ClassVar[str] = "error"

    def __init__(self, message: str, hint: str = "", *, snapshot_id: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.snapshot_id = snapshot_id


class FetchError(SourceError):
    """Nothing usable came back from an address."""

    kind = "fetch"


class Absent(FetchError):
    """The address does not exist (404 or 410). Never retried."""

    kind = "absent"


class AuthRequired(FetchError):
    """The address wants a login. No login is tried."""

    kind = "auth_required"


class Blocked(FetchError):
    """The host showed a challenge or refused; it is left alone until its circuit closes."""

    kind = "blocked"


class Disallowed(FetchError):
    """The host's robots.txt forbids the address."""

    kind = "disallowed"


class TooLarge(FetchError):
    """The answer is larger than the size cap."""

    kind = "too_large"


class TimedOut(FetchError):
    """The answer did not end within its total time, or the run's deadline has passed."""

    kind = "timeout"


class Unreachable(FetchError):
    """No connection, or errors of the server, after all retries."""

    kind = "unreachable"


class NotRecorded(FetchError):
    """Offline, and the store holds no snapshot of the address."""

    kind = "not_recorded"


class PageChanged(SourceError):
    """An answer came, but what has to be in it is not: the message names the selector or the field."""

    kind = "page_changed"


class NotConfigured(SourceError):
    """The source needs a setting that nobody gave."""

    kind = "not_configured"


class BrokenSource(SourceError):
    """The source's own module does not load."""

    kind = "broken"
