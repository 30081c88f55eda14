"""``live edition``: freeze a table with everything that it rests on, and say later what moved, and whether it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.evaluate import Across, TableKind, print_report
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.windows import Difficulties, IncludeFlagged, Margin, Platforms, read_since, read_until
from live.errors import ExitCode, UsageError, explain
from live.session import Session, print_json, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from eval.editions.document import EditionSettings, FrozenEdition

app = typer.Typer(help="Tables frozen with all that they rest on, under one digest.", no_args_is_help=True)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The edition's name.")]


@app.command()
def freeze(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it: letters, digits, dots, hyphens.")],
    names: Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")] = None,
    margin: Margin = "0d",
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    across: Across = None,
    saturated: Annotated[
        str | None, typer.Option(metavar="SET", help='For the picture of saturated against fresh: "until=2023-06".')
    ] = None,
    fresh: Annotated[str | None, typer.Option(metavar="SET", help='Its other side: "since=2024-08".')] = None,
    withdrawn: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL=REASON", help="Leave this model out, and say why (repeatable)."),
    ] = None,
    readmitted: Annotated[
        list[str] | None,
        typer.Option("--readmit", metavar="MODEL", help="Take back in what the edition before had withdrawn."),
    ] = None,
    note: Annotated[str, typer.Option(help="A line that is published with it.")] = "",
    as_of: Annotated[
        str | None, typer.Option(metavar="DAY", help="When the data stood so; by default the last change of the store.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Freeze what the store holds now: problems, tests, models, cut-offs, settings and numbers, under one digest.

    Nothing is judged. An edition never changes; the same store gives the same digest. A model that the newest edition
    had and this one has not needs a reason (--withdrawn).
    """
    from eval.editions.freezing import Chosen, NothingToFreeze
    from eval.editions.stored import frozen_now, keep, newest_first

    if not _NAME.fullmatch(name):
        raise UsageError(
            f'an edition cannot be called "{name}"', "letters, digits, dots and hyphens, at most 60: 2025-05"
        )
    settings = _settings(margin, platform, difficulty, include_flagged, across, saturated, fresh, seed)
    session = session_of(context)
    with session.open_store(must_exist=True) as store:
        before = next(newest_first(store), None)
        gone = _withdrawn(withdrawn or (), readmitted or (), before, session, store)
        wanted = frozenset(session.canonical_names(names, store)) if names else None
        chosen = Chosen(settings, wanted, gone, note, _as_of(as_of, store))
        try:
            with session.messages.status("reading the store and computing the tables"):
                frozen = frozen_now(store, session.registry, chosen, name, now=utc_now())
        except NothingToFreeze as error:
            for line in explain(error):
                typer.echo(line, err=True)
            raise typer.Exit(ExitCode.NOTHING_ELIGIBLE) from error
        _check_models(frozen, before, readmitted or ())
        frozen = keep(store, frozen)
    _say(session, frozen, before, as_json)


def _settings(
    margin: str,
    platforms: list[str] | None,
    difficulties: list[str] | None,
    include_flagged: bool,
    across: list[str] | None,
    saturated: str | None,
    fresh: str | None,
    seed: int,
) -> EditionSettings:
    from eval.editions.document import EditionSettings
    from eval.problem_sets import read_problem_set
    from eval.window import parse_margin

    if (saturated is None) != (fresh is None):
        raise UsageError("--saturated and --fresh go together", "name both sets, or neither")
    for text in (saturated, fresh):
        if text is not None:
            read_problem_set(text)
    return EditionSettings(
        margin_hours=parse_margin(margin).total_seconds() / 3600,
        platforms=tuple(platforms or ()),
        difficulties=tuple(difficulties or ()),
        include_flagged=include_flagged,
        across=tuple(across or ()),
        seed=seed,
        saturated=saturated,
        fresh=fresh,
    )


def _as_of(text: str | None, store: Store) -> datetime | None:
    """The end of the day that ``--as-of`` names. Raises ``UsageError`` where the data did not stand so at that time."""
    from db.editions import last_change

    first = read_since(text, "--as-of")
    after = read_until(text)
    if first is None or after is None:
        return None
    now = utc_now().replace(microsecond=0)
    at = min(after if after == first else after - timedelta(seconds=1), now)
    with store.read() as reading:
        changed = last_change(reading)
    if first > now:
        raise UsageError(f"--as-of: {text} is still to come", "give a day that has begun, or leave it out")
    if changed is not None and at < changed.replace(microsecond=0):
        raise UsageError(
            f"--as-of: the store did not stand so on {text}: it last changed at {changed:%Y-%m-%dT%H:%M:%SZ}",
            "give that day or a later one, or leave it out",
        )
    return at


