"""The look at this machine that tests of hostile programs take: it sees what they would leave."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.mounts import DIRECTORY_PREFIX
from tests.sandbox import host, jails

MOUNTS = """\
258 54 0:45 / / ro,noatime master:3 - fuse.fuse-overlayfs fuse-overlayfs rw,user_id=0,group_id=0
259 258 0:67 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
274 258 0:110 / /tmp rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,size=65536k
275 258 254:0 /tmp/x/mount /run/live ro,relatime - ext4 /dev/vda rw,discard
"""


def test_a_mount_of_a_disk_that_can_be_written_to_is_seen() -> None:
    assert host.on_disk_and_writable(MOUNTS) == []
    assert host.on_disk_and_writable(MOUNTS.replace("/run/live ro", "/run/live rw")) == ["/run/live"]
    assert host.on_disk_and_writable(MOUNTS.replace("/ / ro", "/ / rw")) == ["/"]


def test_a_folder_that_stays_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_WAIT_S", 0.1)
    before = host.look()
    assert host.differences(before) == []
    with tempfile.TemporaryDirectory(prefix=f"{DIRECTORY_PREFIX}{jails.OWN_PID}-"):
        assert host.differences(before) == [f"folders: {before.folders}, then {before.folders + 1}"]


@pytest.mark.docker
def test_a_container_that_stays_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from sandbox.docker_jail import DockerLauncher

    monkeypatch.setattr(host, "_WAIT_S", 0.1)
    launcher = DockerLauncher()
    before = host.look()
    enclosure = launcher.launch(30_000)
    try:
        assert f"containers: {before.containers}, then {before.containers + 1}" in host.differences(before)
    finally:
        enclosure.close()
        launcher.close()


def _fills(monkeypatch: pytest.MonkeyPatch, free: Callable[[int], int]) -> list[str]:
    monkeypatch.setattr(host, "_WAIT_S", 0.0)
    monkeypatch.setattr("tests.sandbox.host.time.sleep", lambda _: None)
    before = host.Host(0, 0, 0, {1: 10 << 30})
    calls = iter(range(100))
    monkeypatch.setattr(host, "look", lambda: host.Host(0, 0, 0, {1: free(next(calls))}))
    monkeypatch.setattr(host, "_free_bytes", lambda: {1: free(next(calls))})
    return host.differences(before)


def test_a_disk_that_is_fuller_is_seen_unless_others_are_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _fills(monkeypatch, lambda call: 9 << 30) == ["free disk: 10240 MiB, then 9216 MiB"]
    assert _fills(monkeypatch, lambda call: (9 << 30) - (call << 25)) == []
    assert _fills(monkeypatch, lambda call: (10 << 30) - (1 << 20)) == []


def test_the_free_bytes_are_those_of_this_machine() -> None:
    free = host.look().free_bytes
    device = os.stat(tempfile.gettempdir()).st_dev
    state = os.statvfs(Path(tempfile.gettempdir()))
    assert abs(free[device] - state.f_bavail * state.f_frsize) < 1 << 30
