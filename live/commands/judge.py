"""``live judge``: run what has no verdict yet."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from live.errors import ExitCode
from live.progress import judging_bar
from live.session import Session, print_json, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from eval.judging import JudgingReport, Pending
    from sandbox import Judge


class ExecutorName(StrEnum):
    """What programs can be run in; ``auto`` is the first that works."""

    AUTO = "auto"
    DOCKER = "docker"
    BUBBLEWRAP = "bubblewrap"


Executor = Annotated[ExecutorName | None, typer.Option(help="What to run programs in.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Workers; by default one for each core.")]


def judge(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")] = None,
    executor: Executor = None,
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON document.")] = False,
) -> None:
    """Judge every completion that has no verdict yet, in the sandbox, on all cores.

    Interrupt it at any time: the same command goes on where it stopped and judges nothing twice.
    """
    from db.completions import list_runs
    from eval.judging import Pending, environment_record, register_environment
    from sandbox import Judge

    session = session_of(context)
    with session.open_store() as store, Judge(executor or session.config.executor, jobs) as running:
        wanted = session.canonical_names(names or [], store)
        environment_id = register_environment(store, running.environment, now=utc_now())
        with store.read() as reading:
            run_ids = [run.run_id for run in list_runs(reading, wanted or None)]
        pending = Pending(store, environment_id, run_ids)
        report = judge_with_bar(session, store, running, environment_id, pending)
    if as_json:
        environment = environment_record(running.environment)
        print_json({**asdict(report), "n_judged": report.n_judged, "environment": asdict(environment)})
    else:
        say_judged(session, report, running.environment.executor)
    if report.n_internal:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def judge_with_bar(
    session: Session, store: Store, judge: Judge, environment_id: int, pending: Pending
) -> JudgingReport:
    """Judge what is pending, with a progress bar on a terminal."""
    from eval.judging import judge_pending

    with judging_bar(session.messages, pending.count()) as on_judged:
        return judge_pending(store, judge, environment_id, pending, now=utc_now, on_judged=on_judged)


def say_judged(session: Session, report: JudgingReport, executor: str) -> None:
    """One line on what was judged, one for each thing that was not."""
    rate = report.n_judged / report.seconds if report.seconds else 0.0
    tests = report.n_tests / report.seconds if report.seconds else 0.0
    verdicts = ", ".join(f"{verdict} {n}" for verdict, n in sorted(report.verdicts.items()))
    session.messages.print(
        f"judged {report.n_judged} solutions ({report.n_programs} different programs, {report.n_tests} tests) "
        f"in {report.seconds:.1f} s through {executor} "
        f"({rate:.1f} solutions/s, {tests:.0f} tests/s)" + (f": {verdicts}" if verdicts else "")
    )
    for language, n in report.unsupported.items():
        session.messages.print(f"left alone: {n} solutions in {language}, which the sandbox does not have")
    if report.n_internal:
        session.messages.print(f"{report.n_internal} met an internal error of the judge; judge again to retry them")
