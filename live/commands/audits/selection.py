"""The options that audits share, and the board that they look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.judge import GraderName, JudgingOptions
from live.commands.results import Results, check_filters, gather
from live.commands.windows import read_settings
from live.errors import UsageError
from live.session import Session, read_day, session_of, utc_now

if TYPE_CHECKING:
    from eval.audits.selection import Selection
    from eval.board import Board
    from eval.models import Registry
    from eval.statistics.run_health import PeriodHealth

Models = Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")]
Shown = Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Show only these models; all take part.")]
ANY_TIME = "1970"
MOST_NAMES = 10


@dataclass(frozen=True)
class Chosen:
    """What the options of an audit choose; ``wanted`` are the models to show, as the registry spells them."""

    session: Session
    results: Results
    selection: Selection
    wanted: tuple[str, ...] = ()

    def judged_months(self) -> tuple[PeriodHealth, ...]:
        """Each run in each month, by all problems of the store: a filter may leave too few easy ones to judge by."""
        from eval.audits.runs import judged_months

        return judged_months(self.whole_board())

    def whole_board(self) -> Board:
        """The results of all runs on all sound, dated problems; its rows are those of the selection."""
        from eval.audits.selection import select

        settings = read_settings(False, ANY_TIME, None, "0d", None, None, "1", False)
        results = self.results
        return select(results.problems, results.runs, self.session.registry, settings, now=utc_now()).board


def choose(  # noqa: PLR0913 - one parameter for each option that audits share
    context: typer.Context,
    names: list[str] | None,
    *,
    since: str | None = None,
    until: str | None = None,
    platforms: list[str] | None = None,
    difficulties: list[str] | None = None,
    include_flagged: bool = False,
    cutoffs_as_of: str | None = None,
    keep_others: bool = False,
) -> Chosen:
    """The results of the store that an audit looks at; nothing is judged. Raises ``UsageError``.

    ``keep_others``: the models named are those to show, and the rest of the store stays as controls and peers.
    """
    from eval.audits.selection import select

    settings = read_settings(False, since or ANY_TIME, until, "0d", platforms, difficulties, "1", include_flagged)
    session = replace(session_of(context), cutoffs_as_of=read_day(cutoffs_as_of, "--cutoffs-as-of"))
    with session.open_store(reading=True) as store:
        wanted = session.canonical_names(names or [], store)
        judging = JudgingOptions(None, None, GraderName.LIVE, None)
        results = gather(session, store, None, [] if keep_others else wanted, judging, run_nothing=True)
    check_filters(results.problems, settings)
    selection = select(results.problems, results.runs, session.registry, settings, now=utc_now())
    if keep_others and wanted:
        selection = selection.showing(wanted)
    return Chosen(session, results, selection, tuple(wanted))


def rows_named(registry: Registry, board: Board, given: list[str] | None, option: str) -> tuple[int, ...]:
    """The runs of a board that an option names, by their models or as they are shown. Raises ``UsageError``."""
    models = [registry.canonical(run.model, run.ran_on) for run in board.runs]
    found: list[int] = []
    for name in given or ():
        entry = registry.resolve(name)
        sought = {name.casefold(), (name if entry is None else entry.name).casefold()}
        pairs = zip(board.names, models, strict=True)
        rows = [row for row, both in enumerate(pairs) if sought & set(map(str.casefold, both))]
        if not rows:
            raise UsageError(f'{option}: no results of the model "{name}"', _hint(board))
        found += rows
    return tuple(dict.fromkeys(found))


def _hint(board: Board) -> str:
    more = len(board.names) - MOST_NAMES
    there = ", ".join(board.names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"here are results of: {there or 'no model'}; live models list shows the models that are known"
