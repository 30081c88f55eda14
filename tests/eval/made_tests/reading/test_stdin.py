"""Grammars from statements: what they accept and refuse, and what is not understood. The cases are data."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from eval.made_tests.grammar import InputRefused
from eval.made_tests.reading.stdin import read_stdin
from eval.made_tests.stdin_text import parse, render
from eval.made_tests.values import check

DATA = Path(__file__).parent / "data"
CASES = tomllib.loads((DATA / "stdin.toml").read_text(encoding="utf-8"))["case"]
NOT_UNDERSTOOD = tomllib.loads((DATA / "stdin_not_understood.toml").read_text(encoding="utf-8"))["case"]
STATEMENTS = tomllib.loads((DATA / "stdin_statements.toml").read_text(encoding="utf-8"))["statement"]


def _name(case: dict[str, Any]) -> str:
    return str(case["name"])


def statement_of(case: dict[str, Any]) -> str:
    """A statement in plain text, as it is recorded."""
    lines = [case.get("task", "Read the input and print the answer."), "", "Input", ""]
    lines += ["The input is given from Standard Input in the following format:", *case["format"].split(" / ")]
    if "after_format" in case:
        lines += ["", *case["after_format"].split(" / ")]
    lines += ["", "Output", "", "Print the answer.", ""]
    if case["constraints"]:
        lines += ["Constraints", "", "", *(f"- {sentence}" for sentence in case["constraints"]), ""]
    return "\n".join([*lines, "Sample Input 1", "", "1", "", "Sample Output 1", "", "1", ""])


def markdown_of(case: dict[str, Any]) -> str:
    """The same statement in Markdown, as sources keep it."""
    lines = [case.get("task", "Read the input and print the answer."), "", "### Constraints", ""]
    lines += [f"* {sentence}" for sentence in case["constraints"]]
    lines += ["", "---", "", "### Input", "", "The input is given from Standard Input in the following format:", ""]
    lines += ["```", *case["format"].split(" / "), "```", ""]
    return "\n".join(
        [*lines, "### Output", "", "Print the answer.", "", "### Sample Input 1", "", "```", "1", "```", ""]
    )


@pytest.mark.parametrize("write", [statement_of, markdown_of], ids=["plain", "markdown"])
@pytest.mark.parametrize("case", CASES, ids=_name)
def test_grammar_accepts_and_refuses(case: dict[str, Any], write: Any) -> None:
    grammar = read_stdin(write(case))
    assert grammar.not_understood == ()
    for text in case["accepted"]:
        values = parse(grammar, text)
        check(grammar, values)
        assert parse(grammar, render(grammar, values)) == values
    for text in case["refused"]:
        values = parse(grammar, text)
        with pytest.raises(InputRefused):
            check(grammar, values)
    for text in case.get("unparsed", ()):
        with pytest.raises(InputRefused, match=r"^line \d+: "):
            parse(grammar, text)


@pytest.mark.parametrize("case", NOT_UNDERSTOOD, ids=_name)
def test_what_is_not_understood_is_said_in_whole(case: dict[str, Any]) -> None:
    grammar = read_stdin(statement_of(case))
    assert not grammar.is_complete
    assert set(grammar.not_understood) == set(case["not_understood"])


@pytest.mark.parametrize("statement", STATEMENTS, ids=_name)
def test_statement(statement: dict[str, Any]) -> None:
    grammar = read_stdin((DATA / "stdin" / statement["name"]).read_text(encoding="utf-8"))
    assert list(grammar.not_understood) == statement.get("not_understood", [])
    variables = {variable.name: variable.kind.value for variable in grammar.variables}
    assert variables == statement["variables"]
    assert grammar.per_case == frozenset(statement.get("per_case", []))
    for text in statement["accepted"]:
        values = parse(grammar, text)
        check(grammar, values)
        assert render(grammar, values) == text
    for text in statement["refused"]:
        with pytest.raises(InputRefused):
            check(grammar, parse(grammar, text))


def test_the_same_statement_gives_the_same_grammar() -> None:
    for case in CASES:
        assert read_stdin(statement_of(case)) == read_stdin(statement_of(case))


def test_order_of_the_parts_does_not_matter() -> None:
    for case in CASES:
        plain, marked = read_stdin(statement_of(case)), read_stdin(markdown_of(case))
        assert set(plain.constraints) == set(marked.constraints)
        assert plain.blocks == marked.blocks
