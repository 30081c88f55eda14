from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db import batches
from db.engine import Store, open_store
from db.importing import MAX_KEPT, ImportFailure, ImportReport, UnknownFormat, UnreadableSource
from db.problems import list_problems, load_suite
from ingest.formats import format_names, load_format
from ingest.importing import import_problems
from tests.ingest.reading import DATA, write_rows

NOW = datetime(2025, 1, 2, 3, 4, tzinfo=UTC)
SOURCES = {"livecodebench": "livecodebench.jsonl", "jsonl": "problems.jsonl", "kattis": "packages"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.created, report.updated, report.unchanged, report.n_refused


def rows(n: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"platform": "own", "id": f"p{number}", "title": f"P {number}"} | fields for number in range(n)]


def test_formats_are_found_by_their_modules() -> None:
    assert {"jsonl", "kattis", "livecodebench"} <= set(format_names())
    for name in format_names():
        problem_format = load_format(name)
        assert problem_format.name == name
        assert problem_format.description


@pytest.mark.parametrize(
    ("name", "n_problems", "n_refused"), [("livecodebench", 4, 5), ("jsonl", 6, 0), ("kattis", 3, 3)]
)
def test_importing_twice_changes_nothing(store: Store, name: str, n_problems: int, n_refused: int) -> None:
    first = import_problems(store, DATA / SOURCES[name], name, now=NOW)
    assert counts(first) == (n_problems, 0, 0, n_refused)
    assert len(first.refused) == n_refused
    again = import_problems(store, DATA / SOURCES[name], name, now=NOW)
    assert counts(again) == (0, 0, n_problems, n_refused)


def test_what_is_in_the_store_afterwards(store: Store) -> None:
    import_problems(store, DATA / SOURCES["kattis"], "kattis", now=NOW)
    with store.read() as session:
        half = {problem.key.native_id: problem for problem in list_problems(session)}["first-cup-2024/half"]
        assert half.suite_id is not None
        suite = load_suite(session, half.suite_id)
    assert half.released_at == datetime(2024, 4, 6, tzinfo=UTC)
    assert [test.name for test in suite.tests] == ["sample/1", "secret/02-empty", "secret/1", "secret/strict/2"]
    assert suite.tests[-1].comparison is not None
    assert suite.tests[-1].comparison["absolute_tolerance"] == 1e-9


def test_an_edited_row_is_an_update(store: Store, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", rows(3))
    import_problems(store, path, "jsonl", now=NOW)
    edited = rows(3)
    edited[1]["statement"] = "Now it says something."
    assert counts(import_problems(store, write_rows(path, edited), "jsonl", now=NOW)) == (0, 1, 2, 0)


def test_a_problem_that_appears_twice_is_taken_once(store: Store, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", [*rows(2), *rows(1, statement="Other words.")])
    for expected in ((2, 0, 0, 1), (0, 0, 2, 1)):
        report = import_problems(store, path, "jsonl", now=NOW)
        assert counts(report) == expected
    assert str(report.refused[0]) == "own:p0: appears more than once here; the first was taken"


def test_dates_that_disagree_are_noted_and_both_stay(store: Store, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", rows(1, released={"value": "2023-08-21", "source": "livecodebench"}))
    import_problems(store, path, "jsonl", now=NOW)
    better = {"value": "2023-09-21T14:35:00Z", "source": "codeforces"}
    report = import_problems(store, write_rows(path, rows(1, released=better)), "jsonl", now=NOW)
    (note,) = report.notes
    assert note.startswith("own:p0: ")
    with store.read() as session:
        (problem,) = list_problems(session)
    assert problem.released_at == datetime(2023, 9, 21, 14, 35, tzinfo=UTC)
    assert {claim.source for claim in problem.date_claims} == {"livecodebench", "codeforces"}


def test_batches_end_by_rows_and_by_bytes(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_ROWS", 3)
    monkeypatch.setattr(batches, "BATCH_BYTES", 1000)
    big = rows(1, id="big", tests=[{"input": "x" * 2000, "expected": ""}])
    path = write_rows(tmp_path / "rows.jsonl", [*rows(4), *big, *rows(1, id="last")])
    seen: list[int] = []
    import_problems(store, path, "jsonl", now=NOW, progress=seen.append)
    assert seen == [3, 5, 6]


def test_an_interruption_keeps_the_finished_batches(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BATCH_ROWS", 2)
    path = write_rows(tmp_path / "rows.jsonl", rows(5))

    def interrupt(n_read: int) -> None:
        if n_read == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_problems(store, path, "jsonl", now=NOW, progress=interrupt)
    assert counts(import_problems(store, path, "jsonl", now=NOW)) == (1, 0, 4, 0)


def test_many_refusals_are_counted_and_some_are_kept(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("{\n" * (MAX_KEPT + 5) + json.dumps(rows(1)[0]))
    report = import_problems(store, path, "jsonl", now=NOW)
    assert counts(report) == (1, 0, 0, MAX_KEPT + 5)
    assert len(report.refused) == MAX_KEPT


@pytest.mark.parametrize("name", ["nonsense", "__init__", "../jsonl", ""])
def test_an_unknown_format(store: Store, name: str) -> None:
    with pytest.raises(UnknownFormat) as failed:
        import_problems(store, DATA / "problems.jsonl", name, now=NOW)
    assert repr(name) in failed.value.message
    assert "jsonl, kattis, livecodebench" in failed.value.hint


def test_a_path_that_cannot_be_read(store: Store, tmp_path: Path) -> None:
    for path, name in [(tmp_path / "absent", "jsonl"), (tmp_path, "jsonl"), (DATA / "problems.jsonl", "kattis")]:
        with pytest.raises(UnreadableSource) as failed:
            import_problems(store, path, name, now=NOW)
        assert isinstance(failed.value, ImportFailure)
        assert str(path) in failed.value.message
        assert failed.value.hint


def test_memory_does_not_grow_with_the_file(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_BYTES", 1024 * 1024)
    path = tmp_path / "rows.jsonl"
    peaks = []
    for n in (8, 40):
        tests = [[{"input": f"{number} " + "7" * 500_000, "expected": "1"}] for number in range(n)]
        write_rows(
            path, [row | {"id": f"{n}-{row['id']}", "tests": test} for row, test in zip(rows(n), tests, strict=True)]
        )
        del tests
        tracemalloc.start()
        import_problems(store, path, "jsonl", now=NOW)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2_000_000


@pytest.mark.shared
def test_the_shared_packages(store: Store, shared_data: Path) -> None:
    for expected in ((29, 0, 0, 0), (0, 0, 29, 0)):
        assert counts(import_problems(store, shared_data / "packages", "kattis", now=NOW)) == expected
