"""The command: its options, its subcommands, and how errors end it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from live.commands import (
    audits,
    compare,
    demo,
    doctor,
    duplicates,
    editions,
    evaluate,
    generate,
    imports,
    ingest,
    judge,
    models,
    problems,
    prompts,
    publish,
    run,
    runs,
    sources,
    tests,
)
from live.errors import KEPT, NOTHING_KEPT, ExitCode, exit_code_of, explain, was_interrupted
from live.session import Session, Work
from live.streams import prepare_streams

app = typer.Typer(
    name="live",
    help="A coding benchmark that cannot go stale: contest problems with their dates, programs judged in a sandbox, "
    "models scored only on what was published after their training cut-off.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is drawn twice as fast, and `[[model]]` in it stays as written
)
app.add_typer(imports.app, name="import")
app.add_typer(models.app, name="models")
app.add_typer(problems.app, name="problems")
app.add_typer(duplicates.app, name="duplicates")
app.add_typer(sources.app, name="sources")
app.add_typer(tests.app, name="tests")
app.add_typer(audits.app, name="audit")
app.add_typer(editions.app, name="edition")
app.command("ingest")(ingest.ingest)
app.command("schedule")(ingest.schedule)
app.command("runs")(runs.runs)
app.command("judge")(judge.judge)
app.command("run")(run.run)
app.command("prompts")(prompts.prompts)
app.command("generate")(generate.generate)
app.command("eval")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("publish")(publish.publish)
app.command("doctor")(doctor.doctor)
app.command("demo")(demo.demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"livecut {version('livecut')}")
        raise typer.Exit


@app.callback()
def main_options(
    context: typer.Context,
    db: Annotated[
        str | None, typer.Option(envvar="LIVE_DB", metavar="URL", help="The store: a database URL or a SQLite file.")
    ] = None,
    models_path: Annotated[
        list[Path] | None,
        typer.Option("--models", envvar="LIVE_MODELS", help="A file or folder of your own model entries (repeatable)."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no messages; data and errors only.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")] = False,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that every subcommand shares."""
    context.obj = Session(db=db, models=models_path, quiet=quiet, work=context.find_object(Work) or Work())


def run_command() -> None:
    """Run the command; every expected error becomes its lines and its exit code."""
    prepare_streams()
    work = Work()
    try:
        app(obj=work)
    except SystemExit as end:
        if end.code == ExitCode.INTERRUPTED:
            _say_interrupted(work)
        raise
    except BrokenPipeError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in sys.argv[1:]:
            raise
        code = _code_of(error)
        if code is None:
            raise
        if code is ExitCode.INTERRUPTED:
            _say_interrupted(work)
        else:
            with contextlib.suppress(OSError):
                for line in explain(error):
                    typer.echo(line, err=True)
        sys.exit(code)


def _code_of(error: BaseException) -> ExitCode | None:
    code = ExitCode.UNAVAILABLE if isinstance(error, OSError) else exit_code_of(error)
    return ExitCode.INTERRUPTED if code is None and was_interrupted(error) else code


def _say_interrupted(work: Work) -> None:
    typer.echo(KEPT if work.is_kept else NOTHING_KEPT, err=True)
