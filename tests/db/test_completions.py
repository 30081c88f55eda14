"""Runs and completions: joined by id, never doubled, never overwritten."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.completions import (
    CompletionConflict,
    RunRecord,
    RunSummary,
    UnknownProblem,
    list_runs,
    save_completion,
    save_completions,
    save_run,
)
from db.engine import Store
from db.errors import UnknownRow
from db.judgements import EnvironmentRecord, iter_pending, save_environment
from db.problems import save_problem
from db.records import AnswerStatus, CompletionRecord, SaveOutcome
from tests.db.builders import LATER, NOW, completion, key_of, problem, row_counts

CREATED, UPDATED, UNCHANGED = SaveOutcome
RUN = RunRecord("model-a", "label", {"temperature": 0.2, "prompt": "v1"})


@pytest.fixture
def run_id(store: Store) -> int:
    """A run in a store that has the problems p1 and p2."""
    with store.write() as session:
        save_problem(session, problem("p1"), now=NOW)
        save_problem(session, problem("p2"), now=NOW)
        return save_run(session, RUN, now=NOW)


def test_a_run_is_its_model_label_and_conditions(store: Store) -> None:
    same = RunRecord("model-a", "label", {"prompt": "v1", "temperature": 0.2})
    others = [replace(RUN, model="b"), replace(RUN, label="x"), replace(RUN, conditions={"prompt": "v1"})]
    with store.write() as session:
        first = save_run(session, RUN, now=NOW)
        assert save_run(session, same, now=LATER) == first
        assert len({save_run(session, other, now=NOW) for other in others} | {first}) == 4
        assert row_counts(session)["run"] == 4


def test_runs_are_counted(store: Store, run_id: int) -> None:
    with store.write() as session:
        empty = save_run(session, RunRecord("model-b"), now=NOW)
        save_completions(session, run_id, [completion("p1", 0), completion("p1", 1), completion("p2", 0)])
    with store.read() as session:
        assert list_runs(session) == [
            RunSummary(run_id, "model-a", "label", RUN.conditions, 3, 2),
            RunSummary(empty, "model-b", "", {}, 0, 0),
        ]
        assert [run.run_id for run in list_runs(session, ["model-b", "model-c"])] == [empty]
        assert list_runs(session, []) == []


def test_the_same_answer_twice_is_one(store: Store, run_id: int) -> None:
    with store.write() as session:
        assert save_completion(session, run_id, completion()) is CREATED
        before = row_counts(session)
        assert save_completion(session, run_id, completion()) is UNCHANGED
        assert row_counts(session) == before


@pytest.mark.parametrize(
    ("other", "field"),
    [
        (CompletionRecord(key_of(), 0, "print(6)", finish_reason="stop", raw_output="raw"), "code"),
        (CompletionRecord(key_of(), 0, "print(5)", "pypy3", "stop", "raw"), "language"),
        (CompletionRecord(key_of(), 0, "print(5)", finish_reason="length", raw_output="raw"), "finish_reason"),
        (CompletionRecord(key_of(), 0, "print(5)", finish_reason="stop", raw_output="other"), "raw_output"),
        (CompletionRecord(key_of(), 0, "print(5)", status=AnswerStatus.TRUNCATED), "status"),
        (CompletionRecord(key_of(), 0, "print(5)", rule="first_block"), "rule"),
    ],
)
def test_another_answer_at_the_same_place_is_a_conflict(
    store: Store, run_id: int, other: CompletionRecord, field: str
) -> None:
    with store.write() as session:
        kept = CompletionRecord(
            key_of(), 0, "print(5)", "python3", "stop", "raw", status=AnswerStatus.OK, rule="last_block"
        )
        save_completion(session, run_id, kept)
        before = row_counts(session)
        with pytest.raises(CompletionConflict, match=f"sample 0 of judge:p1 with other {field}") as caught:
            save_completion(session, run_id, other)
        assert caught.value.hint
        assert row_counts(session) == before
        assert save_completion(session, run_id, kept) is UNCHANGED


def test_what_was_left_open_is_filled_in(store: Store, run_id: int) -> None:
    full = CompletionRecord(key_of(), 0, "print(5)", "python3", "stop", "raw \ud800", AnswerStatus.OK, "last_block")
    with store.write() as session:
        assert save_completion(session, run_id, completion()) is CREATED
        assert save_completion(session, run_id, full) is UPDATED
        assert save_completion(session, run_id, full) is UNCHANGED
        assert save_completion(session, run_id, completion()) is UNCHANGED
        assert save_completions(session, run_id, [completion("p2"), replace(full, key=key_of("p2"))]) == [
            CREATED,
            UPDATED,
        ]
        assert save_completion(session, run_id, replace(full, key=key_of("p2"))) is UNCHANGED


def test_refusals_stand_at_their_place_and_the_rest_is_saved(store: Store, run_id: int) -> None:
    with store.write() as session:
        save_completion(session, run_id, completion("p1", 0))
        results = save_completions(
            session,
            run_id,
            [
                completion("p1", 0, "other"),
                completion("p1", 1),
                completion("p1", 1),
                completion("p1", 1, "other"),
                completion("missing"),
                completion("p2", 0, ""),
            ],
        )
        assert isinstance(results[0], CompletionConflict)
        assert results[1:3] == [CREATED, UNCHANGED]
        assert isinstance(results[3], CompletionConflict)
        assert isinstance(results[4], UnknownProblem)
        assert results[4].key == key_of("missing")
        assert results[5] is CREATED
        assert row_counts(session)["completion"] == 3
        with pytest.raises(UnknownProblem):
            save_completion(session, run_id, completion("missing"))
        with pytest.raises(UnknownRow, match="no run 99"):
            save_completion(session, 99, completion())
        assert save_completions(session, run_id, []) == []


EXAMPLES = count()
RECORDS = st.lists(
    st.builds(
        CompletionRecord,
        key=st.sampled_from([key_of("p1"), key_of("p2"), key_of("missing")]),
        sample_index=st.integers(0, 2),
        code=st.text(st.characters(exclude_categories=()), max_size=3),
    ),
    max_size=8,
)


@settings(max_examples=30, deadline=None)
@given(records=RECORDS, cut=st.integers(0, 8))
def test_batches_do_what_single_saves_do(shared_store: Store, records: list[CompletionRecord], cut: int) -> None:
    label = str(next(EXAMPLES))
    with shared_store.write() as session:
        for native in ("p1", "p2"):
            save_problem(session, problem(native), now=NOW)
        single = save_run(session, RunRecord("m", label + " single"), now=NOW)
        batched = save_run(session, RunRecord("m", label + " batched"), now=NOW)
        one_by_one = [save_completions(session, single, [record])[0] for record in records]
        in_batches = save_completions(session, batched, records[:cut]) + save_completions(
            session, batched, records[cut:]
        )
        assert [type(one) for one in one_by_one] == [type(one) for one in in_batches]
        before = row_counts(session)
        again = save_completions(session, batched, records)
        assert row_counts(session) == before
        assert CREATED not in again
        assert UPDATED not in again
        environment = save_environment(session, EnvironmentRecord("digest", "none"), now=NOW)
        first: dict[tuple[str, int], str] = {}
        for record in records:
            if record.key != key_of("missing"):
                first.setdefault((record.key.native_id, record.sample_index), record.code)
        for run_id in (single, batched):
            stored = iter_pending(session, environment, run_ids=[run_id])
            assert {(one.problem_key.native_id, one.sample_index): one.code for one in stored} == first
