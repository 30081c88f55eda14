"""From a store to an edition: what it holds is read in one snapshot, and all numbers are computed from that."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from db.editions import last_change
from db.environments import environment_details, latest_environment
from db.revisions import current_content_hashes
from db.summaries import ProblemSummary, list_problems
from eval.board import run_names
from eval.editions.document import (
    FORMAT,
    Edition,
    EditionEnvironment,
    EditionProblem,
    EditionRun,
    EditionSettings,
    RareOutcome,
    RunFailures,
)
from eval.editions.failures import Judged, load_failures
from eval.editions.numbers import Inputs, numbers_of
from eval.evaluation import Outcome, RunOutcomes, eligible_problems
from eval.labels import check_labels
from eval.models import ModelEntry, Registry, build_registry
from eval.outcomes import load_imported_runs, load_judged_runs, problem_facts, reference_flags
from eval.sheets import plain

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.engine import Store


class NothingToFreeze(ValueError):
    """A store without anything that an edition could be of."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Chosen:
    """What an edition is to be of.

    ``models`` (None: all) are the models in it, as the registry or the store spells them; ``withdrawn`` are left out
    with their reason. ``as_of`` None: the last change of the store. ``problems`` and ``runs`` (None: all), by written
    id and by `run_key`, hold it to what an older edition had.
    """

    settings: EditionSettings
    models: frozenset[str] | None = None
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    as_of: datetime | None = None
    problems: frozenset[str] | None = None
    runs: frozenset[tuple[str, ...]] | None = None


@dataclass(frozen=True)
class _Read:
    """What was read of a store. ``ids`` are the store's, by place in the edition; ``runs`` are as they were read."""

    problems: tuple[EditionProblem, ...]
    ids: tuple[int, ...]
    runs: tuple[RunOutcomes, ...]
    environment: EditionEnvironment | None
    environment_id: int | None
    as_of: datetime


def freeze(store: Store, registry: Registry, chosen: Chosen, *, software: str) -> Edition:
    """The edition of what the store holds now; nothing is judged and nothing written.

    Raises ``NothingToFreeze``, ``LabelUnknown`` for a platform or difficulty that no problem has, ``UnknownSetting``.
    """
    with store.read() as session:
        read = _read(session, registry, chosen)
        runs = tuple(_edition_runs(read, registry))
        models = tuple(_entries(registry, runs))
        inputs = Inputs(
            read.problems,
            runs,
            build_registry(models),
            chosen.settings,
            read.as_of,
            None if read.environment is None else read.environment.digest,
        )
        failures = _failures(session, read, inputs)
    return Edition(
        format=FORMAT,
        software=software,
        as_of=read.as_of,
        settings=chosen.settings,
        environment=read.environment,
        models=models,
        problems=read.problems,
        runs=runs,
        withdrawn=dict(sorted(chosen.withdrawn.items())),
        note=chosen.note,
        numbers=numbers_of(inputs),
        failures=failures,
    )


def _read(session: Session, registry: Registry, chosen: Chosen) -> _Read:
    judged = [run for run in load_judged_runs(session, None) if _is_wanted(run, registry, chosen)]
    found = latest_environment(session, {run.model for run in judged})
    environment_id = None if found is None else found.environment_id
    environment = None
    if found is not None:
        details = plain(environment_details(session, found.environment_id))
        environment = EditionEnvironment(found.digest, found.executor, details)
    runs = (*load_judged_runs(session, environment_id), *load_imported_runs(session))
    kept = tuple(sorted((run for run in runs if _is_wanted(run, registry, chosen)), key=run_key))
    problems, ids = _problems(session, environment_id, chosen)
    as_of = chosen.as_of or last_change(session, environment_id=environment_id)
    if not problems or as_of is None:
        raise NothingToFreeze(
            "there is no problem to freeze", "live import problems and live ingest bring some; see live problems list"
        )
    if not kept:
        raise NothingToFreeze(
            "there is no result to freeze", "live import results, or live import solutions and live judge bring some"
        )
    return _Read(problems, ids, kept, environment, environment_id, as_of.replace(microsecond=0))


def _is_wanted(run: RunOutcomes, registry: Registry, chosen: Chosen) -> bool:
    names = {run.model.casefold(), registry.canonical(run.model, run.ran_on).casefold()}
    if names & {name.casefold() for name in chosen.withdrawn}:
        return False
    if chosen.runs is not None and run_key(run) not in chosen.runs:
        return False
    return chosen.models is None or bool(names & {name.casefold() for name in chosen.models})


