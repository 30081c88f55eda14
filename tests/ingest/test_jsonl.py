from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.records import IoKind, Precision, ProblemRecord, ReferenceRecord, TestOrigin
from ingest.formats.jsonl import as_row
from sandbox.plain import read_checker, read_groups, read_signature
from sandbox.programs import Group, OnReject, Protocol, Signature
from tests.ingest.reading import DATA, Read, read, write_rows
from tests.livecodebench_data import as_problem_rows

PROBLEMS = DATA / "problems.jsonl"
REFUSED = [json.loads(line) for line in (DATA / "refused.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def problems() -> dict[str, ProblemRecord]:
    found = read("jsonl", PROBLEMS)
    assert found.refusals == []
    return {problem.key.native_id: problem for problem in found.problems}


def read_one(folder: Path, **fields: Any) -> Read:
    row = {"platform": "own", "id": "x", "title": "X"} | fields
    return read("jsonl", write_rows(folder / "rows.jsonl", [row]))


def test_a_full_row(problems: dict[str, ProblemRecord]) -> None:
    problem = problems["sum"]
    assert problem.contest is not None
    assert problem.contest.starts_at == datetime(2024, 5, 4, 12, tzinfo=UTC)
    assert (problem.contest.title, problem.contest_index, problem.difficulty) == ("Round One", "A", "100")
    assert [(claim.as_written, claim.source) for claim in problem.dates] == [("2024-05-04T12:00:00Z", "the site's API")]
    suite = problem.suite
    assert suite is not None
    assert (suite.time_limit_s, suite.memory_limit_bytes) == (2.5, 268435456)
    assert [(test.name, test.origin) for test in suite.tests] == [
        ("sample-1", TestOrigin.SAMPLE),
        ("big", TestOrigin.OFFICIAL),
    ]


def test_dates_comparisons_and_flags(problems: dict[str, ProblemRecord]) -> None:
    problem = problems["half"]
    assert [(claim.precision, claim.source) for claim in problem.dates] == [
        (Precision.MONTH, "jsonl"),
        (Precision.DAY, "a blog"),
    ]
    assert problem.flags == (("multiple_answers", ""), ("bad_tests", "two of them"))
    assert problem.suite is not None
    assert problem.suite.comparison == {"absolute_tolerance": 1e-6, "case_sensitive": False}
    assert problem.suite.tests[0].comparison == {"absolute_tolerance": 1e-9}


def test_a_function_dated_by_its_contest(problems: dict[str, ProblemRecord]) -> None:
    problem = problems["size"]
    assert problem.suite is not None
    assert (problem.suite.io_kind, problem.suite.entry_point) == (IoKind.FUNCTION, "size")
    assert [test.input for test in problem.suite.tests] == [b'""', b'"ab"']
    (claim,) = problem.dates
    assert (claim.earliest, claim.precision) == (datetime(2024, 6, 1, 12, tzinfo=UTC), Precision.INSTANT)
    assert claim.source == "jsonl: start of the contest"


def test_a_problem_without_date_and_tests(problems: dict[str, ProblemRecord]) -> None:
    assert (problems["bare"].dates, problems["bare"].suite) == ((), None)


@pytest.mark.parametrize("case", REFUSED, ids=[case["says"] for case in REFUSED])
def test_rows_that_cannot_be_used(tmp_path: Path, case: dict[str, Any]) -> None:
    found = read(
        "jsonl", write_rows(tmp_path / "rows.jsonl", [{"platform": "own", "id": "a", "title": "A"}, case["row"]])
    )
    assert [problem.key.native_id for problem in found.problems] == ["a"]
    assert found.refusal.where.startswith("line 2")
    assert case["says"] in found.refusal.reason
    assert case["hint"] in found.refusal.hint


def test_a_missing_answer_is_refused_alone_and_an_empty_one_is_kept(tmp_path: Path) -> None:
    tests = [{"input": "", "expected": ""}, {"input": "1"}, {"expected": "1"}, {"input": "1", "expected": None}]
    found = read_one(tmp_path, tests=tests)
    (problem,) = found.problems
    assert problem.suite is not None
    assert [(test.name, test.input, test.expected) for test in problem.suite.tests] == [("official-1", b"", b"")]
    assert problem.flags == (("partial_tests", "3 of 4 tests were refused at import"),)
    assert [str(refusal) for refusal in found.refusals] == [
        "line 1, id 'x', test 2: has no expected",
        "line 1, id 'x', test 3: has no input",
        "line 1, id 'x', test 4: has no expected",
    ]


def test_recovered_tests_that_their_source_cut_off_are_refused(tmp_path: Path) -> None:
    recovered = [("3\nabc\n", "cba\n"), ("200\nabab...", "ba\n"), ("4\nwxyz\n", "zyx..."), ("3\n...\n", "...\n")]
    tests = [{"input": given, "expected": answer, "origin": "recovered"} for given, answer in recovered]
    found = read_one(tmp_path, tests=[*tests, {"input": "2\n", "expected": "a..."}])
    (problem,) = found.problems
    assert problem.suite is not None
    assert [test.name for test in problem.suite.tests] == ["recovered-1", "recovered-4", "official-1"]
    assert [refusal.reason for refusal in found.refusals] == [
        "has its input cut off by its source",
        "has its expected cut off by its source",
    ]


def test_what_judges_a_suite(problems: dict[str, ProblemRecord]) -> None:
    guess = problems["guess"].suite
    assert guess is not None
    assert guess.io_kind is IoKind.INTERACTIVE
    assert guess.checker is not None
    checker = read_checker(guess.checker)
    assert (checker.program.language, checker.program.files) == ("python3", (("tools.py", "TRIES = 10\n"),))
    assert (checker.protocol, checker.flags, checker.limits.cpu_s) == (Protocol.KATTIS, ("easy",), 5.0)
    assert [test.checker_flags for test in guess.tests] == [None, ("hard", "twice"), ()]
    assert guess.groups is not None
    groups = read_groups(guess.groups)
    assert (groups.scoring, groups.full_score) == (True, None)
    assert dict(groups.rules)["secret"] == Group(OnReject.CONTINUE, accept_score=50.0)
    assert [test.name for test in guess.tests] == ["sample/1", "secret/1", "secret/2"]
    assert problems["guess"].references == (ReferenceRecord("halving", "python3", "print(1)\n"),)


def test_a_design_with_its_signature(problems: dict[str, ProblemRecord]) -> None:
    stack = problems["stack"].suite
    assert stack is not None
    assert (stack.io_kind, stack.entry_point) == (IoKind.DESIGN, "Stack")
    assert stack.signature is not None
    assert read_signature(stack.signature) == Signature(
        ("integer",), methods=(("pop", Signature(returns="integer")), ("push", Signature(("integer",), "void")))
    )
    assert [(test.input, test.expected) for test in stack.tests] == [
        (b'["Stack", "push", "pop"]\n[[3], [1], []]', b"[null, null, 1]")
    ]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r"), max_size=12)
NAME = TEXT.map(str.strip).filter(bool)
DATE = st.sampled_from(["2024-05-04T12:00:00Z", "2024-05-04", "2024-05", "2024-Q3", "2024"])
COMPARISON = st.fixed_dictionaries(
    {},
    optional={
        "absolute_tolerance": st.floats(0, 0.5),
        "relative_tolerance": st.floats(0, 0.5),
        "case_sensitive": st.booleans(),
        "space_sensitive": st.booleans(),
        "assume_tolerance": st.booleans(),
    },
)
TEST = st.fixed_dictionaries(
    {"input": TEXT.map(lambda text: text + "\n"), "expected": TEXT.map(lambda text: text + "\n")},
    optional={
        "origin": st.sampled_from(list(TestOrigin)).map(str),
        "comparison": COMPARISON,
        "checker_flags": st.lists(TEXT, max_size=2),
    },
)
CHECKER = st.fixed_dictionaries(
    {"program": st.fixed_dictionaries({"source": TEXT}, optional={"files": st.dictionaries(NAME, TEXT, max_size=2)})},
    optional={"flags": st.lists(TEXT, max_size=2), "protocol": st.sampled_from(["kattis", "testlib"])},
)
GROUPS = st.fixed_dictionaries(
    {"rules": st.dictionaries(NAME, st.fixed_dictionaries({}, optional={"accept_score": st.floats(0, 9)}), max_size=2)},
    optional={"scoring": st.booleans(), "full_score": st.none() | st.integers(0, 100)},
)
REFERENCE = st.fixed_dictionaries({"name": NAME, "language": NAME, "code": TEXT})
SIGNATURE = {"parameters": ["integer", "integer[]"], "returns": "void", "answer": 1}
ROW = st.fixed_dictionaries(
    {"platform": NAME, "id": NAME, "title": NAME, "tests": st.lists(TEST, min_size=1, max_size=3)},
    optional={
        "url": NAME,
        "contest": st.fixed_dictionaries(
            {"id": NAME}, optional={"title": NAME, "starts_at": st.just("2024-05-04T12:00Z")}
        ),
        "index": NAME,
        "released": st.lists(st.fixed_dictionaries({"value": DATE, "source": NAME}), max_size=2),
        "difficulty": NAME,
        "statement": TEXT,
        "starter_code": TEXT,
        "time_limit_s": st.floats(0.01, 100),
        "memory_limit_bytes": st.integers(1, 2**40),
        "comparison": COMPARISON,
        "flags": st.lists(st.fixed_dictionaries({"name": NAME}, optional={"reason": NAME}), max_size=2),
        "checker": CHECKER,
        "groups": GROUPS,
        "references": st.lists(REFERENCE, max_size=2, unique_by=lambda one: one["name"]),
    },
)


@settings(deadline=None)  # what is imported only once takes its time
@given(row=ROW, function=st.booleans())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, row: dict[str, Any], function: bool) -> None:
    if function:
        row |= {"io": "function", "entry_point": "solve", "signature": SIGNATURE}
        row["tests"] = [test | {"input": "[1, 2]\n3\n", "expected": "[4]"} for test in row["tests"]]
    path = tmp_path_factory.getbasetemp() / "round_trip.jsonl"
    first = read("jsonl", write_rows(path, [row])).one
    again = read("jsonl", write_rows(path, [as_row(first)])).one
    assert again == first


def test_words_that_this_form_does_not_read_are_written_at_their_precision(tmp_path: Path) -> None:
    zoneless = read("livecodebench", DATA / "livecodebench.jsonl").problems[1]
    row = as_row(zoneless)
    assert row["released"] == [{"value": "2024-01-06", "source": "livecodebench"}]
    again = read("jsonl", write_rows(tmp_path / "rows.jsonl", [row])).one
    assert again.dates[0].earliest == zoneless.dates[0].earliest
    assert again.suite == zoneless.suite


@pytest.mark.shared
def test_the_joined_livecodebench_problems(shared_data: Path, tmp_path: Path) -> None:
    joined = shared_data / "livecodebench" / "problems.jsonl.gz"
    counts = {}
    for hidden in (False, True):
        found = read("jsonl", write_rows(tmp_path / "rows.jsonl", as_problem_rows(joined, hidden_tests=hidden)))
        assert found.refusals == []
        assert len(found.problems) == 1055
        counts[hidden] = sum(len(problem.suite.tests) for problem in found.problems if problem.suite)
        assert [problem.key.native_id for problem in found.problems if problem.suite is None] == ["abc350_c"]
    assert counts == {False: 2762, True: 2968}
    flags = [name for problem in found.problems for name, _ in problem.flags]
    assert {name: flags.count(name) for name in flags} == {"multiple_answers": 11, "interactive": 2, "bad_tests": 4}
