"""On which side of a model's cut-off a problem lies: surely before it, surely after it, or nobody can tell. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from eval.board import Board, days_of
from eval.claims import ClaimKind, holding
from eval.common_window import cutoff_text
from eval.eligibility import CutoffStatus, UsedCutoff
from eval.models import ModelEntry, Registry
from eval.plausibility import doubtful

EARLIEST_ZONE = timedelta(hours=14)
"""How long before its beginning in UTC a day has begun somewhere."""

NOT_STATED = "no cut-off is stated: the release date stands in for it, and nothing is surely from before it"


@dataclass(frozen=True)
class CutoffSides:
    """Problems public by ``low`` are from before a cut-off, those later than ``high`` from after it (days since 1970).

    ``written`` is the cut-off as it was stated. ``assumed``: a release date stands in for a cut-off that nobody has
    stated, so that ``low`` is not known (minus infinity) and nothing is surely from before it.
    """

    low: float
    high: float
    written: str
    assumed: bool = False

    def before(self, board: Board) -> NDArray[np.bool_]:
        """Which problems of a board were certainly public before it."""
        return np.asarray(board.days_latest <= self.low)

    def after(self, board: Board) -> NDArray[np.bool_]:
        """Which problems of a board were certainly not public by its end."""
        return np.asarray(board.days > self.high)


def cutoff_sides(entry: ModelEntry | None, used: UsedCutoff) -> CutoffSides:
    """The sides of the cut-off that a model is scored by.

    Of several claims about its training data that hold, "before" is before the first day of the earliest, where that
    day begins first; "after" is after the last day of the one that is used.
    """
    high = days_of(used.cutoff.end)
    if used.status is CutoffStatus.ASSUMED:
        return CutoffSides(-np.inf, high, cutoff_text(used), assumed=True)
    claims = holding(entry.claims, ClaimKind.TRAINING_DATA) if entry is not None else ()
    earliest = min([used.cutoff, *(claim.cutoff for claim in claims)], key=lambda cutoff: cutoff.first)
    first = earliest.first
    written = cutoff_text(used) if first == used.cutoff.first else f"{earliest.as_written} to {cutoff_text(used)}"
    begins = datetime(first.year, first.month, first.day, tzinfo=UTC) - EARLIEST_ZONE
    return CutoffSides(days_of(begins), high, written)


def without_sides(entry: ModelEntry | None, used: UsedCutoff | None, registry: Registry) -> str | None:
    """Why nothing can be told of what a run does before and after its cut-off, None where something can."""
    if used is None:
        return "no cut-off is known"
    if used.status is CutoffStatus.ASSUMED:
        return NOT_STATED
    return None if entry is None else doubtful(entry, used, registry)
