"""Report cases of group B (tests and checkers) on the side of the import: what is taken, left out, flagged and counted.

What they say of verdicts is in ``test_report_cases_judging.py`` and ``tests/sandbox/test_reports.py``.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store
from db.problems import list_problems
from db.suites import load_suite
from ingest.importing import import_problems
from tests.ingest.reading import read, write_rows
from tests.live.command import Live
from tests.real.case_sites import answer, scores

pytestmark = pytest.mark.shared

NOW = datetime(2026, 3, 10, tzinfo=UTC)
PUBLISHED = "2026-02-01T12:00:00Z"
CUTOFFS = {"nova-1": "2025-06"}


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def collected(native_id: str, statement: str, public: list[dict[str, str]], private: list[dict[str, str]]) -> Any:
    """A problem as LiveCodeBench's rows have it: a statement, and tests that nobody looked at."""
    public, private = (
        [{"input": test["in"], "output": test["out"], "testtype": "stdin"} for test in tests]
        for tests in (public, private)
    )
    return {
        "platform": "nova",
        "question_id": native_id,
        "question_title": native_id,
        "question_content": statement,
        "contest_date": PUBLISHED.removesuffix("Z"),
        "public_test_cases": json.dumps(public),
        "private_test_cases": json.dumps(private),
        "metadata": "{}",
    }


def problem(native_id: str, tests: list[dict[str, str]] | None = None, **more: object) -> dict[str, Any]:
    """A problem in our own form."""
    rows = [{"input": test["in"], "expected": test["out"]} for test in tests or []]
    return {"platform": "nova", "id": native_id, "title": native_id, "released": PUBLISHED, "tests": rows, **more}


def row_of(store: Store, live: Live, folder: Path) -> dict[str, Any]:
    """The row of a model that has answered every problem of the store."""
    answer(store, "nova-1", now=NOW)
    return scores(live, folder, CUTOFFS)["nova-1"]


def test_b01_any_answer_needs_a_checker_or_is_left_out(cases: Path, store: Store, live: Live, tmp_path: Path) -> None:
    case = load(cases / "B01" / "case.json")
    assert case["without_checker"]["expected_item_state"] == "needs_checker"
    statement = (cases / "B01" / "statement.txt").read_text(encoding="utf-8")
    tests = load(cases / "B01" / case["tests"])
    rows = write_rows(tmp_path / "rows.jsonl", [collected("pairs", statement, [], tests)])
    import_problems(store, rows, "livecodebench", now=NOW)
    row = row_of(store, live, tmp_path)
    assert (row["n_eligible"], row["pass_at_1"]) == (0, None)
    assert row["left_out"] == {"multiple answers without a checker": 1}
    checker = {"program": {"source": (cases / "B01" / case["checker"]).read_text("utf-8")}, "protocol": "testlib"}
    rows = write_rows(tmp_path / "rows.jsonl", [problem("pairs", tests, statement=statement, checker=checker)])
    import_problems(store, rows, "jsonl", now=NOW)
    row = scores(live, tmp_path, CUTOFFS)["nova-1"]
    assert row["n_eligible"] == 1


