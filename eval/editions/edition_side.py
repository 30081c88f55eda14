"""An edition as one side of a comparison: its problems by id, and what each of its runs is scored on. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from eval.basis import Basis, basis_of
from eval.editions.document import Edition, EditionProblem, EditionRun, RareOutcome
from eval.eligibility import NotScored
from eval.evaluation import eligible_problems, want_of_tests
from eval.models import Registry
from eval.report import Row
from eval.settings import Settings
from eval.window import ProblemFacts


@dataclass(frozen=True)
class EditionSide:
    """One of two editions that are compared. Problems are found by their written ids, which both editions share."""

    edition: Edition

    @cached_property
    def problems(self) -> dict[str, EditionProblem]:
        """All its problems, private ones included."""
        return {one.written_id: one for one in self.edition.problems}

    @cached_property
    def registry(self) -> Registry:
        """The models as they were known."""
        return self.edition.registry

    @cached_property
    def settings(self) -> Settings:
        """The settings of the table in which each model has its own window."""
        return self.edition.settings.after_cutoff()

    @cached_property
    def _rows(self) -> dict[str, Row]:
        return {row.run: row for row in self.edition.numbers.own.rows}

    @cached_property
    def _not_scored(self) -> dict[str, NotScored]:
        return {one.model.casefold(): one for one in self.edition.numbers.own.not_scored}

    @cached_property
    def _written_ids(self) -> dict[int, str]:
        return {one.facts.problem_id: one.written_id for one in self.edition.problems}

    def place_of(self, run: EditionRun) -> Row | NotScored | None:
        """The run's row in the table of own windows, or why it has none; None where nothing is said of it."""
        return self._rows.get(run.name) or self._not_scored.get(run.model.casefold())

    def basis_of(self, run: EditionRun) -> Basis | NotScored:
        """The cut-off and the window of a run, or why it is not scored."""
        return basis_of(run.as_outcomes(), self.registry, self.settings, self.edition.as_of)

    def results_of(self, run: EditionRun) -> dict[str, tuple[int, int]]:
        """How many samples were judged and how many accepted, for each problem that has such, private ones included."""
        columns = zip(run.problems, run.n_samples, run.n_correct, strict=True)
        return {self._written_ids[place]: (n, c) for place, n, c in columns if n > 0}

    def rare_of(self, run: EditionRun) -> dict[str, RareOutcome]:
        """What most results do not have, by the problem's written id; places, in which editions differ, are all 0."""
        return {self._written_ids[one.problem]: replace(one, problem=0) for one in run.rare}

    def judged_by(self, run: EditionRun) -> dict[str, float]:
        """pass@1 on each problem that the run's row rests on, by the problem's written id, in the order of the ids.

        These are the eligible public problems with a result that counts: for what was judged here, on problems with
        tests beyond the samples.
        """
        facts = (one.facts for one in self.edition.problems)
        outcomes = run.as_outcomes(counts_samples=self.edition.counts_samples)
        eligible = eligible_problems(facts, outcomes, self.registry, self.settings, now=self.edition.as_of)
        results = self.results_of(run)
        counting = (one for one in eligible if want_of_tests(one, run.imported, by_tests=outcomes.by_tests) is None)
        names = sorted(written_id(one) for one in counting)
        return {name: results[name][1] / results[name][0] for name in names if name in results}


def written_id(facts: ProblemFacts) -> str:
    """A problem's id as people write it."""
    return f"{facts.platform}:{facts.native_id}"
