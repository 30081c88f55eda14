"""``live compare``: models against each other on the problems that both have answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from live.commands.findings import AsCsv, AsJson, AsMarkdown, chosen_form, show
from live.commands.judge import Executor, Grader, GraderName, Image, Jobs, JudgingOptions
from live.commands.results import broken_of, gather
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
from live.session import read_day, session_of, utc_now


def compare(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="MODEL MODEL...", help="The models to compare, two or more.")],
    any_time: Annotated[
        bool,
        typer.Option("--any-time", help="In the window of --since and --until, not after the cut-offs."),
    ] = False,
    since: Since = None,
    until: Until = None,
    margin: Margin = "0d",
    cutoffs_as_of: CutoffsAsOf = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    no_judge: Annotated[bool, typer.Option("--no-judge", help="Compare what has verdicts; run nothing.")] = False,
    grader: Grader = GraderName.LIVE,
    executor: Executor = None,
    image: Image = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Compare models pair by pair, on common problems after the latest of their cut-offs.

    Differences are paired and their errors clustered by contest; with one sample each McNemar's exact test is added,
    with more than two models p values are adjusted (Holm). What could have been seen stands beside each.
    """
    from eval.audits.broken_months import warned
    from eval.common_window import common_window
    from eval.comparison import compare_runs, comparison_sheet

    form = chosen_form(as_json, as_csv, as_markdown)
    settings = read_settings(not any_time, since, until, margin, platform, difficulty, "1", include_flagged)
    session = replace(session_of(context), cutoffs_as_of=read_day(cutoffs_as_of, "--cutoffs-as-of"))
    with session.open_store(reading=no_judge, must_exist=True) as store:
        wanted = session.canonical_names(names, store)
        if len(set(wanted)) < 2:
            raise UsageError("a comparison needs two models", "name two or more; live eval scores one")
        judging = JudgingOptions(executor, jobs, grader, image)
        results = gather(session, store, settings, wanted, judging, run_nothing=no_judge)
    places = {name.casefold(): place for place, name in enumerate(wanted)}
    runs = sorted(results.runs, key=lambda run: places.get(run.model.casefold(), len(places)))
    common = common_window(
        results.problems,
        runs,
        session.registry,
        settings,
        now=utc_now(),
        environment_digest=results.environment.digest if results.environment else None,
    )
    present = {run.model.casefold() for run in common.board.runs} | {one.model.casefold() for one in common.not_scored}
    missing = [name for name in wanted if name.casefold() not in present]
    if missing:
        raise UsageError(f"no run and no imported result of {', '.join(missing)}", "live models list shows the names")
    pairs = compare_runs(common)
    show(warned(comparison_sheet(common, pairs), common.board, broken_of(results)), form)
    if not any(pair.found.difference is not None for pair in pairs):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
