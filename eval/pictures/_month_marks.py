"""A run's months by platform, each with whether its problems may have been seen: what a month picture draws. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eval.editions.document import EditionRun, MonthScore
from eval.eligibility import NotScored, UsedCutoff
from eval.pictures._calendar import Calendar, calendar_of, month_at, month_of
from eval.pictures._measured import cutoffs_of
from eval.publishing.publication import Published
from eval.report import Row
from eval.window import window_for


class When(StrEnum):
    """Where a month's problems lie with regard to the cut-off of the model, margin included."""

    SEEN = "may have been seen"
    PART = "in part after the cut-off"
    UNSEEN = "after the cut-off"
    UNKNOWN = "cut-off not known"


@dataclass(frozen=True)
class Point:
    """One month of a run. ``share`` is solved of all; it is no rate where ``is_few``."""

    score: MonthScore
    when: When

    @property
    def is_few(self) -> bool:
        """Whether there are too few problems for a rate."""
        return self.score.score is None

    @property
    def share(self) -> float:
        """The mean share of samples that solve a problem."""
        return self.score.n_solved / self.score.n_problems if self.score.score is None else self.score.score


@dataclass(frozen=True)
class Panel:
    """The months of a platform; of all platforms together where it is ""."""

    platform: str
    points: tuple[Point, ...]

    @property
    def n_problems(self) -> int:
        """How many problems it shows."""
        return sum(one.score.n_problems for one in self.points)

    @property
    def has_rate(self) -> bool:
        """Whether any of its months has problems enough for a rate."""
        return not all(one.is_few for one in self.points)


@dataclass(frozen=True)
class Subject:
    """All that the month picture of a run shows. ``unseen_from`` is where its own window begins, margin included."""

    published: Published
    run: EditionRun
    calendar: Calendar
    cutoff: UsedCutoff | NotScored
    unseen_from: datetime | None
    row: Row | None
    together: Panel
    panels: tuple[Panel, ...]

    @cached_property
    def whens(self) -> tuple[When, ...]:
        """The kinds of months there are, in the order in which they are explained."""
        found = {point.when for panel in self.panels for point in panel.points}
        return tuple(one for one in When if one in found)

    @property
    def has_few(self) -> bool:
        """Whether any month has too few problems for a rate."""
        return any(point.is_few for panel in self.panels for point in panel.points)

    @property
    def broken(self) -> tuple[str, ...]:
        """The months in which the run looks broken."""
        return tuple(point.score.month for point in self.together.points if point.score.is_broken)


def subjects(published: Published) -> Iterator[Subject]:
    """What each run's picture shows, on one calendar for all of them; runs without a month have none."""
    edition = published.edition
    calendar = calendar_of(month_of(one.month) for run in edition.numbers.months for one in run.months)
    if calendar is None:
        return
    runs = {run.name: run for run in edition.runs}
    rows = {row.run: row for row in edition.numbers.own.rows}
    cutoffs, exposures = cutoffs_of(published), _Exposures.of(published)
    margin = timedelta(hours=edition.settings.margin_hours)
    for one in edition.numbers.months:
        if not one.months:
            continue
        run, used = runs[one.run], cutoffs[one.run]
        start = None if isinstance(used, NotScored) else window_for(used.cutoff, margin=margin).after_cutoff
        whens = exposures.whens(run, start)
        together, *platforms = _panels(one.months, whens)
        yield Subject(published, run, calendar, used, start, rows.get(one.run), together, _shown(together, platforms))


def _panels(months: Iterable[MonthScore], whens: Mapping[tuple[str, int], When]) -> list[Panel]:
    """All platforms together first, then each."""
    found: dict[str, list[Point]] = {"": []}
    for one in months:
        when = whens.get((one.platform, month_of(one.month)), When.UNKNOWN)
        found.setdefault(one.platform, []).append(Point(one, when))
    return [Panel(platform, tuple(points)) for platform, points in found.items()]


def _shown(together: Panel, platforms: list[Panel]) -> tuple[Panel, ...]:
    """Each platform; what they are together only where none of them has a rate and together they have."""
    if not platforms or (together.has_rate and not any(one.has_rate for one in platforms)):
        return (together, *platforms)
    return tuple(platforms)


@dataclass(frozen=True)
class _Exposures:
    """When the problems of an edition were published, in its order: the month's number (-1: not known) and the instant
    in seconds; and the platform of each, as a place among ``platforms``."""

    months: NDArray[np.int64]
    instants: NDArray[np.float64]
    places: NDArray[np.int64]
    platforms: tuple[str, ...]

    @classmethod
    def of(cls, published: Published) -> _Exposures:
        facts = [one.facts for one in published.edition.problems]
        dates = [one.exposed_at for one in facts]
        platforms = tuple(sorted({one.platform for one in facts}))
        place = {name: number for number, name in enumerate(platforms)}
        return cls(
            np.array([-1 if at is None else month_at(at) for at in dates], dtype=np.int64),
            np.array([np.inf if at is None else at.timestamp() for at in dates], dtype=np.float64),
            np.array([place[one.platform] for one in facts], dtype=np.int64),
            platforms,
        )

    def whens(self, run: EditionRun, start: datetime | None) -> dict[tuple[str, int], When]:
        """By platform ("": all) and month, whether the problems of a run lie after the instant ``start``."""
        if start is None:
            return {}
        rows = np.array(run.problems, dtype=np.int64)
        months, places, early = self.months[rows], self.places[rows], self.instants[rows] < start.timestamp()
        found: dict[tuple[str, int], When] = {}
        for number, platform in ((-1, ""), *enumerate(self.platforms)):
            here = (months >= 0) if number < 0 else (months >= 0) & (places == number)
            for month in np.unique(months[here]).tolist():
                chosen = early[here & (months == month)]
                found[platform, month] = When.SEEN if chosen.all() else When.PART if chosen.any() else When.UNSEEN
        return found
