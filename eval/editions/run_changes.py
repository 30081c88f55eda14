"""What became of the runs, their cut-offs and their results between two editions. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from eval.editions.document import EditionRun
from eval.editions.edition_side import EditionSide
from eval.editions.private_names import PrivateNames
from eval.editions.problem_changes import other_statement
from eval.editions.run_matching import MatchedRuns
from eval.editions.suite_changes import other_tests
from eval.eligibility import CutoffChange, NotScored, UsedCutoff
from eval.window import classify, window_for

Pair = tuple[EditionRun, EditionRun]


@dataclass(frozen=True)
class Gone:
    """A run or model that is no longer in the table; ``reason`` is why it was withdrawn, None without a word of it."""

    name: str
    reason: str | None


@dataclass(frozen=True)
class Came:
    """A run or model that is new in the table. ``not_scored`` says why it has no row, ``returned`` why it was gone."""

    name: str
    not_scored: str | None = None
    returned: str | None = None


@dataclass(frozen=True)
class Scoring:
    """A run in both editions that lost its row or got one; ``reason`` is why it has none, or had none."""

    run: str
    is_scored: bool
    reason: str


@dataclass(frozen=True)
class Renamed:
    """A run that the tables call otherwise."""

    before: str
    after: str


@dataclass(frozen=True)
class ChangedCondition:
    """What a run was made with, as it was and as it is now, in words; None where it is not stated."""

    run: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class CutoffRevision:
    """A model that is scored by another cut-off, or on the strength of something else.

    ``moved`` says how far its last day went: "2 months earlier", "12 days later", "" for not at all. With the problems
    and the margin of the second edition, ``n_more`` sound problems lie after the new cut-off alone, ``n_fewer`` after
    the old one alone.
    """

    model: str
    runs: tuple[str, ...]
    before: UsedCutoff
    after: UsedCutoff
    moved: str
    n_more: int
    n_fewer: int


@dataclass(frozen=True)
class ChangedResults:
    """The results of one run that are not as they were: another number of judged samples, or of accepted ones.

    By the public problem, of problems that are in both editions: ``n_common`` have a result in both. ``same_tests``
    changed with the same tests and statement: judged or run again. ``came`` have a result now, ``gone`` no longer.
    ``n_unjudged`` have other samples without a verdict or an answer; ``n_private`` counts private problems whose result
    is not as it was.
    """

    run: str
    n_common: int
    n_on_same_tests: int
    same_tests: tuple[str, ...]
    other_tests: tuple[str, ...]
    other_statement: tuple[str, ...]
    came: tuple[str, ...]
    gone: tuple[str, ...]
    n_unjudged: int
    n_private: int

    @property
    def is_empty(self) -> bool:
        """Whether all results are as they were."""
        changed = (self.same_tests, self.other_tests, self.other_statement, self.came, self.gone)
        return not (any(changed) or self.n_unjudged or self.n_private)


@dataclass(frozen=True)
class RunChanges:
    """What became of the runs of the table, by name."""

    gone: tuple[Gone, ...] = ()
    came: tuple[Came, ...] = ()
    scoring: tuple[Scoring, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    conditions: tuple[ChangedCondition, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the table has the same runs, made alike."""
        return self == RunChanges()


def run_changes(before: EditionSide, after: EditionSide, matched: MatchedRuns, private: PrivateNames) -> RunChanges:
    """What became of each run that has a row, or a word on why it has none, in one of the editions."""
    was_withdrawn, now_withdrawn = (
        {name.casefold(): private.hidden_in(why) for name, why in side.edition.withdrawn.items()}
        for side in (before, after)
    )
    return RunChanges(
        gone=tuple(Gone(one.name, one.word_in(now_withdrawn)) for one in _missing(before, after, matched)),
        came=tuple(
            Came(one.name, one.not_scored, one.word_in(was_withdrawn))
            for one in _missing(after, before, matched.swapped)
        ),
        scoring=tuple(_scoring(before, after, matched)),
        renamed=tuple(Renamed(old.name, new.name) for old, new in matched.pairs if old.name != new.name),
        conditions=tuple(one for old, new in matched.pairs for one in _conditions(old, new, private)),
    )


@dataclass(frozen=True)
class _Listed:
    """What a table has a place for: the name to show, and those that it may be withdrawn under."""

    name: str
    names: tuple[str, ...]
    not_scored: str | None

    def word_in(self, withdrawn: Mapping[str, str]) -> str | None:
        """The reason that is given under one of its names."""
        return next((withdrawn[name.casefold()] for name in self.names if name.casefold() in withdrawn), None)


def _missing(here: EditionSide, there: EditionSide, matched: MatchedRuns) -> list[_Listed]:
    """What one table has a place for and the other has not, by name; ``matched`` begins with the first."""
    no_place = [old for old, new in matched.pairs if there.place_of(new) is None]
    found = [
        _Listed(run.name, _names(run), place.reason if isinstance(place, NotScored) else None)
        for run in (*matched.gone, *no_place)
        if (place := here.place_of(run)) is not None
    ]
    known = _models(there)
    listed = _without_run(here).items()
    found += [_Listed(model, (model,), why) for model, why in listed if model.casefold() not in known]
    return sorted(found, key=lambda one: one.name)


def _names(run: EditionRun) -> tuple[str, ...]:
    return tuple(name for name in (run.name, run.model, run.entry) if name is not None)


