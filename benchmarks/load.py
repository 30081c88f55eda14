"""Whether a busy machine changes verdicts: the same solutions alone, beside busy loops, and with too many workers.

    python -m benchmarks.load [--executor docker] [--limit 0] [--data ../shared/data]

Programs are the o1 runs of the shared data, stdin and call-based, on their public tests where that folder is there,
else the demonstration's. Prints each solution whose verdict differs, and how many there are.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.judging import ROOT, demo_jobs, shared_jobs
from sandbox import Job, Judge

FACTOR = 4


def _spin() -> None:
    while True:
        pass


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep that many processes busy meanwhile."""
    processes = [multiprocessing.get_context("spawn").Process(target=_spin, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def verdicts(executor: str, workers: int, jobs: list[Job[int]]) -> dict[int, str]:
    """The verdict of each job, by its key; says on the way how long it took."""
    started = time.monotonic()
    with Judge(executor, workers) as judge:
        found = {key: str(outcome.verdict) for key, outcome in judge.map(jobs)}
    print(f"  {len(jobs)} solutions with {workers} workers in {time.monotonic() - started:.0f} s", flush=True)
    return found


def main() -> None:
    """Judge three times and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--limit", type=int, default=0, help="solutions; 0 for all")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    shared = (options.data / "livecodebench").is_dir()
    limit = options.limit or 1_000_000
    jobs = shared_jobs(options.data, limit, called=True) if shared else demo_jobs(limit)
    cores = len(os.sched_getaffinity(0))
    print("alone")
    alone = verdicts(options.executor, cores, jobs)
    print(f"beside {FACTOR * cores} busy loops")
    with busy_loops(FACTOR * cores):
        beside = verdicts(options.executor, cores, jobs)
    print(f"with {FACTOR * cores} workers")
    crowded = verdicts(options.executor, FACTOR * cores, jobs)
    different = [key for key in alone if len({alone[key], beside[key], crowded[key]}) > 1]
    for key in different:
        print(
            f"  solution {key}: {alone[key]} alone, {beside[key]} beside busy loops, {crowded[key]} with many workers"
        )
    print(f"{len(different)} of {len(jobs)} verdicts differ")


if __name__ == "__main__":
    main()
