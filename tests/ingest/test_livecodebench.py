from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.importing import UnreadableSource
from db.records import IoKind, Precision, TestOrigin
from tests.ingest.reading import DATA, Read, read, write_rows

ROWS = DATA / "livecodebench.jsonl"


@pytest.fixture(scope="module")
def recorded() -> Read:
    return read("livecodebench", ROWS)


def row(**fields: Any) -> dict[str, Any]:
    """A row that is taken as it stands, but for `fields`."""
    test = {"input": "1\n", "output": "2\n", "testtype": "stdin"}
    return {
        "question_title": "Next",
        "question_content": "Print N + 1.",
        "platform": "atcoder",
        "question_id": "xyz900_a",
        "contest_id": "xyz900",
        "contest_date": "2024-03-02T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps([test]),
        "private_test_cases": "[]",
        "metadata": "{}",
    } | fields


def read_row(folder: Path, **fields: Any) -> Read:
    return read("livecodebench", write_rows(folder / "rows.jsonl", [row(**fields)]))


def test_a_problem_for_stdin(recorded: Read) -> None:
    problem = recorded.problems[0]
    assert str(problem.key) == "atcoder:xyz900_b"
    assert problem.statement == "Read N.\nPrint 2N."
    assert problem.url == "https://atcoder.jp/contests/xyz900/tasks/xyz900_b"
    assert problem.contest is not None
    assert (problem.contest.native_id, problem.contest_index, problem.difficulty) == ("xyz900", "B", "easy")
    assert problem.suite is not None
    assert (problem.suite.io_kind, problem.suite.comparison, problem.suite.time_limit_s) == (IoKind.STDIN, {}, None)
    assert problem.flags == ()


def test_a_public_test_among_the_private_ones_is_kept_once_and_empty_texts_are_kept(recorded: Read) -> None:
    suite = recorded.problems[0].suite
    assert suite is not None
    assert [(test.name, test.input, test.expected, test.origin) for test in suite.tests] == [
        ("sample-1", b"2\n", b"4\n", TestOrigin.SAMPLE),
        ("official-2", b"", b"", TestOrigin.OFFICIAL),
        ("official-3", b"50\n", b"100\n", TestOrigin.OFFICIAL),
    ]


def test_a_call_based_problem(recorded: Read) -> None:
    problem = recorded.problems[1]
    assert problem.suite is not None
    assert (problem.suite.io_kind, problem.suite.entry_point) == (IoKind.FUNCTION, "size")
    assert [(test.input, test.expected) for test in problem.suite.tests] == [(b'""', b"0"), (b'"ab"', b"2")]
    assert problem.url is None
    assert problem.starter_code.startswith("class Solution:")


def test_of_the_date_only_the_day_is_believed_and_the_words_are_kept(recorded: Read) -> None:
    (claim,) = recorded.problems[1].dates
    assert claim.as_written == "2024-01-06T18:30:00"
    assert (claim.earliest, claim.precision) == (datetime(2024, 1, 6, tzinfo=UTC), Precision.DAY)
    assert claim.source == "livecodebench"


def test_tests_without_an_answer_are_refused_alone(recorded: Read) -> None:
    problem = recorded.problems[2]
    assert problem.url == "https://codeforces.com/contest/9900/problem/A"
    assert problem.suite is not None
    assert [test.input for test in problem.suite.tests] == [b"1 1\n", b"1 2\n"]
    assert problem.flags == (("partial_tests", "2 of 4 tests were refused at import"),)
    assert [str(refusal) for refusal in recorded.refusals[:2]] == [
        "line 4, question_id '9900_A', private test 2: has no expected output",
        "line 4, question_id '9900_A', private test 3: has no expected output",
    ]


def test_a_bad_row_is_refused_with_its_place_and_the_others_go_on(recorded: Read) -> None:
    assert [str(refusal) for refusal in recorded.refusals[2:]] == [
        "line 5: the line ends in the middle of its JSON",
        "line 6, question_id 'xyz902_a': private_test_cases is neither JSON nor base64 (Only base64 data is allowed)",
        "line 7: expected an object, found a list",
    ]
    assert all(refusal.hint for refusal in recorded.refusals)
    assert recorded.problems[-1].key.native_id == "xyz903_a"
    assert recorded.problems[-1].suite is None


def test_gzip_gives_the_same(recorded: Read, tmp_path: Path) -> None:
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(ROWS.read_bytes()))
    assert read("livecodebench", packed) == recorded


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"question_id": None}, "has no question_id"),
        ({"platform": " "}, "has no platform"),
        ({"question_title": 5}, "question_title is a number, not a text"),
        ({"contest_date": "soon"}, "'soon' is not a date"),
        ({"contest_date": 1709337600000}, "contest_date is a number, not a text"),
        ({"public_test_cases": "[{"}, "public_test_cases is not JSON"),
        ({"public_test_cases": {"input": "1"}}, "public_test_cases holds an object, not a list of tests"),
        ({"private_test_cases": '{"input": "1"}'}, "private_test_cases holds an object"),
        ({"private_test_cases": "gASVIAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAR0cnVllIWUUpQu"}, "zlib"),
        ({"metadata": "{"}, "metadata is not JSON"),
        ({"metadata": "[1]"}, "metadata is a list, not an object"),
        ({"private_test_cases": [{"input": "1", "output": "2", "testtype": "functional"}]}, "mixes tests"),
        (
            {"public_test_cases": [{"input": "1", "output": "2", "testtype": "functional"}]},
            "has functional tests, but its metadata names no function",
        ),
    ],
)
def test_rows_that_cannot_be_used(tmp_path: Path, fields: dict[str, Any], says: str) -> None:
    result = read_row(tmp_path, **fields)
    assert result.problems == []
    assert says in result.refusal.reason
    assert result.refusal.hint


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ({"output": "2", "testtype": "stdin"}, "has no input"),
        ({"input": "1", "testtype": "stdin"}, "has no expected output"),
        ({"input": 1, "output": "2", "testtype": "stdin"}, "has a number as its input, not a text"),
        ({"input": "1", "output": "\ud800", "testtype": "stdin"}, "output is not valid Unicode"),
        ({"input": "1", "output": "2", "testtype": "files"}, "has the unknown testtype 'files'"),
        ({"input": "1", "output": "2", "testtype": []}, "has the unknown testtype []"),
        ("1", "is a text, not a test"),
    ],
)
def test_tests_that_cannot_be_used(tmp_path: Path, test: Any, says: str) -> None:
    result = read_row(tmp_path, private_test_cases=[test])
    assert [len(problem.suite.tests) for problem in result.problems if problem.suite] == [1]
    assert says in result.refusal.reason
    assert "private test 1" in result.refusal.where


