"""Reading of the files that kenkoooo's AtCoder Problems publishes: contest dates, places of tasks, difficulties. Pure.

They are unofficial and come late, so they only check and complete what AtCoder itself says. The contest that
``problems.json`` names for a task is not its first one: whenever a later contest lists it again, its row is
overwritten. ``home_contests`` finds the first one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ingest.dates import epoch_instant
from ingest.errors import BadRow
from ingest.pages import Page
from ingest.sources._native_ids import is_native_id
from ingest.text import storable

RESOURCES = "https://kenkoooo.com/atcoder/resources"
TRAINING_PREFIX = "adt_"
_BEYOND_ALL = 100_000
"""Tasks are between about -3000 and 5000; no float holds what the scale makes of some other numbers."""


@dataclass(frozen=True)
class KnownContest:
    """A contest as the site knows it; both instants are None where it has none (its start is 0 or -1)."""

    contest_id: str
    starts_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True)
class Place:
    """That a contest lists a task."""

    contest_id: str
    task_id: str


@dataclass(frozen=True)
class Home:
    """The first dated contest that listed a task."""

    contest_id: str
    starts_at: datetime


def read_contests(page: Page) -> dict[str, KnownContest]:
    """``contests.json``: the contests by their id. ``PageChanged`` names the first row that cannot be read."""
    found = {}
    for row in _rows(page):
        contest_id = _text(page, row, "id")
        try:
            starts_at = epoch_instant(row["start_epoch_second"])
            ends_at = None if starts_at is None else starts_at + timedelta(seconds=row["duration_second"])
        except (BadRow, KeyError, TypeError, ValueError, OverflowError) as error:
            raise page.changed(f"has no date for {contest_id}: {error!r}") from None
        found[contest_id] = KnownContest(contest_id, starts_at, ends_at)
    return found


def read_places(page: Page) -> tuple[Place, ...]:
    """``contest-problem.json``: which contest lists which task."""
    return tuple(Place(_text(page, row, "contest_id"), _text(page, row, "problem_id")) for row in _rows(page))


def read_problems(page: Page) -> tuple[Place, ...]:
    """``problems.json``: each task with one contest that lists it, which need not be its first."""
    return tuple(Place(_text(page, row, "contest_id"), _text(page, row, "id")) for row in _rows(page))


def read_difficulties(page: Page) -> dict[str, str]:
    """``problem-models.json``: the difficulty of each task that has one, as the site shows it; odd ids left out."""
    models = page.json()
    if not isinstance(models, dict) or not models:
        raise page.changed("is not a JSON object of models by task")
    found = {}
    for task_id, model in models.items():
        difficulty = model.get("difficulty") if isinstance(model, dict) else None
        if not isinstance(difficulty, (int, float)) or isinstance(difficulty, bool) or not is_native_id(task_id):
            continue
        if abs(difficulty) < _BEYOND_ALL:
            found[task_id] = shown_difficulty(difficulty)
    if not found:
        raise page.changed("has no model with a difficulty")
    return found


def shown_difficulty(difficulty: float) -> str:
    """The difficulty as the site shows it, a whole number: below 400 it approaches 0 instead of going negative."""
    shown = difficulty if difficulty >= 400 else 400 / math.exp(1 - difficulty / 400)
    return str(math.floor(shown + 0.5))


def home_contests(starts: Mapping[str, datetime | None], places: Iterable[Place]) -> dict[str, Home]:
    """The first contest of each task: of those that list it, the one that starts earliest.

    Daily Training contests and contests without a start are no home; a task with no other is left out. Of contests
    that start together the one that the task's id names is preferred, and then the first by name.
    """
    found: dict[str, Home] = {}
    for place in places:
        starts_at = starts.get(place.contest_id)
        if starts_at is None or place.contest_id.startswith(TRAINING_PREFIX):
            continue
        home = Home(place.contest_id, starts_at)
        known = found.get(place.task_id)
        if known is None or _rank(place.task_id, home) < _rank(place.task_id, known):
            found[place.task_id] = home
    return found


def _rank(task_id: str, home: Home) -> tuple[datetime, bool, str]:
    named = task_id.startswith(home.contest_id.replace("-", "_") + "_")
    return home.starts_at, not named, home.contest_id


def _rows(page: Page) -> Iterator[dict[str, Any]]:
    rows = page.json()
    if not isinstance(rows, list) or not rows:
        raise page.changed("is not a JSON list with rows")
    for row in rows:
        if not isinstance(row, dict):
            raise page.changed(f"has a row that is no object: {row!r:.80}")
        yield row


def _text(page: Page, row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise page.changed(f"has a row without {name!r}: {row!r:.80}")
    try:
        return storable(name, value)
    except BadRow as error:
        raise page.changed(f"has a row that no database holds: {error.reason}") from None
