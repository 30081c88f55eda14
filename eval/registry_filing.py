"""As what the claims of a public list are filed: a listed date of the training data may be no more than an estimate.

Lists repeat dates without saying what they are dates of. One that lies before what is used makes problems count as
unseen, so what a list takes for a date of the training data is doubted where better is known of its source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from eval.claims import Claim, ClaimKind, holding, page_of
from eval.models import ModelEntry
from eval.registry_forms import ListedModel

_SYSTEM_PROMPT = "system_prompt"


@dataclass(frozen=True)
class Filing:
    """A claim of a list that is filed as an estimate, and why. ``where`` says in which line it stands."""

    where: str
    claim: Claim
    reason: str

    def in_words(self, *, is_done: bool) -> str:
        """The filing as a sentence. Where it is not done, it says what would be."""
        filed_so = "is filed" if is_done else "would be filed"
        by = f" by {self.claim.by}" if self.claim.by else ""
        said = f"{self.claim.cutoff.as_written}{by}"
        return f"{said} {filed_so} as an estimate, which nothing is scored by: {self.reason}"


def filed(listed: ListedModel, known: Iterable[ModelEntry]) -> tuple[ListedModel, tuple[Filing, ...]]:
    """The listed model with its doubted training-data claims as estimates, and for each of them why.

    ``known`` are the entries for the same model; what the list itself said before counts for nothing. A claim no
    earlier than the training-data claims of others is taken as it is, since it makes no more problems count.
    """
    entries = tuple(known)
    reliable = [claim for claim in listed.claims if claim.kind is ClaimKind.RELIABLE_KNOWLEDGE]
    claims: list[Claim] = []
    filings: list[Filing] = []
    for claim in listed.claims:
        others = _others(claim, entries)
        reason = doubt_of_page(claim, entries) or _doubt_of_date(claim, [*others, *reliable], others)
        if reason is None:
            claims.append(claim)
            continue
        filings.append(Filing(f"{listed.where}, {listed.name}", claim, reason))
        claims.append(replace(claim, kind=ClaimKind.ESTIMATE))
    return replace(listed, claims=tuple(claims)), tuple(filings)


def doubt_of_page(claim: Claim, known: Iterable[ModelEntry]) -> str | None:
    """Why a training-data claim's source is not taken to state what the claim says; None where nothing is known."""
    entries = tuple(known)
    others = _others(claim, entries)
    if claim.kind is not ClaimKind.TRAINING_DATA or _is_safe(claim, others):
        return None
    if claim.source is not None:
        weaker = next(_weaker_page(page_of(claim.source), others), None)
        if weaker is not None:
            return weaker
        if _SYSTEM_PROMPT in page_of(claim.source):
            return "a system prompt names the date of the knowledge, which training data exceed"
    if any(entry.not_stated for entry in entries) and not holding(others, ClaimKind.TRAINING_DATA):
        return "its maker states no date, as the registry notes"
    return None


def _doubt_of_date(claim: Claim, said: Iterable[Claim], others: Iterable[Claim]) -> str | None:
    """What the model knows reliably beyond a training-data claim, in words; None for a claim that nothing belies."""
    reliable = holding(said, ClaimKind.RELIABLE_KNOWLEDGE)[:1]
    if claim.kind is not ClaimKind.TRAINING_DATA or _is_safe(claim, others) or not reliable:
        return None
    if claim.cutoff.last >= reliable[0].cutoff.last:
        return None
    by = f" by {reliable[0].by}" if reliable[0].by else ""
    return f"reliable knowledge reaches to {reliable[0].cutoff.as_written}{by}, and training data reach further"


def _others(claim: Claim, entries: Iterable[ModelEntry]) -> list[Claim]:
    """What others than those who make the claim say of the model."""
    said = (one for entry in entries for one in entry.claims if one != claim)
    return [one for one in said if one.by is None or one.by != claim.by]


def _is_safe(claim: Claim, others: Iterable[Claim]) -> bool:
    """Whether others claim of the training data what ends no later."""
    dated = holding(others, ClaimKind.TRAINING_DATA)
    return bool(dated) and claim.cutoff.last >= dated[0].cutoff.last


def _weaker_page(page: str, others: Iterable[Claim]) -> Iterator[str]:
    """What a page is known for, if that is not the date of the training data."""
    same = [one for one in others if one.source is not None and page_of(one.source) == page]
    if any(one.kind is ClaimKind.TRAINING_DATA and one.holds for one in same):
        return
    for one in same:
        if one.kind is ClaimKind.TRAINING_DATA:
            yield f"the claim that this page is known for, {one.cutoff.as_written}, no longer holds"
        else:
            kind = "an estimate" if one.kind is ClaimKind.ESTIMATE else one.kind.words
            yield f"its page is known for this model as the source of {kind} ({one.cutoff.as_written})"
