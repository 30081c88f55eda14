"""What programs write on inputs, held against nothing; and whether two of them agree, as judging has it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox import comparison, values
from sandbox.programs import Comparison, Io, Suite, Test
from sandbox.running import Attempt, Ended
from sandbox.verdicts import Facts, TestResult, Verdict


@dataclass(frozen=True)
class Output:
    """What a program wrote on the input of the test of this name, or why there is nothing of it.

    ``content`` is what it wrote to its standard output, byte by byte; for a call the value that it returned, as JSON in
    the form of a test's ``expected`` (for a design class the list of what the calls returned). ``failure`` is what
    became of it instead, ``detail`` a line for a person about that. ``ValueError`` unless it is one of the two.
    """

    name: str
    content: bytes | None
    failure: Verdict | None
    detail: str = ""
    facts: Facts | None = None

    def __post_init__(self) -> None:
        if (self.content is None) == (self.failure is None):
            raise ValueError(f"the output of {self.name} must have a content or a failure, and not both")
        if self.failure is Verdict.ACCEPTED:
            raise ValueError(f"the output of {self.name} cannot have failed and be accepted")


def difference(suite: Suite, expected: bytes, got: bytes, own: Comparison | None = None) -> str | None:
    """What is wrong with ``got`` where ``expected`` is expected, in a line for a person; None: it is right.

    It is what judging says. ``own`` is the comparison of the test itself, where it has one. ``ValueError`` for a suite
    whose checker decides, and for an ``expected`` that is no value where the programs are called.
    """
    if suite.checker is not None:
        raise ValueError("outputs of this suite are judged by its checker, and not by comparison")
    rule = own or suite.comparison
    if suite.io is Io.STDIN:
        return comparison.first_difference(expected, got, rule)
    try:
        return values.first_difference(expected, got, rule)
    except RecursionError:
        raise ValueError("the expected value is nested too deeply") from None


def kept(suite: Suite, index: int, ended: Ended) -> Attempt:
    """What a process wrote that ended well, on the input of the test with this index."""
    test, written = suite.tests[index], ended.output()
    if suite.io is Io.STDIN:
        return Attempt(TestResult(test.name, Verdict.ACCEPTED, ended.facts), content=written)
    failed = values.failure(suite, test, written) or values.not_json(written[1:])
    if failed is not None:
        return Attempt(TestResult(test.name, failed[0], ended.facts, failed[1]))
    return Attempt(TestResult(test.name, Verdict.ACCEPTED, ended.facts), content=written[1:])


def output_of(attempt: Attempt) -> Output:
    """The output that a run left."""
    result = attempt.result
    failure = result.verdict if attempt.content is None else None
    return Output(result.name, attempt.content, failure, result.detail, result.facts)


def of_all(failed: TestResult, tests: tuple[Test, ...]) -> tuple[Output, ...]:
    """The outputs of a program that failed on all tests for the same reason."""
    return tuple(Output(test.name, None, failed.verdict, failed.detail, failed.facts) for test in tests)
