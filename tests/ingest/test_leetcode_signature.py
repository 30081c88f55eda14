from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.errors import BadRow
from ingest.sources._leetcode_examples import Example
from ingest.sources._leetcode_signature import Signature, read_signature, read_type, read_typed, sample_tests
from ingest.sources.leetcode import parse_question
from ingest.text import require_call_test
from tests.ingest.leetcode_pages import meta, page, question, tree

NUMS = {"name": "nums", "type": "integer[]"}
FERRY = {
    "classname": "FerryQueue",
    "constructor": {"params": [{"type": "integer", "name": "places"}]},
    "methods": [
        {"name": "board", "params": [{"type": "integer", "name": "car"}], "return": {"type": "boolean"}},
        {"name": "leave", "params": [], "return": {"type": "integer"}},
        {"name": "load", "params": [], "return": {"type": "double"}},
        {"name": "clear", "params": [], "return": {"type": "void"}},
    ],
    "systemdesign": True,
    "return": {"type": "list<String>", "dealloc": True},
    "params": [{"name": "inputs", "type": "integer[]"}, {"name": "inputs", "type": "integer[]"}],
}


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
        ("ListNode", "listnode"),
        ("list<TreeNode>", "treenode[]"),
    ],
)
def test_types_have_one_spelling(written: str, kind: str) -> None:
    assert read_type(written) == kind


@pytest.mark.parametrize("written", ["integer" + "[]" * 50_000, "list<" * 20_000, " " * 100_000])
def test_a_type_that_is_too_long_to_be_one_is_refused(written: str) -> None:
    with pytest.raises(BadRow, match="metaData has a type of 10000"):
        read_type(written)


def test_a_function_is_called_with_its_parameters() -> None:
    signature = read_signature(
        meta(name="sumUp", params=[NUMS, {"name": "k", "type": "long"}], **{"return": {"type": "String"}})
    )
    assert (signature.name, signature.params, signature.answer_type) == (
        "sumUp",
        (("nums", "integer[]"), ("k", "long")),
        "string",
    )
    assert signature.obstacles() == ()


@pytest.mark.parametrize(
    ("given", "flags", "says"),
    [
        (
            {"name": "sort", "params": [NUMS], "return": {"type": "void"}, "output": {"paramindex": 0}},
            ["in_place"],
            "nums",
        ),
        (
            {"name": "walk", "params": [{"name": "root", "type": "TreeNode"}], "return": {"type": "integer"}},
            ["data_structure"],
            "treenode",
        ),
        ({"name": "list", "params": [NUMS], "return": {"type": "list<ListNode>"}}, ["data_structure"], "listnode[]"),
        (
            {"name": "ok", "params": [{"name": "a", "type": "list<list<String>>"}], "return": {"type": "double[][]"}},
            [],
            "",
        ),
        (
            {"name": "guess", "params": [NUMS], "return": {"type": "integer"}, "manual": True},
            ["custom_judge"],
            "manual",
        ),
        ({"name": "sum", "params": [NUMS], "return": {"type": "integer"}, "manual": False}, [], ""),
        (FERRY, ["design_class"], "FerryQueue"),
        (
            FERRY | {"constructor": {"params": [{"name": "root", "type": "TreeNode"}]}, "manual": True},
            ["design_class", "data_structure", "custom_judge"],
            "FerryQueue",
        ),
    ],
)
def test_what_the_judge_cannot_run_is_flagged(given: dict[str, Any], flags: list[str], says: str) -> None:
    obstacles = read_signature(json.dumps(given)).obstacles()
    assert [name for name, _ in obstacles] == flags
    assert says in "".join(reason for _, reason in obstacles)


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
        ("[1,null]", "treenode", [1, None]),
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
        ("2", "void"),
    ],
)
def test_an_answer_of_another_type_is_refused(answer: str, kind: str) -> None:
    with pytest.raises(BadRow, match=r"^its output "):
        read_typed(answer, kind)


SIGNATURE = Signature("f", (("n", "integer"),), "integer")


def samples_of(cases: list[str], examples: list[Example], signature: Signature = SIGNATURE) -> tuple[Any, Any]:
    tests, flaws = sample_tests({"exampleTestcaseList": cases}, signature, examples)
    for test in tests:
        assert test.expected is not None
        require_call_test(test.input, test.expected)
    return [(test.name, test.input, test.expected) for test in tests], flaws


def test_only_certain_pairs_are_tests_and_the_others_say_why() -> None:
    assert samples_of(["1", "2"], [Example("n = 1", "10"), Example("n = 2", "20")]) == (
        [("sample 1", b"1", b"10"), ("sample 2", b"2", b"20")],
        (),
    )
    assert samples_of(["1", "2", "3"], [Example("n = 1", "10"), Example("n = 3", "x")]) == (
        [("sample 1", b"1", b"10")],
        (
            "example 2: no output of the statement is certainly its own",
            "example 3: its output is not JSON: 'x'",
            "inputs: 3, outputs in the statement: 2",
        ),
    )
    assert samples_of(["x", "2", "2\n3", "true"], [Example("n = 2", "20")]) == (
        [("sample 2", b"2", b"20")],
        (
            "example 1: its input is not JSON in line 1: 'x'",
            "example 3: lines of its input: 2, parameters: 1",
            "example 4: its argument n is true or false, not integer",
            "inputs: 4, outputs in the statement: 1",
        ),
    )
    assert samples_of([], []) == ([], ("there are no example inputs",))


