"""Windows over real published grades, through the store and the report: every row of the recorded oracle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store, open_store
from eval.evaluation import evaluate
from eval.importing import import_results
from eval.outcomes import load_imported_runs, load_problem_facts
from eval.registry_files import load_registry
from eval.report import Row
from eval.settings import Settings
from eval.window import parse_since
from ingest.importing import import_problems
from tests.livecodebench_data import as_problem_rows
from tests.livecodebench_solutions import as_result_rows, write_jsonl

NOW = datetime(2026, 1, 1, tzinfo=UTC)
pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def graded(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the 1,055 problems and the grades of the 12 runs."""
    folder = tmp_path_factory.mktemp("graded")
    data = shared_data / "livecodebench"
    write_jsonl(folder / "problems.jsonl", as_problem_rows(data / "problems.jsonl.gz"))
    write_jsonl(folder / "grades.jsonl", as_result_rows(data / "solutions.jsonl.gz"))
    with open_store(f"sqlite:///{folder}/store.db") as store:
        assert import_problems(store, folder / "problems.jsonl", "jsonl", now=NOW).created == 1055
        report = import_results(store, folder / "grades.jsonl", "jsonl", now=NOW)
        assert (report.created, report.n_refused) == (7030, 0)
        yield store


def test_every_published_window_is_reproduced(graded: Store, shared_data: Path) -> None:
    expected = json.loads((shared_data / "livecodebench" / "expected_windows.json").read_text())
    registry = load_registry()
    with graded.read() as session:
        problems = load_problem_facts(session)
        runs = {run.model: run for run in load_imported_runs(session)}
    assert len(expected) == 53
    for window in expected:
        settings = Settings(
            after_cutoff=False,
            since=parse_since(window["from"] or "2000"),
            until=parse_since(window["until"]) if window["until"] else None,
            include_flagged=True,
        )
        report = evaluate(problems, [runs[window["model"]]], registry, settings, now=NOW)
        (row,) = report.rows
        assert as_window(row) == pytest.approx(without_labels(window), abs=1e-4), window["window"]


def without_labels(window: dict[str, Any]) -> dict[str, float]:
    labels = ("model", "window", "from", "until")
    return {name: value for name, value in window.items() if name not in labels and value is not None}


def as_window(row: Row) -> dict[str, float]:
    assert row.pass_at_1.value is not None
    figures = {"problems": row.n_judged, "samples": row.n_samples, "pass_at_1": 100 * row.pass_at_1.value}
    for stratum in row.by_difficulty:
        value = stratum.scores[0].value
        assert value is not None
        figures |= {stratum.name: 100 * value, f"n_{stratum.name}": stratum.n_judged}
    return figures
