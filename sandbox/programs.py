"""What goes in: a program, a suite of tests, how outputs are compared, and the limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

from sandbox import signatures

MIB = 1024 * 1024


class Io(StrEnum):
    """How a program meets its tests.

    ``STDIN``: standard input and output. ``FUNCTION``: one call with JSON arguments. ``DESIGN``: a class is made and
    its methods are called one after another. ``INTERACTIVE``: it talks with the checker through pipes.
    """

    STDIN = "stdin"
    FUNCTION = "function"
    DESIGN = "design"
    INTERACTIVE = "interactive"


@dataclass(frozen=True)
class Program:
    """A program's source as it is; it is never rewritten. ``files`` are (name, text) pairs that lie beside it.

    ``ValueError`` for names that lead elsewhere, stand twice, or are a file's and a folder's at once.
    """

    source: str
    language: str = "python3"
    files: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        names = [name for name, _ in self.files]
        for name in names:
            if "\0" in name or any(part in ("", ".", "..") for part in name.split("/")):
                raise ValueError(f"a file beside a program cannot be called {name!r}")
        folders = {name[:at] for name in names for at, letter in enumerate(name) if letter == "/"}
        if len(set(names)) < len(names) or not folders.isdisjoint(names):
            raise ValueError(f"two files beside a program have the same name, or one is the other's folder: {names}")


class Unordered(StrEnum):
    """What may be in any order. ``LINES`` and ``TOKENS`` of an output: its lines, or all its tokens. ``LIST`` and
    ``NESTED`` of a returned value: the list, or a list of lists and each list in it."""

    LINES = "lines"
    TOKENS = "tokens"
    LIST = "list"
    NESTED = "nested"


@dataclass(frozen=True)
class Comparison:
    """How an output is held against the expected one.

    Tolerances are absolute or relative, either sufficing; they apply to tokens whose expected form is a number. Where
    none is declared, an expected token written as a non-integer number tolerates ``DEFAULT_TOLERANCE`` both ways, and
    integers none; ``assume_tolerance`` False is for formats in which no declaration means none (Kattis packages).
    ``space_sensitive`` compares white space too, line ends at the very end aside. ``unordered`` may be given by name.
    """

    absolute_tolerance: float | None = None
    relative_tolerance: float | None = None
    case_sensitive: bool = True
    space_sensitive: bool = False
    assume_tolerance: bool = True
    unordered: Unordered | None = None

    DEFAULT_TOLERANCE: ClassVar[float] = 1e-6

    def __post_init__(self) -> None:
        for name in ("absolute_tolerance", "relative_tolerance"):
            value = getattr(self, name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (is_number and 0 <= value < float("inf")):
                raise ValueError(f"{name} must be a number of at least 0, not {value!r}")
        for name in ("case_sensitive", "space_sensitive", "assume_tolerance"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false, not {getattr(self, name)!r}")
        if self.unordered is not None:
            if self.unordered not in set(Unordered):
                raise ValueError(f"unordered must be one of {', '.join(Unordered)}, not {self.unordered!r}")
            object.__setattr__(self, "unordered", Unordered(self.unordered))
            if self.space_sensitive:
                raise ValueError(f"space_sensitive contradicts unordered {self.unordered}: blanks belong to a place")

    @property
    def declares_tolerance(self) -> bool:
        """Whether the problem itself states a numeric tolerance."""
        return self.absolute_tolerance is not None or self.relative_tolerance is not None

    def require_for(self, io: Io) -> None:
        """``ValueError`` when programs that meet their tests so have nothing of what may be in any order."""
        called = io in (Io.FUNCTION, Io.DESIGN)
        if self.unordered is not None and called != (self.unordered in (Unordered.LIST, Unordered.NESTED)):
            raise ValueError(f"unordered {self.unordered} is not for {io}")


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
class Allowance:
    """What a language gets beyond a suite's limits: a factor on CPU time, seconds to start, its runtime's memory."""

    cpu_factor: float = 1.0
    cpu_extra_s: float = 0.0
    memory_extra_bytes: int = 0

    def applied(self, limits: Limits) -> Limits:
        """The limits with it."""
        return replace(
            limits,
            cpu_s=limits.cpu_s * self.cpu_factor + self.cpu_extra_s,
            memory_bytes=limits.memory_bytes + self.memory_extra_bytes,
        )


@dataclass(frozen=True)
class Signature:
    """The types of a call-based problem, as LeetCode or Python writes them: ``ListNode``, ``list<integer>``, ``void``.

    ``answer`` is the index of the argument that holds the answer where the call itself returns nothing. For a design
    class these are the constructor's; ``methods`` has the others by name.
    """

    parameters: tuple[str, ...] = ()
    returns: str = ""
    answer: int | None = None
    methods: tuple[tuple[str, Signature], ...] = ()


class Grader(StrEnum):
    """Whose rules verdicts follow: ours, or those of LiveCodeBench's own evaluator, imitated for comparison."""

    LIVE = "live"
    LIVECODEBENCH = "livecodebench"


