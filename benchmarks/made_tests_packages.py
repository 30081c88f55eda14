"""Made tests on problem packages: built from what a contest's jury would give, held against its secret tests.

Tests are built from a package's statement, samples and accepted submissions alone. Then every submission of the jury is
judged three times: by the samples, by the tests that were made (the samples among them), and by the official secret
tests. A false kill is an accepted submission that fails tests which were built without it. Packages whose tests give
parts of a score are left out.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from benchmarks.made_tests_data import lines_of
from db.records import ProblemRecord, ProgramRole, SuiteRecord, TestCaseRecord, TestOrigin
from eval.judging import to_suite
from eval.made_tests.building import BuildSettings, MadeSuite, build, prepare
from eval.made_tests.calibration import calibrate
from eval.made_tests.gate import CannotBuild
from eval.made_tests.material import KnownProgram, Material
from eval.made_tests.time_limit import Calibration
from ingest.formats import load_format
from sandbox import Job, Judge, Outcome, Program, Verdict, languages
from sandbox.programs import MIB

ACCEPTED = "accepted"
WRONG = ("wrong_answer", "run_time_error")
SLOW = "time_limit_exceeded"
_GENEROUS_S = 60.0
_MEMORY_BYTES = 2048 * MIB


@dataclass(frozen=True)
class Submission:
    """A submission of a jury. ``name`` is one that no other of its package has; ``expected`` is the jury's verdict."""

    name: str
    expected: str
    program: Program

    @property
    def group(self) -> str:
        """What it is counted among."""
        return "wrong" if self.expected in WRONG else "too slow" if self.expected == SLOW else self.expected


@dataclass(frozen=True)
class PackageFound:
    """One package: by group of submissions how many there are, and how many fail the samples, the built suite, its made
    tests alone and the official tests. ``reason`` says why none could be built. ``survivors`` pass what was built,
    ``false_kills`` are accepted submissions that fail what was built without them."""

    package: str
    reason: str | None
    n: Counter[str]
    fail_samples: Counter[str]
    fail_official: Counter[str]
    fail_built: Counter[str] = field(default_factory=Counter)
    fail_made: Counter[str] = field(default_factory=Counter)
    n_made: int = 0
    time_limit_s: float | None = None
    survivors: tuple[str, ...] = ()
    n_held_out: int = 0
    false_kills: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """What is said of it."""
        made = f"{self.n_made} tests, limit {self.time_limit_s} s" if self.reason is None else self.reason
        yield f"{self.package}: {made}"
        for group in ("wrong", "too slow"):
            if self.n[group]:
                counts = f"{self.fail_built[group]} the built suite ({self.fail_made[group]} its made tests)"
                built = f", {counts}" if self.reason is None else ""
                yield (
                    f"  {self.n[group]} {group}: {self.fail_samples[group]} fail the samples{built}, "
                    f"{self.fail_official[group]} the official tests"
                )
        if self.n_held_out:
            yield f"  {len(self.false_kills)} of {self.n_held_out} accepted ones fail tests built without them"
        yield from (f"    survives: {name}" for name in self.survivors)
        yield from (f"    FALSE KILL: {name}" for name in self.false_kills)


def measure_packages(folder: Path, options: Namespace) -> Iterator[str]:
    """Measure each pass-fail package, with lines about it; then the figures of all."""
    submissions = _submissions(folder)
    found: list[PackageFound] = []
    with Judge(options.executor, options.jobs) as judge:
        calibration = calibrate(judge)
        for item in load_format("kattis").read(folder):
            if not isinstance(item, ProblemRecord) or item.suite is None or (item.suite.groups or {}).get("scoring"):
                continue
            name = item.key.native_id
            if options.problem and name not in options.problem:
                continue
            here = [one for one in submissions[name] if one.program.language in judge.languages]
            bench = _Bench(item, here, _factor(folder / name), judge, calibration, BuildSettings(seed=options.seed))
            found.append(bench.measure())
            yield from found[-1].lines()
    yield from _figures(found)


