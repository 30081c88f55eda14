"""``live edition``: freeze a table with everything that it rests on, and say later what moved, and whether it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.evaluate import Across
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.windows import Difficulties, IncludeFlagged, Margin, Platforms, read_since
from live.errors import ExitCode, UsageError, explain
from live.session import Session, print_json, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from eval.editions.document import Edition, EditionSettings, FrozenEdition
    from eval.editions.freezing import Chosen

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
    from eval.editions.freezing import NothingToFreeze

    if not _NAME.fullmatch(name):
        raise UsageError(
            f'an edition cannot be called "{name}"', "letters, digits, dots and hyphens, at most 60: 2025-05"
        )
    settings = _settings(margin, platform, difficulty, include_flagged, across, saturated, fresh, seed)
    session = session_of(context)
    with session.open_store(must_exist=True) as store:
        before = _newest(store)
        gone = _withdrawn(withdrawn or (), readmitted or (), before, session)
        wanted = frozenset(session.canonical_names(names, store)) if names else None
        chosen = _chosen(settings, wanted, gone, note, as_of)
        try:
            edition = _frozen(session, store, chosen)
        except NothingToFreeze as error:
            for line in explain(error):
                typer.echo(line, err=True)
            raise typer.Exit(ExitCode.NOTHING_ELIGIBLE) from error
        frozen = _save(store, name, edition, before)
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


def _chosen(
    settings: EditionSettings, models: frozenset[str] | None, withdrawn: dict[str, str], note: str, as_of: str | None
) -> Chosen:
    from eval.editions.freezing import Chosen

    return Chosen(settings, models, withdrawn, note, read_since(as_of, "--as-of"))


def _withdrawn(
    given: Iterable[str], readmitted: Iterable[str], before: FrozenEdition | None, session: Session
) -> dict[str, str]:
    """Who is left out, with the reasons: those of the edition before that are not taken back in, and those given."""
    back = {session.registry.canonical(model).casefold() for model in readmitted}
    earlier = {} if before is None else dict(before.edition.withdrawn)
    found = {model: reason for model, reason in earlier.items() if model.casefold() not in back}
    for text in given:
        model, equals, reason = (part.strip() for part in text.partition("="))
        if not (model and equals and reason):
            raise UsageError(f'--withdrawn: cannot read "{text}"', 'write it as "MODEL=asked by its provider"')
        found[session.registry.canonical(model)] = reason
    return found


def _frozen(session: Session, store: Store, chosen: Chosen) -> Edition:
    from importlib.metadata import version

    from eval.editions.freezing import freeze as freeze_store

    with session.messages.status("reading the store and computing the tables"):
        return freeze_store(store, session.registry, chosen, software=f"livecut {version('livecut')}")


def _save(store: Store, name: str, edition: Edition, before: FrozenEdition | None) -> FrozenEdition:
    """Keep the edition. Raises ``UsageError`` where a model is gone without a word, ``EditionExists``."""
    from db.editions import load_edition, save_edition
    from eval.editions.difference import difference
    from eval.editions.document import FrozenEdition, digest_of, to_bytes

    body = to_bytes(edition)
    now = utc_now().replace(microsecond=0)
    frozen = FrozenEdition(name, now, digest_of(body), edition)
    if before is not None:
        silent = difference(before, frozen).silent_removals
        if silent:
            raise UsageError(
                f'{", ".join(silent)}: in the edition "{before.name}", and in this one without a word no more',
                f'say why: --withdrawn "{silent[0]}=REASON"',
            )
    with store.write() as writing:
        save_edition(writing, name, frozen.digest, body, now=now)
        row, _ = load_edition(writing, name)
    return FrozenEdition(row.name, row.frozen_at, row.digest, edition)


def _newest(store: Store) -> FrozenEdition | None:
    from db.editions import list_editions

    with store.read() as reading:
        rows = list_editions(reading)
    return load_frozen(store, rows[-1].name) if rows else None


def load_frozen(store: Store, name: str) -> FrozenEdition:
    """The edition of that name. Raises ``EditionUnknown``, ``EditionDamaged``, ``EditionUnreadable``."""
    from db.editions import load_edition
    from eval.editions.document import FrozenEdition, from_bytes

    with store.read() as reading:
        row, body = load_edition(reading, name)
    return FrozenEdition(row.name, row.frozen_at, row.digest, from_bytes(body))


def _say(session: Session, frozen: FrozenEdition, before: FrozenEdition | None, as_json: bool) -> None:
    edition = frozen.edition
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
    edition = frozen.edition
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
        edition = one.edition
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

    form = chosen_form(as_json, as_csv, as_markdown)
    session = session_of(context)
    with session.open_store(reading=True) as store:
        before, after = load_frozen(store, first), load_frozen(store, second)
    show(difference_sheet(difference(before, after)), form)


@app.command()
def verify(
    context: typer.Context,
    name: Name,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Compute an edition again, from itself and from what the store holds of its problems and runs, and compare.

    What came into the store later changes nothing. Exit code 1 where something comes out otherwise.
    """
    from eval.editions.difference_sheet import difference_sheet
    from eval.editions.verifying import verify as verify_edition

    form = chosen_form(as_json, as_csv, as_markdown)
    session = session_of(context)
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
    for part in found.other_numbers:
        typer.echo(
            f"this version computes {part.replace('_', ' ')} otherwise than {frozen.edition.software} did", err=True
        )
    if found.moved is not None:
        typer.echo(f"the store says otherwise than the edition {name}:", err=True)
        show(difference_sheet(found.moved), form)
    raise typer.Exit(ExitCode.SOMETHING_FAILED)
