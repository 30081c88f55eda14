"""Several processes on one store: none is ever told that it is locked, and a killed one leaves whole batches behind."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

from sqlalchemy import text

from db.completions import list_runs
from db.engine import Store, open_store
from db.problems import list_problems
from tests.db.workers import BATCH, read_until, write_batches, write_for_ever

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
