"""Cases made from public reports on tools for LeetCode: what the source's functions make of them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from db.records import ContestRecord, ProblemKey, SuiteRecord
from ingest.sources.leetcode import parse_question, parse_sightings
from tests.ingest.leetcode_pages import meta, page, question

pytestmark = pytest.mark.shared

ARRAY, NUMBER = {"type": "integer[]"}, {"type": "integer"}


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def samples_of(suite: SuiteRecord | None) -> list[tuple[str, str]]:
    assert suite is not None
    return [(test.input.decode(), (test.expected or b"").decode()) for test in suite.tests]


def test_case_a04_the_earliest_sighting_is_the_first_publication(cases: Path) -> None:
    events = {event["kind"]: datetime.fromisoformat(event["at"]) for event in load(cases / "A04" / "events.json")}
    contest = ContestRecord("leetcode", "biweekly-contest-1", starts_at=events["contest_start"])
    claim = parse_question(page(question()), contest).record.dates[0]
    listed = {"data": {"problemsetQuestionList": {"questions": [{"questionId": "97001"}]}}}
    (sighting,) = parse_sightings(page(listed, fetched_at=events["premium_list"]))
    assert sighting.key == ProblemKey("leetcode", "97001")
    expected = datetime.fromisoformat(load(cases / "A04" / "expected.json")["release_at"])
    assert min(claim.earliest, sighting.seen_at) == expected
    assert claim.earliest - sighting.seen_at > timedelta(days=2)


def test_case_a18_superscripts_stay(cases: Path) -> None:
    content = load(cases / "A18" / "content.json")["content"]
    data = meta(name="evenTowers", params=[{"name": "h", **ARRAY}], **{"return": NUMBER})
    record = parse_question(page(question(content=content, metaData=data, exampleTestcaseList=["[3,1,4]"]))).record
    expected = load(cases / "A18" / "expected.json")
    assert [text for text in expected["must_contain"] if text not in record.statement] == []
    assert [text for text in expected["must_not_contain"] if text in record.statement] == []
    assert samples_of(record.suite) == [("[3,1,4]", "2")]


@pytest.mark.parametrize("name", ["question.json", "empty.json"])
def test_case_a35_a_locked_problem_has_no_statement(cases: Path, name: str) -> None:
    read = parse_question(page(question(**load(cases / "A35" / name))))
    assert read.record.statement == ""
    assert read.record.suite is None
    assert [flag for flag, _ in read.record.flags] == [load(cases / "A35" / "case.json")["expected_state"]]


def test_case_b06_an_empty_text_is_an_argument(cases: Path) -> None:
    tests = load(cases / "B06" / "fn_tests.json")
    shown = "".join(
        f"<pre>Input: s = {json.dumps(test['args'][0])}\nOutput: {test['expected']}</pre>" for test in tests
    )
    data = meta(name="size", params=[{"name": "s", "type": "string"}], **{"return": NUMBER})
    inputs = [json.dumps(test["args"][0]) for test in tests]
    record = parse_question(page(question(content=shown, metaData=data, exampleTestcaseList=inputs))).record
    assert samples_of(record.suite) == [('""', "0"), ('"ab"', "2")]
