"""What the processes of the concurrency tests do. Each opens the store itself."""

from __future__ import annotations

import time

from db.completions import RunRecord, list_runs, save_completions, save_run
from db.engine import open_store
from db.problems import list_problems, save_problem
from db.records import Place, SaveOutcome
from db.responses import FailureRecord, save_failures, save_responses
from tests.db.builders import NOW, completion, problem, response

BATCH = 5


def write_batches(url: str, name: str, batches: int) -> float:
    """Read, then write, in each transaction: a problem and BATCH answers to it. The longest wait in seconds."""
    longest = 0.0
    with open_store(url) as store:
        for number in range(batches):
            began = time.perf_counter()
            with store.write() as session:
                longest = max(longest, time.perf_counter() - began)
                run_id = save_run(session, RunRecord("model", name), now=NOW)
                native = f"{name}-{number}"
                save_problem(session, problem(native), now=NOW)
                save_completions(session, run_id, [completion(native, sample) for sample in range(BATCH)])
    return longest


def read_until(url: str, problems: int) -> float:
    """Read until so many problems are there; each snapshot must be whole. The longest read in seconds."""
    longest, seen = 0.0, -1
    with open_store(url) as store:
        while seen < problems:
            began = time.perf_counter()
            with store.read() as session:
                listed = len(list_problems(session))
                answered = list_runs(session)
            longest = max(longest, time.perf_counter() - began)
            assert seen <= listed
            assert sum(run.n_completions for run in answered) == listed * BATCH
            seen = listed
            time.sleep(0.005)
    return longest


def answer_places(url: str, name: str, samples: int) -> int:
    """Save answers, of this process's own words, to the same places as the others, one a transaction; how many were
    taken. Each place has failed before in this process."""
    created = 0
    with open_store(url) as store:
        with store.write() as session:
            problem_id = save_problem(session, problem("p1"), now=NOW).problem_id
            run_id = save_run(session, RunRecord("model"), now=NOW)
        for sample in range(samples):
            failure = FailureRecord(Place(problem_id, 0, sample), NOW, "timed_out", name)
            with store.write() as session:
                save_failures(session, run_id, [failure])
            with store.write() as session:
                (outcome,) = save_responses(session, run_id, [response(problem_id, sample=sample, code=name)])
            created += outcome is SaveOutcome.CREATED
    return created


def write_for_ever(url: str) -> None:
    """Write batch after batch until somebody kills the process."""
    write_batches(url, "endless", 1_000_000)
