"""How fast judging is: solutions on 2 to 3 tests and on 20, through jails and beside them.

    python -m benchmarks.judging [--executor docker] [--jobs 2] [--limit 300] [--data ../shared/data]

Programs are solutions of the o1 runs of the shared data that are right, on their public tests, where that folder is
there, else the demonstration's; for 20 tests those tests are given again and again. Three methods judge the same in
turn, on the same number of workers, round after round: our jails with all layers, ``python3 file < input`` without any
isolation, and LiveCodeBench's way (:mod:`benchmarks.livecodebench_method`), which has none either. All programs run on
the same interpreter. Those that compute long are left out: they would tell of the interpreter, not of judging.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.layers import layer_costs
from benchmarks.livecodebench_method import livecodebench_method
from benchmarks.processor import children_s, judging_s
from sandbox import Io, Job, Judge, Limits, Program, SandboxUnavailable, Suite, Test, Verdict
from sandbox.comparison import first_difference
from sandbox.judge import EXECUTORS

ROOT = Path(__file__).parent.parent
MANY_TESTS = 20
LIMIT_S = 6.0
LONG_S = 0.01
_TIMED_TESTS = 200

PLAIN, LIVECODEBENCH = "plain python3", "LiveCodeBench's way"


@dataclass(frozen=True)
class Timing:
    """One round: seconds taken, tests run, programs accepted, seconds of processor time."""

    seconds: float
    tests: int
    accepted: int
    processor_s: float = 0.0


class Method(NamedTuple):
    """A way of judging: what it has used of the processor so far, and the seconds of wall and processor time that it
    takes to start: the one once, the other at each call."""

    name: str
    judge: Callable[[list[Job[int]]], Timing]
    used_s: Callable[[], float]
    start_s: float = 0.0
    start_processor_s: float = 0.0

    def timed(self, jobs: list[Job[int]]) -> Timing:
        """One round."""
        before_s = self.used_s()
        timing = self.judge(jobs)
        return replace(timing, processor_s=self.used_s() - before_s - self.start_processor_s)


def shared_jobs(data: Path, limit: int, *, right_only: bool = False, called: bool = False) -> list[Job[int]]:
    """The stdin solutions of the two o1 runs with their public tests, every n-th so that all dates are there.

    ``right_only`` leaves out those that were published as wrong; with ``called`` call-based ones come, too.
    """
    problems = {row["id"]: row for row in _lines(data / "livecodebench" / "problems.jsonl.gz")}
    rows = [
        row
        for row in _lines(data / "livecodebench" / "solutions.jsonl.gz")
        if row["model"].startswith("o1-") and row["code"] and problems[row["question_id"]]["public_tests"]
    ]
    if not called:
        rows = [row for row in rows if problems[row["question_id"]]["public_tests"][0]["testtype"] == "stdin"]
    if right_only:
        rows = [row for row in rows if row["published_grade"] and not row["suspect"]]
    step = max(1, len(rows) // limit)
    found = ((row["code"], problems[row["question_id"]]) for row in rows[::step])
    return [_job(index, code, of["public_tests"], of["func_name"]) for index, (code, of) in enumerate(found)]


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


def _job(key: int, code: str, tests: list[dict[str, str]], function: str | None = None) -> Job[int]:
    cases = tuple(
        Test(str(n), t["input"].encode(), t["output" if "output" in t else "expected"].encode())
        for n, t in enumerate(tests)
    )
    io = Io.FUNCTION if function else Io.STDIN
    return Job(key, Program(code), Suite(cases, io, function, limits=Limits(cpu_s=LIMIT_S)))


def with_many_tests(job: Job[int], count: int = MANY_TESTS) -> Job[int]:
    """The same program on so many tests, which are its own again and again."""
    tests = job.suite.tests
    repeated = tuple(tests[index % len(tests)] for index in range(count))
    return Job(job.key, job.program, Suite(repeated, job.suite.io, limits=job.suite.limits))


def in_jails(judge: Judge, jobs: list[Job[int]]) -> Timing:
    """Judge them all."""
    started = time.monotonic()
    outcomes = [outcome for _, outcome in judge.map(jobs)]
    accepted = sum(outcome.verdict is Verdict.ACCEPTED for outcome in outcomes)
    return Timing(time.monotonic() - started, sum(len(outcome.tests) for outcome in outcomes), accepted)


def short_jobs(judge: Judge, jobs: list[Job[int]]) -> list[Job[int]]:
    """Those of which no test computes for long."""
    longest_s = {
        key: max(test.facts.cpu_s if test.facts is not None else LIMIT_S for test in outcome.tests)
        for key, outcome in judge.map(jobs)
    }
    return [job for job in jobs if longest_s[job.key] < LONG_S]


def plainly(python: str, workers: int, jobs: list[Job[int]], folder: Path) -> Timing:
    """The same tests as ``python3 file < input``."""
    started = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda job: _plain(python, job, folder), jobs))
    return Timing(time.monotonic() - started, sum(n for n, _ in results), sum(good for _, good in results))


def _plain(python: str, job: Job[int], folder: Path) -> tuple[int, bool]:
    """How many tests ran up to the first failure, and whether there was none."""
    program, given = folder / f"{job.key}.py", folder / f"{job.key}.txt"
    program.write_text(job.program.source, encoding="utf-8")
    for number, test in enumerate(job.suite.tests, start=1):
        given.write_bytes(test.input)
        with given.open("rb") as stdin:
            try:
                done = subprocess.run(
                    [python, str(program)],
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    timeout=3 * LIMIT_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return number, False
        if done.returncode or first_difference(test.expected, done.stdout, job.suite.comparison) is not None:
            return number, False
    return len(job.suite.tests), True


def compare(methods: list[Method], jobs: list[Job[int]], rounds: int) -> dict[str, list[Timing]]:
    """Each method's timings, round by round; the methods take turns, another one first each time."""
    timings: dict[str, list[Timing]] = {method.name: [] for method in methods}
    for number in range(rounds):
        for method in methods[number % len(methods) :] + methods[: number % len(methods)]:
            timings[method.name].append(method.timed(jobs))
    return timings


