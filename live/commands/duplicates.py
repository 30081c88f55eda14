"""``live duplicates``: problems that are the same, or read alike, under two ids."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from live.errors import UsageError
from live.session import print_json, session_of, utc_now

app = typer.Typer(help="Problems that are the same under two ids.", no_args_is_help=True, rich_markup_mode=None)
Problem = Annotated[str, typer.Argument(metavar="PLATFORM:ID", help="PLATFORM:ID, or the id where it is unique.")]
Reason = Annotated[str, typer.Option(help="Why, for the readers of the tables.")]


@app.command("list")
def list_duplicates(
    context: typer.Context,
    verdict: Annotated[str | None, typer.Option(help="same, related (needs a look) or different.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """All pairs that were found or decided, with how alike they are and why they count as they do."""
    from db.duplicates import DuplicateVerdict, list_pairs

    if verdict is not None and verdict not in set(DuplicateVerdict):
        raise UsageError(f"no verdict is called {verdict!r}", f"one of: {', '.join(DuplicateVerdict)}")
    session = session_of(context)
    with session.open_store(reading=True) as store, store.read() as reading:
        pairs = list_pairs(reading, DuplicateVerdict(verdict) if verdict else None)
    if as_json:
        print_json([asdict(pair) | {"first": str(pair.first), "second": str(pair.second)} for pair in pairs])
        return
    if not pairs:
        of_kind = f" with the verdict {verdict}" if verdict else ""
        session.messages.print(f"no pair of problems{of_kind} was found or decided yet")
    for pair in pairs:
        typer.echo(f"{pair.verdict} {pair.similarity:.2f} {pair.first} {pair.second} ({pair.method}: {pair.reason})")


@app.command("same")
def same(context: typer.Context, first: Problem, second: Problem, reason: Reason) -> None:
    """Decide that two problems are the same: the later one counts as public since the earlier one."""
    _decide(context, first, second, "same", reason)


@app.command("different")
def different(context: typer.Context, first: Problem, second: Problem, reason: Reason) -> None:
    """Decide that two problems are not the same, whatever a comparison says."""
    _decide(context, first, second, "different", reason)


def _decide(context: typer.Context, first: str, second: str, verdict: str, reason: str) -> None:
    from db.duplicates import HAND, DuplicateVerdict, save_pair
    from db.exposure import refresh_exposure
    from db.problems import problem_ids
    from live.commands.problems import find_key

    now = utc_now()
    with session_of(context).open_store(must_exist=True) as store, store.write() as writing:
        keys = [find_key(writing, name) for name in (first, second)]
        ids = problem_ids(writing, keys)
        if len(ids) < 2:
            raise UsageError(f"{first} and {second} are one problem in the store", "name two problems")
        pair = (ids[keys[0]], ids[keys[1]])
        save_pair(writing, *pair, DuplicateVerdict(verdict), 1.0 if verdict == "same" else 0.0, HAND, reason, now=now)
        refresh_exposure(writing, pair, now=now)
