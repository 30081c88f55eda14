"""What programs write on inputs, byte by byte, or why there is nothing of it."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sandbox import (
    Grader,
    Io,
    Job,
    Judge,
    Limits,
    NotInSandbox,
    Output,
    Program,
    Suite,
    Test,
    UnknownLanguage,
    Verdict,
    plain,
)
from sandbox.programs import MIB, Checker, Group, Groups
from tests.sandbox import jails, report_files
from tests.sandbox.case_files import CASES
from tests.sandbox.test_checking import skip_without
from tests.sandbox.test_hostile import assert_nothing_left

SMALL = Limits(cpu_s=1.0, memory_bytes=128 * MIB, output_bytes=MIB)
ADD = Program("print(sum(map(int, input().split())))")
COPY = Program("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())")
EVEN_ONLY = Program("n = int(input())\nassert n % 2 == 0, f'{n} is odd'\nprint(n)")


def on(*inputs: bytes, expected: bytes = b"looked at by nobody", limits: Limits = SMALL) -> Suite:
    """Inputs for programs that read them."""
    return Suite(tuple(Test(str(number), text, expected) for number, text in enumerate(inputs, start=1)), limits=limits)


def called(name: str, *inputs: bytes) -> Suite:
    """Inputs for programs whose function of this name is called."""
    return replace(on(*inputs), io=Io.FUNCTION, entry_point=name)


def outputs_of(judge: Judge, program: Program, suite: Suite, most_failures: int | None = None) -> tuple[Output, ...]:
    """The outputs of one program."""
    [(key, found)] = judge.outputs([Job("only", program, suite)], most_failures=most_failures)
    assert key == "only"
    return found


@dataclass(frozen=True)
class OutputCase:
    """A program with one input, and what it comes to: a content, or a failure with what is said of it."""

    program: Program
    suite: Suite
    content: bytes | None
    failure: Verdict | None
    says: str


def output_cases() -> list[Any]:
    """The cases of ``outputs.toml``, by their names."""
    tables = tomllib.loads((CASES / "outputs.toml").read_text(encoding="utf-8"))["case"]
    return [pytest.param(_output_case(table), id=table["name"]) for table in tables]


def _output_case(table: dict[str, Any]) -> OutputCase:
    left = dict(table)
    io = next((io for key, io in (("calls", Io.FUNCTION), ("design", Io.DESIGN)) if key in left), Io.STDIN)
    suite = replace(
        on(left.pop("input", "").encode(), limits=replace(SMALL, cpu_s=0.5, wall_s=1.0, output_bytes=4 * MIB)),
        io=io,
        entry_point=left.pop("calls", left.pop("design", None)),
        signature=plain.read_signature(left.pop("signature")) if "signature" in left else None,
    )
    program, content, failure = Program(left.pop("program")), left.pop("content", None), left.pop("failure", None)
    says = left.pop("says", "")
    assert left.keys() == {"name"}, left
    return OutputCase(program, suite, None if content is None else content.encode(), failure and Verdict(failure), says)


def contents(outputs: Iterable[Output]) -> list[bytes | None]:
    return [output.content for output in outputs]


def failures(outputs: Iterable[Output]) -> list[Verdict | None]:
    return [output.failure for output in outputs]


# --- what a program writes -----------------------------------------------------------------------------------------


def test_what_is_written_stays_as_it_is_to_the_byte(judge: Judge) -> None:
    inputs = (b"1 2\r\n\r\n", b"", b"no line end", b"\n\n \t\n", b"\x00\xff\xfe\x80", "é\u2028".encode(), b"x" * 70_000)
    found = outputs_of(judge, COPY, on(*inputs))
    assert contents(found) == list(inputs)
    assert [output.name for output in found] == ["1", "2", "3", "4", "5", "6", "7"]
    assert failures(found) == [None] * 7


def test_an_output_has_the_facts_of_its_process(judge: Judge) -> None:
    [found] = outputs_of(judge, Program("print(input()[::-1])"), on(b"abc\n"))
    assert found.facts is not None
    assert (found.facts.output_bytes, found.facts.exit_code, found.facts.limits) == (4, 0, SMALL)


def test_neither_expected_outputs_nor_groups_nor_a_checker_have_a_say(judge: Judge) -> None:
    checker = Checker(Program("this is no program of any language", "nope"))
    groups = Groups((("", Group()), ("a", Group(require_pass=("b",))), ("b", Group())), scoring=True)
    tests = (Test("b/1", b"1 2\n", b"4\n"), Test("a/1", b"2 2\n", b"\xff"), Test("a/2", b"5 0\n", b""))
    found = outputs_of(judge, ADD, Suite(tests, limits=SMALL, checker=checker, groups=groups))
    assert [(output.name, output.content) for output in found] == [("b/1", b"3\n"), ("a/1", b"4\n"), ("a/2", b"5\n")]


def test_nothing_is_left_of_one_input_for_the_next(judge: Judge) -> None:
    program = Program(
        "import builtins, os\n"
        "seen = getattr(builtins, 'seen', 0)\nbuiltins.seen = seen + 1\n"
        "print(input(), seen, os.listdir('.'))\nopen('left', 'w').write('behind')"
    )
    found = outputs_of(judge, program, on(b"a\n", b"b\n", b"a\n"))
    assert contents(found) == [b"a 0 []\n", b"b 0 []\n", b"a 0 []\n"]


@pytest.mark.parametrize("case", output_cases())
def test_one_program_on_one_input(judge: Judge, case: OutputCase) -> None:
    [found] = outputs_of(judge, case.program, case.suite)
    assert (found.content, found.failure) == (case.content, case.failure), found
    assert case.says in found.detail
    assert bool(found.detail) == (case.failure is not None)
    assert found.facts is not None


def test_a_program_that_changes_its_arguments_changes_no_input(judge: Judge, cases: Path) -> None:
    folder = cases / "B20"
    inputs, rows = report_files.read(folder / "inputs.json"), report_files.read(folder / "expected.json")
    suite = called("low_median", *(json.dumps(arguments[0]).encode() for arguments in inputs))
    sorts = report_files.program(folder, "med.py")
    shows = Program("class Solution:\n    def low_median(self, a):\n        return a")
    for _ in range(2):  # the same inputs again, as for the next program
        assert contents(outputs_of(judge, sorts, suite)) == [json.dumps(row["expected"]).encode() for row in rows]
        assert contents(outputs_of(judge, shows, suite)) == [b"[3, 1, 2]", b"[5, 4]"]


# --- why there is nothing of it ------------------------------------------------------------------------------------


def test_an_output_just_within_the_limit_is_kept_whole(judge: Judge) -> None:
    suite = on(b"999\n", b"1000\n", limits=replace(SMALL, output_bytes=1000))
    found = outputs_of(judge, Program("print('x' * int(input()), end='')"), suite)
    assert contents(found) == [b"x" * 999, None]
    assert failures(found) == [None, Verdict.OUTPUT_LIMIT]


@pytest.mark.parametrize(
    ("program", "n_run"),
    [(Program("print("), 1), (Program("int main() { return x; }", "cpp17"), 0)],
    ids=["python3", "cpp17"],
)
def test_what_does_not_compile_fails_on_every_test(own_judge: Judge, program: Program, n_run: int) -> None:
    skip_without(own_judge, frozenset({program.language}))
    found = outputs_of(own_judge, program, on(b"1\n", b"2\n", b"3\n"))
    assert [(output.name, output.failure) for output in found] == [
        (name, Verdict.COMPILE_ERROR) for name in ("1", "2", "3")
    ]
    assert len({output.detail for output in found}) == 1
    assert "error" in found[0].detail.lower() or "never closed" in found[0].detail
    assert own_judge.counters.tests == n_run
    assert len(outputs_of(own_judge, program, on(b"1\n", b"2\n", b"3\n"), most_failures=2)) == 2


@pytest.mark.parametrize(
    ("most", "run"),
    [(1, [b"0\n", None]), (2, [b"0\n", None, b"2\n", None]), (3, [b"0\n", None, b"2\n", None, b"4\n"]), (None, None)],
)
def test_after_so_many_failures_no_test_more_is_run(
    own_judge: Judge, most: int | None, run: list[bytes | None] | None
) -> None:
    found = outputs_of(own_judge, EVEN_ONLY, on(b"0\n", b"1\n", b"2\n", b"3\n", b"4\n"), most)
    assert contents(found) == (run or [b"0\n", None, b"2\n", None, b"4\n"])
    assert (own_judge.counters.tests, own_judge.counters.solutions) == (len(found), 1)


def test_a_broken_jail_costs_no_output(own_judge: Judge) -> None:
    def jobs() -> Iterator[Job[int]]:
        for number in range(4):
            if number == 2:
                jails.end_jail(jails.running_jails(own_judge)[0])
            yield Job(number, Program(f"print({number})"), on(b"", b""))

    found = {key: contents(outputs) for key, outputs in own_judge.outputs(jobs())}
    assert found == {number: [b"%d\n" % number] * 2 for number in range(4)}
    assert own_judge.counters.jails_started == 2


# --- many at once --------------------------------------------------------------------------------------------------


def test_each_key_has_its_own_outputs_in_the_order_of_the_tests(judge: Judge) -> None:
    suite = on(*(b"%d\n" % number for number in range(6)))
    jobs = [Job(("program", key), Program(f"print({key} * int(input()))"), suite) for key in range(30)]
    found = dict(judge.outputs(jobs))
    assert {key: contents(outputs) for key, outputs in found.items()} == {
        ("program", key): [b"%d\n" % (key * number) for number in range(6)] for key in range(30)
    }


def test_an_error_while_jobs_are_drawn_comes_after_what_was_ready(judge: Judge) -> None:
    def jobs() -> Iterator[Job[int]]:
        yield Job(1, ADD, on(b"1 2\n"))
        raise RuntimeError("the store is gone")

    found = judge.outputs(jobs())
    assert contents(next(found)[1]) == [b"3\n"]
    with pytest.raises(RuntimeError, match="the store is gone"):
        next(found)
    assert contents(outputs_of(judge, ADD, on(b"4 5\n"))) == [b"9\n"]


def test_one_that_is_left_early_keeps_nobody_waiting_and_leaves_nothing(own_judge: Judge) -> None:
    sleeps = Program("import time\ntime.sleep(0.5)\nprint(1)")
    jobs = [Job(0, ADD, on(b"1 2\n")), *(Job(key, sleeps, on(*[b""] * 60)) for key in (1, 2))]
    for key, _ in own_judge.outputs(jobs):
        assert key == 0
        break
    started = time.monotonic()
    assert own_judge.judge(ADD, on(b"1 2\n", expected=b"3\n")).verdict is Verdict.ACCEPTED
    assert time.monotonic() - started < 10  # the sixty would take 30 s
    assert_nothing_left(own_judge)


def test_closing_the_judge_in_the_middle_leaves_nothing(executor: str) -> None:
    before = len(jails.left_by(jails.OWN_PID))
    judge = Judge(executor, jobs=2)
    sleeps = Program("import time\ntime.sleep(0.5)\nprint(1)")
    found = judge.outputs([Job(0, ADD, on(b"1 2\n")), *(Job(key, sleeps, on(*[b""] * 60)) for key in (1, 2, 3))])
    next(found)
    judge.close()
    assert jails.wait_until(lambda: len(jails.left_by(jails.OWN_PID)) <= before, 10), jails.left_by(jails.OWN_PID)


# --- what is refused -----------------------------------------------------------------------------------------------


def test_an_interactive_program_has_no_output_of_its_own(judge: Judge) -> None:
    suite = replace(on(b""), io=Io.INTERACTIVE, checker=Checker(Program("")))
    with pytest.raises(NotInSandbox, match="writes to its validator") as caught:
        outputs_of(judge, ADD, suite)
    assert caught.value.hint


def test_livecodebenchs_grader_gives_no_outputs(executor: str) -> None:
    with Judge(executor, jobs=1, grader=Grader.LIVECODEBENCH) as judge:
        with pytest.raises(NotInSandbox, match="gives verdicts and no outputs") as caught:
            judge.outputs([Job(1, ADD, on(b"1 2\n"))])
        assert caught.value.hint


def test_a_program_that_cannot_be_run_here_is_refused(judge: Judge) -> None:
    with pytest.raises(UnknownLanguage):
        outputs_of(judge, Program("main :- write(3).", "prolog"), on(b""))
    skip_without(judge, frozenset({"cpp17"}))
    with pytest.raises(NotInSandbox, match=r"calls in cpp17"):
        outputs_of(judge, Program("int f(int a) { return a; }", "cpp17"), called("f", b"1"))


@pytest.mark.parametrize("most", [0, -1])
def test_no_failures_at_all_is_no_number_of_failures(judge: Judge, most: int) -> None:
    with pytest.raises(ValueError, match=f"most_failures must be at least 1, not {most}"):
        judge.outputs([], most_failures=most)


@pytest.mark.parametrize(("content", "failure"), [(None, None), (b"", Verdict.TIME_LIMIT), (None, Verdict.ACCEPTED)])
def test_an_output_is_a_content_or_a_failure(content: bytes | None, failure: Verdict | None) -> None:
    with pytest.raises(ValueError, match="the output of 1 "):
        Output("1", content, failure)
