"""Judge what has no verdict yet: completions from the store, through the sandbox, verdicts back in batches.

A completion is judged once for each suite and environment; completions with the same program share one run of it, as
samples at a low temperature often do. Whatever stops a run, the batches saved before it stay, and the same call goes on
where it stopped.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import lru_cache
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeVar

from db.digests import digest_of
from db.engine import Store
from db.judgements import (
    EnvironmentRecord,
    JudgementRecord,
    PendingJudgement,
    count_pending,
    iter_pending,
    save_environment,
    save_judgements,
)
from db.records import SuiteRecord
from db.suites import load_suite
from sandbox import (
    Comparison,
    Counters,
    Environment,
    Io,
    Job,
    Judge,
    Limits,
    Outcome,
    Program,
    Suite,
    Test,
    TestResult,
    Verdict,
    languages,
    plain,
)
from sandbox.verdicts import CPU_GRACE

# Where a problem states no limits: LiveCodeBench's own time limit, as CPU time, and AtCoder's memory limit.
DEFAULT_LIMITS = Limits(cpu_s=6.0, memory_bytes=1024 * 1024 * 1024)

_PAGE = 500
_BATCH = 200
_BATCH_S = 2.0
KEPT_SUITES = 16
_SHORTEST_S = 1e-6

_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)")

Record = TypeVar("Record")
OnJudged = Callable[[int, Counters], None]
"""What gets the number of programs that were just dealt with, and what the judge has counted so far."""


class _Sharers(NamedTuple):
    """Completions of one problem whose programs are the same to the byte."""

    suite_id: int
    completion_ids: tuple[int, ...]


@dataclass(frozen=True)
class JudgingReport:
    """What a run of judging did. ``verdicts`` counts completions; ``n_programs`` were run, on ``n_tests`` tests.

    ``missing`` counts the completions left alone, by what they need and the sandbox does not have; ``missing_modules``
    those that failed since they import a module that is not there, by its name. ``n_near_limit`` programs came so near
    to a test's limit of CPU time, on either side of it, that a machine a little faster or slower might judge otherwise.
    ``counters`` are the judge's own, with its jails' restarts and faults.
    """

    verdicts: dict[str, int]
    n_programs: int
    n_tests: int
    seconds: float
    missing: dict[str, int]
    counters: Counters
    n_near_limit: int = 0
    missing_modules: dict[str, int] = field(default_factory=dict)

    @property
    def n_judged(self) -> int:
        """How many completions got a verdict, internal errors not among them."""
        return sum(n for verdict, n in self.verdicts.items() if verdict != Verdict.INTERNAL_ERROR)

    @property
    def n_internal(self) -> int:
        """How many met an internal error; they are judged again by the next run."""
        return self.verdicts.get(Verdict.INTERNAL_ERROR, 0)

    @property
    def solutions_per_s(self) -> float:
        """Completions that got a verdict, a second of wall time."""
        return self.n_judged / max(self.seconds, _SHORTEST_S)

    @property
    def tests_per_s(self) -> float:
        """Tests that were run, a second of wall time."""
        return self.n_tests / max(self.seconds, _SHORTEST_S)


def environment_record(environment: Environment) -> EnvironmentRecord:
    """The sandbox's environment together with the limits that stand in where a problem states none."""
    policy = {"cpu_s": DEFAULT_LIMITS.cpu_s, "memory_bytes": DEFAULT_LIMITS.memory_bytes}
    policy |= {"output_bytes": DEFAULT_LIMITS.output_bytes}
    details = {**environment.details, "default_limits": policy}
    return EnvironmentRecord(digest_of([environment.executor, details]), environment.executor, details)


def register_environment(store: Store, environment: Environment, *, now: datetime) -> int:
    """The id under which verdicts of this environment are kept."""
    with store.write() as session:
        return save_environment(session, environment_record(environment), now=now)


