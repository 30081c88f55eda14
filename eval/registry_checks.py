"""Where claims of a registry contradict one another, or lack what would make them believable.

A finding changes eligibility where another choice between the claims would score a model on other problems. The rest is
for a reader to know: dates of reliable knowledge and estimates are never scored by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

from db.importing import Note, Refusal
from eval.claims import Claim, ClaimKind, holding
from eval.eligibility import CutoffStatus, NotScored, UsedCutoff, changed_cutoffs, usable_cutoff
from eval.models import (
    ModelEntry,
    Registry,
    build_registry,
    months_between,
    shared_without_source,
    unsourced_cutoff,
)
from eval.plausibility import doubtful, impossible
from eval.registry_filing import doubt_of_page, filed
from eval.registry_forms import ListedModel, form_named


class FindingKind(StrEnum):
    """What is wrong, in the order in which findings are listed."""

    WOULD_CHANGE = "cut-offs that the list would change"
    FILED_AS_ESTIMATE = "dates of the list that would be filed as estimates"
    TRAINING_CLAIMS_DIFFER = "training-data claims differ"
    CUTOFF_AFTER_RELEASE = "cut-off later than the release"
    TRAINING_DOUBTED = "training-data claim whose source states something else"
    CUTOFF_IN_FUTURE = "cut-off in the future"
    PLACEHOLDER = "cut-off that looks like a placeholder"
    ESTIMATE_LATER = "estimate later than the training-data claim"
    ESTIMATE_EARLIER = "estimate earlier than the training-data claim"
    RELIABLE_LATER = "reliable knowledge later than the training-data claim"
    RELIABLE_EARLIER = "reliable knowledge earlier than the training-data claim"
    RELEASE_DATES_DIFFER = "release dates differ"
    LIST_DIFFERS = "models of which the list states different dates"
    NO_TRAINING_CLAIM = "no training-data claim"
    ROLLING = "alias without a snapshot"
    NO_SOURCE = "claim without a source"
    NO_LOOK_UP_DAY = "claim without a look-up day"
    SEVERAL_FILES = "model of several files"


@dataclass(frozen=True)
class Finding:
    """One finding about one model. ``months`` is how far dates are apart, ``sources`` where they are stated."""

    kind: FindingKind
    model: str
    text: str
    sources: tuple[str, ...] = ()
    months: int | None = None
    changes_eligibility: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON values."""
        return {
            "kind": self.kind.value,
            "model": self.model,
            "text": self.text,
            "months": self.months,
            "sources": list(self.sources),
            "changes_eligibility": self.changes_eligibility,
        }


@dataclass(frozen=True)
class Comparison:
    """A public list against a registry: findings about models that both know, and how many only the list has."""

    findings: tuple[Finding, ...]
    n_compared: int
    n_only_listed: int
    refused: tuple[Refusal, ...]


_Look = Callable[[ModelEntry, Registry], Iterator[Finding]]


def check_registry(registry: Registry, today: date | None = None) -> list[Finding]:
    """All findings, by kind, those wider apart first. Without ``today`` none of cut-offs that lie in the future."""
    found = [finding for entry in registry.entries for look in _LOOKS for finding in look(entry, registry)]
    found += _shared_placeholders(registry)
    if today is not None:
        found += _in_future(registry, today)
    return _sorted(found)


def compare_with(registry: Registry, path: Path, form_name: str) -> Comparison:
    """What would be in conflict if the list ``path`` were brought in; nothing is written. Raises ``ImportFailure``."""
    listed: list[ModelEntry] = []
    refused: list[Refusal] = []
    doubted: list[Finding] = []
    n_only_listed = 0
    names = {entry.name for entry in registry.entries}
    for item in form_named(form_name).read(path, registry.canonical):
        if isinstance(item, Refusal):
            refused.append(item)
        elif not isinstance(item, Note):
            name = registry.canonical(item.name)
            if name in names:
                taken, filings = filed(item, [entry for entry in registry.entries if entry.name == name])
                listed.append(_as_entry(taken, name, f"{path}, {item.where}"))
                doubted += [
                    Finding(FindingKind.FILED_AS_ESTIMATE, name, one.in_words(is_done=False)) for one in filings
                ]
                doubted += [Finding(FindingKind.LIST_DIFFERS, name, conflict) for conflict in item.conflicts]
            else:
                n_only_listed += 1
    together = build_registry([*registry.entries, *listed])
    before = set(check_registry(registry))
    found = [one for one in check_registry(together) if one.kind in _BETWEEN_LISTS and one not in before]
    found += [finding for entry in listed for finding in _releases_differ(entry, registry)]
    found += doubted
    for change in changed_cutoffs(registry, together):
        text = change.in_words(is_done=False)
        found.append(Finding(FindingKind.WOULD_CHANGE, change.model, text, changes_eligibility=True))
    n_compared = len({entry.name.casefold() for entry in listed})
    return Comparison(tuple(_sorted(found)), n_compared, n_only_listed, tuple(refused))


