"""``live import``: problems, solutions, references and results from files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.judge import Executor, JudgingOptions
from live.errors import ExitCode, UsageError
from live.session import Session, print_json, read_day, session_of, utc_now

if TYPE_CHECKING:
    from db.importing import ImportReport
    from ingest.validating import InputValidator
    from sandbox import Program

app = typer.Typer(
    help="Bring problems, solutions, references or published results into the store.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

FilePath = Annotated[Path, typer.Argument(metavar="PATH", help="The file (or folder) to read.")]
AsJson = Annotated[bool, typer.Option("--json", help="The report as one JSON document.")]


@app.command("problems")
def import_problems(
    context: typer.Context,
    path: FilePath,
    format_name: Annotated[str, typer.Option("--format", "-f", help="livecodebench, jsonl or kattis.")],
    input_validator: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A program that each test's input must satisfy: exit code 42, and 43 for one that is not.",
        ),
    ] = None,
    known_only: Annotated[
        bool, typer.Option("--known-only", help="Refuse problems that are not in the store; say which have no tests.")
    ] = False,
    executor: Executor = None,
    as_json: AsJson = False,
) -> None:
    """Import problems with their tests and dates. The same file twice changes nothing."""
    from ingest.importing import import_problems as run_import

    session = session_of(context)
    with session.open_store(must_exist=known_only) as store, _opened(session, input_validator, executor) as validator:
        report = run_import(store, path, format_name, now=utc_now(), validator=validator, known_only=known_only)
    _finish(session, report, "problems", as_json)


@contextmanager
def _opened(session: Session, file: Path | None, executor: str | None) -> Iterator[InputValidator | None]:
    """The validator in this file, with the sandbox that it runs in; None for none."""
    if file is None:
        yield None
        return
    from ingest.validating import InputValidator

    program = _read_program(file)
    with JudgingOptions(executor, jobs=1).open_judge(session) as judge:
        yield InputValidator(judge, program)


def _read_program(file: Path) -> Program:
    from sandbox import Program, languages

    language = languages.by_suffix(file.suffix)
    if language is None:
        known = ", ".join(languages.names())
        raise UsageError(f"the language of {file} cannot be told from its name", f"name it as one of: {known}")
    try:
        return Program(file.read_text(encoding="utf-8"), language)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", "check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8: {error.reason} at byte {error.start}", "save it as UTF-8") from error


@app.command("solutions")
def import_solutions(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    path: FilePath,
    format_name: Annotated[
        str,
        typer.Option(
            "--format", "-f", help="livecodebench, livecodebench-custom, evalplus, jsonl, csv, or openai-batch."
        ),
    ],
    model: Annotated[str | None, typer.Option(help="The model, where the file does not name it.")] = None,
    run: Annotated[str, typer.Option(help="A name for this run, to keep several of one model apart.")] = "import",
    language: Annotated[str, typer.Option(help="The language, where the file does not name it.")] = "python3",
    ran_on: Annotated[
        str | None, typer.Option(metavar="DAY", help="The day of the run, to read an alias as of then: 2025-03-01.")
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of the run: prompt=v2, temperature=0.2 (repeatable). Other settings are another run.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import programs that a model wrote. Problems must be in the store, the model in a registry.

    Answers to the requests of `live prompts` (openai-batch) name their run themselves, in their ids.
    """
    from eval.formats import reply_formats
    from eval.importing import import_solutions as run_import

    session = session_of(context)
    if format_name in reply_formats():
        _refuse_settings(context, format_name)
        _import_replies(session, path, format_name, as_json)
        return
    day = read_day(ran_on, "--ran-on")
    with session.open_store(must_exist=True) as store:
        report = run_import(
            store,
            path,
            format_name,
            model=model,
            known_models=_resolver(session, day),
            now=utc_now(),
            label=run,
            conditions=_read_conditions(condition or ()) | ({"ran_on": day.isoformat()} if day else {}),
            language=language,
        )
    _finish(session, report, "solutions", as_json)


def _refuse_settings(context: typer.Context, format_name: str) -> None:
    """Raises ``UsageError`` for options that say what the ids of a file say already."""
    for name in ("model", "run", "language", "ran_on", "condition"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} does not go with {format_name}: its ids name the run", "leave it out")


