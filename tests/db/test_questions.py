"""Questions beyond the problem itself: one for each text, and read back as they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from db.engine import Store
from db.errors import UnknownRow
from db.problems import save_problem
from db.questions import QuestionRecord, load_questions, save_questions
from tests.db.builders import LATER, NOW, problem, row_counts


@pytest.fixture
def problem_id(store: Store) -> int:
    with store.write() as session:
        return save_problem(session, problem(), now=NOW).problem_id


def test_a_question_is_its_problem_scenario_and_texts(store: Store, problem_id: int) -> None:
    with store.write() as session:
        other = save_problem(session, problem("p2"), now=NOW).problem_id
        full = QuestionRecord(problem_id, "execution", "7", "python3", "def f(x): return x\0", "f(7)", "as\ud800")
        different = [
            replace(full, problem_id=other),
            replace(full, scenario="output"),
            replace(full, expected="8"),
            replace(full, language="cpp17"),
            replace(full, program=None),
            replace(full, program=""),
            replace(full, input="f(8)"),
            replace(full, feedback=None),
        ]
        ids = save_questions(session, [full, *different, full], NOW)
        assert ids[0] == ids[-1]
        assert len(set(ids)) == 1 + len(different)
        before = row_counts(session)
        assert save_questions(session, [*different, full], LATER) == [*ids[1:-1], ids[0]]
        assert save_questions(session, [], NOW) == []
        assert row_counts(session) == before
    with store.read() as session:
        assert load_questions(session, ids) == dict(zip(ids, [full, *different, full], strict=True))
        assert load_questions(session, []) == {}


def test_many_questions_on_many_problems(store: Store, problem_id: int) -> None:
    with store.write() as session:
        other = save_problem(session, problem("p2"), now=NOW).problem_id
        records = [
            QuestionRecord(owner, "execution", str(number)) for number in range(700) for owner in (problem_id, other)
        ]
        ids = save_questions(session, records[:900], NOW)
        assert save_questions(session, records, NOW)[:900] == ids
        assert row_counts(session)["question"] == 1400


def test_what_is_not_there_is_refused_before_anything_is_written(store: Store, problem_id: int) -> None:
    with store.write() as session:
        with pytest.raises(UnknownRow, match="no problem 99"):
            save_questions(session, [QuestionRecord(problem_id, "execution"), QuestionRecord(99, "execution")], NOW)
        with pytest.raises(ValueError, match="now must be an aware UTC"):
            save_questions(session, [QuestionRecord(problem_id, "execution")], datetime(2026, 1, 1))
        assert row_counts(session)["question"] == 0
        with pytest.raises(UnknownRow, match="no question 5"):
            load_questions(session, [5])
