"""What is left on the machine: nothing, whatever became of the command (cases C03, C11, C12 of the reports)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Job, Judge, Limits, Program, Suite, Test, Verdict
from sandbox.programs import MIB
from tests.sandbox import jails

ONE = Suite((Test("1", b"", b"1\n"),), limits=Limits(cpu_s=1.0, memory_bytes=128 * MIB))

# A command that judges twenty sleepers and says when it has begun.
_COMMAND = """
import sys
from sandbox import Job, Judge, Limits, Program, Suite, Test
suite = Suite((Test("1", b"", b"1\\n"),), limits=Limits(cpu_s=30))
def jobs():
    for key in range(20):
        if key == 3:  # both workers have judged a short one
            print("judging", flush=True)
        yield Job(key, Program("print(1)" if key < 2 else "import time; time.sleep(60)"), suite)
with Judge(sys.argv[1], jobs=2) as judge:
    for _ in judge.map(jobs()):
        pass
"""


@pytest.fixture
def command(executor: str, root: Path) -> Iterator[subprocess.Popen[str]]:
    """A running command of this executor, in the middle of its work."""
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMAND, executor],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "judging\n"
            yield process
        finally:
            process.kill()


def test_the_next_command_removes_what_a_killed_one_left(command: subprocess.Popen[str], executor: str) -> None:
    assert jails.wait_until(lambda: len(jails.folders(command.pid)) == 2, 5)
    command.kill()
    command.wait()
    assert jails.folders(command.pid)
    with Judge(executor, jobs=1) as judge:
        assert judge.judge(Program("print(1)"), ONE).verdict is Verdict.ACCEPTED
        assert jails.left_by(command.pid) == []


def test_a_jail_ends_by_itself_when_its_command_is_killed(command: subprocess.Popen[str], executor: str) -> None:
    running = jails.bubblewraps if executor == "bubblewrap" else lambda pid: len(jails.containers(pid)) * [0]
    assert running(command.pid)
    command.kill()
    command.wait()
    assert jails.wait_until(lambda: not running(command.pid), 10)


def test_an_interrupted_command_leaves_nothing(command: subprocess.Popen[str]) -> None:
    started = time.monotonic()
    command.send_signal(signal.SIGINT)
    command.wait(timeout=30)
    assert time.monotonic() - started < 20
    assert jails.left_by(command.pid) == []


def test_containers_of_a_running_command_are_left_alone(command: subprocess.Popen[str], executor: str) -> None:
    before = set(map(str, jails.left_by(command.pid)))
    with Judge(executor, jobs=1) as judge:
        assert judge.judge(Program("print(1)"), ONE).verdict is Verdict.ACCEPTED
    assert before
    assert before <= set(map(str, jails.left_by(command.pid)))  # its second jail may have come only then


@pytest.mark.parametrize("source", ["while True:\n    pass", "import time\ntime.sleep(1000)"], ids=["loop", "sleeper"])
def test_an_endless_program_is_over_two_seconds_after_its_limit(judge: Judge, source: str) -> None:
    """In CPU time for what computes: how long that takes is up to the machine. A run that slept is run once more."""
    outcome = judge.judge(Program(source), Suite(ONE.tests, limits=Limits(cpu_s=1.0)))
    assert outcome.verdict is Verdict.TIME_LIMIT
    facts = outcome.tests[0].facts
    assert facts is not None
    assert (facts.wall_s if outcome.tests[0].idle else facts.cpu_s) < 3.5
    assert not any(jails.strangers(jail) for jail in jails.running_jails(judge))


def test_a_jail_that_is_stuck_is_ended_all_the_same(own_judge: Judge) -> None:
    agents = jails.agents(jails.running_jails(own_judge)[0])
    for pid in agents:
        os.kill(pid, signal.SIGSTOP)
    own_judge.close()
    try:
        assert jails.wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in agents), 5)
    finally:
        for pid in agents:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.docker
def test_no_network_is_made_for_submissions() -> None:
    before = sorted(network.id for network in jails.docker_client().networks.list())
    with Judge("docker", jobs=2) as judge:
        verdicts = [
            outcome.verdict for _, outcome in judge.map(Job(key, Program("print(1)"), ONE) for key in range(60))
        ]
        during = sorted(network.id for network in jails.docker_client().networks.list())
        settings = [container.attrs["HostConfig"] for container in jails.containers(jails.OWN_PID)]
    assert verdicts == [Verdict.ACCEPTED] * 60
    assert before == during
    assert {setting["NetworkMode"] for setting in settings} == {"none"}


@pytest.mark.docker
def test_a_container_has_its_walls() -> None:
    with Judge("docker", jobs=1):
        settings = jails.containers(jails.OWN_PID)[-1].attrs["HostConfig"]
    assert settings["ReadonlyRootfs"]
    assert not settings["Privileged"]
    assert settings["CapDrop"] == ["ALL"]
    assert set(settings["CapAdd"]) <= {"SETUID", "SETGID", "KILL", "CAP_SETUID", "CAP_SETGID", "CAP_KILL"}
    assert "no-new-privileges:true" in settings["SecurityOpt"]
    assert settings["IpcMode"] == "none"
    assert settings["LogConfig"]["Type"] == "none"
    assert 0 < settings["PidsLimit"] <= 256
    assert settings["Memory"] > 0
    assert settings["Memory"] == settings["MemorySwap"]
