"""From a store to an edition: what it holds is read in one snapshot, and all numbers are computed from that.

All problems and all runs with an outcome are in an edition, since months are judged and contamination is tested by all
of them; its filters and models say what of it is shown. Withdrawn models are no peers either.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from db.editions import last_change
from db.environments import EnvironmentRow, environment_details, find_environment, latest_environment
from db.revisions import current_content_hashes
from db.summaries import ProblemSummary, list_problems
from eval.board import run_names
from eval.editions.document import (
    Edition,
    EditionEnvironment,
    EditionProblem,
    EditionRun,
    EditionSettings,
    RareOutcome,
    RunFailures,
)
from eval.editions.failures import Judged, load_failures
from eval.editions.formats import COUNTS_SAMPLES, FORMAT
from eval.editions.numbers import Inputs, numbers_of
from eval.evaluation import Outcome, RunOutcomes, eligible_problems, want_of_tests
from eval.labels import check_labels
from eval.models import ModelEntry, Registry, build_registry
from eval.outcomes import (
    load_imported_runs,
    load_judged_runs,
    problem_facts,
    reference_flags,
    stored_label,
    told_apart,
)
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

    ``models`` (None: all) are the models to show, as the registry or the store spells them; ``withdrawn`` are left out
    with their reason. ``as_of`` None: the last change of the store.

    The others hold it to what an older edition had: ``problems`` (None: all) by written id, ``runs`` (None: all) by
    `run_key`, with whether each is shown, ``environment``, the digest of the one that programs were judged in
    (None: the latest; "": none), and ``format``, by whose rules results count.
    """

    settings: EditionSettings
    models: frozenset[str] | None = None
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    as_of: datetime | None = None
    problems: frozenset[str] | None = None
    runs: Mapping[tuple[str, ...], bool] | None = None
    environment: str | None = None
    format: int = FORMAT

    @property
    def counts_samples(self) -> bool:
        """Whether results on sample tests alone count, and the origins of tests are not recorded."""
        return self.format in COUNTS_SAMPLES


@dataclass(frozen=True)
class _Read:
    """What was read of a store. ``ids`` are the store's, by place in the edition; ``runs`` are as they were read, and
    ``shown`` says of each whether it is to be shown."""

    problems: tuple[EditionProblem, ...]
    ids: tuple[int, ...]
    runs: tuple[RunOutcomes, ...]
    shown: tuple[bool, ...]
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
            counts_samples=chosen.counts_samples,
        )
        failures = _failures(session, read, inputs)
    return Edition(
        format=chosen.format,
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
    found = _environment(session, registry, chosen)
    environment_id = None if found is None else found.environment_id
    environment = None
    if found is not None:
        details = plain(environment_details(session, found.environment_id))
        environment = EditionEnvironment(found.digest, found.executor, details)
    runs = (*load_judged_runs(session, environment_id), *load_imported_runs(session))
    # A run without an outcome says nothing, and is no reason to call another run otherwise.
    kept = sorted(told_apart(run for run in runs if run.outcomes and _takes_part(run, registry, chosen)), key=run_key)
    shown = tuple(_is_shown(run, registry, chosen) for run in kept)
    problems, ids = _problems(session, environment_id, chosen)
    as_of = chosen.as_of or last_change(session, environment_id=environment_id)
    if not problems or as_of is None:
        raise NothingToFreeze(
            "there is no problem to freeze", "live import problems and live ingest bring some; see live problems list"
        )
    if not any(shown):
        raise NothingToFreeze(
            "there is no result to freeze", "live import results, or live import solutions and live judge bring some"
        )
    return _Read(problems, ids, tuple(kept), shown, environment, environment_id, as_of.replace(microsecond=0))


def _environment(session: Session, registry: Registry, chosen: Chosen) -> EnvironmentRow | None:
    """The environment that is asked for, else that in which a run to be shown was judged last."""
    if chosen.environment is not None:
        return find_environment(session, chosen.environment)
    judged = [run for run in load_judged_runs(session, None) if _takes_part(run, registry, chosen)]
    return latest_environment(session, {run.model for run in judged if _is_shown(run, registry, chosen)})


def _takes_part(run: RunOutcomes, registry: Registry, chosen: Chosen) -> bool:
    if _names(run, registry) & {name.casefold() for name in chosen.withdrawn}:
        return False
    return chosen.runs is None or run_key(run) in chosen.runs


def _is_shown(run: RunOutcomes, registry: Registry, chosen: Chosen) -> bool:
    if chosen.runs is not None:
        return chosen.runs[run_key(run)]
    return chosen.models is None or bool(_names(run, registry) & {name.casefold() for name in chosen.models})


def _names(run: RunOutcomes, registry: Registry) -> set[str]:
    """What the run's model is called, in the store and in the registry, in lower case."""
    return {run.model.casefold(), registry.canonical(run.model, run.ran_on).casefold()}


def run_key(run: RunOutcomes | EditionRun) -> tuple[str, ...]:
    """What tells a run from all others, in every store and whatever is beside it; runs stand in this order."""
    conditions = json.dumps(plain(run.conditions), sort_keys=True)
    return run.model.casefold(), run.model, stored_label(run), run.origin, str(run.imported), conditions


def _problems(
    session: Session, environment_id: int | None, chosen: Chosen
) -> tuple[tuple[EditionProblem, ...], tuple[int, ...]]:
    """The problems by platform and id, with the store's ids of them.

    Raises ``LabelUnknown`` for a filter that no problem meets, unless the problems are an older edition's.
    """
    failing = {} if environment_id is None else reference_flags(session, environment_id)
    hashes = current_content_hashes(session)
    summaries = list_problems(session)
    if chosen.problems is None:
        check_labels(map(problem_facts, summaries), chosen.settings.platforms, chosen.settings.difficulties)
    kept = [one for one in summaries if chosen.problems is None or str(one.key) in chosen.problems]
    kept.sort(key=lambda one: (one.key.platform, one.key.native_id))
    return (
        tuple(
            _problem(place, one, failing.get(one.problem_id, ()), hashes.get(one.problem_id), chosen)
            for place, one in enumerate(kept)
        ),
        tuple(one.problem_id for one in kept),
    )


def _problem(
    place: int, summary: ProblemSummary, failing: tuple[tuple[str, str], ...], revision: str | None, chosen: Chosen
) -> EditionProblem:
    facts = problem_facts(summary)
    if chosen.counts_samples:
        facts = replace(facts, hidden_origins=(), strength=None)
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
    for run, entry, name, is_shown in zip(read.runs, entries, run_names(called), read.shown, strict=True):
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
            stored_label=run.stored_label,
            is_shown=is_shown,
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
    """Of the judged runs that are shown, on the public problems after each one's cut-off that can count for it."""
    if read.environment_id is None:
        return ()
    material, settings = inputs.material(), inputs.settings.after_cutoff()
    judged = {}
    for stored, run, is_shown in zip(read.runs, material.everyone, read.shown, strict=True):
        if stored.run_id is not None and is_shown:
            eligible = eligible_problems(material.problems, run, material.registry, settings, now=read.as_of)
            counting = (one for one in eligible if want_of_tests(one, run.imported, by_tests=run.by_tests) is None)
            wanted = {read.ids[one.problem_id]: f"{one.platform}:{one.native_id}" for one in counting}
            judged[run.name] = Judged(stored.run_id, wanted)
    return load_failures(session, read.environment_id, judged, inputs.settings.seed)
