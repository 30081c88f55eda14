"""Two editions beside each other: small ones with the table of own windows alone, and one edition changed by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from eval.editions.document import (
    Edition,
    EditionEnvironment,
    EditionProblem,
    EditionRun,
    EditionSettings,
    FrozenEdition,
    Numbers,
    digest_of,
    to_bytes,
)
from eval.editions.formats import FORMAT
from eval.models import Registry
from eval.sheets import Sheet
from eval.tables import Material, own_report
from tests.eval.editions.built import AS_OF, FROZEN_AT, edition_problem, edition_run
from tests.eval.facts import model, registry

ALICE = registry(model("alice", "2023-10"))


def small(
    problems: Sequence[EditionProblem],
    runs: Sequence[EditionRun],
    models: Registry = ALICE,
    *,
    name: str = "second",
    settings: EditionSettings | None = None,
    environment: EditionEnvironment | None = None,
    withdrawn: Mapping[str, str] | None = None,
    software: str = "livecut 0.1.0",
    note: str = "",
    as_of: datetime = AS_OF,
) -> FrozenEdition:
    """An edition whose numbers are the table of own windows and nothing else."""
    nothing = Sheet("", (), ())
    edition = Edition(
        format=FORMAT,
        software=software,
        as_of=as_of,
        settings=settings or EditionSettings(),
        environment=environment,
        models=models.entries,
        problems=tuple(problems),
        runs=tuple(runs),
        withdrawn=withdrawn or {},
        note=note,
        numbers=Numbers(
            own=None,  # type: ignore[arg-type] # set by _frozen
            common=nothing,
            equated=nothing,
            contamination=nothing,
            health=nothing,
            difficulty=nothing,
            saturation=None,
            months=(),
            ranked_windows=(),
            broken_months={},
        ),
    )
    return _frozen(name, edition)


def changed(frozen: FrozenEdition, name: str = "second", **changes: Any) -> FrozenEdition:
    """An edition with other parts, its own windows computed anew and its digest taken; the other numbers stay."""
    return _frozen(name, replace(frozen.edition, **changes))


def _frozen(name: str, edition: Edition) -> FrozenEdition:
    runs = tuple(run.as_outcomes(counts_samples=edition.counts_samples) for run in edition.runs)
    public = tuple(one.facts for one in edition.problems if not one.facts.is_private)
    material = Material(public, runs, runs, edition.registry, edition.as_of)
    own = own_report(material, edition.settings.after_cutoff())
    whole = replace(edition, numbers=replace(edition.numbers, own=own))
    return FrozenEdition(name, FROZEN_AT, digest_of(to_bytes(whole)), whole)


def edited(
    problems: Iterable[EditionProblem], **changes: Callable[[EditionProblem], EditionProblem]
) -> tuple[EditionProblem, ...]:
    """The problems with some of them changed, by their native ids."""
    found = ((one, changes.get(one.facts.native_id)) for one in problems)
    return tuple(one if change is None else change(one) for one, change in found)


def with_facts(**fields: Any) -> Callable[[EditionProblem], EditionProblem]:
    """A change of what is known of a problem."""
    return lambda one: replace(one, facts=replace(one.facts, **fields))


def taken(
    problems: Sequence[EditionProblem], runs: Sequence[EditionRun], order: Sequence[int]
) -> tuple[tuple[EditionProblem, ...], tuple[EditionRun, ...]]:
    """These problems in this order, by their place, with the results of the runs on them."""
    places = {old: new for new, old in enumerate(order)}
    kept = tuple(
        replace(problems[old], facts=replace(problems[old].facts, problem_id=new)) for new, old in enumerate(order)
    )
    return kept, tuple(_moved(run, places) for run in runs)


def _moved(run: EditionRun, places: Mapping[int, int]) -> EditionRun:
    rows = sorted(
        (places[place], n, c)
        for place, n, c in zip(run.problems, run.n_samples, run.n_correct, strict=True)
        if place in places
    )
    return replace(
        run,
        problems=tuple(row[0] for row in rows),
        n_samples=tuple(row[1] for row in rows),
        n_correct=tuple(row[2] for row in rows),
        rare=tuple(replace(one, problem=places[one.problem]) for one in run.rare if one.problem in places),
    )


def rows_of(scores: Iterable[int | None], n: int = 1) -> list[tuple[int, int, int]]:
    """Results by place: how many of ``n`` samples are right on each problem, None where there is no result."""
    return [(place, n, score) for place, score in enumerate(scores) if score is not None]


def problems_of(n: int, **changes: Any) -> list[EditionProblem]:
    """Problems p0, p1, ... in contests of their own, of June 2024."""
    return [edition_problem(place, **changes) for place in range(n)]


def alice(scores: Iterable[int | None], **changes: Any) -> EditionRun:
    """A run of the model that `ALICE` knows, with the cut-off 2023-10."""
    return edition_run("alice", rows_of(scores), **changes)
