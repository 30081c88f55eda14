"""The bars that judging and asking commands show on a terminal."""

from __future__ import annotations

import io
from collections import Counter
from datetime import UTC, datetime

from rich.console import Console

from db.records import Place
from db.responses import FailureRecord
from eval.generate.account import Account
from live.progress import asking_bar, judging_bar, making_bar
from sandbox import Counters


def shown(*steps: tuple[int, Counters], total: int = 4, before: Counters | None = None, what: str = "judging") -> str:
    """The last state of the bar, on a terminal of 120 columns."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120, color_system=None, legacy_windows=False)
    with judging_bar(console, total, before or Counters(), what) as on_judged:
        for count, counters in steps:
            on_judged(count, counters)
    return [line for line in out.getvalue().splitlines() if what in line][-1]


def test_it_counts_what_was_dealt_with() -> None:
    line = shown((1, Counters(tests=3)), (2, Counters(tests=9)))
    assert "judging" in line
    assert " 3/4 " in line
    assert " 1 waiting, " in line
    assert "solutions/s" in line
    assert "replaced" not in line
    assert " 7/9 " in shown((7, Counters()), total=9, what="judging reference solutions")


def test_what_the_judge_had_done_before_is_not_counted_again() -> None:
    before = Counters(tests=10**9, jails_replaced=5)
    line = shown((1, Counters(tests=10**9 + 2, jails_replaced=6)), before=before)
    rate = next(part for part in line.split(", ") if part.endswith(" tests/s"))
    assert 0 < int(rate.split()[0]) < 10**7
    assert ", 1 jails replaced" in line


def test_a_grader_that_counts_no_tests_has_no_rate_of_them() -> None:
    line = shown((2, Counters(solutions=2)))
    assert "solutions/s" in line
    assert "tests/s" not in line


def test_nothing_is_shown_where_nobody_looks() -> None:
    for console in (
        Console(file=io.StringIO(), force_terminal=False),
        Console(file=io.StringIO(), force_terminal=True, quiet=True),
    ):
        with judging_bar(console, 4, Counters()) as on_judged:
            on_judged(4, Counters())
        assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def asked(*accounts: Account, total: int = 4) -> str:
    """The last state of the bar of asking, on a terminal of 160 columns."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=160, color_system=None, legacy_windows=False)
    with asking_bar(console, total) as on_done:
        for account in accounts:
            on_done(account)
    return [line for line in out.getvalue().splitlines() if "asking" in line][-1]


def test_the_bar_of_asking_shows_rates_cost_and_failures() -> None:
    failure = FailureRecord(Place(1), datetime(2026, 1, 1, tzinfo=UTC), "timed_out", "no answer")
    account = Account(
        4,
        "EUR",
        cost=0.25,
        statuses=Counter({"ok": 2, "truncated": 1}),
        failed={failure.place: failure},
        n_requests=6,
        n_counted=3,
        tokens_out=900,
        seconds=3.0,
    )
    line = asked(account)
    assert " 4/4 " in line
    assert "2.0 requests/s, 300 tokens/s, 0.25 EUR, 1 failed" in line


def test_the_bar_of_asking_leaves_out_what_nobody_knows() -> None:
    line = asked(Account(4, statuses=Counter({"ok": 1}), n_requests=1, seconds=0.5))
    assert " 1/4 " in line
    assert "2.0 requests/s" in line
    assert "tokens" not in line
    assert "failed" not in line


def test_nothing_of_asking_is_shown_where_nobody_looks() -> None:
    out = io.StringIO()
    with asking_bar(Console(file=out, force_terminal=False), 4) as on_done:
        on_done(Account(4))
    assert out.getvalue() == ""


def test_the_bar_of_made_tests_counts_what_became_of_problems() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120, color_system=None, legacy_windows=False)
    with making_bar(console, 4) as on_done:
        for word in ("made", "not made", "made"):
            on_done(word)
    line = [line for line in out.getvalue().splitlines() if "making tests" in line][-1]
    assert " 3/4 " in line
    assert "2 made, 1 not made" in line
