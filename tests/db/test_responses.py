"""Answers of endpoints: one for each place, their failures forgotten, all that was said of them kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from db import tables as t
from db.completions import CompletionConflict, RunRecord, list_runs, save_completion, save_run
from db.engine import Store
from db.errors import UnknownProblem, UnknownRow
from db.failed_requests import FailedUsage, usage_of_failures
from db.judgements import (
    EnvironmentRecord,
    JudgementRecord,
    iter_pending,
    load_verdicts,
    save_environment,
    save_judgements,
)
from db.problems import save_problem
from db.questions import QuestionRecord, save_questions
from db.records import CODE_GENERATION, AnswerStatus, CompletionRecord, Place, SaveOutcome
from db.responses import (
    AnswerRow,
    FailureRecord,
    RunUsage,
    count_failures,
    failures_of,
    load_answers,
    places_answered,
    save_failures,
    save_responses,
    usage_of_runs,
)
from tests.db.builders import LATER, NOW, completion, key_of, problem, response, row_counts

CREATED, UPDATED, UNCHANGED = SaveOutcome
RUN = RunRecord("model", "generate", {"prompt": "plain-1"})


@pytest.fixture
def ids(store: Store) -> tuple[int, int, int]:
    """A run, and the problems p1 and p2."""
    with store.write() as session:
        problems = [save_problem(session, problem(name), now=NOW).problem_id for name in ("p1", "p2")]
        return save_run(session, RUN, now=NOW), problems[0], problems[1]


def failure(place: Place, *, hours: int = 0, reason: str = "timed_out", attempts: int = 2) -> FailureRecord:
    return FailureRecord(place, NOW + timedelta(hours=hours), reason, "no answer within 600 s", attempts)


def test_an_answer_is_saved_with_its_program_and_stays(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, p2 = ids
    records = [response(p1), response(p1, sample=1), response(p2, "p2")]
    with store.write() as session:
        assert save_responses(session, run, records) == [CREATED] * 3
        before = row_counts(session)
        assert (before["response"], before["completion"]) == (3, 3)
    with store.write() as session:
        assert save_responses(session, run, records) == [UNCHANGED] * 3
        # Asked again, a model says something else: what stands is not thrown away.
        assert save_responses(session, run, [response(p1, code="print(6)")]) == [UNCHANGED]
        assert save_responses(session, run, []) == []
        assert row_counts(session) == before
        assert places_answered(session, run) == {Place(p1), Place(p1, 0, 1), Place(p2)}
        assert places_answered(session, run + 1) == set()
        assert {one.code for one in iter_pending(session, 1, run_ids=[run])} == {"print(5)"}


def test_the_first_of_two_answers_of_one_batch_is_kept(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, _ = ids
    with store.write() as session:
        first, second = response(p1, code="a"), response(p1, code="b")
        assert save_responses(session, run, [first, second, first]) == [CREATED, UNCHANGED, UNCHANGED]
        assert [one.answer for one in load_answers(session, [run], CODE_GENERATION)] == ["a"]


def test_an_answer_to_a_place_with_another_program_is_refused_whole(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, p2 = ids
    with store.write() as session:
        save_completion(session, run, completion("p1", 0, "imported"))
        save_completion(session, run, completion("p2", 0, "print(5)"))
        save_failures(session, run, [failure(Place(p1)), failure(Place(p2))])
        before = row_counts(session)
        refused, taken = save_responses(session, run, [response(p1), response(p2, "p2")])
        assert isinstance(refused, CompletionConflict)
        assert (refused.key, refused.field) == (key_of("p1"), "code")
        assert taken is CREATED
        assert places_answered(session, run) == {Place(p2)}
        assert failures_of(session, [run]) == {run: {p1: 1}}
        after = row_counts(session)
        assert (after["response"], after["completion"]) == (1, before["completion"])


def test_what_is_not_in_the_store_is_refused(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, p2 = ids
    with store.write() as session:
        with pytest.raises(UnknownRow, match="no run 99"):
            save_responses(session, 99, [response(p1)])
        with pytest.raises(UnknownRow, match="no run 99"):
            save_failures(session, 99, [failure(Place(p1))])
        with pytest.raises(UnknownProblem, match="judge:gone"):
            save_responses(session, run, [response(p1), response(p2, "gone")])
        with pytest.raises(UnknownProblem, match="judge:p2"):
            save_responses(session, run, [response(p1), response(p1, "p2")])
        assert row_counts(session)["response"] == 0
    with pytest.raises(IntegrityError), store.write() as session:
        save_failures(session, run, [failure(Place(99))])


def test_an_answer_without_a_program_is_judged_by_its_status(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, _ = ids
    status = AnswerStatus.REFUSED
    empty = CompletionRecord(key_of(), 0, "", status=status, rule="refusal_field")
    said = replace(response(p1), status=status, rule="refusal_field", raw="", answer="", completion=empty)
    with store.write() as session:
        assert save_responses(session, run, [said]) == [CREATED]
        assert iter_pending(session, 1, run_ids=[run]) == []
        assert [row.verdict for row in load_verdicts(session, 1, [run])] == ["refused"]
        assert load_answers(session, [run], CODE_GENERATION) == [AnswerRow(run, p1, 0, 0, "", None, "refused")]


def test_words_of_an_endpoint_are_kept_whatever_they_are(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, _ = ids
    odd = replace(response(p1), served_model="m\0", response_id="\ud800", raw="a\0\ud800", answer="\0", completion=None)
    with store.write() as session:
        assert save_responses(session, run, [odd]) == [CREATED]
        save_failures(session, run, [replace(failure(Place(p1, 0, 1)), message="<html>\0\ud800")])
        said = session.execute(select(t.response)).one()
        assert (said.served_model, said.response_id) == ("m\\0", "\\ud800")
        assert [one.answer for one in load_answers(session, [run], CODE_GENERATION)] == ["\0"]


def test_an_answer_is_to_the_statement_that_was_asked(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, _ = ids
    with store.write() as session:
        asked = session.execute(select(t.problem.c.current_revision_id).where(t.problem.c.id == p1)).scalar_one()
        # While a batch of questions lies with the provider, the statement is edited.
        save_problem(session, problem("p1", statement="Add three numbers."), now=LATER)
        save_responses(session, run, [replace(response(p1), revision_id=asked), response(p1, sample=1)])
        assert [row.is_older for row in load_verdicts(session, 1, [run])] == [True, False]
        assert [row.is_older for row in load_answers(session, [run], CODE_GENERATION)] == [True, False]


def test_an_answer_to_an_edited_statement_makes_room_and_is_kept(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, p2 = ids
    current = select(t.problem.c.current_revision_id).where(t.problem.c.id == p1)
    with store.write() as session:
        asked = session.execute(current).scalar_one()
        old = replace(response(p1, code="old"), revision_id=asked)
        save_responses(session, run, [old, response(p2, "p2")])
        save_environment(session, EnvironmentRecord("e" * 64, "docker"), now=NOW)
        (pending, _) = iter_pending(session, 1, run_ids=[run])
        save_judgements(session, 1, [JudgementRecord(pending.completion_id, pending.suite_id, "accepted", [], NOW)])
        save_problem(session, problem("p1", statement="Add three numbers."), now=LATER)
        assert places_answered(session, run) == {Place(p2)}
        assert save_responses(session, run, [old]) == [UNCHANGED]  # the same answer again is no other
        new = replace(response(p1, code="new"), revision_id=session.execute(current).scalar_one())
        assert save_responses(session, run, [new]) == [CREATED]
        assert save_responses(session, run, [new]) == [UNCHANGED]
        assert places_answered(session, run) == {Place(p1), Place(p2)}
        assert [one.answer for one in load_answers(session, [run], CODE_GENERATION)] == ["new", "print(5)"]
        (beside,) = [one for one in list_runs(session) if one.run_id != run]
        assert beside.conditions == {**RUN.conditions, "older_statement": asked}
        assert [one.answer for one in load_answers(session, [beside.run_id], CODE_GENERATION)] == ["old"]
        assert [row.verdict for row in load_verdicts(session, 1, [run, beside.run_id])] == [None, None, "accepted"]


def test_the_last_failure_of_a_place_stands_until_an_answer(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, p2 = ids
    first, second = failure(Place(p1)), failure(Place(p1), hours=1, reason="rate_limited", attempts=6)
    with store.write() as session:
        other = save_run(session, RunRecord("other"), now=NOW)
        save_failures(session, run, [first, failure(Place(p1, 0, 1)), failure(Place(p2, 7))])
        save_failures(session, run, [second])
        save_failures(session, run, [second, first])  # Said again, or later than it was: nothing new.
        save_failures(session, other, [first])
        save_failures(session, run, [])
        assert count_failures(session, [run, other]) == {
            run: Counter(timed_out=2, rate_limited=1),
            other: Counter(timed_out=1),
        }
        assert failures_of(session, [run]) == {run: {p1: 2, p2: 1}}
        row = session.execute(select(t.failed_request).where(t.failed_request.c.reason == "rate_limited")).one()
        assert (row.attempts, row.failed_at) == (8, NOW + timedelta(hours=1))
        save_responses(session, run, [response(p1), response(p1, sample=1)])
        assert failures_of(session, [run, other]) == {run: {p2: 1}, other: {p1: 1}}
        save_failures(session, run, [failure(Place(p1), hours=9)])  # It has an answer.
        assert failures_of(session, [run]) == {run: {p2: 1}}
        assert count_failures(session, []) == {}


def test_what_failed_requests_took_is_kept_when_the_answer_comes(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, p2 = ids
    paid = replace(failure(Place(p1)), tokens_in=100, tokens_out=2**40, cost=0.5, currency="USD")
    unpaid = failure(Place(p1), hours=1)
    again = replace(failure(Place(p1), hours=2), tokens_in=50, cost=0.25, currency="USD")
    with store.write() as session:
        assert usage_of_failures(session, [run]) == {}
        save_failures(session, run, [paid, failure(Place(p2))])
        save_failures(session, run, [unpaid])
        save_failures(session, run, [again])
        usage = FailedUsage(150, 2**40, {"USD": 0.75})
        assert usage_of_failures(session, [run]) == {run: usage}
        save_failures(session, run, [replace(failure(Place(p2, 7)), cost=2.0, currency="EUR")])
        save_responses(session, run, [response(p1), response(p2, "p2")])
        assert count_failures(session, [run]) == {run: Counter(timed_out=1)}
        assert failures_of(session, [run]) == {run: {p2: 1}}
        assert usage_of_failures(session, [run, 99]) == {run: replace(usage, cost={"USD": 0.75, "EUR": 2.0})}
        # Only what took something stays behind an answer.
        assert session.execute(select(func.count()).select_from(t.failed_request)).scalar_one() == 2


def test_usage_is_summed_over_what_is_stated(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, p2 = ids
    plain = response(p1)
    records = [
        replace(plain, cost=0.25, currency="USD", tokens_reasoning=7, fingerprint="fp_1"),
        replace(
            response(p1, sample=1, code="x"),
            cost=0.5,
            currency="USD",
            latency_s=2.5,
            requested_at=NOW + timedelta(hours=1),
            tokens_in=2**40,
        ),
        # From a batch file: no instant, no time, no price, another model than was asked for.
        replace(
            response(p2, "p2"),
            requested_at=None,
            latency_s=None,
            tokens_in=None,
            tokens_out=None,
            served_model="model-mini",
            endpoint="",
            status=AnswerStatus.NO_CODE,
            completion=None,
        ),
        replace(response(p2, "p2", sample=1), latency_s=9.0, cost=3.0, currency="EUR"),
    ]
    with store.write() as session:
        other = save_run(session, RunRecord("other"), now=NOW)
        save_responses(session, run, records)
        save_responses(session, other, [replace(plain, tokens_in=None, tokens_out=None)])
        found = usage_of_runs(session, [run, other, 99])
    assert set(found) == {run, other}
    assert found[run] == RunUsage(
        n_responses=4,
        statuses=Counter(ok=3, no_code=1),
        tokens_in=200 + 2**40,
        tokens_out=60,
        tokens_reasoning=7,
        cost={"USD": 0.75, "EUR": 3.0},
        served_models=Counter({"model-2026": 3, "model-mini": 1}),
        fingerprints=Counter(fp_1=1),
        endpoints=Counter({"api.example.com/v1": 3}),
        first_at=NOW,
        last_at=NOW + timedelta(hours=1),
        latency_s=2.5,
        n_counted=3,
        n_priced=3,
    )
    assert (found[other].tokens_in, found[other].cost, found[other].n_priced) == (None, {}, 0)


def test_answers_to_questions_come_with_what_was_expected(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, p2 = ids
    with store.write() as session:
        first, second, repair = save_questions(
            session,
            [
                QuestionRecord(p1, "execution", "3", "python3", "def f(): return 3", "f()"),
                QuestionRecord(p2, "execution", "", "python3", "def f(): return ''", "f()"),
                QuestionRecord(p1, "self_repair", program="print(4)", feedback="wrong answer"),
            ],
            NOW,
        )
        answers = [
            response(p2, "p2", code="''", question_id=second),
            response(p1, code="4", question_id=first, sample=1),
            response(p1, code="3", question_id=first),
            response(p1, code="print(5)", question_id=repair),
            response(p1, code="print(5)"),
        ]
        assert save_responses(session, run, answers) == [CREATED] * 5
        assert load_answers(session, [run], "execution") == [
            AnswerRow(run, p1, first, 0, "3", "3", "ok"),
            AnswerRow(run, p1, first, 1, "4", "3", "ok"),
            AnswerRow(run, p2, second, 0, "''", "", "ok"),
        ]
        assert load_answers(session, [run], "self_repair") == [AnswerRow(run, p1, repair, 0, "print(5)", "", "ok")]
        assert load_answers(session, [run], CODE_GENERATION) == [AnswerRow(run, p1, 0, 0, "print(5)", None, "ok")]
        assert load_answers(session, [], "execution") == []


def test_large_texts_are_kept_once(store: Store, ids: tuple[int, int, int]) -> None:
    run, p1, _ = ids
    thinking = "so 2 + 3 is 5, " * 100_000
    long = [replace(response(p1, sample=sample), prompt="Add. " * 10_000, reasoning=thinking) for sample in range(10)]
    with store.write() as session:
        before = row_counts(session)["blob"]
        save_responses(session, run, long)
        assert row_counts(session)["blob"] == before + 4  # Prompt, raw answer, thinking, program.


PLACES = st.tuples(st.sampled_from(["p1", "p2"]), st.integers(0, 2))
STEPS = st.lists(st.tuples(st.booleans(), st.lists(st.tuples(PLACES, st.sampled_from("ab")), max_size=5)), max_size=6)


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_a_place_has_its_first_answer_or_its_failures(
    shared_store: Store, steps: list[tuple[bool, list[tuple[tuple[str, int], str]]]]
) -> None:
    answers: dict[Place, str] = {}
    failed: dict[Place, int] = {}
    with shared_store.write() as session:
        ids = {name: save_problem(session, problem(name), now=NOW).problem_id for name in ("p1", "p2")}
        n_runs = row_counts(session)["run"]
        run = save_run(session, RunRecord("m", f"example {n_runs}"), now=NOW)
        for hours, (is_answer, batch) in enumerate(steps):
            places = [Place(ids[name], 0, sample) for (name, sample), _ in batch]
            if is_answer:
                records = [response(ids[name], name, sample, code) for (name, sample), code in batch]
                saved = save_responses(session, run, records)
                for place, (_, code), outcome in zip(places, batch, saved, strict=True):
                    assert outcome is (UNCHANGED if place in answers else CREATED)
                    answers.setdefault(place, code)
                    failed.pop(place, None)
            else:
                save_failures(session, run, [failure(place, hours=hours) for place in places])
                failed |= {place: failed.get(place, 0) + 2 for place in places if place not in answers}
        assert places_answered(session, run) == answers.keys()
        stored = load_answers(session, [run], CODE_GENERATION)
        assert {Place(one.problem_id, 0, one.sample_index): one.answer for one in stored} == answers
        judged = iter_pending(session, 1, run_ids=[run])
        by_key = {Place(ids[one.problem_key.native_id], 0, one.sample_index): one.code for one in judged}
        assert by_key == answers
        rows = session.execute(select(t.failed_request).where(t.failed_request.c.run_id == run))
        assert {Place(row.problem_id, row.question_id, row.sample_index): row.attempts for row in rows} == failed
