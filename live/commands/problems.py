"""``live problems``: what is in the store, with each source's word on when it became public."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.windows import read_since
from live.errors import UsageError
from live.session import one_line, output_console, print_json, session_of, utc_now

if TYPE_CHECKING:
    from sqlalchemy.orm import Session as DbSession

    from db.problems import ProblemSummary
    from db.records import ProblemKey

app = typer.Typer(help="Problems in the store.", no_args_is_help=True, rich_markup_mode=None)
ProblemId = Annotated[str, typer.Argument(metavar="ID", help="PLATFORM:ID, or the id where it is unique.")]


@app.command("list")
def list_problems(
    context: typer.Context,
    platform: Annotated[str | None, typer.Option(help="Only this platform.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """All problems by date, oldest first; those without a date last."""
    from db.problems import list_problems as load
    from eval.labels import check_known

    with session_of(context).open_store(reading=True) as store, store.read() as reading:
        problems = load(reading)
    if platform is not None and problems:
        check_known([platform], (one.key.platform for one in problems), "no problem is of the platform")
        problems = [one for one in problems if one.key.platform.casefold() == platform.casefold()]
    problems.sort(key=lambda problem: (problem.exposed_at is None, problem.exposed_at, str(problem.key)))
    if as_json:
        print_json([_as_dict(problem) for problem in problems])
        return
    from rich.table import Table

    table = Table("problem", "public since (UTC)", "difficulty", "tests", "flags", box=None, pad_edge=False)
    for problem in problems:
        facts = _as_dict(problem)
        tests = f"{problem.n_tests}{' (samples only)' if problem.samples_only else ''}"
        flags = ", ".join(name for name, _ in problem.flags)
        table.add_row(facts["problem"], facts["released_at"] or "unknown", problem.difficulty or "–", tests, flags)
    output_console().print(table)


@app.command("show")
def show_problem(context: typer.Context, problem_id: ProblemId) -> None:
    """One problem with every source's date, its other ids, its texts, its tests' digest and its flags."""
    from db.claims import superseded_claims
    from db.contests import start_history
    from db.identity import other_ids
    from db.problems import list_problems as load
    from db.problems import list_revisions
    from db.references import last_environment
    from eval.outcomes import reference_flags

    with session_of(context).open_store(reading=True) as store, store.read() as reading:
        key = find_key(reading, problem_id)
        (found,) = [problem for problem in load(reading, platform=key.platform) if problem.key == key]
        superseded = superseded_claims(reading, found.problem_id)
        aliases = other_ids(reading, found.problem_id)
        revisions = list_revisions(reading, found.problem_id)
        starts = start_history(reading, key.platform, found.contest) if found.contest else []
        environment_id = last_environment(reading, found.problem_id)
        failing = {} if environment_id is None else reference_flags(reading, environment_id)
    for name, value in _as_dict(found).items():
        typer.echo(f"{name}: {'–' if value is None else value}")
    for claim in found.date_claims:
        typer.echo(
            f"date by {claim.source}: {claim.as_written} "
            f"({claim.precision}, {claim.earliest.isoformat()} at the earliest)"
        )
    if len(starts) > 1:
        moves = ", then ".join(f"{start.isoformat()} (seen on {seen:%Y-%m-%d})" for start, seen in starts)
        typer.echo(f"the start of {found.contest} was moved: {moves}")
    for claim, since in superseded:
        typer.echo(f"no longer said by {claim.source} (seen on {since:%Y-%m-%d}): {claim.as_written}")
    for other, reason in aliases:
        typer.echo(f"also {found.key.platform}:{other}: {reason}")
    for revision in revisions:
        current = "current text" if revision.is_current else "text"
        language = f" in {revision.language}" if revision.language else ""
        typer.echo(f"{current}{language} by {revision.source}, first seen on {revision.first_seen_at:%Y-%m-%d}")
    for name, reason in found.flags:
        typer.echo(f"flag {name}: {reason}")
    for name, reason in failing.get(found.problem_id, ()):
        typer.echo(one_line(f"flag {name}, where it was judged last: {reason}"))


@app.command("flag")
def flag(
    context: typer.Context,
    problem_id: ProblemId,
    name: Annotated[str, typer.Argument(help="interactive, multiple_answers, bad_tests or a name of your own.")],
    reason: Annotated[str, typer.Option(help="Why, for the readers of the tables.")],
    by: Annotated[str, typer.Option(help="Who says so.")] = "maintainer",
) -> None:
    """Keep a problem out of the scores from now on, with the reason that tables will give."""
    from db.problems import flag_problem

    if not name.strip():
        raise UsageError("a flag needs a name", "interactive, multiple_answers, bad_tests, or one of your own")
    with session_of(context).open_store() as store, store.write() as writing:
        flag_problem(writing, find_key(writing, problem_id), name, reason, by=by, now=utc_now())


@app.command("unflag")
def unflag(
    context: typer.Context,
    problem_id: ProblemId,
    name: Annotated[str, typer.Argument(help="The flag to take off, whoever put it there.")],
) -> None:
    """Take a flag off a problem. What is in a source's own text comes back when the source is read again."""
    from db.flags import clear_flags
    from db.problems import problem_ids

    with session_of(context).open_store() as store, store.write() as writing:
        key = find_key(writing, problem_id)
        if not clear_flags(writing, problem_ids(writing, [key])[key], name, now=utc_now()):
            raise UsageError(f"{key} has no flag {name!r}", "live problems show lists its flags")


