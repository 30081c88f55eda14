"""The judge itself: what it refuses, what it gives back, and what it does when its jails break."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import (
    Job,
    Judge,
    Limits,
    Program,
    SandboxError,
    SandboxUnavailable,
    Suite,
    Test,
    UnknownLanguage,
    Verdict,
)
from sandbox.docker_jail import DockerLauncher
from sandbox.jail import Jail
from sandbox.programs import MIB, Io
from tests.sandbox import jails

SMALL = Limits(cpu_s=1.0, memory_bytes=128 * MIB, output_bytes=MIB)
ADD = Program("print(sum(map(int, input().split())))")
SUITE = Suite((Test("1", b"1 2\n", b"3\n"), Test("2", b"2 2\n", b"4\n"), Test("3", b"5 0\n", b"5\n")), limits=SMALL)
ONE = Suite((Test("1", b"", b"1\n"),), limits=SMALL)
SLOW = Program("import time\ntime.sleep(0.6)\nprint(1)")


def busy(cpu_s: float) -> Program:
    """A program that uses so much CPU time, then prints 1."""
    return Program(f"import time\nwhile time.process_time() < {cpu_s}:\n    pass\nprint(1)")


# --- what it gives back ------------------------------------------------------------------------------------------


def test_an_outcome_ends_at_the_first_failure(judge: Judge) -> None:
    outcome = judge.judge(Program("input()\nprint(4)"), SUITE)
    assert outcome.verdict is Verdict.WRONG_ANSWER
    assert [result.name for result in outcome.tests] == ["1"]


def test_all_tests_run_when_all_are_asked_for(judge: Judge) -> None:
    outcome = judge.judge(Program("input()\nprint(4)"), SUITE, run_all=True)
    assert outcome.verdict is Verdict.WRONG_ANSWER
    assert outcome.detail.startswith("1: token 1")
    assert [str(result.verdict) for result in outcome.tests] == ["wrong_answer", "accepted", "wrong_answer"]


def test_a_compile_error_is_said_once(judge: Judge) -> None:
    outcome = judge.judge(Program("print("), SUITE, run_all=True)
    assert [result.verdict for result in outcome.tests] == [Verdict.COMPILE_ERROR]


def test_each_test_has_its_facts(judge: Judge) -> None:
    outcome = judge.judge(ADD, SUITE)
    for result in outcome.tests:
        assert result.facts is not None
        assert 0 < result.facts.cpu_s < 1
        assert result.facts.wall_s > 0
        assert 4 * MIB < result.facts.peak_memory_bytes < 64 * MIB
        assert result.facts.output_bytes == 2
        assert result.as_dict()["verdict"] == "accepted"


def test_a_test_may_have_a_comparison_of_its_own(judge: Judge) -> None:
    from sandbox import Comparison

    loose = Test("2", b"1 2\n", b"3.5\n", Comparison(absolute_tolerance=1.0))
    suite = Suite((Test("1", b"1 2\n", b"3\n"), loose, Test("3", b"1 2\n", b"3.5\n")), limits=SMALL)
    outcome = judge.judge(ADD, suite, run_all=True)
    assert [str(result.verdict) for result in outcome.tests] == ["accepted", "accepted", "wrong_answer"]


def test_the_judge_does_not_grow_with_the_program(judge: Judge) -> None:
    before = memory_kib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from now on
    outcome = judge.judge(Program("print('x' * (200 << 20))"), Suite(SUITE.tests, limits=Limits(2.0, 512 * MIB, MIB)))
    assert outcome.verdict is Verdict.OUTPUT_LIMIT
    assert memory_kib("VmHWM") - before < 32 * 1024


def memory_kib(name: str) -> int:
    """A figure of this process's memory."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name))


def test_an_unknown_language_is_refused(judge: Judge) -> None:
    program = Program("main :- write(3).", "prolog")
    with pytest.raises(UnknownLanguage, match=r"no language 'prolog'; there are: .*python3"):
        judge.judge(program, SUITE)
    with pytest.raises(UnknownLanguage):
        list(judge.map([Job(1, program, SUITE)]))


def test_an_unknown_executor_is_refused() -> None:
    with pytest.raises(SandboxUnavailable, match="no executor 'chroot'") as caught:
        Judge("chroot")
    assert "docker" in caught.value.hint


@pytest.mark.parametrize("test", [Test("1", b"[1,", b"1"), Test("1", b"1", b"[1,"), Test("1", b"\xff", b"1")])
def test_a_call_based_test_that_is_no_json_is_never_the_programs_fault(judge: Judge, test: Test) -> None:
    try:
        outcome = judge.judge(Program("def f(a):\n    return a"), Suite((test,), Io.FUNCTION, "f", limits=SMALL))
    except ValueError:
        return
    assert outcome.verdict is Verdict.INTERNAL_ERROR


def test_the_environment_is_known_by_its_digest(judge: Judge, executor: str) -> None:
    environment = judge.environment
    assert environment.executor == executor
    assert len(environment.digest) == 64
    assert environment.details["python"].startswith("3.")
    assert environment.details["variables"]["TZ"] == "UTC"
    with Judge(executor, jobs=1) as other:
        assert other.environment.digest == environment.digest


