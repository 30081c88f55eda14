"""Where the window of a run begins, and what a source is told."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from db.contests import mark_collected, save_contest
from db.engine import Store, open_store
from db.ingest_runs import IngestOutcome, finish_run, start_run
from ingest.nightly import FIRST_LOOK, LONGEST_LOOK, Ingestion, IngestSettings, Span, default_since
from ingest.sources import Listing, Wanted
from ingest.web.fetch import FetchSettings
from tests.ingest.judge_source import NAME, NOW, World, contest
from tests.ingest.server import SkippingClock

DAY = timedelta(days=1)
RECHECK = timedelta(days=14)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def ran(
    store: Store, at: datetime, outcome: IngestOutcome = IngestOutcome.COMPLETED, *, caught_up: bool = True
) -> None:
    with store.write() as session:
        run_id = start_run(session, NAME, "me", at, caught_up=caught_up)
        finish_run(session, run_id, outcome, at)


def held(store: Store, native: str, start: datetime, *, hours: float = 2, whole: bool = True) -> None:
    with store.write() as session:
        saved = save_contest(session, contest(native, start, hours), source=NAME, now=NOW)
        mark_collected(session, saved.contest_id, n_listed=1, complete=whole, now=NOW)


def since(store: Store, now: datetime = NOW) -> datetime:
    return default_since(store, NAME, now, RECHECK)


def test_the_first_run_looks_back_a_month(store: Store) -> None:
    assert since(store) == NOW - FIRST_LOOK


@pytest.mark.parametrize("outcome", [IngestOutcome.COMPLETED, IngestOutcome.PARTIAL])
def test_later_runs_begin_before_the_last_one_however_long_ago_that_is(store: Store, outcome: IngestOutcome) -> None:
    ran(store, NOW - 200 * DAY, outcome)
    ran(store, NOW - 20 * DAY, IngestOutcome.FAILED)
    ran(store, NOW - 10 * DAY, caught_up=False)  # a window of the user's own says nothing about what came before it
    assert since(store) == NOW - 200 * DAY - RECHECK


def test_a_contest_that_is_not_whole_or_ended_lately_is_in_the_window(store: Store) -> None:
    ran(store, NOW - DAY)
    held(store, "whole", NOW - 40 * DAY)
    assert since(store) == NOW - DAY - RECHECK
    held(store, "long", NOW - 30 * DAY, hours=24 * 20)  # ended ten days ago
    assert since(store) == NOW - 30 * DAY
    held(store, "lacking", NOW - 60 * DAY, whole=False)
    assert since(store) == NOW - 60 * DAY
    held(store, "hopeless", NOW - LONGEST_LOOK - DAY, whole=False)  # one that never will be whole widens no window
    assert since(store) == NOW - 60 * DAY


def test_a_source_is_told_what_is_stored_and_which_credentials_there_are(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Wanted] = []

    def discover(fetch: object, wanted: Wanted) -> Listing:
        told.append(wanted)
        return Listing((contest("c1", NOW - DAY),))

    module = types.ModuleType("ingest.sources.aoj")
    module.__dict__["SOURCE"] = replace(World().source(), name="aoj", discover=discover)
    monkeypatch.setitem(sys.modules, "ingest.sources.aoj", module)
    with store.write() as session:
        save_contest(session, replace(contest("moved", NOW + DAY), platform="aoj"), source="aoj", now=NOW)
        save_contest(session, replace(contest("old", NOW - 99 * DAY), platform="aoj"), source="aoj", now=NOW)
    settings = IngestSettings(
        FetchSettings(), {"LIVE_X": "word", "LIVE_Y": " "}, {"aoj": {"schedule": "1 2 * * *", "paths": ["x"]}}
    )
    ingestion = Ingestion(store, settings, SkippingClock(NOW))
    ingestion.run("aoj", offline=True)
    ingestion.run("aoj", span=Span(NOW - 100 * DAY), offline=True)
    first, second = told
    assert dict(first.settings) == {"paths": ["x"]}
    assert (set(first.credentials), set(first.stored)) == ({"LIVE_X"}, {"moved"})
    assert set(second.stored) == {"moved", "old"}
    assert first.wants("moved", NOW + 400 * DAY)
    assert not first.wants("other", NOW + 400 * DAY)
