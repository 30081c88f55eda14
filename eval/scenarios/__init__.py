"""Scenarios: what a model can be asked to do. One module each, found by its place in this package.

A scenario module has ``NAME`` and

* ``questions(session, problems, context) -> {problem id: tuple[Asked, ...] | str}``: what is asked of each problem, or
  the sentence why it is not asked. The same store gives the same questions;
* ``question(problem, question_id, record) -> Question``: one of them as prompts take it;
* ``record(asking, question, sample_index, messages, reply, exchange) -> ResponseRecord | FailureRecord``: what the
  store keeps of a reply. ``ValueError`` for one that it cannot hold;
* ``outcomes(session, environment_id, runs) -> {run id: tuple[Outcome, ...]}``: what became of the answers; an
  environment None means that nothing was judged yet.

``IS_JUDGED`` (default False): answers are programs that tests judge, so that problems need tests beyond the samples to
count. Where answers are held against what a test says, it matters not whether the statement shows that test to people:
the questions see to it that it is not shown to the model, or that it gives nothing away. ``ONCE`` (default False): the
questions say how many answers they get. ``MAX_K`` (default None: any) is the largest k of its pass@k. A scenario that
goes on from the runs of another has ``repairs(session, model, label) -> str``, which names such a run for the condition
``repairs``, and ``repaired(session, runs)``, which finds them again. Modules whose name begins with an underscore are
no scenarios. A new scenario is such a module and prompts for it in ``eval/generate/templates``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from db.records import CODE_GENERATION

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.asked import AskableProblem
    from db.completions import RunSummary
    from db.questions import QuestionRecord
    from db.responses import FailureRecord, ResponseRecord
    from eval.evaluation import Outcome
    from eval.generate.answers import Exchange
    from eval.generate.conditions import Asking
    from eval.generate.prompts import Message
    from eval.generate.questions import Question
    from eval.generate.replies import Reply
    from eval.models import Registry


class UnknownScenario(LookupError):
    """No scenario is called so. ``message`` says what, ``hint`` which there are."""

    def __init__(self, name: object) -> None:
        super().__init__(name)
        self.message = f'no scenario is called "{name}"'
        self.hint = f"there are: {', '.join(scenario_names())}"

    def __str__(self) -> str:
        return self.message


class NotPrograms(ValueError):
    """Programs for a scenario whose answers are none. ``message`` says what, ``hint`` what to do."""

    def __init__(self, scenario: str) -> None:
        super().__init__(scenario)
        self.message = f"the answers in {scenario} are no programs"
        judged = (name for name in scenario_names() if task_form(name).is_judged)
        self.hint = f"solutions can be of {' or '.join(judged)}"

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Asked:
    """What is asked of a problem: itself (``record`` None), or a question on it. ``samples`` are the indices of the
    answers that it gets; None: from 0 on, as many as a run has."""

    problem_id: int
    record: QuestionRecord | None = None
    samples: tuple[int, ...] | None = None


@dataclass(frozen=True)
class AskingContext:
    """Who is asked, and how."""

    model: str
    registry: Registry
    asking: Asking


QuestionMaker = Callable[["Session", "Sequence[AskableProblem]", AskingContext], "dict[int, tuple[Asked, ...] | str]"]
QuestionReader = Callable[["AskableProblem", int, "QuestionRecord"], "Question"]
Recorder = Callable[
    ["Asking", "Question", int, "Sequence[Message]", "Reply", "Exchange"], "ResponseRecord | FailureRecord"
]
OutcomeLoader = Callable[["Session", "int | None", "Sequence[RunSummary]"], "dict[int, tuple[Outcome, ...]]"]
RepairsFinder = Callable[["Session", str, "str | None"], str]
RepairedLoader = Callable[["Session", "Sequence[RunSummary]"], "dict[int, RunSummary]"]


@dataclass(frozen=True)
class TaskForm:
    """One scenario module; see the package's docstring."""

    name: str
    questions: QuestionMaker
    question: QuestionReader
    record: Recorder
    outcomes: OutcomeLoader
    repairs: RepairsFinder | None
    repaired: RepairedLoader
    is_judged: bool
    once: bool
    max_k: int | None


@cache
def scenario_names() -> tuple[str, ...]:
    """All scenarios by name, that of plain code generation first."""
    names = [info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")]
    return tuple(sorted(names, key=lambda name: (name != CODE_GENERATION, name)))


@cache
def task_form(name: str) -> TaskForm:
    """The scenario of this name. Raises ``UnknownScenario``."""
    if name not in scenario_names():
        raise UnknownScenario(name)
    module = importlib.import_module(f"{__name__}.{name}")
    return TaskForm(
        name=module.NAME,
        questions=module.questions,
        question=module.question,
        record=module.record,
        outcomes=module.outcomes,
        repairs=getattr(module, "repairs", None),
        repaired=getattr(module, "repaired", _nothing_repaired),
        is_judged=getattr(module, "IS_JUDGED", False),
        once=getattr(module, "ONCE", False),
        max_k=getattr(module, "MAX_K", None),
    )


def scenario_of(conditions: Mapping[str, Any]) -> str:
    """The scenario of a run with these conditions; one that names none is of code generation."""
    return str(conditions.get("scenario", CODE_GENERATION))


def _nothing_repaired(session: Session, runs: Sequence[RunSummary]) -> dict[int, RunSummary]:
    return {}
