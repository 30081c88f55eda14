"""Made tests for problems of the store: what is made, and what is kept of it.

Each problem is one transaction: what is interrupted keeps the problems that are done. Where no tests can be made the
problem's suites stay as they were. What programs disagree on is put on the problem as a flag, by ``MADE_TESTS``: also
where no suite came of it, and again whenever tests are made from something new.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol, TypeAlias

from db.engine import Store
from db.flags import sync_flags
from db.judgements import count_pending, count_pending_runs
from db.made_suites import MadeSuiteRecord, MadeSuiteRow, list_made_suites, load_made_details, save_made_suite
from db.records import ProgramRole
from db.suites import load_suite
from eval.judging import environment_record, register_environment, to_suite, what_is_missing
from eval.made_tests.agreement import Finding, FindingKind
from eval.made_tests.building import BuildSettings, MadeSuite, Plan, build
from eval.made_tests.calibration import calibrate
from eval.made_tests.gate import CannotBuild, cannot_run
from eval.made_tests.gathering import Gathered, Gatherer, references_of
from eval.made_tests.material import KnownProgram, Material
from eval.made_tests.prospects import kind_of, plan_of
from eval.made_tests.time_limit import Calibration
from eval.window import ANSWERS_DIFFER, REFERENCES_DISAGREE
from sandbox import Environment, Program, Suite
from sandbox.outputs import difference
from sandbox.validation import Runner

MADE_TESTS: Final = "made tests"
"""Who says so, of the flags below."""
MANY_INPUTS: Final = (1, 3)
"""The share of inputs, as a fraction, on which completions that answer otherwise are worth a flag."""


class Machine(Runner, Protocol):
    """What tests are made on: `sandbox.Judge`."""

    @property
    def environment(self) -> Environment:
        """What programs are run in."""
        ...

    def lacks(self, program: Program, suite: Suite) -> str | None:
        """What running a program needs and is not there."""
        ...


@dataclass(frozen=True)
class Built:
    """A suite that was made and kept. ``is_current``: the problem is judged by it, and not by tests from elsewhere.

    ``flags`` are the (name, reason) that were put on the problem.
    """

    problem_id: int
    key: str
    suite_id: int
    made: MadeSuite
    is_current: bool
    flags: tuple[tuple[str, str], ...]
    seconds: float


@dataclass(frozen=True)
class Unchanged:
    """A suite that is there, made from the very same. ``is_restored``: it had been replaced, and counts again."""

    problem_id: int
    key: str
    suite_id: int
    is_current: bool
    is_restored: bool = False


@dataclass(frozen=True)
class Refused:
    """Why no tests were made for a problem, in one line, and what to do."""

    problem_id: int
    key: str
    message: str
    hint: str
    flags: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The message without what is of this problem alone."""
        return kind_of(self.message)


Result: TypeAlias = Built | Unchanged | Refused


@dataclass(frozen=True)
class Making:
    """How tests are made for problems of a store. ``machine`` gives what programs run on, when it is first needed;
    ``again``: also where a suite is there that was made from the very same."""

    store: Store
    gatherer: Gatherer
    settings: BuildSettings
    machine: Callable[[], Machine]
    now: Callable[[], datetime]
    again: bool = False

    def make(self, problem_ids: Iterable[int]) -> Iterator[Result]:
        """Make tests for one problem after the other; each is kept when its result is given.

        Raises ``SandboxError`` or ``StoreError`` when it cannot go on.
        """
        calibration: Calibration | None = None
        for problem_id in problem_ids:
            with self.store.read() as reading:
                gathered = self.gatherer.gather(reading, problem_id)
                stored = list_made_suites(reading, problem_ids=[problem_id])
            started = time.monotonic()
            try:
                plan = plan_of(gathered, self.settings)
                known = next((row for row in reversed(stored) if row.recipe == plan.recipe), None)
                if known is not None and not self.again:
                    yield self._keep(gathered, known, stored)
                    continue
                machine = self.machine()
                calibration = calibration or calibrate(machine)
                made = _build(plan, machine, calibration)
            except CannotBuild as error:
                yield self._refuse(gathered, error)
                continue
            yield self._save(gathered, made, started)

    def _keep(self, gathered: Gathered, known: MadeSuiteRow, stored: Sequence[MadeSuiteRow]) -> Unchanged:
        """A suite made from the very same counts, also where another one took its place or the base was saved anew."""
        is_replaced = not known.is_current and any(row.is_current for row in stored)
        if is_replaced or known.is_older:
            with self.store.write() as writing:
                record = MadeSuiteRecord(
                    load_suite(writing, known.suite_id),
                    _base_of(gathered),
                    gathered.revision_id,
                    known.recipe,
                    known.seed,
                    known.strength,
                    load_made_details(writing, known.suite_id),
                )
                save_made_suite(writing, known.problem_id, record, now=self.now())
        return Unchanged(
            known.problem_id, gathered.key, known.suite_id, known.is_current or is_replaced, is_restored=is_replaced
        )

    def _refuse(self, gathered: Gathered, error: CannotBuild) -> Refused:
        flags = flags_of(error.findings, error.n_inputs, gathered.material)
        if flags:
            with self.store.write() as writing:
                sync_flags(writing, gathered.problem_id, flags, by=MADE_TESTS, now=self.now())
        return Refused(gathered.problem_id, gathered.key, error.message, error.hint, flags)

    def _save(self, gathered: Gathered, made: MadeSuite, started: float) -> Built:
        flags = flags_of(made.findings, made.details["inputs"]["n"], gathered.material)
        record = MadeSuiteRecord(
            made.suite,
            _base_of(gathered),
            gathered.revision_id,
            made.recipe,
            self.settings.seed,
            made.strength,
            dict(made.details),
        )
        with self.store.write() as writing:
            suite_id, _ = save_made_suite(writing, gathered.problem_id, record, now=self.now())
            sync_flags(writing, gathered.problem_id, flags, by=MADE_TESTS, now=self.now())
            rows = list_made_suites(writing, problem_ids=[gathered.problem_id])
        is_current = any(row.suite_id == suite_id and row.is_current for row in rows)
        return Built(gathered.problem_id, gathered.key, suite_id, made, is_current, flags, time.monotonic() - started)