@dataclass(frozen=True)
class _Bench:
    """A package with its submissions in languages that are here; ``factor`` is its multiple of the slowest accepted."""

    problem: ProblemRecord
    submissions: Sequence[Submission]
    factor: float
    judge: Judge
    calibration: Calibration
    settings: BuildSettings

    def measure(self) -> PackageFound:
        """Judge by samples and official tests; build, and judge by what was built; hold each accepted one out."""
        official, limit_s = self._official()
        on_samples = self._judged(replace(self.suite, tests=self._samples(), time_limit_s=limit_s))
        counts = (self._count(self.submissions), self._failing(on_samples), self._failing(official))
        accepted = [one for one in self.submissions if one.expected == ACCEPTED]
        try:
            made = self._build(accepted)
        except CannotBuild as error:
            return PackageFound(self.problem.key.native_id, error.message, *counts)
        outcomes = self._judged(made.suite)
        survivors = [
            one for one in self.submissions if one.group != ACCEPTED and outcomes[one.name].verdict is Verdict.ACCEPTED
        ]
        kills = list(self._held_out(accepted)) if len(accepted) > 1 else []
        return PackageFound(
            self.problem.key.native_id,
            None,
            *counts,
            fail_built=self._failing(outcomes),
            fail_made=self._count(one for one in self.submissions if self._fails_made(one, outcomes[one.name], made)),
            n_made=made.n_made,
            time_limit_s=made.suite.time_limit_s,
            survivors=tuple(f"{one.name} ({one.expected})" for one in survivors),
            n_held_out=len(kills),
            false_kills=tuple(kill for kill in kills if kill is not None),
        )

    @property
    def suite(self) -> SuiteRecord:
        """The package's own suite, with memory as the format's tools give it where it says nothing."""
        assert self.problem.suite is not None
        return replace(self.problem.suite, memory_limit_bytes=self.problem.suite.memory_limit_bytes or _MEMORY_BYTES)

    def _samples(self) -> tuple[TestCaseRecord, ...]:
        return tuple(test for test in self.suite.tests if test.origin is TestOrigin.SAMPLE)

    def _build(self, references: Iterable[Submission]) -> MadeSuite:
        programs = tuple(
            KnownProgram(one.name, one.program, ProgramRole.ACCEPTED, is_official=True) for one in references
        )
        suite = replace(self.suite, tests=self._samples())
        material = Material(f"package:{self.problem.key.native_id}", self.problem.statement, suite, programs)
        return build(prepare(material, self.settings), self.judge, self.calibration)

    def _fails_made(self, one: Submission, outcome: Outcome, made: MadeSuite) -> bool:
        """Whether it fails a test that was made: one that fails a sample is run again without the samples."""
        if outcome.verdict is Verdict.ACCEPTED:
            return False
        tests = tuple(test for test in made.suite.tests if test.origin is not TestOrigin.SAMPLE)
        if outcome.tests[-1].name in {test.name for test in tests}:
            return True
        alone = self.judge.judge(one.program, to_suite(replace(made.suite, tests=tests)))
        return alone.verdict is not Verdict.ACCEPTED

    def _held_out(self, accepted: Sequence[Submission]) -> Iterator[str | None]:
        """For each accepted submission how it fails what is built without it; None: it does not."""
        for held in accepted:
            try:
                made = self._build(one for one in accepted if one is not held)
            except CannotBuild as error:
                yield f"{held.name}: without it {error.message}"
                continue
            outcome = self.judge.judge(held.program, to_suite(made.suite))
            if outcome.verdict is Verdict.ACCEPTED:
                yield None
            else:
                failed = outcome.tests[-1]
                yield f"{held.name} on {failed.name}: {failed.verdict} {failed.detail}"

    def _official(self) -> tuple[dict[str, Outcome], float]:
        """By the official tests, and the time limit: the format's rule from the slowest accepted submission."""
        accepted = [one for one in self.submissions if one.expected == ACCEPTED]
        found = self._judged(replace(self.suite, time_limit_s=_GENEROUS_S), accepted)
        times = [test.facts.cpu_s for one in found.values() for test in one.tests if test.facts is not None]
        limit_s = float(max(1, math.floor(max(times, default=1.0) * self.factor + 0.5)))
        others = [one for one in self.submissions if one.expected != ACCEPTED]
        return found | self._judged(replace(self.suite, time_limit_s=limit_s), others), limit_s

    def _judged(self, record: SuiteRecord, submissions: Sequence[Submission] | None = None) -> dict[str, Outcome]:
        suite = to_suite(record)
        wanted = self.submissions if submissions is None else submissions
        return dict(self.judge.map(Job(one.name, one.program, suite) for one in wanted))

    def _count(self, submissions: Iterable[Submission]) -> Counter[str]:
        return Counter(one.group for one in submissions)

    def _failing(self, outcomes: Mapping[str, Outcome]) -> Counter[str]:
        return self._count(one for one in self.submissions if outcomes[one.name].verdict is not Verdict.ACCEPTED)


def _submissions(folder: Path) -> Mapping[str, Sequence[Submission]]:
    """By package, in languages that are supported; a name that comes twice gets a number."""
    found: dict[str, list[Submission]] = defaultdict(list)
    for row in lines_of(folder / "submissions.jsonl.gz"):
        language = languages.canonical(row["language"])
        if language is not None:
            others = found[row["package"]]
            name = row["name"] if all(one.name != row["name"] for one in others) else f"{row['name']} ({len(others)})"
            others.append(Submission(name, row["expected"], Program(row["source"], language)))
    return found


def _factor(package: Path) -> float:
    """What a package multiplies the slowest accepted time by: the legacy format's 5 where it says nothing."""
    limits = yaml.safe_load((package / "problem.yaml").read_text(encoding="utf-8")).get("limits") or {}
    return float(limits.get("time_multiplier", 5))


def _figures(found: Sequence[PackageFound]) -> Iterator[str]:
    made = [one for one in found if one.reason is None]
    yield f"{len(made)} of {len(found)} pass-fail packages have made tests"
    for name, packages in (("those with made tests", made), ("all", found)):
        for group in ("wrong", "too slow"):
            n, samples, official, built, alone = (
                sum(counts[group] for counts in column)
                for column in (
                    [one.n for one in packages],
                    [one.fail_samples for one in packages],
                    [one.fail_official for one in packages],
                    [one.fail_built for one in packages],
                    [one.fail_made for one in packages],
                )
            )
            line = f"{name}: of {n} {group} submissions {samples} fail the samples, {official} the official tests"
            yield line + (f", {built} the built suites, {alone} their made tests alone" if packages is made else "")
    kills = sum(len(one.false_kills) for one in made)
    yield f"accepted submissions that fail tests built without them: {kills} of {sum(one.n_held_out for one in made)}"
    yield "packages without made tests:"
    yield from (f"  {one.package}: {one.reason}" for one in found if one.reason is not None)
