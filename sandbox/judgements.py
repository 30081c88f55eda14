"""What a checker said: its exit code, its messages and its scores, read as its protocol has them. Pure.

Kattis: spec/legacy/output_validators.md and spec/2025-09.md of the problem package format, and what its reference
implementation (problemtools) takes for the judge's own error. testlib: the exit codes of testlib.h.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sandbox.excerpts import excerpt
from sandbox.programs import Protocol
from sandbox.running import ending
from sandbox.verdicts import Facts, TestResult, Verdict, ended_badly

JUDGE_MESSAGE, TEAM_MESSAGE = "judgemessage.txt", "teammessage.txt"
SCORE, MULTIPLIER, NEXT_PASS = "score.txt", "score_multiplier.txt", "nextpass.in"
FEEDBACK_FILES = (JUDGE_MESSAGE, TEAM_MESSAGE, SCORE, MULTIPLIER, NEXT_PASS)

_LINE_CHARACTERS = 200
_REJECTS = "the checker rejects it"
_KATTIS_ACCEPTED, _KATTIS_REJECTED = 42, 43
_OK, _WRONG, _PRESENTATION, _FAIL, _DIRT, _POINTS, _UNEXPECTED_END = 0, 1, 2, 3, 4, 7, 8
_REJECTED = {
    _WRONG: "",
    _PRESENTATION: "presentation: ",
    _DIRT: "presentation, something after the answer: ",
    _UNEXPECTED_END: "unexpected end: ",
}
# With TESTSYS defined, partial correctness of n hundredths is this plus n; without it, n alone, so that only the words
# tell it from other codes.
_PARTIAL_BASE = 50
_PARTIAL_WORDS = re.compile(r"partially correct \((\d{1,9})\)")
_POINTS_WORDS = re.compile(r"^(?:points )?([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?:\s|$)")
_REJECTED_WORDS = ("wrong answer", "wrong output format", "unexpected eof")

_ENDED_FOR_A_LIMIT = {
    Verdict.TIME_LIMIT: "took longer than its time limit",
    Verdict.MEMORY_LIMIT: "took more memory than its limit",
    Verdict.OUTPUT_LIMIT: "wrote more than its output limit",
}


@dataclass(frozen=True)
class Judgement:
    """What a checker says of one output; ``internal_error`` where it did not say it properly.

    ``score`` and ``multiplier`` (of the score that the test's group has for it) are there when it gave one.
    """

    verdict: Verdict
    detail: str = ""
    score: float | None = None
    multiplier: float | None = None
    facts: Facts | None = None


@dataclass(frozen=True)
class Left:
    """What a checker's process left: its facts, standard error, and the feedback files that are not empty.

    ``interpreted``: an interpreter ran it, whose own failure ends with the exit code 1 or 2.
    """

    facts: Facts
    stderr: str
    files: dict[str, bytes]
    interpreted: bool = False


def judged(name: str, program: Facts | None, said: Judgement) -> TestResult:
    """The result of a test whose program ended well, by what the checker says."""
    return TestResult(
        name, said.verdict, program, said.detail, score=said.score, multiplier=said.multiplier, checker=said.facts
    )


def passed_limit(facts: Facts) -> bool:
    """Whether a checker's process passed one of its limits."""
    return ended_badly(facts) in _ENDED_FOR_A_LIMIT


class _Improper(Exception):
    """A checker did not judge as its protocol has it; the message is what it did."""


def judgement(protocol: Protocol, left: Left, *, scoring: bool) -> Judgement:
    """The judgement. ``scoring`` says whether the suite has scores; a checker that gives one where there are none is at
    fault."""
    try:
        limit = _ENDED_FOR_A_LIMIT.get(ended_badly(left.facts) or Verdict.ACCEPTED)
        if limit is not None:
            raise _Improper(limit)
        if left.facts.signal:
            raise _Improper(f"crashed: {ending(left.facts, left.stderr)}")
        return (_kattis if protocol is Protocol.KATTIS else _testlib)(left, scoring)
    except _Improper as improper:
        return fault(str(improper), left.facts)


def fault(reason: str, facts: Facts | None = None) -> Judgement:
    """No judgement, for this reason, which is said of the checker."""
    return Judgement(Verdict.INTERNAL_ERROR, f"the checker {reason}", facts=facts)


def _kattis(left: Left, scoring: bool) -> Judgement:
    code = left.facts.exit_code
    if code not in (_KATTIS_ACCEPTED, _KATTIS_REJECTED):
        raise _Improper(f"ended with neither 42 nor 43: {ending(left.facts, left.stderr)}")
    if NEXT_PASS in left.files:
        raise _Improper("asks for another pass of the program, which is not supported")
    message = _first_line(left.files.get(JUDGE_MESSAGE) or left.files.get(TEAM_MESSAGE) or b"")
    given = [name for name in (SCORE, MULTIPLIER) if name in left.files]
    if given and not scoring:
        raise _Improper(f"wrote {given[0]} where there are no scores")
    if code == _KATTIS_REJECTED:
        if given:
            raise _Improper(f"rejects, and wrote {given[0]}")
        return Judgement(Verdict.WRONG_ANSWER, message or _REJECTS, facts=left.facts)
    if len(given) > 1:
        raise _Improper(f"wrote both {SCORE} and {MULTIPLIER}")
    numbers = {name: _number(name, left.files[name]) for name in given}
    return Judgement(Verdict.ACCEPTED, message, numbers.get(SCORE), numbers.get(MULTIPLIER), left.facts)


def _number(name: str, text: bytes) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (name == MULTIPLIER and not 0 <= value <= 1):
        raise _Improper(f"wrote to {name} what is no score: {_first_line(text)!r}")
    return value


def _testlib(left: Left, scoring: bool) -> Judgement:
    code, message = left.facts.exit_code, _first_line(left.stderr.encode())
    assert code is not None
    words = _PARTIAL_WORDS.match(left.stderr)
    if words or _PARTIAL_BASE <= code <= _PARTIAL_BASE + 100:
        return _partial(left, scoring, int(words[1]) if words else code - _PARTIAL_BASE, message)
    if code == _OK:
        return Judgement(Verdict.ACCEPTED, message, facts=left.facts)
    if code == _POINTS:
        return Judgement(Verdict.ACCEPTED, message, _points(left, scoring, message), facts=left.facts)
    if code in _REJECTED and (not left.interpreted or left.stderr.startswith(_REJECTED_WORDS)):
        return Judgement(Verdict.WRONG_ANSWER, _REJECTED[code] + (message or _REJECTS), facts=left.facts)
    what = "failed" if code == _FAIL else "ended with a code that has no meaning"
    raise _Improper(f"{what}: {ending(left.facts, left.stderr)}")


def _points(left: Left, scoring: bool, message: str) -> float:
    points = _POINTS_WORDS.match(left.stderr)
    if points is None:
        raise _Improper(f"gives points, but no number: {message}")
    if not scoring:
        raise _Improper(f"gives points where there are no scores: {message}")
    return _number("standard error", points[1].encode())


def _partial(left: Left, scoring: bool, percent: int, message: str) -> Judgement:
    if not scoring:
        return Judgement(Verdict.WRONG_ANSWER, message or f"partially correct ({percent})", facts=left.facts)
    if percent > 100:
        raise _Improper(f"gives more than the whole score: {message}")
    return Judgement(Verdict.ACCEPTED, message, None, percent / 100, left.facts)


def _first_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return excerpt(lines[0], _LINE_CHARACTERS) if lines else ""