@app.command("seen")
def seen(
    context: typer.Context,
    problem_id: Annotated[str, typer.Argument(metavar="PLATFORM:ID", help="The problem; it need not be stored yet.")],
    at: Annotated[str, typer.Option(help="The instant, with its zone, or a day.")],
    reason: Annotated[str, typer.Option(help="Where it was seen, for the readers of the tables.")],
    by: Annotated[str, typer.Option(help="Who says so.")] = "maintainer",
) -> None:
    """Say that a problem was public at an instant: if that is before its contest, it counts as public since then."""
    from db.exposure import save_sightings
    from db.records import ProblemKey, SightingRecord

    platform, _, native_id = problem_id.partition(":")
    if not platform or not native_id:
        raise UsageError(f"{problem_id!r} names no platform", "write it as PLATFORM:ID")
    seen_at = read_since(at, "--at")
    if seen_at is None:
        raise UsageError("--at is empty", "write an instant with its zone, or a day")
    sighting = SightingRecord(ProblemKey(platform, native_id), seen_at, by, reason)
    with session_of(context).open_store() as store, store.write() as writing:
        if not save_sightings(writing, [sighting], now=utc_now()):
            session_of(context).messages.print(f"{by} saw it earlier already; nothing changed")


def find_key(reading: DbSession, problem_id: str) -> ProblemKey:
    """The problem that the user means. Raises ``UsageError`` when there is none, or more than one."""
    from db.problems import AmbiguousProblem, find_problem

    platform, _, native_id = problem_id.rpartition(":")
    try:
        key = find_problem(reading, native_id, platform or None)
    except AmbiguousProblem as error:
        raise UsageError(str(error), "name the platform too: PLATFORM:ID") from error
    if key is None:
        raise UsageError(f"no problem {problem_id} in the store", "live problems list shows all")
    return key


def _as_dict(problem: ProblemSummary) -> dict[str, Any]:
    return {
        "problem": str(problem.key),
        "title": problem.title,
        "url": problem.url,
        "contest": problem.contest,
        "difficulty": problem.difficulty,
        "released_at": problem.released_at.isoformat() if problem.released_at else None,
        "released_precision": str(problem.released_precision) if problem.released_precision else None,
        "exposed_at": problem.exposed_at.isoformat() if problem.exposed_at else None,
        "io": str(problem.io_kind) if problem.io_kind else None,
        "n_tests": problem.n_tests,
        "samples_only": problem.samples_only,
        "suite_digest": problem.suite_digest,
        "status": problem.status,
    }