def _without_run(side: EditionSide) -> dict[str, str]:
    """The models that the table says are not scored and that no run is of, with the reason."""
    of_runs = {run.model.casefold() for run in side.edition.runs}
    listed = side.edition.numbers.own.not_scored
    return {one.model: one.reason for one in listed if one.model.casefold() not in of_runs}


def _models(side: EditionSide) -> set[str]:
    """Every model that the table speaks of, by all its names."""
    runs = {name.casefold() for run in side.edition.runs for name in _names(run) if side.place_of(run) is not None}
    return runs | {one.model.casefold() for one in side.edition.numbers.own.not_scored}


def _scoring(before: EditionSide, after: EditionSide, matched: MatchedRuns) -> Iterator[Scoring]:
    for old, new in matched.pairs:
        was, now = before.place_of(old), after.place_of(new)
        if was is not None and isinstance(now, NotScored) and not isinstance(was, NotScored):
            yield Scoring(new.name, is_scored=False, reason=now.reason)
        if now is not None and isinstance(was, NotScored) and not isinstance(now, NotScored):
            yield Scoring(new.name, is_scored=True, reason=was.reason)


def _conditions(before: EditionRun, after: EditionRun, private: PrivateNames) -> Iterator[ChangedCondition]:
    fields = ("model", "entry", "label", "origin", "imported", "ran_on")
    old = {name: getattr(before, name) for name in fields} | dict(before.conditions)
    new = {name: getattr(after, name) for name in fields} | dict(after.conditions)
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            words = [in_words(value) for value in (old.get(name), new.get(name))]
            yield ChangedCondition(
                after.name, name, *(None if one is None else private.hidden_in(one) for one in words)
            )


def in_words(value: Any) -> str | None:
    """A plain value as a reader sees it: texts as they are, others as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def cutoff_revisions(before: EditionSide, after: EditionSide, matched: MatchedRuns) -> Iterator[CutoffRevision]:
    """The models of runs in both editions that are scored by another cut-off, each once, by name."""
    found: dict[tuple[str, UsedCutoff, UsedCutoff], list[str]] = {}
    for old, new in matched.pairs:
        was, now = before.basis_of(old), after.basis_of(new)
        if isinstance(was, NotScored) or isinstance(now, NotScored) or was.known is None or now.known is None:
            continue
        if _deciding(was.known) != _deciding(now.known):
            found.setdefault((new.entry or new.model, was.known, now.known), []).append(new.name)
    for model, was_used, now_used in sorted(found, key=lambda key: (key[0], found[key])):
        counts = _newly_inside(after, was_used, now_used), _newly_inside(after, now_used, was_used)
        runs = tuple(found[model, was_used, now_used])
        yield CutoffRevision(model, runs, was_used, now_used, _moved(model, was_used, now_used), *counts)


def _deciding(used: UsedCutoff) -> tuple[object, ...]:
    """All of it but when it was looked up, and the state of the claims that did not decide."""
    return used.cutoff, used.status, used.kind, used.source, used.by, used.inherited_from


def _moved(model: str, before: UsedCutoff, after: UsedCutoff) -> str:
    later = CutoffChange(model, after, before).how_much_earlier
    return CutoffChange(model, before, after).how_much_earlier or later.replace("earlier", "later")


def _newly_inside(side: EditionSide, without: UsedCutoff, within: UsedCutoff) -> int:
    """How many sound public problems count by one cut-off and not by the other."""
    settings = side.settings
    windows = [window_for(used.cutoff, margin=settings.margin) for used in (without, within)]
    count = 0
    for one in side.edition.problems:
        if settings.admits(one.facts):
            out, inside = (classify(one.facts, window, include_flagged=settings.include_flagged) for window in windows)
            count += inside is None and out is not None
    return count


def changed_results(
    before: EditionSide, after: EditionSide, matched: MatchedRuns, private: PrivateNames
) -> Iterator[ChangedResults]:
    """What became of the results of each run that is in both editions, whatever the dates of the problems."""
    shared = before.problems.keys() & after.problems.keys()
    statements = {name for name in shared if other_statement(before.problems[name], after.problems[name])}
    tests = {name for name in shared if other_tests(before.problems[name], after.problems[name])} - statements
    for old, new in matched.pairs:
        was, now = before.results_of(old), after.results_of(new)
        other = _changed_in(was, now, shared)
        public = other - private.written_ids
        both = public & was.keys() & now.keys()
        common = (shared & was.keys() & now.keys()) - private.written_ids
        # What was imported was judged elsewhere: that tests changed here did nothing to it.
        excused = set() if new.imported else statements | tests
        found = ChangedResults(
            run=new.name,
            n_common=len(common),
            n_on_same_tests=len(common - excused),
            same_tests=tuple(sorted(both - excused)),
            other_tests=tuple(sorted(both & tests & excused)),
            other_statement=tuple(sorted(both & statements & excused)),
            came=tuple(sorted(public - was.keys())),
            gone=tuple(sorted(public - now.keys())),
            n_unjudged=len(_changed_in(before.rare_of(old), after.rare_of(new), shared) - private.written_ids),
            n_private=len(other - public),
        )
        if not found.is_empty:
            yield found


def _changed_in(before: Mapping[str, object], after: Mapping[str, object], shared: AbstractSet[str]) -> set[str]:
    """The problems of both editions that one of two mappings has otherwise, or alone."""
    return {name for name in shared if before.get(name) != after.get(name)}
