from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.errors import BadRow
from ingest.sources._leetcode_signature import read_signature, read_type, read_typed
from tests.ingest.leetcode_pages import FERRY, NUMS, meta


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("integer", "integer"),
        ("String", "string"),
        ("list<integer>", "integer[]"),
        ("List<List<String>>", "string[][]"),
        ("list<string[]>", "string[][]"),
        ("character[][]", "character[][]"),
        ("int", "integer"),
        (" double ", "double"),
        ("listnode", "ListNode"),
        ("list<TreeNode>", "TreeNode[]"),
        ("NestedInteger[]", "NestedInteger[]"),
        ("Node", "Node"),
    ],
)
def test_types_have_one_spelling(written: str, kind: str) -> None:
    assert read_type(written) == kind


@pytest.mark.parametrize("written", ["Node", "node"])
def test_a_node_is_of_the_kind_that_the_starter_code_defines(written: str) -> None:
    assert read_type(written, "Node.random") == "Node.random"
    assert read_type(f"list<{written}>", "Node.random") == "Node.random[]"
    assert read_type("ListNode", "Node.random") == "ListNode"


@pytest.mark.parametrize("written", ["integer" + "[]" * 50_000, "list<" * 20_000, " " * 100_000])
def test_a_type_that_is_too_long_to_be_one_is_refused(written: str) -> None:
    with pytest.raises(BadRow, match="metaData has a type of 10000"):
        read_type(written)


def test_a_function_is_called_with_its_parameters() -> None:
    signature = read_signature(
        meta(name="sumUp", params=[NUMS, {"name": "k", "type": "long"}], **{"return": {"type": "String"}})
    )
    assert (signature.name, signature.call.params, signature.answer_type) == (
        "sumUp",
        (("nums", "integer[]"), ("k", "long")),
        "string",
    )
    assert signature.obstacles() == ()
    assert signature.as_plain() == {
        "parameters": ["integer[]", "long"],
        "returns": "string",
        "answer": None,
        "methods": {},
    }


def function(parameter: str, returned: str, **more: Any) -> dict[str, Any]:
    return {"name": "f", "params": [{"name": "root", "type": parameter}], "return": {"type": returned}, **more}


PLACE_0 = {"paramindex": 0}


@pytest.mark.parametrize(
    ("given", "flags", "says"),
    [
        (function("integer[]", "void", output=PLACE_0), [], ""),
        (function("TreeNode", "list<ListNode>"), [], ""),
        (function("list<list<String>>", "double[][]"), [], ""),
        (function("integer[]", "integer", manual=False), [], ""),
        (FERRY, [], ""),
        (FERRY | {"constructor": {"params": [{"name": "root", "type": "TreeNode"}]}}, [], ""),
        (function("Node", "integer"), ["data_structure"], "it uses Node, which the judge does not know"),
        (function("integer", "list<NestedInteger>"), ["data_structure"], "it uses NestedInteger[], which"),
        (
            FERRY | {"constructor": {"params": [{"name": "all", "type": "Iterator"}]}},
            ["data_structure"],
            "it uses Iterator",
        ),
        (function("ListNode.pos", "integer"), ["data_structure"], "only for the parameter after a ListNode"),
        (function("Node.next", "Node.child"), ["data_structure"], "are both called Node"),
        (function("integer[]", "integer", manual=True), ["custom_judge"], "metaData says manual"),
        (FERRY | {"manual": True}, ["custom_judge"], "metaData says manual"),
        (function("Node", "Node", manual=True), ["data_structure", "custom_judge"], "manual"),
        (
            function("integer[]", "integer", output=PLACE_0),
            ["custom_judge"],
            "the answer is a part of root, whose length the call says",
        ),
        (
            function("integer[]", "void", output=PLACE_0 | {"size": "ret"}),
            ["custom_judge"],
            "the answer is a part of root, whose length the call says",
        ),
        (function("integer[]", "void"), ["custom_judge"], "it returns nothing, and no argument is named as the answer"),
    ],
)
def test_what_the_judge_cannot_run_is_flagged(given: dict[str, Any], flags: list[str], says: str) -> None:
    signature = read_signature(json.dumps(given))
    obstacles = signature.obstacles()
    assert [name for name, _ in obstacles] == flags
    assert says in "; ".join(reason for _, reason in obstacles)
    assert (signature.as_plain() is None) == ("data_structure" in flags)


NODE = '''"""
# Definition for a Node.
class Node:
    def __init__(self, val: int = 0, {fields}):
        self.val = val
        {sets}
"""

class Solution:
    def f(self, root: 'Optional[Node]') -> 'Optional[Node]':
        '''


def starter(*fields: str) -> str:
    sets = "\n        ".join(f"self.{field} = {field}" for field in fields)
    return NODE.format(fields=", ".join(f"{field}: 'Node' = None" for field in fields), sets=sets)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (("next", "random"), "Node.random"),
        (("children",), "Node.children"),
        (("neighbors",), "Node.neighbors"),
        (("left", "right", "next"), "Node.next"),
        (("prev", "next", "child"), "Node.child"),
        (("isLeaf", "topLeft", "topRight", "bottomLeft", "bottomRight"), "Node.quad"),
    ],
)
def test_which_node_it_is_is_seen_from_the_starter_code(fields: tuple[str, ...], kind: str) -> None:
    signature = read_signature(json.dumps(function("Node", "list<Node>")), starter(*fields))
    assert signature.call.types == (kind, f"{kind}[]")
    assert signature.obstacles() == ()


