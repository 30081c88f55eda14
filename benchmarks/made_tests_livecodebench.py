"""Made tests on LiveCodeBench: built from what a problem's first day gives, held against the published grades.

The grades are used for two things: which models are strong (``KnownProgram.standing``), and the count at the end. Of
programs published as failing that pass all public tests: which fail a made test? Of those published as passing: which
fail one, and why? What a person found in looking is in ``made_tests_explained.json``.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.made_tests_data import LiveCodeBench, Published
from benchmarks.processor import judging_s
from db.records import TestOrigin
from eval.judging import to_suite
from eval.made_tests.building import BuildSettings, MadeSuite, build, prepare
from eval.made_tests.gate import CannotBuild
from eval.made_tests.time_limit import Calibration
from eval.statistics.intervals import wilson
from sandbox import Job, Judge, Outcome, Program, Suite, Verdict
from sandbox.excerpts import excerpt

EXPLAINED = Path(__file__).with_name("made_tests_explained.json")
_CUT = 240


@dataclass(frozen=True)
class Judged:
    """What one program came to. ``failed`` is the first test that it fails; None: it passes all."""

    name: str
    published: str
    is_right: bool
    suspect: tuple[str, ...]
    is_voter: bool
    failed: str | None = None
    verdict: str = ""
    passes_samples: bool = True


@dataclass(frozen=True)
class FalseKill:
    """A program published as right that fails a made test."""

    problem: str
    program: str
    test: str
    input: str
    expected: str
    got: str
    verdict: str

    @property
    def key(self) -> str:
        """What it is explained under."""
        return f"{self.problem} {self.program}"


@dataclass(frozen=True)
class Measured:
    """One problem. ``reason`` says why it has no made tests; None: it has. Seconds are those of building alone, of wall
    time and of the processor."""

    problem: str
    reason: str | None
    seconds: float
    processor_s: float
    n_made: int = 0
    n_bytes: int = 0
    time_limit_s: float | None = None
    strength: dict[str, int] = field(default_factory=dict)
    findings: dict[str, int] = field(default_factory=dict)
    voters: tuple[str, ...] = ()
    programs: tuple[Judged, ...] = ()
    false_kills: tuple[FalseKill, ...] = ()
    n_not_run: int = 0

    def as_line(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_line(cls, line: str) -> Measured:
        """What `as_line` wrote."""
        values = json.loads(line)
        programs = tuple(Judged(**one | {"suspect": tuple(one["suspect"])}) for one in values.pop("programs"))
        kills = tuple(FalseKill(**one) for one in values.pop("false_kills"))
        voters = tuple(values.pop("voters"))
        return cls(**values, programs=programs, false_kills=kills, voters=voters)


def measure(
    data: LiveCodeBench, problem: str, judge: Judge, calibration: Calibration, settings: BuildSettings
) -> Measured:
    """Build a problem's tests and judge every program that is known for it by them."""
    material = data.material(problem)
    started, used_s = time.monotonic(), _used_s(judge)
    made, reason = None, None
    try:
        made = build(prepare(material, settings), judge, calibration)
    except CannotBuild as error:
        reason = error.message
    took = (time.monotonic() - started, max(0.0, _used_s(judge) - used_s))
    if made is None:
        return Measured(material.key, reason, *took)
    suite = to_suite(made.suite)
    published = _distinct(data.completions[problem])
    runnable = [one for one in published if judge.lacks(Program(one.code), suite) is None]
    outcomes = dict(judge.map(Job(one.name, Program(one.code), suite) for one in runnable))
    voters = tuple(each["name"] for each in made.details["voters"])
    programs = tuple(_judged(one, outcomes[one.name], made, voters) for one in runnable)
    killed = [one for one, found in zip(runnable, programs, strict=True) if one.is_right and found.failed is not None]
    return Measured(
        problem=material.key,
        reason=None,
        seconds=took[0],
        processor_s=took[1],
        n_made=made.n_made,
        n_bytes=sum(len(test.input) for test in made.suite.tests),
        time_limit_s=made.suite.time_limit_s,
        strength=asdict(made.strength),
        findings=dict(Counter(str(one.kind) for one in made.findings)),
        voters=voters,
        programs=programs,
        false_kills=tuple(_false_kill(material.key, one, outcomes[one.name], suite, judge) for one in killed),
        n_not_run=len(published) - len(runnable),
    )


def _used_s(judge: Judge) -> float:
    """Processor time so far; a jail that ended has taken its own with it."""
    try:
        return judging_s(judge)
    except OSError:
        return time.process_time()


def _distinct(published: Iterable[Published]) -> tuple[Published, ...]:
    """Each program once: of those of one text the first by name."""
    by_code: dict[str, Published] = {}
    for one in sorted(published, key=lambda one: one.name):
        by_code.setdefault(one.code, one)
    return tuple(by_code.values())


def _judged(one: Published, outcome: Outcome, made: MadeSuite, voters: Sequence[str]) -> Judged:
    samples = {test.name for test in made.suite.tests if test.origin is TestOrigin.SAMPLE}
    failed = None if outcome.verdict is Verdict.ACCEPTED else outcome.tests[-1].name
    return Judged(
        name=one.name,
        published=one.verdict,
        is_right=one.is_right,
        suspect=one.suspect,
        is_voter=one.name in voters,
        failed=failed,
        verdict=str(outcome.verdict),
        passes_samples=failed not in samples,
    )


