"""What goes in: a program, a suite of tests, how outputs are compared, and the limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

MIB = 1024 * 1024


class Io(StrEnum):
    """How a program meets its tests: standard input and output, or one call with JSON arguments."""

    STDIN = "stdin"
    FUNCTION = "function"


@dataclass(frozen=True)
class Program:
    """A program's source as it is; it is never rewritten."""

    source: str
    language: str = "python3"


@dataclass(frozen=True)
class Comparison:
    """How an output is held against the expected one.

    Tolerances are absolute or relative, either sufficing; they apply to tokens whose expected form is a number. Where
    none is declared, an expected token written as a non-integer number tolerates ``DEFAULT_TOLERANCE`` both ways, and
    integers none; ``assume_tolerance`` False is for formats in which no declaration means none (Kattis packages).
    ``space_sensitive`` compares white space too, line ends at the very end aside.
    """

    absolute_tolerance: float | None = None
    relative_tolerance: float | None = None
    case_sensitive: bool = True
    space_sensitive: bool = False
    assume_tolerance: bool = True

    DEFAULT_TOLERANCE: ClassVar[float] = 1e-6

    def __post_init__(self) -> None:
        for name in ("absolute_tolerance", "relative_tolerance"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise ValueError(f"{name} must be a number of at least 0, not {value!r}")

    @property
    def declares_tolerance(self) -> bool:
        """Whether the problem itself states a numeric tolerance."""
        return self.absolute_tolerance is not None or self.relative_tolerance is not None


@dataclass(frozen=True)
class Limits:
    """The limits of one test. CPU time decides; wall time only ends what sleeps.

    ``wall_s`` None means three times the CPU limit, two seconds more at least. A process that still computes then may
    go on: a busy machine gives it less than a core.
    """

    cpu_s: float = 6.0
    memory_bytes: int = 1024 * MIB
    output_bytes: int = 16 * MIB
    wall_s: float | None = None

    def __post_init__(self) -> None:
        if not (self.cpu_s > 0 and self.memory_bytes > 0 and self.output_bytes > 0):
            raise ValueError(f"limits must be above 0: {self}")

    @property
    def wall_kill_s(self) -> float:
        """Wall time at which a test is ended."""
        return self.wall_s if self.wall_s is not None else max(3 * self.cpu_s, self.cpu_s + 2)


@dataclass(frozen=True)
class Test:
    """One test. For call-based programs ``input`` has one JSON argument a line and ``expected`` is a JSON value."""

    __test__ = False

    name: str
    input: bytes
    expected: bytes
    comparison: Comparison | None = None


@dataclass(frozen=True)
class Suite:
    """The tests that a program must pass, in the order in which they run. An empty suite is refused."""

    tests: tuple[Test, ...]
    io: Io = Io.STDIN
    entry_point: str | None = None
    comparison: Comparison = field(default_factory=Comparison)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.tests:
            raise ValueError("a suite needs at least one test: no tests is not a pass")
        if self.io is Io.FUNCTION and not self.entry_point:
            raise ValueError("a call-based suite needs the name of its entry point")
