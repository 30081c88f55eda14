"""The judge: programs and suites in, outcomes out, over as many jails as there are cores.

>>> with Judge() as judge:                                      # doctest: +SKIP
...     suite = Suite(tests=(Test("1", b"1 2\\n", b"3\\n"),))
...     judge.judge(Program("print(sum(map(int, input().split())))"), suite).verdict
<Verdict.ACCEPTED: 'accepted'>
"""

from __future__ import annotations

import importlib
import itertools
import os
import queue
import random
import resource
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from types import TracebackType
from typing import Generic, NamedTuple, Self, TypeVar

from sandbox import environment, languages, probing
from sandbox.cells import Counters
from sandbox.compiling import ProductCache
from sandbox.environment import Environment
from sandbox.errors import NotInSandbox, SandboxUnavailable
from sandbox.jail import Jail, Launcher
from sandbox.mounts import DIRECTORY_PREFIX
from sandbox.outputs import Output
from sandbox.processes import remove_stale_directories
from sandbox.programs import Grader, Io, Program, Suite
from sandbox.quiet import Quiet
from sandbox.requirements import packages_of
from sandbox.verdicts import Outcome
from sandbox.worker import Worker

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")

PYTHON = "python3"

EXECUTORS = {
    "docker": "sandbox.docker_jail:DockerLauncher",
    "docker-unprivileged": "sandbox.docker_jail:UnprivilegedDockerLauncher",
    "gvisor": "sandbox.docker_jail:GvisorLauncher",
    "bubblewrap": "sandbox.bubblewrap_jail:BubblewrapLauncher",
}

# What `auto` tries, in this order.
_BY_ITSELF = ("docker", "bubblewrap")

# Users of tests: apart for each jail, since the kernel counts a user's processes over the whole machine.
_FIRST_UID, _LAST_UID, _UIDS_PER_JAIL = 10_000, 60_000, 1_000

# How long a thread may take to notice that its jail is gone (it may be starting one).
_THREAD_END_S = 70.0


class Job(NamedTuple, Generic[Key]):
    """One program to judge; ``key`` comes back with its outcome."""

    key: Key
    program: Program
    suite: Suite


def find_launcher(executor: str, image: str | None = None) -> Launcher:
    """The launcher of that name, or for ``auto`` the first that works here; ``image`` as :class:`Judge` takes it.

    Raises ``SandboxUnavailable``.
    """
    if executor != "auto":
        return _make_launcher(executor, image)
    reasons = []
    for name in _BY_ITSELF:
        try:
            return _make_launcher(name, image)
        except SandboxUnavailable as error:
            reasons.append(error)
    raise SandboxUnavailable(
        "nothing here can run programs in isolation: " + "; ".join(error.message for error in reasons),
        " or ".join(error.hint for error in reasons),
    )


def _make_launcher(name: str, image: str | None) -> Launcher:
    if name not in EXECUTORS:
        raise SandboxUnavailable(f"no executor {name!r}", f"use one of: auto, {', '.join(EXECUTORS)}")
    module, _, attribute = EXECUTORS[name].partition(":")
    launcher: Launcher = getattr(importlib.import_module(module), attribute)(image)
    return launcher