# --- many at once ------------------------------------------------------------------------------------------------


def test_map_gives_each_key_once_in_any_order(judge: Judge) -> None:
    keys = list(range(40))
    random.Random(1).shuffle(keys)
    jobs = [
        Job(key, Program(f"print({key} % 3)"), Suite((Test("1", b"", b"%d\n" % (key % 2)),), limits=SMALL))
        for key in keys
    ]
    outcomes = list(judge.map(jobs))
    assert sorted(key for key, _ in outcomes) == sorted(keys)
    for key, outcome in outcomes:
        assert (outcome.verdict is Verdict.ACCEPTED) == (key % 3 == key % 2)


def test_map_of_nothing_is_nothing(judge: Judge) -> None:
    assert list(judge.map([])) == []


def test_map_draws_jobs_as_workers_get_free(judge: Judge) -> None:
    drawn = []

    def jobs() -> Iterator[Job[int]]:
        for key in range(30):
            drawn.append(key)
            yield Job(key, Program("print(1)"), ONE)

    outcomes = judge.map(jobs())
    next(outcomes)
    outcomes_left = len(list(outcomes))
    assert outcomes_left == 29
    assert drawn == list(range(30))


def test_map_raises_what_the_jobs_raise_after_the_outcomes_before_it(judge: Judge) -> None:
    def jobs() -> Iterator[Job[int]]:
        yield Job(1, Program("print(1)"), ONE)
        raise RuntimeError("the store is gone")

    outcomes = judge.map(jobs())
    assert next(outcomes)[0] == 1
    with pytest.raises(RuntimeError, match="the store is gone"):
        next(outcomes)


def test_a_map_given_up_midway_spoils_no_later_verdict(judge: Judge) -> None:
    jobs = [
        Job(0, Program("print(1)"), ONE),
        *(Job(key, Program(f"{SLOW.source}\nprint(2)"), ONE) for key in range(1, 6)),
    ]
    for _ in judge.map(jobs):
        break
    for _ in range(5):
        assert judge.judge(Program("print(1)"), ONE).verdict is Verdict.ACCEPTED
    assert {str(outcome.verdict) for _, outcome in judge.map(jobs[:3])} == {"accepted", "wrong_answer"}


def test_two_threads_may_use_one_judge(judge: Judge) -> None:
    wrong = []

    def work(number: int) -> None:
        suite = Suite((Test("1", b"%d\n" % number, b"%d\n" % number),), limits=SMALL)
        for _ in range(10):
            outcome = judge.judge(Program("print(input())"), suite)
            if outcome.verdict is not Verdict.ACCEPTED:
                wrong.append(outcome)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_jails_of_one_map_serve_the_next(judge: Judge) -> None:
    jobs = [Job(key, Program("print(1)"), ONE) for key in range(12)]
    list(judge.map(jobs))
    before = jails.running_jails(judge)
    list(judge.map(jobs))
    assert jails.running_jails(judge) == before
    assert [jail._enclosure.describe_end() for jail in before] == [""] * len(before)


def test_a_fast_program_is_accepted_every_time(judge: Judge) -> None:
    fast = Program("import os\nos.write(1, b'1\\n')\nos._exit(0)")
    verdicts = [outcome.verdict for _, outcome in judge.map(Job(key, fast, ONE) for key in range(300))]
    assert verdicts == [Verdict.ACCEPTED] * 300


def test_load_does_not_change_verdicts(judge: Judge) -> None:
    suite = Suite(ONE.tests, limits=Limits(cpu_s=0.5, memory_bytes=128 * MIB))
    programs = [busy(0.3), busy(0.35), busy(0.3), busy(2.0), busy(0.3), busy(0.35)]
    alone = [judge.judge(program, suite).verdict for program in programs[:4]]
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        loaded = dict(judge.map(Job(index, program, suite) for index, program in enumerate(programs)))
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert alone == [Verdict.ACCEPTED] * 3 + [Verdict.TIME_LIMIT]
    assert [index for index, outcome in sorted(loaded.items()) if outcome.verdict is not Verdict.ACCEPTED] == [3]


def test_a_time_limit_near_the_limit_is_measured_again_alone(judge: Judge) -> None:
    outcome = judge.judge(busy(0.53), Suite(ONE.tests, limits=Limits(cpu_s=0.5, memory_bytes=128 * MIB)))
    assert outcome.verdict is Verdict.TIME_LIMIT
    assert outcome.tests[0].confirmed


# --- when jails break --------------------------------------------------------------------------------------------


def _ending_jails_of(judge: Judge, times: int) -> threading.Thread:
    """A thread that ends the judge's only jail, and each that takes its place, while a test runs in it."""

    ended: list[Jail] = []

    def fresh() -> list[Jail]:
        return [jail for jail in jails.running_jails(judge) if jail not in ended]

    def end() -> None:
        for _ in range(times):
            if jails.wait_until(lambda: bool(fresh()), 20):
                time.sleep(0.2)
                ended.extend(fresh())
                jails.end_jail(ended[-1])

    thread = threading.Thread(target=end)
    thread.start()
    return thread


