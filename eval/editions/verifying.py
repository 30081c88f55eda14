"""Whether an edition still holds: its numbers from its own inputs, and its inputs from the store."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from eval.editions.difference import Difference, difference
from eval.editions.document import Edition, FrozenEdition, Numbers, digest_of, to_bytes
from eval.editions.freezing import Chosen, NothingToFreeze, freeze, run_key
from eval.editions.numbers import Inputs, numbers_of
from eval.report import samples_only_fields

if TYPE_CHECKING:
    from db.engine import Store

AMONG_ALL = frozenset({"contamination", "health", "difficulty"})
"""Parts of the numbers that rest on results of runs, or on problems, that are not shown."""

_CLOSE = 1e-8

_UNSAID = ("problems judged on sample tests only: ", "judged on sample tests only: ", "tests: ")
"""How lines begin that only editions in which results on sample tests alone count have, or only others."""

_UNRECORDED = frozenset({"tests", "unjudged", "samples_only", "counted_on_samples"} | samples_only_fields(None).keys())
"""The fields of numbers that such editions do not have."""


@dataclass(frozen=True)
class Verification:
    """What became of an edition's numbers. ``other_numbers`` names the parts that its own inputs no longer give with
    this version; ``moved`` is what the store says otherwise of its problems and runs (None: nothing).

    With ``nothing_left`` the store has none of its problems or none of its results, and there is nothing to compare.
    """

    frozen: FrozenEdition
    other_numbers: tuple[str, ...]
    moved: Difference | None
    nothing_left: bool = False

    @property
    def holds(self) -> bool:
        """Whether everything came out as it was frozen."""
        return not self.other_numbers and self.moved is None and not self.nothing_left


def verify(frozen: FrozenEdition, store: Store) -> Verification:
    """Compute an edition again, from itself and from what the store holds now of its problems and runs.

    Problems, runs, verdicts in other environments and claims that came later change nothing: the claims on cut-offs are
    the edition's own.
    """
    edition = frozen.edition
    other = other_numbers(edition)
    try:
        again = freeze(store, edition.registry, _as_chosen(edition), software=edition.software)
    except NothingToFreeze:
        return Verification(frozen, other, None, nothing_left=True)
    body = to_bytes(again)
    stored = replace(frozen, name=f"{frozen.name} by the store", digest=digest_of(body), edition=again)
    # Numbers follow from the rest, and whether this edition's do is known already.
    is_same = to_bytes(replace(again, numbers=edition.numbers)) == to_bytes(edition)
    return Verification(frozen, other, None if is_same else difference(frozen, stored))


def _as_chosen(edition: Edition) -> Chosen:
    """What an edition was made of, as freezing takes it."""
    return Chosen(
        edition.settings,
        withdrawn=edition.withdrawn,
        note=edition.note,
        as_of=edition.as_of,
        problems=frozenset(one.written_id for one in edition.problems),
        runs={run_key(run): run.is_shown for run in edition.runs},
        environment="" if edition.environment is None else edition.environment.digest,
        format=edition.format,
    )


def other_numbers(edition: Edition) -> tuple[str, ...]:
    """The parts of the numbers that come out otherwise from the edition's own problems and runs.

    Of an edition without what it does not show (``unshown_count``) the broken months are believed, and the parts in
    which all runs take part (`AMONG_ALL`) cannot be computed. One in which results on sample tests alone count is
    computed by that rule; what it cannot say of its tests is not held against it.
    """
    environment = None if edition.environment is None else edition.environment.digest
    known = edition.numbers.broken_months if edition.unshown_count else None
    inputs = Inputs(
        edition.problems,
        edition.runs,
        edition.registry,
        edition.settings,
        edition.as_of,
        environment,
        known,
        edition.counts_samples,
    )
    then, now = _document(edition.numbers), _document(numbers_of(inputs))
    if edition.counts_samples:
        then, now = _without_tests(then), _without_tests(now)
    names = [one.name for one in fields(Numbers) if known is None or one.name not in AMONG_ALL]
    return tuple(name for name in names if name in then and not _is_close(then[name], now[name]))


def _document(numbers: Numbers) -> dict[str, Any]:
    """The numbers as JSON values."""
    return dict(TypeAdapter(Numbers).dump_python(numbers, mode="json"))


def _without_tests(value: Any) -> Any:
    """JSON values without the lines and fields in which the tests of scores are told."""
    if isinstance(value, dict):
        return {key: _without_tests(item) for key, item in value.items() if key not in _UNRECORDED}
    if isinstance(value, list):
        return [_without_tests(item) for item in value if not (isinstance(item, str) and item.startswith(_UNSAID))]
    return value


def _is_close(then: object, now: object) -> bool:
    """Whether two JSON values are the same, fractions to 1e-8: the last digit that is frozen of one can fall either
    way on another kind of CPU."""
    if isinstance(then, dict) and isinstance(now, dict):
        return then.keys() == now.keys() and all(_is_close(then[key], now[key]) for key in then)
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(_is_close, then, now))
    if isinstance(then, float) and isinstance(now, float):
        return math.isclose(then, now, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return then == now
