"""Grammars of calls: which arguments they allow, and what of a statement they do not understand."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from eval.made_tests.call_text import parse, render
from eval.made_tests.grammar import Columns, Grammar, GraphKind, InputRefused
from eval.made_tests.grammar import Graph as GraphConstraint
from eval.made_tests.reading.calls import read_call
from eval.made_tests.values import check

DATA = Path(__file__).parent / "data"
EXAMPLES = "\n\nExample 1:\n\nInput: x = [1]\nOutput: 1\nExplanation: It is guaranteed to be so.\n\n \n"


def _cases(name: str) -> list[Any]:
    return [
        pytest.param(case, id=case["name"]) for case in tomllib.loads((DATA / name).read_text(encoding="utf-8"))["case"]
    ]


def _read(case: dict[str, Any]) -> Grammar:
    lines = "\n".join(case["constraints"])
    statement = f"{case.get('premises', 'Do it.')}{EXAMPLES}Constraints:\n\n{lines}\n"
    return read_call(statement, [(name, type_name) for name, type_name in case["parameters"]])


def _text(arguments: list[Any]) -> str:
    return "\n".join(map(json.dumps, arguments))


@pytest.mark.parametrize("case", _cases("calls.toml"))
def test_a_grammar_allows_what_its_statement_allows(case: dict[str, Any]) -> None:
    grammar = _read(case)
    assert grammar.not_understood == ()
    for arguments in case["accepts"]:
        values = parse(grammar, _text(arguments))
        check(grammar, values)
        assert render(grammar, values) == _text(arguments)


@pytest.mark.parametrize("case", _cases("calls.toml"))
def test_a_grammar_refuses_what_breaks_one_sentence(case: dict[str, Any]) -> None:
    grammar = _read(case)
    for arguments in case["refuses"]:
        with pytest.raises(InputRefused):
            check(grammar, parse(grammar, _text(arguments)))


@pytest.mark.parametrize("case", _cases("calls_not_understood.toml"))
def test_what_is_not_understood_is_said_whole(case: dict[str, Any]) -> None:
    grammar = _read(case)
    assert list(grammar.not_understood) == case["not_understood"]
    assert grammar.is_complete == (not case["not_understood"])


@pytest.mark.parametrize("case", _cases("calls.toml"))
def test_without_one_sentence_something_is_open_or_allowed(case: dict[str, Any]) -> None:
    """Each sentence matters: no grammar without it is the same, except for those that say a thing again."""
    whole = _read(case)
    again = (
        *("a_i == queries[i][0]", "The input is generated such that:", "Follow-up", "queries[i].length == 2"),
        *("edges[i].length == 3", "edges1[i].length == "),
    )
    for place, sentence in enumerate(case["constraints"]):
        if sentence.startswith(again):
            continue
        shorter = [*case["constraints"][:place], *case["constraints"][place + 1 :]]
        assert _read({**case, "constraints": shorter}) != whole, sentence


def test_parameters_keep_their_order_and_lengths_are_no_parameters() -> None:
    case = {
        "parameters": [["k", "int"], ["edges", "List[List[int]]"], ["a", "List[int]"]],
        "constraints": ["n == a.length", "1 <= k <= n <= 9", "edges.length == n - 1", "edges[i] = [u_i, v_i]"],
    }
    grammar = _read(case)
    assert grammar.parameters == ("k", "edges", "a")
    assert grammar.columns == (Columns("edges", ("u", "v")),)
    assert {variable.name for variable in grammar.variables} == {"k", "u", "v", "a", "n"}
    assert all(variable.first_index == 0 for variable in grammar.variables)
    assert parse(grammar, "1\n[[0, 1], [1, 2]]\n[7, 8, 9]") == {
        "k": 1,
        "u": [0, 1],
        "v": [1, 2],
        "a": [7, 8, 9],
        "n": 3,
    }


def test_columns_whose_names_are_taken_are_called_by_their_numbers() -> None:
    case = {
        "parameters": [["l", "int"], ["queries", "List[List[int]]"]],
        "constraints": ["1 <= l <= 9", "queries[i] = [l_i, r_i]", "1 <= queries.length <= 3", "0 <= l_i <= r_i <= 9"],
    }
    grammar = _read(case)
    assert grammar.is_complete
    check(grammar, parse(grammar, "9\n[[0, 5]]"))
    with pytest.raises(InputRefused):
        check(grammar, parse(grammar, "9\n[[6, 5]]"))


def test_a_tree_is_said_as_a_graph_on_all_vertices() -> None:
    case = {
        "parameters": [["edges", "List[List[int]]"]],
        "constraints": [
            *("2 <= n <= 9", "edges.length == n - 1", "edges[i] = [u_i, v_i]", "1 <= u_i, v_i <= n"),
            "edges represents a valid tree",
        ],
    }
    (graph,) = [each for each in _read(case).constraints if isinstance(each, GraphConstraint)]
    assert (graph.first, graph.second, graph.kinds) == ("u", "v", frozenset({GraphKind.TREE}))


def test_there_is_no_grammar_without_a_list_of_constraints() -> None:
    grammar = read_call("You are given n. 1 <= n <= 5.", [("n", "int")])
    assert grammar.not_understood == ("(the statement has no list of constraints)",)
    assert read_call("Constraints:\n", []).not_understood == ("(the call has no parameters)",)
    assert not read_call("Constraints:\n", [("n", "int")]).is_complete
    assert not read_call("", [("n", "int")]).is_complete


def test_the_last_list_of_constraints_counts() -> None:
    statement = "Constraints:\n1 <= n <= 5\n\nExample 1:\nx\nConstraints:\n1 <= n <= 7\n"
    check(grammar := read_call(statement, [("n", "int")]), parse(grammar, "7"))