@pytest.mark.parametrize(
    ("fields", "inputs"),
    [
        ({"exampleTestcaseList": ["1\n2"], "exampleTestcases": "3\n4"}, [b"1\n2"]),
        ({"exampleTestcaseList": [], "exampleTestcases": "1\n2\n3\n4\n"}, [b"1\n2", b"3\n4"]),
        ({"exampleTestcases": "1\n2\n3", "sampleTestCase": "3\n4"}, [b"3\n4"]),
        ({"exampleTestcases": None, "sampleTestCase": "1\r\n2"}, [b"1\n2"]),
        ({}, []),
    ],
)
def test_example_inputs_come_from_the_list_or_else_from_the_older_fields(
    fields: dict[str, Any], inputs: list[bytes]
) -> None:
    signature = Signature("f", (("a", "integer"), ("b", "integer")), "integer")
    examples = [Example("a = 1, b = 2", "3"), Example("a = 3, b = 4", "7")]
    tests, _ = sample_tests(fields, signature, examples)
    assert [test.input for test in tests] == inputs


CALLS = '["FerryQueue","board","board","leave","load"]\n[[2],[7],[9],[],[]]'


def test_a_class_to_design_keeps_its_two_lines_and_is_flagged() -> None:
    content = str(tree("markup_class.html").body)
    read = parse_question(page(question(content=content, metaData=json.dumps(FERRY), exampleTestcaseList=[CALLS])))
    suite = read.record.suite
    assert suite is not None
    assert suite.entry_point == "FerryQueue"
    assert [(test.input, test.expected) for test in suite.tests] == [(CALLS.encode(), b"[null, true, true, 7, 0.5]")]
    assert [name for name, _ in read.record.flags] == ["design_class"]


@pytest.mark.parametrize(
    ("case", "answer", "says"),
    [
        (CALLS, "[null, true, true, 7]", "is not one value for each of its 5 calls"),
        (CALLS, "[null, true, true, 7, null]", "its output for load is null, not double"),
        (CALLS, "[0, true, true, 7, 1]", "its output for FerryQueue is a number, not void"),
        ('["FerryQueue","sink"]\n[[2],[]]', "[null, null]", "it calls 'sink', which metaData does not have"),
        ('["FerryQueue"]\n[[2],[]]', "[null]", "not as many names as lists of arguments"),
        ('["FerryQueue"]', "[null]", "lines of its input: 1, parameters: 2"),
    ],
)
def test_calls_of_a_class_that_do_not_fit_are_no_test(case: str, answer: str, says: str) -> None:
    tests, flaws = samples_of([case], [Example(case, answer)], read_signature(json.dumps(FERRY)))
    assert tests == []
    assert says in flaws[0]


def test_doubles_of_a_class_are_floats_however_written() -> None:
    case = '["FerryQueue","load","clear"]\n[[2],[],[]]'
    tests, flaws = samples_of([case], [Example(case, "[null, 2, null]")], read_signature(json.dumps(FERRY)))
    assert (tests, flaws) == ([("sample 1", case.encode(), b"[null, 2.0, null]")], ())


def test_an_argument_changed_in_place_is_the_expected_value() -> None:
    content = "<pre><b>Input:</b> nums = [2,0,1]\n<b>Output:</b> [0,1,2]</pre>"
    data = meta(name="sortColours", params=[NUMS], output={"paramindex": 0}, **{"return": {"type": "void"}})
    record = parse_question(page(question(content=content, metaData=data, exampleTestcaseList=["[2,0,1]"]))).record
    assert record.suite is not None
    assert [(test.input, test.expected) for test in record.suite.tests] == [(b"[2,0,1]", b"[0, 1, 2]")]
    assert record.flags == (("in_place", "the answer is what becomes of nums, and the judge sees the returned value"),)


@pytest.mark.parametrize(
    ("content", "cases", "flag", "says"),
    [
        ("<p>No example.</p>", ["[]\n1"], "examples_unclear", "inputs: 1, outputs in the statement: 0"),
        ("<pre>Input: [], 1\nOutput:\n</pre>", ["[]\n1"], "examples_unclear", "example 1: its output is empty"),
        ("<pre>Input: [], 1\nOutput: 5 or 6</pre>", ["[]\n1"], "examples_unclear", "example 1: its output goes on"),
        (
            "<pre>Input: [], 1\nOutput: 5\nInput: ['a'], 2\nOutput: 6\nInput: [], 3</pre>",
            ["[]\n1", '["a"]\n2', "[]\n3"],
            "partial_tests",
            "example 2: no output of the statement is certainly its own; example 3: no output",
        ),
    ],
)
def test_fewer_outputs_than_inputs_are_flagged_with_the_reason(
    content: str, cases: list[str], flag: str, says: str
) -> None:
    read = parse_question(page(question(content=content, exampleTestcaseList=cases)))
    ((name, reason),) = read.record.flags
    assert name == flag
    assert says in reason
    assert read.notes == tuple(reason.split("; "))
    assert (read.record.suite is None) == (flag == "examples_unclear")
