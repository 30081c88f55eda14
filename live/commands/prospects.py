"""Which problems ``live tests build`` is for, and what it can say of them before it runs anything."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import typer

from live.commands.problems import find_key
from live.errors import ExitCode, UsageError
from live.session import Session, one_line, output_console, print_json

if TYPE_CHECKING:
    from db.engine import Store
    from eval.made_tests.building import BuildSettings
    from eval.made_tests.gathering import Gatherer
    from eval.made_tests.prospects import Prospect


@dataclass(frozen=True)
class Wanted:
    """The problems that a command names, or else the platforms and the half-open window of those that it is for."""

    names: tuple[str, ...]
    platforms: tuple[str, ...]
    since: datetime | None
    until: datetime | None
    with_tests: bool


def find(session: Session, store: Store, wanted: Wanted) -> tuple[list[int], Gatherer]:
    """The ids of the problems, and what gathers their material. Raises ``UsageError`` for one that is not there."""
    from db.identity import problem_ids
    from db.summaries import list_problems
    from eval.labels import check_known
    from eval.made_tests.gathering import Gatherer
    from eval.made_tests.prospects import problems_in_need
    from eval.window import window_for

    if wanted.names and (wanted.platforms or wanted.since or wanted.until or wanted.with_tests):
        raise UsageError(
            "named problems are made tests for whatever their platform and date",
            "leave out the names, or --platform, --since, --until and --all",
        )
    try:
        window_for(None, since=wanted.since, until=wanted.until)
    except ValueError as error:
        raise UsageError(str(error), "--since names the earlier day") from error
    with store.read() as reading:
        if wanted.names:
            keys = dict.fromkeys(find_key(reading, name) for name in wanted.names)
            known = problem_ids(reading, keys)
            ids = list(dict.fromkeys(known[key] for key in keys))
        else:
            if wanted.platforms:
                platforms = [one.key.platform for one in list_problems(reading)]
                check_known(wanted.platforms, platforms, "no problem is of the platform")
            ids = problems_in_need(
                reading,
                platforms=wanted.platforms,
                since=wanted.since,
                until=wanted.until,
                with_tests=wanted.with_tests,
            )
        return ids, Gatherer.of(reading, session.registry)


def say(
    session: Session,
    store: Store,
    ids: Sequence[int],
    gatherer: Gatherer,
    settings: BuildSettings,
    *,
    is_named: bool,
    is_each: bool,
    as_json: bool,
) -> None:
    """Say of which problems the input is understood, on stdout; a line for each where ``is_each``.

    Ends the command with 1 where that is so of none, or not of each named one.
    """
    from eval.made_tests.prospects import look

    with store.read() as reading:
        found = list(look(reading, gatherer, ids, settings))
    if as_json:
        print_json({"platforms": _by_platform(found), "problems": [_as_dict(one) for one in found]})
    else:
        _print(session, found, is_each=is_each)
    n_planned = sum(one.plan is not None for one in found)
    if found and (n_planned < len(found) if is_named else n_planned == 0):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def line_of(one: Prospect) -> str:
    """What can be said of one problem."""
    if one.plan is None:
        assert one.refusal is not None
        return f"{one.key}: {one.refusal.message}"
    if one.n_references:
        voters = "1 reference" if one.n_references == 1 else f"{one.n_references} references"
    else:
        voters = f"completions of {one.n_models} models of {one.n_families} families"
    who = f"{voters} can decide" if one.can_decide else f"{voters}: too few to decide"
    return f"{one.key}: inputs from {one.plan.source.name}; {who}"


def _print(session: Session, found: Sequence[Prospect], *, is_each: bool) -> None:
    if is_each:
        for one in found:
            typer.echo(one_line(line_of(one)))
    from rich.table import Table

    table = Table("platform", "problems", "from the statement", "by a generator", "can be decided", box=None)
    for platform, counts in _by_platform(found).items():
        share = f"{counts['n_grammar']} ({100 * counts['n_grammar'] / counts['n']:.1f} %)"
        table.add_row(platform, str(counts["n"]), share, str(counts["n_generator"]), str(counts["n_decided"]))
    if found:
        output_console().print(table)
    else:
        session.messages.print("no problem needs tests")
    if not is_each:
        refused = [one.refusal for one in found if one.refusal is not None]
        from eval.made_tests.prospects import kind_of

        for kind, n in Counter(kind_of(one.message) for one in refused).most_common():
            typer.echo(one_line(f"{n} without: {kind}"))


def _by_platform(found: Iterable[Prospect]) -> dict[str, dict[str, int]]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        counted = counts[one.key.partition(":")[0]]
        counted["n"] += 1
        counted["n_grammar"] += one.has_grammar
        counted["n_generator"] += one.plan is not None and not one.has_grammar
        counted["n_decided"] += one.plan is not None and one.can_decide
    return {platform: dict(counted) for platform, counted in sorted(counts.items())}


def _as_dict(one: Prospect) -> dict[str, Any]:
    return {
        "problem": one.key,
        "has_grammar": one.has_grammar,
        "inputs_from": None if one.plan is None else one.plan.source.name,
        "recipe": None if one.plan is None else one.plan.recipe,
        "reason": None if one.refusal is None else one.refusal.message,
        "hint": None if one.refusal is None else one.refusal.hint,
        "n_references": one.n_references,
        "n_models": one.n_models,
        "n_families": one.n_families,
        "can_decide": one.can_decide,
    }
