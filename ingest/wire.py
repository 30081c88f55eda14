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

_AGAIN = "fetch the row again: its private_test_cases is damaged"
_HOSTILE = "do not use this file: the data set's own rows hold a plain JSON text here"


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


_PLAIN_OPCODES = (
    pickle.PROTO + pickle.FRAME + pickle.STOP + pickle.MARK + pickle.POP + pickle.POP_MARK
    + pickle.NONE + pickle.NEWTRUE + pickle.NEWFALSE
    + pickle.INT + pickle.BININT + pickle.BININT1 + pickle.BININT2 + pickle.LONG + pickle.LONG1 + pickle.LONG4
    + pickle.FLOAT + pickle.BINFLOAT
    + pickle.UNICODE + pickle.BINUNICODE + pickle.SHORT_BINUNICODE + pickle.BINUNICODE8
    + pickle.BINBYTES + pickle.SHORT_BINBYTES + pickle.BINBYTES8
    + pickle.EMPTY_LIST + pickle.APPEND + pickle.APPENDS + pickle.LIST
    + pickle.EMPTY_TUPLE + pickle.TUPLE + pickle.TUPLE1 + pickle.TUPLE2 + pickle.TUPLE3
    + pickle.EMPTY_DICT + pickle.SETITEM + pickle.SETITEMS + pickle.DICT
    + pickle.GET + pickle.BINGET + pickle.LONG_BINGET + pickle.PUT + pickle.BINPUT + pickle.LONG_BINPUT + pickle.MEMOIZE
)  # fmt: skip
_CLASS_OPCODES = pickle.GLOBAL + pickle.STACK_GLOBAL + pickle.INST + pickle.EXT1 + pickle.EXT2 + pickle.EXT4
MAX_OPCODES = 1_000_000
"""Real rows are one text, which takes a handful; each opcode may build an object of some 70 bytes."""


class _Opcodes(dict[int, Any]):
    """The machine's instructions, cut down to those that build plain values, each use counted."""

    def __init__(self) -> None:
        allowed = set(_PLAIN_OPCODES + _CLASS_OPCODES + pickle.PERSID + pickle.BINPERSID)
        super().__init__({code: step for code, step in pickle._Unpickler.dispatch.items() if code in allowed})
        self._n_used = 0

    def __getitem__(self, code: int) -> Any:
        self._n_used += 1
        if self._n_used > MAX_OPCODES:
            raise BadRow(f"private_test_cases: the pickle has more than {MAX_OPCODES:,} steps", _HOSTILE)
        if code not in self:
            reason = f"the pickle is damaged, or wants more than plain values (opcode {chr(code)!r})"
            raise BadRow(f"private_test_cases: {reason}", _HOSTILE)
        return super().__getitem__(code)


class _PlainUnpickler(pickle._Unpickler):
    """An unpickler that can build no object of any class.

    The one written in Python, on purpose: the C one grows its memo to any index that a pickle names, so that a few
    bytes take gigabytes.
    """

    def __init__(self, file: io.BufferedReader) -> None:
        super().__init__(file)
        self.dispatch = _Opcodes()  # type: ignore[misc]  # looked up on the instance, one count for each

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
