"""Grammars of design classes: which calls they allow, and what of a statement they do not understand."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from eval.made_tests.design_checks import check_calls
from eval.made_tests.design_grammar import CallLimit, DesignGrammar
from eval.made_tests.design_text import parse, render
from eval.made_tests.grammar import InputRefused
from eval.made_tests.reading.designs import read_design
from eval.made_tests.reading.starter_code import design_signature_of

DATA = Path(__file__).parent / "data"


def cases(name: str) -> list[Any]:
    return [
        pytest.param(case, id=case["name"]) for case in tomllib.loads((DATA / name).read_text(encoding="utf-8"))["case"]
    ]


def read(case: dict[str, Any]) -> DesignGrammar:
    lines = "\n".join(f"* {sentence}" for sentence in case["constraints"])
    statement = f"{case.get('premises', 'Do it.')}\n\n**Example 1:**\n\nInput\n\n**Constraints:**\n\n{lines}\n"
    methods = {name: [(each, kind) for each, kind in given] for name, given in case["methods"].items()}
    return read_design(
        statement, case.get("class", "It"), [(name, kind) for name, kind in case["constructor"]], methods
    )


def text_of(case: dict[str, Any], made_with: list[Any], calls: list[Any]) -> str:
    names = [case["class"], *(call[0] for call in calls)]
    return f"{json.dumps(names)}\n{json.dumps([made_with, *(call[1:] for call in calls)])}"


@pytest.mark.parametrize("case", cases("designs.toml"))
def test_a_grammar_allows_what_its_statement_allows(case: dict[str, Any]) -> None:
    grammar = read(case)
    assert grammar.not_understood == ()
    for made_with, *calls in case["accepts"]:
        text = text_of(case, made_with, calls)
        found = parse(grammar, text)
        check_calls(grammar, found)
        assert render(grammar, found) == text


@pytest.mark.parametrize("case", cases("designs.toml"))
def test_a_grammar_refuses_what_breaks_one_sentence(case: dict[str, Any]) -> None:
    grammar = read(case)
    for reason, made_with, *calls in case["refuses"]:
        with pytest.raises(InputRefused, match=re.escape(reason)):
            check_calls(grammar, parse(grammar, text_of(case, made_with, calls)))


@pytest.mark.parametrize("case", cases("designs.toml"))
def test_without_one_sentence_something_is_open_or_allowed(case: dict[str, Any]) -> None:
    whole = read(case)
    for place in range(len(case["constraints"])):
        shorter = [*case["constraints"][:place], *case["constraints"][place + 1 :]]
        assert read({**case, "constraints": shorter}) != whole, case["constraints"][place]


@pytest.mark.parametrize("case", cases("designs_not_understood.toml"))
def test_what_is_not_understood_is_said_whole(case: dict[str, Any]) -> None:
    grammar = read(case)
    assert list(grammar.not_understood) == case["not_understood"]
    assert not grammar.is_complete


@pytest.mark.parametrize(
    ("sentence", "limits"),
    [
        ("At most 5 calls will be made to add.", [("add", 5)]),
        ("At most 3 * 10^4 calls will be made to add and find.", [("add find", 30_000)]),
        ("At most 2*10^5 calls in total will be made to add, and find", [("add find", 200_000)]),
        ("At most 10^4 calls will be made in total to the methods add and find.", [("add find", 10_000)]),
        ("There will be at most 10^4 calls to add and find.", [("add find", 10_000)]),
        ("At most, 100 calls will be made to add and find in total.", [("add find", 100)]),
        ("At most 100 calls will be made to all functions combined.", [("add find", 100)]),
        ("At most 100 calls will be made.", [("add find", 100)]),
        ("There will be at most 100 queries.", [("add find", 100)]),
        ("At most 100 calls will be made to each method.", [("add", 100), ("find", 100)]),
        ("At most 100 calls are made to add and find each.", [("add", 100), ("find", 100)]),
        ("At most 100 calls will be made to each function add, find.", [("add", 100), ("find", 100)]),
        ("At most 100 calls will be made to It, add, and find.", [("add find", 100)]),
        ("The number of calls to add and find will not exceed 100.", [("add find", 100)]),
    ],
)
def test_limits_are_said_in_many_ways(sentence: str, limits: list[tuple[str, int]]) -> None:
    case = {
        "constructor": [],
        "methods": {"add": [["x", "int"]], "find": [["x", "int"]]},
        "constraints": ["1 <= x <= 9", sentence],
    }
    grammar = read(case)
    assert grammar.is_complete == ("find" in sentence or "add" not in sentence)
    assert grammar.limits == tuple(CallLimit(tuple(names.split()), most) for names, most in limits)


def test_there_is_no_grammar_without_a_list_of_constraints_or_methods() -> None:
    assert read_design("No list.", "It", [], {"add": []}).not_understood == (
        "(the statement has no list of constraints)",
    )
    assert not read_design("Constraints:\n1 <= n <= 2", "It", [("n", "int")], {}).is_complete


STARTER = '''\
# class Node:
#     def __init__(self, val):
#         self.val = val

class Helper:
    def add(self, other: str) -> None:

class Counter:

    def __init__(self, n: int, names: List[str]):


    def add(self, key: int, name: "str" = "") -> None:
        """Count it."""

    def _inner(self, x):

    def total(self) -> int:


# Your Counter object will be instantiated and called as such:
# obj = Counter(n, names)
# obj.add(key,name)
'''


def test_starter_code_says_what_is_called() -> None:
    found = design_signature_of(STARTER, "Counter")
    assert found is not None
    assert found.constructor == (("n", "int"), ("names", "List[str]"))
    assert found.methods == {"add": (("key", "int"), ("name", "'str'")), "total": ()}


@pytest.mark.parametrize(
    "code", ["", "class Other:\n    def add(self): ...", "class Counter:\n    pass", "def f(x): pass"]
)
def test_starter_code_without_the_class_says_nothing(code: str) -> None:
    assert design_signature_of(code, "Counter") is None
