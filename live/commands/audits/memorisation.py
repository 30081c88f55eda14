"""``live audit memorisation``: a measure of memorisation against the gap at the cut-off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.audits.files import read_text
from live.commands.audits.selection import choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.windows import CutoffsAsOf, Difficulties, IncludeFlagged, Platforms, Since, Until
from live.errors import ExitCode, UsageError

if TYPE_CHECKING:
    pass


def memorisation(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(help="CSV with the columns model and measure; problem, gap (percentage points), origin if any."),
    ],
    measure: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the measure.")] = None,
    gap: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column with the gap, in percentage points (3.4, not 0.034)."),
    ] = None,
    since: Since = None,
    until: Until = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    cutoffs_as_of: CutoffsAsOf = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Whether models with more signs of memorisation have wider gaps: a rank correlation over models.

    The measure is yours: a log-likelihood per character, Min-K%, any number for each model, or for each model and
    problem, of which the mean is taken. The gap is that of the file
    (in percentage points) or, where it has none, the store's at each model's own cut-off: that of live audit
    contamination where 10 models have one that is not withheld, else the plain one, beside all other models.
    """
    from eval.audits.broken_months import broken_runs
    from eval.audits.contamination import audit_contamination
    from eval.audits.memorisation import audit_memorisation, memorisation_sheet
    from eval.measures import read_measures

    form = chosen_form(as_json, as_csv, as_markdown)
    measures = read_measures(read_text(file), str(file), measure, gap)
    if measures.gap is not None:
        if since or until or platform or difficulty or include_flagged:
            hint = "leave out --since, --until, --platform, --difficulty and --include-flagged, or remove the column"
            raise UsageError("the gap is a column of the file: no problem of the store is looked at", hint)
        audit = audit_memorisation(measures, None, str, seed)
    else:
        chosen = choose(
            context,
            None,
            since=since,
            until=until,
            platforms=platform,
            difficulties=difficulty,
            include_flagged=include_flagged,
            cutoffs_as_of=cutoffs_as_of,
        )
        registry = chosen.session.registry
        judged = audit_contamination(chosen.selection, registry, chosen.judged_months(), seed)
        broken = broken_runs(chosen.whole_board())
        audit = audit_memorisation(measures, chosen.selection, registry.canonical, seed, judged, broken)
    show(memorisation_sheet(audit), form)
    if audit.found.rho is None:
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
