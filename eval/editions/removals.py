"""The rule that no table loses a model without a word: the next edition speaks of all that the last one did. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from eval.editions.document import Edition, EditionRun, FrozenEdition
from eval.editions.edition_side import EditionSide
from eval.editions.parts import shown_part
from eval.editions.private_names import PrivateNames
from eval.editions.run_changes import run_changes
from eval.editions.run_matching import match_runs


class SilentRemoval(ValueError):
    """An edition that says nothing of a model that the one before it speaks of. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def silent_removals(before: Edition, after: Edition) -> tuple[str, ...]:
    """The runs and models that one edition has in its table, or says to be withdrawn, and of which the next is silent.

    One that was withdrawn before has to be in the table again, or to be withdrawn still.
    """
    before, after = shown_part(before), shown_part(after)
    sides = EditionSide(before), EditionSide(after)
    matched = match_runs(before.runs, after.runs)
    gone = run_changes(*sides, matched, PrivateNames(frozenset())).gone
    listed = [run for run in after.runs if sides[1].place_of(run) is not None]
    spoken = _folded(_run_names(listed)) | _folded(one.model for one in after.numbers.own.not_scored)
    spoken |= _folded(after.withdrawn)
    registry = after.registry
    forgotten = [name for name in before.withdrawn if not _folded((name, registry.canonical(name))) & spoken]
    return (*(one.name for one in gone if one.reason is None), *sorted(forgotten))


def check_removals(before: FrozenEdition, after: FrozenEdition) -> None:
    """Raises ``SilentRemoval`` where a model is gone without a word."""
    silent = silent_removals(before.edition, after.edition)
    if silent:
        raise SilentRemoval(
            f'{", ".join(silent)}: in the edition "{before.name}", and in "{after.name}" without a word no more',
            f'freeze one that says why: live edition freeze NAME --withdrawn "{silent[0]}=REASON"',
        )


def names_in(edition: Edition) -> set[str]:
    """All names of models and runs that an edition speaks of, case folded."""
    scored = _folded(_run_names(edition.runs)) | _folded(one.model for one in edition.numbers.own.not_scored)
    return scored | _folded(edition.withdrawn)


def is_among_runs(name: str, edition: Edition) -> bool:
    """Whether an edition shows a run of this model, or of this name."""
    return bool(_folded((name, edition.registry.canonical(name))) & _folded(_run_names(shown_part(edition).runs)))


def _run_names(runs: Iterable[EditionRun]) -> Iterable[str]:
    return (name for run in runs for name in (run.name, run.model, run.entry) if name is not None)


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}
