"""Older forms of an edition's document, read and written byte for byte as they were frozen. Pure.

Format 1 does not say where tests come from nor how strong made ones are, and results on sample tests alone count in its
scores: each row has their number. Format 2 has both beside every score, and keeps such results apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

FORMAT = 2
"""The format of an edition that is frozen now."""

COUNTS_SAMPLES = (1,)
"""The formats in which results on sample tests alone count, and tests are of an origin that is not recorded."""

FORMATS = (*COUNTS_SAMPLES, FORMAT)
"""The formats that can be read."""

_N_SAMPLES_ONLY = "n_samples_only"
_COUNTED = "counted_on_samples"

Document = dict[str, Any]
"""An edition as JSON values, in the shape of `eval.editions.document.Edition`."""


def upgraded(document: Document) -> Document:
    """The document of any known format in the shape of this version, for it to be read. What is no edition stays so."""
    if document.get("format") not in COUNTS_SAMPLES:
        return document
    runs = document.get("runs")
    listed = [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
    imported = {str(run.get("name")) for run in listed if run.get("imported")}
    counted = {}
    for row in _own_rows(document):
        n = row.pop(_N_SAMPLES_ONLY, 0)
        if n:
            counted[str(row.get("run"))] = n
        if str(row.get("run")) not in imported:
            row["tests"] = _not_recorded(row.get("n_judged"), n)
    numbers = document.get("numbers")
    if isinstance(numbers, dict):
        numbers[_COUNTED] = counted
    return document


def _not_recorded(n_judged: object, n_samples_only: object) -> Document | None:
    """The basis of the tests of a row of which nothing is known but that there are some."""
    if not isinstance(n_judged, int) or not isinstance(n_samples_only, int):
        return None
    n = n_judged - n_samples_only
    nothing = dict.fromkeys(("n_official", "n_made", "n_recovered", "n_mixed"), 0)
    return {"n_problems": n, **nothing, "n_not_recorded": n}


def as_frozen(document: Document) -> Document:
    """The document in the shape of its own format, for it to be written."""
    counted = document["numbers"].pop(_COUNTED)
    if document["format"] not in COUNTS_SAMPLES:
        return document
    for problem in document["problems"]:
        for name in ("hidden_origins", "strength"):
            del problem["facts"][name]
    for row in _own_rows(document):
        for name in ("tests", "samples_only"):
            del row[name]
        row[_N_SAMPLES_ONLY] = counted.get(row["run"], 0)
        for score in _scores(row):
            del score["unjudged"]
    return document


def _own_rows(document: Document) -> Iterator[Document]:
    """The rows of the table of own windows, as far as there are such."""
    found: object = document
    for name in ("numbers", "own", "rows"):
        found = found.get(name) if isinstance(found, dict) else None
    yield from (row for row in found if isinstance(row, dict)) if isinstance(found, list) else ()


def _scores(row: Document) -> Iterator[Document]:
    """Every score of a row."""
    yield from row["scores"]
    for stratum in (*row["by_difficulty"], *row["by_platform"]):
        yield from stratum["scores"]
    if row["repair"] is not None:
        yield from (row["repair"]["before"], row["repair"]["repaired"])
