"""An edition's bytes as a file to download: gzip, in the one form that the same content always has. Pure."""

from __future__ import annotations

import gzip
import io
import zlib

from eval.editions.document import EditionUnreadable

MOST_BYTES = 1_000_000_000
"""So large an edition may become when it is unpacked."""

_MAGIC = b"\x1f\x8b"
_LEVEL = 9


def pack(body: bytes) -> bytes:
    """The bytes packed, without a name or an instant (RFC 1952)."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=out, mtime=0) as packed:
        packed.write(body)
    return out.getvalue()


def unpack(body: bytes) -> bytes:
    """The bytes of an edition, packed or as they are. Raises ``EditionUnreadable``."""
    if not body.startswith(_MAGIC):
        return body
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as packed:
            found = packed.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise EditionUnreadable(f"not an edition: it cannot be unpacked ({error})", "download it again") from error
    if len(found) > MOST_BYTES:
        raise EditionUnreadable("not an edition: it unpacks to more than any has", "download it again")
    return found
