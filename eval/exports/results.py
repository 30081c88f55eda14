"""The table of results: every run in every table, with all that its number rests on, as CSV and JSON. Pure.

The columns, their types, units and meanings are those of ``data/results.schema.json``. To read the table with the right
types::

    pandas.read_csv("results.csv", dtype_backend="numpy_nullable", keep_default_na=False, na_values=[""],
                    parse_dates=["window_from", "window_to", "cutoff_end", "as_of", "built_at"], date_format="ISO8601")
    polars.read_csv("results.csv", try_parse_dates=True, infer_schema_length=None)
    duckdb.sql("from 'results.csv'")

    polars.read_parquet("results.parquet")
    duckdb.sql("from 'results.parquet'").df()

The last is a frame of pandas, whose own ``read_parquet`` needs pyarrow. Parquet knows the type of each column; readers
of CSV guess it, and call a column of empty cells text. Names that look like numbers are text where a reader is told so:
``dtype={"label": "string"}``, ``schema_overrides={"label": polars.String}``, ``types={'label': 'VARCHAR'}``.

For programs, not for spreadsheets: text stands as it is, also where it begins with "=", "+", "-" or "@".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from eval.exports._columns import columns_of, csv_bytes, json_bytes, ordered, schema_bytes
from eval.exports._editions import edition_values
from eval.exports._result_rows import COMMON, EQUATED, OWN, TABLES, not_scored, result_rows, table_settings
from eval.publishing.publication import File, Published
from eval.render import table_notes
from eval.sheets import Sheet, plain

NAME = "results"
DESCRIPTION = "Every run in every table, with all that its number rests on: CSV, JSON, and the schema of both"
FORMAT = "livecut-results-2"


def files(published: Published) -> Iterator[File]:
    """data/results.csv, data/results.json and data/results.schema.json."""
    rows = result_rows(published)
    yield File("data/results.csv", csv_bytes(columns_of(NAME), rows))
    yield File("data/results.json", json_bytes({**_head(published), "rows": list(rows), **_tail(published)}))
    yield File("data/results.schema.json", schema_bytes(NAME))


def _head(published: Published) -> dict[str, Any]:
    edition = published.edition
    settings = {table: table_settings(edition.numbers, table) for table in TABLES}
    return {
        "format": FORMAT,
        "edition": edition_values(published),
        "settings": {
            name: ordered(plain(value)) for name, value in (("edition", asdict(edition.settings)), *settings.items())
        },
    }


def _tail(published: Published) -> dict[str, Any]:
    edition, numbers = published.edition, published.edition.numbers
    private = sorted(numbers.private, key=lambda one: one.run)
    return {
        "not_scored": [
            {"table": table, "model": one.model, "reason": one.reason}
            for table in TABLES
            for one in sorted(not_scored(numbers, table), key=lambda one: (one.model, one.reason))
        ],
        "withdrawn": [{"model": name, "reason": edition.withdrawn[name]} for name in sorted(edition.withdrawn)],
        "private": [
            {
                "run": one.run,
                "n_problems": one.n_problems,
                "pass_at_1": _whole_percent(one.score),
                "ci_low": _whole_percent(one.low),
                "ci_high": _whole_percent(one.high),
                "reason": one.reason,
            }
            for one in private
        ],
        "notes": {
            OWN: list(table_notes(numbers.own)),
            COMMON: sheet_notes(numbers.common),
            EQUATED: sheet_notes(numbers.equated),
        },
    }


def _whole_percent(share: float | None) -> float | None:
    """A share of private problems as it may be told: exact ones, edition after edition, would tell of each problem."""
    return None if share is None else round(share, 2)


def sheet_notes(sheet: Sheet) -> list[str]:
    """All lines of a sheet: what was measured, then what to know of it."""
    return [*sheet.conditions, *(note for table in sheet.tables for note in table.notes), *sheet.notes]
