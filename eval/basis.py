"""What a run is measured against: its model, the cut-off that is believed, and the window that follows. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from eval.eligibility import NotScored, UsedCutoff
from eval.models import ModelAmbiguous, ModelEntry, Registry
from eval.plausibility import believable_cutoff, doubtful, former_cutoffs
from eval.settings import Settings
from eval.window import Window, window_for

if TYPE_CHECKING:
    from eval.evaluation import RunOutcomes


@dataclass(frozen=True)
class Basis:
    """What the row of a run is measured against: its model, cut-off and window, and what has to be said of them.

    ``doubt`` says why a cut-off is not to be ranked by until somebody confirms it; None for one that can be.
    """

    entry: ModelEntry | None
    known: UsedCutoff | None
    window: Window
    cautions: tuple[str, ...]
    doubt: str | None = None


def basis_of(run: RunOutcomes, registry: Registry, settings: Settings, now: datetime) -> Basis | NotScored:
    """What a run is measured against as of now, or why its model is not scored."""
    try:
        entry = registry.resolve(run.model, run.ran_on)
    except ModelAmbiguous as error:
        return NotScored(run.model, error.message)
    if entry is None:
        used: UsedCutoff | NotScored = NotScored(run.model, registry.unknown_model(run.model))
    else:
        used = believable_cutoff(entry, registry, now.date())
    if isinstance(used, NotScored):
        if settings.after_cutoff:
            return NotScored(run.model, used.reason)
        known = None
    else:
        known = used
    window = window_for(
        known.cutoff if known is not None and settings.after_cutoff else None,
        since=settings.since,
        until=settings.until,
        margin=settings.margin,
    )
    doubt = None if entry is None or known is None else doubtful(entry, known, registry)
    return Basis(entry, known, window, tuple(_cautions(run, entry, used, doubt)), doubt)


def _cautions(
    run: RunOutcomes, entry: ModelEntry | None, used: UsedCutoff | NotScored, doubt: str | None
) -> Iterator[str]:
    if entry is not None and entry.name.casefold() != run.model.casefold():
        yield f'run under the name "{run.model}"'
    if isinstance(used, NotScored):
        yield f"no cut-off to compare with: {used.reason}"
    if doubt is not None:
        yield doubt
    former = None if entry is None else former_cutoffs(entry)
    if former is not None:
        yield former
