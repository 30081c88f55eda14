"""A later revision of a board: which results change, whose are refused, and how both are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from db.engine import Store, open_store
from db.importing import ImportReport
from db.problems import save_problem
from db.records import ProblemKey, ProblemRecord
from eval.importing import import_results
from tests.eval.stored import tallies

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
N_PROBLEMS = 40


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        with opened.write() as session:
            for number in range(N_PROBLEMS + 1):
                record = ProblemRecord(ProblemKey("leetcode", str(number)), "A problem", (), "test")
                save_problem(session, record, now=NOW)
        yield opened


def board(
    store: Store, folder: Path, origin: str | None = None, *, replace: bool = False, **right: int
) -> ImportReport:
    """Import a board on which each of these models is right on its first so many problems of all, in one sample."""
    rows = [
        {"id": str(number), "model": model, "n_samples": 1, "n_correct": int(number < n_right)}
        for model, n_right in right.items()
        for number in range(N_PROBLEMS)
    ]
    path = folder / "board.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_results(store, path, "jsonl", origin=origin, replace=replace, now=NOW)


def n_right(store: Store, model: str, origin: str = "jsonl") -> int:
    return sum(correct for name, _, by, correct, _ in tallies(store) if (name, by) == (model, origin))


def test_a_model_that_changed_is_refused_whole_and_named_with_its_share(store: Store, tmp_path: Path) -> None:
    board(store, tmp_path, moved=10, fixed=20)
    extra = {"id": str(N_PROBLEMS), "model": "moved", "n_samples": 1, "n_correct": 1}
    path = tmp_path / "later.jsonl"
    board(store, tmp_path, moved=10)  # the same again changes nothing
    rows = [
        {"id": str(n), "model": model, "n_samples": 1, "n_correct": int(n < right)}
        for model, right in (("moved", 13), ("fixed", 21), ("new", 5))
        for n in range(N_PROBLEMS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, extra]))
    report = import_results(store, path, "jsonl", now=NOW)
    assert (report.created, report.updated, report.unchanged, report.n_refused) == (N_PROBLEMS, 1, N_PROBLEMS - 1, 1)
    (refusal,) = report.refused
    assert str(refusal) == (
        "moved (jsonl): 3 of 40 results differ from those in the store: the model or the harness changed; "
        "none of its 41 results was taken"
    )
    assert "--origin" in refusal.hint
    assert "--replace" in refusal.hint
    assert "fixed (jsonl): 1 of 40 results changed, the former ones are gone" in report.notes
    assert {model: n_right(store, model) for model in ("moved", "fixed", "new")} == {"moved": 10, "fixed": 21, "new": 5}
    assert ("moved", f"leetcode:{N_PROBLEMS}", "jsonl", 1, 1) not in tallies(store)


@pytest.mark.parametrize(("n_changed", "n_refused"), [(0, 0), (2, 0), (3, 1)])
def test_more_than_a_twentieth_is_another_model(store: Store, tmp_path: Path, n_changed: int, n_refused: int) -> None:
    board(store, tmp_path, m=10)
    report = board(store, tmp_path, m=10 + n_changed)  # 2 of 40 are 5 %
    assert report.n_refused == n_refused
    assert n_right(store, "m") == (10 if n_refused else 10 + n_changed)


def test_an_origin_of_its_own_keeps_both_and_replace_takes_the_later(store: Store, tmp_path: Path) -> None:
    board(store, tmp_path, m=10)
    assert board(store, tmp_path, "jsonl 2025-01", m=30).n_refused == 0
    assert (n_right(store, "m"), n_right(store, "m", "jsonl 2025-01")) == (10, 30)
    report = board(store, tmp_path, replace=True, m=30)
    assert (report.updated, report.n_refused) == (20, 0)
    assert n_right(store, "m") == 30
    assert "m (jsonl): 20 of 40 results changed, the former ones are gone: the model or the harness changed" in (
        report.notes
    )


def test_another_number_of_samples_is_another_result(store: Store, tmp_path: Path) -> None:
    board(store, tmp_path, m=10)
    path = tmp_path / "ten.jsonl"
    rows = [{"id": str(n), "model": "m", "n_samples": 10, "n_correct": 10 * (n < 10)} for n in range(N_PROBLEMS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = import_results(store, path, "jsonl", now=NOW)
    assert (report.updated, report.n_refused) == (0, 1)
    assert "40 of 40 results differ" in report.refused[0].reason


def test_results_of_another_scenario_are_no_revision(store: Store, tmp_path: Path) -> None:
    board(store, tmp_path, m=10)
    path = tmp_path / "board.jsonl"
    rows = [{"id": str(n), "model": "m", "n_samples": 1, "n_correct": 1} for n in range(N_PROBLEMS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = import_results(store, path, "jsonl", scenario="self_repair", now=NOW)
    assert (report.created, report.n_refused) == (N_PROBLEMS, 0)


def test_a_correction_of_the_only_result_takes_its_place_where_that_is_asked_for(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for n_correct, replace, kept in ((3, False, 3), (4, False, 3), (4, True, 4)):
        row = {"id": "1", "model": "m", "n_samples": 10, "n_correct": n_correct}
        path.write_text(json.dumps(row) + "\n")
        report = import_results(store, path, "jsonl", replace=replace, now=NOW)
        assert tallies(store) == {("m", "leetcode:1", "jsonl", kept, 10)}
    assert report.notes == (
        "m (jsonl): 1 of 1 results changed, the former ones are gone: the model or the harness changed",
    )
