"""Whether a model's cut-off can be true: one after the release cannot, one long before it without a source need not be.

A cut-off that is too early makes problems look unseen that were seen.
"""

from __future__ import annotations

from datetime import date

from eval.claims import ClaimKind
from eval.cutoffs import Cutoff
from eval.eligibility import CutoffStatus, NotScored, UsedCutoff, usable_cutoff
from eval.models import EARLY_CUTOFF_MONTHS, ModelEntry, Registry, months_between


def believable_cutoff(entry: ModelEntry, registry: Registry, today: date) -> UsedCutoff | NotScored:
    """The cut-off that a model is scored by today, or why there is none: nothing is scored by one that cannot be."""
    used = usable_cutoff(entry, registry)
    return used if isinstance(used, NotScored) else impossible(entry, used, registry, today) or used


def impossible(entry: ModelEntry, used: UsedCutoff, registry: Registry, today: date) -> NotScored | None:
    """Why nothing can be scored by this cut-off: it lies in the future, or after the release of the model."""
    written, released = used.cutoff.as_written, _release(entry, used, registry)
    if used.cutoff.first > today:
        return NotScored(entry.name, f"the cut-off {written} lies in the future")
    if used.status is CutoffStatus.STATED and released is not None and used.cutoff.first > released.last:
        return NotScored(entry.name, f"the cut-off {written} is later than the release {released.as_written}")
    return None


def doubtful(entry: ModelEntry, used: UsedCutoff, registry: Registry) -> str | None:
    """Why the cut-off looks like a placeholder, which nothing is to be ranked by until somebody confirms it."""
    released = _release(entry, used, registry)
    if used.status is not CutoffStatus.STATED or used.source is not None or released is None:
        return None
    months = months_between(used.cutoff.last, released.first)
    if months <= EARLY_CUTOFF_MONTHS:
        return None
    return (
        f"the cut-off {used.cutoff.as_written} is {months} months before the release ({released.as_written}) and has "
        "no source: not ranked until it is confirmed"
    )


def former_cutoffs(entry: ModelEntry) -> str | None:
    """What was claimed of the training data before, and until when it held; None where nothing was changed."""
    former = [
        f"{claim.cutoff.as_written}{f' by {claim.by}' if claim.by else ''} until {claim.superseded}"
        for claim in entry.claims
        if claim.kind is ClaimKind.TRAINING_DATA and not claim.holds
    ]
    return f"the cut-off was changed: before, it was {', '.join(former)}" if former else None


def _release(entry: ModelEntry, used: UsedCutoff, registry: Registry) -> Cutoff | None:
    """The release of the model whose cut-off it is."""
    owner = entry if used.inherited_from is None else registry.resolve(used.inherited_from)
    return None if owner is None else owner.release
