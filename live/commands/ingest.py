"""``live ingest`` and ``live schedule``: collect problems now, or every night."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.windows import read_since, read_until
from live.errors import ExitCode, UsageError
from live.session import Session, one_line, print_json, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from ingest.nightly import Ingestion, IngestSettings, Span
    from ingest.planning import Due, Trigger
    from ingest.runs import RunReport

_SHOWN = 20


def ingest(
    context: typer.Context,
    sources: Annotated[list[str] | None, typer.Argument(metavar="[SOURCE]...", help="Only these sources.")] = None,
    since: Annotated[str | None, typer.Option(help="Contests that start from this day or instant on (UTC).")] = None,
    until: Annotated[str | None, typer.Option(help="Up to this day, itself included, or up to an instant.")] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Read the snapshots that the store has; ask nobody.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be read, and keep nothing else.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Collect the contests that ended, with their problems, from all sources at once or from those named.

    Without --since it begins where the last completed run of each source left off. Exit code 1 when something failed.
    """
    from ingest.nightly import require_contact

    session = session_of(context)
    names = chosen_sources(session, sources)
    span = _span(since, until)
    if not offline:
        require_contact(ingest_settings(session), names)
    with session.open_store() as store:
        ingestion = make_ingestion(session, store)
        if dry_run:
            _print_plan(session, ingestion, names, span, offline, as_json)
            return
        reports = _run_all(session, ingestion, names, span, offline)
        if as_json:
            print_json([report_facts(report) for report in reports])
        were_compared = find_duplicates(session, store)
    raise_if_failed(reports)
    if not were_compared:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def schedule(
    context: typer.Context,
    cron: Annotated[
        str | None, typer.Option(help='When to run, in UTC, as cron writes it. Default: live.toml, else "17 3 * * *".')
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Run the sources that are due, then end: for cron and systemd.")
    ] = False,
) -> None:
    """Run the sources every night, and catch up what was missed. Ctrl-C ends it when the running ones have stopped."""
    import logging

    from ingest.nightly import require_contact
    from ingest.schedule import Scheduler, run_due

    session = session_of(context)
    names = chosen_sources(session, None)
    triggers = _triggers(session, names, cron)
    if not session.quiet:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
        logging.getLogger("apscheduler").setLevel(logging.WARNING)
        logging.getLogger("httpx").setLevel(logging.WARNING)
        logging.getLogger("alembic").setLevel(logging.WARNING)
    stop = threading.Event()
    require_contact(ingest_settings(session), names)
    with session.open_store() as store:
        ingestion = make_ingestion(session, store)

        def run(source: str, due: Due) -> RunReport:
            report = ingestion.run(source, due=due, stop=stop)
            print_report(session, report)
            if not once:
                find_duplicates(session, store, stop)
            return report

        if once:
            looked = run_due(store, triggers, run, now=utc_now(), stop=stop)
            for source in looked.not_due:
                session.messages.print(f"{source}: not due")
            were_compared = find_duplicates(session, store)
            raise_if_failed(looked.reports)
            if not were_compared:
                raise typer.Exit(ExitCode.SOMETHING_FAILED)
            return
        session.messages.print(f"{', '.join(names)}: the schedule runs; Ctrl-C ends it")
        left = Scheduler(store, triggers, run, clock=utc_now, stop=stop).serve()
        if left:
            session.messages.print(f"still at work and left behind: {', '.join(left)}")


def make_ingestion(session: Session, store: Store) -> Ingestion:
    """What runs sources with the user's settings."""
    from ingest.nightly import Ingestion
    from ingest.web.fetch import SystemClock

    return Ingestion(store, ingest_settings(session), SystemClock())


def ingest_settings(session: Session) -> IngestSettings:
    """How sources are run, by the user's settings. Raises ``UsageError`` for a mirror that is no address."""
    from ingest.nightly import IngestSettings
    from ingest.web.addresses import Mirrors
    from ingest.web.fetch import FetchSettings

    config = session.config.ingest
    try:
        Mirrors(config.mirrors)
    except ValueError as error:
        raise UsageError(f"[ingest.mirrors]: {error}", "write addresses with http:// or https://") from error
    fetch = FetchSettings(contact=config.contact or "", mirrors=config.mirrors, intervals_s=config.intervals_s)
    recheck = timedelta(days=config.recheck_days)
    return IngestSettings(fetch, os.environ, config.of_source, recheck)


def chosen_sources(session: Session, named: Sequence[str] | None) -> tuple[str, ...]:
    """The sources that are named, else those of the configuration, else all that can run."""
    from ingest.nightly import check_names, missing_settings, runnable_sources

    config = session.config.ingest
    check_names(tuple(config.of_source))  # a table for a source that is not there is a misspelt one
    for name, settings in config.of_source.items():
        _check_settings(name, settings)
    chosen = check_names(tuple(named)) if named else config.sources
    if chosen is None:
        return runnable_sources(config.of_source)
    if not chosen:
        raise UsageError("live.toml names no source: [ingest] sources is empty", "name some, or leave the line out")
    for name in check_names(chosen):
        if missing := missing_settings(name, config.of_source.get(name, {})):
            hint = f"write {missing[0]} below [sources.{name}] in live.toml"
            raise UsageError(f"the source {name} needs the setting {missing[0]}", hint)
    return check_names(chosen)


