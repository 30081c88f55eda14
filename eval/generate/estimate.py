"""What asking for a run would take, roughly: requests, tokens, money. Nothing is sent for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from db.records import Place
from db.sql import chunks
from eval.generate.account import counted
from eval.generate.choosing import AT_ONCE
from eval.generate.conditions import Asking
from eval.generate.places import questions_at
from eval.generate.prices import Price

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.usage import RunUsage

CHARACTERS_OF_A_TOKEN: Final = 4
"""English prose and code have three to five, by the model's own alphabet."""
_PER_TOKENS = 1_000_000


@dataclass(frozen=True)
class Estimate:
    """``tokens_in`` is by the number of characters. ``tokens_out`` is by the mean of the run's answers so far, None
    where there are none; ``most_out`` by the limit of length, None without one. Costs are None without a price."""

    n_requests: int
    n_problems: int
    tokens_in: int
    tokens_out: int | None
    most_out: int | None
    price: Price | None = None
    currency: str | None = None

    @property
    def cost(self) -> float | None:
        """What it would likely cost."""
        return self._cost(self.tokens_out)

    @property
    def most_cost(self) -> float | None:
        """What it would cost if every answer were as long as it may be."""
        return self._cost(self.most_out)

    def _cost(self, tokens_out: int | None) -> float | None:
        if self.price is None or tokens_out is None:
            return None
        return (self.tokens_in * self.price.input + tokens_out * self.price.output) / _PER_TOKENS

    def lines(self) -> list[str]:
        """For a reader."""
        requests, problems = counted(self.n_requests, "request"), counted(self.n_problems, "problem")
        said = [f"{requests} for {problems} would be sent; nothing was"]
        out = "unknown"
        if self.tokens_out is not None:
            out = f"about {self.tokens_out:,}, as in the answers so far"
        elif self.most_out is not None:
            out = f"at most {self.most_out:,}"
        said.append(f"tokens in: about {self.tokens_in:,} ({CHARACTERS_OF_A_TOKEN} characters each); out: {out}")
        for cost, what in ((self.cost, "about"), (self.most_cost, "at most about")):
            if cost is not None:
                said.append(f"cost: {what} {cost:.4g} {self.currency}")
        return said

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "requests": self.n_requests,
            "problems": self.n_problems,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tokens_out_at_most": self.most_out,
            "cost": self.cost,
            "cost_at_most": self.most_cost,
            "currency": self.currency,
        }


def estimate(
    session: Session,
    asking: Asking,
    places: Sequence[Place],
    *,
    usage: RunUsage | None = None,
    max_tokens: int | None = None,
    price: Price | None = None,
    currency: str | None = None,
) -> Estimate:
    """What asking for these places would take; ``usage`` is that of the run so far, None for a new one."""
    repeats = Counter((place.problem_id, place.question_id) for place in places)
    n_characters = 0
    for some in chunks(repeats, AT_ONCE):
        asked = questions_at(session, asking.prompt.scenario, (Place(*target) for target in some))
        for target, question in asked.items():
            n_characters += repeats[target] * sum(len(one.content) for one in asking.messages(question))
    has_mean = usage is not None and usage.tokens_out is not None and usage.n_counted > 0
    return Estimate(
        n_requests=len(places),
        n_problems=len({problem_id for problem_id, _ in repeats}),
        tokens_in=-(-n_characters // CHARACTERS_OF_A_TOKEN),
        tokens_out=round(len(places) * (usage.tokens_out or 0) / usage.n_counted) if has_mean and usage else None,
        most_out=None if max_tokens is None else len(places) * max_tokens,
        price=price,
        currency=currency,
    )