def _as_entry(listed: ListedModel, name: str, origin: str) -> ModelEntry:
    return ModelEntry(name, claims=listed.claims, release=listed.release, origins=(origin,))


def _releases_differ(listed: ModelEntry, registry: Registry) -> Iterator[Finding]:
    ours = registry.resolve(listed.name)
    if ours is None or ours.release is None or listed.release is None or ours.release.last == listed.release.last:
        return
    used = usable_cutoff(ours, registry)
    months = abs(months_between(ours.release.last, listed.release.last))
    text = f"released {ours.release.as_written} here, {listed.release.as_written} by the list"
    stands_in = isinstance(used, UsedCutoff) and used.status is CutoffStatus.ASSUMED
    yield Finding(FindingKind.RELEASE_DATES_DIFFER, ours.name, text, (), months, stands_in)


def _training_claims_differ(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    claims = holding(entry.claims, ClaimKind.TRAINING_DATA)
    if len({claim.cutoff.last for claim in claims}) > 1:
        months = months_between(claims[-1].cutoff.last, claims[0].cutoff.last)
        text = f"{_listed(claims)}: the latest counts"
        yield Finding(FindingKind.TRAINING_CLAIMS_DIFFER, entry.name, text, _sources(claims), months, True)


def _cutoff_after_release(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    for claim in holding(entry.claims, ClaimKind.TRAINING_DATA)[:1]:
        if entry.release is not None and claim.cutoff.first > entry.release.last:
            months = months_between(entry.release.last, claim.cutoff.first)
            text = f"{_said(claim)}, released {entry.release.as_written}: a name that was moved, or a wrong date"
            yield Finding(
                FindingKind.CUTOFF_AFTER_RELEASE, entry.name, text, _sources([claim]), months, not entry.rolling
            )


def _training_doubted(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    """Claims that would be filed as estimates if a list brought them now."""
    for claim in holding(entry.claims, ClaimKind.TRAINING_DATA):
        doubt = doubt_of_page(claim, [entry])
        if doubt is not None:
            yield Finding(
                FindingKind.TRAINING_DOUBTED,
                entry.name,
                f"{_said(claim)}: {doubt}",
                _sources([claim]),
                changes_eligibility=True,
            )


def _inherited_after_release(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    """A model that is not scored because the cut-off of one of its base models cannot be true."""
    used = usable_cutoff(entry, registry)
    if isinstance(used, UsedCutoff) and used.inherited_from is not None:
        refused = impossible(entry, used, registry, date.max)
        if refused is not None:
            text = f"{refused.reason} of {used.inherited_from}, whose data it inherits: not scored"
            yield Finding(FindingKind.CUTOFF_AFTER_RELEASE, entry.name, text, changes_eligibility=True)


def _placeholder(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    used = usable_cutoff(entry, registry)
    doubt = doubtful(entry, used, registry) if isinstance(used, UsedCutoff) else None
    if doubt is not None:
        yield Finding(FindingKind.PLACEHOLDER, entry.name, doubt, changes_eligibility=True)


def _shared_placeholders(registry: Registry) -> Iterator[Finding]:
    """Models that have the same date as many others, none of them with a source for it."""
    shared = shared_without_source(registry.entries)
    for entry in registry.entries:
        cutoff = unsourced_cutoff(entry)
        if cutoff is not None and cutoff.as_written in shared:
            text = f"{shared[cutoff.as_written]} models have the cut-off {cutoff.in_words} without a source"
            yield Finding(FindingKind.PLACEHOLDER, entry.name, text)


def _in_future(registry: Registry, today: date) -> Iterator[Finding]:
    for entry in registry.entries:
        used = usable_cutoff(entry, registry)
        if isinstance(used, UsedCutoff) and used.cutoff.first > today:
            refused = impossible(entry, used, registry, today)
            text = "" if refused is None else f"{refused.reason}: not scored"
            yield Finding(FindingKind.CUTOFF_IN_FUTURE, entry.name, text, changes_eligibility=True)


def _apart(kind: ClaimKind, finding: FindingKind, *, later: bool) -> _Look:
    """Findings about claims of another kind whose end is not that of the training-data claim used.

    Nobody knows reliably what is not in the training data: such a claim says that the other is wrong.
    """
    is_serious = finding is FindingKind.RELIABLE_LATER

    def look(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
        for used in holding(entry.claims, ClaimKind.TRAINING_DATA)[:1]:
            for claim in holding(entry.claims, kind):
                months = months_between(used.cutoff.last, claim.cutoff.last)
                if (months > 0) if later else (months < 0):
                    text = f"{_said(claim)}, training data {_said(used)}"
                    yield Finding(finding, entry.name, text, _sources([claim, used]), abs(months), is_serious)

    return look


def _no_training_claim(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    if entry.rolling or entry.web_access or holding(entry.claims, ClaimKind.TRAINING_DATA):
        return
    used = usable_cutoff(entry, registry)
    if isinstance(used, NotScored):
        text = f"not scored: {used.reason}"
    else:
        text = f"release date used: {used.cutoff.as_written}" if used.inherited_from is None else used.why
    others = [claim for claim in entry.claims if claim.holds]
    yield Finding(FindingKind.NO_TRAINING_CLAIM, entry.name, text, _sources(others))


def _rolling(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    if entry.rolling:
        yield Finding(FindingKind.ROLLING, entry.name, "not scored by cut-off")


def _without_source_or_day(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    for claim in entry.claims:
        if claim.holds and claim.source is None:
            yield Finding(FindingKind.NO_SOURCE, entry.name, f"{_words(claim.kind)} {_said(claim)}")
        if claim.holds and claim.looked_up is None:
            yield Finding(FindingKind.NO_LOOK_UP_DAY, entry.name, f"{_words(claim.kind)} {_said(claim)}")


def _several_files(entry: ModelEntry, registry: Registry) -> Iterator[Finding]:
    if len(entry.origins) > 1:
        yield Finding(FindingKind.SEVERAL_FILES, entry.name, "it has the claims of all", entry.origins)


_LOOKS: tuple[_Look, ...] = (
    _training_claims_differ,
    _cutoff_after_release,
    _inherited_after_release,
    _training_doubted,
    _placeholder,
    _apart(ClaimKind.ESTIMATE, FindingKind.ESTIMATE_LATER, later=True),
    _apart(ClaimKind.ESTIMATE, FindingKind.ESTIMATE_EARLIER, later=False),
    _apart(ClaimKind.RELIABLE_KNOWLEDGE, FindingKind.RELIABLE_LATER, later=True),
    _apart(ClaimKind.RELIABLE_KNOWLEDGE, FindingKind.RELIABLE_EARLIER, later=False),
    _no_training_claim,
    _rolling,
    _without_source_or_day,
    _several_files,
)
_BETWEEN_LISTS = frozenset(
    {
        FindingKind.TRAINING_CLAIMS_DIFFER,
        FindingKind.CUTOFF_AFTER_RELEASE,
        FindingKind.ESTIMATE_LATER,
        FindingKind.ESTIMATE_EARLIER,
        FindingKind.RELIABLE_LATER,
        FindingKind.RELIABLE_EARLIER,
        FindingKind.RELEASE_DATES_DIFFER,
    }
)


def _sorted(findings: Iterable[Finding]) -> list[Finding]:
    order = list(FindingKind)
    return sorted(findings, key=lambda one: (order.index(one.kind), -(one.months or 0), one.model, one.text))


def _listed(claims: Iterable[Claim]) -> str:
    return "; ".join(_said(claim) for claim in claims)


def _said(claim: Claim) -> str:
    return f"{claim.cutoff.as_written} by {claim.by}" if claim.by else claim.cutoff.as_written


def _words(kind: ClaimKind) -> str:
    return kind.value.replace("_", " ")


def _sources(claims: Iterable[Claim]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(claim.source for claim in claims if claim.source is not None))
