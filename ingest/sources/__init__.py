"""Sources of problems: one module of this package each, found by its name. There is no list to keep.

A module offers ``SOURCE``, a `Source`. Its functions ask through the `Fetch` that they are given and leave the reading
of what comes back to pure functions of the module; a page without what has to be there raises ``PageChanged``, so that
an empty night is a failed night. Nothing is fetched, and no clock read, when a module is imported.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from db.records import ContestRecord, ProblemRecord, SightingRecord
from ingest.errors import BrokenSource, NotConfigured
from ingest.pages import Fetch, Page, Request


@dataclass(frozen=True)
class Secret:
    """A credential that a user may give in the environment variable ``variable``; sent as ``header``, never kept."""

    variable: str
    header: str = "Cookie"
    template: str = "{}"


@dataclass(frozen=True)
class Host:
    """A host that a source asks, at most once in ``interval_s`` seconds."""

    name: str
    interval_s: float
    secret: Secret | None = None


@dataclass(frozen=True)
class Wanted:
    """What a source is asked for: the contests that start in ``[since, until)``, as of ``now``.

    ``stored`` are ids of contests that the store has in that window: they are wanted wherever they start by now, so
    that it is seen when they move. ``settings`` are the source's own, from the configuration's table of its name;
    ``credentials`` are the environment variables of its secrets that the user has set.
    """

    since: datetime
    until: datetime
    now: datetime
    settings: Mapping[str, Any] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    credentials: frozenset[str] = frozenset()

    def wants(self, native_id: str, starts_at: datetime) -> bool:
        """Whether a contest that starts at this instant is to be listed."""
        return self.since <= starts_at < self.until or native_id in self.stored


@dataclass(frozen=True)
class Listing:
    """What a source knows of contests.

    ``contests`` are all that it lists in the window, those still to come among them; an empty one is an honest answer
    only where the source could tell (it raises otherwise). ``is_complete`` says that a contest of the window which is
    not here is not there, so that two listings in a row without it mean that it was withdrawn; ``known`` are ids that
    it has besides, outside of the window or without a start. ``seen`` counts the entries by category before anything
    was left out, so that a category that falls to nothing is seen. ``unread`` says of each entry that cannot be read
    which one and why: a contest may be among them, so the run is not whole. ``notes`` are lines for a person: contests
    left out and why, sources that disagree. ``difficulties`` are by problem id.
    """

    contests: tuple[ContestRecord, ...]
    is_complete: bool = True
    known: frozenset[str] = frozenset()
    seen: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sightings: tuple[SightingRecord, ...] = ()
    difficulties: Mapping[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all contests that it has, in the window or not."""
        return self.known | {contest.native_id for contest in self.contests}


@dataclass(frozen=True)
class ProblemRef:
    """A problem as its contest lists it."""

    native_id: str
    title: str
    index: str | None = None


@dataclass(frozen=True)
class ProblemList:
    """A contest with the problems that its own page lists. Its dates are those of that page where it has any.

    ``read_problem`` may leave in ``shared`` what it needs for the contest's next problem: a page parsed once for all.
    """

    contest: ContestRecord
    problems: tuple[ProblemRef, ...]
    notes: tuple[str, ...] = ()
    shared: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class ReadProblem:
    """A problem as its page gives it, with lines for a person about what was odd."""

    record: ProblemRecord
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """One endpoint for ``live sources check``: a request whose answer ``read`` must take without an error."""

    name: str
    request: Request
    read: Callable[[Page], object]


@dataclass(frozen=True)
class Source:
    """One place that problems come from.

    ``discover`` lists contests; ``list_problems`` gives the problems of one that has ended; ``read_problem`` gives one
    of them whole, with a date claim for the contest's start (``contest`` set in it) where the contest is dated.
    ``twins`` says that the same problem has several ids in contests that start together. ``checks`` are made for an
    instant: they name contests that are known to be there. It runs only where its ``required_settings`` are given.
    """

    name: str
    description: str
    hosts: tuple[Host, ...]
    discover: Callable[[Fetch, Wanted], Listing]
    list_problems: Callable[[Fetch, ContestRecord, Wanted], ProblemList]
    read_problem: Callable[[Fetch, ProblemList, ProblemRef, Wanted], ReadProblem]
    checks: tuple[Check, ...] = ()
    twins: bool = False
    required_settings: tuple[str, ...] = ()


def source_names() -> tuple[str, ...]:
    """The names of all sources, sorted; nothing is imported for it."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")))


def load_source(name: str) -> Source:
    """The source called `name`. ``NotConfigured`` when there is none, ``BrokenSource`` when it does not load."""
    if name not in source_names():
        raise NotConfigured(f"no source is called {name!r}", f"the sources are: {', '.join(source_names())}")
    try:
        source = importlib.import_module(f"{__name__}.{name}").SOURCE
    except Exception as error:
        raise BrokenSource(
            f"the source {name} does not load: {type(error).__name__}: {error}", "repair its module, or leave it out"
        ) from error
    if not isinstance(source, Source):
        raise BrokenSource(f"the source {name} is no Source but {type(source).__name__}", "repair its module")
    return source
