"""The files that a user gives an audit."""

from __future__ import annotations

from pathlib import Path

from live.errors import UsageError


def read_text(file: Path) -> str:
    """The text of a file. Raises ``UsageError``."""
    try:
        return read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8: {error.reason} at byte {error.start}", "save it as UTF-8") from error


def read_bytes(file: Path) -> bytes:
    """What a file holds. Raises ``UsageError``."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", "check the path") from error