def waiting_for_judgement(
    store: Store, environment: Environment, problem_ids: Sequence[int], *, now: datetime
) -> tuple[int, int]:
    """How many answers to these problems, of how many runs, are not judged yet in an environment."""
    environment_id = register_environment(store, environment, now=now)
    with store.read() as reading:
        return (
            count_pending(reading, environment_id, problem_ids=problem_ids),
            count_pending_runs(reading, environment_id, problem_ids=problem_ids),
        )


def flags_of(findings: Iterable[Finding], n_inputs: int, material: Material) -> tuple[tuple[str, str], ...]:
    """The (name, reason) flags that findings on ``n_inputs`` inputs come to."""
    found = list(findings)
    references = references_of(material)
    several = [one for one in found if one.kind is FindingKind.SEVERAL_ANSWERS]
    given = [one for one in several if references.intersection(one.voters)]
    voted = [one for one in several if not references.intersection(one.voters)]
    right = [one for one in found if one.kind is FindingKind.RIGHT_FAILS]
    part, whole = MANY_INPUTS
    flags = []
    if given:
        flags.append((REFERENCES_DISAGREE, f"{given[0].sentence}{_on(len(given), n_inputs)}"))
    if voted and whole * len(voted) >= part * n_inputs:
        flags.append((ANSWERS_DIFFER, f"{voted[0].sentence}{_on(len(voted), n_inputs)}"))
    if right:
        flags.append((ANSWERS_DIFFER, f"{right[0].sentence}{_on(len(right), n_inputs)}"))
    return tuple(flags)


def _on(n: int, n_inputs: int) -> str:
    return f" (on {n} of {n_inputs} made inputs)"


def _base_of(gathered: Gathered) -> int:
    assert gathered.base_suite_id is not None  # without one there is no sample, and no plan
    return gathered.base_suite_id


def _require_a_reference(material: Material, missing: Mapping[str, str]) -> None:
    """CannotBuild where there are references and none can be run: completions must not decide in their place."""
    references = material.having(ProgramRole.ACCEPTED)
    if references and all(one.name in missing for one in references):
        first = references[0].name
        others = f" and {len(references) - 1} more" if len(references) > 1 else ""
        hint = "live doctor shows what each executor has; make full-image builds the image that has it all"
        raise cannot_run(f"reference {first}{others}", f"the sandbox has no {missing[first]}", hint)


def _samples_of(material: Material) -> Suite:
    """The samples as they are judged. CannotBuild where this version cannot: their rules, or what they expect."""
    hint = "correct the problem's tests at their source, and import them again"
    try:
        suite = to_suite(replace(material.suite, tests=material.samples, groups=None))
    except ValueError as error:
        raise CannotBuild(f"its samples cannot be judged: {error}", hint) from error
    for number, test in enumerate(suite.tests, start=1):
        try:
            difference(suite, test.expected, b"null", test.comparison)
        except ValueError as error:
            raise CannotBuild(f"sample {number} cannot be judged: {error}", hint) from error
    return suite


def _build(plan: Plan, machine: Machine, calibration: Calibration) -> MadeSuite:
    """Build without the programs that this machine cannot run; which these are is in the account."""
    material = plan.material
    suite = _samples_of(material)
    missing = {
        one.name: lacking
        for one in material.programs
        if one.role not in (ProgramRole.GENERATOR, ProgramRole.VALIDATOR)
        and (lacking := what_is_missing(machine.lacks, one.program, suite)) is not None
    }
    _require_a_reference(material, missing)
    runnable: tuple[KnownProgram, ...] = tuple(one for one in material.programs if one.name not in missing)
    made = build(replace(plan, material=replace(material, programs=runnable)), machine, calibration)
    record = environment_record(machine.environment)
    more: dict[str, Any] = {
        "environment": {"executor": record.executor, "digest": record.digest},
        "not_run": [{"name": name, "needs": lacking} for name, lacking in sorted(missing.items())],
    }
    return replace(made, details={**made.details, **more})