def _check_settings(name: str, settings: Mapping[str, Any]) -> None:
    from ingest.nightly import known_settings

    known = {"schedule", *known_settings(name)}
    for key in settings:
        if key not in known:
            raise UsageError(f"[sources.{name}] has an unknown key {key!r}", f"known keys: {', '.join(sorted(known))}")
    if not isinstance(settings.get("schedule", ""), str):
        raise UsageError(f"[sources.{name}]: schedule must be a text", 'write it as cron does: "17 3 * * *"')


def _span(since: str | None, until: str | None) -> Span:
    from ingest.nightly import Span

    span = Span(read_since(since), read_until(until))
    if span.since is not None and span.until is not None and span.since >= span.until:
        raise UsageError("--since is not before --until", "give an earlier --since")
    return span


def _triggers(session: Session, names: Sequence[str], cron: str | None) -> dict[str, Trigger]:
    """When each source runs: its own schedule in live.toml, else the one given, else the common one of live.toml."""
    from ingest.planning import CronUnreadable, parse_cron

    config = session.config.ingest
    triggers = {}
    for name in names:
        own = config.of_source.get(name, {}).get("schedule")
        place = f"[sources.{name}]" if own else "--cron" if cron is not None else "[ingest]"
        try:
            triggers[name] = parse_cron(str(own or (config.schedule if cron is None else cron)))
        except CronUnreadable as error:
            raise UsageError(f"{place}: {error.message}", error.hint) from error
    return triggers


def _run_all(
    session: Session, ingestion: Ingestion, names: Sequence[str], span: Span, offline: bool
) -> list[RunReport]:
    """Run the sources, each in a thread of its own: a slow one delays no other. Ctrl-C tells them to stop and waits."""
    from ingest.schedule import interrupted_by_sigterm

    stop = threading.Event()
    reports: dict[str, RunReport] = {}
    with ThreadPoolExecutor(max(1, len(names)), thread_name_prefix="ingest") as pool, interrupted_by_sigterm():
        running = {pool.submit(ingestion.run, name, span=span, offline=offline, stop=stop): name for name in names}
        try:
            for future in as_completed(running):
                reports[running[future]] = future.result()
                print_report(session, reports[running[future]])
        except KeyboardInterrupt:
            stop.set()
            session.messages.print("stopping; what was read is kept")
            raise
    return [reports[name] for name in names]


def find_duplicates(session: Session, store: Store, stop: threading.Event | None = None) -> bool:
    """Compare new statements with all others, unless another process is at that, and say what was found.

    False when it failed, which is said in one line: whatever that was, the reports of the runs must not be lost.
    """
    from ingest.duplicates import update_in_turn

    try:
        report = update_in_turn(store, clock=utc_now, stop=stop)
    except Exception as error:
        told = " ".join(str(error).split()) or type(error).__name__
        typer.echo(f"failed: duplicates: {told}", err=True)
        return False
    if report is None:
        session.messages.print("duplicates: left to the process that compares statements now")
        return True
    for line in report.lines:
        session.messages.print(line, markup=False)
    return True


def print_report(session: Session, report: RunReport) -> None:
    """One run as a person reads it."""
    result = report.result
    counts = {name: count for name, count in result.counts.items() if count and not name.startswith("listed_")}
    said = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    session.messages.print(f"{report.source}: {result.outcome}" + (f": {said}" if said else ""), markup=False)
    for note in result.notes[:_SHOWN]:
        session.messages.print(f"  {one_line(note)}", markup=False)
    for failure in result.failures[:_SHOWN]:
        typer.echo(one_line(f"failed: {report.source}: {failure.what}: {failure.error}"), err=True)
    if result.error is not None and not result.failures:
        typer.echo(one_line(f"failed: {report.source}: {result.error}"), err=True)
    for hint in dict.fromkeys(hint for hint in (result.hint, *(one.hint for one in result.failures[:_SHOWN])) if hint):
        typer.echo(f"  what to do: {hint}", err=True)
    for kind, lines in (("notes", result.notes), ("failures", result.failures)):
        if len(lines) > _SHOWN:
            session.messages.print(f"  … and {len(lines) - _SHOWN} more {kind}: live runs {report.source}")


def report_facts(report: RunReport) -> dict[str, Any]:
    """One run as JSON values."""
    planned = report.planned_at.isoformat() if report.planned_at else None
    return {"source": report.source, "run": report.run_id, "planned_at": planned, **asdict(report.result)}


def raise_if_failed(reports: Sequence[RunReport]) -> None:
    """End with exit code 1 when a run was not completed and not left to somebody else."""
    if any(report.result.outcome in {"failed", "partial"} for report in reports):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _print_plan(
    session: Session, ingestion: Ingestion, names: Sequence[str], span: Span, offline: bool, as_json: bool
) -> None:
    from ingest.errors import SourceError

    found: list[dict[str, Any]] = []
    failed = False
    for name in names:
        try:
            planned = ingestion.plan(name, span, offline=offline)
        except SourceError as error:
            failed = True
            typer.echo(one_line(f"failed: {name}: {error.message}"), err=True)
            typer.echo(f"  what to do: {error.hint}", err=True)
            continue
        session.messages.print(f"{name}: {len(planned.listing.contests)} listed, {len(planned.contests)} to read")
        for contest in planned.contests:
            record = contest.record
            starts_at = record.starts_at.isoformat() if record.starts_at else None
            found.append({"source": name, "contest": record.native_id, "title": record.title, "starts_at": starts_at})
    if as_json:
        print_json(found)
    else:
        for facts in found:
            words = (facts["source"], facts["contest"], facts["starts_at"] or "undated", facts["title"] or "")
            typer.echo(one_line(" ".join(words)))
    if failed:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)
