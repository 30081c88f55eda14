"""What a picture was made from, in words: in its foot, in its description, and beside it for programs. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from eval.eligibility import CutoffStatus, NotScored, UsedCutoff
from eval.evaluation import RunOutcomes, basis_of
from eval.publishing.publication import Published

INTERVALS = (
    "95 % intervals: t over contests; Wilson near 0 and 1 and with fewer than 8 contests; exact where all are alike"
)
"""What `eval.statistics.intervals.interval` does."""


def instant_text(instant: datetime | None) -> str:
    """An instant to the minute, "2024-11-01T12:00Z"; "..." for no bound."""
    return "..." if instant is None else f"{instant:%Y-%m-%dT%H:%MZ}"


def cutoffs_of(published: Published) -> dict[str, UsedCutoff | NotScored]:
    """The cut-off that each run is scored by, or why there is none, by the name of the run."""
    edition, registry = published.edition, published.edition.registry
    settings = edition.settings.after_cutoff()
    found: dict[str, UsedCutoff | NotScored] = {}
    for run in edition.runs:
        basis = basis_of(RunOutcomes(run.model, (), ran_on=run.ran_on), registry, settings, edition.as_of)
        if isinstance(basis, NotScored):
            found[run.name] = basis
        elif basis.known is None:
            found[run.name] = NotScored(run.model, "no cut-off is known")
        else:
            found[run.name] = basis.known
    return found


def stands_in(used: UsedCutoff) -> bool:
    """Whether the release date stands in for a cut-off that nobody stated."""
    return used.status is CutoffStatus.ASSUMED


def edition_text(published: Published) -> str:
    """The edition by name and digest, and when it was made."""
    return f"edition {published.name}, digest {published.build_id}, frozen {instant_text(published.frozen_at)}"


def filters_text(published: Published) -> Iterator[str]:
    """Which problems were looked at, where that is not all."""
    settings = published.edition.settings
    if settings.platforms:
        yield f"platforms: {', '.join(settings.platforms)}"
    if settings.difficulties:
        yield f"difficulties: {', '.join(settings.difficulties)}"
    if settings.include_flagged:
        yield "flagged problems too"


def published_span(published: Published) -> str:
    """From when to when the problems were published."""
    dates = [one.facts.exposed_at for one in published.edition.problems if one.facts.exposed_at is not None]
    if not dates:
        return "no problem has a date"
    return f"problems published {min(dates):%Y-%m-%d} to {max(dates):%Y-%m-%d} (UTC)"


def window_text(used: UsedCutoff | NotScored, margin_hours: float) -> str:
    """The window of a run after its cut-off, with the rule that it follows from."""
    if isinstance(used, NotScored):
        return f"no window after a cut-off: {used.reason}"
    start = used.cutoff.after + timedelta(hours=margin_hours)
    return (
        f"after the cut-off: published from {instant_text(start)} on, which is the end of the cut-off's last day at "
        f"UTC-12 with a margin of {margin_hours:g} h"
    )


def counted(n: int) -> str:
    """So many problems."""
    return f"{n:,} problem{'' if n == 1 else 's'}"