def to_suite(record: SuiteRecord) -> Suite:
    """A stored suite as the sandbox takes it; tests without an expected output are not judged.

    Raises ``ValueError`` for rules that this version cannot read.
    """
    limits = Limits(
        cpu_s=record.time_limit_s or DEFAULT_LIMITS.cpu_s,
        memory_bytes=record.memory_limit_bytes or DEFAULT_LIMITS.memory_bytes,
    )
    tests = tuple(
        Test(
            name=test.name,
            input=test.input,
            expected=test.expected,
            comparison=None if test.comparison is None else _read_comparison(test.comparison),
            checker_flags=test.checker_flags,
        )
        for test in record.tests
        if test.expected is not None
    )
    return Suite(
        tests=tests,
        io=Io(record.io_kind),
        entry_point=record.entry_point,
        comparison=_read_comparison(record.comparison),
        limits=limits,
        signature=None if record.signature is None else plain.read_signature(record.signature),
        checker=None if record.checker is None else plain.read_checker(record.checker),
        groups=None if record.groups is None else plain.read_groups(record.groups),
    )


def _read_comparison(plain: dict[str, Any]) -> Comparison:
    known = {entry.name for entry in fields(Comparison)}
    for name in plain:
        if name not in known:
            raise ValueError(f"a comparison has no field {name!r}; its fields are {', '.join(sorted(known))}")
    return Comparison(**plain)


Lacks = Callable[[Program, Suite], str | None]
"""What judging a program on a suite needs and the sandbox does not have, as ``Judge.lacks`` says it."""


def what_is_missing(lacks: Lacks, program: Program, suite: Suite) -> str | None:
    """The same for any program and any checker, in whatever language they say they are."""
    checkers = [] if suite.checker is None else [suite.checker.program]
    for one in (program, *checkers):
        if one.language not in languages.names():
            return one.language
    return lacks(program, suite)


class Pending:
    """What is still to be judged in one environment, for some runs and problems (None: all)."""

    def __init__(
        self,
        store: Store,
        environment_id: int,
        run_ids: Sequence[int] | None = None,
        problem_ids: Sequence[int] | None = None,
    ) -> None:
        self._store = store
        self._environment_id = environment_id
        self._run_ids = run_ids
        self._problem_ids = problem_ids
        self.missing: Counter[str] = Counter()
        self.n_passed_over = 0  # the sum of `missing`, for who looks on while it grows in another thread

    def count(self) -> int:
        """How many completions that are."""
        with self._store.read() as session:
            return count_pending(session, self._environment_id, run_ids=self._run_ids, problem_ids=self._problem_ids)

    def jobs(self, lacks: Lacks) -> Iterator[Job[_Sharers]]:
        """The jobs, page by page; those that need what the sandbox lacks are counted and passed over."""
        suite_of = lru_cache(KEPT_SUITES)(self._suite)
        for page in self._pages():
            sharers: dict[tuple[int, Program], list[int]] = {}
            for item in page:
                program = Program(item.code, item.language)
                try:
                    missing = what_is_missing(lacks, program, suite_of(item.suite_id))
                except ValueError as error:  # a suite of a kind that this version cannot judge
                    missing = f"another version of this command ({item.problem_key}: {error})"
                if missing is None:
                    sharers.setdefault((item.suite_id, program), []).append(item.completion_id)
                else:
                    self.missing[missing] += 1
                    self.n_passed_over += 1
            for (suite_id, program), completion_ids in sharers.items():
                yield Job(_Sharers(suite_id, tuple(completion_ids)), program, suite_of(suite_id))

    def _pages(self) -> Iterator[list[PendingJudgement]]:
        after: tuple[int, int] | None = None
        while True:
            with self._store.read() as session:
                page = iter_pending(
                    session,
                    self._environment_id,
                    run_ids=self._run_ids,
                    problem_ids=self._problem_ids,
                    limit=_PAGE,
                    after=after,
                )
            if not page:
                return
            yield page
            after = (page[-1].suite_id, page[-1].completion_id)

    def _suite(self, suite_id: int) -> Suite:
        with self._store.read() as session:
            return to_suite(load_suite(session, suite_id))


