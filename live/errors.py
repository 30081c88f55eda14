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


KEPT = "interrupted; finished work is kept, the same command goes on"
NOTHING_KEPT = "interrupted; nothing was kept, the same command starts from the beginning"


class UsageError(Exception):
    """The command line or the configuration asks for something that cannot be."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is at the bottom of an error: libraries turn it into errors of their own, a failed import say."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def exit_code_of(error: BaseException) -> ExitCode | None:
    """The exit code for an error that carries ``message`` and ``hint``; None for one that is a fault of the program.

    Decided by the room that raised it, so that no room has to be imported to ask.
    """
    if not (hasattr(error, "message") and hasattr(error, "hint")):
        return None
    room = type(error).__module__.partition(".")[0]
    needed = room == "sandbox" or (room == "db" and type(error).__module__ == "db.errors")
    return ExitCode.UNAVAILABLE if needed else ExitCode.USAGE


def explain(error: BaseException) -> list[str]:
    """The lines for the user: what is wrong, and what to do where the error knows it."""
    hint = getattr(error, "hint", "")
    what = f"the system refused something: {error}" if isinstance(error, OSError) else str(error)
    return [f"error: {what}", *([f"  what to do: {hint}"] if hint else [])]