def _false_kill(problem: str, one: Published, outcome: Outcome, suite: Suite, judge: Judge) -> FalseKill:
    failed = outcome.tests[-1]
    test = next(test for test in suite.tests if test.name == failed.name)
    alone = Suite((test,), suite.io, suite.entry_point, suite.comparison, suite.limits)
    ((_, outputs),) = judge.outputs([Job(0, Program(one.code), alone)])
    output = outputs[0]
    seconds = "" if output.facts is None else f" after {output.facts.cpu_s:.2f} s of CPU"
    got = _cut(output.content) if output.content is not None else f"{output.failure}: {output.detail}"
    return FalseKill(
        problem, one.name, failed.name, _cut(test.input), _cut(test.expected), got + seconds, str(failed.verdict)
    )


def _cut(text: bytes) -> str:
    return excerpt(text.decode("utf-8", "replace"), _CUT)


def read_explained() -> dict[str, str]:
    """What false kills and survivors come from, by problem and program, or by problem for all survivors of it."""
    values: dict[str, str] = json.loads(EXPLAINED.read_text(encoding="utf-8")) if EXPLAINED.is_file() else {}
    return values


def report(found: Sequence[Measured], explained: dict[str, str]) -> Iterator[str]:
    """The figures, a line each: of all, then of each platform; then false kills, and why problems have no tests."""
    yield from _figures("all", found)
    for platform in sorted({one.problem.split(":")[0] for one in found}):
        yield from _figures(platform, [one for one in found if one.problem.startswith(f"{platform}:")])
    kills = [kill for one in found for kill in one.false_kills]
    unexplained = [kill for kill in kills if kill.key not in explained]
    yield f"published passes that fail a made test: {len(kills)}, of which not explained: {len(unexplained)}"
    for kill in kills:
        yield f"  {kill.key}, {kill.test} ({kill.verdict})"
        yield f"    input {kill.input!r}, expected {kill.expected!r}, got {kill.got!r}"
        yield f"    {explained.get(kill.key, 'NOT EXPLAINED')}"
    yield "published failures that survive:"
    for one in found:
        for name in _survivors(one):
            text = explained.get(f"{one.problem} {name}", explained.get(one.problem, "not looked at"))
            yield f"  {one.problem} {name}: {text}"
    reasons = Counter(_kind_of(one.reason) for one in found if one.reason is not None)
    yield "problems without made tests, by reason:"
    yield from (f"  {n} {reason}" for reason, n in reasons.most_common())


def _survivors(one: Measured) -> tuple[str, ...]:
    """Programs published as failing, with a grade that nothing speaks against, that pass all tests."""
    return tuple(each.name for each in one.programs if not (each.is_right or each.suspect or each.failed))


def _figures(name: str, found: Sequence[Measured]) -> Iterator[str]:
    made = [one for one in found if one.reason is None]
    seconds, processor_s = sum(one.seconds for one in found), sum(one.processor_s for one in found)
    size = f"{sum(one.n_made for one in made)} tests, {sum(one.n_bytes for one in made) / 1e6:.0f} MB"
    rate = f"{60 * len(found) / max(seconds, 1e-9):.1f} problems a minute"
    yield f"{name}: {len(made)} of {len(found)} problems have made tests ({size}), {rate}"
    yield f"  {processor_s / max(len(found), 1):.1f} s of processor time a problem"
    programs = [program for one in made for program in one.programs if program.passes_samples]
    failing = [one for one in programs if not one.is_right and not one.suspect]
    yield f"  published as failing, public tests passed: {_share(failing)}"
    for verdict, n in Counter(one.published for one in failing).most_common():
        yield f"    {verdict} ({n}): {_share([one for one in failing if one.published == verdict])}"
    yield f"    of those that vote: {_share([one for one in failing if one.is_voter])}"
    yield f"  the same, with a suspect grade: {_share([o for o in programs if not o.is_right and o.suspect])}"
    yield f"  published as passing: {_share([one for one in programs if one.is_right])}"
    counts = Counter[str]()
    for one in made:
        counts.update(one.strength)
    yield f"  mutants: {counts['n_mutants_killed']} of {counts['n_mutants']} killed"
    findings = Counter[str]()
    for one in made:
        findings.update(one.findings)
    yield f"  inputs set aside: {dict(findings)}, in {sum(bool(one.findings) for one in made)} problems"
    yield f"  programs not run, for want of a package: {sum(one.n_not_run for one in made)}"


def _share(programs: Sequence[Judged]) -> str:
    n, killed = len(programs), sum(one.failed is not None for one in programs)
    if not n:
        return "none"
    low, high = wilson(killed / n, n)
    return f"{killed} of {n} fail a made test ({100 * killed / n:.1f} %, 95 %: {100 * low:.1f} to {100 * high:.1f})"


def _kind_of(reason: str | None) -> str:
    """A reason without what is different in each problem."""
    return (reason or "").split(":")[0]
