"""From the store to the plain data that ``eval.evaluation`` works on: the one part of scoring that reads a database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from db.completions import list_runs
from db.failed_requests import failures_of
from db.older_answers import is_of_older_statement
from db.records import CODE_GENERATION, Precision
from db.references import failed_references
from db.summaries import ProblemSummary, list_problems
from db.tallies import load_tallies
from eval.evaluation import Outcome, RunOutcomes
from eval.scenarios import scenario_of, task_form
from eval.window import ProblemFacts
from sandbox import Verdict

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

REFERENCE_FAILS = "reference_fails"


def load_problem_facts(
    session: Session, *, platform: str | None = None, environment_id: int | None = None
) -> tuple[ProblemFacts, ...]:
    """All problems of the store, or those of one platform, with the flags that hold everywhere and, where one is named,
    those of an environment: of problems whose reference solutions fail there."""
    failing = {} if environment_id is None else reference_flags(session, environment_id)
    facts = map(problem_facts, list_problems(session, platform=platform))
    return tuple(
        replace(one, flags=(*one.flags, *failing[one.problem_id])) if one.problem_id in failing else one
        for one in facts
    )


def reference_flags(
    session: Session, environment_id: int, run_ids: Iterable[int] | None = None
) -> dict[int, tuple[tuple[str, str], ...]]:
    """The flags, as (name, reason) by problem id, of problems whose reference solutions fail in an environment; only
    of those that some runs (None: any run) have answered."""
    failing: dict[int, tuple[tuple[str, str], ...]] = {}
    for one in failed_references(session, environment_id, accepted=Verdict.ACCEPTED, run_ids=run_ids):
        failing[one.problem_id] = (*failing.get(one.problem_id, ()), (REFERENCE_FAILS, one.reason))
    return failing


def load_judged_runs(
    session: Session,
    environment_id: int | None,
    models: Iterable[str] | None = None,
    *,
    scenario: str = CODE_GENERATION,
) -> tuple[RunOutcomes, ...]:
    """The runs of a scenario with answers of their own, programs by their verdicts in one environment (None: nothing
    was judged yet).

    A condition ``ran_on`` (an ISO day) tells as of when an alias is to be read. Raises ``UnknownScenario``.
    """
    form = task_form(scenario)
    runs = [
        run
        for run in list_runs(session, models)
        if scenario_of(run.conditions) == scenario and not is_of_older_statement(run.conditions)
    ]
    outcomes = form.outcomes(session, environment_id, runs)
    repaired = form.repaired(session, runs)
    failed = failures_of(session, [run.run_id for run in runs])
    names = Counter((run.model, run.label) for run in runs)
    return tuple(
        RunOutcomes(
            model=run.model,
            # Several runs under one label differ in their conditions: a table must tell them apart.
            label=run.label if names[run.model, run.label] == 1 else f"{run.label or 'run'} #{run.run_id}",
            outcomes=_with_failed(outcomes.get(run.run_id, ()), failed.get(run.run_id, {})),
            conditions=run.conditions,
            ran_on=_ran_on(run.conditions),
            run_id=run.run_id,
            repairs_run_id=repaired[run.run_id].run_id if run.run_id in repaired else None,
        )
        for run in runs
    )


def load_imported_runs(
    session: Session,
    models: Iterable[str] | None = None,
    origin: str | None = None,
    *,
    scenario: str = CODE_GENERATION,
) -> tuple[RunOutcomes, ...]:
    """Published results of a scenario without answers: one run for each model and origin."""
    outcomes: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for row in load_tallies(session, models, origin, scenario=scenario):
        outcomes[row.model, row.origin].append(Outcome(row.problem_id, row.n_samples, row.n_correct))
    return tuple(
        RunOutcomes(model=model, origin=source, imported=True, outcomes=tuple(found))
        for (model, source), found in outcomes.items()
    )


def problem_facts(summary: ProblemSummary) -> ProblemFacts:
    """What scoring needs of a stored problem."""
    return ProblemFacts(
        problem_id=summary.problem_id,
        platform=summary.key.platform,
        native_id=summary.key.native_id,
        exposed_at=summary.exposed_at,
        exposed_precision=_exposed_precision(summary),
        difficulty=summary.difficulty,
        contest=summary.contest,
        suite_digest=summary.suite_digest,
        n_tests=summary.n_tests,
        samples_only=summary.samples_only,
        has_checker=summary.has_checker,
        flags=summary.flags,
        withdrawn=summary.status.startswith("withdrawn"),
    )


def _exposed_precision(summary: ProblemSummary) -> Precision:
    """The precision of the claim that gave ``exposed_at``; an earlier sighting from elsewhere is an instant."""
    if summary.exposed_at == summary.released_at and summary.released_precision is not None:
        return summary.released_precision
    claims = (claim.precision for claim in summary.date_claims if claim.earliest == summary.exposed_at)
    return next(claims, Precision.INSTANT)


def _with_failed(outcomes: Iterable[Outcome], failed: Mapping[int, int]) -> tuple[Outcome, ...]:
    """The outcomes with the samples that got no answer, also of problems that have none but such."""
    found = {one.problem_id: one for one in outcomes}
    for problem_id, n_failed in failed.items():
        found[problem_id] = replace(found.get(problem_id, Outcome(problem_id, 0, 0)), n_failed=n_failed)
    return tuple(found.values())


def _ran_on(conditions: Mapping[str, Any]) -> date | None:
    try:
        return date.fromisoformat(str(conditions.get("ran_on", "")))
    except ValueError:
        return None
