"""Counting what became of answers."""

from __future__ import annotations

from dataclasses import replace

from db.answer_counts import count_answers, rules_of_runs
from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import save_problem
from db.records import AnswerStatus, Place
from db.responses import FailureRecord, ResponseRecord, save_failures, save_responses
from tests.db.builders import NOW, completion, problem


def test_answers_are_counted_by_run(store: Store) -> None:
    with store.write() as session:
        for name in ("p1", "p2", "p3"):
            save_problem(session, problem(name), now=NOW)
        run, other = (save_run(session, RunRecord(name), now=NOW) for name in ("a", "b"))
        answers = [
            completion("p1", 0, "x"),
            completion("p1", 1, "x"),
            completion("p2", 0, "y"),
            replace(completion("p2", 1, ""), finish_reason="length"),
            replace(completion("p3", 0, ""), finish_reason="stop"),
        ]
        save_completions(session, run, answers)
        save_completions(session, other, [completion("p1", 0, "x")])
        environment = save_environment(session, EnvironmentRecord("sha", "docker"), now=NOW)
        pending = iter_pending(session, environment, limit=10, run_ids=[run])
        verdicts = ["accepted", "accepted", "runtime_error"]
        records = [
            JudgementRecord(one.completion_id, one.suite_id, verdict, [], NOW)
            for one, verdict in zip(pending, verdicts, strict=False)
        ]
        save_judgements(session, environment, records)
    with store.read() as session:
        found = count_answers(session, [run, other], environment, truncated=["length"])
        unjudged = count_answers(session, [run], None, truncated=[])
    assert set(found) == {run, other}
    one = found[run]
    assert (one.n_answers, one.n_empty, one.n_truncated, one.n_distinct) == (5, 2, 1, 3)
    assert (one.n_repeated, one.n_all_equal) == (2, 1)
    assert one.verdicts == {"accepted": 2, "runtime_error": 1}
    assert found[other].verdicts == {}
    assert (unjudged[run].n_truncated, unjudged[run].verdicts) == (0, {})


def test_what_was_found_in_answers_is_counted_apart_from_empty_programs(store: Store) -> None:
    ok, no_code, truncated, refused = (
        AnswerStatus.OK,
        AnswerStatus.NO_CODE,
        AnswerStatus.TRUNCATED,
        AnswerStatus.REFUSED,
    )
    with store.write() as session:
        ids = [save_problem(session, problem(name), now=NOW).problem_id for name in ("p1", "p2")]
        run = save_run(session, RunRecord("a"), now=NOW)
        answers = [
            replace(completion("p1", 0, "x"), status=ok),
            replace(completion("p1", 1, "x"), status=ok),
            replace(completion("p1", 2, ""), status=no_code),
            replace(completion("p1", 3, ""), status=truncated, finish_reason="length"),
            replace(completion("p1", 4, ""), status=truncated),
            replace(completion("p2", 0, ""), status=refused),
            replace(completion("p2", 1, ""), status=refused),
            completion("p2", 2, ""),
        ]
        save_completions(session, run, answers)
        failures = [FailureRecord(Place(ids[1], 0, sample), NOW, "timed_out", "no answer") for sample in (3, 4, 5)]
        save_failures(session, run, failures)
        one = count_answers(session, [run], None, truncated=["length"])[run]
    assert (one.n_answers, one.n_empty, one.n_truncated, one.n_failed) == (8, 1, 2, 3)
    assert one.statuses == {ok: 2, no_code: 1, truncated: 2, refused: 2}
    # Programs alone: the two of p1, which are one, and the empty one of p2.
    assert (one.n_repeated, one.n_all_equal, one.n_distinct) == (1, 1, 2)


def test_no_run_gives_nothing(store: Store) -> None:
    with store.read() as session:
        assert count_answers(session, [], 1, truncated=[]) == {}


def test_answers_are_counted_by_status_and_rule(store: Store) -> None:
    """Those of an endpoint; of programs that were imported, the programs themselves."""
    found = [("ok", "whole_block"), ("ok", "whole_block"), ("no_code", "no_block")]
    with store.write() as session:
        problem_id = save_problem(session, problem("p1"), now=NOW).problem_id
        asked, imported, plain = (save_run(session, RunRecord(name), now=NOW) for name in ("a", "b", "c"))
        programs = [
            replace(completion("p1", sample, "x" * (status == "ok")), status=AnswerStatus(status), rule=rule)
            for sample, (status, rule) in enumerate(found)
        ]
        save_completions(session, imported, programs)
        save_completions(session, plain, [completion("p1", 0, "x")])
        answers = [
            ResponseRecord(
                Place(problem_id, 7, sample), programs[0].key, requested_at=NOW, status=AnswerStatus(status), rule=rule
            )
            for sample, (status, rule) in enumerate(found[1:])
        ]
        save_responses(session, asked, answers)
    with store.read() as session:
        counted = rules_of_runs(session, [asked, imported, plain])
        assert rules_of_runs(session, []) == {}
    assert counted == {
        imported: {("ok", "whole_block"): 2, ("no_code", "no_block"): 1},
        asked: {("ok", "whole_block"): 1, ("no_code", "no_block"): 1},
    }
