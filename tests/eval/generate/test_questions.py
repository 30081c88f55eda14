"""Which problems are asked, in which form."""

from __future__ import annotations

from typing import Any

import pytest

from db.records import IoKind
from eval.generate.questions import MAX_SHOWN, FailedTest, Form, Question, form_of, not_asked, shortened
from tests.eval.generate.asked import DESIGN, FUNCTION, INTERACTIVE, STDIN, problem


@pytest.mark.parametrize(
    ("changes", "language", "reason"),
    [
        ({}, "cpp20", None),
        ({"statement": " \n"}, "python3", "no statement"),
        ({"statement_language": None}, "python3", None),
        ({"statement_language": "ja"}, "python3", "statement is not in English (ja)"),
        ({"flags": (("needs_image", "as shown in the figure"),)}, "python3", "needs a picture"),
        ({"flags": (("has_image", "![a stair](x.png)"), ("multiple_answers", "any"))}, "python3", None),
        ({"flags": (("interactive", "flush"),)}, "python3", "interactive, and the store has no program to talk with"),
        ({"flags": (("interactive", "flush"),), "io_kind": IoKind.INTERACTIVE}, "python3", None),
        ({"io_kind": IoKind.FUNCTION}, "python3", None),
        ({"io_kind": IoKind.FUNCTION}, "java", "call-based: only python3 is called"),
        ({"io_kind": IoKind.DESIGN}, "pypy3", "call-based: only python3 is called"),
        ({"io_kind": None, "starter_code": "class Solution: ..."}, "rust", "call-based: only python3 is called"),
        ({"io_kind": None}, "rust", None),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else None,
)
def test_not_asked(changes: dict[str, Any], language: str, reason: str | None) -> None:
    assert not_asked(problem(**changes), language) == reason


def test_forms() -> None:
    forms = [form_of(Question(one)) for one in (STDIN, FUNCTION, DESIGN, INTERACTIVE)]
    assert forms == [Form.STDIN, Form.FUNCTION, Form.DESIGN, Form.INTERACTIVE]
    assert form_of(Question(problem(io_kind=None))) is Form.STDIN
    assert form_of(Question(problem(io_kind=None, starter_code="def f(x):"))) is Form.FUNCTION
    assert form_of(Question(FUNCTION, "code_execution", 1)) is Form.PYTHON


def test_a_failed_test_comes_back_from_its_text() -> None:
    failed = FailedTest("wrong_answer", 'a "b"\n', expected="ü\n", error="")
    assert FailedTest.read(failed.as_text()) == failed
    for text in ("", "[]", '{"verdict": "x"}', '{"verdict": "x", "input": "", "more": 1}'):
        with pytest.raises(ValueError):  # noqa: PT011 - whatever JSON says of it
            FailedTest.read(text)


def test_a_long_text_is_shown_in_part_and_says_so() -> None:
    assert shortened("7" * MAX_SHOWN) == "7" * MAX_SHOWN
    assert shortened("7" * (MAX_SHOWN + 500)) == f"{'7' * MAX_SHOWN}\n… (the first 2,000 of 2,500 characters)"
