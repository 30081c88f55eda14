"""``live audit contamination``: whether models do better on what they may have seen than they should."""

from __future__ import annotations

from typing import Annotated

import typer

from live.commands.audits.selection import Shown, choose, rows_named
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.windows import CutoffsAsOf, Difficulties, IncludeFlagged, Platforms, Since, Until, read_since
from live.errors import ExitCode


def contamination(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Shown = None,
    at: Annotated[
        str | None, typer.Option(metavar="DAY", help="Test every model at this day, not at its own cut-off.")
    ] = None,
    like_ability: Annotated[
        bool,
        typer.Option("--like-ability", help="A placebo counts only for models of about its ability, or beyond it."),
    ] = False,
    without_control: Annotated[
        list[str] | None,
        typer.Option("--without-control", metavar="MODEL", help="Leave this model out of the controls (repeatable)."),
    ] = None,
    since: Since = None,
    until: Until = None,
    cutoffs_as_of: CutoffsAsOf = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Whether models do better on problems from before their cut-off than models that cannot know these.

    Difference in differences with controls of like ability, placebos that can withhold a claim, p values adjusted over
    the models, and a scan that needs no date. Controls are models with a stated cut-off before every problem used:
    --since says from when. All models of the store take part, whichever are shown.
    """
    from eval.audits.contamination import audit_contamination
    from eval.audits.contamination_sheet import contamination_sheet

    form = chosen_form(as_json, as_csv, as_markdown)
    instant = read_since(at, "--at")
    chosen = choose(
        context,
        names,
        since=since,
        until=until,
        platforms=platform,
        difficulties=difficulty,
        include_flagged=include_flagged,
        keep_others=True,
        cutoffs_as_of=cutoffs_as_of,
    )
    board, models = chosen.selection.board, chosen.session.registry
    without = rows_named(models, board, without_control, "--without-control")
    health = chosen.judged_months()
    audit = audit_contamination(
        chosen.selection,
        models,
        health,
        seed,
        at=instant,
        like_ability=like_ability,
        without=without,
    )
    show(contamination_sheet(audit), form)
    if not audit.says_something:
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
