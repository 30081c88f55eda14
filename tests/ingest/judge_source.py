"""A source made up for the tests: contests and problems from plain data, with faults where a test wants them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from db.records import (
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SightingRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from ingest.errors import Absent
from ingest.pages import Fetch, Page, Request
from ingest.sources import Host, Listing, ProblemList, ProblemRef, ReadProblem, Source, Wanted

NAME = "judge"
NOW = datetime(2026, 3, 10, 3, 17, tzinfo=UTC)
START = datetime(2026, 3, 8, 12, tzinfo=UTC)


def contest(native_id: str, start: datetime | None = START, hours: float = 2, **changes: object) -> ContestRecord:
    ends_at = None if start is None else start + timedelta(hours=hours)
    return replace(ContestRecord(NAME, native_id, native_id.upper(), start, ends_at), **changes)  # type: ignore[arg-type]


def wanted(now: datetime = NOW, days: int = 30) -> Wanted:
    return Wanted(now - timedelta(days=days), now + timedelta(days=14), now)


@dataclass
class World:
    """What the made-up site shows: contests, the titles of their problems, statements by id, and faults by name.

    ``faults`` are raised when the contest's list (its id), a problem (its id) or the listing ("") is asked for.
    """

    contests: list[ContestRecord] = field(default_factory=list)
    problems: dict[str, list[str]] = field(default_factory=dict)
    statements: dict[str, str] = field(default_factory=dict)
    faults: dict[str, Exception] = field(default_factory=dict)
    sightings: tuple[SightingRecord, ...] = ()
    difficulties: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[str, int] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    locked: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def source(self, *, twins: bool = False, is_local: bool = False) -> Source:
        hosts = () if is_local else (Host("judge.example", 1.0),)
        return Source(NAME, "made up", hosts, self.discover, self.list_problems, self.read_problem, twins=twins)

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if what in self.faults:
            raise self.faults[what]

    def discover(self, fetch: Fetch, window: Wanted) -> Listing:
        self._ask("")
        within = [one for one in self.contests if one.starts_at is None or window.since <= one.starts_at < window.until]
        return Listing(
            tuple(within), known=self.known, seen=self.seen, sightings=self.sightings, difficulties=self.difficulties
        )

    def list_problems(self, fetch: Fetch, held: ContestRecord, window: Wanted) -> ProblemList:
        self._ask(held.native_id)
        titles = self.problems.get(held.native_id, [])
        refs = [ProblemRef(f"{held.native_id}{chr(65 + n)}", title, chr(65 + n)) for n, title in enumerate(titles)]
        return ProblemList(held, tuple(refs))

    def read_problem(self, fetch: Fetch, listed: ProblemList, ref: ProblemRef, window: Wanted) -> ReadProblem:
        self._ask(ref.native_id)
        held = listed.contest
        dates: tuple[DateClaim, ...] = ()
        if held.starts_at is not None:
            written = held.starts_at.isoformat()
            dates = (DateClaim(written, held.starts_at, Precision.INSTANT, NAME, held.native_id),)
        locked = ref.native_id in self.locked
        suite = SuiteRecord((TestCaseRecord("sample 1", b"1\n", b"2\n", TestOrigin.SAMPLE),), time_limit_s=2.0)
        return ReadProblem(
            ProblemRecord(
                ProblemKey(NAME, ref.native_id),
                ref.title,
                dates,
                NAME,
                contest=held,
                contest_index=ref.index,
                statement="" if locked else self.statements.get(ref.native_id, f"The text of {ref.title}."),
                language=None if locked else "en",
                suite=None if locked else suite,
                flags=(("statement_unavailable", "locked"),) if locked else (),
            )
        )


def no_fetch(request: Request | str) -> Page:
    """For sources that ask nothing."""
    raise Absent(f"{request} is not there")
