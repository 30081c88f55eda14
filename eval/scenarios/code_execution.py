"""Code execution: what a program that is known to be right prints, or returns, for the input of one of its tests.

The program is in Python and has at most 2,000 bytes. Reference solutions come first; then completions of code
generation that are accepted, of models that are surely of another family than the one that is asked (other providers
all the way down to the models whose data they inherit): no model is asked about its own code. Which program it was
stands with the question. Tests are up to three short ones, as for output prediction. Samples are among them, since
neither statement nor tests are shown, and the prompt is the same for all models.

Of call-based problems an expression that makes the call is shown; those whose arguments or result are no plain values
(nodes, changes in place, classes) are not asked. The answer is compared by value, a printed one by the problem's own
comparison.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from db.environments import latest_environment
from db.judged_programs import RightProgram, load_right_programs
from db.questions import QuestionRecord
from db.records import IoKind
from eval.generate.questions import CALLED_LANGUAGE, Question
from eval.models import ModelAmbiguous, ModelEntry, Registry
from eval.scenarios import Asked, AskingContext, _told
from eval.scenarios._told import record_told as record
from sandbox import signatures
from sandbox.agent.calls import VOID, read_arguments

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.asked import AskableProblem
    from db.completions import RunSummary
    from db.test_texts import ShortTests
    from eval.evaluation import Outcome

__all__ = ["MAX_K", "NAME", "outcomes", "question", "questions", "record"]

NAME: Final = "code_execution"
MAX_K: Final = 1
MAX_PROGRAM: Final = 2000
"""In bytes."""


def questions(
    session: Session, problems: Sequence[AskableProblem], context: AskingContext
) -> dict[int, tuple[Asked, ...] | str]:
    """One question for each test of a problem, on one program, or why it has none."""
    ids = [one.problem_id for one in problems]
    environment = latest_environment(session)
    programs = load_right_programs(
        session,
        None if environment is None else environment.environment_id,
        ids,
        language=CALLED_LANGUAGE,
        max_bytes=MAX_PROGRAM,
    )
    suites = _told.short_tests(session, ids)
    families = _Families(context.registry, context.model)
    found: dict[int, tuple[Asked, ...] | str] = {}
    for problem in problems:
        usable = [one for one in programs.get(problem.problem_id, ()) if families.is_other(one.model)]
        found[problem.problem_id] = _of_problem(problem, suites.get(problem.problem_id), usable)
    return found


def _of_problem(
    problem: AskableProblem, suite: ShortTests | None, programs: Sequence[RightProgram]
) -> tuple[Asked, ...] | str:
    reason = _told.why_not_told(suite, dict(problem.flags)) or _why_not_executed(problem)
    if reason is not None or suite is None:
        return reason or ""
    called = [_Called.of(one, problem) for one in programs]
    program = next((one for one in called if one is not None), None)
    if program is None:
        return f"no short Python program ({MAX_PROGRAM} bytes) that is not of the model's family is known to be right"
    asked: dict[str, Asked] = {}
    for test in suite.tests:
        given = program.input_of(test.input)
        if given is not None:
            made = QuestionRecord(
                problem.problem_id,
                NAME,
                expected=test.expected,
                language=CALLED_LANGUAGE,
                program=program.program.code,
                input=given,
                feedback=f"right: {program.program.name}",
            )
            asked.setdefault(given, Asked(problem.problem_id, made))
    found = tuple(asked.values())[: _told.MAX_TESTS]
    return found or _told.NONE_SHORT


def _why_not_executed(problem: AskableProblem) -> str | None:
    if problem.io_kind is IoKind.STDIN:
        return None
    if problem.io_kind is not IoKind.FUNCTION or not problem.entry_point:
        return "no single call or input leads to the result"
    signature = problem.signature or {}
    kinds = [signatures.read_type(kind) for kind in (*signature.get("parameters", ()), signature.get("returns", ""))]
    is_plain = all(kind.replace("[]", "") in signatures.PLAIN for kind in kinds)
    if not is_plain or VOID in kinds or signature.get("answer") is not None:
        return "arguments or result are no plain values"
    return None


class _Called:
    """A program with what leads to its result: its input as it is, or an expression."""

    def __init__(self, program: RightProgram, call: str | None) -> None:
        self.program = program
        self._call = call

    @classmethod
    def of(cls, program: RightProgram, problem: AskableProblem) -> _Called | None:
        """None for a program in which what is called cannot be found."""
        if problem.io_kind is IoKind.STDIN:
            return cls(program, None)
        names = _names_of(program.code)
        if "Solution" in names:
            return cls(program, f"Solution().{problem.entry_point}")
        return cls(program, problem.entry_point) if problem.entry_point in names else None

    def input_of(self, given: str) -> str | None:
        """What is shown of a test's input; None for arguments that cannot be read."""
        if self._call is None:
            return given
        try:
            return f"{self._call}({', '.join(map(repr, read_arguments(given.encode())))})"
        except (ValueError, RecursionError):
            return None


def _names_of(code: str) -> set[str]:
    """The functions and classes that a program defines at its top."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return set()
    return {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}


class _Families:
    """Which models are of another family than one."""

    def __init__(self, registry: Registry, model: str) -> None:
        self._registry = registry
        self._own = self._entry(model)

    def _entry(self, name: str) -> ModelEntry | None:
        try:
            return self._registry.resolve(name)
        except ModelAmbiguous:
            return None

    def is_other(self, model: str | None) -> bool:
        """Whether this model (None: nobody's) is surely of another family: the providers of both are known, and neither
        they nor those of the models whose data they inherit are the same."""
        if model is None:
            return True
        other, own = self._entry(model), self._own
        if own is None or other is None or own.provider is None or other.provider is None:
            return False
        return not self._line(own) & self._line(other)

    def _line(self, entry: ModelEntry) -> set[str]:
        """The models of a line, and their providers."""
        line = (entry, *self._registry.ancestors(entry))
        return {f"model {one.name}" for one in line} | {f"provider {(one.provider or '').casefold()}" for one in line}


def question(problem: AskableProblem, question_id: int, record: QuestionRecord) -> Question:
    """A question as prompts take it; whose program it is stays out of them."""
    return Question(
        problem,
        NAME,
        question_id,
        program=record.program or "",
        input=record.input or "",
        language=record.language or CALLED_LANGUAGE,
    )


def outcomes(
    session: Session, environment_id: int | None, runs: Sequence[RunSummary]
) -> dict[int, tuple[Outcome, ...]]:
    """Right answers by problem; nothing has to be run for it."""
    return _told.told_outcomes(session, NAME, runs, _is_still_asked)


def _is_still_asked(record: QuestionRecord, suite: ShortTests) -> bool:
    """Of a call the input stands in an expression of our own making, so the result alone is looked for."""
    return any(test.expected == record.expected for test in suite.tests)
