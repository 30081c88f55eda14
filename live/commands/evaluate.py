"""``live eval``: judge what is missing, then score each model on what was published after its cut-off."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.judge import (
    Executor,
    Grader,
    GraderName,
    Image,
    Jobs,
    JudgingOptions,
    check_references,
    judge_with_bar,
    say_faults,
    say_judged,
)
from live.errors import ExitCode, UsageError
from live.session import Session, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from db.environments import EnvironmentRow
    from eval.evaluation import RunOutcomes, Settings
    from eval.report import Report


def evaluate(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")] = None,
    after_cutoff: Annotated[
        bool, typer.Option("--after-cutoff", help="Each model on problems published after its own training cut-off.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(help="From this day, month or instant on (UTC), itself included.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Up to this day or month, itself included, or up to an instant.")
    ] = None,
    margin: Annotated[str, typer.Option(help="Distance to keep from the cut-off: 30d, 2w, 12h.")] = "0d",
    platform: Annotated[list[str] | None, typer.Option(help="Only this platform (repeatable).")] = None,
    difficulty: Annotated[list[str] | None, typer.Option(help="Only this difficulty (repeatable).")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    k: Annotated[str, typer.Option(help="Values of k for pass@k, separated by commas.")] = "1",
    include_flagged: Annotated[
        bool,
        typer.Option("--include-flagged", help="Score interactive, many-answer and otherwise flagged problems too."),
    ] = False,
    no_judge: Annotated[bool, typer.Option("--no-judge", help="Report what has verdicts; run nothing.")] = False,
    grader: Grader = GraderName.LIVE,
    executor: Executor = None,
    image: Image = None,
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="One CSV row for each model.")] = False,
    as_markdown: Annotated[bool, typer.Option("--md", help="A Markdown table.")] = False,
) -> None:
    """Score models, each with its window, its error and what was left out.

    Without --after-cutoff an explicit window (--since, --until) is required: no default mixes old problems in.
    """
    from eval.window import Reason

    if as_json + as_csv + as_markdown > 1:
        raise UsageError("only one of --json, --csv and --md can be asked for at a time", "choose one")
    settings = read_settings(after_cutoff, since, until, margin, platform, difficulty, k, include_flagged)
    session = session_of(context)
    with session.open_store() as store:
        wanted = session.canonical_names([*(names or []), *(model or [])], store)
        options = JudgingOptions(executor, jobs, grader, image)
        report = make_report(session, store, settings, wanted, options, run_nothing=no_judge)
    print_report(report, "json" if as_json else "csv" if as_csv else "md" if as_markdown else "table")
    if not report.has_scores:
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
    if any(Reason.INTERNAL_ERROR in row.left_out for row in report.rows):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def read_settings(
    after_cutoff: bool,
    since: str | None,
    until: str | None,
    margin: str,
    platforms: list[str] | None,
    difficulties: list[str] | None,
    ks: str,
    include_flagged: bool,
) -> Settings:
    """The settings that the options say. Raises ``UsageError`` or ``CutoffUnreadable``."""
    from eval.evaluation import Settings
    from eval.window import parse_margin

    if not after_cutoff and since is None and until is None:
        raise UsageError(
            "which problems? there is no default that mixes old problems in",
            "use --after-cutoff, or give a window with --since and --until",
        )
    try:
        return Settings(
            after_cutoff=after_cutoff,
            since=read_since(since),
            until=read_until(until),
            margin=parse_margin(margin),
            platforms=tuple(platforms or ()),
            difficulties=tuple(difficulties or ()),
            ks=_read_ks(ks),
            include_flagged=include_flagged,
        )
    except ValueError as error:
        hint = getattr(error, "hint", "check --since, --until, --margin and --k")
        raise UsageError(str(error), hint) from error


def read_since(text: str | None, option: str = "--since") -> datetime | None:
    """The instant that an option means, a day at its UTC midnight. Raises ``UsageError`` that names the option."""
    from eval.window import parse_since

    return _read_instant(text, option, parse_since)


def read_until(text: str | None) -> datetime | None:
    """The end of a half-open window that ``--until`` means: a day is itself included."""
    from eval.window import parse_until

    return _read_instant(text, "--until", parse_until)


def _read_instant(text: str | None, option: str, parse: Callable[[str], datetime]) -> datetime | None:
    try:
        return parse(text) if text else None
    except ValueError as error:
        raise UsageError(f"{option}: {error}", getattr(error, "hint", f"check {option}")) from error


def _read_ks(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise UsageError(f'cannot read --k "{text}"', "write it as numbers of at least 1: 1,5,10")
    return tuple(int(part) for part in parts)


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
    from db.environments import latest_environment
    from eval.evaluation import evaluate as score
    from eval.outcomes import load_imported_runs, load_judged_runs, load_problem_facts

    chosen = _chooser(session, wanted)
    with store.read() as reading:
        runs = tuple(filter(chosen, load_judged_runs(reading, None)))
        environment = latest_environment(reading, {run.model for run in runs}, grader=judging.grader)
    if runs and not run_nothing:
        environment = _judge_missing(session, store, runs, settings, judging)
    with store.read() as reading:
        # After judging: what was imported or flagged while programs ran belongs to the same picture as their verdicts.
        environment_id = environment.environment_id if environment else None
        problems = load_problem_facts(reading, environment_id=environment_id)
        runs = tuple(filter(chosen, load_judged_runs(reading, environment_id)))
        imported = tuple(filter(chosen, load_imported_runs(reading)))
    report = score(
        problems,
        [*runs, *imported],
        session.registry,
        settings,
        now=utc_now(),
        environment_digest=environment.digest if environment else None,
        requested=wanted,
    )
    if judging.grader is not GraderName.LIVE:
        report = replace(report, notes=(f"judged by the rules of another grader: {judging.grader}", *report.notes))
    return report


def _chooser(session: Session, wanted: list[str]) -> Callable[[RunOutcomes], bool]:
    """Which runs are asked for: those of the wanted models, under whatever name; all when none is named."""
    from eval.models import ModelAmbiguous

    names = {name.casefold() for name in wanted}

    def chosen(run: RunOutcomes) -> bool:
        try:
            entry = session.registry.resolve(run.model, run.ran_on)
        except ModelAmbiguous:
            entry = None
        return not names or (entry.name if entry else run.model).casefold() in names

    return chosen


def _judge_missing(
    session: Session,
    store: Store,
    runs: tuple[RunOutcomes, ...],
    settings: Settings,
    judging: JudgingOptions,
) -> EnvironmentRow:
    """Judge the completions that rows of this report rest on; which environment they were judged in."""
    from db.environments import load_environment
    from eval.evaluation import eligible_problems
    from eval.judging import Pending, register_environment
    from eval.outcomes import load_problem_facts

    now = utc_now()
    with judging.open_judge(session) as judge:
        environment_id = register_environment(store, judge.environment, now=now)
        check_references(session, store, judge, environment_id, [run.run_id for run in runs if run.run_id is not None])
        with store.read() as reading:  # after that, since what fails need not be judged
            problems = load_problem_facts(reading, environment_id=environment_id)
        for run in runs:
            eligible = eligible_problems(problems, run, session.registry, settings, now=now)
            assert run.run_id is not None  # runs with programs come from the store
            pending = Pending(store, environment_id, [run.run_id], [problem.problem_id for problem in eligible])
            if eligible and pending.count():
                session.messages.print(f"judging {run.model}", markup=False)
                report = judge_with_bar(session, store, judge, environment_id, pending)
                say_judged(session, report, judge)
        say_faults(session, judge)
    with store.read() as reading:
        return load_environment(reading, environment_id)


def print_report(report: Report, form: str) -> None:
    """Print the report on stdout."""
    from rich.console import Console

    from eval import render

    if form == "table":
        render.print_table(report, Console())
        return
    text = {"json": render.to_json, "csv": render.to_csv, "md": render.to_markdown}[form](report)
    sys.stdout.write(text)
