"""The data behind LiveCodeBench's leaderboard pages: pass@1 of each model on each problem, without programs.

``{"performances": [{question_id, model, date (ms), difficulty, platform, "pass@1"}], "models": [...], "date_marks"}``.
pass@1 is in percent and says nothing of the samples behind it: the site takes 10, or what a model's name says
("O1-Mini (N=1)"). -1 stands for "not run". ``models`` gives the full name (``model_name``) of each display name.
Source of the shape: github.com/LiveCodeBench/livecodebench.github.io.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from db.importing import Note, Refusal
from eval.formats import ResultRow
from eval.formats._fields import BadRow, Row, identifier, optional_name
from eval.formats._reading import read_elements
from eval.formats._rows import build_rows

NAME = "livecodebench-site"
DESCRIPTION = "LiveCodeBench leaderboard site JSON: pass@1 in percent for each model and problem"
NAMES_MODELS = True
ORIGIN = "livecodebench site"

SAMPLES = 10
OTHER_SAMPLE_COUNTS = (1, *range(5, 101, 5))
TOLERANCE = 1e-6
"""In percent: how far a printed pass@1 may be from a whole number of right samples."""

_STATED_SAMPLES = re.compile(r"\(N\s*=\s*(\d+)\)")


def read_results(path: Path) -> Iterator[ResultRow | Refusal | Note]:
    """One tally for each performance. Problems that carry two dates come as notes at the end."""
    full_names = _full_names(path)
    first_dates: dict[str, object] = {}
    other_dates: dict[str, set[object]] = {}

    def build(where: str, row: Row) -> Iterator[ResultRow]:
        result, date = _tally(where, row, full_names), row.get("date")
        if first_dates.setdefault(result.native_id, date) != date:
            other_dates.setdefault(result.native_id, set()).add(date)
        yield result

    yield from build_rows(read_elements(path, "performances"), build, "question_id", "model")
    for native_id, dates in other_dates.items():
        shown = " and ".join(sorted(_day(date) for date in {first_dates[native_id], *dates}))
        yield Note(f"question_id {native_id!r}", f"carries different dates for different models: {shown}")


def _full_names(path: Path) -> dict[str, str]:
    """Full names by display name. A full name that several display names share tells them apart no longer: left out.

    A file that breaks off before its models gives none; the refusal for that comes with the performances.
    """
    pairs: list[tuple[str, str]] = []
    for item in read_elements(path, "models"):
        if isinstance(item, Refusal):
            break
        if isinstance(item.value, dict):
            display, full = item.value.get("model_repr"), item.value.get("model_name")
            if isinstance(display, str) and isinstance(full, str) and full:
                pairs.append((display, full))
    uses = Counter(full for _, full in pairs)
    return {display: full for display, full in pairs if uses[full] == 1}


def _tally(where: str, row: Row, full_names: dict[str, str]) -> ResultRow:
    native_id, model = identifier(row, "question_id"), optional_name(row, "model")
    if model is None:
        raise BadRow("the row names no model", "leave out rows without one")
    n_samples, n_correct = _samples(_percent(row), model)
    return ResultRow(
        where,
        native_id,
        n_samples,
        n_correct,
        ORIGIN,
        platform=optional_name(row, "platform"),
        model=model,
        model_id=full_names.get(model),
    )


def _percent(row: Row) -> float:
    value = row.get("pass@1")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRow("'pass@1' is missing or no number", "leave out what was not run")
    if value == -1:
        raise BadRow("not run (pass@1 is -1)", "nothing to do: a model that was not run has no result")
    if not 0 <= value <= 100:
        raise BadRow(f"'pass@1' must be a percentage, not {value:g}", "the site writes 0 to 100")
    return float(value)


def _samples(percent: float, model: str) -> tuple[int, int]:
    """(samples, right ones) that give the percentage: the stated number, else 10, else the smallest that can."""
    stated = _STATED_SAMPLES.search(model)
    counts = (int(stated[1]),) if stated else (SAMPLES, *OTHER_SAMPLE_COUNTS)
    for n_samples in counts:
        n_correct = round(percent * n_samples / 100)
        if n_samples and abs(percent - 100 * n_correct / n_samples) <= TOLERANCE:
            return n_samples, n_correct
    of_what = f"{counts[0]} samples" if stated else "any usual number of samples (1, 5, 10, 15, ... 100)"
    hint = "import the counts themselves: n_samples and n_correct in the jsonl format"
    raise BadRow(f"pass@1 of {percent!r} % is no whole number of right answers out of {of_what}", hint)


def _day(date: object) -> str:
    """The UTC day of a time in milliseconds; anything else as it stands."""
    if isinstance(date, bool) or not isinstance(date, int | float):
        return repr(date)
    try:
        return datetime.fromtimestamp(date / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return repr(date)
