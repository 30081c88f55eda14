"""Parquet: types as the schema has them, null apart from empty, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eval.publishing.publication import Published
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, published
from tests.eval.exports.reading import bodies, csv_rows, group_of, query, ranked, small, with_common
from tests.eval.facts import model, registry


def _written(of: Published, folder: Path) -> dict[str, Path]:
    paths = {}
    for path, body in bodies(of, "parquet").items():
        paths[Path(path).stem] = folder / Path(path).name
        paths[Path(path).stem].write_bytes(body)
    return paths


def test_each_column_has_its_type_whatever_its_cells_look_like(tmp_path: Path) -> None:
    paths = _written(with_common(small(), group_of([ranked("steady", 0.75)])), tmp_path)
    kinds = pl.read_parquet_schema(paths["results"])
    for name in ("window_from", "window_to", "cutoff_end", "as_of", "built_at"):
        assert kinds[name] == pl.Datetime("us", "UTC"), name
    for name in ("n_judged", "n_missing", "rank_low", "tier"):
        assert kinds[name] == pl.Int64(), name
    for name in ("pass_at_1", "ci_low", "se", "margin_hours", "answered_share"):
        assert kinds[name] == pl.Float64(), name
    for name in ("run", "label", "conditions", "warnings", "reason", "cutoff"):
        assert kinds[name] == pl.String(), name
    assert (kinds["is_imported"], kinds["cutoff_looked_up"], kinds["ran_on"]) == (pl.Boolean(), pl.Date(), pl.Date())
    outcomes = pl.read_parquet_schema(paths["outcomes"])
    assert [str(outcomes[name]) for name in ("run", "n_correct", "eligible")] == ["String", "Int64", "Boolean"]


@pytest.mark.parametrize("table", ["results", "problems"])
def test_the_rows_are_those_of_the_csv_file(tmp_path: Path, table: str) -> None:
    frame = pl.read_parquet(_written(small(), tmp_path)[table])
    rows = csv_rows(bodies(small(), table)[f"data/{table}.csv"])
    assert frame.columns == list(rows[0])
    assert frame.height == len(rows)
    for cells, values in zip(rows, frame.iter_rows(named=True), strict=True):
        for name, value in values.items():
            assert _as_cell(value) == cells[name], name


def _as_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if hasattr(value, "tzinfo"):
        text: str = value.isoformat()
        return text.replace("+00:00", "Z")
    return str(value)


def test_outcomes_are_the_files_of_all_runs_below_each_other(tmp_path: Path) -> None:
    rows = query(f"from '{_written(small(), tmp_path)['outcomes']}'").fetchall()
    expected: list[tuple[Any, ...]] = []
    found = bodies(small(), "outcomes")
    truth = {"true": True, "false": False, "": None}
    for run in sorted(small().run_slugs):
        for row in csv_rows(found[f"data/outcomes/{small().run_slugs[run]}.csv"]):
            counts = (int(row["n_samples"]), int(row["n_correct"]))
            sides = [truth[row[name]] for name in ("after_cutoff", "after_margin", "eligible", "judged")]
            expected.append((run, row["problem"], *counts, *sides, row["build_id"]))
    assert rows == expected


def test_text_that_looks_like_a_number_is_text_and_empty_is_not_null(tmp_path: Path) -> None:
    problems = [edition_problem(place, native_id=name, url=None) for place, name in enumerate(("001", "1e5", "NaN"))]
    runs = [edition_run(name, [(0, 1, 1)]) for name in ("007", "null", '{"a": "\\n"}', "O'Brien")]
    of = published(freeze_built(problems, runs, registry(*(model(run.name) for run in runs))))
    paths = _written(of, tmp_path)
    listed = pl.read_parquet(paths["problems"])
    assert listed["native_id"].to_list() == ["001", "1e5", "NaN"]
    assert listed["url"].to_list() == [None, None, None]
    own = pl.read_parquet(paths["results"]).filter(pl.col("table") == "own")
    assert own["run"].to_list() == ["007", "O'Brien", "null", '{"a": "\\n"}']
    assert own["label"].to_list() == [""] * 4
    assert own["provider"].to_list() == [None] * 4


def test_the_score_of_a_run_follows_from_the_outcomes_in_one_query(tmp_path: Path) -> None:
    path = _written(small(), tmp_path)["outcomes"]
    sql = "select avg(n_correct / n_samples) from '{}' where run = 'steady' and judged"
    (found,) = query(sql.format(path)).fetchall()
    assert found[0] == pytest.approx(31 / 102, abs=1e-12)  # see test_results


def test_the_file_says_which_edition_it_is_of_and_is_compressed(tmp_path: Path) -> None:
    path = _written(small(), tmp_path)["outcomes"]
    said = dict(query(f"select decode(key), decode(value) from parquet_kv_metadata('{path}')").fetchall())
    assert said["edition"] == "2025-05"
    assert said["edition_digest"] == small().digest
    assert said["built_at"] == "2025-05-03T09:00:30Z"
    assert said["software"] == "livecut 0.1.0"
    codecs = query(f"select distinct compression from parquet_metadata('{path}')").fetchall()
    assert codecs == [("ZSTD",)]


def test_a_quotation_mark_in_the_name_of_an_edition_is_text(tmp_path: Path) -> None:
    name = "May '25', x: 'y"
    path = _written(published(freeze_built([edition_problem(0)], [], registry(), name=name)), tmp_path)["problems"]
    said = dict(query(f"select decode(key), decode(value) from parquet_kv_metadata('{path}')").fetchall())
    assert (said["edition"], len(said)) == (name, 4)


def test_the_same_edition_gives_the_same_bytes() -> None:
    assert bodies(small(), "parquet") == bodies(small(), "parquet")


def test_an_edition_without_runs_has_tables_without_rows(tmp_path: Path) -> None:
    paths = _written(published(freeze_built([edition_problem(0)], [], registry())), tmp_path)
    assert pl.read_parquet(paths["results"]).height == pl.read_parquet(paths["outcomes"]).height == 0
    assert pl.read_parquet(paths["problems"])["problem"].to_list() == ["atcoder:p0"]
    assert pl.read_parquet_schema(paths["results"])["window_from"] == pl.Datetime("us", "UTC")
