"""Parts of the process that watches tests, by themselves: how long it waits, what it fetches of what a test left."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import memory_files
from sandbox.agent import execution, zygote
from sandbox.agent.isolation import Landlock, Seccomp
from sandbox.agent.zygote import Zygote, _Patience

STEP_S = 0.01


def ended_at(wall_kill_s: float, work_s: float, period_s: float, first_s: float = 0.0) -> float:
    """When a process is ended that computes ``first_s``, then ``work_s`` at the beginning of each period."""
    patience = _Patience(0, wall_kill_s)
    now_s = cpu_s = 0.0
    while not patience.is_over(int(now_s * 1e9), cpu_s):
        now_s += STEP_S
        cpu_s += STEP_S if now_s < first_s or now_s % period_s < work_s else 0
    return now_s


@pytest.mark.parametrize(
    ("work_s", "period_s", "first_s", "within"),
    [
        (0.0, 1.0, 0.0, (3.0, 3.1)),  # it sleeps
        (0.02, 0.42, 0.0, (3.0, 3.1)),  # 5 % of a core: hardly more than sleep
        (0.0, 1.0, 2.9, (3.0, 4.1)),  # it computed, then sleeps
        (0.2, 0.4, 0.0, (18.0, 18.1)),  # half a core, such as a busy machine leaves it: six times as long
        (1.0, 1.0, 0.0, (18.0, 18.1)),
    ],
)
def test_wall_time_ends_what_sleeps(
    work_s: float, period_s: float, first_s: float, within: tuple[float, float]
) -> None:
    earliest, latest = within
    assert earliest <= ended_at(3.0, work_s, period_s, first_s) <= latest


@pytest.fixture
def swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Zygote]:
    """A zygote whose scratch folder is the test's."""
    monkeypatch.setattr(zygote, "SCRATCH", str(tmp_path))
    monkeypatch.setattr(execution, "SCRATCH", str(tmp_path))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        made = Zygote(ours, Landlock(), Seccomp(os.uname().machine), None)
        made._progress, made._report = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        yield made
        os.close(made._progress)
        os.close(made._report)


def test_what_a_test_left_is_fetched_whole_and_the_folder_is_empty_then(swept: Zygote, tmp_path: Path) -> None:
    (tmp_path / "product").write_bytes(bytes(3 << 20))
    target = memory_files.empty()
    assert swept._sweep(None, [("product", target), ("nowhere", target)], 1 << 30) == (True, True)
    assert memory_files.size(target) == 3 << 20
    assert list(tmp_path.iterdir()) == []
    os.close(target)


def test_what_could_not_be_fetched_whole_is_told_of(swept: Zygote, tmp_path: Path) -> None:
    (tmp_path / "product").write_bytes(b"x")
    full = os.open("/dev/full", os.O_WRONLY)
    assert swept._sweep(None, [("product", full)], 1 << 30) == (False, False)
    os.close(full)


def test_a_fetch_that_takes_too_long_is_told_of(swept: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zygote, "_SWEEP_S", 0.2)
    (tmp_path / "product").write_bytes(bytes(1 << 20))
    reading, writing = os.pipe()  # holds less, and nobody reads
    assert swept._sweep(None, [("product", writing)], 1 << 30) == (False, False)
    os.close(reading)
    os.close(writing)
