"""Parts of an edition: what it shows, what of that may be published, what some of its problems leave. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from eval.editions.document import (
    Edition,
    EditionEnvironment,
    EditionProblem,
    EditionRun,
    MonthScore,
    PrivateScore,
    RankRange,
    RunFailures,
    RunMonths,
    SampledFailure,
)
from eval.editions.private_names import COPY_REASONS, PrivateNames
from eval.models import ModelEntry
from eval.report import ProblemResult, Report, Row, Score
from eval.settings import ALL
from eval.sheets import Column
from eval.test_basis import WeakestTests
from eval.window import FLAG_NAMES, ProblemFacts


def shown_part(edition: Edition) -> Edition:
    """The edition without what is in it as a measure alone: runs that are not shown, problems that its filters leave
    out, and the models of such runs. Its numbers are the same, and name such runs only as controls of those shown;
    ``unshown_count`` tells that something is gone."""
    admits = replace(edition.settings.after_cutoff(), split=ALL).admits
    problems = [one for one in edition.problems if admits(one.facts)]
    runs = tuple(run for run in edition.runs if run.is_shown)
    if len(problems) == len(edition.problems) and len(runs) == len(edition.runs):
        return edition
    registry = edition.registry
    known = [entry for run in runs if run.entry is not None and (entry := registry.resolve(run.entry)) is not None]
    names = {one.name for entry in known for one in (entry, *registry.ancestors(entry))}
    models = tuple(one for one in edition.models if one.name in names)
    n_gone = len(edition.problems) - len(problems) + len(edition.runs) - len(runs)
    return replace(
        with_problems(replace(edition, runs=runs), problems),
        models=models,
        unshown_count=edition.unshown_count + n_gone,
    )


def public_part(edition: Edition, also_private: Iterable[str] = ()) -> Edition:
    """The edition as it may be published: what it shows (`shown_part`), without its private problems.

    Left of them are their number (``private_count``) and their aggregates. Where a text of it names one, "a private
    problem" stands instead, also for those with the written ids ``also_private``, unless it shows them as public ones.
    Names of runs and models, and what describes public problems, stay as they are.
    """
    whole, edition = edition, shown_part(edition)
    public_ids = {one.written_id for one in edition.problems if not one.facts.is_private}
    private = PrivateNames.of((whole,), set(also_private) - public_ids)
    kept = [_without_copies(one, private) for one in edition.problems if not one.facts.is_private]
    public = replace(with_problems(edition, kept), private_count=edition.n_private)
    return private.hidden_throughout(public, _STRUCTURE, _names_in(public)) if private.written_ids else public


def with_problems(edition: Edition, kept: Sequence[EditionProblem]) -> Edition:
    """The edition with these of its problems alone, which have their places from 0 on in it."""
    places = {one.facts.problem_id: place for place, one in enumerate(kept)}
    ids = {one.written_id for one in kept}
    return replace(
        edition,
        problems=tuple(replace(one, facts=replace(one.facts, problem_id=place)) for place, one in enumerate(kept)),
        runs=tuple(_with_places(run, places) for run in edition.runs),
        failures=tuple(
            replace(one, sampled=tuple(failure for failure in one.sampled if failure.problem in ids))
            for one in edition.failures
        ),
    )


def _without_copies(one: EditionProblem, private: PrivateNames) -> EditionProblem:
    """The problem without a word of what private problem it is a copy of."""
    flags = tuple((name, private.reason_without(name, reason)) for name, reason in one.facts.flags)
    return replace(one, facts=replace(one.facts, flags=flags))


def _names_in(edition: Edition) -> frozenset[str]:
    """The words that parts of an edition find each other by."""
    runs = {name for run in edition.runs for name in (run.name, run.model, run.entry or "", run.label, run.origin)}
    problems = {name for one in edition.problems for name in (one.facts.platform, one.facts.difficulty or "")}
    flags = FLAG_NAMES | COPY_REASONS.keys()
    return frozenset(runs | problems | flags | {entry.name for entry in edition.models})


def _with_places(run: EditionRun, places: Mapping[int, int]) -> EditionRun:
    kept = [row for row, place in enumerate(run.problems) if place in places]
    return replace(
        run,
        problems=tuple(places[run.problems[row]] for row in kept),
        n_samples=tuple(run.n_samples[row] for row in kept),
        n_correct=tuple(run.n_correct[row] for row in kept),
        rare=tuple(replace(one, problem=places[one.problem]) for one in run.rare if one.problem in places),
    )


def _fields_of(kind: type[Any]) -> frozenset[str]:
    return frozenset(one.name for one in fields(kind))


_STRUCTURE: Mapping[type, frozenset[str]] = {
    Edition: frozenset({"format", "as_of", "settings", "private_count"}),
    EditionEnvironment: frozenset({"digest", "executor"}),
    EditionProblem: frozenset({"title", "url", "status", "revision"}),
    ProblemFacts: frozenset({"platform", "native_id", "difficulty", "suite_digest"}),
    EditionRun: _fields_of(EditionRun) - {"conditions"},
    MonthScore: frozenset({"month", "platform"}),
    RunMonths: frozenset({"run"}),
    RankRange: frozenset({"run"}),
    PrivateScore: frozenset({"run"}),
    SampledFailure: frozenset({"problem", "verdict", "language"}),
    RunFailures: frozenset({"run", "verdicts"}),
    ModelEntry: frozenset({"name", "aliases", "base_models"}),
    Report: frozenset({"problem_set_digest", "environment_digest"}),
    Row: frozenset({"run", "model", "label", "origin", "cutoff_kind", "cutoff_status", "problem_set_digest"}),
    Score: frozenset({"interval_method"}),
    ProblemResult: frozenset({"problem"}),
    WeakestTests: frozenset({"problem"}),
    Column: _fields_of(Column),
}
"""What is no free text: the fields, by class, that `public_part` leaves as they are."""
