"""What can go wrong when something is read from outside.

ImportFailure            the whole import cannot go on
├── UnreadableSource     the file or folder is missing, or is not what the format reads
└── UnknownFormat        no format has that name
BadRow                   one row is wrong; the others go on (formats turn it into a ``Refusal``)
└── UnreadableDate       a date that says nothing certain
"""

from __future__ import annotations


class ImportFailure(Exception):
    """An import that cannot go on. ``message`` says what is wrong and where, ``hint`` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UnreadableSource(ImportFailure):
    """The path is missing, may not be read, or is not the kind of thing that the format reads."""


class UnknownFormat(ImportFailure):
    """No problem format has this name."""


class BadRow(ValueError):
    """One row that is not taken. ``reason`` says what is wrong, ``hint`` what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class UnreadableDate(BadRow):
    """A date that cannot be read, or that leaves open which instant it means."""
