"""``live compare``: models against each other on the problems that both have answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.findings import AsCsv, AsJson, AsMarkdown, chosen_form, show
from live.commands.judge import Executor, Grader, GraderName, Image, Jobs, JudgingOptions
from live.commands.results import Results, gather
from live.commands.windows import (
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
from live.session import Session, read_day, session_of, utc_now

if TYPE_CHECKING:
    from eval.common_window import CommonWindow
    from eval.settings import Settings


def compare(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL MODEL...",
            help="The models to compare. One alone, or named twice: its runs against each other.",
        ),
    ],
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
    split: Split = ProblemSplit.ALL,
    across: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTING",
            help='Only "results": set runs against each other although they were not judged alike.',
        ),
    ] = None,
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
    with several tests p values are adjusted (Holm). What could have been seen stands beside each. Runs that were not
    judged alike (here, or imported from another origin) have no numbers without --across results. What programs do on
    sample tests alone is not compared.
    """
    from eval.audits.broken_months import warned
    from eval.comparison import compare_runs, comparison_sheet

    form = chosen_form(as_json, as_csv, as_markdown)
    _check_across(across or ())
    settings = read_settings(
        not any_time, since, until, margin, platform, difficulty, "1", include_flagged, split=split
    )
    session = replace(session_of(context), cutoffs_as_of=read_day(cutoffs_as_of, "--cutoffs-as-of"))
    with session.open_store(reading=no_judge, must_exist=True) as store:
        wanted = session.canonical_names(names, store)
        judging = JudgingOptions(executor, jobs, grader, image)
        if len(set(wanted)) == 1:
            _check_runs(gather(session, store, settings, wanted, judging, run_nothing=True), wanted[0])
        results = gather(session, store, settings, wanted, judging, run_nothing=no_judge)
    common = _common(session, results, settings, list(dict.fromkeys(wanted)))
    within = [name for name, times in Counter(wanted).items() if times > 1 or len(set(wanted)) == 1]
    pairs = compare_runs(common, across_results=bool(across), within=within)
    broken = results.as_material(session.registry, utc_now()).broken
    show(warned(comparison_sheet(common, pairs), common.board, broken), form)
    if not any(pair.found.difference is not None for pair in pairs):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)


def _common(session: Session, results: Results, settings: Settings, wanted: list[str]) -> CommonWindow:
    """The common window of the runs of these models, in their order. Raises ``UsageError`` for one without a run."""
    from eval.common_window import common_window

    places = {name.casefold(): place for place, name in enumerate(wanted)}
    common = common_window(
        results.problems,
        sorted(results.runs, key=lambda run: places.get(run.model.casefold(), len(places))),
        session.registry,
        settings,
        now=utc_now(),
        environment_digest=results.environment.digest if results.environment else None,
    )
    present = {run.model.casefold() for run in common.board.runs} | {one.model.casefold() for one in common.not_scored}
    missing = [name for name in wanted if name.casefold() not in present]
    if missing:
        raise UsageError(f"no run and no imported result of {', '.join(missing)}", "live models list shows the names")
    return common


def _check_runs(results: Results, model: str) -> None:
    if len(results.runs) < 2:
        raise UsageError(
            f"a comparison needs two models, or two runs of one: {model} has {'one' if results.runs else 'none'}",
            "name two or more; live eval scores one",
        )


def _check_across(across: Sequence[str]) -> None:
    for name in across:
        if name != "results":
            raise UsageError(
                f'--across: "{name}" keeps no runs apart here', "leave it out; only --across results has a meaning here"
            )
