from __future__ import annotations

import json
from typing import Any

import pytest

from db.records import IoKind
from ingest.sources._leetcode_examples import Example
from ingest.sources._leetcode_samples import sample_tests
from ingest.sources._leetcode_signature import Method, Signature, read_signature
from ingest.sources.leetcode import parse_question
from ingest.text import require_call_test
from tests.ingest.leetcode_pages import FERRY, NUMS, meta, page, question, tree

SIGNATURE = Signature("f", Method((("n", "integer"),), "integer"))


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
    signature = Signature("f", Method((("a", "integer"), ("b", "integer")), "integer"))
    examples = [Example("a = 1, b = 2", "3"), Example("a = 3, b = 4", "7")]
    tests, _ = sample_tests(fields, signature, examples)
    assert [test.input for test in tests] == inputs


CALLS = '["FerryQueue","board","board","leave","load"]\n[[2],[7],[9],[],[]]'


def test_a_class_to_design_keeps_its_two_lines_and_its_types() -> None:
    content = str(tree("markup_class.html").body)
    read = parse_question(page(question(content=content, metaData=json.dumps(FERRY), exampleTestcaseList=[CALLS])))
    suite = read.record.suite
    assert suite is not None
    assert (suite.io_kind, suite.entry_point) == (IoKind.DESIGN, "FerryQueue")
    assert [(test.input, test.expected) for test in suite.tests] == [(CALLS.encode(), b"[null, true, true, 7, 0.5]")]
    assert suite.signature is not None
    assert suite.signature["parameters"] == ["integer"]
    assert {name: (method["parameters"], method["returns"]) for name, method in suite.signature["methods"].items()} == {
        "board": (["integer"], "boolean"),
        "leave": ([], "integer"),
        "load": ([], "double"),
        "clear": ([], "void"),
    }
    assert read.record.flags == ()


def test_a_class_that_answers_at_random_is_flagged() -> None:
    content = str(tree("markup_class.html").body).replace("<p>", "<p>Cars leave in random order.</p><p>", 1)
    read = parse_question(page(question(content=content, metaData=json.dumps(FERRY), exampleTestcaseList=[CALLS])))
    assert read.record.flags == (("multiple_answers", "Cars leave in random order."),)


@pytest.mark.parametrize(
    ("case", "answer", "says"),
    [
        (CALLS, "[null, true, true, 7]", "is not one value for each of its 5 calls"),
        (CALLS, "[null, true, true, 7, null]", "its output for load is null, not double"),
        (CALLS, "[0, true, true, 7, 1]", "its output for FerryQueue is a number, not void"),
        ('["FerryQueue","sink"]\n[[2],[]]', "[null, null]", "it calls 'sink', which metaData does not have"),
        ('["FerryQueue"]\n[[2],[]]', "[null]", "not as many names as lists of arguments"),
        ('["FerryQueue"]', "[null]", "lines of its input: 1, parameters: 2"),
        ('["FerryQueue","leave"]\n[[2],7]', "[null, 7]", "not as many names as lists of arguments"),
        ('["FerryQueue",7]\n[[2],[]]', "[null, 7]", "its names are not all texts"),
        ('["leave"]\n[[]]', "[7]", "it does not make one FerryQueue and then call its methods"),
        ('["FerryQueue","FerryQueue"]\n[[2],[2]]', "[null, null]", "it does not make one FerryQueue"),
        ('["FerryQueue","board"]\n[[2],[1,2]]', "[null, true]", "arguments of board: 2, parameters: 1"),
        ('["FerryQueue"]\n[["2"]]', "[null]", "its argument places of FerryQueue is a text, not integer"),
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
    assert record.suite.signature == {"parameters": ["integer[]"], "returns": "void", "answer": 0, "methods": {}}
    assert record.flags == ()


def test_a_problem_of_nodes_is_judged_by_them() -> None:
    content = "<pre><b>Input:</b> root = [2,null,1], k = 1\n<b>Output:</b> [2,3,1,null]</pre>"
    params = [{"name": "root", "type": "TreeNode"}, {"name": "k", "type": "integer"}]
    data = meta(name="graft", params=params, **{"return": {"type": "TreeNode"}})
    record = parse_question(
        page(question(content=content, metaData=data, exampleTestcaseList=["[2,null,1]\n1"]))
    ).record
    assert record.suite is not None
    assert [(test.input, test.expected) for test in record.suite.tests] == [(b"[2,null,1]\n1", b"[2, 3, 1]")]
    assert record.suite.signature is not None
    assert record.suite.signature["parameters"] == ["TreeNode", "integer"]
    assert record.flags == ()


def test_nodes_that_cannot_be_made_are_no_test() -> None:
    params = [{"name": "root", "type": "TreeNode"}]
    signature = read_signature(meta(name="f", params=params, **{"return": {"type": "integer"}}))
    tests, flaws = samples_of(["[1,null,null,4]"], [Example("root = [1,null,null,4]", "1")], signature)
    assert tests == []
    assert flaws == ("example 1: its argument root is no TreeNode: a tree has nodes under no node",)


def any_order(sentence: str, returned: str) -> Any:
    content = f"<p>{sentence}</p><pre><b>Input:</b> nums = [2,0,1]\n<b>Output:</b> [0,1]</pre>"
    data = meta(name="pick", params=[NUMS], **{"return": {"type": returned}})
    return parse_question(page(question(content=content, metaData=data, exampleTestcaseList=["[2,0,1]"]))).record


def test_a_list_in_any_order_is_compared_so_and_not_flagged() -> None:
    record = any_order("You can return the answer in any order.", "list<integer>")
    assert record.suite.comparison == {"unordered": "list"}
    assert record.flags == ()


def test_what_is_no_list_or_is_free_otherwise_stays_flagged() -> None:
    for sentence, returned in [
        ("You can return the answer in any order.", "integer"),
        ("If there are several answers, return any of them in any order.", "list<integer>"),
    ]:
        record = any_order(sentence, returned)
        assert [name for name, _ in record.flags][:1] == ["multiple_answers"]
        assert record.suite is None or record.suite.comparison == {}


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
