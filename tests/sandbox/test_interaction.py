"""Interactive problems: a program and a validator that talk, what is kept of it, and which of them decides."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace

import pytest

from sandbox import Judge, Limits, Program, Suite, Test, Verdict
from sandbox.programs import MIB, Checker, Io
from sandbox.transcripts import READ, WRITTEN, Transcript
from tests.sandbox import jails
from tests.sandbox.checker_cases import CheckerCase, checker_cases
from tests.sandbox.test_checking import skip_without
from tests.sandbox.test_hostile import AFTERWARDS, PLAIN_SUITE, assert_nothing_left

SMALL = Limits(cpu_s=1.0, memory_bytes=256 * MIB, output_bytes=MIB)
DOES = Checker(Program("import os, sys, time\nexec(open(sys.argv[2]).read())"), limits=replace(SMALL, cpu_s=5.0))
HEARS = b"sys.exit(42 if sys.stdin.readline() == 'yes\\n' else 43)"


def interactive(*answers: bytes, limits: Limits = SMALL) -> Suite:
    tests = tuple(Test(str(number), b"", answer) for number, answer in enumerate(answers, start=1))
    return Suite(tests, Io.INTERACTIVE, checker=DOES, limits=limits)


@pytest.mark.parametrize("case", checker_cases("interaction"))
def test_a_conversation(judge: Judge, case: CheckerCase) -> None:
    skip_without(judge, case.languages)
    outcome = judge.judge(case.program, case.suite)
    following = judge.judge(AFTERWARDS, PLAIN_SUITE)
    assert outcome.verdict is case.verdict, outcome
    assert case.detail_contains in outcome.detail
    assert outcome.score == case.score
    last = outcome.tests[-1]
    assert case.transcript_contains in last.transcript
    assert len(last.transcript) < 70_000
    assert last.facts is not None
    assert (last.checker is None) == (outcome.verdict is Verdict.COMPILE_ERROR)
    assert following.verdict is Verdict.ACCEPTED, following
    assert_nothing_left(judge)


def test_two_that_wait_for_each_other_are_not_run_a_second_time(judge: Judge) -> None:
    suite = interactive(HEARS, limits=Limits(cpu_s=1.0, wall_s=1.0))
    outcome = judge.judge(Program("input()"), suite)
    result = outcome.tests[0]
    assert (outcome.verdict, result.idle, result.confirmed) == (Verdict.TIME_LIMIT, True, False)


def test_a_program_that_was_ended_while_its_validator_worked_is_run_again(judge: Judge) -> None:
    works = b"""
until = time.process_time() + 0.8
while time.process_time() < until: pass
print("go", flush=True)
sys.exit(42 if sys.stdin.readline() == 'go\\n' else 43)
"""
    outcome = judge.judge(Program("print(input())"), interactive(works, limits=Limits(cpu_s=0.3, wall_s=0.4)))
    assert (outcome.verdict, outcome.tests[0].confirmed) == (Verdict.ACCEPTED, True), outcome


def test_facts_of_both_processes_are_kept(judge: Judge) -> None:
    program = Program(
        "import time\nwhile time.process_time() < 0.2: pass\nprint('yes', flush=True)\nx = bytearray(60 << 20)"
    )
    result = judge.judge(program, interactive(HEARS)).tests[0]
    assert result.facts is not None
    assert result.checker is not None
    assert 0.2 <= result.facts.cpu_s < 0.8
    assert result.checker.cpu_s < 0.2
    assert result.facts.output_bytes == 4
    assert result.facts.peak_memory_bytes > 60 * MIB > result.checker.peak_memory_bytes
    assert result.checker.exit_code == 42
    stored = result.as_dict()
    assert stored["transcript"] == "> yes\n"
    assert stored["checker"]["exit_code"] == 42
    assert stored["facts"]["exit_code"] == 0


def test_a_program_sees_nothing_of_the_input_and_the_answer(judge: Judge) -> None:
    search = Program(
        """
import os
found = []
for fd in range(3, 64):
    try:
        found.append(os.pread(fd, 100, 0))
    except OSError:
        pass
for folder in ("/tmp", "/run/live", "/dev/shm", "/proc"):
    try:
        found += os.listdir(folder)
    except OSError:
        pass
