"""A judge without a sandbox, for tests of what is made of its verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sandbox import Counters, Grader, Job, Outcome, Program, Suite, Verdict

BREAKS_JAILS = "breaks jails"


class EchoJudge:
    """A judge whose programs are what they print, but for one that every jail breaks at. It has Python alone, and what
    asks for numpy it does not have."""

    def __init__(self, grader: Grader = Grader.LIVE) -> None:
        self.grader = grader
        self.languages = ("python3",)
        self.counters = Counters()
        self.judged: list[str] = []

    def lacks(self, program: Program, suite: Suite) -> str | None:
        return "numpy" if "numpy" in program.source else None

    def map(self, jobs: Iterable[Job[Any]], *, run_all: bool = False) -> Iterator[tuple[Any, Outcome]]:
        for job in jobs:
            self.judged.append(job.program.source)
            yield job.key, self._judge(job.program.source, job.suite)

    def _judge(self, source: str, suite: Suite) -> Outcome:
        if source == BREAKS_JAILS:
            return Outcome(Verdict.INTERNAL_ERROR, (), "the jail ended")
        wrong = next((test for test in suite.tests if test.expected.decode() != source), None)
        return Outcome(Verdict.ACCEPTED, ()) if wrong is None else Outcome(Verdict.WRONG_ANSWER, (), f"got {source}")
