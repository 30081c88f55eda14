"""``live audit difficulty``: where the problems measure and where new ones are needed."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from live.commands.audits.selection import Shown, choose, rows_named
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.results import check_filters
from live.commands.windows import (
    CutoffsAsOf,
    Difficulties,
    IncludeFlagged,
    Margin,
    Platforms,
    Since,
    Until,
    read_settings,
)
from live.errors import ExitCode, UsageError
from live.session import utc_now


def difficulty(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Shown = None,
    near: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="Models that matter: bands near them come first.")
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(metavar="PROBLEM", help="A new problem to put to the acceptance test of --band (repeatable)."),
    ] = None,
    band: Annotated[
        str | None,
        typer.Option(metavar="LOW..HIGH", help="The band that candidates should fill, in logits."),
    ] = None,
    since: Since = None,
    until: Until = None,
    margin: Margin = "0d",
    cutoffs_as_of: CutoffsAsOf = None,
    platform: Platforms = None,
    difficulties: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Which bands of difficulty the problems cover near the models, what they weigh, and what should be added.

    Rests on what each model solved after its own cut-off. All models of the store take part, whichever are shown. A
    candidate that is not accepted ends with 1.
    """
    from eval.audits.broken_months import broken_runs
    from eval.audits.difficulty import Proposed, audit_difficulty, difficulty_sheet
    from eval.own_windows import own_windows

    form = chosen_form(as_json, as_csv, as_markdown)
    if bool(candidate) != bool(band):
        raise UsageError("--candidate and --band go together", "name the problem and the band that it should fill")
    settings = read_settings(True, since, until, margin, platform, difficulties, "1", include_flagged)
    wanted = _read_band(band) if band else None
    chosen = choose(context, names, cutoffs_as_of=cutoffs_as_of, keep_others=True)
    results, now = chosen.results, utc_now()
    check_filters(results.problems, settings)
    models = chosen.session.registry
    own = own_windows(results.problems, results.runs, models, settings, now=now)
    sought = {name.casefold() for name in chosen.wanted}
    named = [row for row, run in enumerate(own.board.runs) if run.model.casefold() in sought]
    shown = named if sought else None
    columns = {f"{one.platform}:{one.native_id}": place for place, one in enumerate(own.board.problems)}
    audit = audit_difficulty(
        own,
        settings,
        seed,
        now=now,
        of_interest=rows_named(models, own.board, near, "--near") if near else shown,
        proposed=None if wanted is None else Proposed(*wanted, tuple(_known(columns, one) for one in candidate or ())),
        broken=broken_runs(chosen.whole_board()),
        shown=shown,
    )
    show(difficulty_sheet(audit), form)
    if audit.fitted is None or not audit.rows:
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
    if not all(one.result.accepted for one in audit.candidates):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _read_band(text: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        dots = ""
        ends = (0.0, 0.0)
    if not dots or not -math.inf < ends[0] < ends[1] < math.inf:
        raise UsageError(f'cannot read --band "{text}"', "write it as two logits, the lower first: 0.5..1.0")
    return ends


def _known(places: dict[str, int], name: str) -> int:
    if name not in places:
        raise UsageError(
            f'no results on the problem "{name}"', "live problems list shows what there is; problems are PLATFORM:ID"
        )
    return places[name]
