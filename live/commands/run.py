"""``live run``: judge one program for a person at a terminal."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.judge import Executor, Image, JudgingOptions
from live.commands.problems import find_key
from live.errors import ExitCode, UsageError
from live.session import Session, one_line, output_console, print_json, session_of

if TYPE_CHECKING:
    from sandbox import Outcome, Program, Suite, TestResult

_STDIN = "-"
_LONGEST_S = 3600.0
_MOST_MIB = 1024 * 1024
_NEWER = "they may come from a newer version of this command; import the problem again with this one"


def run(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The program; - is standard input.")],
    problem: Annotated[
        str | None, typer.Option(metavar="ID", help="Run it on the tests of this problem in the store.")
    ] = None,
    input_file: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="Run it on this input; - is standard input.")
    ] = None,
    expected_file: Annotated[
        Path | None, typer.Option("--expect", metavar="FILE", help="The output that is right for --input.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="The program's language, where the file's name does not tell.")
    ] = None,
    run_all: Annotated[bool, typer.Option("--all-tests", help="Go on after the first test that fails.")] = False,
    time_limit_s: Annotated[
        float | None,
        typer.Option(
            "--time-limit", min=0.01, max=_LONGEST_S, help="CPU seconds for each test, instead of the problem's."
        ),
    ] = None,
    memory_limit_mib: Annotated[
        int | None,
        typer.Option("--memory-limit", min=1, max=_MOST_MIB, help="MiB for each test, instead of the problem's."),
    ] = None,
    executor: Executor = None,
    image: Image = None,
    as_json: Annotated[bool, typer.Option("--json", help="Verdict and facts as one JSON document.")] = False,
) -> None:
    """Judge one program: on a problem's tests, or on one input with the output that is right for it.

    The exit code is 0 when it is accepted and 1 when it is not.
    """
    session = session_of(context)
    if [str(path) for path in (file, input_file, expected_file)].count(_STDIN) > 1:
        raise UsageError("standard input can be only one of program, input and output", "name files for the others")
    program = _program(file, language)
    suite = _limited(_suite(session, problem, input_file, expected_file), time_limit_s, memory_limit_mib)
    with JudgingOptions(executor, jobs=1, image=image).open_judge(session) as judge:
        outcome = judge.judge(program, suite, run_all=run_all)
        name = judge.environment.executor
    if as_json:
        print_json({"language": program.language, "executor": name, **_as_dict(outcome, len(suite.tests))})
    else:
        _print(outcome, len(suite.tests), name)
    if outcome.verdict != "accepted":
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _program(file: Path, language: str | None) -> Program:
    from sandbox import Program, languages

    known = ", ".join(languages.names())
    name = languages.canonical(language) if language else languages.by_suffix(file.suffix)
    if name is None and language:
        raise UsageError(f"no language {language!r}", f"use one of: {known}")
    if name is None:
        raise UsageError(f"the language of {file} cannot be told from its name", f"say it with --language: {known}")
    try:
        return Program(_read(file).decode(), name)
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8: {error.reason} at byte {error.start}", "save it as UTF-8") from error


def _suite(session: Session, problem: str | None, input_file: Path | None, expected_file: Path | None) -> Suite:
    from sandbox import Suite, Test

    if problem and not input_file and not expected_file:
        return _stored_suite(session, problem)
    if not problem and input_file and expected_file:
        return Suite((Test(input_file.name, _read(input_file), _read(expected_file)),))
    raise UsageError("what should it be run on?", "give --problem ID, or --input FILE together with --expect FILE")


def _stored_suite(session: Session, problem: str) -> Suite:
    from db.problems import list_problems, load_suite
    from eval.judging import to_suite
    from sandbox import languages

    with session.open_store(reading=True) as store, store.read() as reading:
        key = find_key(reading, problem)
        (found,) = [one for one in list_problems(reading, platform=key.platform) if one.key == key]
        if found.suite_id is None or not found.n_tests:
            raise UsageError(f"{key} has no tests in the store", "import some: live import problems --help")
        try:
            suite = to_suite(load_suite(reading, found.suite_id))
        except ValueError as error:  # a suite of a kind that this version cannot judge
            raise UsageError(f"the tests of {key} cannot be judged here: {error}", _NEWER) from error
    if suite.checker is not None and suite.checker.program.language not in languages.names():
        raise UsageError(f"the checker of {key} is written in {suite.checker.program.language!r}", _NEWER)
    return suite


def _limited(suite: Suite, time_limit_s: float | None, memory_limit_mib: int | None) -> Suite:
    from sandbox.programs import MIB

    changes: dict[str, Any] = {}
    if time_limit_s is not None:
        changes["cpu_s"] = time_limit_s
    if memory_limit_mib is not None:
        changes["memory_bytes"] = memory_limit_mib * MIB
    return replace(suite, limits=replace(suite.limits, **changes)) if changes else suite


def _read(file: Path) -> bytes:
    try:
        if str(file) != _STDIN:
            return file.read_bytes()
        return sys.stdin.buffer.read() if sys.stdin is not None else b""  # None: whoever started this closed it
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", "check the path") from error


def _print(outcome: Outcome, n_tests: int, executor: str) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("test", "verdict", "CPU", "wall", "memory", "", box=None, pad_edge=False)
    for test in outcome.tests:
        name, remark = Text(one_line(test.name)), Text(one_line(_remark(test)))
        table.add_row(name, str(test.verdict), *_figures(test), remark)
    output_console().print(table)
    for group in outcome.groups:
        shown = "not run" if not group.was_run else "" if group.score is None else f"score {group.score:g}"
        typer.echo(one_line(f"group {group.name or '(all)'}: {group.verdict} {shown}".rstrip()))
    all_tests = f"{n_tests} test{'' if n_tests == 1 else 's'}"
    run_as_well = f"{len(outcome.tests)} of {all_tests} run" if len(outcome.tests) < n_tests else all_tests
    score = "" if outcome.score is None else f", score {outcome.score:g}"
    typer.echo(f"{outcome.verdict}{score} ({run_as_well}, {executor})")


def _figures(test: TestResult) -> tuple[str, str, str]:
    from sandbox.programs import MIB

    facts = test.facts
    if facts is None:
        return ("–", "–", "–")
    return (f"{facts.cpu_s:.3f} s", f"{facts.wall_s:.3f} s", f"{facts.peak_memory_bytes / MIB:.0f} MiB")


def _remark(test: TestResult) -> str:
    marks = [test.detail] if test.detail else []
    if test.idle:
        marks.append("it waited more than it computed")
    if test.confirmed:
        marks.append("run twice")
    return "; ".join(marks)


def _as_dict(outcome: Outcome, n_tests: int) -> dict[str, Any]:
    return {
        "verdict": str(outcome.verdict),
        "detail": outcome.detail,
        "score": outcome.score,
        "groups": [asdict(group) for group in outcome.groups],
        "n_tests": n_tests,
        "tests": [test.as_dict() for test in outcome.tests],
    }