def _withdrawn(
    given: Iterable[str], readmitted: Iterable[str], before: FrozenEdition | None, session: Session, store: Store
) -> dict[str, str]:
    """Who is left out, with the reasons: those of the edition before that are not taken back in, and those given."""
    told = dict(_read_withdrawn(text) for text in given)
    _check_known([*told, *readmitted], session, store)
    back = {name.casefold() for model in readmitted for name in (model, session.registry.canonical(model))}
    earlier = {} if before is None else dict(before.edition.withdrawn)
    found = {model: reason for model, reason in earlier.items() if model.casefold() not in back}
    return found | {session.registry.canonical(model): reason for model, reason in told.items()}


def _read_withdrawn(text: str) -> tuple[str, str]:
    model, equals, reason = (part.strip() for part in text.partition("="))
    if not (model and equals and reason):
        raise UsageError(f'--withdrawn: cannot read "{text}"', 'write it as "MODEL=asked by its provider"')
    return model, reason


def _check_known(names: Iterable[str], session: Session, store: Store) -> None:
    """Raises ``UsageError`` for a name that the registry does not know, nor the store, nor any edition in it."""
    from db.completions import list_runs
    from db.tallies import list_tally_models
    from eval.editions.removals import names_in
    from eval.editions.stored import newest_first

    with store.read() as reading:
        models = {*list_tally_models(reading), *(run.model for run in list_runs(reading))}
    stored = {model.casefold() for model in models}
    for name in names:
        key = name.casefold()
        if key in stored or session.registry.resolve(name) is not None:
            continue
        if not any(key in names_in(one.edition) for one in newest_first(store)):
            hint = "neither the registry, nor the store, nor an edition in it has it: see live models list"
            raise UsageError(session.registry.unknown_model(name), hint)


def _check_models(frozen: FrozenEdition, before: FrozenEdition | None, readmitted: Iterable[str]) -> None:
    """Raises ``UsageError`` or ``SilentRemoval`` where the table has not the models that it is said to have."""
    from eval.editions.parts import shown_part
    from eval.editions.removals import check_removals, is_among_runs

    for model in readmitted:
        if not is_among_runs(model, frozen.edition):
            raise UsageError(
                f"--readmit: there is no run of {model} in this edition",
                "name it among the models, and bring its results in first: live import results, live judge",
            )
    shown = {run.name.casefold(): run for run in shown_part(frozen.edition).runs}
    for name in frozen.edition.withdrawn:
        if name.casefold() in shown:
            raise UsageError(
                f"--withdrawn: {name} is one run, which is in this edition",
                f"withdraw its model: {shown[name.casefold()].model}",
            )
    if before is not None:
        check_removals(before, frozen)


def _say(session: Session, frozen: FrozenEdition, before: FrozenEdition | None, as_json: bool) -> None:
    from eval.editions.parts import shown_part

    edition = shown_part(frozen.edition)
    if as_json:
        print_json(_as_dict(frozen))
        return
    private = f" ({edition.n_private} of them private)" if edition.n_private else ""
    typer.echo(
        f"{frozen.name}: {len(edition.runs)} runs, {len(edition.problems)} problems{private}, digest {frozen.digest}"
    )
    waiting = sum(one.n_waiting for run in edition.runs for one in run.rare)
    if waiting:
        session.messages.print(f"{waiting} samples have no verdict and are no part of it: live judge")
    if before is not None and before.name != frozen.name:
        if before.digest == frozen.digest:
            session.messages.print(f"the same as {before.name}: nothing has moved", markup=False)
        else:
            session.messages.print(f"what moved: live edition diff {before.name} {frozen.name}", markup=False)
    session.messages.print(f"to put it on pages: live publish DIR --edition {frozen.name}", markup=False)


def _as_dict(frozen: FrozenEdition) -> dict[str, object]:
    from eval.editions.parts import shown_part

    edition = shown_part(frozen.edition)
    return {
        "name": frozen.name,
        "digest": frozen.digest,
        "frozen_at": frozen.frozen_at,
        "as_of": edition.as_of,
        "n_problems": len(edition.problems),
        "n_private": edition.n_private,
        "n_runs": len(edition.runs),
        "withdrawn": dict(edition.withdrawn),
        "note": edition.note,
        "software": edition.software,
    }