def test_a_test_whose_jail_ends_is_run_again(own_judge: Judge) -> None:
    thread = _ending_jails_of(own_judge, 1)
    outcome = own_judge.judge(SLOW, ONE)
    thread.join()
    assert outcome.verdict is Verdict.ACCEPTED, outcome
    assert own_judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED


def test_a_jail_that_ended_between_two_programs_is_replaced(own_judge: Judge) -> None:
    jails.end_jail(jails.running_jails(own_judge)[0])
    assert own_judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED


def test_a_jail_that_ended_between_two_calls_is_replaced(own_judge: Judge) -> None:
    suite = Suite((Test("1", b"1", b"1"), Test("2", b"2", b"2")), Io.FUNCTION, "f", limits=SMALL)
    echo = Program("def f(a):\n    return a")
    assert own_judge.judge(echo, suite).verdict is Verdict.ACCEPTED
    jails.end_jail(jails.running_jails(own_judge)[0])
    assert own_judge.judge(echo, suite).verdict is Verdict.ACCEPTED


def test_jails_that_end_again_and_again_are_an_internal_error(own_judge: Judge) -> None:
    thread = _ending_jails_of(own_judge, 3)
    outcome = own_judge.judge(SLOW, ONE)
    thread.join()
    assert outcome.verdict is Verdict.INTERNAL_ERROR, outcome
    assert outcome.tests[0].facts is None
    assert "jail" in outcome.detail
    assert own_judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED


def test_when_no_jail_can_be_had_any_more_there_is_no_verdict(
    own_judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(uid_base: int) -> None:
        raise SandboxUnavailable("Docker does not answer", "start Docker")

    assert own_judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED
    monkeypatch.setattr(own_judge._launcher, "launch", refuse)
    jails.end_jail(jails.running_jails(own_judge)[0])
    with pytest.raises(SandboxUnavailable, match="Docker does not answer"):
        own_judge.judge(ADD, SUITE)
    with pytest.raises(SandboxUnavailable, match="Docker does not answer"):
        list(own_judge.map([Job(1, ADD, SUITE)]))


# --- what is not there -------------------------------------------------------------------------------------------


@pytest.mark.docker
def test_an_image_that_is_not_there_is_said_plainly() -> None:
    with pytest.raises(SandboxUnavailable, match=r"the sandbox image is not there: .*nope:1") as caught:
        DockerLauncher("nope:1")
    assert "make image" in caught.value.hint


@pytest.mark.parametrize("address", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:1"])
def test_a_daemon_that_does_not_answer_is_said_plainly(address: str, root: Path) -> None:
    script = (
        "from sandbox import Judge, SandboxUnavailable\n"
        "try:\n    Judge('docker')\n"
        "except SandboxUnavailable as error:\n    print(error.message, '|', error.hint)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root,
        env={**os.environ, "DOCKER_HOST": address},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    message, _, hint = answer.stdout.strip().partition(" | ")
    assert message.startswith("Docker does not answer")
    assert "--executor bubblewrap" in hint
    assert "\n" not in message


@pytest.mark.bubblewrap
def test_auto_takes_bubblewrap_where_no_daemon_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with Judge("auto", jobs=1) as judge:
        assert judge.environment.executor == "bubblewrap"
        assert judge.judge(ADD, SUITE).verdict is Verdict.ACCEPTED


def test_auto_says_why_nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxUnavailable, match=r"nothing here can run programs.*Docker.*bubblewrap") as caught:
        Judge("auto")
    assert "apt-get install bubblewrap" in caught.value.hint


def test_a_closed_judge_leaves_nothing(executor: str) -> None:
    with Judge(executor, jobs=2) as judge:
        list(judge.map([Job(key, ADD, SUITE) for key in range(4)]))
        kept = set(map(str, jails.left_by(jails.OWN_PID)))
        own = {jails.folder_of(jail) for jail in jails.running_jails(judge)}
    assert kept
    assert not own & set(jails.folders(jails.OWN_PID))


def test_closing_in_the_middle_of_a_map_leaves_nothing(executor: str) -> None:
    before = len(jails.left_by(jails.OWN_PID))
    judge = Judge(executor, jobs=2)
    outcomes = judge.map([Job(key, SLOW, SUITE) for key in range(6)])
    next(outcomes)
    started = time.monotonic()
    judge.close()
    assert time.monotonic() - started < 15
    assert jails.wait_until(lambda: len(jails.left_by(jails.OWN_PID)) <= before, 10), jails.left_by(jails.OWN_PID)
    time.sleep(0.5)
    assert len(jails.left_by(jails.OWN_PID)) <= before


def test_errors_of_the_sandbox_carry_a_hint() -> None:
    assert (SandboxError("what", "do this").message, SandboxError("what").hint) == ("what", "")
    assert str(SandboxError("what", "do this")) == "what"
