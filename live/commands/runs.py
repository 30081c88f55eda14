"""``live runs``: how each source does, and what became of its last attempts."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.ingest import chosen_sources
from live.errors import ExitCode, UsageError
from live.session import one_line, output_console, print_json, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from db.ingest_runs import IngestRunSummary, SourceHealth


def runs(
    context: typer.Context,
    source: Annotated[str | None, typer.Argument(help="Show the attempts of this source, with what failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="So many attempts, the newest first.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """For each source its last good night, its newest problem, and what failed since. Exit code 1 if one is failing."""
    from ingest.sources import source_names

    known = source_names()
    if source is not None and source not in known:
        raise UsageError(f"no source is called {source!r}", f"the sources are: {', '.join(known)}")
    session = session_of(context)
    now = utc_now()
    with session.open_store(reading=True) as store:
        if source is not None:
            _show_attempts(store, source, limit, as_json)
            return
        from db.ingest_runs import source_health, sources_tried

        with store.read() as reading:
            shown = sorted({*sources_tried(reading), *chosen_sources(session, None)})
            health = source_health(reading, shown, now)
    if as_json:
        print_json([_health_facts(one) for one in health])
    else:
        _print_health(health)
    if any(one.is_failing for one in health):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _print_health(health: list[SourceHealth]) -> None:
    from rich.table import Table

    table = Table("source", "last good night (UTC)", "newest problem (UTC)", "since then", box=None, pad_edge=False)
    for one in health:
        good = _at(one.last_good.started_at) if one.last_good else "never"
        table.add_row(one.source, good, _at(one.newest_released_at), _since(one))
    console = output_console()
    console.print(table)
    for one in health:
        for late in one.late_contests:
            have = "page never read" if late.n_listed is None else f"{late.n_stored} of {late.n_listed} problems"
            console.print(f"{one.source}: {late.native_id} ended on {_at(late.ends_at)}: {have}", highlight=False)


def _since(one: SourceHealth) -> str:
    from db.leases import is_gone

    said = []
    if one.running is not None:
        gone = is_gone(one.running.owner)
        since = _at(one.running.started_at)
        said.append(f"begun at {since}, and its process is gone" if gone else f"running since {since}")
    if one.wrong_since:
        last = one.wrong_since[0]
        failing = "FAILING, " if one.is_failing else ""
        said.append(f"{failing}{len(one.wrong_since)} not completed; the last: {_outcome(last)}")
    return "; ".join(said) or ("nothing failed" if one.last_good else "never asked: live ingest, or live schedule")


def _outcome(run: IngestRunSummary) -> str:
    if run.outcome is None:
        return "running"
    kind = f" ({run.error_kind})" if run.error_kind else ""
    return f"{run.outcome}{kind}" + (f": {run.error}" if run.error else "")


def _show_attempts(store: Store, source: str, limit: int, as_json: bool) -> None:
    from db.ingest_runs import list_failures, list_runs

    with store.read() as reading:
        attempts = [(run, list_failures(reading, run.run_id)) for run in list_runs(reading, source, limit)]
    if as_json:
        print_json([_run_facts(run) | {"failures": [asdict(one) for one in failed]} for run, failed in attempts])
        return
    for run, failed in attempts:
        planned = f", planned for {_at(run.planned_at)}" if run.planned_at else ""
        typer.echo(one_line(f"run {run.run_id}: started {_at(run.started_at)} UTC{planned}: {_outcome(run)}"))
        # What the source listed by category is told even where it is nothing: a category that fell silent is seen.
        told = {name: count for name, count in run.counts.items() if count or name.startswith("listed_")}
        counted = ", ".join(f"{name} {count}" for name, count in told.items())
        if counted:
            typer.echo(f"  {counted}")
        for note in run.notes:
            typer.echo(one_line(f"  note: {note}"))
        for one in failed:
            shown = f" (snapshot {one.snapshot_id})" if one.snapshot_id else ""
            typer.echo(one_line(f"  failed: {one.what}: {one.error}") + shown)


def _health_facts(one: SourceHealth) -> dict[str, Any]:
    return {
        "source": one.source,
        "failing": one.is_failing,
        "last_good": _run_facts(one.last_good) if one.last_good else None,
        "newest_released_at": one.newest_released_at.isoformat() if one.newest_released_at else None,
        "running": _run_facts(one.running) if one.running else None,
        "not_completed_since": [_run_facts(run) for run in one.wrong_since],
        "late_contests": [asdict(late) for late in one.late_contests],
    }


def _run_facts(run: IngestRunSummary) -> dict[str, Any]:
    return {
        "run": run.run_id,
        "source": run.source,
        "planned_at": run.planned_at.isoformat() if run.planned_at else None,
        "attempt": run.attempt,
        "started_at": run.started_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "outcome": str(run.outcome) if run.outcome else None,
        "error_kind": run.error_kind,
        "error": run.error,
        "counts": dict(run.counts),
        "notes": list(run.notes),
    }


def _at(instant: datetime | None) -> str:
    return "unknown" if instant is None else f"{instant:%Y-%m-%d %H:%M}"
