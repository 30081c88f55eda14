"""What a model is asked about a problem, in which form, and which problems are not asked. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from db.asked import AskableProblem
from db.records import CODE_GENERATION, IoKind

__all__ = [
    "CODE_GENERATION",
    "MAX_SHOWN",
    "FailedTest",
    "Form",
    "Question",
    "Scenario",
    "form_of",
    "not_asked",
    "shortened",
]

CALLED_LANGUAGE = "python3"
"""The one language whose functions and classes the sandbox calls."""
_CALLED = (IoKind.FUNCTION, IoKind.DESIGN)


class Scenario(StrEnum):
    """What a model is asked to do."""

    CODE_GENERATION = CODE_GENERATION
    SELF_REPAIR = "self_repair"
    OUTPUT_PREDICTION = "output_prediction"
    CODE_EXECUTION = "code_execution"


class Form(StrEnum):
    """How a task is put; each is a file of a prompt. The first four are how a program meets its tests."""

    STDIN = "stdin"
    FUNCTION = "function"
    DESIGN = "design"
    INTERACTIVE = "interactive"
    PYTHON = "python"
    """A Python program or a function of one, and what it is given."""


MAX_SHOWN: Final = 2000
"""Characters of a test, and of what is said of it, that a prompt shows."""


def shortened(text: str) -> str:
    """The text, or its beginning with a line that says how much of it this is."""
    if len(text) <= MAX_SHOWN:
        return text
    return f"{text[:MAX_SHOWN]}\n… (the first {MAX_SHOWN:,} of {len(text):,} characters)"


@dataclass(frozen=True)
class FailedTest:
    """The test that a program failed, as self-repair shows it. ``verdict`` is the judge's.

    ``error`` is how its output differs, or what it said of its end; None: not known, or not shown.
    """

    verdict: str
    input: str
    expected: str | None = None
    error: str | None = None

    def as_text(self) -> str:
        """One JSON object, as ``Question.feedback`` and the store keep it."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def read(cls, text: str) -> FailedTest:
        """Undo ``as_text``. ``ValueError`` for what is no such text."""
        try:
            return cls(**json.loads(text))
        except TypeError as error:
            raise ValueError(f"no failed test: {error}") from None


@dataclass(frozen=True)
class Question:
    """A problem as it is asked in a scenario. ``question_id`` 0 is the problem itself.

    ``program`` is the program to repair or to execute, in ``language``; ``input`` what it is given (a call, where the
    problem is call-based) or the test whose output is to be told; ``feedback`` a ``FailedTest`` as text.
    """

    problem: AskableProblem
    scenario: str = CODE_GENERATION
    question_id: int = 0
    program: str = ""
    input: str = ""
    feedback: str = ""
    language: str = CALLED_LANGUAGE


def form_of(question: Question) -> Form:
    """The form in which a question is put.

    A problem without tests does not say how programs meet them: with starter code it is taken for a function.
    """
    if question.scenario == Scenario.CODE_EXECUTION:
        return Form.PYTHON
    problem = question.problem
    if problem.io_kind is None:
        return Form.FUNCTION if problem.starter_code.strip() else Form.STDIN
    return Form(problem.io_kind)


_NEEDS_PICTURE = "needs_image"
"""The flag of statements that cannot be understood without a picture; ``has_image`` is that of mere illustrations."""
_INTERACTIVE = "interactive"


def not_asked(problem: AskableProblem, language: str = CALLED_LANGUAGE) -> str | None:
    """Why a problem is not put to a model that shall answer in this language; None for one that is.

    Flags that only keep a problem out of scores are the window's business and no reason here.
    """
    flags = dict(problem.flags)
    if not problem.statement.strip():
        return "no statement"
    if problem.statement_language not in (None, "en"):
        return f"statement is not in English ({problem.statement_language})"
    if _NEEDS_PICTURE in flags:
        return "needs a picture"
    if _INTERACTIVE in flags and problem.io_kind is not IoKind.INTERACTIVE:
        return "interactive, and the store has no program to talk with"
    if language != CALLED_LANGUAGE and (problem.io_kind in _CALLED or form_of(Question(problem)) is Form.FUNCTION):
        return f"call-based: only {CALLED_LANGUAGE} is called"
    return None
