"""``live audit weights``: scores under a user's own mix of work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from live.commands.audits.files import read_text
from live.commands.audits.selection import Models, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, chosen_form, show
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
from live.errors import ExitCode
from live.session import utc_now


def weights(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    workload: Annotated[
        Path,
        typer.Option(
            "--weights", metavar="FILE", help="TOML: under [platform] and [difficulty] lines such as easy = 2."
        ),
    ],
    names: Models = None,
    since: Since = None,
    until: Until = None,
    margin: Margin = "0d",
    cutoffs_as_of: CutoffsAsOf = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Each model's score if problems came as your work does, beside the plain one, on problems after its cut-off."""
    from eval.audits.broken_months import broken_runs
    from eval.audits.weights import audit_weights, weights_sheet
    from eval.workloads import check_workload, read_workload

    form = chosen_form(as_json, as_csv, as_markdown)
    wanted = read_workload(read_text(workload), str(workload))
    settings = read_settings(True, since, until, margin, platform, difficulty, "1", include_flagged)
    chosen = choose(context, names, cutoffs_as_of=cutoffs_as_of, keep_others=True)
    problems, board = chosen.results.problems, chosen.selection.board
    check_filters(problems, settings)
    check_workload(wanted, problems, str(workload))
    runs = [board.runs[row] for row in chosen.selection.shown]
    audit = audit_weights(
        problems, runs, chosen.session.registry, settings, wanted, now=utc_now(), broken=broken_runs(board)
    )
    show(weights_sheet(audit), form)
    if all(run.weighted.score is None for run in audit.runs):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
