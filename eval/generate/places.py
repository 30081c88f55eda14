"""The places of a run in any scenario, and what is asked at each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from db.asked import load_askable
from db.errors import UnknownRow
from db.questions import load_questions, save_questions
from db.records import Place
from eval.generate.questions import Question
from eval.scenarios import Asked, task_form

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

Target = tuple[int, int]
"""What is asked about: problem id and question id (0: the problem itself)."""


def places_of(session: Session, asked: Sequence[Asked], n_samples: int, *, now: datetime) -> list[Place]:
    """The places at which all of this is asked ``n_samples`` times, in its order.

    Questions that the store does not have yet are written: where there are any, the session must be a writing one.
    """
    records = [one.record for one in asked if one.record is not None]
    ids = iter(save_questions(session, records, now) if records else ())
    return [
        Place(one.problem_id, question_id, sample)
        for one in asked
        for question_id in (0 if one.record is None else next(ids),)
        for sample in (range(n_samples) if one.samples is None else one.samples)
    ]


def question_of(session: Session, asked: Asked, scenario: str) -> Question:
    """One of the questions as prompts take it, whether the store has it or not: its id is 0."""
    (problem,) = load_askable(session, [asked.problem_id])
    if asked.record is None:
        return Question(problem, scenario)
    return task_form(scenario).question(problem, 0, asked.record)


def unanswered(places: Iterable[Place], answered: Collection[Place], scenario: str) -> list[Place]:
    """The places that still lack an answer.

    A sample that was repaired is not repaired again, also where its judgement, and with it the question, has changed.
    """
    if not task_form(scenario).once:
        return [place for place in places if place not in answered]
    samples = {(place.problem_id, place.sample_index) for place in answered}
    return [place for place in places if (place.problem_id, place.sample_index) not in samples]


def questions_at(session: Session, scenario: str, places: Iterable[Place]) -> dict[Target, Question]:
    """What is asked at these places. ``UnknownRow`` for a problem that the store does not have, or a question that it
    does not have on that problem in this scenario."""
    targets = dict.fromkeys((place.problem_id, place.question_id) for place in places)
    problems = {one.problem_id: one for one in load_askable(session, (problem_id for problem_id, _ in targets))}
    records = load_questions(session, {question_id for _, question_id in targets if question_id})
    for problem_id, question_id in targets:
        if question_id and (records[question_id].problem_id, records[question_id].scenario) != (problem_id, scenario):
            raise UnknownRow("question", question_id)
    form = task_form(scenario)
    return {
        (problem_id, question_id): (
            form.question(problems[problem_id], question_id, records[question_id])
            if question_id
            else Question(problems[problem_id], scenario)
        )
        for problem_id, question_id in targets
    }
