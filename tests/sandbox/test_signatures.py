"""Types of call-based problems in every spelling, and what the agent is told of a suite."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import Io, Suite, Test, Verdict, values
from sandbox.programs import Comparison, Signature
from sandbox.signatures import (
    NAMES,
    call_details,
    check_input,
    details_of,
    is_known,
    read_type,
    written_as_returned,
)

SUITE = Suite((Test("1", b"[1,2]", b"[1, 2]"),), Io.FUNCTION, "f")
CALLED = {"form": "function", "entry_point": "f"}


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("integer", "integer"),
        ("int", "integer"),
        ("long", "long"),
        ("float", "double"),
        ("String", "string"),
        ("str", "string"),
        ("char", "character"),
        ("bool", "boolean"),
        ("None", "void"),
        ("", "any"),
        ("list<integer>", "integer[]"),
        ("List<List<String>>", "string[][]"),
        ("list<string[]>", "string[][]"),
        ("character[][]", "character[][]"),
        ("List[List[int]]", "integer[][]"),
        ("list[str]", "string[]"),
        ("Optional[ListNode]", "ListNode"),
        ("ListNode | None", "ListNode"),
        ("List[Optional['ListNode']]", "ListNode[]"),
        ("listnode", "ListNode"),
        ("list<TreeNode>", "TreeNode[]"),
        ("'Optional[Node]'", "Node"),
        ("node.random", "Node.random"),
        ("NestedInteger[]", "NestedInteger[]"),
        (" double ", "double"),
    ],
)
def test_types_have_one_spelling(written: str, kind: str) -> None:
    assert read_type(written) == kind
    assert read_type(kind) == kind


@pytest.mark.parametrize("name", NAMES)
def test_every_known_type_is_its_own_spelling(name: str) -> None:
    assert read_type(name) == name
    assert is_known(f"{name}[][]")


@pytest.mark.parametrize("written", ["integer" + "[]" * 50_000, "list<" * 20_000, " " * 100_000])
def test_a_type_that_is_too_long_to_be_one_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="a type of 10000"):
        read_type(written)


@given(st.text("List[<>]Otional |NoeTr.int'", max_size=40))
def test_any_text_is_read_as_a_type_and_read_once(written: str) -> None:
    kind = read_type(written)
    assert read_type(kind) == kind


def test_without_a_signature_only_the_name_is_told() -> None:
    assert call_details(SUITE) == CALLED


def test_a_signature_is_told_in_the_one_spelling() -> None:
    signature = Signature(("Optional[ListNode]", "List[int]"), "None", answer=0)
    assert call_details(replace(SUITE, signature=signature)) == CALLED | {
        "parameters": ["ListNode", "integer[]"],
        "returns": "void",
        "answer": 0,
    }


def test_a_class_is_told_with_its_methods() -> None:
    methods = (("get", Signature(("int",), "double")), ("clear", Signature((), "void")))
    suite = replace(SUITE, io=Io.DESIGN, entry_point="Cache", signature=Signature(("integer",), methods=methods))
    assert call_details(suite) == {
        "form": "design",
        "entry_point": "Cache",
        "parameters": ["integer"],
        "returns": "any",
        "methods": {
            "get": {"parameters": ["integer"], "returns": "double"},
            "clear": {"parameters": [], "returns": "void"},
        },
    }


@pytest.mark.parametrize(
    ("signature", "says"),
    [
        (Signature(("Node",), "integer"), "does not know the type 'Node'; it knows integer, .*Node.random"),
        (Signature((), "list<NestedInteger>"), "does not know the type 'list<NestedInteger>'"),
        (Signature(methods=(("next", Signature((), "Iterator")),)), "does not know the type 'Iterator'"),
        (Signature(("integer",), "void", answer=1), "answer is 1, and there are 1 parameters"),
        (Signature(("ListNode.pos",), "integer"), "only for the parameter after a ListNode"),
        (Signature(("TreeNode", "ListNode.pos"), "integer"), "only for the parameter after a ListNode"),
        (Signature(("ListNode", "ListNode.pos[]"), "integer"), "only for the parameter after a ListNode"),
        (Signature(("ListNode",), "ListNode.pos"), "no type of what is returned"),
        (Signature(("ListNode", "ListNode.pos"), "void", answer=1), "the answer cannot be a ListNode.pos"),
        (Signature(("Node.next",), "Node.child"), "Node.child and Node.next are both called Node"),
    ],
)
def test_what_cannot_be_called_so_is_refused(signature: Signature, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call_details(replace(SUITE, signature=signature))


@pytest.mark.parametrize(
    ("written", "verdict", "says"),
    [
        (b"V[1, 2]", Verdict.ACCEPTED, ""),
        (b"V[1, 3]", Verdict.WRONG_ANSWER, "expected [1, 2], got [1, 3]"),
        (b"V[1, 2", Verdict.WRONG_ANSWER, "returned what is not comparable"),
        (b"Tgenerator", Verdict.WRONG_ANSWER, "returned generator, which has no JSON form"),
        (b"T" + b"\xff" * 500, Verdict.WRONG_ANSWER, "\\xff\\xf…, which has no JSON form"),
        (b"", Verdict.RUNTIME_ERROR, "ended without returning a value"),
        (b"A", Verdict.RUNTIME_ERROR, "ended without returning a value"),
        (b"X[1, 2]", Verdict.RUNTIME_ERROR, "ended without returning a value"),
    ],
)
def test_nothing_that_a_process_writes_is_an_internal_error(written: bytes, verdict: Verdict, says: str) -> None:
    found, detail = values.judge_returned(SUITE, SUITE.tests[0], written, Comparison())
    assert found is verdict
    assert says in detail
    assert len(detail) < 200


def test_a_test_that_cannot_be_read_is_an_internal_error_when_the_process_says_so() -> None:
    suite = replace(SUITE, tests=(Test("1", b"[1,", b"1"),))
    found, detail = values.judge_returned(suite, suite.tests[0], b"A", Comparison())
    assert found is Verdict.INTERNAL_ERROR
    assert "the test's input cannot be read" in detail


def test_an_expected_value_that_is_none_is_an_internal_error() -> None:
    suite = replace(SUITE, tests=(Test("1", b"1", b"one"),))
    found, detail = values.judge_returned(suite, suite.tests[0], b"V1", Comparison())
    assert found is Verdict.INTERNAL_ERROR
    assert "the test's expected value cannot be compared with" in detail


# --- nodes ---------------------------------------------------------------------------------------------------------

BINARY = st.recursive(st.none(), lambda tree: st.tuples(st.integers(), tree, tree), max_leaves=20)
BROAD = st.recursive(
    st.tuples(st.integers(), st.just(())),
    lambda tree: st.tuples(st.integers(), st.lists(tree, max_size=4)),
    max_leaves=20,
)


def without_nulls_at_the_end(values: list[Any]) -> list[Any]:
    while values and values[-1] is None:
        values.pop()
    return values


def binary_as_written(tree: Any) -> list[Any]:
    """A tree of (value, left, right) by levels."""
    waiting, written = [tree], []
    for part in waiting:
        written.append(part and part[0])
        waiting.extend(part[1:] if part else ())
    return without_nulls_at_the_end([value[0] if isinstance(value, tuple) else value for value in written])


def broad_as_written(tree: Any) -> list[Any]:
    """A tree of (value, children) by levels, a null after each group of children."""
    waiting, written = [tree], [tree[0], None]
    for _, children in waiting:
        written += [*(child[0] for child in children), None]
        waiting.extend(children)
    return without_nulls_at_the_end(written)


@given(BINARY)
def test_every_binary_tree_is_read_and_written_alike(tree: Any) -> None:
    written = [] if tree is None else binary_as_written(tree)
    assert written_as_returned(written, "TreeNode") == written
    assert written_as_returned([*written, None, None], "TreeNode") == written


@given(BROAD)
def test_every_tree_is_read_and_written_alike(tree: Any) -> None:
    written = broad_as_written(tree)
    assert written_as_returned(written, "Node.children") == written


@given(st.lists(st.integers(), max_size=5))
def test_every_list_is_read_and_written_alike(values: list[int]) -> None:
    indexes = [*range(len(values)), None]
    pairs = [[value, indexes[(value + place) % len(indexes)]] for place, value in enumerate(values)]
    assert written_as_returned(values, "ListNode") == values
    assert written_as_returned([values, []], "ListNode[]") == [values, []]
    assert written_as_returned(pairs, "Node.random") == pairs
    assert written_as_returned(values, "Node.child") == values


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(st.integers(1, n), max_size=3), min_size=n, max_size=n)))
def test_every_graph_that_hangs_together_is_read_and_written_alike(near: list[list[int]]) -> None:
    first = [*near[0], *range(2, len(near) + 1)]
    written = [sorted(first), *map(sorted, near[1:])]
    assert written_as_returned([first, *near[1:]], "Node.neighbors") == written


@given(
    st.sampled_from(
        ["ListNode", "TreeNode", "Node.random", "Node.children", "Node.neighbors", "Node.child", "Node.quad"]
    ),
    st.lists(st.none() | st.integers(-1, 4) | st.lists(st.none() | st.integers(-1, 4), max_size=3), max_size=6),
)
def test_what_is_no_such_structure_is_refused_and_all_others_are_written(kind: str, value: list[Any]) -> None:
    details = details_of(Io.FUNCTION, "f", Signature((kind,)))
    try:
        check_input(details, json.dumps(value).encode())
        written = written_as_returned(value, kind)
    except ValueError:
        return
    assert written_as_returned(written, kind) == written


def test_nothing_is_made_of_plain_values() -> None:
    assert written_as_returned([1, [True, "x", None]], "any") == [1, [True, "x", None]]
    assert written_as_returned([1, "#"], "Node.next") == [1, "#"]
    assert json.dumps(written_as_returned([2, 0.5], "double[]")) == "[2.0, 0.5]"


@pytest.mark.parametrize("text", [b"[" * 100_000, b"\xff", b"[1,2]\n3", b"nul"])
def test_an_input_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        check_input(details_of(Io.FUNCTION, "f", Signature(("integer[]",))), text)
