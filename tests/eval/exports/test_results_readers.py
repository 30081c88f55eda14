"""The table of results in the hands of its readers: text as it is, and types in one line of pandas, polars, DuckDB."""

from __future__ import annotations

from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

from eval.publishing.publication import Published
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, published
from tests.eval.exports.reading import bodies, csv_rows, group_of, query, ranked, small, with_common
from tests.eval.facts import model, registry

INSTANTS = ["window_from", "cutoff_end", "as_of", "built_at"]
"""Columns of instants; ``window_to`` is empty here, and a column of empty cells tells a reader of CSV nothing."""

COUNTS = ["n_eligible", "n_judged", "n_missing", "n_exposed", "n_contests", "n_samples", "rank_low", "tier"]
SHARES = ["pass_at_1", "ci_low", "ci_high", "se"]
TEXTS = ["run", "reason", "edition_digest", "cutoff"]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A results.csv in which the own and the common table have numbers."""
    of = with_common(small(), group_of([ranked("steady", 0.75)]))
    path = tmp_path / "results.csv"
    path.write_bytes(bodies(of, "results")["data/results.csv"])
    return path


def _named(*names: str) -> Published:
    """An edition of runs with these names, on 12 problems that all of them solve in one of two samples."""
    problems = [edition_problem(place, contest=f"c{place}") for place in range(12)]
    runs = [edition_run(name, [(place, 2, 1) for place in range(12)], label=name) for name in names]
    return published(freeze_built(problems, runs, registry(*(model(name) for name in names))))


ODD_NAMES = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2",
    "@SUM(A1)",
    "001",
    "NA",
    "null",
    "a\rb",
    "c\nd",
    'say "x", y',
    "tab\tx",
]


def test_text_stays_as_it_is_for_every_reader() -> None:
    body = bodies(_named(*ODD_NAMES), "results")["data/results.csv"]
    expected = sorted(ODD_NAMES)
    assert [row["run"] for row in csv_rows(body) if row["table"] == "own"] == expected
    assert body.count(b"\r") == 3 * 3  # in the run, model and label of one run, in three tables


def test_text_that_looks_like_numbers_is_text_where_a_reader_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(bodies(_named(*ODD_NAMES), "results")["data/results.csv"])
    expected = sorted(ODD_NAMES)
    frame = pd.read_csv(path, dtype={"label": "string"}, keep_default_na=False, na_values=[""])
    assert frame[frame["table"] == "own"]["label"].tolist() == expected
    lines = pl.read_csv(path, infer_schema_length=None, schema_overrides={"label": pl.String})
    assert lines.filter(pl.col("table") == "own")["label"].to_list() == expected
    rows = query(f"select label from read_csv('{path}', types={{'label': 'VARCHAR'}}) where \"table\" = 'own'")
    assert [row[0] for row in rows.fetchall()] == expected


def test_pandas_reads_the_types_in_one_line(written: Path) -> None:
    frame = pd.read_csv(
        written,
        dtype_backend="numpy_nullable",
        keep_default_na=False,
        na_values=[""],
        parse_dates=[*INSTANTS, "window_to"],
        date_format="ISO8601",
    )
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert {kinds[name] for name in INSTANTS} == {"datetime64[us, UTC]"}
    assert {kinds[name] for name in COUNTS} == {"Int64"}
    assert {kinds[name] for name in SHARES} == {"Float64"}
    assert {kinds[name] for name in TEXTS} == {"string"}
    assert kinds["is_imported"] == "boolean"
    steady = frame[(frame["run"] == "steady") & (frame["table"] == "own")].iloc[0]
    assert steady["window_from"] == pd.Timestamp("2024-07-01T12:00Z")
    assert (steady["n_judged"], steady["tier"] is pd.NA) == (34, True)


def test_polars_reads_the_types_in_one_line(written: Path) -> None:
    frame = pl.read_csv(written, try_parse_dates=True, infer_schema_length=None)
    kinds = dict(frame.schema)
    assert {kinds[name] for name in INSTANTS} == {pl.Datetime("us", "UTC")}
    assert {kinds[name] for name in COUNTS} == {pl.Int64()}
    assert {kinds[name] for name in SHARES} == {pl.Float64()}
    assert {kinds[name] for name in TEXTS} == {pl.String()}
    assert kinds["is_imported"] == pl.Boolean()
    assert kinds["cutoff_looked_up"] == pl.Date()


def test_duckdb_reads_the_types_in_one_line(written: Path) -> None:
    read = query(f"from '{written}'")
    kinds = {name: str(kind) for name, kind in zip(read.columns, read.types, strict=True)}
    assert {kinds[name] for name in INSTANTS} == {"TIMESTAMP WITH TIME ZONE"}
    assert {kinds[name] for name in COUNTS} == {"BIGINT"}
    assert {kinds[name] for name in SHARES} == {"DOUBLE"}
    assert {kinds[name] for name in TEXTS} == {"VARCHAR"}
    assert kinds["is_imported"] == "BOOLEAN"


def test_duckdb_hands_parquet_to_pandas_with_its_types(tmp_path: Path) -> None:
    path = tmp_path / "results.parquet"
    path.write_bytes(bodies(small(), "parquet")["data/results.parquet"])
    frame = query(f"from '{path}'").df()
    # DuckDB shows instants in the zone of the machine.
    assert all(isinstance(frame.dtypes[name], pd.DatetimeTZDtype) for name in (*INSTANTS, "window_to"))
    assert {str(frame.dtypes[name]) for name in SHARES} == {"float64"}
    steady = frame[(frame["run"] == "steady") & (frame["table"] == "own")].iloc[0]
    assert (steady["window_from"], steady["n_judged"]) == (pd.Timestamp("2024-07-01T12:00Z"), 34)
