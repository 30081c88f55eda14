"""Self-repair, one round: each failing program of a run is shown to its own model with the first test that it failed.

The condition ``repairs`` names the run that is repaired, by the first digits of its digest. Samples that pass are not
asked, nor are those without a program; a sample solves its problem when it passed before, or its repair does. Answers
stand at the index of the sample that they repair. A problem of which a failing sample has no judged repair is left out
whole: counting its other samples alone would favour it. Interactive problems are left out, since a test is no
conversation. A run without the condition (an import) holds all programs as they were after the repair.

Scores are of a model against itself before; they are never set beside those of code generation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from db.completions import RunRecord, RunSummary, list_runs
from db.environments import latest_environment
from db.judged_programs import JudgedProgram, load_judged_programs
from db.judgements import INTERNAL_ERROR, VerdictRow, load_verdicts
from db.problems import list_problems
from db.questions import QuestionRecord
from db.records import WITHOUT_PROGRAM, IoKind
from db.test_texts import load_named_tests
from eval.evaluation import Outcome, Repairs
from eval.generate.questions import FailedTest, Question, not_asked, shortened
from eval.scenarios import Asked, AskingContext, code_generation, scenario_of
from eval.scenarios.code_generation import ACCEPTED, NO_ENVIRONMENT, record

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.asked import AskableProblem

__all__ = [
    "IS_JUDGED",
    "NAME",
    "ONCE",
    "BaseUnknown",
    "outcomes",
    "question",
    "questions",
    "record",
    "repaired",
    "repairs",
]

NAME: Final = "self_repair"
IS_JUDGED: Final = True
ONCE: Final = True
DIGITS: Final = 12
"""So many digits of a run's digest name it in a condition."""


