"""Progress on stderr, on a terminal only."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@contextlib.contextmanager
def judging_bar(console: Console, total: int) -> Iterator[Callable[[int], None]]:
    """A bar with solutions a second and the remaining time; gives the function to call with what was just judged."""
    if not console.is_terminal or console.quiet or total == 0:
        yield lambda count: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.1f} solutions/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("judging", total=total, rate=0.0)

        def on_judged(count: int) -> None:
            progress.update(task, advance=count, rate=progress.tasks[task].speed or 0.0)

        yield on_judged
