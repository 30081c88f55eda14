"""``live audit composition``: which part of a change lies in the problems that were asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.audits.selection import Shown, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.windows import Difficulties, IncludeFlagged, Platforms, read_range
from live.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from eval.window import Window

_HELP = "Months or days, both ends included: 2023-05..2024-07; either may be left out."


def composition(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    before: Annotated[str, typer.Option(metavar="FROM..TO", help=_HELP)],
    after: Annotated[str, typer.Option(metavar="FROM..TO", help="The window to compare with, written alike.")],
    names: Shown = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """How much of a change between two windows comes from which problems were asked, and how much from the model.

    Months in which a run is broken (live audit runs) are left out. All models take part, whichever are shown.
    """
    from eval.audits.composition import audit_composition, composition_sheet

    form = chosen_form(as_json, as_csv, as_markdown)
    windows = read_range(before, "--before"), read_range(after, "--after")
    _check_order(*windows)
    chosen = choose(
        context,
        names,
        platforms=platform,
        difficulties=difficulty,
        include_flagged=include_flagged,
        keep_others=True,
    )
    audit = audit_composition(chosen.selection, *windows, seed, chosen.judged_months())
    show(composition_sheet(audit), form)
    if all(audit.found[row].total is None for row in chosen.selection.shown):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)


def _check_order(before: Window, after: Window) -> None:
    """Raises ``UsageError`` unless one window is over when the other begins."""
    if before.end is not None and after.start is not None and before.end <= after.start:
        return
    if after.end is not None and before.start is not None and after.end <= before.start:
        raise UsageError("--before lies after --after", "give the earlier window as --before")
    raise UsageError(
        "--before and --after overlap: the same problems would be on both sides",
        "end the first before the second begins: --before ..2024-07 --after 2024-08..",
    )