@app.command("list")
def list_all(context: typer.Context, as_json: AsJson = False) -> None:
    """The editions of the store, oldest first."""
    from db.editions import list_editions
    from eval.editions.parts import shown_part
    from eval.editions.stored import load_frozen

    session = session_of(context)
    with session.open_store(reading=True) as store:
        with store.read() as reading:
            rows = list_editions(reading)
        found = [load_frozen(store, row.name) for row in rows]
    if as_json:
        print_json([_as_dict(one) for one in found])
        return
    if not found:
        session.messages.print("no edition yet: live edition freeze NAME makes one")
    for one in found:
        edition = shown_part(one.edition)
        typer.echo(
            f"{one.name}  frozen {one.frozen_at:%Y-%m-%dT%H:%MZ}  as of {edition.as_of:%Y-%m-%dT%H:%MZ}  "
            f"{len(edition.runs)} runs  {len(edition.problems)} problems  {one.digest[:12]}"
        )


@app.command()
def diff(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="A", help="The earlier edition.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The later one.")],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """What moved between two editions, and why: problems, tests, cut-offs, results, and what became of each score."""
    from eval.editions.difference import difference
    from eval.editions.difference_sheet import difference_sheet
    from eval.editions.stored import load_frozen

    form = chosen_form(as_json, as_csv, as_markdown)
    session = session_of(context)
    with session.open_store(reading=True) as store:
        before, after = load_frozen(store, first), load_frozen(store, second)
    show(difference_sheet(difference(before, after)), form)


@app.command("show")
def show_edition(
    context: typer.Context,
    name: Name,
    table: Annotated[TableKind, typer.Option(help="Which of its tables: see live eval --help.")] = TableKind.OWN,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Print a table of an edition as it was frozen; nothing is computed."""
    from eval.editions.stored import load_frozen

    form = chosen_form(as_json, as_csv, as_markdown)
    with session_of(context).open_store(reading=True) as store:
        numbers = load_frozen(store, name).edition.numbers
    if table is TableKind.OWN:
        print_report(numbers.own, form)
    else:
        show(numbers.common if table is TableKind.COMMON else numbers.equated, form)


@app.command()
def verify(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="The edition's name, or an edition.json.gz that was published.")
    ],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Compute an edition again, from itself and from what the store holds of its problems and runs, and compare.

    What came into the store later changes nothing. A file is computed from itself alone. Exit code 1 where something
    comes out otherwise.
    """
    from eval.editions.difference_sheet import difference_sheet
    from eval.editions.stored import load_frozen
    from eval.editions.verifying import verify as verify_edition

    form = chosen_form(as_json, as_csv, as_markdown)
    session = session_of(context)
    if Path(name).is_file():
        _verify_file(session, Path(name), form)
        return
    with session.open_store(reading=True) as store:
        frozen = load_frozen(store, name)
        with session.messages.status("computing it again"):
            found = verify_edition(frozen, store)
    if found.holds:
        if form == "json":
            print_json({"name": name, "digest": frozen.digest, "holds": True, "other_numbers": []})
        else:
            typer.echo(f"{name} holds: its numbers come out of itself and of the store, digest {frozen.digest}")
        return
    _say_other_numbers(found.other_numbers, frozen.edition.software)
    if found.nothing_left:
        typer.echo(f"the store has no problem, or no result, of the edition {name}", err=True)
    if found.moved is not None:
        typer.echo(f"the store says otherwise than the edition {name}:", err=True)
        show(difference_sheet(found.moved), form)
    raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _verify_file(session: Session, file: Path, form: str) -> None:
    """Compute the numbers of a published edition from what is in it."""
    from eval.editions.document import digest_of, from_bytes
    from eval.editions.packed import unpack
    from eval.editions.verifying import AMONG_ALL, other_numbers

    body = unpack(file.read_bytes())
    edition = from_bytes(body)
    with session.messages.status("computing it again"):
        other = other_numbers(edition)
    is_part = edition.private_count > 0
    if is_part:
        other = tuple(part for part in other if part != "private")
        session.messages.print(
            "its private problems are left out, so what is said of them together cannot be computed again; all other "
            "numbers are of public problems"
        )
    if edition.unshown_count:
        parts = ", ".join(sorted(AMONG_ALL))
        session.messages.print(
            "runs or problems that it does not show are left out, and what rests on them, too, cannot be computed "
            f"again: {parts}, broken months"
        )
    digest = digest_of(body)
    if form == "json":
        print_json(
            {
                "file": str(file),
                "digest": digest,
                "holds": not other,
                "other_numbers": other,
                "private_left_out": is_part,
            }
        )
    elif not other:
        typer.echo(f"{file} holds: its numbers come out of itself, SHA-256 (unpacked) {digest}")
    _say_other_numbers(other, edition.software)
    if other:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _say_other_numbers(parts: Iterable[str], software: str) -> None:
    for part in parts:
        typer.echo(f"this version computes {part.replace('_', ' ')} otherwise than {software} did", err=True)
