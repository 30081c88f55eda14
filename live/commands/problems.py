"""``live problems``: what is in the store, with each source's word on when it became public."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.windows import read_since
from live.errors import UsageError
from live.session import one_line, output_console, print_json, session_of, utc_now

if TYPE_CHECKING:
    from sqlalchemy.orm import Session as DbSession

    from db.problems import ProblemRevision, ProblemSummary
    from db.records import DateClaim, ProblemKey

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
        flags = ", ".join(name for name, _ in problem.flags)
        table.add_row(str(problem.key), _since(problem), problem.difficulty or "–", _tests(problem), flags)
    output_console().print(table)


def _since(problem: ProblemSummary) -> str:
    """When a problem became public, as finely as it is known."""
    from db.records import Precision

    since, precision = problem.released_at, problem.released_precision or Precision.INSTANT
    if since is None:
        return "unknown"
    if precision is Precision.INSTANT or (since.hour, since.minute) != (0, 0):  # a day may begin elsewhere
        return f"{since:%Y-%m-%d %H:%M}" + ("" if precision is Precision.INSTANT else f" ({precision})")
    if precision is Precision.QUARTER:
        return f"{since.year}-Q{(since.month + 2) // 3}"
    return since.strftime({Precision.DAY: "%Y-%m-%d", Precision.MONTH: "%Y-%m"}.get(precision, "%Y"))


def _tests(problem: ProblemSummary) -> str:
    if not problem.samples_only:
        return str(problem.n_tests) + _origins(problem)
    return "1 sample" if problem.n_tests == 1 else f"{problem.n_tests} samples"


def _origins(problem: ProblemSummary) -> str:
    """Where the tests beyond the samples come from, unless they are the platform's own."""
    from db.records import TestOrigin

    words = {TestOrigin.GENERATED: "made", TestOrigin.RECOVERED: "recovered"}
    if not set(problem.hidden_origins).intersection(words):
        return ""
    return f" ({', '.join(words.get(one, str(one)) for one in problem.hidden_origins)})"


