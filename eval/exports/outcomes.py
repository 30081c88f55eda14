"""The results of each run, problem by problem, a CSV file for each run: what every score can be computed from. Pure.

The columns are those of ``data/outcomes.schema.json``. A run's score in the own table is, in SQL::

    select avg(n_correct / n_samples) from 'data/outcomes/RUN.csv' where judged
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from eval.editions.document import EditionProblem, EditionRun
from eval.exports._columns import columns_of, csv_bytes, schema_bytes
from eval.exports._result_rows import outcomes_path
from eval.exports.problems import public_problems
from eval.publishing.publication import File, Published
from eval.window import Reason, Window, date_reason, quality_reason

NAME = "outcomes"
DESCRIPTION = "Each run problem by problem: samples, right ones, and whether the problem counts for it; a CSV file each"

_SIDES = {None: True, Reason.BEFORE_CUTOFF: False}
_BY_RUN = tuple(column for column in columns_of(NAME) if column.name != "run")


def files(published: Published) -> Iterator[File]:
    """data/outcomes/RUN.csv for each run, and data/outcomes.schema.json."""
    for run, rows in outcomes_by_run(published):
        yield File(outcomes_path(published, run.name), csv_bytes(_BY_RUN, rows))
    yield File("data/outcomes.schema.json", schema_bytes(NAME))


def outcomes_by_run(published: Published) -> Iterator[tuple[EditionRun, Iterator[dict[str, Any]]]]:
    """Each run, in the order of names, with its rows by the columns of ``outcomes``, made one at a time."""
    sides = _Sides(published)
    starts = {row.run: row.window_from for row in published.edition.numbers.own.rows}
    for run in sorted(published.edition.runs, key=lambda run: run.name):
        yield run, _rows(run, sides.problems, sides.of(starts.get(run.name)), published.build_id)


def _rows(
    run: EditionRun, problems: Sequence[EditionProblem], sides: Iterable[tuple[bool | None, bool]], build_id: str
) -> Iterator[dict[str, Any]]:
    results = dict(zip(run.problems, zip(run.n_samples, run.n_correct, strict=True), strict=True))
    for one, (after, eligible) in zip(problems, sides, strict=True):
        result = results.get(one.facts.problem_id)
        if result is None and not eligible:
            continue
        n_samples, n_correct = result or (0, 0)
        yield {
            "run": run.name,
            "problem": one.written_id,
            "n_samples": n_samples,
            "n_correct": n_correct,
            "after_cutoff": after,
            "eligible": eligible,
            "judged": eligible and n_samples > 0 and (run.imported or one.facts.n_tests > 0),
            "build_id": build_id,
        }


@dataclass
class _Sides:
    """On which side of a window's start each public problem lies, and whether it counts; once for each start."""

    published: Published
    problems: tuple[EditionProblem, ...] = ()
    _sound: list[bool] = field(default_factory=list)
    _found: dict[datetime | None, list[tuple[bool | None, bool]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings = self.published.edition.settings.after_cutoff()
        self.problems = public_problems(self.published)
        self._sound = [
            settings.admits(one.facts) and quality_reason(one.facts, include_flagged=settings.include_flagged) is None
            for one in self.problems
        ]

    def of(self, start: datetime | None) -> list[tuple[bool | None, bool]]:
        """For each problem whether it is after the start (None: nobody can tell), and eligible; none is without one."""
        if start not in self._found:
            self._found[start] = (
                [(None, False)] * len(self.problems) if start is None else list(self._sides_of(Window(start)))
            )
        return self._found[start]

    def _sides_of(self, window: Window) -> Iterator[tuple[bool | None, bool]]:
        for one, is_sound in zip(self.problems, self._sound, strict=True):
            reason = date_reason(one.facts, window)
            yield _SIDES.get(reason), reason is None and is_sound
