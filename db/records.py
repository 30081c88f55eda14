"""The frozen records that cross the store's edge: what importers hand in and what readers get back.

Every instant is an aware UTC ``datetime``; naive ones, and text or numbers that no database holds, are refused with a
``ValueError`` that names the field, where a record is built: nothing after that has to look again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import Any, Final

MAX_SAMPLES: Final = 2**31 - 1
"""Sample indices and counts are 32-bit integers in the store."""
MAX_INTEGER: Final = 2**63 - 1
GIVEN_BY_USER: Final = "user"
"""The source of programs that a user gives for a problem; "user:NAME" where several do."""
WRITTEN_BY_MODEL: Final = "model:"
"""How the sources of programs begin that a model wrote for a problem."""
CODE_GENERATION: Final = "code_generation"
"""The scenario of a program that solves the problem itself."""


class Precision(StrEnum):
    """How finely a date is known. The order of the members is from fine to coarse."""

    INSTANT = "instant"
    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


def read_precision(text: str) -> Precision:
    """The precision that a row names. One that this version does not know is taken for the coarsest: nothing is gained
    by guessing, and one odd row must not take a whole query with it."""
    return Precision(text) if text in set(Precision) else Precision.YEAR


class TestOrigin(StrEnum):
    """Where a test case came from."""

    __test__ = False

    SAMPLE = "sample"
    OFFICIAL = "official"
    GENERATED = "generated"
    RECOVERED = "recovered"


class ProgramRole(StrEnum):
    """What a program that comes with a problem is to it."""

    ACCEPTED = "accepted"
    """Known to solve it."""
    BRUTE_FORCE = "brute_force"
    """Right, and too slow for all but small inputs."""
    WRONG = "wrong"
    """Known to give a wrong answer, or none, on some valid input."""
    TOO_SLOW = "too_slow"
    """Right, and known to be too slow for some valid input."""
    GENERATOR = "generator"
    """Writes valid inputs."""
    VALIDATOR = "validator"
    """Says which inputs are valid."""


class IoKind(StrEnum):
    """How a program meets its tests."""

    STDIN = "stdin"
    FUNCTION = "function"
    DESIGN = "design"
    INTERACTIVE = "interactive"


class ContestKind(StrEnum):
    """What a contest is, which says whether its start dates its problems: only a round's does."""

    ROUND = "round"
    TRAINING = "training"
    """Lists problems of earlier rounds again."""
    PERMANENT = "permanent"
    """Always open, without a start."""
    VIRTUAL = "virtual"
    """Starts when its one participant wants it to."""


class AnswerStatus(StrEnum):
    """What was found in a model's answer."""

    OK = "ok"
    """A program in a code block."""
    OK_UNFENCED = "ok_unfenced"
    """A program without a block."""
    NO_CODE = "no_code"
    """Words only, a refusal in words among them."""
    TRUNCATED = "truncated"
    """Cut off by a limit of length before the program was whole."""
    SUSPICIOUS_STOP = "suspicious_stop"
    """Ended normally inside an open block: a stop word cut it."""
    WRONG_LANGUAGE = "wrong_language"
    REFUSED = "refused"
    """The endpoint's own refusal field or content filter."""

    @property
    def has_program(self) -> bool:
        """Whether there is a program to run."""
        return self in (AnswerStatus.OK, AnswerStatus.OK_UNFENCED)


WITHOUT_PROGRAM: Final = frozenset(str(status) for status in AnswerStatus if not status.has_program)
"""The statuses that stand in place of a verdict: there is nothing to run."""


def require_utc(name: str, value: datetime | None) -> None:
    """Refuse a naive datetime, or one in another zone than UTC, with a ``ValueError`` that names the field."""
    if value is None:
        return
    offset = value.utcoffset()
    if offset is None or offset.total_seconds() != 0:
        raise ValueError(f"{name} must be an aware UTC datetime, not {value!r}")


def require_text(name: str, value: str | None, *, allow_empty: bool = True) -> None:
    """Refuse text that a database column cannot hold (a NUL, a lone surrogate), with a ``ValueError`` that names it."""
    if value is None:
        return
    if not value and not allow_empty:
        raise ValueError(f"{name} must not be empty")
    if "\0" in value:
        raise ValueError(f"{name} holds a NUL character: {value[:80]!r}")
    try:
        value.encode()
    except UnicodeEncodeError as exc:
        raise ValueError(f"{name} holds a lone surrogate, which is no text: {value[:80]!r}") from exc


def storable_text(text: str) -> str:
    """A text of any origin as every database takes it: NULs and halves of surrogate pairs written out."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True)
class ProblemKey:
    """A problem's identity: the platform and the id that the platform itself uses."""

    platform: str
    native_id: str

    def __post_init__(self) -> None:
        require_text("ProblemKey.platform", self.platform, allow_empty=False)
        require_text("ProblemKey.native_id", self.native_id, allow_empty=False)

    def __str__(self) -> str:
        return f"{self.platform}:{self.native_id}"