def test_b03_interactive_problems_are_left_out_by_their_rules_and_not_by_a_word(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    case, expected = (load(cases / "B03" / name) for name in ("case.json", "expected.json"))
    tests = [{"in": "4\n", "out": "2\n"}]
    rows = [collected(name, (cases / "B03" / name).read_text(encoding="utf-8"), [], tests) for name in case["inputs"]]
    import_problems(store, write_rows(tmp_path / "rows.jsonl", rows), "livecodebench", now=NOW)
    assert expected == {"interactive.txt": "not eligible: interactive", "talk.txt": "eligible"}
    row = row_of(store, live, tmp_path)
    assert (row["n_eligible"], row["n_judged"], row["left_out"]) == (1, 1, {"interactive": 1})


def test_b08_a_test_that_its_source_cut_off_is_dropped(cases: Path, store: Store, live: Live, tmp_path: Path) -> None:
    expected = load(cases / "B08" / "expected.json")
    row = problem("reverse", load(cases / "B08" / "tests.json"))
    for number, test in enumerate(row["tests"]):
        test |= {"name": str(number), "origin": "recovered"}
    report = import_problems(store, write_rows(tmp_path / "rows.jsonl", [row]), "jsonl", now=NOW)
    assert [(refusal.where[-6:], refusal.reason) for refusal in report.refused] == [
        ("test 2", "has its input cut off by its source"),
        ("test 3", "has its expected cut off by its source"),
    ]
    assert [f"test {number + 1}" for number in expected["dropped"]] == ["test 2", "test 3"]
    with store.read() as session:
        (stored,) = list_problems(session)
        assert stored.suite_id is not None
        suite = load_suite(session, stored.suite_id)
    assert [int(test.name) for test in suite.tests] == expected["kept"]
    assert dict(stored.flags) == {"partial_tests": "2 of 4 tests were refused at import"}
    assert row_of(store, live, tmp_path)["n_eligible"] == 1


def test_b12_answers_of_other_systems_are_stored_as_utf8_with_lf(cases: Path, tmp_path: Path) -> None:
    case = load(cases / "B12" / "case.json")
    secret = tmp_path / "package" / "data" / "secret"
    secret.mkdir(parents=True)
    (tmp_path / "package" / "problem.yaml").write_text("name: Encodings\n", encoding="utf-8")
    for name in case["answers"]:
        (secret / name).write_bytes((cases / "B12" / name).read_bytes())
        (secret / name).with_suffix(".in").write_bytes(b"")
    (secret / "broken.in").write_bytes(b"")
    (secret / "broken.ans").write_bytes(b"1 2\n\xff\xfe\xfa\n")
    found = read("kattis", tmp_path)
    (wanted,) = load(cases / "B12" / case["tests"])
    (record,) = found.problems
    assert record.suite is not None
    assert {test.expected for test in record.suite.tests} == {wanted["out"].encode()}
    assert len(record.suite.tests) == 3
    (note,) = found.notes
    assert note.text.startswith("normalised to UTF-8 with LF line ends")
    assert all(name in note.text for name in case["answers"])
    assert "broken.ans is not UTF-8 text" in found.refusal.reason


def test_b17_a_list_and_archives_that_do_not_match(cases: Path, store: Store, live: Live, tmp_path: Path) -> None:
    expected = load(cases / "B17" / "expected.json")
    listed = write_rows(tmp_path / "list.jsonl", [problem(name) for name in load(cases / "B17" / "list.json")])
    tests = [{"in": "1\n", "out": "2\n"}]
    archives = [problem(name, tests) for name in load(cases / "B17" / "archives.json")]
    assert live("import", "problems", listed, "-f", "jsonl").code == 0
    ended = live(
        "import", "problems", write_rows(tmp_path / "tests.jsonl", archives), "-f", "jsonl", "--known-only", "--json"
    )
    assert ended.code == 1
    assert [refusal["where"] for refusal in ended.document["refused"]] == [
        f"nova:{name}" for name in expected["unexpected"]
    ]
    assert ended.document["notes"] == [f"nova:{name}: has no tests" for name in expected["missing"]]
    row = row_of(store, live, tmp_path)
    assert (row["n_judged"], row["n_eligible"]) == (expected["usable"], expected["total"])
    assert row["left_out"] == {"no tests": len(expected["missing"])}
    assert row["pass_at_1"] == 1.0  # of those four: what has no tests is no zero
    models = tmp_path / "models.toml"
    table = live("--models", models, "eval", "--after-cutoff", "--no-judge").out
    assert f"{expected['usable']}/{expected['total']}" in table


@pytest.mark.parametrize("form", ["livecodebench", "jsonl"])
def test_b18_tests_that_are_the_samples_again_are_none(
    cases: Path, store: Store, live: Live, tmp_path: Path, form: str
) -> None:
    expected = load(cases / "B18" / "expected.json")
    samples, hidden = (load(cases / "B18" / f"{name}.json") for name in ("samples", "hidden"))
    row = problem("sum", hidden)
    row["tests"] += [{"input": test["in"], "expected": test["out"], "origin": "sample"} for test in samples]
    strong = problem("more", [*hidden, {"in": "1 1\n", "out": "2\n"}])
    strong["tests"] += row["tests"][len(hidden) :]
    rows = [row, strong]
    if form == "livecodebench":
        rows = [
            collected("sum", "Add two numbers.", samples, hidden),
            collected("more", "Add two numbers.", samples, [*hidden, {"in": "1 1\n", "out": "2\n"}]),
        ]
    import_problems(store, write_rows(tmp_path / "rows.jsonl", rows), form, now=NOW)
    with store.read() as session:
        stored = {one.key.native_id: one for one in list_problems(session)}
    assert [name for name, _ in stored["sum"].flags] == [expected["flag"]]
    assert stored["sum"].samples_only
    assert (stored["more"].flags, stored["more"].samples_only) == ((), False)
    row = row_of(store, live, tmp_path)
    assert not expected["eligible"]
    assert (row["n_eligible"], row["left_out"]) == (1, {"no tests beyond the samples": 1})
    (row,) = scores(live, tmp_path, CUTOFFS, "--after-cutoff", "--include-flagged").values()
    assert (row["n_judged"], row["left_out"], row["n_samples_only"]) == (1, {"sample tests only": 1}, 1)


def test_b18_what_passes_samples_alone_has_no_score_and_no_rank(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    """The table of the case passes all tests that there are, and the honest program does no better."""
    samples = load(cases / "B18" / "samples.json")
    row = problem("sum")
    row["tests"] = [{"input": test["in"], "expected": test["out"], "origin": "sample"} for test in samples]
    import_problems(store, write_rows(tmp_path / "rows.jsonl", [row]), "jsonl", now=NOW)
    for model in ("table", "honest"):
        answer(store, model, now=NOW)
    cutoffs = dict.fromkeys(("table", "honest"), "2025-06")
    for found in scores(live, tmp_path, cutoffs).values():
        assert (found["pass_at_1"], found["n_judged"], found["n_eligible"]) == (None, 0, 1)
        assert found["reason"] == "no score, since all eligible problems have sample tests only"
        assert (found["samples_only_n_correct"], found["samples_only_n_samples"]) == (1, 1)
        assert [line for line in found["warnings"] if line.startswith("live tests build ")]
    given = ("--models", tmp_path / "models.toml")
    table = live(*given, "eval", "--after-cutoff", "--no-judge", "--table", "common")
    pairs = live(*given, "compare", "table", "honest", "--no-judge")
    for shown in (table, pairs):
        assert shown.code == 3
        assert "on sample tests alone, in no score, rank or comparison: 1 problem; live tests build" in shown.out
