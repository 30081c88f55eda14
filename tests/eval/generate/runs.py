"""A store with problems to ask about, and a run that is asked for from it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from db.completions import RunRecord
from db.engine import Store, open_store
from db.problems import problem_ids, save_problem
from db.records import IoKind, Place, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from db.responses import count_failures, places_answered
from eval.generate.account import Account
from eval.generate.asking import Asker, Stop, Task
from eval.generate.conditions import Asking
from eval.generate.plan import Budget, in_rounds
from eval.generate.prices import Price, PriceTable
from eval.generate.prompts import load_prompt
from eval.generate.sampling import Sampling
from tests.eval.generate.asking import SkippingClock, endpoint
from tests.eval.generate.server import EndpointServer

NOW = datetime(2026, 2, 1, tzinfo=UTC)
ASKING = Asking(load_prompt("plain", "code_generation"), "python3")
SEEDED = Sampling(seed=0)
"""Each sample has a seed of its own, by which the server tells samples apart."""
PRICES = PriceTable("USD", {"good": Price(1000.0, 1000.0)})
"""An answer of the server takes 120 tokens in and 80 out: 0.2 USD."""
CHEAP_PROMPTS = PriceTable("USD", {"good": Price(0.001, 1000.0)})


def problem(number: int, behave: str = "") -> ProblemRecord:
    """An invented problem; ``behave`` is what the local server does when it is asked about."""
    marked = f" [[behave: {behave}]]" if behave else ""
    return ProblemRecord(
        ProblemKey("nova", f"n{number:04}"),
        f"Problem {number}",
        (),
        "nova",
        statement=f"Add two numbers, and forget {number}.{marked}",
        language="en",
        suite=SuiteRecord((TestCaseRecord("1", b"1 2\n", b"3\n", TestOrigin.SAMPLE),), IoKind.STDIN),
    )


@dataclass
class Generated:
    """A run of one model name (which says what the server does) on the problems of a store."""

    store: Store
    server: EndpointServer
    ids: list[int]
    model: str = "good"
    accounts: list[Account] = field(default_factory=list)

    @property
    def run(self) -> RunRecord:
        return RunRecord("nova-1", "generate", ASKING.conditions(self.model, SEEDED))

    @property
    def run_id(self) -> int | None:
        from db.completions import list_runs

        with self.store.read() as session:
            found = [one.run_id for one in list_runs(session) if one.conditions == self.run.conditions]
        return found[0] if found else None

    @property
    def answered(self) -> set[Place]:
        if self.run_id is None:
            return set()
        with self.store.read() as session:
            return places_answered(session, self.run_id)

    @property
    def failures(self) -> Counter[str]:
        with self.store.read() as session:
            return count_failures(session, [self.run_id or 0]).get(self.run_id or 0, Counter())

    def missing(self, n_samples: int) -> list[Place]:
        places = (Place(problem_id, 0, sample) for problem_id in self.ids for sample in range(n_samples))
        answered = self.answered
        return in_rounds(place for place in places if place not in answered)

    async def asking(
        self,
        account: Account,
        places: Sequence[Place],
        budget: Budget | None = None,
        on_done: Callable[[Account], None] | None = None,
        **task: Any,
    ) -> Stop | None:
        """Ask for these places on a clock on which nobody waits; ``task`` are fields of ``Task``."""
        options: dict[str, Any] = {"concurrency": 4, "sampling": SEEDED, **task}
        clock = SkippingClock()
        async with endpoint(self.server, clock, attempts=2) as open_endpoint:
            asker = Asker(
                self.store,
                open_endpoint,
                Task(self.run, ASKING, self.model, **options),
                account,
                run_id=self.run_id,
                clock=clock,
                budget=budget,
                on_done=on_done,
            )
            return await asker.ask(places)

    def ask(
        self, n_samples: int = 1, *, places: Sequence[Place] | None = None, budget: Budget | None = None, **task: Any
    ) -> Stop | None:
        """Ask for what is missing, as a command does; the account is the last of ``accounts``."""
        wanted = self.missing(n_samples) if places is None else list(places)
        account = Account(len(wanted), "USD" if task.get("prices") else None)
        self.accounts.append(account)
        return asyncio.run(self.asking(account, wanted, budget, **task))

    @property
    def account(self) -> Account:
        return self.accounts[-1]


@contextmanager
def generated(folder: Path, behaviours: Sequence[str], model: str = "good") -> Iterator[Generated]:
    """A new store with one problem for each of these behaviours ("": what the model's name says)."""
    with EndpointServer() as server, open_store(str(folder / "store.db")) as store:
        records = [problem(number, behave) for number, behave in enumerate(behaviours)]
        with store.write() as session:
            for record in records:
                save_problem(session, record, now=NOW)
            ids = problem_ids(session, (record.key for record in records))
        yield Generated(store, server, [ids[record.key] for record in records], model)