def _descriptors() -> int:
    """How many descriptors this process may have open, after asking for all that it can have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard  # infinity is written as -1


class Judge:
    """Judges programs in isolation. Use it as a context manager; its jails end with it.

    ``executor`` is ``auto`` or one of :data:`EXECUTORS`; ``jobs`` the number of workers, by default and at most
    sensibly the number of cores; ``image`` is ``slim``, ``full`` or a name, for Docker alone (by default the full one
    where it is). Raises ``SandboxUnavailable`` or ``NotIsolated`` when no jail can be had.

    Inputs and products of compilers are kept as descriptors: a judge raises the soft limit on open files
    (``RLIMIT_NOFILE``) of the process that makes it to the hard one, and leaves it there.
    """

    def __init__(
        self,
        executor: str = "auto",
        jobs: int | None = None,
        *,
        grader: Grader = Grader.LIVE,
        image: str | None = None,
    ) -> None:
        self.grader = grader
        remove_stale_directories(DIRECTORY_PREFIX)
        self._launcher = find_launcher(executor, image)
        first = random.SystemRandom().randrange(_FIRST_UID, _LAST_UID, _UIDS_PER_JAIL)
        self._uid_bases = itertools.count(first, _UIDS_PER_JAIL)
        quiet = Quiet()
        count = jobs or len(os.sched_getaffinity(0))
        kept_inputs = _descriptors() // (2 * count)
        self._products = ProductCache()
        self._workers = [Worker(self._make_jail, quiet, kept_inputs, self._products, grader) for _ in range(count)]
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._threads: list[threading.Thread] = []
        try:
            jail = self._workers[0].start()
            self._versions = probing.find_versions(jail.run, jail.hello.python_version)
            self.environment: Environment = environment.describe(self._launcher, jail, self._versions, grader)
        except BaseException:
            self.close()
            raise

    def _make_jail(self) -> Jail:
        span = _LAST_UID - _FIRST_UID
        return Jail(self._launcher, _FIRST_UID + (next(self._uid_bases) - _FIRST_UID) % span)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all jails, and the threads that are at work in them."""
        for worker in self._workers:
            worker.stop()
        for thread in self._threads:
            thread.join(_THREAD_END_S)
        for worker in self._workers:
            worker.close()
        self._products.close()
        self._launcher.close()

    @property
    def counters(self) -> Counters:
        """What all workers together have done so far."""
        total = Counters()
        for worker in self._workers:
            total.add(worker.counters)
        return total

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that programs may be written in here."""
        return tuple(self._versions)

    def lacks(self, program: Program, suite: Suite) -> str | None:
        """What judging the program on the suite needs and this sandbox does not have, in words that follow "needs":
        a language, a package, a language for calls. None when all is here. Raises ``UnknownLanguage``.
        """
        missing = self._lacks_to_run(program, suite)
        if missing is None and suite.checker is not None:
            missing = self._lacks_for(suite.checker.program, called=False)
        if missing is not None:
            return missing
        imitated = suite.checker is None and suite.io is not Io.DESIGN and program.language == PYTHON
        if self.grader is Grader.LIVECODEBENCH and not imitated:
            return "what LiveCodeBench's grader does not have"
        return None

    def _lacks_to_run(self, program: Program, suite: Suite) -> str | None:
        called = suite.io in (Io.FUNCTION, Io.DESIGN)
        missing = self._lacks_for(program, called=called)
        return f"calls in {program.language}" if missing is None and called and program.language != PYTHON else missing

    def _lacks_for(self, program: Program, *, called: bool) -> str | None:
        if languages.find(program.language).name not in self._versions:
            return program.language
        if program.language != PYTHON:
            return None
        here = self.environment.details["packages"]
        return next((name for name in packages_of(program.source, called=called) if name not in here), None)

    def _require(self, missing: str | None) -> None:
        if missing is not None:
            raise NotInSandbox(
                f"this needs {missing}, which this sandbox does not have", "build the full image: make full-image"
            )

    def judge(self, program: Program, suite: Suite, *, run_all: bool = False) -> Outcome:
        """One program's outcome. Raises ``UnknownLanguage``, ``NotInSandbox`` for a program that cannot be run here, or
        ``SandboxUnavailable`` when no jail can be had."""
        self._require(self.lacks(program, suite))
        worker = self._free.get()
        try:
            return worker.judge(program, suite, run_all=run_all)
        finally:
            self._free.put(worker)

    def map(self, jobs: Iterable[Job[Key]], *, run_all: bool = False) -> Iterator[tuple[Key, Outcome]]:
        """Outcomes in the order in which they are ready; jobs are drawn only as workers get free.

        Raises what ``jobs`` raises, ``UnknownLanguage``, ``NotInSandbox``, or the ``SandboxError`` that stopped a
        worker; outcomes that were ready before are given first.
        """

        def judge(worker: Worker, job: Job[Key], _given_up: threading.Event) -> Outcome:
            self._require(self.lacks(job.program, job.suite))
            return worker.judge(job.program, job.suite, run_all=run_all)

        return self._each(jobs, judge)

    def outputs(
        self, jobs: Iterable[Job[Key]], *, most_failures: int | None = None
    ) -> Iterator[tuple[Key, tuple[Output, ...]]]:
        """What each program writes on the inputs of its suite's tests, in their order: one output for each of them.

        It runs as :meth:`map` does, under the same limits; but what the tests expect is not looked at, and nothing is
        compared, checked or graded. After ``most_failures`` failures (None: never) no test more is run, and no more
        outputs are given. What does not compile fails on every test. A job's outputs are in memory all at once: no more
        of each than its suite's output limit.

        Raises what :meth:`map` raises; ``NotInSandbox`` for interactive suites, and for another grader than ours.
        """
        if self.grader is not Grader.LIVE:
            raise NotInSandbox(f"grader {self.grader} gives verdicts and no outputs", "take a judge with grader live")
        if most_failures is not None and most_failures < 1:
            raise ValueError(f"most_failures must be at least 1, not {most_failures}")

        def run(worker: Worker, job: Job[Key], given_up: threading.Event) -> tuple[Output, ...]:
            if job.suite.io is Io.INTERACTIVE:
                raise NotInSandbox(
                    "an interactive program writes to its validator, and has no output of its own",
                    "judge it with its validator",
                )
            self._require(self._lacks_to_run(job.program, job.suite))
            return worker.outputs(job.program, job.suite, most_failures, given_up)

        return self._each(jobs, run)

    def _each(self, jobs: Iterable[Job[Key]], do: _Do[Key, Found]) -> Iterator[tuple[Key, Found]]:
        """What ``do`` finds for each job, in the order in which it is ready."""
        source = _Source(jobs)
        done: queue.SimpleQueue[tuple[Key, Found] | Exception | None] = queue.SimpleQueue()
        threads = [threading.Thread(target=self._work, args=(source, done, do), daemon=True) for _ in self._workers]
        self._threads = [thread for thread in self._threads if thread.is_alive()] + threads
        for thread in threads:
            thread.start()
        at_work = len(threads)
        failure: Exception | None = None
        try:
            while at_work:
                item = done.get()
                if isinstance(item, tuple):
                    yield item
                    continue
                # A worker ended; when by an error, the others finish what they are at and no more.
                at_work -= 1
                failure = failure or item
                if item is not None:
                    source.stop()
        finally:
            source.give_up()
        if failure is not None:
            raise failure

    def _work(
        self,
        source: _Source[Key],
        done: queue.SimpleQueue[tuple[Key, Found] | Exception | None],
        do: _Do[Key, Found],
    ) -> None:
        """A thread of one map: take a worker, work until there is nothing left; last it puts how it ended.

        A worker serves one thread at a time. One whose map was given up half-way is free as soon as its job is over,
        or, when outputs were asked for, its test.
        """
        worker = self._free.get()
        try:
            while job := source.take():
                done.put((job.key, do(worker, job, source.given_up)))
        except Exception as error:  # handed to the thread that reads what is found, which raises it
            done.put(error)
        else:
            done.put(None)
        finally:
            self._free.put(worker)


_Do = Callable[[Worker, Job[Key], threading.Event], Found]
"""One job's work; the event says that nobody waits for what it finds any more."""


class _Source(Generic[Key]):
    """Jobs handed out to several threads, one at a time. ``given_up``: nobody waits for what becomes of them."""

    def __init__(self, jobs: Iterable[Job[Key]]) -> None:
        self._jobs = iter(jobs)
        self._lock = threading.Lock()
        self._stopped = False
        self.given_up = threading.Event()

    def stop(self) -> None:
        self._stopped = True

    def give_up(self) -> None:
        self.stop()
        self.given_up.set()

    def take(self) -> Job[Key] | None:
        with self._lock:
            return None if self._stopped else next(self._jobs, None)
