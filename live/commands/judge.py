"""``live judge``: run what has no verdict yet."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

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
    DOCKER_UNPRIVILEGED = "docker-unprivileged"
    GVISOR = "gvisor"
    BUBBLEWRAP = "bubblewrap"


class GraderName(StrEnum):
    """Whose rules verdicts follow."""

    LIVE = "live"
    LIVECODEBENCH = "livecodebench"


Executor = Annotated[ExecutorName | None, typer.Option(help="What to run programs in.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Workers; by default one for each core.")]
Grader = Annotated[
    GraderName, typer.Option(help="Whose rules verdicts follow: ours, or LiveCodeBench's, to reproduce its numbers.")
]


@dataclass(frozen=True)
class JudgingOptions:
    """How a command was told to judge; None where it was not."""

    executor: str | None = None
    jobs: int | None = None
    grader: GraderName = GraderName.LIVE

    def open_judge(self, session: Session) -> Judge:
        """A judge by these options, for use as a context manager. Raises what ``sandbox.Judge`` raises."""
        from sandbox import Grader, Judge

        return Judge(self.executor or session.config.executor, self.jobs, grader=Grader(self.grader))


def judge(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")] = None,
    grader: Grader = GraderName.LIVE,
    compare_graders: Annotated[
        bool, typer.Option("--compare-graders", help="Judge by both graders and show where they disagree.")
    ] = False,
    executor: Executor = None,
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON document.")] = False,
) -> None:
    """Judge every completion that has no verdict yet, in the sandbox, on all cores.

    Interrupt it at any time: the same command goes on where it stopped and judges nothing twice.
    """
    session = session_of(context)
    graders = tuple(GraderName) if compare_graders else (grader,)
    with session.open_store() as store:
        run_ids = _run_ids(session, store, names or [])
        judged = [
            _judge_runs(session, store, run_ids, JudgingOptions(executor, jobs, one), not as_json) for one in graders
        ]
        if compare_graders:
            from live.commands.graders import print_comparison

            print_comparison(store, [environment_id for environment_id, _ in judged], run_ids, as_json)
        elif as_json:
            print_json(judged[0][1])
    if any(report["n_internal"] for _, report in judged):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _run_ids(session: Session, store: Store, names: list[str]) -> list[int]:
    from db.completions import list_runs

    wanted = session.canonical_names(names, store)
    with store.read() as reading:
        return [run.run_id for run in list_runs(reading, wanted or None)]


def _judge_runs(
    session: Session, store: Store, run_ids: list[int], options: JudgingOptions, say: bool
) -> tuple[int, dict[str, Any]]:
    """Judge what these runs lack; the environment's id, and the report as JSON values."""
    from eval.judging import Pending, environment_record, register_environment

    with options.open_judge(session) as running:
        environment_id = register_environment(store, running.environment, now=utc_now())
        say_references(session, store, running, environment_id, run_ids)
        report = judge_with_bar(session, store, running, environment_id, Pending(store, environment_id, run_ids))
        environment = environment_record(running.environment)
    if say:
        say_judged(session, report, running.environment.executor)
    counts = {"n_judged": report.n_judged, "n_internal": report.n_internal}
    return environment_id, {**asdict(report), **counts, "environment": asdict(environment)}


def say_references(session: Session, store: Store, judge: Judge, environment_id: int, run_ids: list[int]) -> None:
    """Judge the reference solutions of what is about to be judged, and say which problems they take out of scores.

    Only by our own rules: another grader's faults say nothing about a problem.
    """
    from eval.references import check_references
    from sandbox import Grader

    if judge.grader is not Grader.LIVE:
        return
    for line in check_references(store, judge, environment_id, run_ids, now=utc_now):
        session.messages.print(f"flagged, since a reference solution fails: {line}", markup=False)


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
    for missing, n in report.missing.items():
        session.messages.print(f"left alone: {n} solutions that need {missing}, which this sandbox does not have")
    if report.counters.jails_replaced:
        faults = ", ".join(f"{kind} {n}" for kind, n in report.counters.faults.items())
        session.messages.print(f"{report.counters.jails_replaced} jails were replaced on the way ({faults})")
    if report.n_internal:
        session.messages.print(f"{report.n_internal} met an internal error of the judge; judge again to retry them")
