"""Output prediction: what a right program prints, or returns, for the input of a test that the statement does not show.

Asked are up to three tests of a problem, the first that are no samples, have other inputs than all samples, and are
short: an input of at most 400 bytes, an output of at most 200. Problems with a checker, or of which only samples are
known, are not asked. An answer is held against the test's output by the problem's own comparison, the value of a call
by value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from db.questions import QuestionRecord
from eval.generate.questions import Question, not_asked
from eval.scenarios import Asked, AskingContext, _told
from eval.scenarios._told import record_told as record

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.asked import AskableProblem
    from db.completions import RunSummary
    from db.test_texts import ShortTests
    from eval.evaluation import Outcome

__all__ = ["MAX_K", "NAME", "outcomes", "question", "questions", "record"]

NAME: Final = "output_prediction"
MAX_K: Final = 1


def questions(
    session: Session, problems: Sequence[AskableProblem], context: AskingContext
) -> dict[int, tuple[Asked, ...] | str]:
    """One question for each test, or why a problem has none."""
    suites = _told.short_tests(session, [one.problem_id for one in problems])
    return {one.problem_id: not_asked(one) or _of_problem(one, suites.get(one.problem_id)) for one in problems}


def _of_problem(problem: AskableProblem, suite: ShortTests | None) -> tuple[Asked, ...] | str:
    reason = _told.why_not_told(suite, dict(problem.flags))
    if reason is not None or suite is None:
        return reason or ""
    if not suite.n_hidden:
        return "no tests beyond the samples, whose outputs stand in the statement"
    shown = {_words(sample.input) for sample in problem.samples}
    shown |= {_words(test.input) for test in suite.tests if test.is_sample}
    asked: dict[tuple[str, ...], Asked] = {}
    for test in suite.tests:
        if _words(test.input) not in shown:
            made = QuestionRecord(problem.problem_id, NAME, expected=test.expected, input=test.input)
            asked.setdefault(_words(test.input), Asked(problem.problem_id, made))
    found = tuple(asked.values())[: _told.MAX_TESTS]
    return found or _told.NONE_SHORT


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def question(problem: AskableProblem, question_id: int, record: QuestionRecord) -> Question:
    """A question as prompts take it."""
    return Question(problem, NAME, question_id, input=record.input or "")


def outcomes(
    session: Session, environment_id: int | None, runs: Sequence[RunSummary]
) -> dict[int, tuple[Outcome, ...]]:
    """Right answers by problem; nothing has to be run for it."""
    return _told.told_outcomes(session, NAME, runs, _is_still_asked)


def _is_still_asked(record: QuestionRecord, suite: ShortTests) -> bool:
    return any((test.input, test.expected) == (record.input, record.expected) for test in suite.tests)
