"""Being a user to whom the rights of files mean something: root may write everything, whatever they say."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION_3 = 0x20080522
_DAC_OVERRIDE_AND_READ_SEARCH = 0b110


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Half(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


@contextmanager
def rights_count() -> Iterator[None]:
    """This thread without root's way past the rights of files while the block runs; other users have none."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, halves = _Header(_VERSION_3, 0), (_Half * 2)()

    def call(function: str) -> None:
        if getattr(libc, function)(ctypes.byref(header), halves) != 0:
            raise OSError(ctypes.get_errno(), function)

    call("capget")
    before = halves[0].effective
    halves[0].effective = before & ~_DAC_OVERRIDE_AND_READ_SEARCH
    call("capset")
    try:
        yield
    finally:
        halves[0].effective = before
        call("capset")
