"""Importing the recorded real files: every row arrives, and the grades add up to what was published."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from db.completions import list_runs
from db.engine import Store, open_store
from db.problems import save_problem
from db.records import ProblemKey, ProblemRecord
from eval.importing import import_results, import_solutions
from tests.eval.stored import completions, tallies
from tests.livecodebench_solutions import RESULTS_ORIGIN, as_result_rows, as_solution_rows, write_jsonl

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.shared


@pytest.fixture
def store(tmp_path: Path, shared_data: Path) -> Iterator[Store]:
    """A store with the 1,055 problems of LiveCodeBench, without statements and tests."""
    with (
        open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened,
        gzip.open(shared_data / "livecodebench" / "problems.jsonl.gz", "rt") as lines,
    ):
        with opened.write() as session:
            for line in lines:
                row = json.loads(line)
                key = ProblemKey(row["platform"], row["question_id"])
                save_problem(session, ProblemRecord(key, row["title"], (), "test"), now=NOW)
        yield opened


def test_o1_mini(store: Store, shared_data: Path) -> None:
    path = shared_data / "livecodebench" / "o1-mini_eval_all.json.gz"
    model = "o1-mini-2024-09-12"
    report = import_solutions(store, path, "livecodebench", model=model, known_models=str, now=NOW)
    assert (report.created, report.n_refused, report.notes) == (880, 0, ())
    codes = {(row.key.native_id, row.sample_index): row.code for row in completions(store)}
    # The joined file has the same run: the same programs at the same places.
    joined = as_solution_rows(shared_data / "livecodebench" / "solutions.jsonl.gz", model)
    assert codes == {(row["id"], row["sample"]): row["code"] for row in joined}

    report = import_results(store, path, "livecodebench", model=model, now=NOW)
    assert (report.created, report.n_refused, report.notes) == (880, 0, ())
    assert sum(n_correct for *_, n_correct, _ in tallies(store)) == 602


def test_all_twelve_runs(store: Store, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "livecodebench" / "solutions.jsonl.gz"
    path = write_jsonl(tmp_path / "solutions.jsonl", as_solution_rows(source))
    report = import_solutions(store, path, "jsonl", model=None, known_models=str, now=NOW)
    assert (report.created, report.unchanged, report.n_refused) == (16_480, 0, 0)
    with store.read() as session:
        counts = {run.model: run.n_completions for run in list_runs(session)}
    assert counts == Counter(row["model"] for row in as_solution_rows(source))
    assert len(counts) == 12
    report = import_solutions(store, path, "jsonl", model=None, known_models=str, now=NOW)
    assert (report.created, report.updated, report.unchanged, report.n_refused) == (0, 0, 16_480, 0)


def test_published_grades_of_the_twelve_runs(store: Store, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "livecodebench" / "solutions.jsonl.gz"
    path = write_jsonl(tmp_path / "results.jsonl", as_result_rows(source))
    report = import_results(store, path, "jsonl", now=NOW)
    assert (report.created, report.n_refused) == (7_030, 0)
    rows = tallies(store)
    assert {origin for _, _, origin, _, _ in rows} == {RESULTS_ORIGIN}
    assert sum(n_correct for *_, n_correct, _ in rows) == 4_303
    assert sum(n_samples for *_, n_samples in rows) == 16_480


@pytest.mark.parametrize(
    ("name", "n_rows", "n_models", "absent"),
    [
        # The data set dropped one problem after that day: its row of each model has no problem to join.
        ("site_2024-02-26.json.gz", 5_583, 16, {"abc319_a"}),
        ("site_repair.json.gz", 12_121, 17, set()),
    ],
)
def test_site(store: Store, shared_data: Path, name: str, n_rows: int, n_models: int, absent: set[str]) -> None:
    path = shared_data / "livecodebench" / name
    report = import_results(store, path, "livecodebench-site", now=NOW)
    assert report.n_refused == len(absent) * n_models
    assert report.created == n_rows - report.n_refused
    assert all(refusal.reason.endswith("in the store") for refusal in report.refused)

    recorded: dict[str, list[float]] = defaultdict(list)
    with gzip.open(path, "rt") as file:
        site = json.load(file)
    names = {model["model_repr"]: model["model_name"] for model in site["models"]}
    for row in site["performances"]:
        if str(row["question_id"]) not in absent:
            recorded[names[row["model"]]].append(row["pass@1"])
    stored: dict[str, list[float]] = defaultdict(list)
    for model, _, _, n_correct, n_samples in tallies(store):
        stored[model].append(100 * n_correct / n_samples)
    assert len(stored) == n_models
    for model, percentages in recorded.items():
        assert sorted(stored[model]) == pytest.approx(sorted(percentages), abs=1e-9)
