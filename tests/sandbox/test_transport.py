"""Jails that are reached in other ways or have other walls: the same verdicts, and nobody gets into the stream."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator

import pytest

from sandbox import Io, JailFault, Judge, Limits, Program, SandboxUnavailable, Suite, Test, Verdict, memory_files
from sandbox.agent import wire
from sandbox.docker_jail import DockerLauncher, UnprivilegedDockerLauncher
from sandbox.jail import Jail, Launcher
from sandbox.programs import MIB
from tests.sandbox import jails
from tests.sandbox.case_files import JudgeCase, judge_cases
from tests.sandbox.checker_cases import CheckerCase, checker_cases
from tests.sandbox.conftest import OTHER_EXECUTORS
from tests.sandbox.jails import StreamedDockerLauncher
from tests.sandbox.test_checking import skip_without

SMALL = Limits(cpu_s=2.0, memory_bytes=256 * MIB, output_bytes=2 * MIB)
ADD = Program("print(sum(map(int, input().split())))")
SUITE = Suite((Test("1", b"1 2\n", b"3\n"),), limits=SMALL)

# A program that tries each descriptor there can be, of its own and of others, with words of the protocol.
INTRUDER = Program(
    r"""
import os
words = b"\x06\x00\x2c\x00\x00\x00" + bytes(44)
reached = []
for number in [0, *range(3, 1024)]:
    try:
        os.write(number, words)
        reached.append(number)
    except OSError:
        pass
others = {1, 2, 3, 4, 5, os.getppid()} - {os.getpid()}
for path in [*(f"/proc/{pid}/fd/{number}" for pid in others for number in range(64)), "/dev/console", "/dev/tty"]:
    try:
        with open(path, "wb") as file:
            file.write(words)
        reached.append(path)
    except OSError:
        pass
