"""Which problems count for which model: windows of time, and the one reason why a problem is left out.

Windows are half-open: a problem belongs to ``[start, end)``. After a cut-off, ``start`` is ``Cutoff.after + margin``,
which is the same as "published strictly later than ``Cutoff.end + margin``" (see ``eval.cutoffs``). No clock, no
database.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from db.records import MadeStrength, Precision, TestOrigin, require_utc
from eval.cutoffs import Cutoff, CutoffUnreadable, parse_cutoff

MAX_MARGIN = timedelta(days=36_500)


class Reason(StrEnum):
    """Why a problem does not count. A flag with another name gives ``flagged: NAME`` (see ``flag_reason``)."""

    DATE_UNKNOWN = "publication date unknown"
    BEFORE_CUTOFF = "published before the cut-off"
    TOO_NEAR = "published too near the cut-off to tell"
    OUTSIDE_WINDOW = "outside the window"
    WITHDRAWN = "withdrawn"
    INTERACTIVE = "interactive"
    MULTIPLE_ANSWERS = "multiple answers without a checker"
    BAD_TESTS = "bad tests"
    REFERENCES_DISAGREE = "references disagree"
    WEAK_TESTS = "no tests beyond the samples"
    NO_TESTS = "no tests"
    SAMPLES_ONLY = "sample tests only"
    NO_COMPLETION = "no completion"
    NO_RESULT = "no imported result"
    NOT_JUDGED = "not judged"
    INTERNAL_ERROR = "internal error of the judge"
    OLDER_STATEMENT = "answers an older statement"


PRIVATE = "private"
"""The flag of a problem that is never named in what is published; it counts in aggregates alone."""

REFERENCES_DISAGREE = "references_disagree"
"""The flag of a problem whose references, programs that are given as right, answer otherwise on made inputs."""

ANSWERS_DIFFER = "answers_differ"
"""The flag of a problem to which programs that may be right answer otherwise on made inputs."""

INFORMATIONAL_FLAGS = frozenset(
    {"early_access", "exposed_earlier", "has_image", "partial_tests", PRIVATE, "withdrawn", ANSWERS_DIFFER}
)
"""Flags that a reader should know of, and that keep no problem out of a score."""

_KNOWN_FLAGS = {
    "interactive": Reason.INTERACTIVE,
    "multiple_answers": Reason.MULTIPLE_ANSWERS,
    "bad_tests": Reason.BAD_TESTS,
    "weak_tests": Reason.WEAK_TESTS,
    REFERENCES_DISAGREE: Reason.REFERENCES_DISAGREE,
}

FLAG_NAMES = INFORMATIONAL_FLAGS.union(_KNOWN_FLAGS)
"""The flags whose effect is known here. Any other keeps a problem out of scores, under its own name."""


@dataclass(frozen=True)
class ProblemFacts:
    """What eligibility and reports need to know of a problem.

    ``exposed_at`` is the earliest UTC instant at which it may have been public (None: no date is known);
    ``exposed_precision`` says how far after it the true instant may lie. ``flags`` are (name, reason) pairs.
    ``hidden_origins`` say where its tests beyond the samples come from; ``strength`` is of tests that were made here.
    """

    problem_id: int
    platform: str
    native_id: str
    exposed_at: datetime | None
    exposed_precision: Precision = Precision.INSTANT
    difficulty: str | None = None
    contest: str | None = None
    suite_digest: str | None = None
    n_tests: int = 0
    samples_only: bool = False
    has_checker: bool = False
    flags: tuple[tuple[str, str], ...] = ()
    withdrawn: bool = False
    hidden_origins: tuple[TestOrigin, ...] = ()
    strength: MadeStrength | None = None

    def __post_init__(self) -> None:
        require_utc("ProblemFacts.exposed_at", self.exposed_at)

    @property
    def is_private(self) -> bool:
        """Whether it belongs to the private part of the problems."""
        return any(name == PRIVATE for name, _ in self.flags)

    @property
    def has_made_tests(self) -> bool:
        """Whether some of its tests were made here."""
        return TestOrigin.GENERATED in self.hidden_origins

    @property
    def exposed_before(self) -> datetime | None:
        """The first instant by which it was certainly public: the end of the day, month, ... that the date names."""
        if self.exposed_at is None:
            return None
        return period_end(self.exposed_at, self.exposed_precision)

    @property
    def cluster(self) -> str:
        """Problems with the same value were drawn together: one contest. Without a contest a problem is its own."""
        if self.contest is None:
            return f"{self.platform}\tproblem\t{self.native_id}"
        return f"{self.platform}\tcontest\t{self.contest}"


@dataclass(frozen=True)
class Window:
    """A half-open window ``[start, end)``; None means no bound on that side.

    ``after_cutoff`` is the part of the lower bound that comes from a cut-off and its margin; ``since`` and ``until``
    are bounds that the user gave. A problem must satisfy all of them.
    """

    after_cutoff: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        for name in ("after_cutoff", "since", "until"):
            require_utc(f"Window.{name}", getattr(self, name))

    @property
    def start(self) -> datetime | None:
        """The later of the two lower bounds."""
        bounds = [bound for bound in (self.after_cutoff, self.since) if bound is not None]
        return max(bounds) if bounds else None

    @property
    def end(self) -> datetime | None:
        """The upper bound, which is outside the window."""
        return self.until


def window_for(
    cutoff: Cutoff | None,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    margin: timedelta = timedelta(0),
) -> Window:
    """The window of a model with this cut-off (None: bounds by ``since`` and ``until`` alone).

    Raises ``ValueError`` for a negative margin, one above a hundred years, or ``since`` not before ``until``.
    """
    if not timedelta(0) <= margin <= MAX_MARGIN:
        raise ValueError(f"the margin must lie between 0 and {MAX_MARGIN.days} days, not {margin}")
    if since is not None and until is not None and since >= until:
        raise ValueError(f"the window would end at {until.isoformat()}, not after its start at {since.isoformat()}")
    return Window(None if cutoff is None else cutoff.after + margin, since, until)


def date_reason(problem: ProblemFacts, window: Window) -> Reason | None:
    """Why the problem's date puts it outside the window, or None if it is inside.

    A coarse date counts as its earliest instant. One that begins before the cut-off's end but may lie after it is left
    out with a reason of its own: nobody can tell.
    """
    exposed_at, exposed_before = problem.exposed_at, problem.exposed_before
    if exposed_at is None or exposed_before is None:
        return Reason.DATE_UNKNOWN
    if window.after_cutoff is not None and exposed_at < window.after_cutoff:
        return Reason.TOO_NEAR if exposed_before > window.after_cutoff else Reason.BEFORE_CUTOFF
    if window.since is not None and exposed_at < window.since:
        return Reason.OUTSIDE_WINDOW
    if window.until is not None and exposed_at >= window.until:
        return Reason.OUTSIDE_WINDOW
    return None


def quality_reason(problem: ProblemFacts, *, include_flagged: bool = False) -> str | None:
    """Why a problem must not be scored whatever its date: withdrawn, or flagged (unless flags are to be ignored)."""
    if problem.withdrawn:
        return Reason.WITHDRAWN
    if include_flagged:
        return None
    for name, _ in problem.flags:
        reason = flag_reason(name, has_checker=problem.has_checker, has_made_tests=problem.has_made_tests)
        if reason is not None:
            return reason
    return None


def flag_reason(name: str, *, has_checker: bool = False, has_made_tests: bool = False) -> str | None:
    """The reason that a flag of this name gives, None for one that only informs, or that a checker or tests that were
    made here make harmless."""
    if name in INFORMATIONAL_FLAGS:
        return None
    known = _KNOWN_FLAGS.get(name)
    if (known is Reason.MULTIPLE_ANSWERS and has_checker) or (known is Reason.WEAK_TESTS and has_made_tests):
        return None
    return known if known is not None else f"flagged: {name}"


def classify(problem: ProblemFacts, window: Window, *, include_flagged: bool = False) -> str | None:
    """The one reason why the problem is not eligible, or None if it is. Dates come before everything else."""
    return date_reason(problem, window) or quality_reason(problem, include_flagged=include_flagged)


def period_end(start: datetime, precision: Precision) -> datetime:
    """The first instant after the period of this precision that ``start`` falls in; an instant ends where it begins."""
    if precision is Precision.INSTANT:
        return start
    if precision is Precision.DAY:
        # A day is kept as the midnight with which it begins, which need not be UTC's: 24 hours on, not till midnight.
        return start + timedelta(days=1)
    # For the same reason a month may be kept as an evening of the month before: half a day on it names itself.
    midnight = (start + timedelta(hours=14)).replace(hour=0, minute=0, second=0, microsecond=0)
    if precision is Precision.MONTH:
        return _month_start(midnight, 1)
    if precision is Precision.QUARTER:
        return _month_start(midnight, 3 - (midnight.month - 1) % 3)
    return _month_start(midnight, 13 - midnight.month)


def _month_start(midnight: datetime, months_on: int) -> datetime:
    years, month = divmod(midnight.month - 1 + months_on, 12)
    return midnight.replace(year=midnight.year + years, month=month + 1, day=1)


def parse_since(text: str) -> datetime:
    """A lower bound as typed: an instant with a zone, or a day, month, ... that counts from its first UTC instant."""
    instant = _parse_instant(text)
    if instant is not None:
        return instant
    first = parse_cutoff(text).first
    return datetime(first.year, first.month, first.day, tzinfo=UTC)


def parse_until(text: str) -> datetime:
    """An upper bound as typed. A day, month, ... belongs to the window as a whole (UTC).

    "2025-01-31" gives 2025-02-01T00:00Z, so that nothing of the last day is lost.
    """
    instant = _parse_instant(text)
    if instant is not None:
        return instant
    last = parse_cutoff(text).last
    return datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)


def parse_margin(text: str) -> timedelta:
    """A margin as typed: "30d", "2w", "12h" or a number of days. Raises ``CutoffUnreadable``."""
    match = re.fullmatch(r"([0-9]{1,6})\s*([hdw]?)", text.strip().lower())
    if match is None:
        raise CutoffUnreadable(f'cannot read the margin "{text}"', 'write it as "30d", "2w" or "12h"')
    number, unit = int(match[1]), match[2] or "d"
    return {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}[unit] * number


def _parse_instant(text: str) -> datetime | None:
    if not re.match(r"\s*[0-9]{4}-?[0-9]{2}-?[0-9]{2}[Tt]", text):
        return None
    try:
        instant = datetime.fromisoformat(text.strip())
        if instant.tzinfo is not None:
            return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise CutoffUnreadable(f'cannot read the instant "{text}"', 'write it as "2025-01-31T14:30Z"') from error
    raise CutoffUnreadable(f'"{text}" names no time zone', f'add one: "{text.strip()}Z" for UTC')
