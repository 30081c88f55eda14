"""Progress on stderr, on a terminal only."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from eval.generate.account import Account
    from sandbox import Counters


@contextlib.contextmanager
def judging_bar(
    console: Console, total: int, before: Counters, what: str = "judging"
) -> Iterator[Callable[[int, Counters], None]]:
    """A bar with what waits, solutions and tests a second, jails that had to be replaced, and the remaining time.

    ``before`` is what the judge had counted when the bar began. Gives the function to call with how many solutions were
    just dealt with and the judge's counters.
    """
    if not console.is_terminal or console.quiet or total == 0:
        yield lambda count, counters: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rates]}"),
        TimeRemainingColumn(),
    )
    started = time.monotonic()
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(what, total=total, rates="")

        def on_judged(count: int, counters: Counters) -> None:
            seconds = max(time.monotonic() - started, 1e-6)
            n_waiting = max(total - int(progress.tasks[task].completed) - count, 0)
            rates = [f"{n_waiting} waiting", f"{progress.tasks[task].speed or 0.0:.1f} solutions/s"]
            tests = counters.tests - before.tests
            if tests:  # a grader that runs all tests in one process counts none
                rates.append(f"{tests / seconds:.0f} tests/s")
            if counters.jails_replaced > before.jails_replaced:
                rates.append(f"{counters.jails_replaced - before.jails_replaced} jails replaced")
            progress.update(task, advance=count, rates=", ".join(rates))

        yield on_judged


@contextlib.contextmanager
def asking_bar(console: Console, total: int) -> Iterator[Callable[[Account], None]]:
    """A bar with what is dealt with, requests and tokens a second, the cost so far, failures, and the remaining time.

    Gives the function to call with what has come so far.
    """
    if not console.is_terminal or console.quiet or total == 0:
        yield lambda account: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rates]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("asking", total=total, rates="")

        def on_done(account: Account) -> None:
            rates = [f"{account.rate(account.n_requests):.1f} requests/s"]
            if account.n_counted:
                rates.append(f"{account.rate(account.tokens_out):.0f} tokens/s")
            if account.cost is not None:
                rates.append(f"{account.cost:.4g} {account.currency}")
            if account.failed:
                rates.append(f"{len(account.failed)} failed")
            progress.update(task, completed=account.n_done, rates=", ".join(rates))

        yield on_done


@contextlib.contextmanager
def making_bar(console: Console, total: int) -> Iterator[Callable[[str], None]]:
    """A bar over problems that tests are made for, with how many came to what, and the remaining time.

    Gives the function to call with what has become of the next problem, in a word or two: "made".
    """
    if not console.is_terminal or console.quiet or total == 0:
        yield lambda word: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("making tests"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[counts]}"),
        TimeRemainingColumn(),
    )
    counts: Counter[str] = Counter()
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("making tests", total=total, counts="")

        def on_done(word: str) -> None:
            counts[word] += 1
            progress.update(task, advance=1, counts=", ".join(f"{n} {name}" for name, n in sorted(counts.items())))

        yield on_done
