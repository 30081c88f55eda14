"""``live judge``: run what has no verdict yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.errors import ExitCode, UsageError
from live.progress import judging_bar
from live.session import Session, one_line, print_json, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from eval.judging import JudgingReport, Pending
    from eval.references import ReferenceReport
    from sandbox import Judge

_SHOWN = 20


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
Image = Annotated[
    str | None,
    typer.Option(
        metavar="slim|full|NAME", help="Docker's image to run programs in; by default the full one where it is."
    ),
]
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
    image: str | None = None
    run_all: bool = False

    def open_judge(self, session: Session) -> Judge:
        """A judge by these options, for use as a context manager. Raises what ``sandbox.Judge`` raises."""
        from sandbox import Grader, Judge

        executor = self.executor or session.config.executor
        # The file's image is for where Docker is used; the one who asks for bubblewrap has not asked for an image.
        image = self.image or (None if executor == ExecutorName.BUBBLEWRAP else session.config.image)
        if image and executor == ExecutorName.AUTO:
            executor = ExecutorName.DOCKER
        return Judge(executor, self.jobs, grader=Grader(self.grader), image=image)


def judge(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")] = None,
    grader: Grader = GraderName.LIVE,
    by_both: Annotated[
        bool, typer.Option("--compare-graders", help="Judge by both graders and show where they disagree.")
    ] = False,
    run_all: Annotated[
        bool,
        typer.Option("--all-tests", help="Run every test, also after the first that fails (our rules only)."),
    ] = False,
    executor: Executor = None,
    image: Image = None,
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON document.")] = False,
) -> None:
    """Judge every completion that has no verdict yet, in the sandbox, on all cores.

    Interrupt it at any time: the same command goes on where it stopped and judges nothing twice. Two at once on one
    store do no harm, but share nothing out: both run all.

    The exit code is 1 when something met an internal error, or was left alone that another sandbox can judge.
    """
    session = session_of(context)
    graders = tuple(GraderName) if by_both else (grader,)
    if run_all and graders == (GraderName.LIVECODEBENCH,):
        raise UsageError("LiveCodeBench's grader ends at the first test that fails", "leave out --all-tests")
    with session.open_store(must_exist=True) as store:
        run_ids = _run_ids(session, store, names or [])
        judged = [
            _judge_runs(session, store, run_ids, JudgingOptions(executor, jobs, one, image, run_all), not as_json)
            for one in graders
        ]
        if by_both:
            from eval.graders import compare_graders
            from live.commands.graders import print_comparison

            ours, theirs = judged
            comparison = compare_graders(store, ours.environment_id, theirs.environment_id, run_ids)
            print_comparison(comparison, [one.document for one in judged] if as_json else None)
        elif as_json:
            print_json(judged[0].document)
    if any(one.is_incomplete for one in judged):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _run_ids(session: Session, store: Store, names: list[str]) -> list[int]:
    from db.completions import list_runs

    wanted = session.canonical_names(names, store)
    with store.read() as reading:
        return [run.run_id for run in list_runs(reading, wanted or None)]


@dataclass(frozen=True)
class _Judged:
    """What was judged by one grader: in which environment, whether it has to be tried again, and all of it as JSON."""

    environment_id: int
    is_incomplete: bool
    document: dict[str, Any]


def _judge_runs(session: Session, store: Store, run_ids: list[int], options: JudgingOptions, say: bool) -> _Judged:
    """Judge what these runs lack; ``say`` what came of it, where nobody gets the document."""
    from eval.judging import Pending, environment_record, register_environment

    with options.open_judge(session) as running:
        environment_id = register_environment(store, running.environment, now=utc_now())
        references = check_references(session, store, running, environment_id, run_ids, say=say)
        pending = Pending(store, environment_id, run_ids)
        report = judge_with_bar(session, store, running, environment_id, pending, run_all=options.run_all)
        n_waiting = pending.count()  # left alone, an internal error, or imported while programs ran
        environment = environment_record(running.environment)
    if say:
        say_judged(session, report, running)
        say_faults(session, running)
    document = {
        **asdict(report),
        "n_judged": report.n_judged,
        "n_internal": report.n_internal,
        "n_waiting": n_waiting,
        "solutions_per_s": report.solutions_per_s,
        "tests_per_s": report.tests_per_s,
        "grader": str(options.grader),
        "references": asdict(references),
        "environment": asdict(environment),
    }
    return _Judged(environment_id, report.n_internal > 0 or any(map(_can_be_had, report.missing)), document)


def check_references(
    session: Session, store: Store, judge: Judge, environment_id: int, run_ids: list[int], *, say: bool = True
) -> ReferenceReport:
    """Judge the reference solutions of what is about to be judged, and ``say`` what they take out of scores."""
    from eval import references

    bar = partial(judging_bar, session.messages, before=judge.counters, what="judging reference solutions")
    report = references.check_references(store, judge, environment_id, run_ids, now=utc_now, progress=bar)
    if say:
        say_references(session, report)
    return report


def say_references(session: Session, report: ReferenceReport) -> None:
    """One line on how many were judged, one for each problem that is not scored in this environment."""
    if report.n_judged:
        _say(session, f"judged {_counted(report.n_judged, 'reference solution')}")
    _say_each(session, (f"{problem} is flagged and not scored: {why}" for problem, why in report.flagged.items()))


def judge_with_bar(
    session: Session, store: Store, judge: Judge, environment_id: int, pending: Pending, *, run_all: bool = False
) -> JudgingReport:
    """Judge what is pending, with a progress bar on a terminal."""
    from eval.judging import judge_pending

    with judging_bar(session.messages, pending.count(), judge.counters) as on_judged:
        return judge_pending(store, judge, environment_id, pending, now=utc_now, run_all=run_all, on_judged=on_judged)


def say_judged(session: Session, report: JudgingReport, judge: Judge) -> None:
    """One line on what was judged, one for each thing that was not, and what casts doubt on it."""
    _say(session, _summary(report, judge))
    if report.n_near_limit:
        _say(session, f"{_counted(report.n_near_limit, 'program')} came near to a limit of CPU time")
    if report.missing_modules:
        found = sorted(report.missing_modules.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{name} {n}" for name, n in found[:_SHOWN])
        _say(session, f"solutions that import a module that is not here: {listed}")
    _say_each(session, (_left_alone(n, one) for one, n in report.missing.items()))
    if any(_can_be_had(one) for one in report.missing):
        _say(session, "live doctor shows what each executor has; make full-image builds the image that has it all")
    if report.n_internal:
        _say(session, f"{report.n_internal} met an internal error of the judge; judge again to retry them")


def say_faults(session: Session, judge: Judge) -> None:
    """One line on the jails that broke, where any did; once for a judge, whose count it is."""
    counters = judge.counters
    if counters.jails_replaced:
        faults = ", ".join(f"{kind} {n}" for kind, n in sorted(counters.faults.items()))
        _say(
            session,
            f"{_counted(counters.jails_replaced, 'jail')} replaced on the way" + (f" ({faults})" if faults else ""),
        )


def _summary(report: JudgingReport, judge: Judge) -> str:
    by = f"through {judge.environment.executor}"
    if judge.grader.value != GraderName.LIVE.value:
        by += f" by the rules of {judge.grader}"
    if not report.verdicts:
        return f"nothing left to judge {by}"
    return (
        f"judged {_counted(report.n_judged, 'solution')} ({_counted(report.n_programs, 'different program')}, "
        f"{_counted(report.n_tests, 'test')}) in {report.seconds:.1f} s {by} "
        f"({report.solutions_per_s:.1f} solutions/s, {report.tests_per_s:.0f} tests/s): "
        + ", ".join(f"{verdict} {n}" for verdict, n in sorted(report.verdicts.items()))
    )


def _left_alone(n: int, missing: str) -> str:
    return f"left alone: {_counted(n, 'solution')} that {'needs' if n == 1 else 'need'} {missing}"


def _can_be_had(missing: str) -> bool:
    """Whether some sandbox has this: a language or a package."""
    from sandbox import languages
    from sandbox.requirements import PACKAGES

    return missing in languages.names() or missing in PACKAGES


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _say(session: Session, line: str) -> None:
    session.messages.print(one_line(line), markup=False)


def _say_each(session: Session, lines: Iterable[str]) -> None:
    """The lines, up to a number that still can be read."""
    listed = list(lines)
    for line in listed[:_SHOWN]:
        _say(session, line)
    if len(listed) > _SHOWN:
        _say(session, f"… and {len(listed) - _SHOWN} more")
