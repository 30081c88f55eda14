"""Invented problems and questions, one for each form in which something is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from db.asked import AskableProblem, AskedSample
from db.records import IoKind, ProblemKey
from eval.generate.questions import FailedTest, Form, Question, Scenario
from eval.made_tests.writing import SCENARIO as TEST_PROGRAMS

MIB = 1024 * 1024

STDIN = AskableProblem(
    problem_id=7,
    key=ProblemKey("nova", "nova042_c"),
    title="The Cellar Stairs",
    url="https://nova.example.org/contests/nova042/tasks/c",
    statement="""A stair has $n$ steps of $h$ centimetres each. How high is it?

Input: n and h.
Output: the height.
""",
    statement_language="en",
    starter_code="",
    io_kind=IoKind.STDIN,
    entry_point=None,
    signature=None,
    time_limit_s=2.0,
    memory_limit_bytes=256 * MIB,
    samples=(AskedSample("3 20\n", "60\n"), AskedSample("1 5", "5")),
    revision_id=1,
)
FUNCTION = replace(
    STDIN,
    statement="Return the height of a stair of n steps of h centimetres each.",
    starter_code="class Solution:\n    def height(self, n: int, h: int) -> int:\n        ",
    io_kind=IoKind.FUNCTION,
    entry_point="height",
    samples=(AskedSample("3\n20\n", "60"),),
)
DESIGN = replace(
    STDIN,
    statement="A stair grows: add(h) puts a step of h centimetres on top, height() returns how high it is.",
    starter_code="class Stair:\n    def __init__(self):\n        ...\n",
    io_kind=IoKind.DESIGN,
    entry_point="Stair",
    samples=(AskedSample('["Stair","add","height"]\n[[],[20],[]]\n', "[null,null,20]"),),
)
INTERACTIVE = replace(
    STDIN,
    statement="Ask `? i` for the height of step i; end with `! h`, the height of the stair.",
    io_kind=IoKind.INTERACTIVE,
    samples=(),
)
PROBLEMS = {Form.STDIN: STDIN, Form.FUNCTION: FUNCTION, Form.DESIGN: DESIGN, Form.INTERACTIVE: INTERACTIVE}


def problem(**changes: Any) -> AskableProblem:
    """The problem with standard input and output, changed."""
    return replace(STDIN, **changes)


def question(scenario: str, form: Form) -> Question:
    """A question of this scenario in this form, or one for a test program that failed before."""
    failed = FailedTest("wrong_answer", input="2 9\n", expected="18\n", error="expected 18, got 11").as_text()
    asked: dict[str, dict[str, Any]] = {
        Scenario.CODE_GENERATION: {},
        Scenario.SELF_REPAIR: {
            "question_id": 1,
            "program": "print(sum(map(int, input().split())))",
            "feedback": failed,
        },
        Scenario.OUTPUT_PREDICTION: {"question_id": 2, "input": "4 25\n"},
        Scenario.CODE_EXECUTION: {"question_id": 3, "program": "def f(n):\n    return n * 2\n", "input": "f(21)"},
        TEST_PROGRAMS: {"program": "print(input())", "feedback": failed},
    }
    return Question(PROBLEMS.get(form, FUNCTION), scenario, **asked[scenario])
