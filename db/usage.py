"""What runs have used: tokens, money, time, and which models and endpoints answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from db import tables as t
from db.failed_requests import sum_of
from db.sql import is_one_of

_said = t.response.c


@dataclass(frozen=True)
class RunUsage:
    """The answers of one run. Sums are over the answers that state a number: ``n_counted`` state tokens in or out,
    ``n_priced`` a cost; tokens are None where no answer states them. ``cost`` is by currency.

    ``latency_s`` is the median. ``first_at`` and ``last_at`` are the first and the last instant of a request.
    """

    n_responses: int
    statuses: Counter[str] = field(default_factory=Counter)
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost: dict[str, float] = field(default_factory=dict)
    served_models: Counter[str] = field(default_factory=Counter)
    fingerprints: Counter[str] = field(default_factory=Counter)
    endpoints: Counter[str] = field(default_factory=Counter)
    first_at: datetime | None = None
    last_at: datetime | None = None
    latency_s: float | None = None
    n_counted: int = 0
    n_priced: int = 0


def usage_of_runs(session: Session, run_ids: Iterable[int]) -> dict[int, RunUsage]:
    """By run, what its answers have used; runs without answers are left out."""
    wanted = list(run_ids)
    kinds = (_said.run_id, _said.status, _said.served_model, _said.fingerprint, _said.endpoint, _said.currency)
    query = (
        select(
            *kinds,
            func.count().label("n"),
            func.count(func.coalesce(_said.tokens_in, _said.tokens_out)).label("n_counted"),
            func.count(_said.cost).label("n_priced"),
            func.sum(_said.tokens_in).label("tokens_in"),
            func.sum(_said.tokens_out).label("tokens_out"),
            func.sum(_said.tokens_reasoning).label("tokens_reasoning"),
            func.sum(_said.cost).label("cost"),
            func.min(_said.requested_at).label("first_at"),
            func.max(_said.requested_at).label("last_at"),
        )
        .where(is_one_of(_said.run_id, wanted))
        .group_by(*kinds)
    )
    groups: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in session.execute(query):
        groups[row.run_id].append(row)
    latencies = _latencies(session, wanted)
    return {run_id: _usage(rows, latencies.get(run_id)) for run_id, rows in groups.items()}


def _latencies(session: Session, run_ids: list[int]) -> dict[int, float]:
    """The median of each run that has any."""
    query = select(_said.run_id, _said.latency_s).where(is_one_of(_said.run_id, run_ids), _said.latency_s.is_not(None))
    found: defaultdict[int, list[float]] = defaultdict(list)
    for run_id, latency_s in session.execute(query):
        found[run_id].append(latency_s)
    return {run_id: median(values) for run_id, values in found.items()}


def _usage(rows: list[Row[Any]], latency_s: float | None) -> RunUsage:
    cost: Counter[str] = Counter()
    for row in rows:
        if row.currency is not None:
            cost[row.currency] += row.cost
    return RunUsage(
        n_responses=sum(row.n for row in rows),
        statuses=_counted(rows, "status"),
        tokens_in=_sum(rows, "tokens_in"),
        tokens_out=_sum(rows, "tokens_out"),
        tokens_reasoning=_sum(rows, "tokens_reasoning"),
        cost=dict(cost),
        served_models=_counted(rows, "served_model"),
        fingerprints=_counted(rows, "fingerprint"),
        endpoints=_counted(rows, "endpoint"),
        first_at=min((row.first_at for row in rows if row.first_at is not None), default=None),
        last_at=max((row.last_at for row in rows if row.last_at is not None), default=None),
        latency_s=latency_s,
        n_counted=sum(row.n_counted for row in rows),
        n_priced=sum(row.n_priced for row in rows),
    )


def _counted(rows: list[Row[Any]], column: str) -> Counter[str]:
    """How many answers have each value of a column that they have a value in."""
    found: Counter[str] = Counter()
    for row in rows:
        if row._mapping[column]:
            found[row._mapping[column]] += row.n
    return found


def _sum(rows: list[Row[Any]], column: str) -> int | None:
    return sum_of(row._mapping[column] for row in rows)