def test_the_kind_follows_the_metadata_where_tests_state_none(tmp_path: Path) -> None:
    bare = [{"input": "1", "output": "2"}]
    problem = read_row(tmp_path, public_test_cases=bare, metadata={"func_name": "next"}).one
    assert problem.suite is not None
    assert problem.suite.io_kind is IoKind.FUNCTION


CALL = {
    "platform": "leetcode",
    "question_id": "97003",
    "contest_id": "weekly-contest-903",
    "question_content": "Find the quiet hours. You can return the answer in any order.",
    "public_test_cases": [{"input": "[2, 0, 1]", "output": "[0, 1]", "testtype": "functional"}],
    "metadata": {"func_name": "quietHours"},
}


def test_a_list_in_any_order_is_compared_so_where_the_starter_code_returns_one(tmp_path: Path) -> None:
    starter = "class Solution:\n    def quietHours(self, hours: List[int]) -> List[int]:\n        "
    problem = read_row(tmp_path, **CALL, starter_code=starter).one
    assert problem.suite is not None
    assert problem.suite.comparison == {"unordered": "list"}
    assert problem.flags == ()


@pytest.mark.parametrize(
    "starter", ["", "class Solution:\n    def quietHours(self, hours: List[int]) -> int:\n        "]
)
def test_what_is_not_known_to_be_a_list_stays_flagged(tmp_path: Path, starter: str) -> None:
    problem = read_row(tmp_path, **CALL, starter_code=starter).one
    assert problem.suite is not None
    assert problem.suite.comparison == {}
    assert problem.flags == (("multiple_answers", "You can return the answer in any order."),)


def test_a_row_may_lack_what_it_can_do_without(tmp_path: Path) -> None:
    fields = dict.fromkeys(
        [
            "contest_id",
            "contest_date",
            "difficulty",
            "starter_code",
            "metadata",
            "private_test_cases",
            "question_content",
        ]
    )
    problem = read_row(tmp_path, **fields).one
    assert (problem.dates, problem.contest, problem.url, problem.difficulty) == ((), None, None, None)


def test_ids_that_do_not_belong_into_an_address_give_none(tmp_path: Path) -> None:
    assert read_row(tmp_path, question_id="xyz900_a/../b").one.url is None


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.jsonl", tmp_path / "absent.jsonl.gz"):
        with pytest.raises(UnreadableSource) as failed:
            read("livecodebench", path)
        assert str(path) in failed.value.message
        assert failed.value.hint


@pytest.mark.shared
def test_the_recorded_blobs_in_rows(shared_data: Path, tmp_path: Path) -> None:
    recorded = json.loads((shared_data / "livecodebench" / "full_tests.json").read_text())
    rows = [
        row(
            question_id=name,
            public_test_cases=problem["tests"][: len(problem["tests"]) - len(problem["private_tests"])],
            private_test_cases=problem["private_test_cases_encoded_here"],
            metadata={"func_name": problem["fn_name"]} if problem["fn_name"] else {},
        )
        for name, problem in recorded.items()
    ]
    for test in (test for one in rows for test in one["public_test_cases"]):
        test.pop("testtype", None)
    found = read("livecodebench", write_rows(tmp_path / "rows.jsonl", rows))
    assert found.refusals == []
    assert {
        problem.key.native_id: [(test.input.decode(), (test.expected or b"").decode()) for test in problem.suite.tests]
        for problem in found.problems
        if problem.suite
    } == {name: [(test["input"], test["output"]) for test in problem["tests"]] for name, problem in recorded.items()}


@pytest.mark.shared
def test_the_recorded_lists_in_any_order_are_compared_so(shared_data: Path, tmp_path: Path) -> None:
    """Of 444 functions of the data set these return a list in any order by their own words; each was read."""
    with gzip.open(shared_data / "livecodebench" / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        recorded = [problem for problem in map(json.loads, lines) if problem["func_name"]]
    assert len(recorded) == 444
    rows = [
        row(
            platform=problem["platform"],
            question_id=problem["id"],
            question_content=problem["statement"],
            starter_code=problem["starter_code"],
            public_test_cases=problem["public_tests"],
            metadata={"func_name": problem["func_name"]},
        )
        for problem in recorded
    ]
    problems = read("livecodebench", write_rows(tmp_path / "rows.jsonl", rows)).problems
    free = {p.key.native_id: p.suite.comparison for p in problems if p.suite and "unordered" in p.suite.comparison}
    assert free == {name: {"unordered": "list"} for name in ("3194", "3221", "3234", "3453")}
    assert not any(problem.flags for problem in problems)
