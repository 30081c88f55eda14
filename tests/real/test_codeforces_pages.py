"""Recorded Codeforces pages and answers: every file is read to the right values, or listed with the reason why not.

The values come from a second, crude reading of the raw text here, from numbers that were counted by hand, and from the
expected parses that other tools keep beside the pages.
"""

from __future__ import annotations

import csv
import html
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.records import ContestRecord, ProblemRecord
from ingest.errors import Absent
from ingest.pages import Page, Request
from ingest.sources import Listing, ProblemList, ProblemRef, ReadProblem, Wanted, load_source

pytestmark = pytest.mark.shared

SOURCE = load_source("codeforces")
ROOT = "https://codeforces.com"
NOW = datetime(2026, 9, 1, tzinfo=UTC)
WANTED = Wanted(datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC), NOW)


@dataclass(frozen=True)
class Recorded:
    """A page: whose it is, its problems with the number of their samples, and how many images are in them."""

    contest: str
    samples: dict[str, int]
    images: int = 0
    interactive: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


PAGES = {
    "contest_1211_problems_2020-01.html": Recorded(
        "1211", {"A": 3, "B": 4, "C": 4, "D": 3, "E": 4, "F": 3, "G": 3, "H": 1, "I": 2}, images=1
    ),
    "contest_1368_problems_2020-08.html": Recorded(
        "1368",
        {"A": 1, "B": 2, "C": 1, "D": 3, "E": 1, "F": 2, "G": 3, "H1": 1, "H2": 1},
        images=5,
        interactive=("F",),
    ),
    "contest_1715_problems_2022-08.html": Recorded(
        "1715", {"A": 1, "B": 1, "C": 1, "D": 3, "E": 4, "F": 1}, images=3, interactive=("F",)
    ),
    "statement_1234a_2022.html": Recorded("1234", {"A": 1}),
    "statement_1234f_2022.html": Recorded("1234", {"F": 4}),
    "statement_gym103505a_2022.html": Recorded("103505", {"A": 1}, flags=("scoring",)),
    "statement_group355496p35_2022.html": Recorded("355496", {"P35": 1}),
    "statement_group357817c_2022.html": Recorded("357817", {"C": 2}),
    "statement_caide_parse_from_file.html": Recorded("452", {"A": 3}),
    # The manifest calls it problem G; its own title says A, and it reads like A of the contest's page.
    "statement_fragment_2019-12.html": Recorded("1211", {"A": 3}),
    "statement_fragment_1971C_2024.html": Recorded("1971", {"C": 1}, images=2),
    "statement_fragment_2220D2_interactive_2026.html": Recorded("2220", {"D2": 1}, interactive=("D2",)),
    "statement_fragment_1293A_epigraph.html": Recorded("1293", {"A": 1}),
    "statement_fragment_52A_old-html-math.html": Recorded("52", {"A": 1}),
}
TWINS = {
    f"{page.removesuffix('.html')}.expected.json": page
    for page in PAGES
    if re.match(r"statement_(?:1234|gym|group)", page)
}
ANSWERS = {
    "api_contest_list_2019-08_trimmed.json",
    "api_contest_list_objects_2026-08.json",
    "api_contest_object_1200.json",
    "api_contest_list_result_tle.json",
    "api_contest_standings_result_tle.json",
}
NOT_READ = {
    "contests_page_2021-03.html": "the list on the web is in the viewer's zone: the API is read instead",
    "contests_page_countdown_2021-09.html": "the same",
    "contests_page_upcoming_only_2021-02.html": "the same",
    "companion_expected_contest_statements-in-pdf.json": "PDF statements: its limits are on the contest's own page",
}
IDS = [(name, index) for name, page in PAGES.items() for index in page.samples]


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data.parent / "sources" / "recorded" / "codeforces"


def is_expectation(name: str) -> bool:
    return name.startswith("companion_expected_") and name not in NOT_READ


