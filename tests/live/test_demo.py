"""The demonstration through the product, held against verdicts and scores that plain Python and a hand count gave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from db.completions import list_runs
from db.engine import open_store
from db.environments import latest_environment
from db.judgements import load_verdicts
from db.problems import list_problems
from tests.live.command import Live

EXPECTED: dict[str, Any] = json.loads((Path(__file__).parent / "demo_expected.json").read_text(encoding="utf-8"))
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_verdicts_and_scores_are_the_expected_ones(demo_live: Live, tmp_path: Path, executor: str) -> None:
    judged = demo_live("judge", "--executor", executor, "--json")
    assert (judged.code, judged.err) == (0, "")
    assert judged.document["n_judged"] == sum(v is not None for v in stored_expectations().values())
    assert stored_verdicts(tmp_path / "store.db") == stored_expectations()

    again = demo_live("judge", "--executor", executor, "--json")
    assert (again.code, again.document["n_judged"]) == (0, 0)

    for window, arguments in {"own_window": ["--after-cutoff"], "all_dates": ["--since", "2000"]}.items():
        report = demo_live("eval", *arguments, "--k", "1,2", "--executor", executor, "--json")
        assert report.code == 0
        rows = {row["model"]: row for row in report.document["rows"]}
        for model, scores in EXPECTED["scores"].items():
            expected = scores[window]
            row = rows[model]
            assert row["pass_at_1"] == pytest.approx(expected["pass_at_1"], abs=1e-12)
            assert row["pass_at_2"] == pytest.approx(expected["pass_at_2"], abs=1e-12)
            assert (row["n_judged"], row["n_samples"]) == (expected["n_problems"], expected["n_samples"])
            assert row["left_out"] == expected["left_out"]
            assert row["window_from"] == (expected["from"] or "2000-01-01T00:00:00Z")
            assert row["ci_low"] < row["pass_at_1"] < row["ci_high"]


def stored_expectations() -> dict[tuple[str, str, int], str | None]:
    return {
        (model, problem, sample): verdict
        for model, problems in EXPECTED["verdicts"].items()
        for problem, verdicts in problems.items()
        for sample, verdict in enumerate(verdicts)
    }


def stored_verdicts(path: Path) -> dict[tuple[str, str, int], str | None]:
    with open_store(f"sqlite:///{path}") as store, store.read() as session:
        runs = {run.run_id: run.model for run in list_runs(session)}
        problems = {problem.problem_id: problem.key.native_id for problem in list_problems(session)}
        environment = latest_environment(session)
        assert environment is not None
        return {
            (runs[row.run_id], problems[row.problem_id], row.sample_index): row.verdict
            for row in load_verdicts(session, environment.environment_id, list(runs))
        }


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_demo_command_says_what_its_table_shows(live: Live, tmp_path: Path, executor: str) -> None:
    shown = live("--quiet", "demo", "--executor", executor)
    assert (shown.code, shown.err) == (0, "")
    # Fewer than 10 problems give no rate, here as in the table.
    assert (
        "  demo-memoriser: 67.6 % of the 17 problems of all dates, 1 of the 6 published after its cut-off (2024-12)"
        in shown.out.splitlines()
    )
    assert not (tmp_path / "store.db").exists()
