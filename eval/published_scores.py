"""Published scores, one for each model: a CSV of our own form, or EvalPlus's ``results.json``. Reading is pure.

The CSV has the columns ``model``, ``score`` (percent of problems solved, 88 and not 0.88) and ``n`` (how many
problems). EvalPlus's file
(evalplus.github.io, ``results.json``) has no numbers of problems; they are those of its data sets: HumanEval 164, MBPP+
378 since v0.2.0.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eval.csv_text import NotCsv, read_csv_text

EVALPLUS_SIZES = {"humaneval": 164, "humaneval+": 164, "mbpp": 378, "mbpp+": 378}
MOST_OF_SHARES = 1
"""A file whose scores all are at most this holds shares, not percent."""
_FORM = "give it the columns model, score (percent: 88, not 0.88) and n, or take EvalPlus's results.json"


class PublishedError(ValueError):
    """A file of published scores cannot be used; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = _FORM) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Published:
    """A model as the file names it, the share of problems that it solved in [0, 1], and of how many."""

    model: str
    share: float
    n: int


def read_published(text: str, origin: str, benchmark: str | None = None) -> list[Published]:
    """The scores of a file's text; ``benchmark`` names one of EvalPlus's. Raises ``PublishedError``."""
    if text.lstrip().startswith("{"):
        found = list(_evalplus(text, origin, benchmark))
    elif benchmark is not None:
        raise PublishedError(
            f"{origin} is no EvalPlus file: it has one score for each model", "leave the benchmark out"
        )
    else:
        found = list(_rows(text, origin))
    names: set[str] = set()
    for one in found:
        if one.model.casefold() in names:
            raise PublishedError(f"{origin}: {one.model} is there twice", "keep one score for each model")
        names.add(one.model.casefold())
    if not found:
        raise PublishedError(f"{origin}: holds no score")
    if 0 < max(one.share for one in found) <= MOST_OF_SHARES / 100:
        raise PublishedError(
            f"{origin}: no score is above 1 %: these look like shares, and percent is wanted",
            "multiply the scores by 100: 88, not 0.88",
        )
    return found


def _evalplus(text: str, origin: str, benchmark: str | None) -> Iterator[Published]:
    if benchmark not in EVALPLUS_SIZES:
        found = f"{origin}: which of EvalPlus's benchmarks?" if benchmark is None else f"EvalPlus has no {benchmark}"
        raise PublishedError(found, f"name one of {', '.join(EVALPLUS_SIZES)}")
    try:
        content = json.loads(text)
    except ValueError as error:
        raise PublishedError(f"{origin}: not valid JSON: {error}") from error
    for model, facts in content.items():
        scores = facts.get("pass@1") if isinstance(facts, dict) else None
        if not isinstance(scores, dict):
            raise PublishedError(f'{origin}: "{model}" has no "pass@1"')
        if scores.get(benchmark) is not None:
            share = _share(scores[benchmark], f'{origin}: "{model}"')
            yield Published(model.strip(), share, EVALPLUS_SIZES[benchmark])


def _rows(text: str, origin: str) -> Iterator[Published]:
    try:
        columns, lines = read_csv_text(text, origin)
    except NotCsv as error:
        raise PublishedError(str(error)) from error
    missing = [name for name in ("model", "score", "n") if name not in columns]
    if missing:
        raise PublishedError(f"{origin}: has no column {', '.join(missing)}")
    for where, row in lines:
        model, n = row["model"].strip(), row["n"].strip()
        if not model:
            raise PublishedError(f"{where}: names no model")
        if not n.isdecimal() or int(n) < 1:
            raise PublishedError(f'{where}: the number of problems cannot be "{n}"', "write a whole number above 0")
        yield Published(model, _share(row["score"], where), int(n))


def _share(score: Any, where: str) -> float:
    try:
        percent = float(score)
    except (TypeError, ValueError):
        percent = math.nan
    if isinstance(score, bool) or not 0 <= percent <= 100:
        raise PublishedError(
            f"{where}: the score cannot be {repr(score)[:40]}", "write percent, from 0 to 100: 88, not 0.88"
        )
    return percent / 100
