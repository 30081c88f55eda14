"""What moved between two editions: problems, runs, cut-offs, results, scores, and what the tables were made with. Pure.

Whole editions are compared, with their private problems, so that one which became private is not taken for gone. A
problem that is private in either edition is never named in what comes out, only counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from eval.editions.document import Edition, EditionProblem, FrozenEdition, to_bytes
from eval.editions.edition_side import EditionSide
from eval.editions.parts import shown_part, with_problems
from eval.editions.private_names import PrivateNames
from eval.editions.problem_changes import ProblemChanges, problem_changes
from eval.editions.removals import silent_removals
from eval.editions.run_changes import (
    ChangedResults,
    CutoffRevision,
    RunChanges,
    changed_results,
    cutoff_revisions,
    in_words,
    run_changes,
)
from eval.editions.run_matching import match_runs
from eval.editions.score_changes import ScoreChange, Unexplained, score_changes

_OF_SAMPLES = {"results on sample tests alone": "count in scores", "origin and strength of tests": "not recorded"}
_OF_HIDDEN_TESTS = {"results on sample tests alone": "reported apart", "origin and strength of tests": "recorded"}
"""The rules of an edition by its format."""


@dataclass(frozen=True)
class EditionMark:
    """Which edition it is, and how large: public problems, private ones, runs."""

    name: str
    frozen_at: datetime
    as_of: datetime
    digest: str
    n_problems: int
    n_private: int
    n_runs: int


@dataclass(frozen=True)
class ChangedField:
    """Something that the tables were made with, as it was and as it is now, in words; None where it is not stated.

    ``part`` is "rules", "settings", "software", "environment" or "note"; ``name`` says which field of it, with dots.
    """

    part: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Difference:
    """What moved from one edition to another; see the parts. ``unexplained`` runs have no split of their change.

    ``silent_removals`` are the runs and models of which the later one says nothing more (`eval.editions.removals`): it
    is not to be published. ``other_models`` are registry entries that differ although what is scored by them does not;
    ``elsewhere`` says what else differs that has no list here.
    """

    before: EditionMark
    after: EditionMark
    made_with: tuple[ChangedField, ...]
    problems: ProblemChanges
    runs: RunChanges
    cutoffs: tuple[CutoffRevision, ...]
    results: tuple[ChangedResults, ...]
    scores: tuple[ScoreChange, ...]
    unexplained: tuple[Unexplained, ...]
    silent_removals: tuple[str, ...] = ()
    other_models: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether both editions hold the same, to the byte."""
        return self.before.digest == self.after.digest

    @property
    def is_empty(self) -> bool:
        """Whether nothing that is looked at here moved."""
        return not (
            self.made_with
            or self.cutoffs
            or self.results
            or self.other_models
            or self.elsewhere
            or not self.problems.is_empty
            or not self.runs.is_empty
            or any(one.moves or one.found.change.value for one in self.scores)
        )


def difference(before: FrozenEdition, after: FrozenEdition) -> Difference:
    """What moved from one edition to another; the order of problems and runs in them does not matter.

    Only what is shown is named; that something else moved is said as a whole.
    """
    elsewhere = tuple(_elsewhere(before.edition, after.edition))
    silent = silent_removals(before.edition, after.edition)
    private = PrivateNames.of((before.edition, after.edition))
    before, after = _shown(before, after)
    sides = EditionSide(before.edition), EditionSide(after.edition)
    matched = match_runs(before.edition.runs, after.edition.runs)
    scores = tuple(score_changes(*sides, matched))
    revisions = tuple(cutoff_revisions(*sides, matched))
    return Difference(
        before=_mark(before),
        after=_mark(after),
        made_with=tuple(_made_with(before.edition, after.edition, private)),
        problems=problem_changes(*sides, matched, private),
        runs=run_changes(*sides, matched, private),
        cutoffs=revisions,
        results=tuple(changed_results(*sides, matched, private)),
        scores=tuple(one for one in scores if isinstance(one, ScoreChange)),
        unexplained=tuple(one for one in scores if isinstance(one, Unexplained)),
        silent_removals=silent,
        other_models=tuple(_other_models(before.edition, after.edition, revisions)),
        elsewhere=elsewhere,
    )


