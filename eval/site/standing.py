"""What each problem is to each run: whether its model may have seen it, whether it counts, what became of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from eval.editions.document import EditionProblem, EditionRun
from eval.eligibility import NotScored
from eval.evaluation import Outcome, outcome_reason, want_of_tests
from eval.site.runs import RunsOf
from eval.standing import RunWindows, run_windows, side
from eval.window import Reason, classify, date_reason

AFTER, WITHIN = "after the cut-off", "after the cut-off, within the margin"
BEFORE, UNCLEAR = "before the cut-off: may have seen it", "cannot be told: may have seen it"
NO_DATE, NO_CUTOFF = "no date is known: may have seen it", "no cut-off is known: may have seen it"


@dataclass(frozen=True)
class Standing:
    """One problem for one run. ``reason`` says why it does not count in the run's row, "" where it does.

    ``exposure`` says whether the model may have seen it; ``n_correct`` of ``n_samples`` judged samples passed. A result
    ``is_apart`` that is of programs on sample tests alone, which counts nowhere.
    """

    exposure: str
    reason: str
    n_samples: int
    n_correct: int
    is_apart: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether the model cannot have seen it before its cut-off."""
        return self.exposure in {AFTER, WITHIN}

    @property
    def counts(self) -> str:
        """The result as people write it: "3/10"; "" without one."""
        return f"{self.n_correct}/{self.n_samples}" if self.n_samples else ""


@dataclass(frozen=True)
class _Measure:
    """What a run is measured by: its windows with and without the margin, and why it is not scored, if so."""

    windows: RunWindows
    reason: str
    outcomes: Mapping[int, Outcome]
    imported: bool


class Standings:
    """The standing of every problem of an edition for every run, worked out when it is asked for."""

    def __init__(self, runs: RunsOf) -> None:
        self.runs = runs
        self.settings = runs.edition.settings.after_cutoff()

    @cached_property
    def _measures(self) -> dict[str, _Measure]:
        return {run.name: self._measure(run) for run in self.runs.edition.runs}

    def _measure(self, run: EditionRun) -> _Measure:
        basis = self.runs.bases[run.name]
        outcomes = {one.problem_id: one for one in run.as_outcomes().outcomes}
        if isinstance(basis, NotScored):
            return _Measure(run_windows(basis), f"not scored: {self.runs.not_scored(run)}", outcomes, run.imported)
        return _Measure(run_windows(basis), "", outcomes, run.imported)

    def of(self, problem: EditionProblem, run: str) -> Standing:
        """One problem for one run, by the run's name."""
        measure = self._measures[run]
        outcome = measure.outcomes.get(problem.facts.problem_id)
        n, c = (0, 0) if outcome is None else (outcome.n_samples, outcome.n_correct)
        is_apart = n > 0 and self._want_of_tests(problem, measure) is Reason.SAMPLES_ONLY
        return Standing(_exposure(problem, measure.windows), self._reason(problem, measure, outcome), n, c, is_apart)

    def _want_of_tests(self, problem: EditionProblem, measure: _Measure) -> Reason | None:
        by_tests = not self.runs.edition.counts_samples
        return want_of_tests(problem.facts, measure.imported, by_tests=by_tests)

    def _reason(self, problem: EditionProblem, measure: _Measure, outcome: Outcome | None) -> str:
        window = measure.windows.scored
        if window is None:
            return measure.reason
        if not self.settings.admits(problem.facts):
            return "left out by the edition's filters"
        found = classify(problem.facts, window, include_flagged=self.settings.include_flagged)
        by_tests = not self.runs.edition.counts_samples
        return str(found or outcome_reason(problem.facts, outcome, measure.imported, by_tests=by_tests) or "")


def _exposure(problem: EditionProblem, windows: RunWindows) -> str:
    """Whether the model may have seen the problem: by its cut-off alone, and beside it by the edition's margin."""
    if windows.cutoff is None:
        return NO_CUTOFF
    if side(problem.facts, windows.cutoff):
        return AFTER if side(problem.facts, windows.scored) else WITHIN
    words: dict[Reason | None, str] = {Reason.DATE_UNKNOWN: NO_DATE, Reason.TOO_NEAR: UNCLEAR}
    return words.get(date_reason(problem.facts, windows.cutoff), BEFORE)
