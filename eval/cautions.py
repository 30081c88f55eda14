"""What a reader must know before believing a row or a table: warnings in words, made from the row itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from eval.cutoffs import CutoffPrecision
from eval.eligibility import CutoffStatus
from eval.generate.health import RunHealth, failed_text
from eval.report import TOO_FEW_PROBLEMS, Row, too_few
from eval.statistics.intervals import FEW_CLUSTERS, MIN_CLUSTERS
from eval.window import PRIVATE, ProblemFacts, Reason, Window

FEW_PROBLEMS = 100
MAX_MISSING = 0.05
CEILING, FLOOR = 0.9, 0.05
OLD = timedelta(days=360)
"""Problems older than this may well be in the data of models that come out now."""
BUILD_HINT = "live tests build makes tests beyond the samples"
"""What to do about problems whose tests are the samples alone."""
_LENGTHS = {
    CutoffPrecision.MONTH: timedelta(days=28),
    CutoffPrecision.QUARTER: timedelta(days=90),
    CutoffPrecision.PART_OF_YEAR: timedelta(days=90),
    CutoffPrecision.YEAR: timedelta(days=365),
}
"""How long the periods are at least that a coarse cut-off names."""
_SIDES = {
    "public": f"public problems only: those flagged {PRIVATE} are not looked at",
    PRIVATE: f"private problems only: those flagged {PRIVATE}",
}


def row_warnings(
    row: Row, imported: bool, n_incomplete: int, n_exposed: int, cautions: Iterable[str] = ()
) -> Iterable[str]:
    """The warnings of a row, the weightiest first.

    ``n_incomplete`` judged problems have samples without a verdict; ``n_exposed`` may have been public before the
    cut-off (an explicit window may hold such); ``cautions`` are sentences that the caller has to add.
    """
    yield from cautions
    if n_exposed:
        yield f"{n_exposed} of {row.n_judged} judged problems may have been public before the cut-off"
    yield from cutoff_cautions(vars(row), Window(row.window_from, None, row.window_to))
    if not row.n_eligible:
        yield _why_empty(row)
    if row.pass_at_1.unjudged is not None:
        yield BUILD_HINT
    if row.n_judged:
        yield from _size_warnings(row)
        yield from _gap_warnings(row, imported, n_incomplete)
        yield from _score_warnings(row)


def answer_cautions(n_answers: int, n_failed: int, without_program: Mapping[str, int]) -> Iterator[str]:
    """What is wrong with how a run was asked: samples without an answer, and answers without a program by status."""
    n_others = n_answers - sum(without_program.values())
    health = RunHealth({**without_program, "others": n_others}, {"failed": n_failed})
    yield from (f"unhealthy run: {reason}" for reason in health.reasons)
    if n_failed and not health.is_failing:
        yield failed_text(n_failed, n_answers)
    if without_program:
        counted = ", ".join(f"{n} {status}" for status, n in without_program.items())
        yield f"answers without a program, which count as not solved: {counted}"


def differing_fields(conditions: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """The conditions in which runs differ, each with its values: their scores do not compare models alone."""
    for key in sorted({key for one in conditions for key in one}):
        values = sorted({repr(one.get(key)) for one in conditions})
        if len(values) > 1:
            yield f"{key}: {', '.join(values)}"


def split_lines(split: str) -> Iterator[str]:
    """Which side of the split into public and private problems was looked at; nothing where it was both."""
    if split in _SIDES:
        yield _SIDES[split]


def cutoff_cautions(cutoff: Mapping[str, Any], window: Window) -> Iterator[str]:
    """What is weak about a cut-off, given as the fields that `eval.report.cutoff_fields` names, for a window."""
    written, precision = cutoff["cutoff"], cutoff["cutoff_precision"]
    if cutoff["cutoff_status"] == CutoffStatus.ASSUMED.value:
        yield f"cut-off unknown: release date used ({written})"
    elif written is not None and cutoff["cutoff_source"] is None:
        yield "cut-off without a source"
    if cutoff["cutoff_inherited_from"] is not None:
        yield f"the cut-off is that of {cutoff['cutoff_inherited_from']}, whose data the model inherits"
    if precision in {CutoffPrecision.QUARTER, CutoffPrecision.PART_OF_YEAR, CutoffPrecision.YEAR}:
        yield f'cut-off known only as "{written}": its last day counts'
    if window.start is not None and window.end is not None and precision in _LENGTHS:
        length = window.end - window.start
        if length < _LENGTHS[CutoffPrecision(precision)]:
            yield f'the window of {length.days} days is shorter than what the cut-off "{written}" leaves open'


def age_cautions(problems: Iterable[ProblemFacts], now: datetime) -> Iterator[str]:
    """What is old enough to be in the data of later models: the set is clean for this snapshot only."""
    old = sum(one.exposed_at is not None and one.exposed_at < now - OLD for one in problems)
    if old:
        yield f"published more than {OLD.days // 30} months ago, so clean for this snapshot only: {old} of the problems"


def _why_empty(row: Row) -> str:
    """What became of all problems where none is eligible; three reasons are named although nothing fell to them."""
    first = (Reason.BEFORE_CUTOFF, Reason.WITHDRAWN, Reason.DATE_UNKNOWN)
    counts = {str(reason): row.left_out.get(str(reason), 0) for reason in first} | dict(row.left_out)
    return "no problems yet, 0 eligible: " + ", ".join(f"{count} {reason}" for reason, count in counts.items())


def _size_warnings(row: Row) -> Iterable[str]:
    if row.n_judged < TOO_FEW_PROBLEMS:
        yield too_few(row.n_judged)
        return
    if row.n_judged < FEW_PROBLEMS:
        yield f"fewer than {FEW_PROBLEMS} problems ({row.n_judged})"
    contests = row.n_contests
    if contests < 2:
        yield "all problems are of one contest: no interval"
    elif contests < MIN_CLUSTERS:
        yield (
            f"fewer than {MIN_CLUSTERS} contests ({contests}): the interval takes the larger of two errors, with "
            f"{contests - 1} degrees of freedom"
        )
    elif contests < FEW_CLUSTERS:
        yield f"fewer than {FEW_CLUSTERS} contests ({contests}): the interval has {contests - 1} degrees of freedom"


def _gap_warnings(row: Row, imported: bool, n_incomplete: int) -> Iterable[str]:
    reachable = row.n_eligible if imported else row.n_with_tests
    if row.n_judged < (1 - MAX_MISSING) * reachable:
        yield f"only {row.n_judged} of {reachable} eligible problems judged"
    if n_incomplete:
        yield f"problems with samples that have no verdict: {n_incomplete}; their other samples count"


def _score_warnings(row: Row) -> Iterable[str]:
    if row.n_samples == row.n_judged:
        yield "one sample per problem"
    value = row.pass_at_1.value
    if value is not None and row.n_judged >= TOO_FEW_PROBLEMS:
        if value > CEILING:
            yield "over 90 % solved: these problems hardly tell models apart"
        elif value < FLOOR:
            yield "under 5 % solved: these problems hardly tell models apart"
    for score in row.scores:
        if score.n_too_few:
            yield f"pass@{score.k}: n < k for {score.n_too_few} of {row.n_judged} problems, which are not in it"
