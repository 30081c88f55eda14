"""Standard output and error as the command uses them: any text may be printed, and a reader may leave at any time."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def prepare_streams() -> None:
    """Let titles of sites be printed that a terminal's encoding lacks, and ``| head -1`` change nothing.

    Whether a reader that leaves is noticed depends on who is faster. So what it did not read is dropped, and the
    command ends with the exit code that it would have had.
    """
    sys.stdout, sys.stderr = _of_any_reader(sys.stdout), _of_any_reader(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may hold even halves of surrogate pairs


class _Pipe(io.FileIO):
    """A file descriptor of which nothing more is written when its reader is gone."""

    def write(self, data: ReadableBuffer, /) -> int:
        """The bytes written, or dropped."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def _of_any_reader(stream: TextIO) -> TextIO:
    """The same stream over a pipe whose reader may leave; other streams are given back as they are."""
    if stream not in (sys.__stdout__, sys.__stderr__) or not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    raw = _Pipe(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=stream.line_buffering
    )
