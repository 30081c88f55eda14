"""Processor time of what judges, which tells more than wall time on a machine that others use as well."""

from __future__ import annotations

import os
import resource
import socket
import struct
import time
from pathlib import Path

from sandbox import Judge
from sandbox.jail import Jail
from sandbox.links import SocketLink

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_CREDENTIALS = struct.Struct("3i")


def children_s() -> float:
    """Of all processes that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def judging_s(judge: Judge) -> float:
    """Of this process and of a judge's jails: their agents and what those have run."""
    return time.process_time() + sum(_jail_s(jail) for worker in judge._workers for jail in worker.jails)


def _jail_s(jail: Jail) -> float:
    link = jail._link
    assert isinstance(link, SocketLink)
    sent = link._first.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    agent: int = _CREDENTIALS.unpack(sent)[0]
    zygotes = Path(f"/proc/{agent}/task/{agent}/children").read_text(encoding="ascii").split()
    return sum(map(_with_children_s, (agent, *map(int, zygotes))))


def _with_children_s(pid: int) -> float:
    """Of a process and of its children that it has waited for (fields 14 to 17 of /proc/PID/stat)."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return sum(int(field) for field in fields[11:15]) / _TICKS_PER_S
