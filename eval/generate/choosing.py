"""Which problems a model is asked: those it is eligible for under some settings, as long as they can be asked.

Every problem that the settings admit is chosen or counted under its one reason; what is asked is what will be scored.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from db.asked import load_askable
from db.records import Place, ProblemKey
from eval.eligibility import NotScored
from eval.evaluation import RunOutcomes, Settings, basis_of
from eval.generate.conditions import Asking
from eval.generate.questions import form_of, not_asked
from eval.models import Registry
from eval.outcomes import load_problem_facts
from eval.window import ProblemFacts, Reason, classify

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

AT_ONCE: Final = 100
"""So many statements are held at a time."""
BEYOND_LIMIT: Final = "beyond the limit"
OTHER_PROBLEM: Final = "not among the problems named"


@dataclass(frozen=True)
class Choice:
    """The problems to ask, oldest first, and how many of the others were left out for which reason.

    ``not_scored`` says why the model is not asked at all; None for one that is. ``cautions`` are those of its row.
    """

    problem_ids: tuple[int, ...]
    left_out: dict[str, int]
    not_scored: str | None = None
    cautions: tuple[str, ...] = ()


def choose_problems(  # noqa: PLR0913 - all that decides about a choice, by keyword
    session: Session,
    model: str,
    registry: Registry,
    settings: Settings,
    asking: Asking,
    *,
    now: datetime,
    only: Collection[ProblemKey] = (),
    include_untested: bool = False,
    limit: int | None = None,
) -> Choice:
    """The problems that a run of this model is asked under these settings.

    ``only`` narrows them to some problems, ``include_untested`` takes those without tests, too: nothing is scored on
    them before they have some. Of more than ``limit`` problems so many are drawn by a digest of their keys: the same
    ones each time, from the whole window.
    """
    basis = basis_of(RunOutcomes(model, ()), registry, settings, now)
    if isinstance(basis, NotScored):
        return Choice((), {}, basis.reason)
    left_out: Counter[str] = Counter()
    eligible: list[ProblemFacts] = []
    for problem in filter(settings.admits, load_problem_facts(session)):
        reason = classify(problem, basis.window, include_flagged=settings.include_flagged)
        if only and _key(problem) not in only:
            reason = OTHER_PROBLEM
        elif reason is None and problem.n_tests == 0 and not include_untested:
            reason = Reason.NO_TESTS
        if reason is None:
            eligible.append(problem)
        else:
            left_out[str(reason)] += 1
    reasons = _reasons(session, [problem.problem_id for problem in eligible], asking)
    left_out.update(reasons.values())
    chosen = [problem for problem in eligible if problem.problem_id not in reasons]
    kept = _drawn(chosen, limit)
    if len(kept) < len(chosen):
        left_out[BEYOND_LIMIT] = len(chosen) - len(kept)
    kept.sort(key=lambda problem: (problem.exposed_at is None, problem.exposed_at or now, str(_key(problem))))
    by_count = dict(sorted(left_out.items(), key=lambda item: (-item[1], item[0])))
    return Choice(tuple(problem.problem_id for problem in kept), by_count, cautions=basis.cautions)


def missing_places(problem_ids: Iterable[int], n_samples: int, answered: Collection[Place]) -> Iterator[Place]:
    """The places of a run that still lack an answer, problem by problem."""
    places = (Place(problem_id, 0, sample) for problem_id in problem_ids for sample in range(n_samples))
    return (place for place in places if place not in answered)


def _reasons(session: Session, problem_ids: Sequence[int], asking: Asking) -> dict[int, str]:
    """Why some of the problems are not asked, by their ids."""
    found: dict[int, str] = {}
    for start in range(0, len(problem_ids), AT_ONCE):
        for problem in load_askable(session, problem_ids[start : start + AT_ONCE]):
            reason = not_asked(problem, asking.language)
            form = form_of(asking.question(problem))
            if reason is None and form not in asking.prompt.forms:
                reason = f"the prompt {asking.prompt} has no text for the form {form}"
            if reason is not None:
                found[problem.problem_id] = reason
    return found


def _drawn(problems: list[ProblemFacts], limit: int | None) -> list[ProblemFacts]:
    if limit is None or len(problems) <= limit:
        return problems
    return sorted(problems, key=lambda problem: hashlib.sha256(str(_key(problem)).encode()).digest())[:limit]


def _key(problem: ProblemFacts) -> ProblemKey:
    return ProblemKey(problem.platform, problem.native_id)
