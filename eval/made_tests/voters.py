"""Which completions are asked for expected outputs where no reference is known. Pure.

Up to ``PER_MODEL`` different programs of each model, the first by name. The strongest models come first, by the share
of the store's problems that they solve (``KnownProgram.standing``): until they make a quorum (`eval.made_tests.
agreement`) and are ``ENOUGH`` models, and then those that are at least half as strong as the strongest, up to
``MOST_MODELS``. Many weak models that agree on a wrong answer would outvote strong ones otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eval.made_tests import agreement
from eval.made_tests.agreement import Voter, VoterKind
from eval.made_tests.material import KnownProgram
from sandbox import Program

PER_MODEL: Final = 3
ENOUGH: Final = 4
MOST_MODELS: Final = 8
STRONG: Final = 0.5
"""The part of the strongest model's standing that makes another one strong."""


def as_voter(one: KnownProgram, *, passes_samples: bool = True) -> Voter:
    """A program as it votes."""
    if one.model is None:
        kind = VoterKind.OFFICIAL if one.is_official else VoterKind.GIVEN
        return Voter(one.name, kind, passes_samples=passes_samples)
    return Voter(
        one.name,
        VoterKind.COMPLETION,
        one.model,
        one.family,
        passes_samples=passes_samples,
        is_under_evaluation=one.is_under_evaluation,
    )


def chosen_voters(completions: Iterable[KnownProgram]) -> tuple[KnownProgram, ...]:
    """The completions that are asked, of those that pass all samples, the strongest first; without a quorum none."""
    by_model: dict[str, dict[Program, KnownProgram]] = {}
    for one in sorted(completions, key=lambda one: (-one.standing, one.name)):
        by_model.setdefault(f"{one.model}".casefold(), {}).setdefault(one.program, one)
    chosen: list[KnownProgram] = []
    n_models = 0
    for programs in by_model.values():
        some = list(programs.values())[:PER_MODEL]
        if not is_quorum(chosen):
            is_wanted = n_models < MOST_MODELS or is_quorum([*chosen, *some])
        else:
            is_strong = some[0].standing >= STRONG * chosen[0].standing
            is_wanted = n_models < (MOST_MODELS if is_strong else ENOUGH)
        if is_wanted:
            chosen += some
            n_models += 1
    return tuple(chosen) if is_quorum(chosen) else ()


def is_quorum(completions: Iterable[KnownProgram]) -> bool:
    """Whether they could decide if they agree."""
    return agreement.is_quorum(map(as_voter, completions))