@app.command("show")
def show_problem(
    context: typer.Context,
    problem_id: ProblemId,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """One problem with every source's date, its other ids, its texts, its tests' digest and its flags."""
    with session_of(context).open_store(reading=True) as store, store.read() as reading:
        found = _load(reading, find_key(reading, problem_id))
    if as_json:
        print_json(found.document())
        return
    for line in found.lines():
        typer.echo(line)


@dataclass(frozen=True)
class _Problem:
    """All that the store knows of one problem but its statement and tests."""

    summary: ProblemSummary
    superseded: Sequence[tuple[DateClaim, datetime]]
    other_ids: Sequence[tuple[str, str]]
    revisions: Sequence[ProblemRevision]
    starts: Sequence[tuple[datetime, datetime]]
    failing: Sequence[tuple[str, str]]
    """Flags of the environment in which its reference solutions were judged last."""

    def lines(self) -> Iterator[str]:
        """What a person reads."""
        summary = self.summary
        for name, value in _as_dict(summary).items():
            if name != "flags":
                yield f"{name}: {_shown(value)}"
        for claim in summary.date_claims:
            at_the_earliest = f"({claim.precision}, {claim.earliest.isoformat()} at the earliest)"
            yield f"date by {claim.source}: {claim.as_written} {at_the_earliest}"
        if len(self.starts) > 1:
            moves = ", then ".join(f"{start.isoformat()} (seen on {seen:%Y-%m-%d})" for start, seen in self.starts)
            yield f"the start of {summary.contest} was moved: {moves}"
        for claim, since in self.superseded:
            yield f"no longer said by {claim.source} (seen on {since:%Y-%m-%d}): {claim.as_written}"
        for other, reason in self.other_ids:
            yield f"also {summary.key.platform}:{other}: {reason}"
        for revision in self.revisions:
            current = "current text" if revision.is_current else "text"
            language = f" in {revision.language}" if revision.language else ""
            yield f"{current}{language} by {revision.source}, first seen on {revision.first_seen_at:%Y-%m-%d}"
        for name, reason in summary.flags:
            yield f"flag {name}: {reason}"
        for name, reason in self.failing:
            yield one_line(f"flag {name}, where it was judged last: {reason}")

    def document(self) -> dict[str, Any]:
        """The same for scripts."""
        summary = self.summary
        return _as_dict(summary) | {
            "date_claims": [_claim(claim) for claim in summary.date_claims],
            "superseded_claims": [_claim(claim) | {"superseded_at": since} for claim, since in self.superseded],
            "contest_starts": [{"starts_at": start, "first_seen_at": seen} for start, seen in self.starts],
            "other_ids": [
                {"problem": f"{summary.key.platform}:{other}", "reason": reason} for other, reason in self.other_ids
            ],
            "texts": [
                {
                    "source": revision.source,
                    "language": revision.language,
                    "first_seen_at": revision.first_seen_at,
                    "is_current": revision.is_current,
                }
                for revision in self.revisions
            ],
            "flags_of_last_environment": _flags(self.failing),
        }


def _load(reading: DbSession, key: ProblemKey) -> _Problem:
    from db.claims import superseded_claims
    from db.contests import start_history
    from db.identity import other_ids
    from db.problems import list_problems as load
    from db.problems import list_revisions
    from db.references import last_environment
    from eval.outcomes import reference_flags

    (found,) = [problem for problem in load(reading, platform=key.platform) if problem.key == key]
    environment_id = last_environment(reading, found.problem_id)
    failing = {} if environment_id is None else reference_flags(reading, environment_id)
    return _Problem(
        found,
        superseded_claims(reading, found.problem_id),
        other_ids(reading, found.problem_id),
        list_revisions(reading, found.problem_id),
        start_history(reading, key.platform, found.contest) if found.contest else [],
        failing.get(found.problem_id, ()),
    )


@app.command("flag")
def flag(
    context: typer.Context,
    problem_id: ProblemId,
    name: Annotated[
        str, typer.Argument(help="interactive, multiple_answers, bad_tests, private, or one that is in use.")
    ],
    reason: Annotated[str, typer.Option(help="Why, for the readers of the tables.")],
    by: Annotated[str, typer.Option(help="Who says so.")] = "maintainer",
    new_flag: Annotated[
        bool, typer.Option("--new-flag", help="Take a name that nobody has used yet; it keeps a problem out, too.")
    ] = False,
) -> None:
    """Keep a problem out of the scores from now on, with the reason that tables will give. A private one counts in
    scores, and is in nothing that is published."""
    from db.problems import flag_problem
    from db.records import SaveOutcome, TestOrigin
    from eval.window import flag_reason

    session = session_of(context)
    with session.open_store(must_exist=True) as store, store.write() as writing:
        key = find_key(writing, problem_id)
        if not new_flag:
            _require_known(writing, name)
        elif not name.strip():
            raise UsageError("a flag needs a name", "interactive, multiple_answers, bad_tests, or one of your own")
        outcome = flag_problem(writing, key, name, reason, by=by, now=utc_now())
        summary = _load(writing, key).summary
    has_made_tests = TestOrigin.GENERATED in summary.hidden_origins
    why = flag_reason(name, has_checker=summary.has_checker, has_made_tests=has_made_tests)
    effect = f"left out of scores: {why}" if why else f"{name}, which keeps no problem out of scores"
    had = " (had that flag before)" if outcome is SaveOutcome.UNCHANGED else ""
    session.messages.print(f"{key}: {effect}{had}", markup=False)


def _require_known(reading: DbSession, name: str) -> None:
    """Raises ``UsageError`` for a flag that neither a score nor the store knows: it would set a problem aside, too."""
    from db.flags import list_flag_names
    from eval.window import FLAG_NAMES

    known = sorted(FLAG_NAMES.union(list_flag_names(reading)))
    if name not in known:
        raise UsageError(f"no flag is called {name!r}", f"one of {', '.join(known)}; or --new-flag for one of your own")


@app.command("unflag")
def unflag(
    context: typer.Context,
    problem_id: ProblemId,
    name: Annotated[str, typer.Argument(help="The flag to take off, whoever put it there.")],
) -> None:
    """Take a flag off a problem. What is in a source's own text comes back when the source is read again."""
    from db.flags import clear_flags
    from db.problems import problem_ids

    with session_of(context).open_store(must_exist=True) as store, store.write() as writing:
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
    with session_of(context).open_store(must_exist=True) as store, store.write() as writing:
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
        "hidden_origins": [str(one) for one in problem.hidden_origins],
        "suite_digest": problem.suite_digest,
        "status": problem.status,
        "flags": _flags(problem.flags),
    }


def _shown(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return "–" if value is None else text or "–"


def _flags(flags: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "reason": reason} for name, reason in flags]


def _claim(claim: DateClaim) -> dict[str, Any]:
    return {
        "source": claim.source,
        "as_written": claim.as_written,
        "precision": str(claim.precision),
        "earliest": claim.earliest,
    }