def test_every_recorded_file_is_accounted_for(folder: Path) -> None:
    with (folder.parent / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row["file"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    listed = {name.removeprefix("codeforces/") for name in rows if name.startswith("codeforces/")}
    assert listed == {file.name for file in folder.iterdir()}
    expected = {name for name in listed if is_expectation(name)}
    assert listed == PAGES.keys() | TWINS.keys() | ANSWERS | NOT_READ.keys() | expected
    assert (len(PAGES), len(TWINS), len(ANSWERS), len(NOT_READ), len(expected)) == (14, 5, 5, 4, 15)


def raw(folder: Path, name: str) -> str:
    """The page; a fragment gets the elements that it was taken out of."""
    text = (folder / name).read_text(encoding="utf-8")
    if '"problem-statement"' not in text:
        text = f'<div class="problem-statement">{text}</div>'
    return text if "</html>" in text else f"<html><body>{text}</body></html>"


def served(body: str, contest: str, index: str, *, is_set: bool = False) -> ReadProblem:
    """The problem as the source reads it from the body, the complete problem set or the problem's own page."""
    section = "gym" if int(contest) >= 100_000 else "contest"
    wanted = f"{ROOT}/{section}/{contest}/{'problems' if is_set else f'problem/{index}'}?locale=en"

    def fetch(request: Request | str) -> Page:
        url = request if isinstance(request, str) else request.url
        if url != wanted:
            raise Absent(f"{url} is not recorded")
        return Page(url, body.encode(), NOW)

    ref = ProblemRef(f"{contest}{index}", "", index)
    listed = ProblemList(ContestRecord("codeforces", contest), (ref,))
    return SOURCE.read_problem(fetch, listed, ref, WANTED)


def parsed(folder: Path, name: str, index: str) -> ReadProblem:
    return served(raw(folder, name), PAGES[name].contest, index, is_set=name.startswith("contest_"))


def samples_of(record: ProblemRecord) -> list[tuple[str, str]]:
    assert record.suite is not None
    return [(test.input.decode(), (test.expected or b"").decode()) for test in record.suite.tests]


# The second reading: by the raw text alone


def crude_statement(text: str, index: str) -> str:
    """From the problem's title up to the next statement."""
    start = re.search(rf'class="title"[^>]*>\s*{index}\. ', text)
    assert start is not None
    return re.split(r'class="problem-statement"', text[start.start() :])[0]


def crude_text(markup: str) -> str:
    text = re.sub(r"<br\s*/?>\s*</div>", "</div>", markup.removeprefix("\n"))
    text = re.sub(r"<br\s*/?>|</div>", "\n", text)
    return html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\u00a0", " ").rstrip("\n") + "\n"


def crude_samples(statement: str) -> list[tuple[str, str]]:
    section = statement.split('class="sample-tests"')[1]
    texts = [crude_text(markup) for markup in re.findall(r"<pre[^>]*>(.*?)</pre>", section, re.DOTALL)]
    return list(zip(texts[::2], texts[1::2], strict=True))


def crude_limit(statement: str, name: str) -> float:
    found = re.search(rf'class="{name}-limit".*?</div>\s*([0-9.]+) (?:second|megabyte)', statement, re.DOTALL)
    assert found is not None
    return float(found[1])


@pytest.mark.parametrize(("name", "index"), IDS, ids=[f"{name}:{index}" for name, index in IDS])
def test_a_page_is_read_to_what_its_text_says(folder: Path, name: str, index: str) -> None:
    page = PAGES[name]
    record, statement = parsed(folder, name, index).record, crude_statement(raw(folder, name), index)
    title = re.match(rf'class="title"[^>]*>\s*{index}\. ([^<]*)', statement)
    assert title is not None
    assert record.title == html.unescape(title[1]).strip()
    assert record.language == "en"
    assert record.suite is not None
    assert record.suite.time_limit_s == crude_limit(statement, "time")
    assert record.suite.memory_limit_bytes == crude_limit(statement, "memory") * 2**20
    expected = crude_samples(statement)
    assert len(expected) == page.samples[index]
    flags = dict(record.flags)
    assert ("interactive" in flags) == (index in page.interactive)
    assert samples_of(record) == ([] if index in page.interactive else expected)
    assert all(f"```\n{text}```" in record.statement for sample in expected for text in sample)
    assert set(page.flags) <= flags.keys()
    assert "file_io" not in flags


def crude_formulas(statement: str) -> int:
    """Between dollars, in the scripts that a browser's save keeps, or in the HTML of old problems."""
    return statement.count("$$$") // 2 + statement.count('type="math/tex') + statement.count('class="tex-span"')


@pytest.mark.parametrize("name", PAGES)
def test_statements_keep_their_formulas_and_images(folder: Path, name: str) -> None:
    n_images = 0
    for index in PAGES[name].samples:
        text = parsed(folder, name, index).record.statement
        n_images += text.count("](https://espresso.codeforces.com/")
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        n_formulas = crude_formulas(crude_statement(raw(folder, name), index))
        assert (index, len(re.findall(r"\$[^$]+\$", prose))) == (index, n_formulas)
        assert n_formulas > 0
        assert not re.search(r"\$\$\$|MathJax|tex-span|Copy|<(?:span|div|sub|sup|script)\b", prose)
        assert "time limit per test" not in text
    assert n_images == PAGES[name].images


@pytest.mark.parametrize(("contest", "n_problems", "n_samples"), [("1211", 9, 27), ("1368", 9, 15), ("1715", 6, 11)])
def test_the_complete_problem_sets_have_what_was_counted_in_them(contest: str, n_problems: int, n_samples: int) -> None:
    (page,) = (page for name, page in PAGES.items() if name.startswith(f"contest_{contest}_"))
    assert len(page.samples) == n_problems
    assert sum(page.samples.values()) == n_samples


def test_two_recordings_of_one_problem_say_the_same(folder: Path) -> None:
    alone = parsed(folder, "statement_fragment_2019-12.html", "A").record
    together = parsed(folder, "contest_1211_problems_2020-01.html", "A").record
    assert (alone.title, alone.statement, alone.suite) == (together.title, together.statement, together.suite)


def test_a_quotation_before_the_task_is_cut_off(folder: Path) -> None:
    record = parsed(folder, "statement_fragment_1293A_epigraph.html", "A").record
    assert "Imprinting" not in record.statement
    assert record.statement.startswith("A.R.C. Markland-N is")


def test_any_letter_case_and_a_tolerance_are_rules_of_the_comparison(folder: Path) -> None:
    rules = {}
    for name, index in [("statement_fragment_1971C_2024.html", "C"), ("contest_1715_problems_2022-08.html", "F")]:
        suite = parsed(folder, name, index).record.suite
        assert suite is not None
        rules[index] = suite.comparison
    assert rules == {"C": {"case_sensitive": False}, "F": {"absolute_tolerance": 1e-6, "relative_tolerance": 1e-6}}


@pytest.mark.parametrize("twin", TWINS)
def test_a_page_equals_the_expected_parse_beside_it(folder: Path, twin: str) -> None:
    expected = json.loads((folder / twin).read_text(encoding="utf-8"))["expected"]
    record = parsed(folder, TWINS[twin], expected["mark"]).record
    assert record.key.native_id == "".join(map(str, expected["_uid"]))
    assert record.contest_index == expected["mark"]
    assert record.title == expected["name"]
    assert record.suite is not None
    assert record.suite.time_limit_s == expected["time_limit"]
    assert record.suite.memory_limit_bytes == expected["memory_limit"] * 2**20
    assert samples_of(record) == [(test["input"], test["expected"]) for test in expected["tests"]]


# Expected parses of live pages


def expectations(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for file in sorted(folder.iterdir()):
        if is_expectation(file.name):
            results = json.loads(file.read_text(encoding="utf-8"))["result"]
            found += [(file.name, result) for result in (results if isinstance(results, list) else [results])]
    return found


def problem_id(result: dict[str, Any]) -> str:
    index = result["name"].split(".")[0]
    contest = re.search(r"/(?:contest|problem|gym)/(\d+)", result["url"])
    assert contest is not None
    return f"{contest[1]}{index}"


def test_no_expected_parse_of_a_live_page_is_of_a_recorded_one(folder: Path) -> None:
    recorded = {f"{PAGES[name].contest}{index}" for name, index in IDS}
    described = {problem_id(result) for _, result in expectations(folder)}
    assert len(described) == 19
    assert recorded & described == set()


def as_page(result: dict[str, Any]) -> str:
    """A page that states what the expected parse holds, in the markup of the recorded pages."""
    index, title = result["name"].split(". ", 1)
    files = [result[stream].get("fileName", f"standard {stream}") for stream in ("input", "output")]
    tests = "".join(
        f'<div class="{name}"><div class="title">{name.title()}</div><pre>\n{html.escape(test[name])}</pre></div>'
        for test in result["tests"]
        for name in ("input", "output")
    )
    header = [
        ("time-limit", f"{result['timeLimit'] / 1000:g} seconds"),
        ("memory-limit", f"{result['memoryLimit']} megabytes"),
        ("input-file", files[0]),
        ("output-file", files[1]),
    ]
    limits = "".join(f'<div class="{name}"><div class="property-title">x</div>{text}</div>' for name, text in header)
    interaction = '<div><div class="section-title">Interaction</div>.</div>' if result["interactive"] else ""
    return (
        f'<html><div class="problem-statement"><div class="header"><div class="title">{index}. {html.escape(title)}'
        f"</div>{limits}</div><div>A task.</div>{interaction}"
        f'<div class="sample-tests"><div class="section-title">Examples</div><div class="sample-test">{tests}</div>'
        "</div></div></html>"
    )


def test_what_the_expected_parses_hold_survives_as_a_page(folder: Path) -> None:
    for _, result in expectations(folder):
        number = problem_id(result)
        index = result["name"].split(".")[0]
        record = served(as_page(result), number.removesuffix(index), index).record
        assert record.title == result["name"].split(". ", 1)[1]
        assert record.suite is not None
        assert record.suite.time_limit_s == result["timeLimit"] / 1000
        assert record.suite.memory_limit_bytes == result["memoryLimit"] * 2**20
        samples = [(test["input"], test["output"]) for test in result["tests"]]
        assert samples_of(record) == ([] if result["interactive"] else samples)
        streams = [result[stream]["type"] for stream in ("input", "output")]
        assert ("file_io" in dict(record.flags)) == ("file" in streams)


# Answers of the API


def answer(folder: Path, name: str) -> Any:
    value = json.loads((folder / name).read_text(encoding="utf-8"))
    return value["result"] if isinstance(value, dict) and "result" in value else value


def discover(entries: list[Any]) -> Listing:
    def fetch(request: Request | str) -> Page:
        url = request if isinstance(request, str) else request.url
        if "contest.list" not in url:
            raise Absent(f"{url} is not recorded")
        return Page(url, json.dumps({"status": "OK", "result": entries}).encode(), NOW)

    return SOURCE.discover(fetch, WANTED)


def starts(listing: Listing) -> dict[str, float]:
    return {contest.native_id: contest.starts_at.timestamp() for contest in listing.contests if contest.starts_at}


def test_the_list_of_2019(folder: Path) -> None:
    entries = answer(folder, "api_contest_list_2019-08_trimmed.json")
    listing = discover(entries)
    assert starts(listing) == {str(entry["id"]): entry["startTimeSeconds"] for entry in entries}
    assert len(listing.contests) == 12
    assert listing.is_complete
    assert listing.seen == {"type CF": 7, "type IOI": 2, "type ICPC": 3, "phase BEFORE": 2, "phase FINISHED": 10}
    assert {contest.native_id for contest in listing.contests if contest.ends_at is None} == {"1200", "1201"}
    assert starts(listing)["1198"] == starts(listing)["1199"] == 1564497300
    ended = {contest.native_id: contest.ends_at for contest in listing.contests}
    assert ended["1178"] == datetime(2019, 7, 20, 18, 5, tzinfo=UTC)  # 15:35 and two hours and a half


def test_the_list_of_2026(folder: Path) -> None:
    listing = discover(answer(folder, "api_contest_list_objects_2026-08.json"))
    assert starts(listing) == {"2257": 1786977300, "2251": 1786705200, "2255": 1786286100, "2256": 1786286100}
    assert listing.contests[0].title == "Codeforces Round (Div. 2)"
    assert all(contest.ends_at is None for contest in listing.contests)


def test_single_objects_and_explicit_nulls(folder: Path) -> None:
    assert starts(discover([answer(folder, "api_contest_object_1200.json")])) == {"1200": 1565526900}
    assert starts(discover(answer(folder, "api_contest_list_result_tle.json"))) == {"1": 1265979600, "566": 1430150400}


def test_standings_name_the_problems_as_the_expected_parse_of_the_contest_does(folder: Path) -> None:
    body = {"status": "OK", "result": answer(folder, "api_contest_standings_result_tle.json")}

    def fetch(request: Request | str) -> Page:
        return Page(str(request), json.dumps(body).encode(), NOW)

    found = SOURCE.list_problems(fetch, ContestRecord("codeforces", "1"), WANTED)
    assert found.contest.starts_at == datetime(2010, 2, 12, 13, tzinfo=UTC)
    named = {
        problem_id(result): result["name"].split(". ", 1)[1]
        for name, result in expectations(folder)
        if name == "companion_expected_contest_complete-problemset.json"
    }
    assert {ref.native_id: ref.title for ref in found.problems} == {key: named[key] for key in ("1A", "1B")}


# Cases made from reports


def case_page(cases: Path, case: str, name: str, index: str) -> ProblemRecord:
    return served((cases / case / name).read_text(encoding="utf-8"), "9001", index).record


def test_lines_in_elements(cases: Path) -> None:
    """A16: every sample line in an element of its own."""
    expected = json.loads((cases / "A16" / "expected.json").read_text(encoding="utf-8"))
    record = case_page(cases, "A16", "page.html", "B")
    assert f"B. {record.title}" == expected["title"]
    assert record.suite is not None
    assert record.suite.time_limit_s == expected["time_limit_ms"] / 1000
    assert samples_of(record) == [tuple(sample) for sample in expected["samples"]]


def test_a_russian_page_in_place_of_an_english_one(cases: Path) -> None:
    """A21: the language is seen, the standard streams are, and the English title stays."""
    expected = json.loads((cases / "A21" / "expected.json").read_text(encoding="utf-8"))
    english, russian = (case_page(cases, "A21", f"{name}.html", "A") for name in ("en", "ru"))
    assert (english.language, english.title) == (expected["primary_lang"], expected["title"])
    assert (russian.language, russian.title) == ("ru", "")
    for record in (english, russian):
        assert record.suite is not None
        assert record.suite.io_kind == expected["io"][0]
        assert record.flags == ()


def test_a_contest_that_moved_twice(cases: Path) -> None:
    """A05: each listing has the start of its day, and the contest has ended in the last one alone."""
    rows = json.loads((cases / "A05" / "snapshots.json").read_text(encoding="utf-8"))
    expected = json.loads((cases / "A05" / "expected.json").read_text(encoding="utf-8"))
    found = []
    for row in rows:
        start = datetime.fromisoformat(row["start"])
        entry = {"id": row["id"], "name": "Round", "type": "CF", "phase": row["phase"]}
        entry |= {"durationSeconds": row["duration_s"], "startTimeSeconds": int(start.timestamp())}
        (contest,) = discover([entry]).contests
        found.append((contest.starts_at, contest.has_ended(datetime.fromisoformat(row["seen_at"]))))
    history = [start.strftime("%Y-%m-%dT%H:%M:%SZ") for start, _ in found if start is not None]
    assert list(dict.fromkeys(history)) == expected["start_history"]
    assert history[-1] == expected["start"]
    assert [has_ended for _, has_ended in found] == [False, False, False, True]
