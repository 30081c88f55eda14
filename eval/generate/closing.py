"""What a command that asked has to say at its end: what it did, and whether the run is fit to be scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from db.failed_requests import FailedUsage, count_failures, usage_of_failures
from db.usage import RunUsage, usage_of_runs
from eval.generate.account import Account, counted
from eval.generate.asking import Stop, Why
from eval.generate.health import RunHealth, without_program

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_SHOWN = 5


@dataclass(frozen=True)
class Closing:
    """``account`` and ``stop`` are of the command, the others of the whole run as the store has it: ``usage`` of its
    answers, ``lost`` of its failed requests."""

    account: Account
    stop: Stop | None
    usage: RunUsage
    health: RunHealth
    lost: FailedUsage = field(default_factory=FailedUsage)

    @property
    def cost(self) -> dict[str, float]:
        """What the run cost so far by currency, failed requests among it."""
        currencies = {**self.usage.cost, **self.lost.cost}
        return {one: self.usage.cost.get(one, 0.0) + self.lost.cost.get(one, 0.0) for one in currencies}

    @property
    def is_complete(self) -> bool:
        """Whether nothing failed for good and the run is fit to be scored; a budget that is spent is no fault."""
        stopped = self.stop is not None and self.stop.why is not Why.BUDGET
        return not (stopped or self.account.failed or self.account.conflicts or self.health.is_unhealthy)

    def lines(self) -> Iterator[str]:
        """For a reader: what the command did, and what has to be known of the run."""
        if self.account.n_wanted:
            yield from self._done()
            yield from self._failures()
            yield from self._effort()
        yield from self._so_far()
        yield from self._cautions()

    def _done(self) -> Iterator[str]:
        account = self.account
        yield (
            f"asked for {counted(account.n_wanted, 'answer')}: {account.n_answered} came, {len(account.failed)} failed"
            + (f", {account.n_standing} were there by then" if account.n_standing else "")
            + (f", {account.n_wanted - account.n_done} were not asked for" if account.n_done < account.n_wanted else "")
        )
        if account.n_answered:
            yield f"answers: {_counted(account.statuses)}"

    def _failures(self) -> Iterator[str]:
        messages = {record.reason: record.message for record in self.account.failed.values()}
        for reason, n in self.account.failures.most_common():
            yield f"failed: {reason} {n} ({messages[reason]})"
        if self.account.failed:
            yield "failed requests are no answers and are never scored; the same command asks for them again"
        for conflict in self.account.conflicts[:_SHOWN]:
            yield f"not saved: {conflict}"

    def _effort(self) -> Iterator[str]:
        account = self.account
        if account.n_counted:
            cost = "" if account.cost is None else f"; cost {account.cost:.4g} {account.currency}"
            yield (
                f"tokens: {account.tokens_in:,} in, {account.tokens_out:,} out, of them {account.tokens_reasoning:,} "
                f"reasoning{cost}"
            )
        if account.n_requests:
            yield (
                f"{counted(account.n_requests, 'request')} in {account.seconds:.1f} s: "
                f"{account.rate(account.n_requests):.1f} requests/s, {account.rate(account.tokens_out):.0f} tokens/s"
            )

    def _so_far(self) -> Iterator[str]:
        """What the whole run took, where that is more than what this command says."""
        tokens_in, tokens_out = (sum(filter(None, pair)) for pair in self._tokens)
        if (tokens_in, tokens_out) == (self.account.tokens_in, self.account.tokens_out):
            return
        cost = "".join(f"; cost {amount:.4g} {currency}" for currency, amount in self.cost.items())
        lost = "".join(
            f", {amount:.4g} {currency} of it for failed requests" for currency, amount in self.lost.cost.items()
        )
        answers = counted(self.usage.n_responses, "answer")
        yield f"run so far: {answers}; tokens: {tokens_in:,} in, {tokens_out:,} out{cost}{lost}"

    @property
    def _tokens(self) -> tuple[tuple[int | None, int | None], ...]:
        """Tokens in and out of the run, each those of answers and those of failed requests."""
        return (self.usage.tokens_in, self.lost.tokens_in), (self.usage.tokens_out, self.lost.tokens_out)

    def _cautions(self) -> Iterator[str]:
        if self.usage.served_models:
            yield f"served as {_counted(self.usage.served_models)}"
        for what, found in (("model", self.usage.served_models), ("fingerprint", self.usage.fingerprints)):
            if len(found) > 1:
                yield f"note: the run's answers name more than one {what}, so that they may differ: {_counted(found)}"
        lacking = without_program(self.health.statuses)
        if lacking:
            yield f"note: answers of the run without a program, which count as not solved: {_counted(lacking)}"
        for reason in self.health.reasons:
            yield f"note: the run is unhealthy: {reason}"

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            **self.account.as_dict(),
            "stopped": None
            if self.stop is None
            else {"why": self.stop.why.name.lower(), "message": self.stop.message, "hint": self.stop.hint},
            "run": {
                "answers": self.usage.n_responses,
                "served_models": dict(self.usage.served_models),
                "fingerprints": dict(self.usage.fingerprints),
                "tokens_in": self.usage.tokens_in,
                "tokens_out": self.usage.tokens_out,
                "tokens_reasoning": self.usage.tokens_reasoning,
                "cost": self.cost,
                "failed_requests": {
                    "tokens_in": self.lost.tokens_in,
                    "tokens_out": self.lost.tokens_out,
                    "cost": self.lost.cost,
                },
            },
            "health": self.health.as_dict(),
        }


def close(session: Session, run_id: int | None, account: Account, stop: Stop | None) -> Closing:
    """The end of a command; ``run_id`` is None for a run that nothing was saved of."""
    ids = [] if run_id is None else [run_id]
    usage = usage_of_runs(session, ids).get(run_id or 0, RunUsage(0))
    failures = count_failures(session, ids).get(run_id or 0, Counter())
    lost = usage_of_failures(session, ids).get(run_id or 0, FailedUsage())
    return Closing(account, stop, usage, RunHealth(usage.statuses, failures), lost)


def _counted(found: Mapping[str, int]) -> str:
    """Names with their numbers, the most frequent first, as many as can be read."""
    named = Counter(found).most_common()
    shown = ", ".join(f"{name} {n}" for name, n in named[:_SHOWN])
    return shown + (f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else "")
