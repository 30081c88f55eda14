"""The options that audits share, and the board that they look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.judge import GraderName, JudgingOptions
from live.commands.results import Results, gather
from live.commands.windows import read_settings
from live.session import Session, read_day, session_of, utc_now

if TYPE_CHECKING:
    from eval.audits.selection import Selection

Models = Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")]
ANY_TIME = "1970"


@dataclass(frozen=True)
class Chosen:
    """What the options of an audit choose."""

    session: Session
    results: Results
    selection: Selection


def choose(
    context: typer.Context,
    names: list[str] | None,
    *,
    since: str | None = None,
    until: str | None = None,
    platforms: list[str] | None = None,
    difficulties: list[str] | None = None,
    include_flagged: bool = False,
    cutoffs_as_of: str | None = None,
) -> Chosen:
    """The results of the store that an audit looks at; nothing is judged. Raises ``UsageError``."""
    from eval.audits.selection import select

    settings = read_settings(False, since or ANY_TIME, until, "0d", platforms, difficulties, "1", include_flagged)
    session = replace(session_of(context), cutoffs_as_of=read_day(cutoffs_as_of, "--cutoffs-as-of"))
    with session.open_store() as store:
        wanted = session.canonical_names(names or [], store)
        judging = JudgingOptions(None, None, GraderName.LIVE, None)
        results = gather(session, store, None, wanted, judging, run_nothing=True)
    selection = select(results.problems, results.runs, session.registry, settings, now=utc_now())
    return Chosen(session, results, selection)
