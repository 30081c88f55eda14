"""A board of several hundred models, made of one of a few: every run again under other names, in all numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eval.editions.document import Edition, Numbers
from eval.publishing.publication import Published
from eval.report import Report
from eval.sheets import Cell, Sheet, Table

_NAME_KEYS = ("model", "run", "name")


def many(source: Published, n: int) -> Published:
    """The same with every run ``n`` times. Its numbers are no longer those of its results."""
    edition = source.edition
    names = {run.name: [_again(run.name, copy) for copy in range(n)] for run in edition.runs}
    runs = tuple(
        replace(run, name=name, label=f"copy {copy}")
        for run in edition.runs
        for copy, name in enumerate(names[run.name])
    )
    return replace(source, edition=replace(edition, runs=runs, numbers=_numbers(edition, names)))


def _again(name: str, copy: int) -> str:
    return f"{name} again {copy}" if copy else name


def _numbers(edition: Edition, names: Mapping[str, list[str]]) -> Numbers:
    numbers = edition.numbers
    return replace(
        numbers,
        own=_report(numbers.own, names),
        common=_sheet(numbers.common, names),
        equated=_sheet(numbers.equated, names),
        contamination=_sheet(numbers.contamination, names),
        health=_sheet(numbers.health, names),
        saturation=None if numbers.saturation is None else _sheet(numbers.saturation, names),
        months=tuple(replace(one, run=name) for one in numbers.months for name in names[one.run]),
        broken_months={name: months for old, months in numbers.broken_months.items() for name in names[old]},
    )


def _report(report: Report, names: Mapping[str, list[str]]) -> Report:
    return replace(report, rows=tuple(replace(row, run=name) for row in report.rows for name in names[row.run]))


def _sheet(sheet: Sheet, names: Mapping[str, list[str]]) -> Sheet:
    return replace(sheet, tables=tuple(_table(table, names) for table in sheet.tables), data=_data(sheet.data, names))


def _table(table: Table, names: Mapping[str, list[str]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row in table.rows:
        rows += [(name, *row[1:]) for name in names.get(str(row[0]), [str(row[0])])]
    return replace(table, rows=tuple(rows))


def _data(value: Any, names: Mapping[str, list[str]]) -> Any:
    """The plain values of a sheet: lists of what has a run's name have it several times, keys likewise."""
    if isinstance(value, Mapping):
        found: dict[str, Any] = {}
        for key, item in value.items():
            found |= dict.fromkeys(names.get(key, [key]), _data(item, names))
        return found
    if not isinstance(value, list | tuple):
        return value
    rows: list[Any] = []
    for item in value:
        key = next((key for key in _NAME_KEYS if isinstance(item, Mapping) and item.get(key) in names), None)
        rows += (
            [_data(item, names)] if key is None else [{**_data(item, names), key: name} for name in names[item[key]]]
        )
    return rows