class Batch(Generic[Record]):
    """Records on their way into the store: saved by so many or after so long, and the rest when the ``with`` block
    ends, however it does."""

    def __init__(self, save: Callable[[list[Record]], None]) -> None:
        self._save = save
        self._records: list[Record] = []
        self._saved_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()

    def add(self, records: Sequence[Record]) -> None:
        """Take some more. Raises what saving raises."""
        self._records += records
        if len(self._records) >= _BATCH or time.monotonic() - self._saved_at >= _BATCH_S:
            self._flush()

    def _flush(self) -> None:
        if self._records:
            self._save(self._records)
        self._records = []
        self._saved_at = time.monotonic()


@dataclass
class _Tally:
    """What the outcomes so far add up to, in the terms of :class:`JudgingReport`."""

    verdicts: Counter[str] = field(default_factory=Counter)
    n_programs: int = 0
    n_tests: int = 0
    n_near_limit: int = 0
    missing_modules: Counter[str] = field(default_factory=Counter)

    def add(self, n_completions: int, outcome: Outcome) -> None:
        self.verdicts[str(outcome.verdict)] += n_completions
        self.n_programs += 1
        self.n_tests += len(outcome.tests)
        self.n_near_limit += any(map(_is_near_limit, outcome.tests))
        modules = {name for test in outcome.tests for name in _MISSING_MODULE.findall(_error(test))}
        self.missing_modules.update(dict.fromkeys(modules, n_completions))


def _is_near_limit(test: TestResult) -> bool:
    """Whether the program ended by itself with its CPU time within the grace on either side of the limit."""
    facts = test.facts
    if facts is None or facts.signal is not None:
        return False
    return facts.limits.cpu_s / CPU_GRACE <= facts.cpu_s <= facts.limits.cpu_s * CPU_GRACE


def _error(test: TestResult) -> str:
    return test.detail if test.verdict is Verdict.RUNTIME_ERROR else ""


def judge_pending(
    store: Store,
    judge: Judge,
    environment_id: int,
    pending: Pending,
    *,
    now: Callable[[], datetime],
    run_all: bool = False,
    on_judged: OnJudged = lambda count, counters: None,
) -> JudgingReport:
    """Judge all that is pending, ``run_all`` on every test also after the first that fails.

    ``now`` gives the UTC instant of each verdict. ``on_judged`` is told of the completions that were left alone, too.

    Raises ``SandboxError`` or ``StoreError`` when it cannot go on; what was judged before is saved all the same, also
    when the user interrupts.
    """
    started = time.monotonic()
    tally = _Tally()
    n_told = 0

    def save(records: list[JudgementRecord]) -> None:
        with store.write() as session:
            save_judgements(session, environment_id, records)

    with Batch(save) as batch:
        for sharers, outcome in judge.map(pending.jobs(judge.lacks), run_all=run_all):
            batch.add(_records(sharers, outcome, now()))
            tally.add(len(sharers.completion_ids), outcome)
            n_passed_over = pending.n_passed_over
            on_judged(len(sharers.completion_ids) + n_passed_over - n_told, judge.counters)
            n_told = n_passed_over
    on_judged(pending.n_passed_over - n_told, judge.counters)
    return JudgingReport(
        verdicts=dict(tally.verdicts),
        n_programs=tally.n_programs,
        n_tests=tally.n_tests,
        seconds=time.monotonic() - started,
        missing=dict(pending.missing),
        counters=judge.counters,
        n_near_limit=tally.n_near_limit,
        missing_modules=dict(tally.missing_modules),
    )


def _records(sharers: _Sharers, outcome: Outcome, now: datetime) -> list[JudgementRecord]:
    facts = [test.as_dict() for test in outcome.tests]
    return [
        JudgementRecord(completion_id, sharers.suite_id, str(outcome.verdict), facts, now)
        for completion_id in sharers.completion_ids
    ]
