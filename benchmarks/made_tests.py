"""Made tests held against what is known: problems whose hidden tests, or published grades, are there.

    python -m benchmarks.made_tests grammars
    python -m benchmarks.made_tests livecodebench [--every 10] [--platform leetcode] [--results FILE]
    python -m benchmarks.made_tests packages [--only NAME]

All need the shared data (``--data ../shared/data``). ``grammars``: which statements of LiveCodeBench give a grammar of
their input, and why others do not. ``livecodebench``: tests are built from statement, public tests and completions
alone, and every completion is judged by them; with ``--results`` each problem is a line of that file, and what is there
already is not measured again. ``packages``: tests are built from statement, samples and accepted submissions, and the
jury's other submissions are judged by them and by the official secret tests.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.made_tests_data import PLATFORMS, LiveCodeBench
from benchmarks.made_tests_livecodebench import Measured, measure, read_explained, report
from benchmarks.made_tests_packages import measure_packages
from eval.made_tests.building import BuildSettings
from eval.made_tests.calibration import calibrate
from eval.made_tests.drawing import CannotDraw, draw_with_reasons
from eval.made_tests.gate import CannotBuild
from eval.made_tests.grammar import Grammar
from eval.made_tests.inputs import input_source
from sandbox import Judge

ROOT = Path(__file__).parent.parent
LEAST_MODELS = 3


def grammars(data: LiveCodeBench, problems: Sequence[str], wanted: int) -> Iterator[str]:
    """How many statements give a grammar that takes the samples, and of how many inputs can be drawn."""
    given, drawn, asked = Counter[str](), Counter[str](), Counter[str]()
    reasons = Counter[str]()
    slowest = (0.0, "")
    for problem in problems:
        platform = data.problems[problem]["platform"]
        asked[platform] += 1
        started = time.process_time()
        try:
            source = input_source(data.material(problem))
        except CannotBuild as error:
            reasons[f"{platform}: {error.message}"] += 1
            continue
        given[platform] += 1
        assert isinstance(source.grammar, Grammar)  # there are no classes and no programs in this data
        try:
            draw_with_reasons(source.grammar, 0, wanted)
        except CannotDraw as error:
            reasons[f"{platform}: {error.message}"] += 1
            continue
        drawn[platform] += 1
        slowest = max(slowest, (time.process_time() - started, problem))
    for platform, n in asked.items():
        share = 100 * given[platform] / n
        yield f"{platform}: {given[platform]} of {n} give a grammar ({share:.1f} %), {drawn[platform]} can be drawn"
    yield f"slowest: {slowest[1]}, {slowest[0]:.1f} s of CPU for {wanted} inputs"
    yield "otherwise:"
    yield from (f"  {n} {reason}" for reason, n in reasons.most_common())


def livecodebench(options: argparse.Namespace, data: LiveCodeBench) -> Iterator[str]:
    """Measure each problem, with a line about it; then the figures."""
    problems = [
        problem
        for problem in data.with_right_models(LEAST_MODELS)
        if data.problems[problem]["platform"] in (options.platform or PLATFORMS)
    ]
    wanted = options.problem or problems[:: options.every]
    found = {one.problem.split(":")[1]: one for one in _kept(options.results)}
    started = time.monotonic()
    with Judge(options.executor, options.jobs) as judge:
        calibration = calibrate(judge)
        for problem in wanted:
            if problem not in found:
                found[problem] = measure(data, problem, judge, calibration, BuildSettings(seed=options.seed))
                _keep(options.results, found[problem])
                yield _line(found[problem])
    yield f"{len(wanted)} problems, {options.jobs} workers, load {os.getloadavg()[0]:.1f}, "
    yield f"{time.monotonic() - started:.0f} s with the judging of all programs"
    yield from report([found[problem] for problem in wanted], read_explained())


def _line(one: Measured) -> str:
    if one.reason is not None:
        return f"{one.problem}: {one.reason} ({one.seconds:.1f} s)"
    passing = [program for program in one.programs if program.passes_samples]
    wrong = [program for program in passing if not program.is_right]
    caught = sum(program.failed is not None for program in wrong)
    return (
        f"{one.problem}: {one.n_made} tests, {one.n_bytes / 1000:.0f} kB, limit {one.time_limit_s} s, "
        f"{caught} of {len(wrong)} caught, {len(one.false_kills)} false kills, aside {one.findings} "
        f"({one.seconds:.1f} s)"
    )


def _kept(file: Path | None) -> Iterator[Measured]:
    if file is not None and file.is_file():
        yield from map(Measured.from_line, file.read_text(encoding="utf-8").splitlines())


def _keep(file: Path | None, one: Measured) -> None:
    if file is not None:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(one.as_line() + "\n")


def main() -> None:
    """Run one of them and print its lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("grammars", "livecodebench", "packages"))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="take each n-th problem")
    parser.add_argument("--inputs", type=int, default=4, help="how many inputs are drawn for `grammars`")
    parser.add_argument("--platform", action="append", help="AtCoder's or LeetCode's problems alone")
    parser.add_argument("--problem", action="append", help="this question id, or package, alone")
    parser.add_argument("--results", type=Path, help="a file of JSON lines to which results are added")
    options = parser.parse_args()
    if options.what == "packages":
        lines = measure_packages(options.data / "packages", options)
    else:
        data = LiveCodeBench.read(options.data / "livecodebench")
        wanted = list(options.problem or data.problems)[:: options.every]
        lines = grammars(data, wanted, options.inputs) if options.what == "grammars" else livecodebench(options, data)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
