"""What tests see of jails from outside: the processes, containers and folders of one command, and how to end a jail."""

from __future__ import annotations

import functools
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox import Judge
from sandbox.bubblewrap_jail import BubblewrapEnclosure
from sandbox.docker_jail import OWNER_LABEL, DockerEnclosure
from sandbox.jail import DIRECTORY_PREFIX, Jail

_HOSTILE_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", "/run")


@functools.cache
def docker_client() -> Any:
    """One connection to the daemon for all tests."""
    import docker

    return docker.from_env(timeout=60)


def running_jails(judge: Judge) -> list[Jail]:
    """The jails that a judge has at the moment."""
    return [worker._jail for worker in judge._workers if worker._jail is not None]


def folders(pid: int) -> list[Path]:
    """The private directories of a command's jails."""
    return list(Path(tempfile.gettempdir()).glob(f"{DIRECTORY_PREFIX}{pid}-*"))


def containers(pid: int) -> list[Any]:
    """A command's containers, running or not."""
    found = docker_client().containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True)
    return [container for container in found if container.labels[OWNER_LABEL].split("/")[-2] == str(pid)]


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


def processes(jail: Jail) -> list[str]:
    """The processes inside a jail, one line each: those of the agent and whatever a program left."""
    enclosure = jail._enclosure
    if isinstance(enclosure, DockerEnclosure):
        return [" ".join(row) for row in enclosure._container.top()["Processes"]]
    assert isinstance(enclosure, BubblewrapEnclosure)
    return [
        f"{pid} {_command_line(Path(f'/proc/{pid}'))[:60]!r}"
        for pid in _descendants(enclosure._process.pid)
        if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() != "bwrap"
    ]


def threads_settle(jail: Jail, expected: int, within_s: float = 2.0) -> list[str]:
    """The processes of the jail, looked at again until they are as many as expected or time is up."""
    until = time.monotonic() + within_s
    while len(found := processes(jail)) != expected and time.monotonic() < until:
        time.sleep(0.02)
    return found


def hostile_files() -> list[str]:
    """Files on this machine that only a program that got out of its jail can have made."""
    return [str(path) for folder in _HOSTILE_FOLDERS for path in Path(folder).glob("livecut-hostile*")]


def end_jail(jail: Jail) -> None:
    """End a jail from outside, as an out-of-memory killer or an operator would."""
    enclosure = jail._enclosure
    if isinstance(enclosure, DockerEnclosure):
        enclosure._container.kill()
    else:
        assert isinstance(enclosure, BubblewrapEnclosure)
        enclosure._process.kill()


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
        for child in (task / "children").read_text(encoding="ascii").split():
            found += [int(child), *_descendants(int(child))]
    return found


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


OWN_PID = os.getpid()