def _import_replies(session: Session, path: Path, format_name: str, as_json: bool) -> None:
    from eval.generate.importing import import_replies

    with session.open_store(must_exist=True) as store:
        found = import_replies(store, path, format_name, now=utc_now())
    _finish(session, found.report, "answers", as_json, found.failed)


@app.command("results")
def import_results(
    context: typer.Context,
    path: FilePath,
    format_name: Annotated[
        str, typer.Option("--format", "-f", help="livecodebench-site, livecodebench, evalplus, jsonl or csv.")
    ],
    model: Annotated[str | None, typer.Option(help="Only this model, or the model of a file that names none.")] = None,
    origin: Annotated[str | None, typer.Option(help="Who graded, in place of what the file says.")] = None,
    scenario: Annotated[
        str,
        typer.Option(
            help="What the models were asked to do: code_generation, self_repair, output_prediction or code_execution."
        ),
    ] = "code_generation",
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Take a model's results also where more than 5 % of the stored ones differ."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import published grades without programs: so many of so many samples were right.

    Of a model whose stored results differ in more than 5 % nothing is taken: it, or the harness, is another one.
    --origin keeps revisions of a board apart.
    """
    from eval.importing import import_results as run_import

    session = session_of(context)
    with session.open_store(must_exist=True) as store:
        report = run_import(
            store,
            path,
            format_name,
            model=model,
            origin=origin,
            known_models=_resolver(session),
            keep_unknown_models=True,
            scenario=scenario,
            replace=replace,
            now=utc_now(),
        )
    _finish(session, report, "results", as_json)


@app.command("references")
def import_references(
    context: typer.Context,
    path: FilePath,
    format_name: Annotated[str, typer.Option("--format", "-f", help="jsonl or folder.")],
    source: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Who gives them, to keep several sets apart: NAME is kept as user:NAME, user as it is."
        ),
    ] = "user",
    as_json: AsJson = False,
) -> None:
    """Import programs that are known to solve a problem, or known not to: what live tests build makes tests from.

    Each has a role: accepted, brute_force, wrong, too_slow, generator or validator. Problems must be in the store. For
    each problem named there the programs take the place of those that the same source gave before.
    """
    from ingest.errors import BadRow
    from ingest.references import import_references as run_import
    from ingest.references import user_source

    session = session_of(context)
    try:
        kept_as = user_source(source)
    except BadRow as error:
        raise UsageError(f"--source: {error.reason}", error.hint) from None
    with session.open_store(must_exist=True) as store:
        report = run_import(store, path, format_name, source=kept_as, now=utc_now())
    _finish(session, report, "references", as_json)


@app.command("refused")
def refused(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="So many rows, the newest first.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Rows that imports did not take: where they stand, why, and what they say."""
    from db.refused import list_refused

    session = session_of(context)
    with session.open_store(reading=True) as store, store.read() as reading:
        rows = list_refused(reading, limit)
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    if not rows:
        session.messages.print("no row of an import was refused")
    for row in rows:
        typer.echo(f"{row.refused_at:%Y-%m-%d %H:%M} {row.file}, {row.place}: {row.reason}")


def _read_conditions(settings: Iterable[str]) -> dict[str, Any]:
    """Settings by name. A value that reads as a number, true or false in JSON is one, any other is text."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not name or not equals or name in found:
            reason = "is given twice" if name in found else "is no setting"
            raise UsageError(f'--condition "{setting}" {reason}', "write each setting once, as temperature=0.2")
        try:
            read = json.loads(value, parse_constant=str)  # NaN is no number that could be compared
        except ValueError:
            read = value
        found[name] = read if isinstance(read, bool | int | float) else value
    return found


def _resolver(session: Session, day: date | None = None) -> Callable[[str], str | None]:
    registry = session.registry

    def resolve(name: str) -> str | None:
        entry = registry.resolve(name, day)
        return entry.name if entry else None

    return resolve


def _finish(
    session: Session, report: ImportReport, what: str, as_json: bool, failed: Mapping[str, int] | None = None
) -> None:
    """Print a report; ``failed`` are requests without an answer by their reason, where a file has such."""
    if as_json:
        print_json(asdict(report) | ({} if failed is None else {"failed_requests": dict(failed)}))
    else:
        session.print_import(report, what)
    if report.n_refused or failed:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)
