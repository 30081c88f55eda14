"""JSON lines from a plain or gzip-compressed file, one object at a time, whatever the length of the file."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from db.importing import Refusal, UnreadableSource
from ingest.fields import json_kind

MAX_LINE_BYTES = 256 * 1024 * 1024
"""Longer lines are refused unread: real rows reach some tens of MB, and one line is held in memory whole."""

_BUFFER_BYTES = 1024 * 1024
"""A line of tens of MB put together from small pieces leaves the memory in small pieces, too."""


def read_json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | Refusal]]:
    """Each line's number and its JSON object, or the refusal that stands for it. Blank lines are passed over.

    ``UnreadableSource`` when `path` is no readable file. A compressed file that is cut off gives its whole lines
    and then one refusal.
    """
    number = 0
    try:
        with _open(path) as file:
            while line := file.readline(MAX_LINE_BYTES):
                number += 1
                item = _object_of(number, line, file)
                del line  # tens of MB that need not live while the row is worked on
                if item is not None:
                    yield number, item
                del item
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        yield (
            number + 1,
            Refusal(
                f"after line {number}",
                f"the compressed file is broken here ({error})",
                "Fetch the file again; what stood before this place was read.",
            ),
        )


def _open(path: Path) -> BinaryIO:
    try:
        if path.suffix == ".gz":
            return cast(BinaryIO, io.BufferedReader(gzip.open(path, "rb"), _BUFFER_BYTES))
        return path.open("rb", buffering=_BUFFER_BYTES)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableSource(
            f"{path} cannot be read: {reason}", "Give the path of a .jsonl or .jsonl.gz file."
        ) from None


def _object_of(number: int, line: bytes, file: BinaryIO) -> dict[str, Any] | Refusal | None:
    """What `line` holds; None when it is blank. The rest of an overlong line is read off `file`."""
    if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
        while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
            pass
        reason = f"is longer than {MAX_LINE_BYTES // 2**20} MiB"
        return Refusal(f"line {number}", reason, "Write one JSON object a line, without indentation.")
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    return _parse(number, line) if line.strip() else None


def _parse(number: int, line: bytes) -> dict[str, Any] | Refusal:
    where = f"line {number}"
    try:
        row = json.loads(line)
    except UnicodeDecodeError as error:
        return Refusal(where, f"is not UTF-8 text ({error.reason})", "Save the file as UTF-8.")
    except json.JSONDecodeError as error:
        if line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}"):
            return Refusal(where, "is cut off: the JSON object has no end", "Fetch the file again.")
        reason = f"is not JSON ({error.msg}, column {error.colno})"
        return Refusal(where, reason, "Write one whole JSON object on each line.")
    except (ValueError, RecursionError) as error:
        return Refusal(where, f"cannot be read as JSON ({error})", "Write one whole JSON object on each line.")
    if isinstance(row, dict):
        return row
    return Refusal(where, f"is {json_kind(row)}, not a JSON object", "Write one JSON object ({...}) on each line.")