@dataclass(frozen=True)
class DateClaim:
    """What one source said about when a problem became public, kept as it was written.

    ``earliest`` is the first UTC instant that the words allow (a day counts as its midnight). ``contest`` is the native
    id of the contest whose start it is: a later word of the same source on that contest takes its place.
    """

    as_written: str
    earliest: datetime
    precision: Precision
    source: str
    contest: str = ""

    def __post_init__(self) -> None:
        require_text("DateClaim.as_written", self.as_written)
        require_text("DateClaim.source", self.source, allow_empty=False)
        require_text("DateClaim.contest", self.contest)
        require_utc("DateClaim.earliest", self.earliest)


@dataclass(frozen=True)
class ContestRecord:
    """A contest of a platform. ``starts_at`` and ``ends_at`` are None when only a coarse date is known, or none."""

    platform: str
    native_id: str
    title: str | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    kind: ContestKind = ContestKind.ROUND
    url: str | None = None

    def __post_init__(self) -> None:
        require_text("ContestRecord.platform", self.platform, allow_empty=False)
        require_text("ContestRecord.native_id", self.native_id, allow_empty=False)
        require_text("ContestRecord.title", self.title)
        require_text("ContestRecord.url", self.url)
        require_utc("ContestRecord.starts_at", self.starts_at)
        require_utc("ContestRecord.ends_at", self.ends_at)

    def has_ended(self, now: datetime) -> bool:
        """Whether the contest is known to be over."""
        return self.ends_at is not None and self.ends_at <= now


@dataclass(frozen=True)
class SightingRecord:
    """That a source was seen to show a problem at ``seen_at``: it was public by then, whatever its contest's start."""

    key: ProblemKey
    seen_at: datetime
    source: str
    reason: str

    def __post_init__(self) -> None:
        require_text("SightingRecord.source", self.source, allow_empty=False)
        require_text("SightingRecord.reason", self.reason)
        require_utc("SightingRecord.seen_at", self.seen_at)


@dataclass(frozen=True)
class TestCaseRecord:
    """One test. ``expected`` is None only where no expected output is known (such a test is never judged).

    ``comparison`` overrides the suite's comparison for this test alone, ``checker_flags`` the flags of its checker.
    """

    __test__ = False

    name: str
    input: bytes
    expected: bytes | None
    origin: TestOrigin
    comparison: dict[str, Any] | None = None
    checker_flags: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        require_text("TestCaseRecord.name", self.name)
        for flag in self.checker_flags or ():
            require_text("TestCaseRecord.checker_flags", flag)


@dataclass(frozen=True)
class SuiteRecord:
    """Everything that decides a verdict beside the program: tests, contract, comparison and limits.

    ``comparison`` holds the keyword arguments of ``sandbox.Comparison`` as JSON values; an empty dict is the default
    token comparison. ``time_limit_s`` is CPU time; None means that the source states none.

    ``signature``, ``checker`` and ``groups`` say as JSON values what ``sandbox.Signature``, ``sandbox.Checker`` and
    ``sandbox.grading.Groups`` say, fields by name (``sandbox/plain.py`` writes and reads them): the types of a
    call-based problem, the program that judges in place of the comparison, how tests are graded in groups.
    """

    tests: tuple[TestCaseRecord, ...]
    io_kind: IoKind = IoKind.STDIN
    entry_point: str | None = None
    comparison: dict[str, Any] = field(default_factory=dict)
    time_limit_s: float | None = None
    memory_limit_bytes: int | None = None
    signature: dict[str, Any] | None = None
    checker: dict[str, Any] | None = None
    groups: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        require_text("SuiteRecord.entry_point", self.entry_point)
        if self.time_limit_s is not None and not (self.time_limit_s > 0 and isfinite(self.time_limit_s)):
            raise ValueError(f"SuiteRecord.time_limit_s must be a positive number, not {self.time_limit_s!r}")
        if self.memory_limit_bytes is not None and not 0 < self.memory_limit_bytes <= MAX_INTEGER:
            raise ValueError(
                f"SuiteRecord.memory_limit_bytes must be a positive number, not {self.memory_limit_bytes!r}"
            )


@dataclass(frozen=True)
class MadeStrength:
    """What made tests do to programs of which is known what they are: of ``n_wrong`` wrong ones they fail
    ``n_wrong_killed``, and so on. Mutants may do the same as what they are made of. The tests that ``n_right_killed``
    of ``n_right`` right ones failed were set aside and are not in the suite."""

    n_wrong: int = 0
    n_wrong_killed: int = 0
    n_slow: int = 0
    n_slow_killed: int = 0
    n_mutants: int = 0
    n_mutants_killed: int = 0
    n_right: int = 0
    n_right_killed: int = 0

    def __post_init__(self) -> None:
        for what in ("wrong", "slow", "mutants", "right"):
            n, killed = getattr(self, f"n_{what}"), getattr(self, f"n_{what}_killed")
            if not 0 <= killed <= n:
                raise ValueError(f"MadeStrength: {killed} of {n} {what} programs cannot have been killed")


