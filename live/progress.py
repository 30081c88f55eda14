"""Progress on stderr, on a terminal only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from sandbox import Counters


@contextlib.contextmanager
def judging_bar(console: Console, total: int) -> Iterator[Callable[[int, Counters], None]]:
    """A bar with solutions and tests a second, jails that had to be replaced, and the remaining time; gives the
    function to call with how many solutions were just judged and the judge's counters."""
    if not console.is_terminal or console.quiet or total == 0:
        yield lambda count, counters: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rates]}"),
        TimeRemainingColumn(),
    )
    started = time.monotonic()
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("judging", total=total, rates="")

        def on_judged(count: int, counters: Counters) -> None:
            seconds = max(time.monotonic() - started, 1e-6)
            rates = f"{progress.tasks[task].speed or 0.0:.1f} solutions/s, {counters.tests / seconds:.0f} tests/s"
            if counters.jails_replaced:
                rates += f", {counters.jails_replaced} jails replaced"
            progress.update(task, advance=count, rates=rates)

        yield on_judged
