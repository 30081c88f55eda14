"""How fast judging is: solutions and tests a second through a jail, beside the same tests as plain subprocesses.

    python -m benchmarks.judging [--executor docker] [--jobs 2] [--limit 300] [--data ../shared/data]

Programs are the o1 runs of the shared data on their public tests where that folder is there, else the demonstration's.
Both sides run the same tests on the same number of workers in the same process, in alternating rounds, and stop a
solution at its first failure. "Plain" is ``python3 file < input`` with no isolation and only a wall-time limit.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox import Io, Job, Judge, Limits, Program, Suite, Test, Verdict
from sandbox.comparison import first_difference

ROOT = Path(__file__).parent.parent
ROUNDS = 3


@dataclass(frozen=True)
class Timing:
    """One round: seconds taken, tests run, programs accepted."""

    seconds: float
    tests: int
    accepted: int


def shared_jobs(data: Path, limit: int) -> list[Job[int]]:
    """The stdin solutions of the two o1 runs with their public tests, every n-th so that all dates are there."""
    problems = {row["id"]: row for row in _lines(data / "livecodebench" / "problems.jsonl.gz")}
    rows = [
        row
        for row in _lines(data / "livecodebench" / "solutions.jsonl.gz")
        if row["model"].startswith("o1-") and row["code"] and problems[row["question_id"]]["public_tests"]
    ]
    rows = [row for row in rows if problems[row["question_id"]]["public_tests"][0]["testtype"] == "stdin"]
    step = max(1, len(rows) // limit)
    return [
        _job(index, row["code"], problems[row["question_id"]]["public_tests"]) for index, row in enumerate(rows[::step])
    ]


def demo_jobs(limit: int) -> list[Job[int]]:
    """The demonstration's stdin solutions."""
    folder = ROOT / "live" / "demo"
    problems = {row["id"]: row for row in map(json.loads, (folder / "problems.jsonl").read_text().splitlines())}
    rows = [json.loads(line) for path in sorted((folder / "solutions").glob("*.jsonl")) for line in path.open()]
    rows = [row for row in rows if problems[row["id"]]["io"] == "stdin" and problems[row["id"]].get("tests")]
    return [_job(index, row["code"], problems[row["id"]]["tests"]) for index, row in enumerate(rows[:limit])]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _job(key: int, code: str, tests: list[dict[str, str]]) -> Job[int]:
    cases = tuple(
        Test(str(n), t["input"].encode(), t["output" if "output" in t else "expected"].encode())
        for n, t in enumerate(tests)
    )
    return Job(key, Program(code), Suite(cases, Io.STDIN, limits=Limits(cpu_s=6)))


def in_jails(judge: Judge, jobs: list[Job[int]]) -> Timing:
    """Judge them all."""
    started = time.monotonic()
    outcomes = [outcome for _, outcome in judge.map(jobs)]
    accepted = sum(outcome.verdict is Verdict.ACCEPTED for outcome in outcomes)
    return Timing(time.monotonic() - started, sum(len(outcome.tests) for outcome in outcomes), accepted)


def plainly(workers: int, jobs: list[Job[int]], folder: Path) -> Timing:
    """The same tests as ``python3 file < input``."""
    started = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda job: _plain(job, folder), jobs))
    return Timing(time.monotonic() - started, sum(n for n, _ in results), sum(good for _, good in results))


def _plain(job: Job[int], folder: Path) -> tuple[int, bool]:
    path = folder / f"{job.key}.py"
    path.write_text(job.program.source, encoding="utf-8")
    for number, test in enumerate(job.suite.tests, start=1):
        try:
            done = subprocess.run(
                ["/usr/bin/python3", str(path)], input=test.input, capture_output=True, timeout=18, check=False
            )
        except subprocess.TimeoutExpired:
            return number, False
        if done.returncode or first_difference(test.expected, done.stdout, job.suite.comparison) is not None:
            return number, False
    return len(job.suite.tests), True


def trivial_test_ms(judge: Judge) -> float:
    """Milliseconds for each test of a trivial program beyond its first, on one worker."""
    tests = tuple(Test(str(n), b"1 2\n", b"3\n") for n in range(201))
    program = Program("print(sum(map(int, input().split())))\n")
    one = _seconds(lambda: judge.judge(program, Suite(tests[:1])))
    many = _seconds(lambda: judge.judge(program, Suite(tests)))
    return (many - one) / 200 * 1000


def _seconds(action: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        started = time.monotonic()
        action()
        times.append(time.monotonic() - started)
    return statistics.median(times)


def main() -> None:
    """Run it and print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    shared = (options.data / "livecodebench").is_dir()
    jobs = shared_jobs(options.data, options.limit) if shared else demo_jobs(options.limit)
    started = time.monotonic()
    with Judge(options.executor, options.jobs) as judge, tempfile.TemporaryDirectory() as folder:
        in_jails(judge, jobs[: options.jobs])
        start_s = time.monotonic() - started
        rounds = [(in_jails(judge, jobs), plainly(options.jobs, jobs, Path(folder))) for _ in range(ROUNDS)]
        trivial = trivial_test_ms(judge)
        name = judge.environment.executor
    print(
        f"{len(jobs)} solutions ({'o1 runs, public tests' if shared else 'demonstration'}), "
        f"{options.jobs} workers, {ROUNDS} rounds"
    )
    for label, timings in ((name, [r[0] for r in rounds]), ("plain python3", [r[1] for r in rounds])):
        best = min(timings, key=lambda timing: timing.seconds)
        rates = sorted(timing.tests / timing.seconds for timing in timings)
        print(
            f"{label:14} {len(jobs) / best.seconds:7.1f} solutions/s {best.tests / best.seconds:7.1f} tests/s "
            f"(rounds {rates[0]:.1f} to {rates[-1]:.1f}), {best.accepted} accepted of {len(jobs)}, {best.tests} tests"
        )
    ratios = [plain.seconds / jailed.seconds for jailed, plain in rounds]
    print(
        f"{name} is {statistics.median(ratios):.2f} times as fast as plain python3 "
        f"(rounds {min(ratios):.2f} to {max(ratios):.2f})"
    )
    print(f"start of the workers: {start_s:.2f} s; a trivial test beyond the first: {trivial:.2f} ms")


if __name__ == "__main__":
    main()
