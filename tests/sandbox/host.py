"""This machine as programs that attack find it and must leave it: its containers, processes, folders and free disk."""

from __future__ import annotations

import functools
import os
import socket
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.docker_jail import daemon_address
from sandbox.jail import Jail
from sandbox.programs import MIB
from tests.sandbox import jails

# What others may write meanwhile: a program that gets at a disk writes more (its output limit, again and again).
_OTHERS_BYTES = 128 * MIB
_QUIET_BYTES = MIB
_WAIT_S = 10.0

# File systems that are no place on a disk: memory of fixed size, and the kernel's own.
_NO_DISK = frozenset({"tmpfs", "devtmpfs", "proc", "sysfs", "devpts", "mqueue", "cgroup", "cgroup2"})


@dataclass(frozen=True)
class Host:
    """How many containers, bubblewrap processes and folders this command has, and the free bytes of its disks."""

    containers: int
    bubblewraps: int
    folders: int
    free_bytes: dict[int, int]


def look() -> Host:
    """As it is now."""
    return Host(
        containers=len(jails.containers(jails.OWN_PID)) if _has_daemon() else 0,
        bubblewraps=len(jails.bubblewraps(jails.OWN_PID)),
        folders=len(jails.folders(jails.OWN_PID)),
        free_bytes=_free_bytes(),
    )


def differences(before: Host) -> list[str]:
    """What is not as it was, in words; given some time, since a container that is replaced goes by and by."""
    if jails.wait_until(lambda: not _differences(before, look()), _WAIT_S):
        return []
    after = look()
    time.sleep(2.0)
    if any(abs(free - after.free_bytes[device]) > _QUIET_BYTES for device, free in _free_bytes().items()):
        # Others write at this very moment: what is gone from the disk tells nothing.
        after = replace(after, free_bytes=before.free_bytes)
    return _differences(before, after)


def _differences(before: Host, after: Host) -> list[str]:
    found = [
        f"{name}: {getattr(before, name)}, then {getattr(after, name)}"
        for name in ("containers", "bubblewraps", "folders")
        if getattr(before, name) != getattr(after, name)
    ]
    for device, free in before.free_bytes.items():
        if free - after.free_bytes[device] > _OTHERS_BYTES:
            found.append(f"free disk: {free // MIB} MiB, then {after.free_bytes[device] // MIB} MiB")
    return found


def writable_disks(jail: Jail) -> list[str]:
    """The mounts in a jail that can be written to and lie on a disk."""
    return on_disk_and_writable(Path(f"/proc/{jails.agents(jail)[0]}/mountinfo").read_text(encoding="utf-8"))


def on_disk_and_writable(mountinfo: str) -> list[str]:
    """The same in the words of proc_pid_mountinfo(5): fifth the place, sixth the options, after a hyphen the type."""
    found = []
    for line in mountinfo.splitlines():
        mount, _, rest = line.partition(" - ")
        place, options = mount.split()[4:6]
        if "rw" in options.split(",") and rest.split()[0] not in _NO_DISK:
            found.append(place)
    return found


@functools.cache
def _has_daemon() -> bool:
    """Asked before the client library is, which leaves a socket open when nothing listens."""
    kind, _, path = daemon_address().partition("://")
    if kind != "unix":
        return True
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def _free_bytes() -> dict[int, int]:
    free = {}
    for folder in ("/", tempfile.gettempdir(), "/var/lib"):
        state = os.statvfs(folder)
        free[os.stat(folder).st_dev] = state.f_bavail * state.f_frsize
    return free
