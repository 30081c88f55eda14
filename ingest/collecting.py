"""One run of one source: list its contests, read the problems of those that have ended, and keep an honest account.

What fails is kept with its reason and does not stop the rest; a host that blocks us, or that does not answer any more,
ends the run. Each problem is one transaction, so that a killed run loses nothing and the next one goes on where it was.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Final

from db.contests import (
    StoredContest,
    load_contests,
    mark_collected,
    note_listing,
    note_problem_list,
    save_contest,
    stored_ids,
)
from db.difficulties import fill_difficulties
from db.duplicates import TWIN, DuplicateVerdict, save_pair
from db.engine import Store
from db.errors import StoreError
from db.exposure import refresh_exposure, save_sightings
from db.identity import add_other_id
from db.ingest_runs import IngestOutcome
from db.problems import save_problem
from db.records import ContestRecord, ProblemRecord, SaveOutcome
from db.revisions import has_statement
from db.twins import find_twin
from ingest.choosing import RECHECK, to_collect
from ingest.errors import BadRow, Blocked, PageChanged, SourceError, TimedOut, Unreachable
from ingest.hidden_tests import with_weak_tests_flagged
from ingest.pages import Fetch, Page, Request
from ingest.runs import RunFailure, RunResult, RunStopped
from ingest.sources import Listing, ProblemList, ProblemRef, ReadProblem, Source, Wanted

FRESH: Final = timedelta(days=3)
"""How long a problem of a contest that is not whole waits to be read again."""
MAX_SHRINK: Final = 0.5
"""A listing that lacks more than this share of the contests known in its window is not believed."""
DEAD_AFTER: Final = 3
"""So many addresses in a row that do not answer, and the host is taken for dead until the next run."""
STATEMENT_UNAVAILABLE: Final = "statement_unavailable"
"""The flag of a problem whose statement its source does not show."""
_LOOK: Final = "Look at the site; nothing was withdrawn."
_UNSURE = "�"

_log = logging.getLogger("ingest")


def collect(
    store: Store,
    source: Source,
    fetch: Fetch,
    wanted: Wanted,
    *,
    check: Callable[[], None],
    recheck: timedelta = RECHECK,
    is_live: bool = True,
) -> RunResult:
    """Collect the contests of `source` that start in the window, with their problems.

    `check` is called between two steps and raises where the run has to end. A run that is not live reads what was there
    before, so that what it lacks proves nothing. Raises ``SourceError`` when the source cannot even be listed; what
    else fails is in the result.
    """
    run = _Run(store, source, fetch, wanted, check, recheck, is_live)
    listing = source.discover(fetch, wanted)
    run.take_listing(listing)
    try:
        for contest in to_collect(store, source, listing, wanted, recheck):
            check()
            run.take_contest(contest)
    except _Ended as ended:
        run.fail(source.name, ended.error)
    except RunStopped:
        return run.result(is_whole=False)
    run.take_difficulties(listing)
    return run.result()


class _Watched:
    """A `Fetch` that remembers which response came last: the one to keep with what could not be taken."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self.last_snapshot_id: int | None = None

    def __call__(self, request: Request | str) -> Page:
        page = self._fetch(request)
        self.last_snapshot_id = page.snapshot_id
        return page


class _Ended(Exception):
    """The host has to be left alone for the rest of this run."""

    def __init__(self, error: SourceError) -> None:
        super().__init__(str(error))
        self.error = error


