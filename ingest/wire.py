"""LiveCodeBench's packed form of private tests: base64 of zlib of a pickle whose one value is a JSON text.

A pickle from a download is a program in disguise. This reader builds nothing but plain values (texts, numbers, lists,
dicts), looks up no class and calls nothing, and stops at a size instead of filling the memory.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import zlib
from typing import Any

from ingest.errors import BadRow

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""No list of tests known is near this size; zlib can blow a megabyte up to a gigabyte."""

_AGAIN = "Fetch the row again: its private_test_cases is damaged."
_HOSTILE = "Do not use this file: the data set's own rows hold a plain JSON text here."


def decode_wire_tests(encoded: str) -> Any:
    """The JSON value (a list of tests, if all is well) in `encoded`. ``BadRow`` says which layer could not be read.

    Memory: about twice the unpacked size for a moment.
    """
    packed = _from_base64(encoded)
    del encoded  # tens of MB, beside which the unpacked texts are about to grow
    value = _unpickle(packed)
    del packed
    if not isinstance(value, str | bytes):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise BadRow(f"private_test_cases: the unpacked text is not JSON ({error})", _AGAIN) from None


def _from_base64(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRow(f"private_test_cases is neither JSON nor base64 ({error})", _AGAIN) from None


def _unpickle(packed: bytes) -> Any:
    try:
        return _PlainUnpickler(io.BufferedReader(_Inflated(packed))).load()
    except BadRow:
        raise
    except zlib.error as error:
        raise BadRow(f"private_test_cases: the base64 does not hold zlib data ({error})", _AGAIN) from None
    except MemoryError:
        raise BadRow("private_test_cases: the pickle asks for more memory than there is", _HOSTILE) from None
    except Exception as error:  # a damaged pickle can make the machine fail in any way; none of them is ours
        raise BadRow(
            f"private_test_cases: the pickle is damaged ({str(error) or type(error).__name__})", _AGAIN
        ) from None


class _PlainUnpickler(pickle._Unpickler):
    """An unpickler that can build no object of any class.

    The one written in Python, on purpose: the C one grows its memo to any index that a pickle names, so that a few
    bytes take gigabytes.
    """

    def find_class(self, module: str, name: str) -> Any:
        """Refuse: every way for a pickle to name a class or a function comes through here."""
        raise BadRow(f"private_test_cases: the pickle tries to build {module}.{name}", _HOSTILE)

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to objects outside the pickle."""
        raise BadRow("private_test_cases: the pickle refers to an object outside itself", _HOSTILE)


class _Inflated(io.RawIOBase):
    """zlib data as a stream of its unpacked bytes, which ends with a ``BadRow`` at `MAX_UNPACKED_BYTES`."""

    def __init__(self, packed: bytes) -> None:
        super().__init__()
        self._packed = memoryview(packed)
        self._inflater = zlib.decompressobj()
        self._given = 0

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with unpacked bytes; 0 at the end. ``BadRow`` when the data is cut off or too large."""
        piece = b""
        while not piece and not self._inflater.eof:
            rest = self._inflater.unconsumed_tail
            if not rest:
                rest, self._packed = bytes(self._packed[:65536]), self._packed[65536:]
                if not rest:
                    raise BadRow("private_test_cases: the compressed data ends early", _AGAIN)
            piece = self._inflater.decompress(rest, len(buffer))
        self._given += len(piece)
        if self._given > MAX_UNPACKED_BYTES:
            limit = MAX_UNPACKED_BYTES // 2**20
            raise BadRow(f"private_test_cases: the tests unpack to more than {limit} MiB", _HOSTILE)
        buffer[: len(piece)] = piece
        return len(piece)
