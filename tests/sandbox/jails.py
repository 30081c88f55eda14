"""What tests see of jails from outside: the processes, containers and folders of one command, and how to end a jail."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox import Judge
from sandbox.bubblewrap_jail import BubblewrapEnclosure
from sandbox.docker_jail import OWNER_LABEL, DockerEnclosure, DockerLauncher, remove
from sandbox.jail import Jail
from sandbox.links import SocketLink
from sandbox.mounts import DIRECTORY_PREFIX, Mount

_HOSTILE_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", "/run")


class StreamedDockerLauncher(DockerLauncher):
    """Docker as where its daemon is on another machine: all goes through the container's standard input and output."""

    name = "docker-streamed"
    always_by_stream = True


@functools.cache
def docker_client() -> Any:
    """One connection to the daemon for all tests; :func:`close_docker_client` ends it."""
    import docker

    return docker.from_env(timeout=60)


def close_docker_client() -> None:
    """End the connection if there is one."""
    if docker_client.cache_info().currsize:
        docker_client().close()
        docker_client.cache_clear()


def running_jails(judge: Judge) -> list[Jail]:
    """The jails that a judge has at the moment."""
    return [jail for worker in judge._workers for jail in worker.jails]


def folders(pid: int) -> list[Path]:
    """The private directories of a command's jails."""
    return list(Path(tempfile.gettempdir()).glob(f"{DIRECTORY_PREFIX}{pid}-*"))


def containers(pid: int) -> list[Any]:
    """A command's containers, running or not."""
    found = docker_client().containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True)
    return [container for container in found if container.labels[OWNER_LABEL].split("/")[-2] == str(pid)]


def folder_of(jail: Jail) -> Path | None:
    """The private directory of a jail; None for one that has none."""
    mount: Mount | None = getattr(jail._enclosure, "_mount", None)
    return None if mount is None else mount.root


def bubblewraps(pid: int) -> list[int]:
    """The pids of a command's bubblewrap processes, known by the folder that they were given."""
    mark = f"/{DIRECTORY_PREFIX}{pid}-".encode()
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if mark in _command_line(entry)]


def left_by(pid: int) -> list[Any]:
    """All that a command's jails left on this machine, of either kind."""
    return [*folders(pid), *containers_if_any(pid), *bubblewraps(pid)]


def containers_if_any(pid: int) -> list[Any]:
    """A command's containers; none where no daemon answers."""
    from docker.errors import DockerException

    try:
        return containers(pid)
    except DockerException:
        return []


def strangers(jail: Jail) -> int:
    """How many processes are inside a jail beside its agent's own: one for each zygote, and the bridge to them."""
    link = jail._link
    expected = len(link._zygotes._connections) if isinstance(link, SocketLink) else 2
    wait_until(lambda: len(agents(jail)) == expected, 2.0)
    return len(agents(jail)) - expected


def hostile_files() -> list[str]:
    """Files on this machine that only a program that got out of its jail can have made."""
    return [str(path) for folder in _HOSTILE_FOLDERS for path in Path(folder).glob("livecut-hostile*")]


def end_jail(jail: Jail) -> None:
    """End a jail from outside, as an out-of-memory killer or an operator would."""
    for pid in agents(jail):
        os.kill(pid, signal.SIGKILL)


def end_enclosure(jail: Jail) -> None:
    """End what holds a jail, as an operator would: its container by another connection to the daemon, or bwrap."""
    enclosure = jail._enclosure
    if isinstance(enclosure, DockerEnclosure):
        remove(docker_client().containers.get(enclosure._container.id))
        return
    assert isinstance(enclosure, BubblewrapEnclosure)
    os.kill(enclosure._process.pid, signal.SIGKILL)


def cut_connections(judge: Judge) -> int:
    """Break the connections to the daemon that a judge keeps open; how many there were (none for bubblewrap)."""
    client = getattr(judge._launcher, "_client", None)
    if client is None:
        return 0
    cut = 0
    for adapter in client.api.adapters.values():
        pools = getattr(adapter, "pools", None)
        for pool in pools._container.values() if pools is not None else ():
            for connection in list(pool.pool.queue):
                if connection is not None and connection.sock is not None:
                    with contextlib.suppress(OSError):
                        connection.sock.shutdown(socket.SHUT_RDWR)
                        cut += 1
    return cut


def agents(jail: Jail) -> list[int]:
    """The pids, as this machine counts them, of what runs inside a jail."""
    enclosure = jail._enclosure
    if isinstance(enclosure, DockerEnclosure):
        return [int(row[1]) for row in enclosure._container.top()["Processes"]]
    assert isinstance(enclosure, BubblewrapEnclosure)
    return [pid for pid in _descendants(enclosure._process.pid) if _name(pid) not in ("bwrap", "")]


def wait_until(condition: Callable[[], bool], within_s: float) -> bool:
    """Whether the condition came true in time."""
    until = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        for child in _text(task / "children").split():
            found += [int(child), *_descendants(int(child))]
    return found


def _name(pid: int) -> str:
    return _text(Path(f"/proc/{pid}/comm")).strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


OWN_PID = os.getpid()
