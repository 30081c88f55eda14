"""Whether an edition still holds: its numbers from its own inputs, and its inputs from the store."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from eval.editions.difference import Difference, difference
from eval.editions.document import Edition, FrozenEdition, Numbers, digest_of, to_bytes
from eval.editions.freezing import Chosen, freeze, run_key
from eval.editions.numbers import Inputs, numbers_of

if TYPE_CHECKING:
    from db.engine import Store


@dataclass(frozen=True)
class Verification:
    """What became of an edition's numbers. ``other_numbers`` names the parts that its own inputs no longer give with
    this version; ``moved`` is what the store says otherwise of its problems and runs (None: nothing)."""

    frozen: FrozenEdition
    other_numbers: tuple[str, ...]
    moved: Difference | None

    @property
    def holds(self) -> bool:
        """Whether everything came out as it was frozen."""
        return not self.other_numbers and self.moved is None


def verify(frozen: FrozenEdition, store: Store) -> Verification:
    """Compute an edition again, from itself and from what the store holds now of its problems and runs.

    Problems, runs and claims that came later change nothing: the claims on cut-offs are the edition's own. Raises
    ``NothingToFreeze`` where the store has none of it.
    """
    edition = frozen.edition
    again = freeze(
        store,
        edition.registry,
        Chosen(
            edition.settings,
            withdrawn=edition.withdrawn,
            note=edition.note,
            as_of=edition.as_of,
            problems=frozenset(one.written_id for one in edition.problems),
            runs=frozenset(run_key(run) for run in edition.runs),
        ),
        software=edition.software,
    )
    digest = digest_of(to_bytes(again))
    stored = replace(frozen, name=f"{frozen.name} by the store", digest=digest, edition=again)
    moved = None if digest == frozen.digest else difference(frozen, stored)
    return Verification(frozen, _other_numbers(edition), moved)


def _other_numbers(edition: Edition) -> tuple[str, ...]:
    """The parts of the numbers that come out otherwise from the edition's own problems and runs."""
    environment = None if edition.environment is None else edition.environment.digest
    inputs = Inputs(edition.problems, edition.runs, edition.registry, edition.settings, edition.as_of, environment)
    again = numbers_of(inputs)
    whole = to_bytes(edition)
    if to_bytes(replace(edition, numbers=again)) == whole:
        return ()
    parts = [one.name for one in fields(Numbers)]
    return tuple(
        name
        for name in parts
        if to_bytes(replace(edition, numbers=replace(edition.numbers, **{name: getattr(again, name)}))) != whole
    )
