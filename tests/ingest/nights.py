"""What the tests of the schedule share: a clock to set, a body that does as told, and a scheduler in a process."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]

from db.engine import open_store
from db.ingest_runs import IngestOutcome
from ingest.planning import Due, Trigger
from ingest.runs import RunContext, RunReport, RunResult, guarded_run
from ingest.schedule import Scheduler

DONE = RunResult(IngestOutcome.COMPLETED)
TTL = timedelta(seconds=1)


class Clock:
    """A clock that stands still until it is set on."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def real_clock() -> datetime:
    return datetime.now(UTC)


def complete(_context: RunContext) -> RunResult:
    """A body with nothing to do."""
    return DONE


def every_two_seconds() -> Trigger:
    trigger: Trigger = CronTrigger(second="*/2", timezone=UTC)
    return trigger


def serve_sources(url: str, log: str, sources: list[str], work_s: float) -> None:
    """A scheduler in a process of its own. Each run writes a line when it begins and one when it ends."""
    stop = threading.Event()

    def write(what: str, context: RunContext) -> None:
        assert context.planned_at is not None
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{what} {context.source} {context.planned_at:%H:%M:%S} {os.getpid()} {time.time()}\n")

    def body(context: RunContext) -> RunResult:
        write("begins", context)
        context.stop.wait(work_s)
        context.check()
        write("ends", context)
        return DONE

    with open_store(url) as store:

        def run(source: str, due: Due) -> RunReport:
            return guarded_run(store, source, due, body, clock=real_clock, stop=stop, ttl=TTL)

        triggers = {source: every_two_seconds() for source in sources}
        scheduler = Scheduler(store, triggers, run, clock=real_clock, stop=stop, watch_s=0.2)
        still_at_work = scheduler.serve(grace_s=10)
    raise SystemExit(3 if still_at_work else 0)
