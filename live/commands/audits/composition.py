"""``live audit composition``: which part of a change lies in the problems that were asked."""

from __future__ import annotations

from typing import Annotated

import typer

from live.commands.audits.selection import Models, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.windows import Difficulties, IncludeFlagged, Platforms, read_range
from live.errors import ExitCode

_HELP = "Months or days, both ends included: 2023-05..2024-07; either may be left out."


def composition(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    before: Annotated[str, typer.Option(metavar="FROM..TO", help=_HELP)],
    after: Annotated[str, typer.Option(metavar="FROM..TO", help="The window to compare with, written alike.")],
    names: Models = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """How much of a change between two windows comes from which problems were asked, and how much from the model."""
    from eval.audits.composition import audit_composition, composition_sheet

    form = chosen_form(as_json, as_csv, as_markdown)
    windows = read_range(before, "--before"), read_range(after, "--after")
    chosen = choose(context, names, platforms=platform, difficulties=difficulty, include_flagged=include_flagged)
    audit = audit_composition(chosen.selection, *windows, seed)
    show(composition_sheet(audit), form)
    if all(found.total is None for found in audit.found):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
