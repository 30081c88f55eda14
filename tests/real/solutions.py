"""Real model solutions of the shared data as the sandbox takes them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from sandbox import Io, Job, Judge, Limits, Outcome, Program, Suite, Test

Row = dict[str, Any]


@cache
def problems(folder: Path) -> dict[str, Row]:
    """The problems by their id."""
    return {row["id"]: row for row in _rows(folder / "problems.jsonl.gz")}


def solutions(folder: Path, wanted: Callable[[Row], bool]) -> list[Row]:
    """The solutions that are wanted, those of one problem together."""
    return sorted(filter(wanted, _rows(folder / "solutions.jsonl.gz")), key=lambda row: row["question_id"])


# Three right programs need 3 to 7 s of CPU. Which side of a limit they fall on is the machine's word, not ours.
LIMITS = Limits(cpu_s=15)


def suite_of(problem: Row, tests: Iterable[Row]) -> Suite | None:
    """The suite of a problem's tests; None when there are none."""
    cases = tuple(Test(str(n), t["input"].encode(), t["output"].encode()) for n, t in enumerate(tests))
    io = Io.FUNCTION if problem["func_name"] else Io.STDIN
    return Suite(cases, io, problem["func_name"], limits=LIMITS) if cases else None


def judged(judge: Judge, rows: list[Row], suite_for: Callable[[Row], Suite | None]) -> dict[int, Outcome]:
    """The outcome of each solution, by its place in ``rows``; without those that have no tests, or that need a package
    that the judge lacks."""
    suites = {row["question_id"]: suite_for(row) for row in rows}
    jobs = (
        Job(index, Program(row["code"] or ""), suite)
        for index, row in enumerate(rows)
        if (suite := suites[row["question_id"]]) is not None
    )
    return dict(judge.map(job for job in jobs if judge.lacks(job.program, job.suite) is None))


def _rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
