"""Two outputs agree where judging would take the one for the other, whatever is compared and however."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from sandbox import Comparison, Io, Job, Judge, Limits, Output, Program, Suite, Test, Verdict
from sandbox.outputs import difference
from sandbox.programs import MIB, Checker, Unordered
from tests.sandbox.case_files import ComparisonCase, JudgeCase, comparison_cases, judge_cases

WRITE = Suite((Test("1", b"", b""),), limits=Limits(cpu_s=1.0, memory_bytes=128 * MIB, output_bytes=MIB))
CALL = replace(WRITE, io=Io.FUNCTION, entry_point="f")

WRITERS = {
    "plain": "print('b 2.0')\nprint('a 1')",
    "spaced": "print(' b  2.0 ')\nprint('a 1')",
    "near": "print('b 2.00001')\nprint('a 1')",
    "capital": "print('B 2.0')\nprint('a 1')",
    "lines swapped": "print('a 1')\nprint('b 2.0')",
    "tokens swapped": "print('1 b')\nprint('a 2.0')",
    "one more": "print('b 2.0')\nprint('a 1 1')",
    "nothing": "",
    "not a number": "print('b nan')\nprint('a 1')",
}
RETURNED = {
    "plain": "[[1, 2], [3, 2.5]]",
    "tuple": "([1, 2], (3, 2.5))",
    "near": "[[1, 2], [3, 2.50001]]",
    "inner swapped": "[[2, 1], [3, 2.5]]",
    "outer swapped": "[[3, 2.5], [1, 2]]",
    "both swapped": "[[2.5, 3], [2, 1]]",
    "flat": "[1, 2, 3, 2.5]",
    "true": "[[True, 2], [3, 2.5]]",
    "text": "'[[1, 2], [3, 2.5]]'",
    "none": "None",
}


@pytest.mark.parametrize("case", comparison_cases("compare"))
def test_a_difference_is_one_by_the_suites_comparison_or_the_tests_own(case: ComparisonCase) -> None:
    suite = CALL if case.values else WRITE
    assert (difference(replace(suite, comparison=case.comparison), case.expected, case.got) is None) == case.right
    assert (difference(suite, case.expected, case.got, case.comparison) is None) == case.right


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="judged by its checker"):
        difference(replace(WRITE, checker=Checker(Program(""))), b"1", b"1")
    for expected in (b"[1,", b"[" * 100_000):
        with pytest.raises(ValueError, match=r"Expecting value|nested too deeply"):
            difference(CALL, expected, b"1")


@pytest.mark.parametrize(
    ("comparison", "agreeing"),
    [
        (Comparison(), {"plain", "spaced"}),
        (Comparison(absolute_tolerance=1e-3), {"plain", "spaced", "near"}),
        (Comparison(case_sensitive=False), {"plain", "spaced", "capital"}),
        (Comparison(space_sensitive=True), {"plain"}),
        (Comparison(unordered=Unordered.LINES), {"plain", "spaced", "lines swapped"}),
        (Comparison(unordered=Unordered.TOKENS), {"plain", "spaced", "lines swapped", "tokens swapped"}),
    ],
)
def test_what_is_written_agrees_where_it_is_judged_right(
    judge: Judge, comparison: Comparison, agreeing: set[str]
) -> None:
    programs = {name: Program(source) for name, source in WRITERS.items()}
    assert_as_judged(judge, programs, replace(WRITE, comparison=comparison), agreeing)


@pytest.mark.parametrize(
    ("comparison", "agreeing"),
    [
        (Comparison(), {"plain", "tuple"}),
        (Comparison(absolute_tolerance=1e-3), {"plain", "tuple", "near"}),
        (Comparison(unordered=Unordered.LIST), {"plain", "tuple", "outer swapped"}),
        (Comparison(unordered=Unordered.NESTED), {"plain", "tuple", "outer swapped", "inner swapped", "both swapped"}),
    ],
)
def test_what_is_returned_agrees_where_it_is_judged_right(
    judge: Judge, comparison: Comparison, agreeing: set[str]
) -> None:
    programs = {name: Program(f"def f():\n    return {value}") for name, value in RETURNED.items()}
    assert_as_judged(judge, programs, replace(CALL, comparison=comparison), agreeing)


def assert_as_judged(judge: Judge, programs: dict[str, Program], suite: Suite, agreeing: set[str]) -> None:
    """Each program is judged by the output of each: it is right where both are among the agreeing, or the same (but for
    what is not a number), and the verdict's words are the difference's."""
    found = {key: outputs[0].content for key, outputs in judge.outputs(Job(k, p, suite) for k, p in programs.items())}
    written = {key: content for key, content in found.items() if content is not None}
    assert written.keys() == programs.keys()
    pairs = list(itertools.product(programs, repeat=2))
    outcomes = dict(
        judge.map(
            Job((wanted, given), programs[given], replace(suite, tests=(Test("1", b"", written[wanted]),)))
            for wanted, given in pairs
        )
    )
    for wanted, given in pairs:
        outcome = outcomes[wanted, given]
        is_right = {wanted, given} <= agreeing or (wanted == given and wanted != "not a number")
        assert (outcome.verdict is Verdict.ACCEPTED) == is_right, (wanted, given)
        says = difference(suite, written[wanted], written[given])
        assert outcome.tests[0].detail == (says or ""), (wanted, given)


@pytest.mark.parametrize("file", ["stdin_forms", "calls", "nodes", "design", "hostile_calls"])
def test_outputs_and_their_differences_make_the_verdicts_of_judging(judge: Judge, file: str) -> None:
    cases: dict[str, JudgeCase] = {str(param.id): param.values[0] for param in judge_cases(file)}
    found = dict(judge.outputs(Job(key, case.program, case.suite) for key, case in cases.items()))
    assert found.keys() == cases.keys()
    verdicts = {key: verdict_of(case, found[key]) for key, case in cases.items()}
    assert {key: verdict for key, verdict in verdicts.items() if verdict not in cases[key].verdicts} == {}


def verdict_of(case: JudgeCase, outputs: tuple[Output, ...]) -> Verdict:
    """That of the first test that is not right."""
    for test, output in zip(case.suite.tests, outputs, strict=True):
        if output.content is None:
            assert output.failure is not None
            return output.failure
        try:
            if difference(case.suite, test.expected, output.content) is not None:
                return Verdict.WRONG_ANSWER
        except ValueError:
            return Verdict.INTERNAL_ERROR
    return Verdict.ACCEPTED
