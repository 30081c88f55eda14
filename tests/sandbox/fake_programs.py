"""A runner that runs nothing: what a program does on an input is a function of the test's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sandbox import Facts, Job, Limits, Output, Test, Verdict
from sandbox.agent import wire

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Exit:
    """A program that writes nothing and ends with this exit code, after this line on standard error."""

    code: int
    said: str = ""


Does = Callable[[bytes], bytes | Exit | Verdict]


@dataclass
class FakePrograms:
    """Runs the programs whose sources are named here. ``runs`` are the (source, input) of all runs so far.

    Jobs come back last first, as those of a judge may.
    """

    programs: Mapping[str, Does]
    runs: list[tuple[str, bytes]] = field(default_factory=list)

    def outputs(
        self, jobs: Iterable[Job[Key]], *, most_failures: int | None = None
    ) -> Iterator[tuple[Key, tuple[Output, ...]]]:
        yield from reversed([(job.key, tuple(self._job(job, most_failures))) for job in jobs])

    def _job(self, job: Job[Key], most_failures: int | None) -> Iterator[Output]:
        n_failures = 0
        for test in job.suite.tests:
            output = self._run(job.program.source, test, job.suite.limits)
            n_failures += output.failure is not None
            yield output
            if n_failures == most_failures:
                return

    def _run(self, source: str, test: Test, limits: Limits) -> Output:
        self.runs.append((source, test.input))
        did = self.programs[source](test.input)
        if isinstance(did, Verdict):
            return Output(test.name, None, did, "signal 9")
        if isinstance(did, bytes):
            return Output(test.name, did, None, "", _facts(0, limits))
        if did.code == 0:
            return Output(test.name, b"", None, "", _facts(0, limits))
        detail = f"{did.said} (exit code {did.code})" if did.said else f"exit code {did.code}"
        return Output(test.name, None, Verdict.RUNTIME_ERROR, detail, _facts(did.code, limits))


def _facts(exit_code: int, limits: Limits) -> Facts:
    return Facts(
        stage=wire.LOADED,
        killed_by=wire.KILLED_BY_NOBODY,
        wait_status=exit_code << 8,
        cpu_s=0.01,
        wall_s=0.01,
        peak_memory_bytes=1 << 20,
        output_bytes=0,
        limits=limits,
    )
