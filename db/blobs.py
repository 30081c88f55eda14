"""Bytes by their content: each is kept once, compressed, under the sha256 of what it is uncompressed."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Final

import zstandard
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from db import tables as t
from db.digests import sha256_hex
from db.errors import StoreUnavailable, UnknownRow
from db.sql import chunks, insert_missing

_LEVEL: Final = 3
_AMONG = t.blob.c.sha256.in_(bindparam("hashes", expanding=True))
_KNOWN = select(t.blob.c.sha256).where(_AMONG)
_CONTENT = select(t.blob.c.sha256, t.blob.c.zstd).where(_AMONG)


class _Contexts(threading.local):
    """zstd's working memory, which takes a third as long to make as a text to compress; no two threads may share it."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_contexts = _Contexts()


def pack(data: bytes) -> bytes:
    """Compress with zstd; the frame carries the length."""
    return _contexts.compressor.compress(data)


def unpack(frame: bytes) -> bytes:
    """Undo ``pack``. ``StoreUnavailable`` when the frame is damaged."""
    try:
        return _contexts.decompressor.decompress(frame)
    except zstandard.ZstdError as exc:
        raise StoreUnavailable(f"the store holds damaged bytes ({exc})", "restore a copy of the store") from exc


def put_blobs(session: Session, data: Sequence[bytes]) -> list[str]:
    """Keep all of these bytes and return their sha256 in the same order. Idempotent."""
    hashes = [sha256_hex(one) for one in data]
    missing = dict(zip(hashes, data, strict=True))
    for some in chunks(list(missing)):
        for known in session.execute(_KNOWN, {"hashes": some}).scalars():
            del missing[known]
    insert_missing(
        session,
        t.blob,
        [{"sha256": sha256, "size": len(one), "zstd": pack(one)} for sha256, one in missing.items()],
    )
    return hashes


def put_blob(session: Session, data: bytes) -> str:
    """Keep these bytes and return their sha256 as hex. Idempotent."""
    return put_blobs(session, [data])[0]


def get_blobs(session: Session, hashes: Iterable[str]) -> dict[str, bytes]:
    """The bytes of each sha256, checked against it. ``UnknownRow`` when one is missing."""
    wanted = set(hashes)
    found: dict[str, bytes] = {}
    for some in chunks(wanted):
        for sha256, frame in session.execute(_CONTENT, {"hashes": some}):
            found[sha256] = _checked(sha256, frame)
    for missing in sorted(wanted - found.keys()):
        raise UnknownRow("blob", missing)
    return found


def get_blob(session: Session, sha256: str) -> bytes:
    """The bytes with this sha256. ``UnknownRow`` (a ``LookupError``) when the store does not hold them."""
    return get_blobs(session, [sha256])[sha256]


def _checked(sha256: str, frame: bytes) -> bytes:
    data = unpack(frame)
    if sha256_hex(data) != sha256:
        raise StoreUnavailable(f"the bytes kept as {sha256} have changed", "restore a copy of the store")
    return data


def encode_text(text: str) -> bytes:
    """A program or a raw answer as bytes. A lone surrogate, which JSON can carry, is kept and not refused."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(data: bytes) -> str:
    """Undo ``encode_text``."""
    return data.decode("utf-8", "surrogatepass")
