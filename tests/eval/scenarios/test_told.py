"""Finding an output or a value in an answer, and whether it is the right one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.judged_tests import SuiteRules
from eval.generate.extraction import TOLD_RULES, EmptyContent, explain
from eval.generate.replies import Reply
from eval.scenarios._told import as_json, extract_told, is_right

CASES = tomllib.loads((Path(__file__).parent / "told_answers.toml").read_text(encoding="utf-8"))["case"]
OUTPUT, VALUE = SuiteRules(False, {}), SuiteRules(True, {})


@pytest.mark.parametrize("case", CASES, ids=[case["why"] for case in CASES])
def test_what_is_found_in_an_answer(case: dict[str, Any]) -> None:
    found = extract_told(Reply(case["answer"], finish_reason=case.get("finish_reason")))
    if isinstance(found, EmptyContent):
        assert found.kind == case["status"]
        return
    assert (found.status, found.rule, found.code) == (case["status"], case["rule"], case.get("told", ""))


def test_every_rule_is_shown_and_says_what_it_means() -> None:
    assert TOLD_RULES.keys() <= {case.get("rule") for case in CASES}
    assert explain("answer_line") == "no block: the last line that begins with ANSWER:"


def test_reasoning_may_be_the_answer() -> None:
    reply = Reply("", reasoning="```answer\n5\n```\n")
    assert isinstance(extract_told(reply), EmptyContent)
    found = extract_told(reply, reasoning_is_answer=True)
    assert not isinstance(found, EmptyContent)
    assert found.code == "5\n"


@pytest.mark.parametrize(
    ("told", "expected", "rules", "right"),
    [
        # Outputs by the problem's own comparison: tokens, tolerances, any order.
        ("3\n", "3", OUTPUT, True),
        (" 3 4", "3\n4\n", OUTPUT, True),
        ("4 3", "3\n4\n", OUTPUT, False),
        ("YES", "Yes", OUTPUT, False),
        ("YES", "Yes", SuiteRules(False, {"case_sensitive": False}), True),
        ("0.3333333", "0.33333333333", OUTPUT, True),
        ("3", "4", SuiteRules(False, {"absolute_tolerance": 1}), True),
        ("4 3", "3\n4\n", SuiteRules(False, {"unordered": "tokens"}), True),
        ("", "3", OUTPUT, False),
        # Values by value, as JSON or as Python writes them.
        ("[1, 2]", "[1,2]", VALUE, True),
        ("(1, 2)\n", "[1,2]", VALUE, True),
        ("[True, None]", "[true,null]", VALUE, True),
        ("'a'", '"a"', VALUE, True),
        ('"a"', '"a"', VALUE, True),
        ("2", "2.0", VALUE, True),
        ("2.0", "2", VALUE, False),
        ("True", "1", VALUE, False),
        ("[2, 1]", "[1,2]", SuiteRules(True, {"unordered": "list"}), True),
        ("1 + 1", "2", VALUE, False),
        ("f(2)", "2", VALUE, False),
        ("{1, 2}", "[1,2]", VALUE, False),
        ("[" * 5000 + "]" * 5000, "[1]", VALUE, False),
        ("9" * 70_000, "9", VALUE, False),
        (r"'\d'", r'"\\d"', VALUE, True),
        ("", "[]", VALUE, False),
    ],
)
def test_whether_an_answer_is_right(told: str, expected: str, rules: SuiteRules, right: bool) -> None:
    assert is_right(told, expected, rules) is right


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values)
def test_python_writes_every_value_so_that_it_is_right(value: object) -> None:
    import json

    assert is_right(repr(value), json.dumps(value), VALUE)


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    as_json(text)
    is_right(text, "[1]", VALUE)
    is_right(text, "1 2", OUTPUT)
