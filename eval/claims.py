"""What is said of a model's cut-off: by whom, on the strength of what, and since when. A model may have many claims.

Claims are never deleted. One that turned out wrong, or that its source has changed, is marked as superseded from a day
on, so that a table can be made again from what was known when it was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from eval.cutoffs import Cutoff

_ARCHIVE = re.compile(r"^https?://web\.archive\.org/web/[0-9]+[a-z_]*/")
_SCHEME = re.compile(r"^https?://(?:www\.)?")


class ClaimKind(StrEnum):
    """What a claim is about; only claims about training data decide what a model is scored on.

    A reliable-knowledge date is that up to which a model answers well; training data reach months further. An estimate
    is somebody's guess from the model's behaviour or from hearsay.
    """

    TRAINING_DATA = "training_data"
    RELIABLE_KNOWLEDGE = "reliable_knowledge"
    ESTIMATE = "estimate"

    @property
    def words(self) -> str:
        """The kind as a reader knows it: "reliable knowledge"."""
        return self.value.replace("_", " ")


@dataclass(frozen=True)
class Claim:
    """One claim. ``by`` says who claims it, ``superseded`` the day from which it no longer holds."""

    kind: ClaimKind
    cutoff: Cutoff
    by: str | None = None
    source: str | None = None
    looked_up: date | None = None
    superseded: date | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing has taken its place."""
        return self.superseded is None

    def holds_on(self, day: date) -> bool:
        """Whether the claim was known on that day and still held. One without a look-up day counts as always known."""
        was_known = self.looked_up is None or self.looked_up <= day
        return was_known and (self.superseded is None or day < self.superseded)


def page_of(source: str) -> str:
    """The page that a link leads to: the same for every archived copy of it and for every place on it."""
    page = _SCHEME.sub("", _ARCHIVE.sub("", source.strip()))
    return page.partition("#")[0].rstrip("/").casefold()


def claims_on(claims: Iterable[Claim], day: date) -> tuple[Claim, ...]:
    """The claims that held on that day, as they stood then: what was superseded later was not yet."""
    return tuple(replace(claim, superseded=None) for claim in claims if claim.holds_on(day))


def holding(claims: Iterable[Claim], kind: ClaimKind) -> tuple[Claim, ...]:
    """The claims of one kind that hold, the latest end first; of equal ends the one with a source first."""
    found = [claim for claim in claims if claim.holds and claim.kind is kind]
    return tuple(sorted(found, key=lambda claim: (-claim.cutoff.last.toordinal(), claim.source is None)))
