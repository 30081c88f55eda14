"""The tables as Parquet, each column with its type: text that looks like a number stays text, null differs from empty.

Written by DuckDB (the extra ``parquet``) in one thread and in the order of the CSV files, so that the same rows give
the same bytes. The file's key-value metadata name the edition. Rows pass through a temporary file, one table at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from eval.exports import ExportUnavailable
from eval.exports._columns import Column, Kind, Values, columns_of, json_text
from eval.exports._result_rows import result_rows
from eval.exports.outcomes import outcomes_by_run
from eval.exports.problems import problem_rows
from eval.publishing.publication import File, Published
from eval.report import utc_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NAME = "parquet"
DESCRIPTION = "Results, problems and outcomes as Parquet, with typed columns (needs the extra parquet)"

_TYPES = {
    Kind.TEXT: "VARCHAR",
    Kind.INSTANT: "TIMESTAMPTZ",
    Kind.DAY: "DATE",
    Kind.COUNT: "BIGINT",
    Kind.NUMBER: "DOUBLE",
    Kind.TRUTH: "BOOLEAN",
    Kind.NESTED: "VARCHAR",
}
_OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


def files(published: Published) -> Iterator[File]:
    """data/results.parquet, data/problems.parquet and data/outcomes.parquet. Raises ``ExportUnavailable``."""
    connection = _connection()
    outcomes = (row for _, rows in outcomes_by_run(published) for row in rows)
    tables: tuple[tuple[str, Iterable[Values]], ...] = (
        ("results", result_rows(published)),
        ("problems", problem_rows(published)),
        ("outcomes", outcomes),
    )
    with connection:
        for name, rows in tables:
            yield File(f"data/{name}.parquet", _parquet_bytes(connection, columns_of(name), rows, published))


def _connection() -> DuckDBPyConnection:
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise ExportUnavailable("Parquet files need DuckDB", "pip install 'livecut[parquet]'") from error
    connection = duckdb.connect(":memory:", config=_OFFLINE)
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def _parquet_bytes(
    connection: DuckDBPyConnection, columns: Sequence[Column], rows: Iterable[Values], published: Published
) -> bytes:
    with TemporaryDirectory() as folder:
        lines, target = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet")
        with lines.open("w", encoding="utf-8") as out:
            out.writelines(_lines(columns, rows))
        types = ", ".join(f"{_quoted(column.name)}: {_quoted(_TYPES[column.kind])}" for column in columns)
        read = f"read_json({_quoted(str(lines))}, format = 'newline_delimited', columns = {{{types}}})"
        metadata = ", ".join(f"{key}: {_quoted(value)}" for key, value in _metadata(published).items())
        connection.execute(
            f"COPY (SELECT * FROM {read}) TO {_quoted(str(target))} "
            f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{metadata}}})"
        )
        return target.read_bytes()


def _lines(columns: Iterable[Column], rows: Iterable[Values]) -> Iterator[str]:
    """Each row as a line of JSON, with what is nested in it as text; what is null stays null."""
    nested = [column.name for column in columns if column.kind is Kind.NESTED]
    for row in rows:
        yield json_text({**row, **{name: json_text(row[name]) for name in nested if row[name] is not None}}) + "\n"


def _metadata(published: Published) -> dict[str, str]:
    """Where the rows come from."""
    return {
        "edition": published.name,
        "edition_digest": published.digest,
        "built_at": utc_text(published.frozen_at) or "",
        "software": published.edition.software,
    }


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
