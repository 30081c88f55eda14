"""Exports as a reader of the published files has them, and the same edition in another order."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import duckdb

from eval.editions.document import Edition, EditionRun
from eval.exports import all_exports
from eval.publishing.publication import Published
from tests.eval.editions.built import invented, published

TABULAR = ("results", "problems", "outcomes", "parquet", "markdown")
"""The exports that these tests are about."""


@cache
def small() -> Published:
    """The invented edition, of which most numbers can be counted by hand."""
    return published(invented())


def bodies(of: Published, *names: str) -> dict[str, bytes]:
    """The files of these exports, by path."""
    found: dict[str, bytes] = {}
    for name in names:
        for file in all_exports()[name].files(of):
            assert file.path not in found
            found[file.path] = file.body
    return found


def csv_rows(body: bytes) -> list[dict[str, str]]:
    """The rows of a CSV file; a row of more or fewer cells than columns is an error."""
    header, *rows = csv.reader(io.StringIO(body.decode(), newline=""), strict=True)
    return [dict(zip(header, row, strict=True)) for row in rows]


def strict_json(body: bytes) -> Any:
    """A document as a strict reader takes it: no NaN, no infinity, no key twice."""
    return json.loads(body, parse_constant=_refuse, object_pairs_hook=_once)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        assert key not in found, key
        found[key] = value
    return found


def query(sql: str) -> duckdb.DuckDBPyRelation:
    """What DuckDB finds."""
    found = duckdb.sql(sql)
    assert found is not None
    return found


def of_run(rows: Iterable[Mapping[str, Any]], table: str, run: str) -> Mapping[str, Any]:
    """The one row of a run in a table."""
    (row,) = (row for row in rows if row["table"] == table and row["run"] == run)
    return row


def turned(of: Published) -> Published:
    """The same content with everything whose order means nothing in the opposite order."""
    edition = of.edition
    last = len(edition.problems) - 1
    problems = tuple(
        replace(one, facts=replace(one.facts, problem_id=last - one.facts.problem_id))
        for one in reversed(edition.problems)
    )
    numbers = edition.numbers
    common = {
        **numbers.common.data,
        "groups": [{**group, "rows": group["rows"][::-1]} for group in reversed(numbers.common.data["groups"])],
        "not_compared": numbers.common.data["not_compared"][::-1],
    }
    equated = {**numbers.equated.data, "rows": numbers.equated.data["rows"][::-1]}
    audit = {**numbers.contamination.data, "summary": numbers.contamination.data["summary"][::-1]}
    other: Edition = replace(
        edition,
        models=edition.models[::-1],
        problems=problems,
        runs=tuple(_turned_run(run, last) for run in reversed(edition.runs)),
        withdrawn=dict(reversed(list(edition.withdrawn.items()))),
        numbers=replace(
            numbers,
            own=replace(numbers.own, rows=numbers.own.rows[::-1]),
            common=replace(numbers.common, data=common),
            equated=replace(numbers.equated, data=equated),
            contamination=replace(numbers.contamination, data=audit),
            private=numbers.private[::-1],
        ),
    )
    return replace(of, edition=other)


def _turned_run(run: EditionRun, last: int) -> EditionRun:
    def backwards(values: Sequence[int]) -> tuple[int, ...]:
        return tuple(reversed(values))

    return replace(
        run,
        conditions=dict(reversed(list(run.conditions.items()))),
        problems=tuple(last - place for place in reversed(run.problems)),
        n_samples=backwards(run.n_samples),
        n_correct=backwards(run.n_correct),
    )


def with_common(of: Published, *groups: Mapping[str, Any], **changes: Any) -> Published:
    """The edition with another table of common problems."""
    numbers = of.edition.numbers
    data = {**numbers.common.data, "groups": list(groups), **changes}
    numbers = replace(numbers, common=replace(numbers.common, data=data))
    return replace(of, edition=replace(of.edition, numbers=numbers))


def group_of(rows: Iterable[Mapping[str, Any]], **changes: Any) -> dict[str, Any]:
    """A group of the common table with these rows."""
    return {
        "settings": "",
        "n_problems": 60,
        "n_contests": 20,
        "n_not_common": 0,
        "problem_set_digest": "c" * 64,
        "cautions": ["fewer than 100 problems (60)"],
        "not_ranked": [],
        "n_tests": 3,
        "refusal": None,
        "rows": list(rows),
        **changes,
    }


def ranked(run: str, score: float | None, low: int = 1, high: int = 3, **changes: Any) -> dict[str, Any]:
    """A run in a group of the common table."""
    return {
        "model": run,
        "cutoff": "2024-06",
        "n_exposed": 0,
        "score": score,
        "low": None if score is None else max(0.0, score - 0.1),
        "high": None if score is None else min(1.0, score + 0.1),
        "se": 0.05,
        "interval_method": "contest_t",
        "n_samples": 120,
        "reason": None,
        "n_missing": 0,
        "ranks": {
            "low": low,
            "high": high,
            "simultaneous_low": low,
            "simultaneous_high": high + 1,
            "tier": low,
        },
        **changes,
    }
