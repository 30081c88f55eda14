"""Which problems a model is asked: those it is eligible for under some settings, as long as they can be asked.

Every problem that the settings admit is chosen or counted under its one reason; what is asked is what will be scored.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from db.asked import load_askable
from db.records import ProblemKey
from eval.basis import basis_of
from eval.eligibility import NotScored
from eval.evaluation import RunOutcomes
from eval.generate.conditions import Asking
from eval.generate.questions import form_of
from eval.models import Registry
from eval.outcomes import load_problem_facts
from eval.scenarios import Asked, AskingContext, task_form
from eval.settings import Settings
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

    ``asked`` is what is asked of them, problem by problem: the problem itself, or questions on it. ``not_scored`` says
    why the model is not asked at all; None for one that is. ``cautions`` are those of its row.
    """

    problem_ids: tuple[int, ...]
    left_out: dict[str, int]
    not_scored: str | None = None
    cautions: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()


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
    ones each time, from the whole window. Raises what the questions of the scenario raise.
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
    context = AskingContext(model, registry, asking)
    asked = _asked(session, [problem.problem_id for problem in eligible], context)
    left_out.update(one for one in asked.values() if isinstance(one, str))
    chosen = [problem for problem in eligible if not isinstance(asked[problem.problem_id], str)]
    kept = _drawn(chosen, limit)
    if len(kept) < len(chosen):
        left_out[BEYOND_LIMIT] = len(chosen) - len(kept)
    kept.sort(key=lambda problem: (problem.exposed_at is None, problem.exposed_at or now, str(_key(problem))))
    by_count = dict(sorted(left_out.items(), key=lambda item: (-item[1], item[0])))
    ids = tuple(problem.problem_id for problem in kept)
    questions = tuple(one for number in ids for one in asked[number] if isinstance(one, Asked))
    return Choice(ids, by_count, cautions=basis.cautions, asked=questions)


def _asked(session: Session, problem_ids: Sequence[int], context: AskingContext) -> dict[int, tuple[Asked, ...] | str]:
    """What is asked of each problem, or why it is not asked."""
    asking = context.asking
    form_of_scenario = task_form(asking.prompt.scenario)
    found: dict[int, tuple[Asked, ...] | str] = {}
    for start in range(0, len(problem_ids), AT_ONCE):
        problems = load_askable(session, problem_ids[start : start + AT_ONCE])
        asked = form_of_scenario.questions(session, problems, context)
        for problem in problems:
            form, what = form_of(asking.question(problem)), asked[problem.problem_id]
            if not isinstance(what, str) and form not in asking.prompt.forms:
                what = f"the prompt {asking.prompt} has no text for the form {form}"
            found[problem.problem_id] = what
    return found


def _drawn(problems: list[ProblemFacts], limit: int | None) -> list[ProblemFacts]:
    if limit is None or len(problems) <= limit:
        return problems
    return sorted(problems, key=lambda problem: hashlib.sha256(str(_key(problem)).encode()).digest())[:limit]


def _key(problem: ProblemFacts) -> ProblemKey:
    return ProblemKey(problem.platform, problem.native_id)
