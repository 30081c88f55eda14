"""``live sources``: where problems come from, whether their pages are what we expect, and pages saved by hand."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.errors import ExitCode, UsageError
from live.session import Session, one_line, output_console, print_json, session_of, utc_now

if TYPE_CHECKING:
    from ingest.sources import Source
    from live.config import IngestConfig

app = typer.Typer(help="Sources of problems.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_sources(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False
) -> None:
    """All sources: whether they run, when, and which credentials of yours they would use."""
    from ingest.nightly import runnable_sources
    from ingest.sources import source_names
    from live.commands.ingest import chosen_sources

    config = session_of(context).config.ingest
    chosen = chosen_sources(session_of(context), None)
    can_run = runnable_sources(config.of_source)
    rows = [_facts(name, config, runs=name in chosen, can_run=name in can_run) for name in source_names()]
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    from rich.table import Table

    table = Table("source", "runs (UTC)", "credentials", "what it is", box=None, pad_edge=False)
    for row in rows:
        given = [f"{name} ({'set' if is_set else 'not set'})" for name, is_set in row.credentials.items()]
        lacking = "no" if row.can_run else "no: needs settings"
        table.add_row(row.source, row.schedule or lacking, "\n".join(given) or "–", row.description)
    output_console().print(table)


@dataclass(frozen=True)
class _Facts:
    source: str
    description: str
    can_run: bool
    schedule: str | None
    credentials: dict[str, bool]


def _facts(name: str, config: IngestConfig, *, runs: bool, can_run: bool) -> _Facts:
    source, broken = _load(name)
    own = config.of_source.get(name, {}).get("schedule")
    secrets = sorted({host.secret.variable for host in source.hosts if host.secret}) if source else []
    return _Facts(
        source=name,
        description=source.description if source else broken,
        can_run=can_run,
        schedule=str(own or config.schedule) if runs and can_run else None,
        credentials={variable: bool(os.environ.get(variable)) for variable in secrets},
    )


def _load(name: str) -> tuple[Source | None, str]:
    from ingest.errors import BrokenSource
    from ingest.sources import load_source

    try:
        return load_source(name), ""
    except BrokenSource as error:
        return None, error.message


@app.command("check")
def check_sources(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[SOURCE]...", help="Only these sources.")] = None,
) -> None:
    """Ask each endpoint once, live, and say what is missing in its answer. Exit code 1 when something is."""
    from ingest.checking import check_endpoints
    from live.commands.ingest import chosen_sources, make_ingestion

    session = session_of(context)
    n_wrong = 0
    with session.open_store() as store:
        for name in chosen_sources(session, names):
            for result in check_endpoints(make_ingestion(session, store), name):
                n_wrong += result.error is not None
                said = "ok" if result.error is None else f"WRONG: {result.error}"
                typer.echo(f"{name} {result.endpoint}: {said}")
                if result.hint:
                    typer.echo(f"  what to do: {result.hint}")
    if n_wrong:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


@app.command("snapshots")
def list_snapshots(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="Only those of this source.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """The responses that the store has, in the order in which they came."""
    from db.snapshots import list_snapshots as load

    session = session_of(context)
    with session.open_store(reading=True) as store, store.read() as reading:
        found = load(reading, name)
    if as_json:
        print_json([asdict(one) for one in found])
        return
    if not found:
        session.messages.print(f"there is no snapshot{f' of {name}' if name else ''} in the store", markup=False)
    for one in found:
        words = (
            f"{one.id} {one.fetched_at:%Y-%m-%d %H:%M} {one.source} {one.origin} {one.status} {one.method} {one.url}"
        )
        typer.echo(one_line(f"{words} ({one.size} bytes)"))


@app.command("snapshot")
def show_snapshot(
    context: typer.Context,
    snapshot_id: Annotated[int, typer.Argument(metavar="ID", min=1, max=2**63 - 1, help="As a failure names it.")],
) -> None:
    """One response byte for byte on stdout: what a failure was about, and a page for a test."""
    from db.errors import UnknownRow
    from db.snapshots import get_snapshot

    with session_of(context).open_store(reading=True) as store, store.read() as reading:
        try:
            body = get_snapshot(reading, snapshot_id).body
        except UnknownRow as error:
            raise UsageError(str(error), "live sources snapshots lists all") from error
    sys.stdout.buffer.write(body)


@app.command("record")
def record(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SOURCE", help="The source that reads the page.")],
    file: Annotated[Path, typer.Argument(help="The page: its raw source, or as a browser saved it.")],
    url: Annotated[str, typer.Option(help="The page's address.")],
) -> None:
    """Hand in a page that you saved. It is used for three days where the site refuses, and by live ingest --offline."""
    from ingest.errors import PageChanged
    from ingest.nightly import check_names
    from ingest.web.fetch import Limits, record_page

    session: Session = session_of(context)
    check_names((name,))
    try:
        if file.exists() and (not file.is_file() or file.stat().st_size > Limits().max_bytes):
            most = f"{Limits().max_bytes // 2**20} MiB"
            raise UsageError(f"{file} is no file of at most {most}", "give the page as a browser saved it")
        body = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}", "check the path") from error
    _require_host(name, url)
    with session.open_store() as store:
        try:
            snapshot = record_page(store, name, url, body, now=utc_now())
        except PageChanged as error:
            raise UsageError(str(error), error.hint) from error
    also = "that address alone" if "?" in snapshot.url else "it, and for it with a language (?lang=, ?locale=)"
    session.messages.print(
        f"kept as snapshot {snapshot.id}: {len(body)} bytes for {snapshot.url}", markup=False, soft_wrap=True
    )
    session.messages.print(f"used where {name} asks for {also}", markup=False, soft_wrap=True)


def _require_host(name: str, url: str) -> None:
    """``UsageError`` when an address is on no host of the source called `name`: nobody would ever ask for it."""
    from ingest.errors import BrokenSource
    from ingest.sources import load_source
    from ingest.web.addresses import normal_url, place_of

    try:
        hosts = sorted(host.name.lower() for host in load_source(name).hosts)
        place = place_of(normal_url(url))
    except BrokenSource as error:
        raise UsageError(error.message, error.hint) from error
    except ValueError as error:
        raise UsageError(str(error), "give the address with https://") from error
    if place not in hosts:
        named = f"the hosts of {name} are {', '.join(hosts)}" if hosts else f"{name} asks no host"
        raise UsageError(f"{place} is no host that {name} names", named)