assert not reached, reached
print(sum(map(int, input().split())))
"""
)


# What Landlock alone refuses, and gVisor does not have: listing /proc, where a test finds but itself, and reading the
# files of the image. There is nothing of another test's and nothing of the machine's among them.
OPEN_IN_GVISOR = {
    "list /proc, the agent's files and its own descriptors": {Verdict.WRONG_ANSWER},
    "read what is not the system's": {Verdict.WRONG_ANSWER},
    "search files, environments and command lines for the answer": {Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT},
    "leave 5,000 files": {Verdict.ACCEPTED, Verdict.TIME_LIMIT},  # each costs it a tenth of a millisecond and more
}

# Its pipes belong to who made them and cannot be given to all; and a validator may start later than a program takes.
OTHERWISE_IN_GVISOR = {
    "pipes that are opened again by name": {Verdict.RUNTIME_ERROR, Verdict.INTERNAL_ERROR},
    "rejected, and the program then takes no end": {Verdict.WRONG_ANSWER, Verdict.TIME_LIMIT},
}


@pytest.fixture(scope="session", params=OTHER_EXECUTORS)
def executor(request: pytest.FixtureRequest) -> str:
    """The name of each executor that the other tests leave out, in turn."""
    return str(request.param)


# --- the same verdicts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", judge_cases("verdicts", "stdin_forms", "calls"))
def test_the_verdict_does_not_depend_on_the_way(lone_judge: Judge, case: JudgeCase) -> None:
    outcome = lone_judge.judge(case.program, case.suite)
    assert outcome.verdict in case.verdicts, outcome
    assert case.detail_contains in outcome.detail


@pytest.mark.parametrize("case", judge_cases("hostile"))
def test_a_hostile_program_harms_nobody(lone_judge: Judge, executor: str, case: JudgeCase) -> None:
    outcome = lone_judge.judge(case.program, case.suite)
    following = lone_judge.judge(ADD, SUITE)
    right = OPEN_IN_GVISOR.get(case.name, case.verdicts) if executor == "gvisor" else case.verdicts
    assert outcome.verdict in right, outcome
    assert following.verdict is Verdict.ACCEPTED, following
    assert jails.hostile_files() == []


@pytest.mark.parametrize("case", checker_cases("interaction"))
def test_a_conversation_does_not_depend_on_the_way(lone_judge: Judge, executor: str, case: CheckerCase) -> None:
    skip_without(lone_judge, case.languages)
    outcome = lone_judge.judge(case.program, case.suite)
    if executor == "gvisor" and case.name in OTHERWISE_IN_GVISOR:
        assert outcome.verdict in OTHERWISE_IN_GVISOR[case.name], outcome
    else:
        assert outcome.verdict is case.verdict, outcome
        assert outcome.score == case.score
        assert case.transcript_contains in outcome.tests[-1].transcript
    assert lone_judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED


def test_no_test_gets_into_the_stream(judge: Judge) -> None:
    for _ in range(3):
        outcome = judge.judge(INTRUDER, SUITE)
        assert outcome.verdict is Verdict.ACCEPTED, outcome


def test_all_bytes_come_through(judge: Judge) -> None:
    text = bytes(range(256)) * 4096 + b"\x10\x11"  # with the keys that detach a terminal among them
    program = Program("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())")
    suite = Suite((Test("1", text, text), Test("2", b"", b""), Test("3", text[::-1], text[::-1])), limits=SMALL)
    assert judge.judge(program, suite).verdict is Verdict.ACCEPTED


def test_a_call_goes_to_its_own_zygote(judge: Judge) -> None:
    suite = Suite((Test("1", b"[1, 2]", b"3"), Test("2", b"[4]", b"4")), Io.FUNCTION, "f", limits=SMALL)
    assert judge.judge(Program("def f(a):\n    return reduce(add, a)"), suite).verdict is Verdict.ACCEPTED


# --- what breaks -------------------------------------------------------------------------------------------------


def test_a_jail_that_is_ended_amid_a_test_is_replaced(own_judge: Judge) -> None:
    own_judge.judge(ADD, SUITE)
    jail = jails.running_jails(own_judge)[0]
    timer = threading.Timer(0.5, jails.end_enclosure, (jail,))
    timer.start()
    slow = Program("import time\ntime.sleep(2)\nprint(sum(map(int, input().split())))")
    started = time.monotonic()
    outcome = own_judge.judge(slow, SUITE)
    timer.join()
    assert outcome.verdict is Verdict.ACCEPTED
    assert time.monotonic() - started < 15
    assert jails.running_jails(own_judge) != [jail]


@contextlib.contextmanager
def a_jail(launcher: Launcher, uid_base: int) -> Iterator[Jail]:
    jail = Jail(launcher, uid_base)
    try:
        yield jail
    finally:
        jail.close()


@pytest.fixture
def streamed() -> Iterator[DockerLauncher]:
    launcher = StreamedDockerLauncher()
    yield launcher
    launcher.close()


def run_request(**details: object) -> wire.Request:
    """A RUN of a Python program."""
    return wire.Request(wire.RUN, False, 5.0, 10.0, 256 * MIB, 4 * MIB, details)


class Run:
    """What goes with a request of one program; descriptors of its own."""

    def __init__(self, source: str, stdin: int, stdout: int) -> None:
        self.stderr = memory_files.empty()
        self.fds = [stdin, stdout, self.stderr, memory_files.sealed(source.encode()), memory_files.empty()]

    def close(self) -> None:
        for fd in self.fds:
            with contextlib.suppress(OSError):
                os.close(fd)


@pytest.mark.docker
def test_a_container_that_is_gone_is_a_fault_at_once(streamed: DockerLauncher) -> None:
    with a_jail(streamed, 20_000) as jail:
        run = Run("import time\ntime.sleep(60)", memory_files.sealed(b""), memory_files.empty())
        jail.begin(run_request(), run.fds)
        threading.Timer(0.3, jails.end_enclosure, (jail,)).start()
        started = time.monotonic()
        with pytest.raises(JailFault, match="the jail ended"):
            jail.finish(run_request())
        assert time.monotonic() - started < 10
        run.close()


@pytest.mark.docker
def test_the_end_of_the_connection_ends_the_container(streamed: DockerLauncher) -> None:
    with a_jail(streamed, 21_000) as jail:
        container = jail._enclosure._container  # type: ignore[attr-defined]
        assert [found.id for found in jails.containers(jails.OWN_PID) if found.id == container.id]
        jail.interrupt()
        assert jails.wait_until(
            lambda: container.id not in [found.id for found in jails.containers(jails.OWN_PID)], within_s=10
        )


@pytest.mark.docker
def test_the_last_words_of_an_agent_that_dies_are_told(
    streamed: DockerLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.docker_jail.streamed_files", lambda: (9).to_bytes(8, "big") + b"\xe9" + bytes(8))
    with pytest.raises(JailFault, match=r"the jail ended: .*Error: "):
        Jail(streamed, 22_000)


@pytest.mark.docker
def test_a_daemon_elsewhere_is_reached_by_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "ssh://nobody@127.0.0.1:1")
    with pytest.raises(SandboxUnavailable) as caught:
        DockerLauncher()
    assert "ssh" in caught.value.message + caught.value.hint


@pytest.mark.docker
def test_a_jail_without_a_capability_has_none() -> None:
    launcher = UnprivilegedDockerLauncher()
    try:
        with a_jail(launcher, 23_000) as jail:
            settings = jails.docker_client().containers.get(jail._enclosure._container.id).attrs  # type: ignore[attr-defined]
            assert settings["HostConfig"]["CapDrop"] == ["ALL"]
            assert not settings["HostConfig"]["CapAdd"]
            assert settings["Config"]["User"] == "23000:23000"
    finally:
        launcher.close()


# --- two at once -------------------------------------------------------------------------------------------------

GUESSER = """
low, high = 1, 10**6
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    answer = input()
    if answer == "right":
        break
    if answer == "more":
        low = middle + 1
    else:
        high = middle - 1
