"""Leases: who may do something alone, until when without a sign of life. A killed owner's lease runs out by itself.

An owner takes a lease, renews it well before it ends, and gives it back. Each function is to be called in a write
transaction of its own or a larger one: the store has one writer at a time, so what it finds there is what holds.
Owners on several machines need clocks that agree to well within the lease's length.
"""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session

from db import tables as t
from db.records import require_text, require_utc
from db.sql import insert_rows

_LEASE = select(t.lease).where(t.lease.c.name == bindparam("lease"))
_MINE = (t.lease.c.name == bindparam("lease")) & (t.lease.c.owner == bindparam("holder"))
_RENEW = update(t.lease).where(_MINE)
_RELEASE = delete(t.lease).where(_MINE)
_TAKE_OVER = update(t.lease).where(t.lease.c.name == bindparam("lease"))


@dataclass(frozen=True)
class Lease:
    """A lease as the store has it: it holds until ``expires_at``."""

    name: str
    owner: str
    taken_at: datetime
    expires_at: datetime

    def holds(self, now: datetime) -> bool:
        """Whether nobody else may take it yet."""
        return now < self.expires_at


def new_owner() -> str:
    """A name that no other owner has: host, process and a random part, since process ids come again."""
    return f"{socket.gethostname()}/{_host()}:{os.getpid()}:{secrets.token_hex(4)}"


def _host() -> str:
    """This machine since it was started, and the space that its process ids are counted in; "" where that is not told.

    Two containers may share a host name, and so may two machines: the id of the boot tells them apart.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot[:8]}-{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def is_gone(owner: str) -> bool:
    """Whether the owner's process is known to have ended: it was one of this host, and is there no more."""
    host, _, process = owner.rpartition(":")[0].rpartition(":")
    here = _host()
    if not here or host.rpartition("/")[2] != here or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def find_lease(session: Session, name: str) -> Lease | None:
    """The lease with this name as it stands, expired or not; None when nobody has it."""
    row = session.execute(_LEASE, {"lease": name}).one_or_none()
    return None if row is None else Lease(row.name, row.owner, row.taken_at, row.expires_at)


def take_lease(session: Session, name: str, owner: str, now: datetime, ttl: timedelta) -> Lease | None:
    """Take the lease until ``now + ttl`` where it is free, has expired, is this owner's, or its owner is gone.

    None where somebody else holds it.
    """
    require_utc("now", now)
    require_text("lease name", name, allow_empty=False)
    require_text("lease owner", owner, allow_empty=False)
    before = find_lease(session, name)
    if before is None:
        insert_rows(session, t.lease, [{"name": name, "owner": owner, "taken_at": now, "expires_at": now + ttl}])
        return Lease(name, owner, now, now + ttl)
    if before.owner != owner and before.holds(now) and not is_gone(before.owner):
        return None
    taken_at = before.taken_at if before.owner == owner else now
    session.execute(_TAKE_OVER, {"lease": name, "owner": owner, "taken_at": taken_at, "expires_at": now + ttl})
    return Lease(name, owner, taken_at, now + ttl)


def renew_lease(session: Session, name: str, owner: str, now: datetime, ttl: timedelta) -> bool:
    """Let the owner's lease hold until ``now + ttl``; False when it is no longer this owner's.

    One that has expired is renewed all the same where nobody has taken it: nothing happened in between.
    """
    require_utc("now", now)
    return _touched(session.execute(_RENEW, {"lease": name, "holder": owner, "expires_at": now + ttl}))


def release_lease(session: Session, name: str, owner: str) -> bool:
    """Give the lease back; False when it was not this owner's (any more)."""
    return _touched(session.execute(_RELEASE, {"lease": name, "holder": owner}))


def _touched(result: object) -> bool:
    return bool(getattr(result, "rowcount", 0))