class _Run:
    """What has happened so far in one run."""

    def __init__(
        self,
        store: Store,
        source: Source,
        fetch: Fetch,
        wanted: Wanted,
        check: Callable[[], None],
        recheck: timedelta,
        is_live: bool,
    ) -> None:
        self._store, self._source = store, source
        self._fetch = _Watched(fetch)
        self._wanted, self._check = wanted, check
        self._recheck, self._is_live = recheck, is_live
        self._counts: Counter[str] = Counter(dict.fromkeys(_ALWAYS_COUNTED, 0))
        self._notes: list[str] = []
        self._failures: list[RunFailure] = []
        self._dead_in_a_row = 0

    def take_listing(self, listing: Listing) -> None:
        """Keep the listed contests, and count what the listing lacks. ``PageChanged`` when it is empty."""
        name, now = self._source.name, self._wanted.now
        self._counts.update({f"listed_{category}": count for category, count in listing.seen.items()})
        self._counts["contests_listed"] = len(listing.contests)
        self._notes.extend(listing.notes)
        for line in listing.unread:
            self.fail("the listing", PageChanged(f"an entry cannot be read: {line}", _LOOK))
        doubt = self._doubt_about(listing)
        with self._store.write() as session:
            for contest in self._each_once(listing):
                saved = save_contest(session, contest, source=f"{name} list", now=now)
                self._counts["contests_new"] += saved.outcome is SaveOutcome.CREATED
                if saved.moved_from is not None and contest.starts_at is not None:
                    self._counts["contests_moved"] += 1
                    moved = f"from {saved.moved_from.isoformat()} to {contest.starts_at.isoformat()}"
                    self._notes.append(f"{contest.native_id} was moved {moved}")
            self._counts["sightings_new"] = save_sightings(session, listing.sightings, now=now)
            if listing.is_complete and self._is_live and not doubt:
                window = {"since": self._wanted.since, "until": self._wanted.until}
                change = note_listing(session, name, listing.ids, **window, now=now)
                self._counts["contests_withdrawn"] = len(change.withdrawn)
                self._notes.extend(f"{native} is withdrawn: two listings lack it" for native in change.withdrawn)
                self._notes.extend(f"{native} is listed again" for native in change.restored)
        if doubt:
            self.fail("the listing", PageChanged(doubt, _LOOK))

    def _each_once(self, listing: Listing) -> Iterator[ContestRecord]:
        """The contests without a second entry for one of them: two starts would move it to and fro."""
        seen: set[str] = set()
        for contest in listing.contests:
            if contest.native_id in seen:
                self._notes.append(f"{contest.native_id} is listed more than once; its first entry counts")
            else:
                yield contest
            seen.add(contest.native_id)

    def take_difficulties(self, listing: Listing) -> None:
        """Fill in what the listing says of difficulties: last, so that it reaches the problems that were just read."""
        try:
            with self._store.write() as session:
                changed = fill_difficulties(session, self._source.name, listing.difficulties)
        except ValueError as error:
            self._notes.append(f"difficulties could not be taken: {error}")
        else:
            self._counts["difficulties_new"] = changed

    def _doubt_about(self, listing: Listing) -> str | None:
        """Why a listing that lacks most of what is known is not believed; ``PageChanged`` when it is empty."""
        since, until = self._wanted.since, self._wanted.until
        with self._store.read() as session:
            stored = load_contests(session, self._source.name, since=since, until=until)
        known = {one.record.native_id for one in stored if one.record.starts_at and one.withdrawn_at is None}
        lacking = known - listing.ids
        if known and not listing.contests:
            raise PageChanged(
                f"{self._source.name} lists nothing, though {len(known)} contests are known in this window", _LOOK
            )
        if len(lacking) > max(1, MAX_SHRINK * len(known)):
            return f"the listing lacks {len(lacking)} of {len(known)} contests known in this window: it is not believed"
        return None

    def take_contest(self, contest: StoredContest) -> None:
        """Read the problems of one contest that are to be read."""
        native = contest.record.native_id
        try:
            listed = self._source.list_problems(self._fetch, contest.record, self._wanted)
            runs_still = listed.contest.ends_at is not None and not listed.contest.has_ended(self._wanted.now)
            if not listed.problems and not runs_still:
                raise PageChanged(f"{native} lists no problem", "look at the contest's page")
        except Exception as error:
            self._refused(native, error)
            return
        self._notes.extend(f"{native}: {note}" for note in listed.notes)
        try:
            if runs_still:
                with self._store.write() as session:
                    save_contest(session, listed.contest, source=self._source.name, now=self._wanted.now)
                return
            self._keep_list(contest, listed)
        except Exception as error:
            self._refused(native, error)
            return
        for ref in self._to_read(contest, listed):
            self._check()
            self._take_problem(listed, ref)
        self._close(contest, listed)

    def _keep_list(self, contest: StoredContest, listed: ProblemList) -> None:
        now, name = self._wanted.now, self._source.name
        with self._store.write() as session:
            save_contest(session, listed.contest, source=name, now=now)
            natives = {ref.native_id for ref in listed.problems}
            if self._is_live:
                change = note_problem_list(session, contest.contest_id, name, natives, now=now)
                self._counts["problems_withdrawn"] += len(change.withdrawn)
                self._notes.extend(f"{native} is withdrawn: two listings lack it" for native in change.withdrawn)
            if contest.n_listed is None and contest.n_stored == 0:
                # A killed run goes on with what is missing; a contest that was moved is read whole, for its dates.
                mark_collected(session, contest.contest_id, n_listed=len(natives), complete=False, now=now)

    def _to_read(self, contest: StoredContest, listed: ProblemList) -> Iterable[ProblemRef]:
        """The problems to read, those that are missing first.

        Of a contest that is not whole, what is there was read a night or two ago: it waits for its turn, so that going
        on after a kill is cheap. But one problem that cannot be read must not keep corrections of the others away.
        """
        if contest.n_listed is None or contest.collected_at is not None:
            return listed.problems
        now, ends_at = self._wanted.now, contest.record.ends_at
        is_recent = ends_at is not None and now - ends_at <= self._recheck
        with self._store.read() as session:
            there = stored_ids(session, contest.contest_id)
            fresh = stored_ids(session, contest.contest_id, seen_since=now - FRESH) if is_recent else there
        missing = [ref for ref in listed.problems if ref.native_id not in there]
        return [*missing, *(ref for ref in listed.problems if ref.native_id in there - fresh)]

    def _take_problem(self, listed: ProblemList, ref: ProblemRef) -> None:
        what = f"{listed.contest.native_id}/{ref.index or ref.native_id}"
        try:
            read = self._source.read_problem(self._fetch, listed, ref, self._wanted)
            self._refuse_wrong(read.record)
            self._save(read)
        except Exception as error:
            self._refused(what, error)
            return
        self._dead_in_a_row = 0
        self._notes.extend(f"{what}: {note}" for note in read.notes)

    def _refuse_wrong(self, record: ProblemRecord) -> None:
        """``BadRow`` for a record that must not be stored: another platform's, nameless, or not decoded for certain."""
        if record.key.platform != self._source.name:
            raise BadRow(f"platform is {record.key.platform!r}, not {self._source.name!r}", "mend the source")
        if not record.title.strip():
            raise BadRow(f"{record.key} has an empty title", "look at the page")
        _refuse_unsure_text(record)

    def _save(self, read: ReadProblem) -> None:
        record, now = read.record, self._wanted.now
        with self._store.write() as session:
            if STATEMENT_UNAVAILABLE in dict(record.flags) and has_statement(session, record.key):
                # Locked after it was read: what was read is as good as before.
                record = replace(record, flags=tuple(one for one in record.flags if one[0] != STATEMENT_UNAVAILABLE))
                self._notes.append(f"{record.key} is locked now; the statement read before stays")
            twin = find_twin(session, record) if self._source.twins else None
            if twin is not None and twin.other_id is None:
                add_other_id(session, twin.problem_id, record.key, twin.reason, now=now)
                self._counts["twins_new"] += 1
                self._notes.append(f"{record.key} is {twin.name}: {twin.reason}")
            saved = save_problem(session, with_weak_tests_flagged(record), now=now)
            if twin is not None and twin.other_id is not None:
                pair = (twin.problem_id, twin.other_id)
                save_pair(session, *pair, DuplicateVerdict.SAME, 1.0, TWIN, twin.reason, now=now)
                refresh_exposure(session, pair, now=now)
        self._counts[f"problems_{_COUNTED[saved.outcome]}"] += 1
        if saved.date_note and saved.outcome is not SaveOutcome.UNCHANGED:
            self._notes.append(f"{record.key}: {saved.date_note}")

    def _close(self, contest: StoredContest, listed: ProblemList) -> None:
        with self._store.write() as session:
            there = stored_ids(session, contest.contest_id)
            missing = [ref for ref in listed.problems if ref.native_id not in there]
            mark_collected(
                session,
                contest.contest_id,
                n_listed=len(listed.problems),
                complete=not missing,
                now=self._wanted.now,
            )
        self._counts["contests_incomplete" if missing else "contests_read"] += 1

    def _refused(self, what: str, error: Exception) -> None:
        """Keep what could not be taken; raise when the host has to be left alone."""
        if isinstance(error, (StoreError, RunStopped, MemoryError)):
            raise error
        if not isinstance(error, SourceError):
            # A parser that falls over its page must not take the other contests with it, and must be seen. A record
            # refuses with a ValueError what cannot be; the page that shows it stays.
            kind, told = ("invalid", str(error)) if isinstance(error, ValueError) else ("error", repr(error))
            if not isinstance(error, BadRow):
                _log.warning("%s: %s could not be read", self._source.name, what, exc_info=error)
            self._failures.append(RunFailure(what, kind, told, self._fetch.last_snapshot_id))
            return
        if isinstance(error, (Unreachable, TimedOut)):
            self._dead_in_a_row += 1
        else:
            self._dead_in_a_row = 0
        if isinstance(error, Blocked) or self._dead_in_a_row >= DEAD_AFTER:
            raise _Ended(error) from error
        self.fail(what, error)

    def fail(self, what: str, error: SourceError) -> None:
        """Keep one thing that could not be taken."""
        self._failures.append(RunFailure(what, error.kind, error.message, error.snapshot_id, error.hint))

    def result(self, *, is_whole: bool = True) -> RunResult:
        """The account of the run; one that was told to stop is not whole, and says so elsewhere."""
        self._counts["failures"] = len(self._failures)
        counts = {name: count for name, count in sorted(self._counts.items())}
        if not self._failures:
            outcome = IngestOutcome.COMPLETED if is_whole else IngestOutcome.PARTIAL
            return RunResult(outcome, counts, tuple(self._notes))
        took = sum(self._counts[f"problems_{word}"] for word in _COUNTED.values())
        first = self._failures[0]
        return RunResult(
            IngestOutcome.PARTIAL if took else IngestOutcome.FAILED,
            counts,
            tuple(self._notes),
            tuple(self._failures),
            error_kind=first.kind,
            error=f"{first.what}: {first.error}" + _and_more(len(self._failures) - 1),
            hint=first.hint,
        )


_ALWAYS_COUNTED: Final = (
    "contests_listed",
    "contests_moved",
    "contests_read",
    "contests_incomplete",
    "contests_withdrawn",
    "problems_new",
    "problems_updated",
    "problems_unchanged",
    "problems_withdrawn",
    "twins_new",
)
_COUNTED: Final = {
    SaveOutcome.CREATED: "new",
    SaveOutcome.UPDATED: "updated",
    SaveOutcome.UNCHANGED: "unchanged",
}


def _and_more(count: int) -> str:
    return f" (and {count} more)" if count else ""


def _refuse_unsure_text(record: ProblemRecord) -> None:
    """``BadRow`` when a text holds the sign that stands for what could not be decoded: it would be stored for good."""
    tests = record.suite.tests if record.suite else ()
    texts = [record.title, record.statement, record.starter_code, *(text for _, text in record.translations)]
    texts += [data.decode("utf-8", "replace") for test in tests for data in (test.input, test.expected or b"")]
    if any(_UNSURE in text for text in texts):
        raise BadRow(f"{record.key} holds a character that could not be decoded (U+FFFD)", "look at the page")
