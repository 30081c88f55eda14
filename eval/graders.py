"""Hold the verdicts of two graders on the same solutions against each other: what each model gains, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from db.completions import list_runs
from db.engine import Store
from db.judgements import VerdictRow, load_test_results, load_verdicts
from db.problems import list_problems
from db.records import CODE_GENERATION, WITHOUT_PROGRAM
from eval.scenarios import scenario_of
from sandbox import Verdict


@dataclass(frozen=True)
class Disagreement:
    """A solution that one grader accepts and the other does not, with each one's verdict and what it says of the first
    test that it does not accept."""

    model: str
    label: str
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


@dataclass(frozen=True)
class Comparison:
    """Each run's counts under both graders, and every solution on which they disagree, by model, run and problem."""

    runs: tuple[ModelComparison, ...]
    disagreements: tuple[Disagreement, ...]


def compare_graders(
    store: Store, our_environment_id: int, their_environment_id: int, run_ids: Sequence[int]
) -> Comparison:
    """Hold the verdicts that two graders have given on some runs of code generation against each other."""
    runs, disagreements = [], []
    with store.read() as session:
        keys = {problem.problem_id: str(problem.key) for problem in list_problems(session)}
        for run in list_runs(session):
            if run.run_id not in run_ids or scenario_of(run.conditions) != CODE_GENERATION:
                continue
            ours = _by_completion(load_verdicts(session, our_environment_id, [run.run_id]))
            theirs = _by_completion(load_verdicts(session, their_environment_id, [run.run_id]))
            both = [(row, theirs[key]) for key, row in ours.items() if _counts(row) and _counts(theirs[key])]
            differing = [(row, other) for row, other in both if _accepted(row) != _accepted(other)]
            n_only_ours = sum(_accepted(row) for row, _ in differing)
            runs.append(
                ModelComparison(
                    model=run.model,
                    label=run.label,
                    n_solutions=len(both),
                    n_both=sum(_accepted(row) for row, _ in both) - n_only_ours,
                    n_only_ours=n_only_ours,
                    n_only_theirs=len(differing) - n_only_ours,
                    n_not_compared=len(ours) - len(both),
                )
            )
            disagreements += [
                Disagreement(
                    model=run.model,
                    label=run.label,
                    problem=keys[row.problem_id],
                    sample_index=row.sample_index,
                    ours=row.verdict or "",
                    theirs=other.verdict or "",
                    our_detail=_detail(load_test_results(session, row.completion_id, our_environment_id)),
                    their_detail=_detail(load_test_results(session, row.completion_id, their_environment_id)),
                )
                for row, other in differing
            ]
    disagreements.sort(key=lambda one: (one.model, one.label, one.problem, one.sample_index))
    return Comparison(tuple(runs), tuple(disagreements))


def _by_completion(rows: Iterable[VerdictRow]) -> dict[int, VerdictRow]:
    return {row.completion_id: row for row in rows}


def _counts(row: VerdictRow) -> bool:
    return row.verdict not in {None, Verdict.INTERNAL_ERROR, *WITHOUT_PROGRAM}  # both graders know nothing of those


def _accepted(row: VerdictRow) -> bool:
    return row.verdict == Verdict.ACCEPTED


def _detail(tests: list[dict[str, object]]) -> str:
    """What is said of the first test that is not accepted, after its name; empty where all are."""
    failed = next((test for test in tests if test["verdict"] != Verdict.ACCEPTED), None)
    return f"{failed['name']}: {failed['detail']}" if failed else ""
