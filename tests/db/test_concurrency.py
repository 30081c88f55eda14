"""Several processes on one store: none is ever told that it is locked, and a killed one leaves whole batches behind."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

from sqlalchemy import text

from db.completions import list_runs
from db.engine import Store, open_store
from db.judgements import iter_pending
from db.problems import list_problems
from db.records import CODE_GENERATION
from db.responses import count_failures, load_answers, places_answered
from tests.db.workers import BATCH, answer_places, read_until, write_batches, write_for_ever

SPAWN = multiprocessing.get_context("spawn")


def test_readers_and_writers_of_several_processes_never_meet_a_lock(store_url: str) -> None:
    writers, batches = 3, 20
    # Nobody has made the store yet: all four processes come to a new file at the same time.
    with ProcessPoolExecutor(writers + 1, mp_context=SPAWN) as pool:
        reading = pool.submit(read_until, store_url, writers * batches)
        writing = [pool.submit(write_batches, store_url, f"w{number}", batches) for number in range(writers)]
        waits = [one.result(timeout=120) for one in (*writing, reading)]
    assert max(waits) < 60
    with open_store(store_url) as store, store.read() as session:
        assert len(list_problems(session)) == writers * batches
        assert [run.n_completions for run in list_runs(session)] == [batches * BATCH] * writers


def test_of_two_processes_that_answer_one_place_one_is_kept(store_url: str) -> None:
    names, samples = ["first", "second"], 30
    with ProcessPoolExecutor(len(names), mp_context=SPAWN) as pool:
        done = [pool.submit(answer_places, store_url, name, samples) for name in names]
        assert sum(one.result(timeout=120) for one in done) == samples
    with open_store(store_url) as store, store.read() as session:
        (run,) = list_runs(session)
        assert run.n_completions == samples
        assert len(places_answered(session, run.run_id)) == samples
        assert count_failures(session, [run.run_id]) == {}
        answers = load_answers(session, [run.run_id], CODE_GENERATION)
        codes = {one.sample_index: one.code for one in iter_pending(session, 1, run_ids=[run.run_id])}
    # The program that is judged is that of the answer that was kept.
    assert {one.sample_index: one.answer for one in answers} == codes


def test_a_killed_writer_leaves_whole_batches(sqlite_store: Store) -> None:
    process = SPAWN.Process(target=write_for_ever, args=(sqlite_store.url,))
    process.start()
    give_up = time.monotonic() + 60
    done = 0
    while done < 3 and time.monotonic() < give_up:
        with sqlite_store.read() as session:
            done = len(list_problems(session))
    process.kill()
    process.join()
    with sqlite_store.write() as session:  # The lock of the dead is no lock.
        problems = len(list_problems(session))
        assert problems >= 3
        assert [run.n_completions for run in list_runs(session)] == [problems * BATCH]
        assert session.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        assert session.execute(text("PRAGMA foreign_key_check")).all() == []