class BaseUnknown(LookupError):
    """It is not clear which run is to be repaired. ``message`` says what, ``hint`` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def repairs(session: Session, model: str, label: str | None) -> str:
    """How the condition names the run of a model with this label, or (None) its only one. Raises ``BaseUnknown``."""
    return _digits(_base_run(session, model, label))


def _digits(run: RunSummary) -> str:
    return RunRecord(run.model, run.label, run.conditions).digest[:DIGITS]


def _base_run(session: Session, model: str, label: str | None) -> RunSummary:
    runs = [
        run
        for run in list_runs(session, [model])
        if scenario_of(run.conditions) == code_generation.NAME and run.n_completions
    ]
    named = [run for run in runs if label is None or run.label == label]
    if len(named) == 1:
        return named[0]
    there = ", ".join(sorted({f'"{run.label}"' for run in runs}))
    if not runs:
        raise BaseUnknown(f"{model} has no run to repair", "generate or import one, and judge it")
    if not named:
        raise BaseUnknown(f'--repairs: {model} has no run "{label}"', f"its runs are {there}")
    if label is None:
        raise BaseUnknown(f"{model} has {len(runs)} runs", f"say which is repaired: --repairs LABEL, one of {there}")
    raise BaseUnknown(
        f'--repairs: {len(named)} runs of {model} are called "{label}" and differ in their conditions',
        "generate the one to repair under a --run label of its own",
    )


def repaired(session: Session, runs: Sequence[RunSummary]) -> dict[int, RunSummary]:
    """By run, the run that it repairs, where the store has it."""
    wanted = {run.run_id: str(run.conditions["repairs"]) for run in runs if "repairs" in run.conditions}
    if not wanted:
        return {}
    there = {_digits(run): run for run in list_runs(session, {run.model for run in runs})}
    return {run_id: there[digits] for run_id, digits in wanted.items() if digits in there}


def questions(
    session: Session, problems: Sequence[AskableProblem], context: AskingContext
) -> dict[int, tuple[Asked, ...] | str]:
    """One question for each failing program of the run that is repaired, with the samples that it stands for, or why a
    problem has none. Raises ``BaseUnknown``."""
    base, language = _base_of(session, context), context.asking.language
    environment = latest_environment(session, [base.model])
    environment_id = NO_ENVIRONMENT if environment is None else environment.environment_id
    samples: defaultdict[int, list[JudgedProgram]] = defaultdict(list)
    for sample in load_judged_programs(session, base.run_id, environment_id, [one.problem_id for one in problems]):
        samples[sample.problem_id].append(sample)
    reasons = {
        one.problem_id: not_asked(one, language) or _why_not_repaired(samples[one.problem_id]) for one in problems
    }
    failing = [one for problem_id, reason in reasons.items() if reason is None for one in samples[problem_id]]
    tests = load_named_tests(session, {key for one in failing if (key := _failed_at(one)) is not None})
    asked: defaultdict[int, dict[QuestionRecord, list[int]]] = defaultdict(dict)
    for sample in failing:
        if _is_failing(sample):
            made = _question_on(sample, tests)
            asked[sample.problem_id].setdefault(made, []).append(sample.sample_index)
    return {
        problem_id: reason
        or tuple(Asked(problem_id, made, tuple(indices)) for made, indices in asked[problem_id].items())
        for problem_id, reason in reasons.items()
    }


def _base_of(session: Session, context: AskingContext) -> RunSummary:
    for run in list_runs(session, [context.model]):
        if _digits(run) == context.asking.repairs:
            return run
    raise BaseUnknown("the run that is repaired is not in the store", "name it with --repairs LABEL")


def _why_not_repaired(samples: Sequence[JudgedProgram]) -> str | None:
    if not samples:
        return "not in the run that is repaired"
    if any(one.is_older for one in samples):
        return "the run that is repaired answers an older statement"
    if any(not _is_final(one.status, one.verdict) for one in samples):
        return "not judged in the run that is repaired"
    if not any(map(_is_failing, samples)):
        failed = any(one.verdict != ACCEPTED for one in samples)
        return "no failing sample has a program to repair" if failed else "all samples pass"
    return None


def _is_final(status: str | None, verdict: str | None) -> bool:
    return status in WITHOUT_PROGRAM or verdict not in (None, INTERNAL_ERROR)


def _is_failing(sample: JudgedProgram) -> bool:
    """Whether a judged sample has a program that fails."""
    return sample.status not in WITHOUT_PROGRAM and sample.verdict != ACCEPTED


def _failed_at(sample: JudgedProgram) -> tuple[int, str] | None:
    failed = next((test for test in sample.tests if test.verdict != ACCEPTED), None)
    return None if failed is None else (sample.problem_id, failed.name)


def _question_on(sample: JudgedProgram, tests: Mapping[tuple[int, str], tuple[str, str]]) -> QuestionRecord:
    failed = next((test for test in sample.tests if test.verdict != ACCEPTED), None)
    given, expected = tests.get((sample.problem_id, failed.name), ("", None)) if failed else ("", None)
    shown = FailedTest(
        verdict=str(sample.verdict),
        input=shortened(given),
        expected=None if expected is None else shortened(expected),
        error=shortened(failed.detail) or None if failed else None,
    )
    return QuestionRecord(
        sample.problem_id, NAME, language=sample.language, program=sample.code, feedback=shown.as_text()
    )


def question(problem: AskableProblem, question_id: int, record: QuestionRecord) -> Question:
    """A question as prompts take it."""
    return Question(
        problem,
        NAME,
        question_id,
        program=record.program or "",
        feedback=record.feedback or "",
        language=record.language or "",
    )


def outcomes(
    session: Session, environment_id: int | None, runs: Sequence[RunSummary]
) -> dict[int, tuple[Outcome, ...]]:
    """What became of each sample, before and after. Of a run without the condition all programs are those after."""
    bases = repaired(session, runs)
    found = code_generation.outcomes(session, environment_id, [run for run in runs if "repairs" not in run.conditions])
    environment = NO_ENVIRONMENT if environment_id is None else environment_id
    problems = list_problems(session) if bases else ()
    interactive = {one.problem_id for one in problems if one.io_kind == IoKind.INTERACTIVE}
    for run in runs:
        if "repairs" in run.conditions and run.run_id not in bases:
            found[run.run_id] = ()  # the run that it repairs is gone
    for run_id, base in bases.items():
        before, after = (load_verdicts(session, environment, [one]) for one in (base.run_id, run_id))
        found[run_id] = tuple(_outcomes_of(before, after, interactive))
    return found


def _outcomes_of(before: Iterable[VerdictRow], after: Iterable[VerdictRow], interactive: set[int]) -> Iterable[Outcome]:
    samples: defaultdict[int, list[VerdictRow]] = defaultdict(list)
    for row in before:
        if row.problem_id not in interactive:
            samples[row.problem_id].append(row)
    answers = {(row.problem_id, row.sample_index): row for row in after}
    for problem_id, rows in samples.items():
        yield _outcome(problem_id, rows, answers)


def _outcome(problem_id: int, rows: Sequence[VerdictRow], after: Mapping[tuple[int, int], VerdictRow]) -> Outcome:
    """What became of a problem's samples. No sample counts where one of them, or the repair of one, is not judged."""
    unjudged = _unjudged(rows)
    if unjudged is not None:
        return replace(unjudged, problem_id=problem_id)
    n_before = sum(row.verdict == ACCEPTED for row in rows)
    failing = [row for row in rows if row.verdict != ACCEPTED and row.verdict not in WITHOUT_PROGRAM]
    repairs = Repairs(n_before, len(failing))
    places = [(problem_id, row.sample_index) for row in failing]
    if any(place not in after for place in places):
        return Outcome(problem_id, 0, 0, repairs=repairs)
    answers = [after[place] for place in places]
    unjudged = _unjudged(answers)
    if unjudged is not None:
        return replace(unjudged, problem_id=problem_id, repairs=repairs)
    verdicts = Counter(str(one.verdict) for one in answers)
    statuses = {status: n for status, n in verdicts.items() if status in WITHOUT_PROGRAM}
    return Outcome(problem_id, len(rows), n_before + verdicts[ACCEPTED], repairs=repairs, statuses=statuses)


def _unjudged(rows: Sequence[VerdictRow]) -> Outcome | None:
    """What is wrong with the verdicts, in numbers; None where all are final and of the current statement."""
    found = Outcome(
        0,
        0,
        0,
        n_waiting=sum(row.verdict is None for row in rows),
        n_internal=sum(row.verdict == INTERNAL_ERROR for row in rows),
        n_older=sum(row.is_older for row in rows),
    )
    return found if found.n_answers else None
