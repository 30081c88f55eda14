"""A long run through one pool, jails killed on the way: no verdict lost, none wrong, nothing left, flat memory.

    python -m benchmarks.soak [--executor docker] [--tests 200000] [--faults 50]

Faults are, in turn: SIGKILL for the agents of a jail, removal of a jail's container (or SIGKILL for bubblewrap itself),
and the client's connections to the daemon cut. Prints memory and descriptors of this process every tenth of the way.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sandbox import Job, Judge, Limits, Program, Suite, Test
from tests.sandbox import jails

TESTS_PER_SOLUTION = 20
PROGRAMS = (
    ("print(sum(map(int, input().split())))\n", "accepted"),
    ("a, b = map(int, input().split())\nprint(a + b if b < 19 else 0)\n", "wrong_answer"),
    ("a, b = map(int, input().split())\nprint(a + b)\nassert b < 19\n", "runtime_error"),
    ("import threading\nthreading.Thread(target=lambda: print(sum(map(int, input().split())))).start()\n", "accepted"),
)


def solutions(count: int) -> Iterator[Job[tuple[int, str]]]:
    """Programs of known verdict, each of which runs all its tests."""
    tests = tuple(Test(str(n), f"{n} {n}\n".encode(), f"{2 * n}\n".encode()) for n in range(TESTS_PER_SOLUTION))
    suite = Suite(tests, limits=Limits(cpu_s=5.0))
    for number, (source, verdict) in zip(range(count), itertools.cycle(PROGRAMS), strict=False):
        yield Job((number, verdict), Program(f"{source}# {number}\n"), suite)


def break_something(judge: Judge, number: int) -> str:
    """One fault from outside; what was done."""
    running = jails.running_jails(judge)
    if not running:
        return "nothing ran"
    jail = random.Random(number).choice(running)
    kinds: list[tuple[str, Callable[[], Any]]] = [
        ("agents killed", lambda: jails.end_jail(jail)),
        ("enclosure ended", lambda: jails.end_enclosure(jail)),
        ("connections to the daemon cut", lambda: jails.cut_connections(judge)),
    ]
    name, action = kinds[number % len(kinds)]
    with contextlib.suppress(ProcessLookupError, OSError):  # it may have ended by itself in this moment
        action()
    return name


def memory_kib() -> int:
    """Resident memory of this process."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


def descriptors() -> int:
    """Open descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))


def main() -> None:
    """Run it and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--tests", type=int, default=200_000)
    parser.add_argument("--faults", type=int, default=50)
    options = parser.parse_args()
    count = options.tests // TESTS_PER_SOLUTION
    wrong: list[str] = []
    faults: Counter[str] = Counter()
    n_done = n_tests = 0
    free_before = os.statvfs("/tmp").f_bavail
    before = (descriptors(), memory_kib())
    started = time.monotonic()
    with Judge(options.executor, options.jobs) as judge:
        every = max(1, count // (options.faults + 1))
        for (number, expected), outcome in judge.map(solutions(count)):
            n_done += 1
            n_tests += len(outcome.tests)
            if outcome.verdict != expected:
                wrong.append(f"solution {number}: {outcome.verdict} instead of {expected} ({outcome.detail})")
            if n_done % every == 0 and sum(faults.values()) < options.faults:
                faults[break_something(judge, sum(faults.values()))] += 1
            if n_done % max(1, count // 10) == 0:
                rate = n_tests / (time.monotonic() - started)
                print(f"{n_tests:7} tests, {rate:.0f}/s, {memory_kib()} KiB, {descriptors()} descriptors", flush=True)
    left = jails.left_by(os.getpid())
    jails.close_docker_client()  # the one by which faults were made and leftovers looked for
    print(f"{n_done} of {count} solutions, {n_tests} tests in {time.monotonic() - started:.0f} s")
    print(f"faults: {dict(faults)}; wrong verdicts: {len(wrong)}", *wrong[:20], sep="\n  ")
    print(f"descriptors {before[0]} before, {descriptors()} after; memory {before[1]} KiB, then {memory_kib()} KiB")
    print(f"left behind: {left or 'nothing'}")
    print(f"free blocks on /tmp: {free_before} before, {os.statvfs('/tmp').f_bavail} after")


if __name__ == "__main__":
    main()
