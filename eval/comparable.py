"""Which runs may stand beside others: those whose models have a usable cut-off that nobody doubts. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from eval.basis import Basis, basis_of
from eval.eligibility import NotScored
from eval.evaluation import RunOutcomes
from eval.models import Registry
from eval.settings import Settings


def comparable_runs(
    runs: Iterable[RunOutcomes], registry: Registry, settings: Settings, *, now: datetime
) -> tuple[tuple[tuple[RunOutcomes, Basis], ...], tuple[NotScored, ...]]:
    """Each run under its model's own name with what it is measured against, and the models that are left out, with why.

    A window that the settings give needs no cut-off, so that none is doubted either.
    """
    kept, refused = [], []
    for run in runs:
        basis = basis_of(run, registry, settings, now)
        if isinstance(basis, NotScored):
            refused.append(basis)
        elif basis.doubt is not None and settings.after_cutoff:
            refused.append(NotScored(run.model, basis.doubt))
        else:
            kept.append((replace(run, model=run.model if basis.entry is None else basis.entry.name), basis))
    return tuple(kept), tuple(dict.fromkeys(refused))
