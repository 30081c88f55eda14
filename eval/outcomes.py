"""From the store to the plain data that ``eval.evaluation`` works on: the one part of scoring that reads a database."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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

    from eval.editions.document import EditionRun

REFERENCE_FAILS = "reference_fails"

MAX_LABEL = 60
"""Characters that the conditions in which runs differ may take in a label; beyond that runs are numbered."""


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
    return told_apart(
        RunOutcomes(
            model=run.model,
            label=run.label,
            outcomes=_with_failed(outcomes.get(run.run_id, ()), failed.get(run.run_id, {})),
            conditions=run.conditions,
            ran_on=_ran_on(run.conditions),
            run_id=run.run_id,
            repairs_run_id=repaired[run.run_id].run_id if run.run_id in repaired else None,
            by_tests=form.is_judged,
        )
        for run in runs
    )


def told_apart(runs: Iterable[RunOutcomes]) -> tuple[RunOutcomes, ...]:
    """The runs with labels that differ where several runs of a model share one in the store.

    What they differ in is added, "temperature 0.9"; where that is too long or the same to read, a number, in an order
    that depends on their conditions alone. Labels that were made before are made anew.
    """
    rows = [replace(run, label=stored_label(run), stored_label=None) for run in runs]
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, run in enumerate(rows):
        groups[run.model, run.label, run.origin, run.imported].append(place)
    for places in groups.values():
        if len(places) > 1:
            made = _labels([rows[place] for place in places])
            for place, label in zip(places, made, strict=True):
                rows[place] = replace(rows[place], label=label, stored_label=rows[place].label)
    return tuple(rows)


def stored_label(run: RunOutcomes | EditionRun) -> str:
    """The label of a run in the store, whatever is shown."""
    return run.label if run.stored_label is None else run.stored_label


def _labels(runs: Sequence[RunOutcomes]) -> list[str]:
    """A label for each of the runs, which have one model and label."""
    written = [{key: json.dumps(value, sort_keys=True) for key, value in run.conditions.items()} for run in runs]
    keys = sorted({key for one in written for key in one})
    differing = [key for key in keys if len({one.get(key) for one in written}) > 1]
    said = [", ".join(_said(run.conditions, key) for key in differing) for run in runs]
    if len(set(said)) == len(runs) and all(0 < len(one) <= MAX_LABEL for one in said):
        return [", ".join(part for part in (run.label, one) if part) for run, one in zip(runs, said, strict=True)]
    order = sorted(range(len(runs)), key=lambda place: json.dumps(runs[place].conditions, sort_keys=True))
    numbers = {place: number for number, place in enumerate(order, 1)}
    return [f"{run.label or 'run'} #{numbers[place]}" for place, run in enumerate(runs)]


def _said(conditions: Mapping[str, Any], key: str) -> str:
    """A condition in words."""
    if key not in conditions:
        return f"no {key}"
    value = conditions[key]
    return f"{key} {value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)}"


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
        hidden_origins=summary.hidden_origins,
        strength=summary.strength,
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
