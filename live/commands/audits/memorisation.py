"""``live audit memorisation``: a measure of memorisation against the gap at the cut-off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.audits.files import read_text
from live.commands.audits.selection import Chosen, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.windows import CutoffsAsOf, Difficulties, IncludeFlagged, Platforms, Since, Until
from live.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from eval.measures import Measures, ProblemMeasures
    from eval.sheets import Sheet


def memorisation(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV with the columns model and measure; problem, gap (percentage points), origin if any. "
            "Or problem and measure, without model."
        ),
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

    A file without models has a number for each problem (PLATFORM:ID), how often it is found in public code, say: then
    each model's odds of solving are set against it, before and after its cut-off.
    """
    from eval.audits.memorisation import audit_file, memorisation_sheet
    from eval.measures import Measures, read_measures, read_problem_measures

    form = chosen_form(as_json, as_csv, as_markdown)
    text = read_text(file)
    wanted = read_problem_measures(text, str(file), measure, gap) or read_measures(text, str(file), measure, gap)
    if isinstance(wanted, Measures) and wanted.gap is not None:
        if since or until or platform or difficulty or include_flagged:
            hint = "leave out --since, --until, --platform, --difficulty and --include-flagged, or remove the column"
            raise UsageError("the gap is a column of the file: no problem of the store is looked at", hint)
        audit = audit_file(wanted, seed)
        sheet, found = memorisation_sheet(audit), audit.found.rho is not None
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
        sheet, found = _beside_results(chosen, wanted, seed)
    show(sheet, form)
    if not found:
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)


def _beside_results(chosen: Chosen, wanted: Measures | ProblemMeasures, seed: int) -> tuple[Sheet, bool]:
    """What the store's results say of the measures, and whether that is anything."""
    from eval.audits.broken_months import broken_runs
    from eval.audits.contamination import audit_contamination
    from eval.audits.exposure import audit_exposure
    from eval.audits.exposure_sheet import exposure_sheet
    from eval.audits.memorisation import audit_memorisation, memorisation_sheet
    from eval.measures import ProblemMeasures

    registry, broken = chosen.session.registry, broken_runs(chosen.whole_board())
    if isinstance(wanted, ProblemMeasures):
        exposure = audit_exposure(wanted, chosen.selection, registry, broken)
        return exposure_sheet(exposure), exposure.says_something
    judged = audit_contamination(chosen.selection, registry, chosen.judged_months(), seed)
    audit = audit_memorisation(wanted, chosen.selection, registry, seed, judged, broken)
    return memorisation_sheet(audit), audit.found.rho is not None
