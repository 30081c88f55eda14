"""Recorded answers and pages of LeetCode: what they say comes out; what cannot be read is listed with the reason.

The expected values are those that the answers and statements show to a reader, or those of a second recorded source.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from db.records import ContestRecord, ProblemKey, SuiteRecord
from eval.judging import to_suite
from ingest.errors import BadRow, PageChanged
from ingest.sources._leetcode_examples import examples_of, find_examples, read_answer, read_arguments
from ingest.sources._leetcode_samples import sample_tests
from ingest.sources._leetcode_signature import read_signature, read_type, read_typed
from ingest.sources.leetcode import list_problems, parse_contest_info, parse_contests, parse_question, parse_sightings
from sandbox import Judge, Program, Verdict
from tests.ingest.leetcode_pages import fetcher, page, question, wanted

pytestmark = pytest.mark.shared

READ = {
    "contests_doocs_from_contest_api_info.json",
    "content_copy-list-with-random-pointer.md",
    "content_design-task-manager.md",
    "content_find-longest-calls.md",
    "content_lru-cache.md",
    "content_maximize-spanning-tree-stability-with-upgrades.md",
    "content_minimize-the-maximum-edge-weight-of-graph.md",
    "content_sequential-grid-path-cover.md",
    "content_two-sum.md",
    "graphql_consolePanelConfig_two-sum.json",
    "graphql_dailyProblem_2024-03-14.json",
    "graphql_dailyProblem_2024.json",
    "graphql_question_find-the-difference_2017-12.json",
    "graphql_question_selectProblem_2024-03.json",
    "graphql_topTwoContests_2026-08.json",
    "page_find-the-difference_2016.html",
    "rest_contest_info_biweekly-133_2024-07_cut.json",
}
NOT_WHOLE = {
    "api_problems_algorithms_2016-09.json": "the older list by REST, which the source does not ask for: no date in it",
    "api_problems_nologin_2016-10.json": "the same, without a login",
    "graphql_allContests_mock.json": "real shape, invented values: no contest 300 was held at that time",
    "graphql_problemsetQuestionList_2024.json": "recorded without questionId, which the source's own query asks for",
    "graphql_question_add-two-numbers.json": "another tool's own object, whose example is drawn with arrows, not JSON",
}

ARRAY, NUMBER, GRID = {"type": "integer[]"}, {"type": "integer"}, {"type": "integer[][]"}


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Path:
    return shared_data.parent / "sources" / "recorded" / "leetcode"


@pytest.fixture(scope="module")
def contests(recorded: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = load(recorded / "contests_doocs_from_contest_api_info.json")
    return rows


@pytest.fixture(scope="module")
def livecodebench(shared_data: Path) -> list[dict[str, Any]]:
    with gzip.open(shared_data / "livecodebench" / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["platform"] == "leetcode"]


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def samples_of(suite: SuiteRecord | None) -> list[tuple[str, str]]:
    assert suite is not None
    return [(test.input.decode(), (test.expected or b"").decode()) for test in suite.tests]


def test_every_recorded_file_is_read_or_listed(recorded: Path) -> None:
    manifest = (recorded.parent / "MANIFEST.tsv").read_text(encoding="utf-8").splitlines()
    listed = {line.split("\t")[0].removeprefix("leetcode/") for line in manifest if line.startswith("leetcode/")}
    assert listed == READ | NOT_WHOLE.keys()
    assert listed == {path.name for path in recorded.iterdir()}


TWO_SUM = [("[2,7,11,15]\n9", "[0, 1]"), ("[3,2,4]\n6", "[1, 2]"), ("[3,3]\n6", "[0, 1]")]


def test_a_recorded_question_is_read_whole(recorded: Path) -> None:
    record = parse_question(page((recorded / "graphql_question_selectProblem_2024-03.json").read_bytes())).record
    assert (record.key, record.title, record.difficulty) == (ProblemKey("leetcode", "1"), "Two Sum", "easy")
    assert record.url == "https://leetcode.com/problems/two-sum/"
    assert record.starter_code == (
        "class Solution:\n    def twoSum(self, nums: List[int], target: int) -> List[int]:\n        "
    )
    assert "`2 <= nums.length <= 10^4`" in record.statement
    assert record.suite is not None
    assert record.suite.entry_point == "twoSum"
    assert samples_of(record.suite) == TWO_SUM


def test_recorded_inputs_one_by_one_are_those_in_one_text(recorded: Path) -> None:
    answer = load(recorded / "graphql_question_selectProblem_2024-03.json")
    panel = load(recorded / "graphql_consolePanelConfig_two-sum.json")["data"]["question"]
    assert len(panel["exampleTestcaseList"]) == 3
    answer["data"]["question"] |= {name: panel[name] for name in ("exampleTestcaseList", "metaData", "questionId")}
    answer["data"]["question"].pop("exampleTestcases")
    assert samples_of(parse_question(page(answer)).record.suite) == TWO_SUM


@pytest.mark.parametrize("name", ["graphql_dailyProblem_2024.json", "graphql_dailyProblem_2024-03-14.json"])
def test_recorded_daily_problems_have_the_internal_number(recorded: Path, name: str) -> None:
    daily = load(recorded / name)["data"]["activeDailyCodingChallengeQuestion"]
    record = parse_question(page({"data": {"question": daily["question"]}})).record
    assert (record.key.native_id, daily["question"]["questionFrontendId"]) == ("966", "930")
    assert (record.title, record.difficulty) == ("Binary Subarrays With Sum", "medium")
    assert "\r" not in record.statement + record.starter_code
    assert samples_of(record.suite) == [("[1,0,1,0,1]\n2", "4"), ("[0,0,0,0,0]\n0", "15")]


def test_a_question_of_2017_and_the_page_of_2016_show_the_same_example(recorded: Path) -> None:
    old = load(recorded / "graphql_question_find-the-difference_2017-12.json")["data"]["question"]
    examples = examples_of(BeautifulSoup(old["content"], "lxml"))
    signature = read_signature(old["metaData"])
    assert (signature.name, signature.answer_type) == ("findTheDifference", "character")
    tests, flaws = sample_tests(old, signature, examples)
    assert [(test.input, test.expected) for test in tests] == [(b'"abcd"\n"abcde"', b'"e"')]
    assert flaws == ()
    html = (recorded / "page_find-the-difference_2016.html").read_text(encoding="utf-8")
    assert examples_of(BeautifulSoup(html, "lxml")) == examples


def test_another_tools_drawing_of_lists_gives_no_value(recorded: Path) -> None:
    (example,) = find_examples(load(recorded / "graphql_question_add-two-numbers.json")["desc"])
    assert read_arguments(example.given) is None
    with pytest.raises(BadRow, match="goes on after a value"):
        read_answer(example.answer)


def test_the_older_lists_have_the_same_numbers_as_the_page(recorded: Path) -> None:
    for name in ("api_problems_algorithms_2016-09.json", "api_problems_nologin_2016-10.json"):
        numbers = {
            row["stat"]["question__title_slug"]: row["stat"]["question_id"]
            for row in load(recorded / name)["stat_status_pairs"]
        }
        assert numbers["find-the-difference"] == 389
    assert "questionId: '389'" in (recorded / "page_find-the-difference_2016.html").read_text(encoding="utf-8")


def lines(*arguments: Any) -> str:
    return "\n".join(json.dumps(argument, separators=(",", ":")) for argument in arguments)


CACHE = ["LRUCache", "put", "put", "get", "put", "get", "put", "get", "get", "get"]
TASKS = ["TaskManager", "add", "edit", "execTop", "rmv", "add", "execTop"]
KEY, VALUE = {"name": "key", **NUMBER}, {"name": "value", **NUMBER}
# The repository of the statements has neither metaData nor the list of inputs: both are written here.
STATEMENTS: dict[str, tuple[dict[str, Any], list[tuple[str, Any]]]] = {
    "two-sum": (
        {"name": "twoSum", "params": [ARRAY, NUMBER], "return": ARRAY},
        [(lines([2, 7, 11, 15], 9), [0, 1]), (lines([3, 2, 4], 6), [1, 2]), (lines([3, 3], 6), [0, 1])],
    ),
    "lru-cache": (
        {
            "classname": "LRUCache",
            "constructor": {"params": [{"name": "capacity", **NUMBER}]},
            "methods": [
                {"name": "get", "params": [KEY], "return": NUMBER},
                {"name": "put", "params": [KEY, VALUE], "return": {"type": "void"}},
            ],
        },
        [
            (
                lines(CACHE, [[2], [1, 1], [2, 2], [1], [3, 3], [2], [4, 4], [1], [3], [4]]),
                [None, None, None, 1, None, -1, None, -1, 3, 4],
            )
        ],
    ),
    "design-task-manager": (
        {
            "classname": "TaskManager",
            "constructor": {"params": [{"type": "list<list<integer>>"}]},
            "methods": [
                {"name": "add", "params": [NUMBER, NUMBER, NUMBER]},
                {"name": "edit", "params": [NUMBER, NUMBER]},
                {"name": "rmv", "params": [NUMBER]},
                {"name": "execTop", "params": [], "return": NUMBER},
            ],
        },
        [
            (
                lines(
                    TASKS,
                    [[[[1, 101, 10], [2, 102, 20], [3, 103, 15]]], [4, 104, 5], [102, 8], [], [101], [5, 105, 15], []],
                ),
                [None, None, None, 3, None, None, 5],
            )
        ],
    ),
    "copy-list-with-random-pointer": (
        {"name": "copyRandomList", "params": [{"type": "Node"}], "return": {"type": "Node"}},
        [
            (lines(nodes), nodes)
            for nodes in (
                [[7, None], [13, 0], [11, 4], [10, 2], [1, 0]],
                [[1, 1], [2, 1]],
                [[3, None], [3, 0], [3, None]],
            )
        ],
    ),
    "maximize-spanning-tree-stability-with-upgrades": (
        {"name": "maxStability", "params": [NUMBER, GRID, NUMBER], "return": NUMBER},
        [
            (lines(3, [[0, 1, 2, 1], [1, 2, 3, 0]], 1), 2),
            (lines(3, [[0, 1, 4, 0], [1, 2, 3, 0], [0, 2, 1, 0]], 2), 6),
            (lines(3, [[0, 1, 1, 1], [1, 2, 1, 1], [2, 0, 1, 1]], 0), -1),
        ],
    ),
    "minimize-the-maximum-edge-weight-of-graph": (
        {"name": "minMaxWeight", "params": [NUMBER, GRID, NUMBER], "return": NUMBER},
        [
            (lines(5, [[1, 0, 1], [2, 0, 2], [3, 0, 1], [4, 3, 1], [2, 1, 1]], 2), 1),
            (lines(5, [[0, 1, 1], [0, 2, 2], [0, 3, 1], [0, 4, 1], [1, 2, 1], [1, 4, 1]], 1), -1),
            (lines(5, [[1, 2, 1], [1, 3, 3], [1, 4, 5], [2, 3, 2], [3, 4, 2], [4, 0, 1]], 1), 2),
            (lines(5, [[1, 2, 1], [1, 3, 3], [1, 4, 5], [2, 3, 2], [4, 0, 1]], 1), -1),
        ],
    ),
    "sequential-grid-path-cover": (
        {"name": "findPath", "params": [GRID, NUMBER], "return": {"type": "list<list<integer>>"}},
        [
            (lines([[0, 0, 0], [0, 1, 2]], 2), [[0, 0], [1, 0], [1, 1], [1, 2], [0, 2], [0, 1]]),
            (lines([[1, 0, 4], [3, 0, 2]], 4), []),
        ],
    ),
}
# What stays flagged: a Node without starter code, which would say of which kind it is, and "any" of several answers.
FLAGS = {
    "copy-list-with-random-pointer": {"data_structure"},
    "sequential-grid-path-cover": {"multiple_answers"},
}
# "You can return the answer in any order", of one list: that is how it is compared.
COMPARISONS = {"two-sum": {"unordered": "list"}}


def statement_of(recorded: Path, slug: str) -> str:
    text = (recorded / f"content_{slug}.md").read_text(encoding="utf-8")
    return text.split("<!-- description:start -->")[1].split("<!-- description:end -->")[0]


@pytest.mark.parametrize("slug", STATEMENTS)
def test_recorded_statements_give_the_outputs_that_they_show(recorded: Path, slug: str) -> None:
    data, shown = STATEMENTS[slug]
    answer = question(
        content=statement_of(recorded, slug), metaData=json.dumps(data), exampleTestcaseList=[c for c, _ in shown]
    )
    read = parse_question(page(answer))
    assert read.notes == ()
    assert samples_of(read.record.suite) == [(case, json.dumps(value)) for case, value in shown]
    assert {name for name, _ in read.record.flags} - {"has_image"} == FLAGS.get(slug, set())
    assert read.record.suite is not None
    assert read.record.suite.comparison == COMPARISONS.get(slug, {})


def python_of(recorded: Path, slug: str) -> str:
    """The first Python program that the repository of the statements has for one, definition of nodes included."""
    text = (recorded / f"content_{slug}.md").read_text(encoding="utf-8")
    return text.split("```python\n")[1].split("```")[0]


# Not among them: one has no Python program, one needs a package of the full image, one has several answers.
WITH_PROGRAM = (
    "two-sum",
    "lru-cache",
    "copy-list-with-random-pointer",
    "maximize-spanning-tree-stability-with-upgrades",
)


@pytest.mark.bubblewrap
def test_recorded_programs_pass_the_samples_of_their_statements(recorded: Path) -> None:
    """Functions, classes to design and nodes from page to verdict; a program that gives nothing passes none of them."""
    verdicts, nothing = {}, {}
    with Judge("bubblewrap", jobs=1) as judge:
        for slug in WITH_PROGRAM:
            data, shown = STATEMENTS[slug]
            source = python_of(recorded, slug)
            answer = question(
                content=statement_of(recorded, slug),
                metaData=json.dumps(data),
                exampleTestcaseList=[case for case, _ in shown],
                codeSnippets=[{"langSlug": "python3", "code": source}],
            )
            record = parse_question(page(answer)).record
            assert {name for name, _ in record.flags} <= {"has_image"}
            assert record.suite is not None
            suite = to_suite(record.suite)
            verdicts[slug] = judge.judge(Program(source), suite).verdict
            empty = re.sub(r"(?m)^(\s+)(return|yield) .*$", r"\1pass", source)
            nothing[slug] = judge.judge(Program(empty), suite).verdict
    assert verdicts == dict.fromkeys(WITH_PROGRAM, Verdict.ACCEPTED)
    assert Verdict.ACCEPTED not in nothing.values()


def test_a_recorded_problem_of_the_database_category_has_no_tests(recorded: Path) -> None:
    content = statement_of(recorded, "find-longest-calls")
    read = parse_question(page(question(content=content, categoryTitle="Database", metaData='{"mysql": []}')))
    assert read.record.suite is None
    assert "other_category" in {name for name, _ in read.record.flags}
    (example,) = examples_of(BeautifulSoup(content, "lxml"))
    with pytest.raises(BadRow, match="is not JSON"):
        read_answer(example.answer)


def as_list(contests: list[dict[str, Any]]) -> dict[str, Any]:
    """The contests as the answer to ``allContests`` has them."""
    rows = [
        {
            "title": row["contest_title_en"],
            "titleSlug": row["contest_title_slug"],
            "startTime": row["contest_start_time"],
            "originStartTime": row["contest_start_time"],
            "duration": row["contest_duration"],
            "isVirtual": False,
        }
        for row in contests
    ]
    return {"data": {"allContests": rows}}


def test_all_recorded_contests_have_their_instants(contests: list[dict[str, Any]]) -> None:
    records, seen, notes = parse_contests(page(as_list(contests)))
    assert (len(records), notes, seen) == (622, (), {"weekly": 433, "biweekly": 189})
    starts = Counter(record.starts_at.strftime("%a %H:%M") for record in records if record.starts_at)
    assert starts == {"Sun 02:30": 405, "Sun 01:30": 28, "Sat 14:30": 189}
    lengths = Counter(
        (record.ends_at - record.starts_at).seconds for record in records if record.ends_at and record.starts_at
    )
    assert lengths == {5400: 618, 5700: 1, 6000: 1, 6300: 1, 7200: 1}
    slugs = [slug for row in contests for slug in row["question_slugs"]]
    assert (len(slugs), len(set(slugs))) == (2488, 2488)


def test_other_recorded_answers_say_the_same_starts(recorded: Path, contests: list[dict[str, Any]]) -> None:
    listed = {record.native_id: record for record in parse_contests(page(as_list(contests)))[0]}
    info = parse_contest_info(page((recorded / "rest_contest_info_biweekly-133_2024-07_cut.json").read_bytes()))
    assert info.contest == listed["biweekly-contest-133"]
    assert info.contest.starts_at == datetime(2024, 6, 22, 14, 30, tzinfo=UTC)
    top = load(recorded / "graphql_topTwoContests_2026-08.json")["data"]["topTwoContests"]
    newest, _, _ = parse_contests(page({"data": {"allContests": top}}))
    assert [contest.starts_at for contest in newest] == [
        datetime(2026, 8, 16, 2, 30, tzinfo=UTC),
        datetime(2026, 8, 15, 14, 30, tzinfo=UTC),
    ]
    assert set(newest) <= set(listed.values())


def test_the_recorded_contest_without_questions_is_an_error_after_its_end(recorded: Path) -> None:
    # Its questions were cut away when it was recorded; as an answer of the site it would have four.
    cut = load(recorded / "rest_contest_info_biweekly-133_2024-07_cut.json")
    fetch = fetcher({"/contest/api/info/biweekly-contest-133/": cut})
    with pytest.raises(PageChanged, match="has no questions"):
        list_problems(fetch, ContestRecord("leetcode", "biweekly-contest-133"), wanted())


def test_invented_answers_in_the_real_shape_are_read(recorded: Path) -> None:
    contests, seen, _ = parse_contests(page((recorded / "graphql_allContests_mock.json").read_bytes()))
    assert [contest.native_id for contest in contests] == ["weekly-contest-300", "biweekly-contest-82"]
    assert seen == {"weekly": 1, "biweekly": 1}
    answer = load(recorded / "graphql_problemsetQuestionList_2024.json")
    with pytest.raises(PageChanged, match="questionId is None"):
        parse_sightings(page(answer))
    answer["data"]["problemsetQuestionList"]["questions"][0]["questionId"] = "1"
    assert [sighting.key for sighting in parse_sightings(page(answer))] == [ProblemKey("leetcode", "1")]


def contest_answers(
    contests: list[dict[str, Any]], livecodebench: list[dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """The own answer of each contest whose problems the data set has, with the numbers that it gives them."""
    problems = {row["title"]: row for row in livecodebench}
    for row in contests:
        held = [problems[slug] for slug in row["question_slugs"] if slug in problems]
        stated = {"title_slug": row["contest_title_slug"], "origin_start_time": row["contest_start_time"]}
        questions = [
            {"question_id": int(one["question_id"]), "title": one["title"], "title_slug": one["title"]} for one in held
        ]
        if held:
            answer = {"contest": {**stated, "duration": row["contest_duration"]}, "questions": questions}
            yield row["contest_title_slug"], answer, held


def test_problems_of_the_data_set_are_those_of_the_contests(
    contests: list[dict[str, Any]], livecodebench: list[dict[str, Any]]
) -> None:
    days_late: Counter[int] = Counter()
    for slug, answer, held in contest_answers(contests, livecodebench):
        listed = list_problems(
            fetcher({f"/contest/api/info/{slug}/": answer}), ContestRecord("leetcode", slug), wanted()
        )
        assert [ref.native_id for ref in listed.problems] == [one["question_id"] for one in held]
        assert {one["contest_id"] for one in held} == {slug}
        starts_at = listed.contest.starts_at
        assert starts_at is not None
        for one in held:
            days_late[(starts_at.date() - date.fromisoformat(one["contest_date"][:10])).days] += 1
    # The data set's days are those of the US Pacific coast: the instant is never before the day that it gives.
    assert days_late == {0: 225, 1: 219}


UNEQUAL: dict[str, str] = {}
"""The problems whose statement does not give the official public tests, with the reason: there is none."""
LIVECODEBENCH_TYPES = {"int": "integer", "str": "string", "bool": "boolean", "float": "double"}


def leetcode_type(annotation: str) -> str:
    """A type of the data set's starter code in LeetCode's own spelling."""
    inner = annotation.replace("List[", "").replace("]", "")
    return read_type(LIVECODEBENCH_TYPES[inner] + "[]" * annotation.count("List["))


def test_plain_statements_give_the_official_public_tests(livecodebench: list[dict[str, Any]]) -> None:
    assert len(livecodebench) == 444
    unequal = set()
    for row in livecodebench:
        found = [
            (read_arguments(example.given), read_typed(example.answer, leetcode_type(row["return_type"])))
            for example in find_examples(row["statement"])
        ]
        official = [
            ([json.loads(line) for line in test["input"].split("\n")], json.loads(test["output"]))
            for test in row["public_tests"]
        ]
        # As text, so that true is not 1.
        if json.dumps(found) != json.dumps(official):
            unequal.add(row["question_id"])
    assert unequal == set(UNEQUAL)
