"""The side of a cut-off that a problem lies on, counted by hand: 2024-06 is over on 1 July 2024 at 12:00 UTC."""

from __future__ import annotations

from datetime import timedelta

import pytest

from db.records import Precision
from eval.basis import basis_of
from eval.evaluation import RunOutcomes
from eval.settings import Settings
from eval.standing import RunWindows, run_windows, side
from tests.eval.facts import NOW, model, problem, registry


def windows(margin: timedelta, cutoff: str | None = "2024-06") -> RunWindows:
    known = registry(model("a", cutoff))
    return run_windows(basis_of(RunOutcomes("a", ()), known, Settings(margin=margin), NOW))


@pytest.mark.parametrize(
    ("exposed_at", "precision", "after_cutoff", "after_margin"),
    [
        ("2024-07-01T11:59", Precision.INSTANT, False, False),
        ("2024-07-01T12:00", Precision.INSTANT, True, False),
        ("2024-07-03T11:59", Precision.INSTANT, True, False),
        ("2024-07-03T12:00", Precision.INSTANT, True, True),
        ("2024-07-01", Precision.DAY, None, False),
        ("2024-07-03", Precision.DAY, True, None),
        (None, Precision.INSTANT, None, None),
    ],
)
def test_with_a_margin_of_two_days(
    exposed_at: str | None, precision: Precision, after_cutoff: bool | None, after_margin: bool | None
) -> None:
    found = windows(timedelta(days=2))
    one = problem(0, exposed_at, exposed_precision=precision)
    assert (side(one, found.cutoff), side(one, found.scored)) == (after_cutoff, after_margin)


def test_without_a_margin_both_are_one() -> None:
    found = windows(timedelta(0))
    assert found.cutoff == found.scored


def test_without_a_cutoff_nobody_can_tell() -> None:
    found = windows(timedelta(0), None)
    assert found == RunWindows(None, None)
    assert side(problem(0), found.cutoff) is None
