"""Places of a run: in which order they stand, which lack an answer, and what is asked at each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db.engine import Store, open_store
from db.errors import UnknownRow
from db.problems import problem_ids, save_problem
from db.questions import QuestionRecord
from db.records import Place, ProblemKey, ProblemRecord
from eval.generate.places import places_of, question_of, questions_at, unanswered
from eval.scenarios import Asked
from tests.eval.facts import NOW

NAME = "output_prediction"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        with opened.write() as session:
            for name in ("a", "b"):
                save_problem(
                    session, ProblemRecord(ProblemKey("nova", name), name, (), "nova", statement=name), now=NOW
                )
        yield opened


def ids(store: Store) -> tuple[int, int]:
    with store.read() as session:
        found = problem_ids(session, [ProblemKey("nova", "a"), ProblemKey("nova", "b")])
    first, second = found.values()
    return first, second


def test_problems_themselves_need_no_writing(store: Store) -> None:
    a, b = ids(store)
    with store.read() as session:
        places = places_of(session, [Asked(b), Asked(a)], 2, now=NOW)
        questions = questions_at(session, "code_generation", places)
    assert places == [Place(b, 0, 0), Place(b, 0, 1), Place(a, 0, 0), Place(a, 0, 1)]
    assert unanswered(places, {Place(a, 0, 1), Place(b, 0, 0), Place(b, 3, 1)}, "code_generation") == [
        Place(b, 0, 1),
        Place(a, 0, 0),
    ]
    assert {target: one.problem.key.native_id for target, one in questions.items()} == {(b, 0): "b", (a, 0): "a"}


def test_questions_get_ids_of_their_own(store: Store) -> None:
    a, b = ids(store)
    asked = [
        Asked(a, QuestionRecord(a, NAME, "2", input="1")),
        Asked(a, QuestionRecord(a, NAME, "3", input="2"), samples=(4, 7)),
        Asked(b),
    ]
    with store.write() as session:
        places = places_of(session, asked, 1, now=NOW)
        questions = questions_at(session, NAME, places)
    first, second = places[0].question_id, places[1].question_id
    assert places == [Place(a, first, 0), Place(a, second, 4), Place(a, second, 7), Place(b, 0, 0)]
    assert 0 < first != second > 0
    assert (questions[a, first].input, questions[a, second].input) == ("1", "2")
    with store.read() as session:
        assert question_of(session, asked[1], NAME).input == "2"


def test_a_question_belongs_to_its_problem_and_scenario(store: Store) -> None:
    a, b = ids(store)
    with store.write() as session:
        (place,) = places_of(session, [Asked(a, QuestionRecord(a, NAME, "2", input="1"))], 1, now=NOW)
        for scenario, wrong in (
            (NAME, Place(b, place.question_id)),
            ("code_execution", place),
            ("code_generation", place),
            (NAME, Place(a, place.question_id + 1)),
            (NAME, Place(a + b, 0)),
        ):
            with pytest.raises(UnknownRow):
                questions_at(session, scenario, [wrong])
