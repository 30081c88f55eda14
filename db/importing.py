"""What an import says about itself: what it did, what it refused and what it noticed.

The records stand here because both rooms that import (problems in ``ingest``, solutions and results in ``eval``) hand
them back, and neither of the two may know the other.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_KEPT = 1000
"""So many refusals, and so many notes, are kept in full: a million broken rows must not fill the memory."""


@dataclass(frozen=True)
class Refusal:
    """One row, test or file that was not taken.

    ``where`` says where it stands ("line 12, question_id 'x'"), ``reason`` what is wrong with it, ``hint`` what to do.
    ``raw`` is the beginning of a refused row as its file has it, where that is at hand; the file keeps the whole.
    """

    where: str
    reason: str
    hint: str = ""
    raw: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True)
class Note:
    """Something that was taken, and that a reader should know about (say, a file that was re-encoded)."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


@dataclass(frozen=True)
class ImportReport:
    """The outcome of one import. ``refused`` and ``notes`` keep the first `MAX_KEPT`; ``n_refused`` counts them all."""

    created: int
    updated: int
    unchanged: int
    refused: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    n_refused: int = 0


class ImportFailure(Exception):
    """An import that cannot begin or go on. ``message`` says what is wrong and where, ``hint`` what to do.

    ImportFailure
    ├── UnreadableSource     the file or folder is missing, or is not what the format reads
    └── UnknownFormat        no format has that name
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UnreadableSource(ImportFailure):
    """The path is missing, may not be read, or is not the kind of thing that the format reads."""


class UnknownFormat(ImportFailure):
    """No format of this kind has that name."""