@dataclass(frozen=True)
class ReferenceRecord:
    """A program that comes with a problem, and what it is to it; ``name`` is what its source calls it."""

    name: str
    language: str
    code: str
    role: ProgramRole = ProgramRole.ACCEPTED

    def __post_init__(self) -> None:
        require_text("ReferenceRecord.name", self.name, allow_empty=False)
        require_text("ReferenceRecord.language", self.language, allow_empty=False)


@dataclass(frozen=True)
class ProblemRecord:
    """A problem as one source gives it, ready to be saved. ``flags`` are all (name, reason) pairs of that source.

    ``language`` is that of the statement ("en"; None: not known), ``translations`` are (language, statement) pairs.
    ``other_ids`` are native ids by which the source, and files that go with it, know the same problem. ``page_sha256``
    is that of the page with the statement: while it stays the same, another text is only another reading of it.
    ``references`` are all the programs that the source has for it, under names of their own (None: it says nothing of
    them).
    """

    key: ProblemKey
    title: str
    dates: tuple[DateClaim, ...]
    source: str
    url: str | None = None
    difficulty: str | None = None
    contest: ContestRecord | None = None
    contest_index: str | None = None
    statement: str = ""
    language: str | None = None
    translations: tuple[tuple[str, str], ...] = ()
    starter_code: str = ""
    suite: SuiteRecord | None = None
    flags: tuple[tuple[str, str], ...] = ()
    other_ids: tuple[str, ...] = ()
    page_sha256: str | None = None
    references: tuple[ReferenceRecord, ...] | None = None

    def __post_init__(self) -> None:
        names = [reference.name for reference in self.references or ()]
        if len(set(names)) < len(names):
            raise ValueError(f"ProblemRecord.references has a name twice: {sorted(names)}")
        for other in self.other_ids:
            require_text("ProblemRecord.other_ids", other, allow_empty=False)
        require_text("ProblemRecord.title", self.title)
        require_text("ProblemRecord.source", self.source, allow_empty=False)
        require_text("ProblemRecord.url", self.url)
        require_text("ProblemRecord.difficulty", self.difficulty)
        require_text("ProblemRecord.contest_index", self.contest_index)
        require_text("ProblemRecord.language", self.language, allow_empty=False)
        for name, reason in self.flags:
            require_text("ProblemRecord.flags", name, allow_empty=False)
            require_text("ProblemRecord.flags", reason)


@dataclass(frozen=True)
class Place:
    """Where an answer belongs in its run. ``question_id`` 0 is the problem itself."""

    problem_id: int
    question_id: int = 0
    sample_index: int = 0

    def __post_init__(self) -> None:
        for name, value in (("question_id", self.question_id), ("sample_index", self.sample_index)):
            if not 0 <= value <= MAX_SAMPLES:
                raise ValueError(f"Place.{name} must be between 0 and {MAX_SAMPLES}, not {value!r}")


@dataclass(frozen=True)
class CompletionRecord:
    """One sampled answer of a model to one problem. ``code`` is the extracted program, possibly empty.

    ``status`` and ``rule`` say what the program was found by in the raw output; None: it came as a program.
    """

    key: ProblemKey
    sample_index: int
    code: str
    language: str = "python3"
    finish_reason: str | None = None
    raw_output: str | None = None
    status: AnswerStatus | None = None
    rule: str | None = None

    def __post_init__(self) -> None:
        require_text("CompletionRecord.language", self.language, allow_empty=False)
        require_text("CompletionRecord.finish_reason", self.finish_reason)
        require_text("CompletionRecord.rule", self.rule)
        if not 0 <= self.sample_index <= MAX_SAMPLES:
            raise ValueError(
                f"CompletionRecord.sample_index must be between 0 and {MAX_SAMPLES}, not {self.sample_index!r}"
            )


@dataclass(frozen=True)
class TallyRecord:
    """A published result without its programs: ``n_correct`` of ``n_samples`` were graded right.

    ``scenario`` is what was asked for.
    """

    key: ProblemKey
    model: str
    n_samples: int
    n_correct: int
    origin: str
    scenario: str = CODE_GENERATION

    def __post_init__(self) -> None:
        require_text("TallyRecord.scenario", self.scenario, allow_empty=False)
        require_text("TallyRecord.model", self.model, allow_empty=False)
        require_text("TallyRecord.origin", self.origin, allow_empty=False)
        if not 1 <= self.n_samples <= MAX_SAMPLES:
            # No sample is no result: it must never be read as a score of 0.
            raise ValueError(f"TallyRecord.n_samples must be at least 1, not {self.n_samples!r}")
        if not 0 <= self.n_correct <= self.n_samples:
            raise ValueError(f"TallyRecord.n_correct must be between 0 and n_samples, not {self.n_correct!r}")


class SaveOutcome(StrEnum):
    """What saving one record did to the store."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
