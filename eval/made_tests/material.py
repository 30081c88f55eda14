"""What tests are made from: a problem with its samples, and the programs that are known for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from db.records import ProgramRole, SuiteRecord, TestCaseRecord, TestOrigin
from sandbox import Program, Verdict


@dataclass(frozen=True)
class KnownProgram:
    """A program of a problem, under a name that no other of the problem has.

    ``role`` None: it is a completion, by ``model`` of ``family`` (None: a family by itself), which may be
    ``is_under_evaluation``; ``standing`` is the share of the store's problems that the model solves. ``is_official``:
    it came with the problem, and not from a user; ``source`` says from whom. ``known`` is its verdict by tests beyond
    the samples that were not made here; None: it was judged by none.
    """

    name: str
    program: Program
    role: ProgramRole | None = None
    is_official: bool = False
    source: str = ""
    model: str | None = None
    family: str | None = None
    is_under_evaluation: bool = False
    standing: float = 0.0
    known: Verdict | None = None

    def __post_init__(self) -> None:
        if (self.role is None) != (self.model is not None):
            raise ValueError(f"{self.name} must be a completion of a model or have a role, and not both")


@dataclass(frozen=True)
class Material:
    """A problem whose tests are to be made. ``suite`` has its samples, how programs meet them, comparison and limits.

    ``parameters`` are the (name, type) pairs of a call, in order, or of a class's constructor, ``methods`` those of its
    methods; () for programs that read standard input.
    ``revision`` is the content hash of the statement.
    """

    key: str
    statement: str
    suite: SuiteRecord
    programs: tuple[KnownProgram, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    methods: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    revision: str = ""

    @property
    def samples(self) -> tuple[TestCaseRecord, ...]:
        """The samples of the statement that have an expected output."""
        return tuple(
            test for test in self.suite.tests if test.origin is TestOrigin.SAMPLE and test.expected is not None
        )

    @property
    def comparisons(self) -> tuple[dict[str, Any] | None, ...]:
        """The comparisons that samples have of their own, each once; None: that of the suite."""
        found: list[dict[str, Any] | None] = []
        for sample in self.samples:
            if sample.comparison not in found:
                found.append(sample.comparison)
        return tuple(found)

    def having(self, role: ProgramRole | None) -> tuple[KnownProgram, ...]:
        """The programs with this role, None: the completions, by name."""
        return tuple(sorted((one for one in self.programs if one.role is role), key=lambda one: one.name))