def print_comparison(methods: list[Method], jobs: list[Job[int]], timings: dict[str, list[Timing]]) -> None:
    """Two lines for each method; ratios are to the first one in the same round."""
    tests = sum(len(job.suite.tests) for job in jobs)
    print(f"\n{len(jobs)} solutions, {tests / len(jobs):.1f} tests each")
    ours = timings[methods[0].name]
    for method in methods:
        theirs = timings[method.name]
        rates = sorted(timing.tests / timing.seconds for timing in theirs)
        started = [timing.tests / (timing.seconds + method.start_s) for timing in theirs]
        line = f"  {method.name:20} {statistics.median(rates):7.1f} tests/s (rounds {rates[0]:.1f} to {rates[-1]:.1f})"
        line += f", {statistics.median(started):7.1f} with start-up, {theirs[0].accepted} accepted"
        used_ms = statistics.median(timing.processor_s / timing.tests * 1000 for timing in theirs)
        line += f"\n  {'':20} {used_ms:7.2f} ms of processor time a test"
        if method is not methods[0]:
            pairs = list(zip(ours, theirs, strict=True))
            faster = sorted(other.seconds / own.seconds for own, other in pairs)
            less = statistics.median(other.processor_s / own.processor_s for own, other in pairs)
            line += f"; ours is {statistics.median(faster):.2f} times as fast ({faster[0]:.2f} to {faster[-1]:.2f})"
            line += f" and takes {1 / less:.2f} times as much of it"
        print(line, flush=True)


def test_ms(judge: Judge, program: Program) -> float:
    """Milliseconds for each test of a program beyond its first, on one worker."""
    tests = tuple(Test(str(n), b"1 2\n", b"3\n") for n in range(_TIMED_TESTS + 1))
    one = _seconds(lambda: judge.judge(program, Suite(tests[:1])))
    many = _seconds(lambda: judge.judge(program, Suite(tests)))
    return (many - one) / _TIMED_TESTS * 1000


def _seconds(action: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        started = time.monotonic()
        action()
        times.append(time.monotonic() - started)
    return statistics.median(times)


TRIVIAL = {
    "python3": "print(sum(map(int, input().split())))\n",
    "c": '#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); }\n',
    "cpp17": "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; }\n",
}


def print_trivial_tests(executor: str) -> None:
    """What one more test of a program that does next to nothing costs, by executor and language."""
    print(f"\na test of a trivial program beyond its first, on one worker, load {os.getloadavg()[0]:.1f}")
    for name in dict.fromkeys((executor, *EXECUTORS)):
        try:
            with Judge(name, 1) as judge:
                languages = [language for language in TRIVIAL if language in judge.languages]
                costs = {language: test_ms(judge, Program(TRIVIAL[language], language)) for language in languages}
        except SandboxUnavailable as error:
            print(f"  {name:20} not here: {error.message}")
            continue
        print(f"  {name:20} " + ", ".join(f"{language} {cost:.2f} ms" for language, cost in costs.items()), flush=True)


def _livecodebench(workers: int, python: str) -> Method:
    """That method, with what it takes to start: an interpreter, its imports, a pool that has been warmed up."""
    started, used_s = time.monotonic(), children_s()
    livecodebench_method(workers, [], python)
    start_s, start_processor_s = time.monotonic() - started, children_s() - used_s
    return Method(
        LIVECODEBENCH,
        lambda jobs: livecodebench_method(workers, jobs, python),
        children_s,
        start_s,
        start_processor_s,
    )


def _interpreter() -> str:
    """The system's own Python, which jails of bubblewrap have and which is the same in the image, where it is there."""
    return shutil.which("python3", path="/usr/bin") or "python3"


def main() -> None:
    """Run it and print lines of figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    shared = (options.data / "livecodebench").is_dir()
    jobs = shared_jobs(options.data, options.limit, right_only=True) if shared else demo_jobs(options.limit)
    python = _interpreter()
    started = time.monotonic()
    with Judge(options.executor, options.jobs) as judge, tempfile.TemporaryDirectory() as folder:
        in_jails(judge, jobs[: options.jobs])
        start_s = time.monotonic() - started
        short = short_jobs(judge, jobs)
        name = judge.environment.executor
        methods = [
            Method(name, lambda jobs: in_jails(judge, jobs), lambda: judging_s(judge), start_s),
            Method(PLAIN, lambda jobs: plainly(python, options.jobs, jobs, Path(folder)), children_s),
            _livecodebench(options.jobs, python),
        ]
        print(
            f"{'right solutions of the o1 runs' if shared else 'the demonstration'}, {options.jobs} workers on "
            f"{len(os.sched_getaffinity(0))} cores, {options.rounds} rounds, load {os.getloadavg()[0]:.1f}; "
            f"{len(jobs) - len(short)} of {len(jobs)} compute longer than {LONG_S * 1000:.0f} ms and are left out"
        )
        for part in (short, [with_many_tests(job) for job in short[:: MANY_TESTS // 4]]):
            print_comparison(methods, part, compare(methods, part, options.rounds))
    print_trivial_tests(name)
    print(f"\nwhat each layer of isolation costs a trivial test ({name}), load {os.getloadavg()[0]:.1f}")
    for line in layer_costs(name):
        print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
