"""What names in results mean, in plain words: methods of intervals, flags, verdicts, precisions. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from db.records import Precision
from eval.statistics.intervals import EDGE, MIN_CLUSTERS, IntervalMethod

METHODS: Mapping[str, str] = {
    IntervalMethod.CONTEST_T: (
        f"contest_t: standard error clustered by contest, Student's t with (contests - 1) degrees of freedom; "
        f"from {MIN_CLUSTERS} contests on"
    ),
    IntervalMethod.CONTEST_WILSON: (
        "contest_wilson: the same error as an effective number of problems, Wilson's formula; where the score is below "
        f"{100 * EDGE:g} % or above {100 * (1 - EDGE):g} %, or t would leave 0 to 100 %"
    ),
    IntervalMethod.EXACT: "exact: all problems at 0 %, or all at 100 %; the bound of Clopper and Pearson",
    IntervalMethod.ITEM_WILSON: (
        f"item_wilson: fewer than {MIN_CLUSTERS} contests, or a clustered error of zero; the larger of the errors over "
        "problems and over contests, Wilson's formula"
    ),
    IntervalMethod.NONE: "none: fewer than two problems or two contests; no interval",
}
"""Each method of an interval, by the name that results carry."""

PRECISIONS: Mapping[str, str] = {
    Precision.INSTANT: "to the instant",
    Precision.DAY: "to the day",
    Precision.MONTH: "to the month",
    Precision.QUARTER: "to the quarter",
    Precision.YEAR: "to the year",
}
"""How finely a date is known."""


def spaced(name: str) -> str:
    """A name of the store in words: "wrong_answer" is "wrong answer"."""
    return name.replace("_", " ")


def counted(n: int, one: str, several: str = "") -> str:
    """A number with its noun: "1 problem", "2 problems"."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def hours_text(hours: float) -> str:
    """A margin: "30 days", "12 hours", "none"."""
    if not hours:
        return "none"
    return counted(int(hours // 24), "day") if hours % 24 == 0 else f"{hours:g} hours"
