"""What a picture was made from, in words: in its foot, in its description, and beside it for programs. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from eval.basis import basis_of
from eval.eligibility import CutoffStatus, NotScored, UsedCutoff
from eval.evaluation import RunOutcomes, digest_of_problems
from eval.publishing.publication import Published
from eval.standing import CUTOFF_RULE

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


def basis_text(published: Published) -> Iterator[str]:
    """The problems and results of a whole edition, the rule of cut-offs, and the settings."""
    edition = published.edition
    settings, n_runs = edition.settings, len(edition.runs)
    n_samples = sum(sum(run.n_samples) for run in edition.runs)
    facts = [one.facts for one in edition.problems]
    digest = digest_of_problems(facts, imported=all(run.imported for run in edition.runs))
    yield f"problem set {digest[:12]}: {counted(len(facts))}, all public ones"
    yield f"{n_samples:,} samples of {n_runs} run{'' if n_runs == 1 else 's'}"
    yield f"cut-offs: {CUTOFF_RULE}, {settings.margin_hours:g} h"
    yield f"platforms: {', '.join(settings.platforms) or 'all'}"
    yield f"difficulties: {', '.join(settings.difficulties) or 'all'}"
    yield "flagged problems too" if settings.include_flagged else "no flagged problems"


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