def run_key(run: RunOutcomes | EditionRun) -> tuple[str, ...]:
    """What tells a run from all others, in every store; runs stand in this order."""
    conditions = json.dumps(plain(run.conditions), sort_keys=True)
    return run.model.casefold(), run.model, run.label, run.origin, str(run.imported), conditions


def _problems(
    session: Session, environment_id: int | None, chosen: Chosen
) -> tuple[tuple[EditionProblem, ...], tuple[int, ...]]:
    """The problems that are chosen, by platform and id, with the store's ids of them."""
    settings = chosen.settings
    failing = {} if environment_id is None else reference_flags(session, environment_id)
    hashes = current_content_hashes(session)
    summaries = list_problems(session)
    check_labels(map(problem_facts, summaries), settings.platforms, settings.difficulties)
    wanted = replace(settings.after_cutoff(), split="all")
    kept = [
        one
        for one in summaries
        if wanted.admits(problem_facts(one)) and (chosen.problems is None or str(one.key) in chosen.problems)
    ]
    kept.sort(key=lambda one: (one.key.platform, one.key.native_id))
    return (
        tuple(
            _problem(place, one, failing.get(one.problem_id, ()), hashes.get(one.problem_id))
            for place, one in enumerate(kept)
        ),
        tuple(one.problem_id for one in kept),
    )


def _problem(
    place: int, summary: ProblemSummary, failing: tuple[tuple[str, str], ...], revision: str | None
) -> EditionProblem:
    facts = problem_facts(summary)
    return EditionProblem(
        facts=replace(facts, problem_id=place, flags=tuple(sorted({*facts.flags, *failing}))),
        title=summary.title,
        url=summary.url,
        status=summary.status,
        released_at=summary.released_at,
        released_precision=summary.released_precision,
        evidence=summary.date_claims,
        revision=revision,
    )


def _edition_runs(read: _Read, registry: Registry) -> Iterator[EditionRun]:
    """The runs in an order that does not depend on the store, each under the name that it has in every table."""
    places = {problem_id: place for place, problem_id in enumerate(read.ids)}
    entries = [registry.resolve(run.model, run.ran_on) for run in read.runs]
    called = [
        run if entry is None else replace(run, model=entry.name) for run, entry in zip(read.runs, entries, strict=True)
    ]
    for run, entry, name in zip(read.runs, entries, run_names(called), strict=True):
        outcomes = sorted(
            ((places[one.problem_id], one) for one in run.outcomes if one.problem_id in places),
            key=lambda pair: pair[0],
        )
        yield EditionRun(
            name=name,
            model=run.model,
            entry=None if entry is None else entry.name,
            label=run.label,
            origin=run.origin,
            imported=run.imported,
            conditions=plain(run.conditions),
            ran_on=run.ran_on,
            problems=tuple(place for place, _ in outcomes),
            n_samples=tuple(one.n_samples for _, one in outcomes),
            n_correct=tuple(one.n_correct for _, one in outcomes),
            rare=tuple(_rare(place, one) for place, one in outcomes if _is_rare(one)),
        )


def _is_rare(one: Outcome) -> bool:
    return bool(one.n_waiting or one.n_internal or one.n_older or one.n_failed or one.statuses)


def _rare(place: int, one: Outcome) -> RareOutcome:
    return RareOutcome(place, one.n_waiting, one.n_internal, one.n_older, one.n_failed, dict(one.statuses))


def _entries(registry: Registry, runs: Iterable[EditionRun]) -> Iterator[ModelEntry]:
    """The models of the runs and those whose data they inherit, by name; where their files lie is nobody's business."""
    found: dict[str, ModelEntry] = {}
    for run in runs:
        entry = None if run.entry is None else registry.resolve(run.entry)
        if entry is not None:
            found |= {one.name: one for one in (entry, *registry.ancestors(entry))}
    for name in sorted(found):
        yield replace(found[name], origins=())


def _failures(session: Session, read: _Read, inputs: Inputs) -> tuple[RunFailures, ...]:
    """Of the judged runs, on the public problems after each one's cut-off."""
    if read.environment_id is None:
        return ()
    material, settings = inputs.material(), inputs.settings.after_cutoff()
    judged = {}
    for stored, run in zip(read.runs, material.runs, strict=True):
        if stored.run_id is not None:
            eligible = eligible_problems(material.problems, run, material.registry, settings, now=read.as_of)
            wanted = {read.ids[one.problem_id]: f"{one.platform}:{one.native_id}" for one in eligible}
            judged[run.name] = Judged(stored.run_id, wanted)
    return load_failures(session, read.environment_id, judged, inputs.settings.seed)