def _shown(*both: FrozenEdition) -> Iterator[FrozenEdition]:
    """Both editions with the runs that each shows, and the problems that the filters of either admit."""
    ids = {one.written_id for frozen in both for one in shown_part(frozen.edition).problems}
    for frozen in both:
        edition = replace(frozen.edition, runs=tuple(run for run in frozen.edition.runs if run.is_shown))
        problems = [one for one in edition.problems if one.written_id in ids]
        yield replace(frozen, edition=with_problems(edition, problems))


def _mark(frozen: FrozenEdition) -> EditionMark:
    edition = shown_part(frozen.edition)
    return EditionMark(
        name=frozen.name,
        frozen_at=frozen.frozen_at,
        as_of=edition.as_of,
        digest=frozen.digest,
        n_problems=len(edition.problems) - edition.n_private,
        n_private=edition.n_private,
        n_runs=len(edition.runs),
    )


def _made_with(before: Edition, after: Edition, private: PrivateNames) -> Iterator[ChangedField]:
    for part in ("rules", "settings", "software", "environment", "note"):
        old, new = _fields(before, part), _fields(after, part)
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                texts = (None if one is None else private.hidden_in(one) for one in (old.get(name), new.get(name)))
                yield ChangedField(part, name, *texts)


def _fields(edition: Edition, part: str) -> dict[str, str | None]:
    """The fields of one part by their names, in words."""
    if part == "rules":
        return dict(_OF_SAMPLES if edition.counts_samples else _OF_HIDDEN_TESTS)
    if part == "settings":
        return {one.name: in_words(getattr(edition.settings, one.name)) for one in fields(edition.settings)}
    if part == "environment":
        kept = edition.environment
        if kept is None:
            return {}
        return {"digest": kept.digest, "executor": kept.executor, **dict(_leaves("details", kept.details))}
    return {part: getattr(edition, part) or None}


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str | None]]:
    """The values at the ends of nested mappings, by their dotted names."""
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _leaves(f"{name}.{key}", value[key])
    else:
        yield name, in_words(value)


def _other_models(before: Edition, after: Edition, revisions: tuple[CutoffRevision, ...]) -> Iterator[str]:
    """The models of both editions whose entries differ, but for those whose cut-off is said to be revised."""
    old = {entry.name: entry for entry in before.models}
    told = {one.model for one in revisions}
    for entry in sorted(after.models, key=lambda one: one.name):
        if entry.name in old and entry.name not in told and old[entry.name] != entry:
            yield entry.name


def _not_shown(edition: Edition) -> tuple[dict[str, EditionProblem], list[tuple[Any, ...]]]:
    """The problems and runs that are in an edition as a measure alone, with results by the problems' ids."""
    problems = {one.written_id: replace(one, facts=replace(one.facts, problem_id=0)) for one in edition.problems}
    for one in shown_part(edition).problems:
        del problems[one.written_id]
    ids = [one.written_id for one in edition.problems]
    runs = [
        (
            run.model,
            run.label,
            run.origin,
            sorted(zip(map(ids.__getitem__, run.problems), run.n_samples, run.n_correct, strict=True)),
        )
        for run in edition.runs
        if not run.is_shown
    ]
    return problems, sorted(runs)


def _elsewhere(before: Edition, after: Edition) -> Iterator[str]:
    if dict(before.withdrawn) != dict(after.withdrawn):
        yield "the models that are said to be withdrawn"
    if before.failures != after.failures:
        yield "the failures that were counted and drawn"
    if _not_shown(before) != _not_shown(after):
        yield "runs that are not shown, or problems that the filters leave out: months are judged by all of them"
    names = ("as_of", "settings", "models", "problems", "runs", "environment")
    inputs = all(getattr(before, name) == getattr(after, name) for name in names)
    # By their bytes: numbers that were read again may hold other kinds of sequences.
    if inputs and to_bytes(before) != to_bytes(replace(before, numbers=after.numbers)):
        yield "the numbers, although all that they are computed from is the same"
