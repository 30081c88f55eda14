"""On which side of a run's cut-off a problem lies, with the edition's margin and without it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from eval.basis import Basis
from eval.eligibility import NotScored
from eval.window import ProblemFacts, Reason, Window, date_reason, window_for

CUTOFF_RULE = (
    "a problem counts if it was published strictly later than the end of the cut-off (its last day at UTC-12) "
    "plus the margin"
)
"""What decides whether a problem is after a cut-off, for readers."""

_SIDES = {None: True, Reason.BEFORE_CUTOFF: False}


@dataclass(frozen=True)
class RunWindows:
    """The window of a run after its cut-off, and the one that it is scored in, which begins a margin later.

    Both are None for a run that is not scored.
    """

    cutoff: Window | None
    scored: Window | None


def run_windows(basis: Basis | NotScored) -> RunWindows:
    """The windows of a run that is measured so."""
    if isinstance(basis, NotScored):
        return RunWindows(None, None)
    known = basis.known
    return RunWindows(None if known is None else window_for(known.cutoff), basis.window)


def side(problem: ProblemFacts, window: Window | None) -> bool | None:
    """Whether a problem was published after a window's start, for sure; None where nobody can tell."""
    return None if window is None else _SIDES.get(date_reason(problem, window))