"""
KEEPER = """
import sys
secret, asked = 777_777, 0
while True:
    guess = int(input())
    asked += 1
    if guess == secret:
        print("right", flush=True)
        break
    print("more" if guess < secret else "less", flush=True)
sys.stderr.write(str(asked))
"""
TALKER = "import sys\nfor _ in range(200):\n    sys.stdout.buffer.write(bytes(range(250)) * 40)\n"
LISTENER = "import sys\nsys.stderr.write(str(len(sys.stdin.buffer.read())))\n"
DEAF = "import time\ntime.sleep(1)\n"


def talk(first: Jail, one: str, second: Jail, other: str) -> tuple[wire.Reply, wire.Reply, bytes, bytes]:
    """Run two programs joined by pipes in two jails; their replies, and what each wrote to standard error."""
    to_first, to_second = os.pipe(), os.pipe()
    runs = [Run(one, to_first[0], to_second[1]), Run(other, to_second[0], to_first[1])]
    request = run_request()
    try:
        first.begin(request, runs[0].fds)
        second.begin(request, runs[1].fds)
        for run in runs:  # as the caller of a jail may: or neither would see the other's end
            os.close(run.fds[wire.STDIN])
            os.close(run.fds[wire.STDOUT])
            run.fds = run.fds[wire.STDERR :]
        replies = first.finish(request), second.finish(request)
        said = [memory_files.content(run.stderr, 4096) for run in runs]
    finally:
        for run in runs:
            run.close()
    return *replies, *said  # type: ignore[return-value]


@pytest.fixture(params=["both streamed", "one streamed"])
def two_jails(request: pytest.FixtureRequest, streamed: DockerLauncher) -> Iterator[tuple[Jail, Jail]]:
    plain = DockerLauncher()
    second = streamed if request.param == "both streamed" else plain
    with a_jail(streamed, 24_000) as one, a_jail(second, 25_000) as two:
        yield one, two
    plain.close()


@pytest.mark.docker
def test_two_programs_talk_through_pipes(two_jails: tuple[Jail, Jail]) -> None:
    for _ in range(3):
        one, two, said, asked = talk(two_jails[0], GUESSER, two_jails[1], KEEPER)
        assert (one.wait_status, two.wait_status, said) == (0, 0, b"")
        assert 1 <= int(asked) <= 20


@pytest.mark.docker
def test_what_one_writes_the_other_reads_to_the_end(two_jails: tuple[Jail, Jail]) -> None:
    one, two = two_jails
    assert talk(one, TALKER, two, LISTENER)[3] == b"2000000"
    assert talk(one, LISTENER, two, TALKER)[2] == b"2000000"


@pytest.mark.docker
def test_who_writes_to_one_that_has_ended_is_told(two_jails: tuple[Jail, Jail]) -> None:
    replies = talk(two_jails[0], DEAF, two_jails[1], TALKER)
    assert replies[0].wait_status == 0
    assert b"BrokenPipeError" in replies[3]
    # The jails are as good as before.
    assert talk(two_jails[0], TALKER, two_jails[1], LISTENER)[3] == b"2000000"
