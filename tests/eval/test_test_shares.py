"""Shares of tests passed, read from a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from db.completions import RunRecord, save_completion, save_run
from db.engine import Store, open_store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import save_problem
from db.records import (
    AnswerStatus,
    CompletionRecord,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from eval.test_shares import load_test_shares
from tests.eval.facts import NOW

KEYS = [ProblemKey("atcoder", name) for name in ("a", "b")]
PASSED, FAILED = {"verdict": "accepted"}, {"verdict": "wrong_answer"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    cases = tuple(TestCaseRecord(str(number), b"1\n", b"2\n", TestOrigin.OFFICIAL) for number in range(4))
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        with opened.write() as session:
            for key in KEYS:
                save_problem(
                    session, ProblemRecord(key, key.native_id, (), "a test", suite=SuiteRecord(cases)), now=NOW
                )
        yield opened


def judged(store: Store, model: str, samples: Mapping[str, list[tuple[str, list[dict[str, str]]]]]) -> tuple[int, int]:
    """A run with (verdict, tests) for each sample of each problem; its id and that of the environment."""
    with store.write() as session:
        run_id = save_run(session, RunRecord(model), now=NOW)
        environment_id = save_environment(session, EnvironmentRecord("e" * 64, "docker", {}), now=NOW)
        for name, results in samples.items():
            for sample in range(len(results)):
                code = f"print({model!r}, {name!r}, {sample})"
                save_completion(session, run_id, CompletionRecord(ProblemKey("atcoder", name), sample, code))
    with store.write() as session:
        pending = iter_pending(session, environment_id, run_ids=[run_id], limit=100)
        records = []
        for one in pending:
            verdict, tests = samples[one.problem_key.native_id][one.sample_index]
            records.append(JudgementRecord(one.completion_id, one.suite_id, verdict, tests, NOW))
        save_judgements(session, environment_id, records)
    return run_id, environment_id


def test_means_of_shares_over_samples(store: Store) -> None:
    samples = {
        "a": [("accepted", []), ("wrong_answer", [PASSED, FAILED, PASSED, PASSED]), ("internal_error", [])],
        "b": [("compile_error", [FAILED]), ("time_limit", [PASSED, PASSED, PASSED, FAILED])],
    }
    run_id, environment_id = judged(store, "m", samples)
    with store.read() as session:
        found = load_test_shares(session, environment_id, [run_id], [1, 2])
        assert found == {run_id: {1: 0.875, 2: 0.375}}
        assert load_test_shares(session, environment_id, [run_id], [2]) == {run_id: {2: 0.375}}


def test_a_run_that_was_judged_up_to_the_first_failure_has_no_share(store: Store) -> None:
    whole, environment_id = judged(store, "whole", {"a": [("accepted", [])], "b": [("accepted", [])]})
    cut, _ = judged(store, "cut", {"a": [("accepted", [])], "b": [("wrong_answer", [PASSED, FAILED])]})
    with store.read() as session:
        found = load_test_shares(session, environment_id, [whole, cut], [1, 2])
    assert found == {whole: {1: 1.0, 2: 1.0}, cut: {}}


def test_an_answer_without_a_program_passes_nothing(store: Store) -> None:
    run_id, environment_id = judged(store, "m", {"a": [("accepted", [])]})
    with store.write() as session:
        refused = CompletionRecord(KEYS[0], 1, "", status=AnswerStatus.REFUSED, rule="refusal_field")
        save_completion(session, run_id, refused)
    with store.read() as session:
        assert load_test_shares(session, environment_id, [run_id], [1]) == {run_id: {1: 0.5}}