class Protocol(StrEnum):
    """How a checker says its judgement: ``KATTIS``: exit codes 42 and 43; ``TESTLIB``: 0, 1, 2, 3, 4, 7, 8 and 50
    to 150, with what it says."""

    KATTIS = "kattis"
    TESTLIB = "testlib"


@dataclass(frozen=True)
class Checker:
    """A program that judges outputs in place of a comparison, in a jail of its own.

    ``flags`` are its arguments where a test has none of its own. ``ValueError`` for files beside it in the folder
    that its feedback goes into.
    """

    program: Program
    protocol: Protocol = Protocol.KATTIS
    flags: tuple[str, ...] = ()
    limits: Limits = field(default_factory=lambda: Limits(cpu_s=60.0, memory_bytes=2048 * MIB))

    FEEDBACK_FOLDER: ClassVar[str] = "feedback"

    def __post_init__(self) -> None:
        for name, _ in self.program.files:
            if name.split("/")[0] == self.FEEDBACK_FOLDER:
                raise ValueError(f"a file beside a checker cannot be {name!r}: its feedback goes there")


class OnReject(StrEnum):
    """Whether a group goes on once one of its tests or subgroups is rejected."""

    BREAK = "break"
    CONTINUE = "continue"


class VerdictRule(StrEnum):
    """What a group's verdict is where not all in it is accepted: the worst error, the first one, or accepted still."""

    WORST_ERROR = "worst_error"
    FIRST_ERROR = "first_error"
    ALWAYS_ACCEPT = "always_accept"


class ScoreRule(StrEnum):
    """How scores become a group's. ``PASS_FAIL``: its accept score where all is accepted, else its reject score."""

    SUM = "sum"
    AVERAGE = "avg"
    MIN = "min"
    MAX = "max"
    PASS_FAIL = "pass-fail"


@dataclass(frozen=True)
class Group:
    """How one group of tests is graded, in the words of the Kattis problem package format.

    ``accept_score`` and ``reject_score`` are those of its tests that get no score of their own; None for the first
    says that an accepted test must have one. ``max_score`` is the most that the group may get: more is the suite's
    fault. ``require_pass`` names groups or tests that must be accepted whole, or else this group is not run.
    ``ignore_sample`` leaves the group ``sample`` below it out of both verdict and score.
    """

    on_reject: OnReject = OnReject.BREAK
    verdict: VerdictRule = VerdictRule.WORST_ERROR
    score: ScoreRule = ScoreRule.SUM
    accept_if_any_accepted: bool = False
    ignore_sample: bool = False
    accept_score: float | None = 1.0
    reject_score: float = 0.0
    max_score: float | None = None
    require_pass: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.score is ScoreRule.PASS_FAIL and self.accept_score is None:
            raise ValueError("a pass-fail group needs the score that it gives")


@dataclass(frozen=True)
class Groups:
    """The groups of a suite: (folder of the tests' names, rules) pairs; "" is the root, which always is one.

    A test belongs to the nearest folder that is named here. Without ``scoring`` nothing but verdicts counts. A program
    solves the problem where it reaches ``full_score`` (None: what it gets with every test accepted), or, where the
    score is to be small (``minimise``), does not exceed it.
    """

    rules: tuple[tuple[str, Group], ...] = ()
    scoring: bool = False
    minimise: bool = False
    full_score: float | None = None


@dataclass(frozen=True)
class Test:
    """One test. For call-based programs ``input`` has one JSON argument a line and ``expected`` is a JSON value.

    For a design class ``input`` has a JSON list of names, the class first, and one of argument lists; ``expected`` is
    the list of what the calls return. ``name`` may have folders, which are the test's groups.
    """

    __test__ = False

    name: str
    input: bytes
    expected: bytes
    comparison: Comparison | None = None
    checker_flags: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Suite:
    """The tests that a program must pass, in the order in which they run.

    ``ValueError`` for one that cannot be judged: without tests, with types that the sandbox does not know, with rules
    that do not go together. ``groups`` say which tests are run and what their results come to; without them every
    test must be accepted.
    """

    tests: tuple[Test, ...]
    io: Io = Io.STDIN
    entry_point: str | None = None
    comparison: Comparison = field(default_factory=Comparison)
    limits: Limits = field(default_factory=Limits)
    signature: Signature | None = None
    checker: Checker | None = None
    groups: Groups | None = None

    def __post_init__(self) -> None:
        if not self.tests:
            raise ValueError("a suite needs at least one test: no tests is not a pass")
        if self.io in (Io.FUNCTION, Io.DESIGN) and not self.entry_point:
            raise ValueError("a call-based suite needs the name of its entry point")
        if self.io is Io.INTERACTIVE and self.checker is None:
            raise ValueError("an interactive suite needs the checker that the program talks with")
        for comparison in (self.comparison, *(test.comparison for test in self.tests if test.comparison is not None)):
            comparison.require_for(self.io)
        signatures.call_details(self)
