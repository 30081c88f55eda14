"""Which cut-off a model is scored by, and why: the latest end among what is claimed of its training data.

Contamination is one-sided: a cut-off taken too late costs problems, one taken too early costs the meaning of the score.
So the latest of several training-data claims counts, base models' data count as the model's own, and where nothing is
claimed of the training data the release date of the snapshot stands in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from eval.claims import ClaimKind, holding
from eval.cutoffs import Cutoff
from eval.models import ModelEntry, Registry, months_between

RELEASE_DATE = "release_date"
REVISION_LENGTH = 12


class CutoffStatus(StrEnum):
    """What a cut-off rests on: a claim about the training data, or the release date that stands in for one."""

    STATED = "stated"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class UsedCutoff:
    """The cut-off that a score rests on.

    ``kind`` is ``training_data`` or ``release_date``; ``inherited_from`` the base model whose cut-off it is, if it is
    not the model's own. ``revision`` names the state of all claims that it was chosen from; ``why`` says how.
    """

    cutoff: Cutoff
    status: CutoffStatus
    kind: str
    source: str | None
    looked_up: date | None
    by: str | None
    inherited_from: str | None
    revision: str
    why: str


@dataclass(frozen=True)
class NotScored:
    """A model that cannot be scored by its cut-off, and why."""

    model: str
    reason: str


@dataclass(frozen=True)
class _Basis:
    """The cut-off of one model by its own claims, before its base models are looked at."""

    model: str
    cutoff: Cutoff
    status: CutoffStatus
    kind: str
    source: str | None
    looked_up: date | None
    by: str | None
    why: str


def usable_cutoff(entry: ModelEntry, registry: Registry) -> UsedCutoff | NotScored:
    """The cut-off to score a model by; none for an alias without a snapshot, with live web access, or without a date.

    A base model that nothing dates leaves the model's own release as the only bound.
    """
    if entry.web_access:
        return NotScored(entry.name, "has live web access: no cut-off bounds what it can have seen")
    if entry.rolling:
        return NotScored(entry.name, "is an alias without a snapshot: nobody can tell which model answered")
    own = _own_basis(entry)
    if own is None:
        return NotScored(entry.name, _without_date(entry))
    ancestors = registry.ancestors(entry)
    inherited = {ancestor.name: None if ancestor.rolling else _own_basis(ancestor) for ancestor in ancestors}
    undated = [name for name, basis in inherited.items() if basis is None]
    if undated and own.status is CutoffStatus.STATED:
        unknown = f"nothing dates {undated[0]}, whose data it inherits"
        released = _released(entry, f"{unknown}: release date used")
        if released is None:
            return NotScored(entry.name, f"{unknown}, and no release date is known")
        own = max(own, released, key=_end)
    bases = [own, *(basis for basis in inherited.values() if basis is not None)]
    chosen = max(bases, key=_end)
    return UsedCutoff(
        chosen.cutoff,
        chosen.status,
        chosen.kind,
        chosen.source,
        chosen.looked_up,
        chosen.by,
        inherited_from=None if chosen is own else chosen.model,
        revision=_revision([entry, *ancestors], bases),
        why=chosen.why if chosen is own else f"{chosen.why} of {chosen.model}, whose data it inherits",
    )


@dataclass(frozen=True)
class CutoffChange:
    """A model that two registries score by different cut-offs."""

    model: str
    before: UsedCutoff | NotScored
    after: UsedCutoff | NotScored

    @property
    def is_earlier(self) -> bool:
        """Whether the second lies before the first, so that more problems count as unseen."""
        old, new = _last_day(self.before), _last_day(self.after)
        return old is not None and new is not None and new < old

    @property
    def how_much_earlier(self) -> str:
        """How far before the first the second lies: "26 months earlier"; empty where it does not."""
        old, new = _last_day(self.before), _last_day(self.after)
        if old is None or new is None or new >= old:
            return ""
        months = months_between(new, old)
        count, unit = (months, "month") if months else ((old - new).days, "day")
        return f"{count} {unit}{'' if count == 1 else 's'} earlier"

    def in_words(self, *, is_done: bool) -> str:
        """The change as a sentence. Where it is not done, it says what would be."""
        now, count = ("now", "count") if is_done else ("would be", "would count")
        earlier = f", {self.how_much_earlier}: more problems {count}" if self.is_earlier else ""
        return f"{_in_words(self.before)}; {now} {_in_words(self.after)}{earlier}"


def changed_cutoffs(before: Registry, after: Registry) -> Iterator[CutoffChange]:
    """Which models of both registries are scored otherwise by the second."""
    names = {entry.name.casefold() for entry in after.entries}
    for entry in before.entries:
        if entry.name.casefold() in names:
            old, new = usable_cutoff(entry, before), usable_cutoff(_entry_of(entry.name, after), after)
            if _last_day(old) != _last_day(new):
                yield CutoffChange(entry.name, old, new)


def _entry_of(name: str, registry: Registry) -> ModelEntry:
    entry = registry.resolve(name)
    assert entry is not None  # asked for names of the registry alone
    return entry


def _last_day(used: UsedCutoff | NotScored) -> date | None:
    return None if isinstance(used, NotScored) else used.cutoff.last


def _in_words(used: UsedCutoff | NotScored) -> str:
    if isinstance(used, NotScored):
        return "not scored"
    stands_in = " (release date)" if used.kind == RELEASE_DATE else f" by {used.by}" if used.by else ""
    return f"scored by {used.cutoff.in_words}{stands_in}"


def _own_basis(entry: ModelEntry) -> _Basis | None:
    claims = holding(entry.claims, ClaimKind.TRAINING_DATA)
    if not claims:
        return _released(entry, "no training-data claim: release date used")
    used = claims[0]
    why = "the latest of its training-data claims" if len(claims) > 1 else "the training-data claim"
    return _Basis(
        entry.name, used.cutoff, CutoffStatus.STATED, used.kind.value, used.source, used.looked_up, used.by, why
    )


def _released(entry: ModelEntry, why: str) -> _Basis | None:
    if entry.release is None:
        return None
    return _Basis(entry.name, entry.release, CutoffStatus.ASSUMED, RELEASE_DATE, entry.release_source, None, None, why)


def _without_date(entry: ModelEntry) -> str:
    kinds = {claim.kind for claim in entry.claims if claim.holds}
    if ClaimKind.ESTIMATE in kinds:
        return "no training-data claim and no release date is known; an estimate alone does not count"
    if ClaimKind.RELIABLE_KNOWLEDGE in kinds:
        return "no training-data claim and no release date is known; reliable knowledge ends before the training data"
    return "no cut-off and no release date is known"


def _end(basis: _Basis) -> date:
    return basis.cutoff.last


def _revision(entries: Iterable[ModelEntry], bases: Iterable[_Basis]) -> str:
    """The first digits of a digest over everything that decided: training-data claims that hold, release dates used."""
    facts = []
    for entry in entries:
        for claim in holding(entry.claims, ClaimKind.TRAINING_DATA):
            facts.append(
                _canonical(entry.name, claim.kind.value, claim.cutoff, claim.by, claim.source, claim.looked_up)
            )
    for basis in bases:
        if basis.kind == RELEASE_DATE:
            facts.append(_canonical(basis.model, basis.kind, basis.cutoff, None, basis.source, None))
    return hashlib.sha256("\n".join(sorted(facts)).encode()).hexdigest()[:REVISION_LENGTH]


def _canonical(
    model: str, kind: str, cutoff: Cutoff, by: str | None, source: str | None, looked_up: date | None
) -> str:
    """One fact as a line that is the same wherever and in whatever order it is written."""
    days = (cutoff.first.isoformat(), cutoff.last.isoformat())
    values = [model, kind, cutoff.as_written, *days, by, source, None if looked_up is None else looked_up.isoformat()]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))
