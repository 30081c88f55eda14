"""Code generation: a program that solves the problem, judged by its tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from db.judgements import INTERNAL_ERROR, load_verdicts
from db.records import CODE_GENERATION, AnswerStatus
from eval.evaluation import Outcome
from eval.generate.questions import Question, not_asked
from eval.scenarios import Asked, AskingContext

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.asked import AskableProblem
    from db.completions import RunSummary
    from db.questions import QuestionRecord
    from db.responses import FailureRecord, ResponseRecord
    from eval.generate.answers import Exchange
    from eval.generate.conditions import Asking
    from eval.generate.prompts import Message
    from eval.generate.replies import Reply

NAME: Final = CODE_GENERATION
IS_JUDGED: Final = True

ACCEPTED: Final = "accepted"
NO_ENVIRONMENT: Final = -1
_OLDER_STATEMENT: Final = "older_statement"
_WITHOUT_PROGRAM: Final = tuple(str(status) for status in AnswerStatus if not status.has_program)


def questions(
    session: Session, problems: Sequence[AskableProblem], context: AskingContext
) -> dict[int, tuple[Asked, ...] | str]:
    """The problems themselves."""
    language = context.asking.language
    return {one.problem_id: not_asked(one, language) or (Asked(one.problem_id),) for one in problems}


def question(problem: AskableProblem, question_id: int, record: QuestionRecord) -> Question:
    """There is none beyond the problem itself: raises ``LookupError``."""
    raise LookupError(f"code generation has no question {question_id} on {problem.key}")


def record(
    asking: Asking,
    question: Question,
    sample_index: int,
    messages: Sequence[Message],
    reply: Reply,
    exchange: Exchange,
) -> ResponseRecord | FailureRecord:
    """The program of a reply as a completion."""
    from eval.generate.answers import record_program

    return record_program(asking, question, sample_index, messages, reply, exchange)


def outcomes(
    session: Session, environment_id: int | None, runs: Sequence[RunSummary]
) -> dict[int, tuple[Outcome, ...]]:
    """The verdicts of each run, counted by problem."""
    counts: dict[int, dict[int, Counter[str]]] = {run.run_id: defaultdict(Counter) for run in runs}
    environment = NO_ENVIRONMENT if environment_id is None else environment_id
    for row in load_verdicts(session, environment, list(counts)):
        counts[row.run_id][row.problem_id][_OLDER_STATEMENT if row.is_older else row.verdict or ""] += 1
    return {
        run_id: tuple(_outcome(problem_id, verdicts) for problem_id, verdicts in of_run.items())
        for run_id, of_run in counts.items()
    }


def _outcome(problem_id: int, verdicts: Counter[str]) -> Outcome:
    """``verdicts`` counts samples by verdict; "" are those without one."""
    waiting, internal, older = verdicts[""], verdicts[INTERNAL_ERROR], verdicts[_OLDER_STATEMENT]
    judged = verdicts.total() - waiting - internal - older
    return Outcome(
        problem_id,
        judged,
        verdicts[ACCEPTED],
        n_waiting=waiting,
        n_internal=internal,
        n_older=older,
        statuses={status: verdicts[status] for status in _WITHOUT_PROGRAM if verdicts[status]},
    )
