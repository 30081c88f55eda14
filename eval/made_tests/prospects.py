"""Which problems of the store need made tests, and what can be said of each before any program is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from db.records import ProgramRole
from db.summaries import ProblemSummary, list_problems
from eval.made_tests.building import BuildSettings, Plan, prepare
from eval.made_tests.gate import CannotBuild
from eval.made_tests.gathering import Gathered, Gatherer
from eval.made_tests.voters import as_voter, is_quorum

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


@dataclass(frozen=True)
class Prospect:
    """What can be said of a problem before any program is run: its plan, or the error that keeps it from having one.

    ``n_references`` are known to be right; without any, completions of ``n_models`` models of ``n_families`` families
    can vote, and ``can_decide`` if they agree.
    """

    problem_id: int
    key: str
    plan: Plan | None
    refusal: CannotBuild | None
    n_references: int
    n_models: int
    n_families: int
    can_decide: bool

    @property
    def has_grammar(self) -> bool:
        """Whether inputs can be drawn from the statement itself."""
        return self.plan is not None and self.plan.source.grammar is not None


def problems_in_need(
    session: Session,
    *,
    platforms: Iterable[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    with_tests: bool = False,
) -> list[int]:
    """The ids of problems that have samples alone or tests that were made here, newest first, those without a date
    last; ``with_tests``: those with tests from elsewhere, too. Withdrawn problems are left out.

    The window is half-open; with one, problems without a date are left out.
    """
    names = {name.casefold() for name in platforms}

    def is_wanted(one: ProblemSummary) -> bool:
        if one.suite_id is None or one.status.startswith("withdrawn"):
            return False
        if names and one.key.platform.casefold() not in names:
            return False
        if not _is_within(one.exposed_at, since, until):
            return False
        return with_tests or one.samples_only or one.strength is not None

    found = [one for one in list_problems(session) if is_wanted(one)]
    found.sort(key=lambda one: (one.exposed_at is None, -(one.exposed_at.timestamp() if one.exposed_at else 0.0)))
    return [one.problem_id for one in found]


def _is_within(instant: datetime | None, since: datetime | None, until: datetime | None) -> bool:
    if instant is None:
        return since is None and until is None
    return (since is None or instant >= since) and (until is None or instant < until)


def look(
    session: Session, gatherer: Gatherer, problem_ids: Iterable[int], settings: BuildSettings
) -> Iterator[Prospect]:
    """What can be said of each problem without running anything."""
    for problem_id in problem_ids:
        gathered = gatherer.gather(session, problem_id)
        plan: Plan | None = None
        refusal: CannotBuild | None = None
        try:
            plan = plan_of(gathered, settings)
        except CannotBuild as error:
            refusal = error
        completions = gathered.material.having(None)
        n_references = len(gathered.material.having(ProgramRole.ACCEPTED))
        yield Prospect(
            problem_id,
            gathered.key,
            plan,
            refusal,
            n_references,
            len({f"{one.model}".casefold() for one in completions}),
            len({as_voter(one).bloc.casefold() for one in completions}),
            bool(n_references) or is_quorum(completions),
        )


def plan_of(gathered: Gathered, settings: BuildSettings) -> Plan:
    """What is to be done for a problem, or CannotBuild: why it can have no made tests."""
    gathered.require_one_answer()
    return prepare(gathered.material, settings)


def kind_of(message: str) -> str:
    """What messages have in common that differ in names and numbers."""
    return re.sub(r"\d+", "N", message.partition(":")[0])
