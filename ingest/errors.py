"""What can be wrong with one row of an import; what ends an import as a whole stands in ``db.importing``.

BadRow                   one row is wrong; the others go on (formats turn it into a ``Refusal``)
└── UnreadableDate       a date that says nothing certain
"""

from __future__ import annotations


class BadRow(ValueError):
    """One row that is not taken. ``reason`` says what is wrong, ``hint`` what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class UnreadableDate(BadRow):
    """A date that cannot be read, or that leaves open which instant it means."""
