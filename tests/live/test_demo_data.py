"""The demo's data hold together, and its expected table can be counted by hand from the expected verdicts.

Nothing of the product runs here: what it makes of these data is compared with ``demo_expected.json`` elsewhere.
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

Row = dict[str, Any]

DEMO = Path(__file__).resolve().parents[2] / "live" / "demo"
MODELS = ("demo-frugal", "demo-memoriser", "demo-steady")
SAMPLES = 2
VERDICTS = {
    "accepted", "wrong_answer", "time_limit", "memory_limit", "output_limit", "runtime_error", "compile_error",
}  # fmt: skip
REQUIRED_KEYS = {
    "platform", "id", "title", "difficulty", "statement", "io", "time_limit_s", "memory_limit_bytes", "tests",
}  # fmt: skip
OPTIONAL_KEYS = {"contest", "index", "released", "entry_point", "starter_code", "comparison", "flags"}
FLAG_REASONS = {"interactive": "interactive", "multiple_answers": "multiple answers without a checker"}
ODD_PHRASES = (
    "global ", "sys.stdin.buffer", "open(0)", "os.write(1", "in sys.stdin:", "from __future__", "sys.exit(0)",
)  # fmt: skip
CUTOFF_ENDS = {
    "2024-12": "2025-01-01T12:00:00Z",
    "2024-06": "2024-07-01T12:00:00Z",
    "2025-02-18": "2025-02-19T12:00:00Z",
}
"""What is written in models.toml, and the first instant after it: midnight at UTC-12, worked out by hand."""


def read_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() == timedelta(0), text
    return moment.astimezone(UTC)


@pytest.fixture(scope="module")
def problems() -> dict[str, Row]:
    rows = read_rows(DEMO / "problems.jsonl")
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


@pytest.fixture(scope="module")
def models() -> dict[str, Row]:
    entries: list[Row] = tomllib.loads((DEMO / "models.toml").read_text(encoding="utf-8"))["model"]
    return {entry["name"]: entry for entry in entries}


@pytest.fixture(scope="module")
def expected() -> Row:
    table: Row = json.loads(Path(__file__).with_name("demo_expected.json").read_text(encoding="utf-8"))
    return table


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Problems


def test_there_are_twenty_problems_of_both_kinds(problems: dict[str, Row]) -> None:
    assert len(problems) == 20
    assert Counter(row["io"] for row in problems.values()) == {"stdin": 14, "function": 6}
    assert {row["platform"] for row in problems.values()} == {"demo"}
    assert {row["difficulty"] for row in problems.values()} == {"easy", "medium", "hard"}


def test_a_problem_holds_the_documented_keys_only(problems: dict[str, Row]) -> None:
    for row in problems.values():
        assert set(row) >= REQUIRED_KEYS, row["id"]
        assert set(row) <= REQUIRED_KEYS | OPTIONAL_KEYS, row["id"]
        assert ("entry_point" in row) == ("starter_code" in row) == (row["io"] == "function"), row["id"]
        assert 1 <= row["time_limit_s"] <= 2, row["id"]


def test_contests_span_two_years_and_date_their_problems(problems: dict[str, Row]) -> None:
    dated = [row for row in problems.values() if "contest" in row]
    for row in dated:
        assert row["released"] == row["contest"]["starts_at"], row["id"]
    sizes = Counter(row["contest"]["id"] for row in dated)
    assert len(sizes) == 7
    assert set(sizes.values()) <= {2, 3, 4}
    assert len({(row["contest"]["id"], row["contest"]["starts_at"]) for row in dated}) == 7
    assert len({(row["contest"]["id"], row["index"]) for row in dated}) == len(dated)
    starts = sorted(instant(row["released"]) for row in dated)
    assert (starts[0].year, starts[0].month) == (2024, 1)
    assert (starts[-1].year, starts[-1].month) == (2025, 12)


def test_three_problems_are_there_to_be_left_out(problems: dict[str, Row]) -> None:
    undated = [row["id"] for row in problems.values() if "released" not in row]
    assert len(undated) == 1
    assert "contest" not in problems[undated[0]]
    flags = [flag for row in problems.values() for flag in row.get("flags", [])]
    assert sorted(flag["name"] for flag in flags) == ["interactive", "multiple_answers"]
    assert all(flag["reason"] for flag in flags)
    without_tests = [row for row in problems.values() if not row["tests"]]
    assert [row["flags"][0]["name"] for row in without_tests] == ["interactive"]


def test_one_problem_declares_a_tolerance(problems: dict[str, Row]) -> None:
    rules = [row["comparison"] for row in problems.values() if "comparison" in row]
    assert rules == [{"absolute_tolerance": 1e-6, "relative_tolerance": 1e-6}]


def test_every_problem_has_two_samples_and_hidden_tests(problems: dict[str, Row]) -> None:
    for row in problems.values():
        if not row["tests"]:
            continue
        origins = Counter(test["origin"] for test in row["tests"])
        assert origins["sample"] == 2, row["id"]
        assert 4 <= origins["official"] <= 8, row["id"]
        assert len(origins) == 2, row["id"]
        assert len({test["name"] for test in row["tests"]}) == len(row["tests"]), row["id"]
        assert len({test["input"] for test in row["tests"]}) == len(row["tests"]), row["id"]
        assert all(set(test) == {"name", "input", "expected", "origin"} for test in row["tests"]), row["id"]
        assert all(test["input"].endswith("\n") and test["expected"].strip() for test in row["tests"]), row["id"]


def test_call_based_tests_fit_the_starter_code(problems: dict[str, Row]) -> None:
    for row in (row for row in problems.values() if row["io"] == "function"):
        solution = ast.parse(row["starter_code"] + "pass").body[0]
        assert isinstance(solution, ast.ClassDef)
        assert solution.name == "Solution"
        method = solution.body[0]
        assert isinstance(method, ast.FunctionDef)
        assert method.name == row["entry_point"]
        for test in row["tests"]:
            arguments = [json.loads(line) for line in test["input"].splitlines()]
            assert len(arguments) == len(method.args.args) - 1, (row["id"], test["name"])
            json.loads(test["expected"])


def test_the_data_stay_small() -> None:
    assert sum(path.stat().st_size for path in DEMO.rglob("*") if path.is_file()) < 200_000


# Models and their programs


def test_the_models_are_invented_and_show_every_status(models: dict[str, Row]) -> None:
    assert tuple(sorted(models)) == MODELS
    assert {entry["provider"] for entry in models.values()} == {"demo"}
    kinds = {claim["kind"] for entry in models.values() for claim in entry.get("claim", [])}
    assert kinds == {"training_data", "reliable_knowledge", "estimate"}
    assert any("claim" not in entry for entry in models.values())
    for entry in models.values():
        links = [claim["source"] for claim in entry.get("claim", [])]
        links += [entry["release_source"]] if "release_source" in entry else []
        assert links, entry["name"]
        assert all(link.startswith("https://example.org/") for link in links), entry["name"]


def test_every_model_has_one_file_of_programs(models: dict[str, Row]) -> None:
    assert {path.name for path in (DEMO / "solutions").iterdir()} == {f"{name}.jsonl" for name in models}


def test_every_model_answers_every_problem_twice(model: str, problems: dict[str, Row]) -> None:
    rows = read_rows(DEMO / "solutions" / f"{model}.jsonl")
    assert all(set(row) == {"platform", "id", "sample", "code", "language"} for row in rows)
    assert {(row["platform"], row["language"]) for row in rows} == {("demo", "python3")}
    answered = Counter((row["id"], row["sample"]) for row in rows)
    assert answered == Counter((name, sample) for name in problems for sample in range(SAMPLES))


def test_programs_of_every_odd_shape_are_there() -> None:
    programs = [row["code"] for name in MODELS for row in read_rows(DEMO / "solutions" / f"{name}.jsonl")]
    assert "" in programs
    assert any("threading.Thread" in code and ".join()" not in code for code in programs)
    for phrase in ODD_PHRASES:
        assert any(phrase in code for code in programs), phrase


# Expected verdicts


def test_every_program_has_an_expected_verdict(expected: Row, problems: dict[str, Row]) -> None:
    assert tuple(sorted(expected["verdicts"])) == MODELS
    for table in expected["verdicts"].values():
        assert set(table) == set(problems)
        for name, verdicts in table.items():
            assert len(verdicts) == SAMPLES, name
            assert all((verdict is None) == (not problems[name]["tests"]) for verdict in verdicts), name


def test_every_verdict_but_internal_error_occurs(expected: Row) -> None:
    found = {verdict for table in expected["verdicts"].values() for verdicts in table.values() for verdict in verdicts}
    assert found == VERDICTS | {None}


def test_programs_that_are_no_python_are_compile_errors(model: str, expected: Row) -> None:
    for row in read_rows(DEMO / "solutions" / f"{model}.jsonl"):
        try:
            ast.parse(row["code"])
            parses = True
        except SyntaxError:
            parses = False
        verdict = expected["verdicts"][model][row["id"]][row["sample"]]
        assert parses == (verdict != "compile_error"), (row["id"], row["sample"])


def test_the_same_program_has_the_same_verdict(expected: Row) -> None:
    known: dict[tuple[str, str], str | None] = {}
    for name in MODELS:
        for row in read_rows(DEMO / "solutions" / f"{name}.jsonl"):
            verdict = expected["verdicts"][name][row["id"]][row["sample"]]
            assert known.setdefault((row["id"], row["code"]), verdict) == verdict, (row["id"], name)


def test_every_problem_with_tests_has_a_right_program(expected: Row, problems: dict[str, Row]) -> None:
    assert set(expected["reference"]) == set(problems)
    for name, where in expected["reference"].items():
        if problems[name]["tests"]:
            assert expected["verdicts"][where["model"]][name][where["sample"]] == "accepted", name
        else:
            assert where is None, name


# Expected scores


def left_out(problem: Row, start: datetime | None) -> str | None:
    """Why the problem does not count in the window that begins at ``start`` (None: all dates)."""
    if "released" not in problem:
        return "publication date unknown"
    # "Released strictly after the end of the cut-off": the end is the last tick before ``start``.
    if start is not None and instant(problem["released"]) < start:
        return "published before the cut-off"
    return next((FLAG_REASONS[flag["name"]] for flag in problem.get("flags", [])), None)


def count(verdicts: dict[str, list[str]], names: list[str]) -> Row:
    right = [verdicts[name].count("accepted") for name in names]
    return {
        "n_problems": len(names),
        "n_accepted": sum(right),
        "pass_at_1": pytest.approx(sum(right) / (SAMPLES * len(names))),
        # With two samples of a problem, pass@2 is whether either of them is right.
        "pass_at_2": pytest.approx(sum(n > 0 for n in right) / len(names)),
    }


@pytest.mark.parametrize("window", ["own_window", "all_dates", "common_window"])
def test_scores_follow_from_the_verdicts(window: str, model: str, expected: Row, problems: dict[str, Row]) -> None:
    score = expected["scores"][model][window]
    start = None if score["from"] is None else instant(score["from"])
    reasons = {name: left_out(row, start) for name, row in problems.items()}
    names = [name for name, reason in reasons.items() if reason is None]
    counted = count(expected["verdicts"][model], names)
    assert {key: score[key] for key in counted} == counted
    assert score["n_samples"] == SAMPLES * len(names)
    assert score["left_out"] == Counter(reason for reason in reasons.values() if reason is not None)


def test_scores_before_the_cutoff_follow_from_the_verdicts(model: str, expected: Row, problems: dict[str, Row]) -> None:
    start = instant(expected["scores"][model]["own_window"]["from"])
    early = [name for name, row in problems.items() if "released" in row and instant(row["released"]) < start]
    assert not any("flags" in problems[name] for name in early)
    counted = count(expected["verdicts"][model], early)
    assert {key: expected["scores"][model]["before_cutoff"][key] for key in counted} == counted


def cutoff_of(entry: Row) -> str:
    training = [claim["cutoff"] for claim in entry.get("claim", []) if claim["kind"] == "training_data"]
    return str(training[0] if training else entry["release_date"])


def test_windows_start_where_the_cutoffs_end(expected: Row, models: dict[str, Row]) -> None:
    starts = {name: CUTOFF_ENDS[cutoff_of(entry)] for name, entry in models.items()}
    assert {name: score["own_window"]["from"] for name, score in expected["scores"].items()} == starts
    assert {score["common_window"]["from"] for score in expected["scores"].values()} == {max(starts.values())}
    assert {score["all_dates"]["from"] for score in expected["scores"].values()} == {None}


def test_a_contest_on_new_years_day_is_still_december_somewhere(expected: Row, problems: dict[str, Row]) -> None:
    start = instant(expected["scores"]["demo-memoriser"]["own_window"]["from"])
    released = [instant(row["released"]) for row in problems.values() if "released" in row]
    assert any(datetime(2025, 1, 1, tzinfo=UTC) < moment < start for moment in released)


def test_the_story_is_clear(expected: Row) -> None:
    def order(window: str) -> list[str]:
        scores = expected["scores"]
        return sorted(scores, key=lambda name: scores[name][window]["pass_at_1"], reverse=True)

    assert order("all_dates") == ["demo-memoriser", "demo-steady", "demo-frugal"]
    assert order("own_window") == ["demo-steady", "demo-frugal", "demo-memoriser"]
    assert order("common_window") == ["demo-steady", "demo-frugal", "demo-memoriser"]
    memoriser, steady = expected["scores"]["demo-memoriser"], expected["scores"]["demo-steady"]
    assert memoriser["before_cutoff"]["pass_at_1"] > 0.9
    assert memoriser["own_window"]["pass_at_1"] < 0.2
    assert abs(steady["before_cutoff"]["pass_at_1"] - steady["own_window"]["pass_at_1"]) < 0.1
