"""Errors as a user meets them: one line that says what, one that says what to do, and an exit code."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the command's exit code means."""

    DONE = 0
    SOMETHING_FAILED = 1
    USAGE = 2
    NOTHING_ELIGIBLE = 3
    UNAVAILABLE = 4
    INTERRUPTED = 130


class UsageError(Exception):
    """The command line or the configuration asks for something that cannot be."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def exit_code_of(error: Exception) -> ExitCode | None:
    """The exit code for an error that carries ``message`` and ``hint``; None for one that is a fault of the program.

    Decided by the room that raised it, so that no room has to be imported to ask.
    """
    if not (hasattr(error, "message") and hasattr(error, "hint")):
        return None
    room = type(error).__module__.partition(".")[0]
    needed = room == "sandbox" or (room == "db" and type(error).__module__ == "db.errors")
    return ExitCode.UNAVAILABLE if needed else ExitCode.USAGE


def explain(error: Exception) -> list[str]:
    """The lines for the user: what is wrong, and what to do where the error knows it."""
    hint = getattr(error, "hint", "")
    return [f"error: {error}", *([f"  what to do: {hint}"] if hint else [])]
