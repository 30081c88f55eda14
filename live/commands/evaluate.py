"""``live eval``: judge what is missing, then score each model on what was published after its cut-off."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.judge import Executor, Grader, GraderName, Image, Jobs, JudgingOptions
from live.commands.results import gather
from live.commands.windows import (
    AfterCutoff,
    CutoffsAsOf,
    Difficulties,
    IncludeFlagged,
    Margin,
    Platforms,
    ProblemSplit,
    Since,
    Split,
    Until,
    read_settings,
)
from live.errors import ExitCode, UsageError
from live.session import Session, output_console, read_day, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from eval.report import Report
    from eval.settings import Settings
    from eval.sheets import Sheet


class TableKind(StrEnum):
    """Which table: each model on its own problems, all on the same ones, or estimated on the same ones."""

    OWN = "own"
    COMMON = "common"
    EQUATED = "equated"


Table = Annotated[
    TableKind,
    typer.Option(
        help="own: each model on its own fresh problems, without ranks. common: all after the latest cut-off, with "
        "ranks as intervals. equated: scores of models with different windows, estimated."
    ),
]
ScenarioScored = Annotated[
    str,
    typer.Option(
        "--scenario",
        help="What was asked: code_generation, self_repair, output_prediction or code_execution. Runs of others are "
        "never beside them.",
    ),
]
Across = Annotated[
    list[str] | None,
    typer.Option(metavar="SETTING", help="Rank runs together although they differ in this (repeatable)."),
]


def evaluate(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")] = None,
    after_cutoff: AfterCutoff = False,
    since: Since = None,
    until: Until = None,
    margin: Margin = "0d",
    cutoffs_as_of: CutoffsAsOf = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    k: Annotated[str, typer.Option(help="Values of k for pass@k, separated by commas.")] = "1",
    include_flagged: IncludeFlagged = False,
    split: Split = ProblemSplit.ALL,
    scenario: ScenarioScored = "code_generation",
    table: Table = TableKind.OWN,
    across: Across = None,
    seed: Seed = 0,
    no_judge: Annotated[bool, typer.Option("--no-judge", help="Report what has verdicts; run nothing.")] = False,
    grader: Grader = GraderName.LIVE,
    executor: Executor = None,
    image: Image = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Score models, each with its window, its error and what was left out.

    Without --after-cutoff an explicit window (--since, --until) is required: no default mixes old problems in.
    Programs are scored on problems with tests beyond the samples; what they do on samples alone stands apart.
    """
    from eval.tables import common_table, equated_table
    from eval.window import Reason

    form = chosen_form(as_json, as_csv, as_markdown)
    settings = read_settings(after_cutoff, since, until, margin, platform, difficulty, k, include_flagged, split=split)
    settings = _of_scenario(settings, scenario, table)
    if table is not TableKind.OWN and settings.all_ks != (1,):
        raise UsageError(f"--k goes with --table own: the {table} table is of pass@1", "leave --k out")
    if across and table is not TableKind.COMMON:
        raise UsageError("--across goes with --table common", "leave it out")
    if table is TableKind.EQUATED and not after_cutoff:
        raise UsageError(
            "the equated table rests on what lies after each cut-off",
            "add --after-cutoff; --since and --until then bound the reference set",
        )
    session = replace(session_of(context), cutoffs_as_of=read_day(cutoffs_as_of, "--cutoffs-as-of"))
    with session.open_store(reading=no_judge, must_exist=True) as store:
        wanted = session.canonical_names([*(names or []), *(model or [])], store)
        options = JudgingOptions(executor, jobs, grader, image)
        if table is not TableKind.OWN:
            results = gather(session, store, settings, wanted, options, run_nothing=no_judge)
            material = results.as_material(session.registry, utc_now())
            if table is TableKind.COMMON:
                common = common_table(material, settings, seed, across or ())
                sheet, has_scores = common.sheet, common.has_scores
            else:
                found, sheet = equated_table(material, settings, seed)
                has_scores = found.refusal is None
            show(_named(sheet, settings), form)
            if not has_scores:
                raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
            return
        report = make_report(session, store, settings, wanted, options, run_nothing=no_judge)
    print_report(report, form)
    if not report.has_scores:
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
    if any(Reason.INTERNAL_ERROR in row.left_out for row in report.rows):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _of_scenario(settings: Settings, scenario: str, table: TableKind) -> Settings:
    """The settings for this scenario. Raises ``UnknownScenario``, and ``UsageError`` for what it does not have."""
    from eval.scenarios import task_form

    form = task_form(scenario)
    if form.max_k is not None and settings.all_ks[-1] > form.max_k:
        raise UsageError(
            f"--k {settings.all_ks[-1]}: {scenario} puts several questions to each problem, so it has pass@1 alone",
            "leave --k out",
        )
    if form.once and table is not TableKind.OWN:
        raise UsageError(f"{scenario} compares a model with itself alone: it has no {table} table", "leave --table out")
    return replace(settings, scenario=scenario)


def _named(sheet: Sheet, settings: Settings) -> Sheet:
    """The sheet with its scenario among the conditions, where it is not the usual one."""
    from db.records import CODE_GENERATION

    if settings.scenario == CODE_GENERATION:
        return sheet
    return replace(sheet, conditions=(*sheet.conditions, f"scenario {settings.scenario}"))


def make_report(
    session: Session,
    store: Store,
    settings: Settings,
    wanted: list[str],
    judging: JudgingOptions,
    *,
    run_nothing: bool = False,
) -> Report:
    """Judge what the report needs unless nothing is to be run, then score."""
    from eval.tables import own_report

    results = gather(session, store, settings, wanted, judging, run_nothing=run_nothing)
    report = own_report(results.as_material(session.registry, utc_now()), settings, wanted)
    if judging.grader is not GraderName.LIVE:
        report = replace(report, notes=(f"judged by the rules of another grader: {judging.grader}", *report.notes))
    return report


def print_report(report: Report, form: str) -> None:
    """Print the report on stdout."""
    from eval import render

    if form == "table":
        render.print_table(report, output_console())
        return
    text = {"json": render.to_json, "csv": render.to_csv, "md": render.to_markdown}[form](report)
    sys.stdout.write(text)