@pytest.mark.parametrize("fields", [("left", "right"), ("left", "right", "parent"), ("next",)])
def test_a_node_of_no_known_kind_is_flagged(fields: tuple[str, ...]) -> None:
    signature = read_signature(json.dumps(function("Node", "Node")), starter(*fields))
    assert signature.obstacles() == (("data_structure", "it uses Node, which the judge does not know"),)


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        (
            function("integer", "integer"),
            "class Solution:\n    def f(self, root: Optional[TreeNode]) -> int:\n        ",
            "f has TreeNode in the starter code where metaData has integer",
        ),
        (
            function("TreeNode", "integer"),
            "class Solution:\n    def f(self, root: 'Node', pos: int) -> int:\n        ",
            "f has 2 parameters in the starter code, 1 in metaData",
        ),
        (
            FERRY,
            "class FerryQueue:\n\n    def __init__(self, places: 'Node'):\n        \n",
            "__init__ has Node in the starter code where metaData has integer",
        ),
        (
            FERRY,
            "class FerryQueue:\n\n    def board(self, car: int, at: int) -> bool:\n        ",
            "board has 2 parameters in the starter code, 1 in metaData",
        ),
    ],
)
def test_a_starter_code_that_says_otherwise_is_flagged(given: dict[str, Any], code: str, says: str) -> None:
    assert read_signature(json.dumps(given), code).obstacles() == (("data_structure", says),)


@pytest.mark.parametrize(
    "code", ["", "class Solution:\n    def f(self, root):\n        ", "def f(:\n def g(((:\n def:\n", "def " * 30_000]
)
def test_a_starter_code_that_says_nothing_raises_no_doubt(code: str) -> None:
    assert read_signature(json.dumps(function("TreeNode", "integer")), code).obstacles() == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "metaData is not JSON"),
        ("{'name': 'x'}", "metaData is not JSON"),
        ("[" * 100_000, "metaData is not JSON"),
        ('"twoSum"', "metaData is a text, not an object"),
        ("{}", "has no name"),
        (meta(name="x", params={}), "params is an object, not a list"),
        (meta(name="x", params=["nums"]), "parameter 1 is a text, not an object"),
        (meta(name="x", params=[{"name": "nums"}]), "has no type"),
        (meta(name="x", params=[NUMS], output={"paramindex": 1}), "paramindex is 1 for 1 parameters"),
        (meta(name="x", params=[NUMS], output={"paramindex": True}), "paramindex is True"),
        (meta(classname="X", methods=[{"params": []}]), "has no name"),
    ],
)
def test_meta_data_that_names_nothing_to_call_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadRow, match=says):
        read_signature(text)


@pytest.mark.parametrize(
    ("answer", "kind", "value"),
    [
        ("2", "integer", 2),
        ("2.50000", "double", 2.5),
        ("2", "double", 2.0),
        ("[1, 2.5]", "double[]", [1.0, 2.5]),
        ("True", "boolean", True),
        ("false", "boolean", False),
        ('""', "string", ""),
        ("lampo", "string", "lampo"),
        ("12", "string", "12"),
        ("a row\n\nIt is a row.", "string", "a row"),
        ("o", "character", "o"),
        ('[["1"]]', "character[][]", [["1"]]),
        ("[1,null]", "TreeNode", [1]),
        ("[1,null,2,null,null]", "TreeNode", [1, None, 2]),
        ("[]", "TreeNode", []),
        ("null", "ListNode", []),
        ("[[1,2],[]]", "ListNode[]", [[1, 2], []]),
        ("[[2,3],[1],[1]]", "Node.neighbors", [[2, 3], [1], [1]]),
        ("[[3,2],[1],[1]]", "Node.neighbors", [[2, 3], [1], [1]]),
        ("[[7,null],[1,0]]", "Node.random", [[7, None], [1, 0]]),
        ("[[0,0],[1,0],[1,0],[1,1],[1,1]]", "Node.quad", [[0, 1], [1, 0], [1, 0], [1, 1], [1, 1]]),
        ("[1,#,2,3,#]", "Node.next", [1, "#", 2, 3, "#"]),
        ('[1,"#",2,"#"]', "Node.next", [1, "#", 2, "#"]),
        ("[1,2]", "NestedInteger", [1, 2]),
        ("null", "void", None),
    ],
)
def test_an_answer_is_read_by_its_type(answer: str, kind: str, value: Any) -> None:
    found = read_typed(answer, kind)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("2.5", "integer"),
        ("true", "integer"),
        ("1", "boolean"),
        ("TRUE", "boolean"),
        ('"2"', "double"),
        ("1" + "0" * 400, "double"),
        ("2", "integer[]"),
        ("[1]", "integer[][]"),
        ("null", "string"),
        ("'e'", "character"),
        ("ab", "character"),
        ("", "string"),
        ("two\nlines", "string"),
        ("Intersected at '8'", "integer"),
        ("3", "TreeNode"),
        ("[[1]]", "ListNode"),
        ("[null,1]", "TreeNode"),
        ("tail connects to node index 1", "ListNode"),
        ("1", "Node.next"),
        ("2", "void"),
    ],
)
def test_an_answer_of_another_type_is_refused(answer: str, kind: str) -> None:
    with pytest.raises(BadRow, match=r"^its output "):
        read_typed(answer, kind)
