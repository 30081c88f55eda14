"""The results of each run, problem by problem, a CSV file for each run: what every score can be computed from. Pure.

The columns are those of ``data/outcomes.schema.json``. A run's score in the own table is, in SQL::

    select avg(n_correct / n_samples) from 'data/outcomes/RUN.csv' where judged
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from eval.basis import basis_of
from eval.editions.document import EditionProblem, EditionRun
from eval.evaluation import RunOutcomes, want_of_tests
from eval.exports._columns import columns_of, csv_bytes, schema_bytes
from eval.exports._result_rows import outcomes_path
from eval.exports.problems import public_problems
from eval.models import Registry
from eval.publishing.publication import File, Published
from eval.standing import RunWindows, run_windows, side
from eval.window import Window, quality_reason

NAME = "outcomes"
DESCRIPTION = "Each run problem by problem: samples, right ones, and whether the problem counts for it; a CSV file each"

_BY_RUN = tuple(column for column in columns_of(NAME) if column.name != "run")

_Side = tuple[bool | None, bool | None, bool]
"""Whether a problem is after a run's cut-off, whether after the margin too (None: nobody can tell), and eligible."""


def files(published: Published) -> Iterator[File]:
    """data/outcomes/RUN.csv for each run, and data/outcomes.schema.json."""
    for run, rows in outcomes_by_run(published):
        yield File(outcomes_path(published, run.name), csv_bytes(_BY_RUN, rows))
    yield File("data/outcomes.schema.json", schema_bytes(NAME))


def outcomes_by_run(published: Published) -> Iterator[tuple[EditionRun, Iterator[dict[str, Any]]]]:
    """Each run, in the order of names, with its rows by the columns of ``outcomes``, made one at a time."""
    sides = _Sides(published)
    for run in sorted(published.edition.runs, key=lambda run: run.name):
        yield run, _rows(run, sides.problems, sides.of(run), published)


def _rows(
    run: EditionRun, problems: Sequence[EditionProblem], sides: Iterable[_Side], published: Published
) -> Iterator[dict[str, Any]]:
    by_tests = not published.edition.counts_samples
    results = dict(zip(run.problems, zip(run.n_samples, run.n_correct, strict=True), strict=True))
    for one, (after_cutoff, after_margin, eligible) in zip(problems, sides, strict=True):
        result = results.get(one.facts.problem_id)
        if result is None and not eligible:
            continue
        n_samples, n_correct = result or (0, 0)
        can_count = want_of_tests(one.facts, run.imported, by_tests=by_tests) is None
        yield {
            "run": run.name,
            "problem": one.written_id,
            "n_samples": n_samples,
            "n_correct": n_correct,
            "after_cutoff": after_cutoff,
            "after_margin": after_margin,
            "eligible": eligible,
            "judged": eligible and n_samples > 0 and can_count,
            "build_id": published.build_id,
        }


class _Sides:
    """On which side of a run's window each public problem lies, and whether it counts; once for each start."""

    def __init__(self, published: Published) -> None:
        self.problems = public_problems(published)
        self._edition = published.edition
        self._settings = published.edition.settings.after_cutoff()
        self._found: dict[Window | None, list[bool | None]] = {}

    @cached_property
    def _registry(self) -> Registry:
        return self._edition.registry

    @cached_property
    def _sound(self) -> list[bool]:
        include_flagged = self._settings.include_flagged
        return [
            self._settings.admits(one.facts) and quality_reason(one.facts, include_flagged=include_flagged) is None
            for one in self.problems
        ]

    def of(self, run: EditionRun) -> Iterator[_Side]:
        """The sides of all problems; none is eligible for a run that is not scored."""
        windows = self._windows(run)
        after = zip(self._after(windows.cutoff), self._after(windows.scored), self._sound, strict=True)
        return ((cutoff, margin, margin is True and is_sound) for cutoff, margin, is_sound in after)

    def _windows(self, run: EditionRun) -> RunWindows:
        asked = RunOutcomes(run.model, (), ran_on=run.ran_on)
        return run_windows(basis_of(asked, self._registry, self._settings, self._edition.as_of))

    def _after(self, window: Window | None) -> list[bool | None]:
        if window not in self._found:
            self._found[window] = [side(one.facts, window) for one in self.problems]
        return self._found[window]
