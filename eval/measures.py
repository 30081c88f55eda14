"""A measure of memorisation for each model or problem, from a CSV: any number, with its origin if it tells one. Pure.

The file has a column ``model`` and one with the measure (``measure`` unless another is named), and may have a gap of
its own (``gap``, in percentage points: 3.4, not 0.034) and an ``origin``. Empty cells mean that there is no number.

With a column ``problem`` each line has the measure of a model on one problem (a log-likelihood, say), and the model's
measure is the mean over its problems. Such a file has no gap of its own.

With a column ``problem`` and none ``model`` each line has the measure of a problem, whoever solves it: how often it is
found in public code, say. Such a number is not negative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from eval.csv_text import NotCsv, read_csv_text

MOST_POINTS, MOST_OF_SHARES = 100.0, 1.0
"""No gap is wider than the first; a file whose gaps all are at most the second holds shares, not points."""
_UNITS = ("point", "percent", "%")
"""What says in a column's name that it holds percentage points, however small."""
MODEL, MEASURE, GAP, ORIGIN, PROBLEM = "model", "measure", "gap", "origin", "problem"


class MeasuresError(ValueError):
    """A file of measures cannot be used; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Measured:
    """A model as the file names it, its measure and gap (None: not given), and where the measure comes from.

    ``gap`` is a difference of shares: a hundredth of the points in the file.
    """

    model: str
    measure: float | None
    gap: float | None
    origin: str


@dataclass(frozen=True)
class Measures:
    """The rows of a file, the column that was the measure, and the one that was the gap (None: there is none).

    ``n_problems`` are the problems that measures are means over; None where the file has a number for each model.
    """

    rows: tuple[Measured, ...]
    measure: str
    gap: str | None
    n_problems: int | None = None


@dataclass(frozen=True)
class ProblemMeasures:
    """The measure of each problem of a file, by the problem as the file names it; its column, and where it comes from.

    ``lines`` says where each stands in the file.
    """

    values: Mapping[str, float]
    lines: Mapping[str, str]
    measure: str
    origin: str


def read_measures(text: str, origin: str, measure: str | None = None, gap: str | None = None) -> Measures:
    """Read a file's text. ``measure`` and ``gap`` name their columns. Raises ``MeasuresError``."""
    columns, lines = _read(text, origin)
    gap = gap or (GAP if GAP in columns else None)
    wanted = [MODEL, measure or MEASURE, *([gap] if gap else [])]
    _check_columns(columns, wanted, origin)
    if PROBLEM in columns:
        _check_no_gap(gap, origin)
        return _means(lines, wanted[1])
    rows = []
    seen: dict[str, str] = {}
    for where, row in lines:
        model = _once(seen, _named(row, MODEL, where), where)
        found = _number(row[wanted[1]], f"{where}, {wanted[1]}")
        own = _points(row[gap], f"{where}, {gap}") if gap else None
        rows.append(Measured(model, found, own, row.get(ORIGIN, "").strip()))
    if gap is not None:
        _check_unit([one.gap for one in rows if one.gap is not None], gap, origin)
    return Measures(tuple(rows), wanted[1], gap)


def _read(text: str, origin: str) -> tuple[list[str], list[tuple[str, dict[str, str]]]]:
    try:
        return read_csv_text(text, origin)
    except NotCsv as error:
        raise MeasuresError(str(error), "save it as CSV: model,measure") from error


def _check_columns(columns: list[str], wanted: list[str], origin: str) -> None:
    missing = [name for name in wanted if name not in columns]
    if missing:
        there = f"it has {', '.join(columns)}" if columns else "it is empty"
        hint = f"{there}; other columns are named with --measure and --gap"
        raise MeasuresError(f"{origin}: has no column {', '.join(missing)}", hint)


def _check_no_gap(gap: str | None, origin: str) -> None:
    if gap is not None:
        raise MeasuresError(f"{origin}: a file of problems has no gap of its own", f"remove the column {gap}")


def _means(lines: list[tuple[str, dict[str, str]]], measure: str) -> Measures:
    """The mean of each model over its problems, in the order in which models first stand in the file."""
    seen: dict[str, str] = {}
    models: dict[str, str] = {}
    values: dict[str, list[float]] = {}
    origins: dict[str, set[str]] = {}
    problems = set()
    for where, row in lines:
        model, problem = _named(row, MODEL, where), _named(row, PROBLEM, where)
        _once(seen, f"{model} on {problem}", where)
        key = model.casefold()
        models.setdefault(key, model)
        origins.setdefault(key, set()).add(row.get(ORIGIN, "").strip())
        value = _number(row[measure], f"{where}, {measure}")
        if value is not None:
            values.setdefault(key, []).append(value)
            problems.add(problem)
    rows = (
        Measured(model, fmean(values[key]) if key in values else None, None, ", ".join(sorted(origins[key] - {""})))
        for key, model in models.items()
    )
    return Measures(tuple(rows), measure, None, len(problems))


def read_problem_measures(
    text: str, origin: str, measure: str | None = None, gap: str | None = None
) -> ProblemMeasures | None:
    """Read the text of a file of problems, None where it is none: it names models. Raises ``MeasuresError``."""
    columns, lines = _read(text, origin)
    if MODEL in columns or PROBLEM not in columns:
        return None
    measure = measure or MEASURE
    _check_columns(columns, [measure], origin)
    _check_no_gap(gap or (GAP if GAP in columns else None), origin)
    seen: dict[str, str] = {}
    values: dict[str, float] = {}
    places: dict[str, str] = {}
    origins = set()
    for where, row in lines:
        problem = _once(seen, _named(row, PROBLEM, where), where)
        value = _number(row[measure], f"{where}, {measure}")
        if value is None:
            continue
        if value < 0:
            raise MeasuresError(
                f"{where}, {measure}: {value:g} is negative",
                "write counts, or other numbers from 0 up: their log is taken",
            )
        values[problem], places[problem] = value, where
        origins.add(row.get(ORIGIN, "").strip())
    return ProblemMeasures(values, places, measure, ", ".join(sorted(origins - {""})))


def _named(row: dict[str, str], column: str, where: str) -> str:
    name = row[column].strip()
    if not name:
        raise MeasuresError(f"{where}: names no {column}", "remove the line, or name it")
    return name


def _once(seen: dict[str, str], name: str, where: str) -> str:
    """The name, which must not stand on an earlier line."""
    if name.casefold() in seen:
        raise MeasuresError(f"{where}: {name} is on {seen[name.casefold()]} already", "keep one line for it")
    seen[name.casefold()] = where.rpartition(", ")[2]
    return name


def _points(text: str | None, where: str) -> float | None:
    """A cell in percentage points, as a difference of shares."""
    points = _number(text, where)
    if points is None:
        return None
    if abs(points) > MOST_POINTS:
        raise MeasuresError(f"{where}: a gap cannot be {points:g} percentage points", "write points, from -100 to 100")
    return points / 100


def _check_unit(gaps: list[float], column: str, origin: str) -> None:
    widest = max((100 * abs(gap) for gap in gaps), default=0.0)
    if 0 < widest <= MOST_OF_SHARES and not any(unit in column.casefold() for unit in _UNITS):
        raise MeasuresError(
            f"{origin}: no gap is wider than 1: these look like shares, and percentage points are wanted",
            f'multiply the gaps by 100: 3.4, not 0.034 (if they are points, call the column "{column} (points)")',
        )


def _number(text: str | None, where: str) -> float | None:
    if not (text or "").strip():
        return None
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise MeasuresError(f"{where}: {(text or '')[:40]!r} is no number", "write a number, or leave the cell empty")
    return value
