"""Counting what became of answers."""

from __future__ import annotations

from dataclasses import replace

from db.answer_counts import count_answers
from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.problems import save_problem
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


def test_no_run_gives_nothing(store: Store) -> None:
    with store.read() as session:
        assert count_answers(session, [], 1, truncated=[]) == {}
