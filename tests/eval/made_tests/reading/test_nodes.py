"""Grammars of linked lists and binary trees: which they allow, and what of a statement they do not understand."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from eval.made_tests.call_text import parse, render
from eval.made_tests.grammar import Grammar, InputRefused
from eval.made_tests.reading.calls import read_call
from eval.made_tests.values import check

DATA = Path(__file__).parent / "data"
UNDERSTOOD = json.loads((DATA / "nodes.json").read_text(encoding="utf-8"))
NOT_UNDERSTOOD = tomllib.loads((DATA / "nodes_not_understood.toml").read_text(encoding="utf-8"))["case"]


def _named(cases: list[Any]) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in cases]


def read(case: dict[str, Any]) -> Grammar:
    lines = "\n".join(f"* {sentence}" for sentence in case["constraints"])
    statement = f"{case.get('premises', 'Do it.')}\n\n**Example 1:**\n\nInput: x\n\n**Constraints:**\n\n{lines}\n"
    return read_call(statement, [(name, kind) for name, kind in case["parameters"]])


def _text(arguments: list[Any]) -> str:
    return "\n".join(map(json.dumps, arguments))


@pytest.mark.parametrize("case", _named(UNDERSTOOD))
def test_a_grammar_allows_what_its_statement_allows(case: dict[str, Any]) -> None:
    grammar = read(case)
    assert grammar.not_understood == ()
    for arguments in case["accepts"]:
        values = parse(grammar, _text(arguments))
        check(grammar, values)
        assert render(grammar, values) == _text(arguments)


@pytest.mark.parametrize("case", _named(UNDERSTOOD))
def test_a_grammar_refuses_what_breaks_one_sentence(case: dict[str, Any]) -> None:
    grammar = read(case)
    for arguments in case["refuses"]:
        with pytest.raises(InputRefused):
            check(grammar, parse(grammar, _text(arguments)))


@pytest.mark.parametrize("case", _named(UNDERSTOOD))
def test_without_one_sentence_something_is_open_or_allowed(case: dict[str, Any]) -> None:
    whole = read(case)
    for place in range(len(case["constraints"])):
        shorter = [*case["constraints"][:place], *case["constraints"][place + 1 :]]
        assert read({**case, "constraints": shorter}) != whole, case["constraints"][place]


@pytest.mark.parametrize("case", _named(NOT_UNDERSTOOD))
def test_what_is_not_understood_is_said_whole(case: dict[str, Any]) -> None:
    assert list(read(case).not_understood) == case["not_understood"]


@pytest.mark.parametrize("text", ["[null, 1]", "[1, null, null, 2]", "[1, 2.5]", '[1, "a"]', "3", "[[1]]"])
def test_what_is_no_tree_is_refused(text: str) -> None:
    with pytest.raises(InputRefused, match="root"):
        parse(read(UNDERSTOOD[0]), text)


def test_missing_children_at_the_end_make_no_difference() -> None:
    grammar = read(UNDERSTOOD[0])
    assert parse(grammar, "[1, 2, null, null, null]") == parse(grammar, "[1, 2]")
    assert parse(grammar, "[null]") == parse(grammar, "[]")
