"""What is still to be judged, verdicts that stand, and verdicts read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, update
from sqlalchemy.exc import IntegrityError

from db import tables as t
from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judgements import (
    EnvironmentRecord,
    JudgementRecord,
    PendingJudgement,
    VerdictRow,
    count_pending,
    iter_pending,
    load_test_results,
    load_verdicts,
    save_environment,
    save_judgements,
)
from db.problems import problem_ids, save_problem
from db.records import AnswerStatus, ProblemRecord
from tests.db.builders import LATER, NOW, case, completion, key_of, problem, row_counts, suite_of

FACTS: list[dict[str, Any]] = [{"verdict": "accepted", "cpu_s": 0.25, "name": "1 — x"}, {"verdict": "wrong_answer"}]


@pytest.fixture
def run_id(store: Store) -> int:
    """A run with two answers to p1, one to p2, and one each to a problem without tests and without answers to them."""
    with store.write() as session:
        save_problem(session, ProblemRecord(key_of("untested"), "T", (), "list"), now=NOW)
        save_problem(session, problem("unanswered", suite=suite_of(case("1", "x", None))), now=NOW)
        save_problem(session, problem("p2"), now=NOW)
        save_problem(session, problem("p1"), now=NOW)
        run = save_run(session, RunRecord("model"), now=NOW)
        answers = [completion("p1", 1, "b"), completion("untested"), completion("unanswered"), completion("p2")]
        save_completions(session, run, [*answers, completion("p1", 0, "a")])
        return run


@pytest.fixture
def environment(store: Store) -> int:
    with store.write() as session:
        return save_environment(session, EnvironmentRecord("sha", "docker", {"python3": "3.12"}), now=NOW)


def pages(store: Store, environment: int, limit: int, **filters: Any) -> Iterator[PendingJudgement]:
    after = None
    while True:
        with store.read() as session:
            page = iter_pending(session, environment, limit=limit, after=after, **filters)
        assert len(page) <= limit
        if not page:
            return
        yield from page
        after = (page[-1].suite_id, page[-1].completion_id)


def judged(pending: PendingJudgement, verdict: str = "accepted") -> JudgementRecord:
    return JudgementRecord(pending.completion_id, pending.suite_id, verdict, FACTS, NOW)


def test_an_environment_is_its_digest(store: Store, environment: int) -> None:
    with store.write() as session:
        assert save_environment(session, EnvironmentRecord("sha", "docker"), now=LATER) == environment
        assert save_environment(session, EnvironmentRecord("other", "docker"), now=NOW) != environment


@pytest.mark.parametrize("limit", [1, 2, 500])
def test_pending_comes_in_pages_by_suite_then_completion(
    store: Store, run_id: int, environment: int, limit: int
) -> None:
    found = list(pages(store, environment, limit))
    assert [(one.problem_key.native_id, one.sample_index, one.code) for one in found] == [
        ("p2", 0, "print(5)"),
        ("p1", 1, "b"),
        ("p1", 0, "a"),
    ]
    assert {(one.model, one.language) for one in found} == {("model", "python3")}
    places = [(one.suite_id, one.completion_id) for one in found]
    assert places == sorted(places)
    with store.read() as session:
        assert count_pending(session, environment) == 3
        p2 = problem_ids(session, [key_of("p2")])[key_of("p2")]
        assert count_pending(session, environment, problem_ids=[p2]) == 1
        assert count_pending(session, environment, problem_ids=[p2], run_ids=[run_id + 1]) == 0
        assert count_pending(session, environment, run_ids=[]) == 0
        assert count_pending(session, environment, problem_ids=range(60_000), run_ids=range(60_000)) == 3
    assert [one.problem_key for one in pages(store, environment, limit, problem_ids=[p2])] == [key_of("p2")]


def test_a_verdict_stands_and_an_internal_error_is_replaced(store: Store, run_id: int, environment: int) -> None:
    one, two, three = pages(store, environment, 10)
    with store.write() as session:
        save_judgements(session, environment, [judged(one, "wrong_answer"), judged(two, "internal_error")])
        save_judgements(session, environment, [])
        assert [left.completion_id for left in iter_pending(session, environment)] == [
            two.completion_id,
            three.completion_id,
        ]
        assert count_pending(session, environment) == 2
        save_judgements(session, environment, [judged(one), judged(two), judged(three)])
        save_judgements(session, environment, [judged(two, "internal_error"), judged(three, "time_limit")])
        assert count_pending(session, environment) == 0
        assert row_counts(session)["judgement"] == 3
        verdicts = {row.completion_id: row.verdict for row in load_verdicts(session, environment, [run_id])}
    assert verdicts[one.completion_id] == "wrong_answer"
    assert verdicts[two.completion_id] == "accepted"
    assert verdicts[three.completion_id] == "accepted"


def test_verdicts_of_all_completions_are_listed(store: Store, run_id: int, environment: int) -> None:
    one, two, _three = pages(store, environment, 10)
    with store.write() as session:
        save_judgements(session, environment, [judged(one), judged(two, "internal_error")])
    with store.read() as session:
        ids = problem_ids(session, [key_of("p1"), key_of("p2"), key_of("untested"), key_of("unanswered")])
        rows = load_verdicts(session, environment, [run_id])
        assert load_verdicts(session, environment, []) == []
        assert {row.verdict for row in load_verdicts(session, environment + 1, [run_id])} == {None}
    assert [(row.problem_id, row.sample_index) for row in rows] == sorted(
        (row.problem_id, row.sample_index) for row in rows
    )
    assert {(row.problem_id, row.sample_index): row.verdict for row in rows} == {
        (ids[key_of("p1")], 0): None,
        (ids[key_of("p1")], 1): "internal_error",
        (ids[key_of("p2")], 0): "accepted",
        (ids[key_of("untested")], 0): None,
        (ids[key_of("unanswered")], 0): None,
    }
    assert VerdictRow(run_id, ids[key_of("p2")], 0, "accepted", one.completion_id) in rows


def test_an_answer_without_a_program_is_never_run_and_has_its_status_for_a_verdict(
    store: Store, run_id: int, environment: int
) -> None:
    found = {AnswerStatus.OK: "p", AnswerStatus.OK_UNFENCED: "q"}
    with store.write() as session:
        run = save_run(session, RunRecord("other"), now=NOW)
        answers = [
            replace(completion("p2", number, found.get(status, "")), status=status, rule="r")
            for number, status in enumerate(AnswerStatus)
        ]
        save_completions(session, run, answers)
        assert count_pending(session, environment, run_ids=[run]) == 2
        pending = iter_pending(session, environment, run_ids=[run])
        assert [one.code for one in pending] == ["p", "q"]
        save_judgements(session, environment, [judged(pending[0])])
    expected = ["accepted", None, "no_code", "truncated", "suspicious_stop", "wrong_language", "refused"]
    with store.read() as session:
        assert [row.verdict for row in load_verdicts(session, environment, [run])] == expected
        elsewhere = [row.verdict for row in load_verdicts(session, -1, [run])]
    assert elsewhere == [None, *expected[1:]]


def test_a_status_of_a_newer_version_waits_for_it(store: Store, run_id: int, environment: int) -> None:
    with store.write() as session:
        session.execute(update(t.completion).where(t.completion.c.sample_index == 1).values(status="ok_from_tool"))
        assert count_pending(session, environment) == 2
        assert {row.verdict for row in load_verdicts(session, environment, [run_id])} == {None}


def test_new_tests_and_other_environments_are_judged_anew(store: Store, run_id: int, environment: int) -> None:
    first = next(pages(store, environment, 10, run_ids=[run_id]))
    with store.write() as session:
        save_judgements(session, environment, [judged(first)])
        other = save_environment(session, EnvironmentRecord("other", "bubblewrap"), now=NOW)
        assert count_pending(session, environment) == 2
        assert count_pending(session, other) == 3
        save_problem(session, problem("p2", suite=suite_of(case("1", "9\n", "9\n"))), now=LATER)
        assert count_pending(session, environment) == 3
        assert load_test_results(session, first.completion_id, environment) == []
        save_problem(session, problem("p2"), now=LATER)  # Back to the first tests: their verdict is still there.
        assert count_pending(session, environment) == 2
        assert load_test_results(session, first.completion_id, environment) == FACTS
        assert load_test_results(session, first.completion_id, other) == []


def test_facts_that_are_no_json_are_refused_before_anything_is_written(
    store: Store, run_id: int, environment: int
) -> None:
    one, two, _three = pages(store, environment, 10)
    broken = JudgementRecord(two.completion_id, two.suite_id, "accepted", [{"cpu_s": float("inf")}], NOW)
    with store.write() as session:
        with pytest.raises(ValueError, match="JSON"):
            save_judgements(session, environment, [judged(one), broken])
        assert row_counts(session)["judgement"] == 0


def test_a_verdict_on_nothing_is_refused(store: Store, environment: int) -> None:
    with pytest.raises(IntegrityError), store.write() as session:
        save_judgements(session, environment, [JudgementRecord(7, 8, "accepted", [], NOW)])


def test_a_page_of_pending_does_not_sort_the_whole_store(sqlite_store: Store) -> None:
    statements: list[tuple[str, Any]] = []
    with sqlite_store.read() as session:
        connection = session.connection()
        event.listen(
            connection,
            "before_cursor_execute",
            lambda _c, _cur, statement, params, *_: statements.append((statement, params)),
        )
        iter_pending(session, 1, limit=500, after=(1, 1))
        statement, params = next(one for one in statements if "LIMIT" in one[0])
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", params).all()
    steps = [str(step[-1]) for step in plan]
    # Sorting the few completions of one suite among themselves ("the right part") is all that is left.
    assert "USE TEMP B-TREE FOR ORDER BY" not in steps
    assert any("ix_problem_current_suite_id" in step for step in steps), steps
