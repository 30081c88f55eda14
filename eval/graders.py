"""Hold the verdicts of two graders on the same solutions against each other: what each model gains, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from db.completions import list_runs
from db.engine import Store
from db.judgements import VerdictRow, load_test_results, load_verdicts
from db.problems import list_problems
from sandbox import Verdict


@dataclass(frozen=True)
class Disagreement:
    """A solution that one grader accepts and the other does not, with each one's verdict and its last test's remark."""

    model: str
    problem: str
    sample_index: int
    ours: str
    theirs: str
    our_detail: str
    their_detail: str


@dataclass(frozen=True)
class ModelComparison:
    """One run under both graders. Only solutions that both have judged count; ``n_only_ours`` are accepted by ours
    alone, ``n_only_theirs`` by the other alone."""

    model: str
    label: str
    n_solutions: int
    n_both: int
    n_only_ours: int
    n_only_theirs: int
    n_not_compared: int

    @property
    def our_share(self) -> float | None:
        """The share of solutions that our grader accepts; None without any."""
        return (self.n_both + self.n_only_ours) / self.n_solutions if self.n_solutions else None

    @property
    def their_share(self) -> float | None:
        """The share that the other accepts."""
        return (self.n_both + self.n_only_theirs) / self.n_solutions if self.n_solutions else None


def compare_graders(
    store: Store, our_environment_id: int, their_environment_id: int, run_ids: Sequence[int]
) -> tuple[list[ModelComparison], list[Disagreement]]:
    """Each run's counts under both graders, and every solution on which they disagree, by problem."""
    comparisons, disagreements = [], []
    with store.read() as session:
        keys = {problem.problem_id: str(problem.key) for problem in list_problems(session)}
        for run in list_runs(session):
            if run.run_id not in run_ids:
                continue
            ours = _by_completion(load_verdicts(session, our_environment_id, [run.run_id]))
            theirs = _by_completion(load_verdicts(session, their_environment_id, [run.run_id]))
            both = [row for completion_id, row in ours.items() if _counts(row) and _counts(theirs[completion_id])]
            differing = [row for row in both if _accepted(row) != _accepted(theirs[row.completion_id])]
            comparisons.append(
                ModelComparison(
                    model=run.model,
                    label=run.label,
                    n_solutions=len(both),
                    n_both=sum(_accepted(row) for row in both) - sum(_accepted(row) for row in differing),
                    n_only_ours=sum(_accepted(row) for row in differing),
                    n_only_theirs=sum(not _accepted(row) for row in differing),
                    n_not_compared=len(ours) - len(both),
                )
            )
            for row in differing:
                details = [
                    _last_detail(load_test_results(session, row.completion_id, environment_id))
                    for environment_id in (our_environment_id, their_environment_id)
                ]
                disagreements.append(
                    Disagreement(
                        run.model,
                        keys[row.problem_id],
                        row.sample_index,
                        row.verdict or "",
                        theirs[row.completion_id].verdict or "",
                        *details,
                    )
                )
    return comparisons, sorted(disagreements, key=lambda one: (one.model, one.problem, one.sample_index))


def _by_completion(rows: Iterable[VerdictRow]) -> dict[int, VerdictRow]:
    return {row.completion_id: row for row in rows}


def _counts(row: VerdictRow) -> bool:
    return row.verdict is not None and row.verdict != Verdict.INTERNAL_ERROR


def _accepted(row: VerdictRow) -> bool:
    return row.verdict == Verdict.ACCEPTED


def _last_detail(tests: list[dict[str, object]]) -> str:
    return str(tests[-1].get("detail", "")) if tests else ""
