"""What came of asking, added up as answers come: how many, of which kind, at what price, by which models. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from db.records import Place
from db.responses import FailureRecord, ResponseRecord
from eval.generate.replies import Reply


@dataclass
class Account:
    """The sums of one command. ``n_wanted`` places lacked an answer when it began; all counts are of this command.

    ``failed`` are the places that were asked and have no answer; ``n_requests`` counts attempts. ``n_counted`` replies
    said how many tokens they took. ``n_standing`` answers came for places that another process had filled meanwhile,
    ``conflicts`` are sentences on answers that contradict programs in the store. ``cost`` is in ``currency``, None
    without prices.
    """

    n_wanted: int
    currency: str | None = None
    cost: float | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    failed: dict[Place, FailureRecord] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    served_models: Counter[str] = field(default_factory=Counter)
    fingerprints: Counter[str] = field(default_factory=Counter)
    n_standing: int = 0
    n_requests: int = 0
    n_counted: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_reasoning: int = 0
    seconds: float = 0.0

    @property
    def n_answered(self) -> int:
        """Answers that were saved."""
        return self.statuses.total()

    @property
    def n_done(self) -> int:
        """Places that are dealt with, with an answer or without."""
        return self.n_answered + self.n_standing + len(self.conflicts) + len(self.failed)

    @property
    def failures(self) -> Counter[str]:
        """The places that were asked and have no answer, by the reason of their last failure."""
        return Counter(record.reason for record in self.failed.values())

    def add_reply(self, reply: Reply, cost: float | None) -> None:
        """A reply came, whatever will be found in it: it took tokens, and was paid for."""
        if reply.tokens_in is not None or reply.tokens_out is not None:
            self.n_counted += 1
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.tokens_reasoning += reply.tokens_reasoning or 0
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        self.served_models.update([reply.served_model] if reply.served_model else [])
        self.fingerprints.update([reply.fingerprint] if reply.fingerprint else [])

    def add_answer(self, record: ResponseRecord) -> None:
        """An answer is in the store."""
        self.failed.pop(record.place, None)
        self.statuses[record.status] += 1

    def add_failure(self, record: FailureRecord) -> None:
        """A place has no answer; one that had failed before counts once."""
        self.failed[record.place] = record

    def add_standing(self, place: Place) -> None:
        """Another process has filled the place meanwhile."""
        self.failed.pop(place, None)
        self.n_standing += 1

    def rate(self, count: int) -> float:
        """So many a second."""
        return count / self.seconds if self.seconds > 0 else 0.0

    def as_dict(self) -> dict[str, Any]:
        """As JSON values; sums of tokens are null where no reply said any."""
        is_counted = self.n_counted > 0
        return {
            "wanted": self.n_wanted,
            "answered": self.n_answered,
            "answers": dict(self.statuses),
            "failed": len(self.failed),
            "failed_requests": dict(self.failures),
            "not_asked": self.n_wanted - self.n_done,
            "answered_meanwhile": self.n_standing,
            "conflicts": list(self.conflicts),
            "requests": self.n_requests,
            "tokens_in": self.tokens_in if is_counted else None,
            "tokens_out": self.tokens_out if is_counted else None,
            "tokens_reasoning": self.tokens_reasoning if is_counted else None,
            "cost": self.cost,
            "currency": self.currency,
            "served_models": dict(self.served_models),
            "fingerprints": dict(self.fingerprints),
            "seconds": self.seconds,
            "requests_per_s": self.rate(self.n_requests),
            "tokens_per_s": self.rate(self.tokens_out) if is_counted else None,
        }


def counted(n: int, noun: str) -> str:
    """A number of things, in words as they are said."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