print("yes" if not found else found)
"""
    )
    assert judge.judge(search, interactive(HEARS, HEARS)).verdict is Verdict.ACCEPTED


def test_many_turns_are_quick(judge: Judge) -> None:
    """A turn takes well under a millisecond, so that thousands of them leave a program its time."""
    echo = b"""
for line in iter(sys.stdin.readline, ""):
    print(line, end="", flush=True)
sys.exit(42)
"""
    program = Program("for n in range(3000):\n    print(n, flush=True)\n    assert int(input()) == n")
    result = judge.judge(program, interactive(echo)).tests[0]
    assert result.verdict is Verdict.ACCEPTED, result
    assert result.facts is not None
    assert result.facts.cpu_s < 0.5
    assert result.transcript.startswith("> 0\n< 0\n> 1\n< 1\n")
    assert result.transcript.endswith("> 2999\n< 2999\n")


@pytest.mark.parametrize("which", [0, 1])
def test_a_jail_that_ends_in_the_middle_is_replaced_and_the_test_repeated(own_judge: Judge, which: int) -> None:
    said = b"time.sleep(2)\nsys.exit(42 if sys.stdin.readline() == 'yes\\n' else 43)"
    assert own_judge.judge(Program("print('yes')"), interactive(said)).verdict is Verdict.ACCEPTED
    victim = own_judge._workers[0].jails[which]
    thread = threading.Timer(0.7, jails.end_jail, (victim,))
    thread.start()
    outcome = own_judge.judge(Program("import time; time.sleep(2); print('yes')"), interactive(said))
    thread.join()
    assert outcome.verdict is Verdict.ACCEPTED, outcome
    assert own_judge._workers[0].counters.faults == {"jail": 1}


def test_closing_in_the_middle_of_a_conversation_ends_it(executor: str) -> None:
    before = len(jails.left_by(jails.OWN_PID))
    judge = Judge(executor, jobs=1)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            judge.judge(Program("import time; time.sleep(60)"), interactive(HEARS, limits=Limits(cpu_s=30)))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert jails.wait_until(lambda: len(judge._workers[0].jails) == 2, 10)
    time.sleep(0.3)
    for worker in judge._workers:
        worker.stop()
    thread.join(20)
    assert not thread.is_alive()
    judge.close()
    assert [type(error).__name__ for error in errors] == ["SandboxUnavailable"]
    assert jails.wait_until(lambda: len(jails.left_by(jails.OWN_PID)) <= before, 10)


def test_conversations_leave_no_descriptors_and_no_threads(judge: Judge) -> None:
    suite = interactive(HEARS)
    judge.judge(Program("print('yes')"), suite)
    judge.judge(Program("print('yes')"), suite)
    before = descriptors(), threading.active_count()
    for program in ("print('yes')", "print('no')", "1 / 0", "print(", "print('yes' * 99)") * 3:
        judge.judge(Program(program), suite)
    assert (descriptors(), threading.active_count()) == before


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


# --- transcripts --------------------------------------------------------------------------------------------------


def test_a_transcript_has_a_line_for_each_line() -> None:
    transcript = Transcript()
    for mark, data in ((WRITTEN, b"1 2"), (WRITTEN, b"\n3\n\n"), (READ, b"ok\n"), (WRITTEN, b"end")):
        transcript.add(mark, data)
    assert transcript.text == "> 1 2\n> 3\n> \n< ok\n> end\n"


def test_a_long_transcript_keeps_its_beginning_and_its_end() -> None:
    transcript = Transcript(kept_bytes=10)
    for number in range(100, 200):
        transcript.add(WRITTEN if number % 2 else READ, b"%d\n" % number)
    assert transcript.text == "< 100\n> 101\n< 10\n[380 bytes are left out]\n> 7\n< 198\n> 199\n"


def test_one_long_word_is_cut_in_the_middle() -> None:
    transcript = Transcript(kept_bytes=4)
    transcript.add(WRITTEN, b"abcdefghijkl")
    assert transcript.text == "> abcd\n[4 bytes are left out]\n> ijkl\n"


def test_an_empty_transcript() -> None:
    assert Transcript().text == ""
