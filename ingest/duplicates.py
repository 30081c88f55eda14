"""Near-duplicates: problems on any platform that are the same problem, or read so much alike that a person should look.

MinHash says which pairs to look at, and is never believed alone: what a pair is, is said by the exact comparison of
``ingest.likeness``. `update_duplicates` keeps the store's pairs up to date; `update_in_turn` does it for processes that
run at the same time.

A statement in another language has no words in common with the first, so that a translation is not found. Statements
that only a picture or a PDF gives are not found either.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from db.duplicates import (
    HAND,
    TWIN,
    DuplicatePair,
    DuplicateVerdict,
    list_pairs,
    load_candidates,
    load_fingerprints,
    save_fingerprints,
    save_pair,
    without_fingerprint,
)
from db.engine import Store
from db.exposure import refresh_exposure
from db.leases import new_owner, release_lease, take_lease
from db.records import ProblemKey, SaveOutcome, require_utc
from db.sql import chunks
from ingest.fingerprints import KIND, FingerprintIndex, fingerprint
from ingest.likeness import Compared, Pair, judge

MAX_ALIKE: Final = 20
"""A text that more problems share is not a statement but a notice in its place ("the statements are in the PDF")."""
METHOD: Final = "statement"
BATCH: Final = 200
"""So many statements are in memory at once, and saved in one transaction."""
PAIR_BATCH: Final = 50
LEASE: Final = "duplicates"
LEASE_TTL: Final = timedelta(minutes=10)
"""Many times what a night takes, and not renewed: should a first run take longer, two at once do no harm."""
MAX_LINES: Final = 1000


@dataclass(frozen=True)
class DuplicateReport:
    """What one run did: problems compared with all others, pairs whose verdict is new or changed, a line for each.

    ``n_too_short`` counts new statements that are too short to be compared.
    """

    n_compared: int
    n_too_short: int
    pairs: Mapping[DuplicateVerdict, int]
    lines: tuple[str, ...]


def _ordered(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def update_duplicates(store: Store, *, now: datetime, stop: threading.Event | None = None) -> DuplicateReport:
    """Compare every problem whose statement is new or changed with all others, and save the pairs that are alike.

    Pairs that are stored already are judged anew, for their statements, samples, titles or starts may have changed;
    those that a person judged or a collector knows as twins stay as they are, and a pair that was the same remains it.
    A fingerprint is saved in one transaction with the pairs of its problem: after an interruption the next run takes
    up the rest, and a second run in a row changes nothing. It ends before the next batch when `stop` is set. ``now`` is
    an aware UTC instant. Raises ``StoreError``.
    """
    require_utc("now", now)
    tally = _Tally()
    _update(store, tally, now, stop or threading.Event())
    return tally.report()


def update_in_turn(
    store: Store, *, clock: Callable[[], datetime], stop: threading.Event | None = None
) -> DuplicateReport | None:
    """`update_duplicates` for one at a time over all processes; None when somebody else is at it.

    Who is sent away may have saved statements that the other one did not see any more. So whoever has had its turn
    looks once more after it, and takes another one for what is left.
    """
    stop = stop or threading.Event()
    owner, tally, n_turns = new_owner(), _Tally(), 0
    while not stop.is_set() and (n_turns == 0 or _is_any_left(store)):
        with store.write() as session:
            now = clock()
            if take_lease(session, LEASE, owner, now, LEASE_TTL) is None:
                return tally.report() if n_turns else None
        try:
            _update(store, tally, now, stop)
        finally:
            with store.write() as session:
                release_lease(session, LEASE, owner)
        n_turns += 1
    return tally.report()


def _is_any_left(store: Store) -> bool:
    with store.read() as session:
        return bool(without_fingerprint(session, KIND, limit=1))


def _update(store: Store, tally: _Tally, now: datetime, stop: threading.Event) -> None:
    _judge_again(store, tally, now, stop)
    known: _Known | None = None
    while not stop.is_set() and (batch := _next_batch(store)):
        known = known or _Known()
        with store.read() as session:
            known.catch_up(session)  # here first, so that writers need not wait for the long first time
        _take_in(store, known, batch, tally, now)


class _Known:
    """The fingerprints in the store, by revision, and the problem that each belongs to."""

    def __init__(self) -> None:
        self.index = FingerprintIndex()
        self.problem_ids: dict[int, int] = {}

    def add(self, revision_id: int, problem_id: int, data: bytes) -> None:
        self.index.add(revision_id, data)
        self.problem_ids[revision_id] = problem_id

    def catch_up(self, session: Session) -> None:
        """Take in what another process has saved meanwhile; the first time, all."""
        for revision_id, problem_id, data in load_fingerprints(session, KIND, self.problem_ids.keys()):
            self.add(revision_id, problem_id, data)

    def near(self, data: bytes, problem_id: int) -> list[int]:
        """The problems whose statements may be like this one of `problem_id`."""
        found = {self.problem_ids[revision_id] for revision_id, _ in self.index.near(data)}
        return sorted(found - {problem_id})


class _Tally:
    def __init__(self) -> None:
        self.n_compared = 0
        self.n_too_short = 0
        self._pairs: Counter[DuplicateVerdict] = Counter()
        self._lines: list[str] = []

    def count(self, pairs: Iterable[Pair], keys: Mapping[int, ProblemKey]) -> None:
        for pair in pairs:
            self._pairs[pair.verdict] += 1
            self._lines.append(f"{keys[pair.first_id]} and {keys[pair.second_id]}: {pair.verdict}. {pair.reason}")

    def note(self, line: str) -> None:
        self._lines.append(line)

    def report(self) -> DuplicateReport:
        n_more = len(self._lines) - MAX_LINES
        more = [f"and {n_more} more"] if n_more > 0 else []
        pairs = {verdict: self._pairs[verdict] for verdict in DuplicateVerdict}
        return DuplicateReport(self.n_compared, self.n_too_short, pairs, (*self._lines[:MAX_LINES], *more))


def _next_batch(store: Store) -> list[tuple[Compared, bytes]]:
    with store.read() as session:
        found = load_candidates(session, without_fingerprint(session, KIND, limit=BATCH))
    compared = [Compared(candidate) for candidate in found.values()]
    return [(one, fingerprint(one.words)) for one in compared]


def _take_in(store: Store, known: _Known, batch: list[tuple[Compared, bytes]], tally: _Tally, now: datetime) -> None:
    """Compare a batch with all that is known, and save its fingerprints and pairs in one transaction."""
    notes: list[str] = []
    wanted: set[tuple[int, int]] = set()
    new: dict[int, bytes] = {}
    by_id = {one.candidate.problem_id: one for one, _ in batch}
    with store.write() as session:
        known.catch_up(session)
        for one, data in batch:
            revision_id, problem_id = one.candidate.revision_id, one.candidate.problem_id
            if revision_id in known.problem_ids:
                continue  # another process was quicker
            near = known.near(data, problem_id)
            if len(near) > MAX_ALIKE:
                notes.append(f"{one.candidate.key}: not compared, for {len(near)} problems have such a statement")
            else:
                wanted |= {_ordered(problem_id, other) for other in near}
            known.add(revision_id, problem_id, data)
            new[revision_id] = data
        save_fingerprints(session, KIND, new)
        pairs, keys = _judged(session, wanted, by_id)
        found = [pair for pair in pairs if pair.verdict is not DuplicateVerdict.DIFFERENT]
        changed = _save(session, found, now)
    n_compared = sum(bool(data) for data in new.values())
    tally.n_compared += n_compared
    tally.n_too_short += len(new) - n_compared
    tally.count(changed, keys)
    for note in notes:
        tally.note(note)


def _judged(
    session: Session, wanted: Iterable[tuple[int, int]], loaded: Mapping[int, Compared]
) -> tuple[list[Pair], dict[int, ProblemKey]]:
    """The verdicts on pairs of problems, and the problems' keys. A pair without one of its statements has none."""
    pairs: list[Pair] = []
    keys: dict[int, ProblemKey] = {}
    for some in chunks(sorted(wanted), PAIR_BATCH):
        ids = {problem_id for pair in some for problem_id in pair}
        missing = load_candidates(session, ids - loaded.keys())
        by_id = dict(loaded) | {problem_id: Compared(one) for problem_id, one in missing.items()}
        pairs += [judge(by_id[one], by_id[other]) for one, other in some if one in by_id and other in by_id]
        keys |= {problem_id: by_id[problem_id].candidate.key for problem_id in ids & by_id.keys()}
    return pairs, keys


def _judge_again(store: Store, tally: _Tally, now: datetime, stop: threading.Event) -> None:
    with store.read() as session:
        stored = [pair for pair in list_pairs(session) if pair.method not in (HAND, TWIN)]
    for some in chunks(stored, PAIR_BATCH):
        if stop.is_set():
            return
        with store.read() as session:
            pairs, keys = _judged(session, [(pair.first_id, pair.second_id) for pair in some], {})
        said = {(pair.first_id, pair.second_id): pair for pair in some}
        differing = [pair for pair in pairs if _is_news(pair, said[pair.first_id, pair.second_id])]
        if differing:
            with store.write() as session:
                changed = _save(session, differing, now)
            tally.count(changed, keys)


def _is_news(pair: Pair, stored: DuplicatePair) -> bool:
    if stored.verdict is DuplicateVerdict.SAME is not pair.verdict:
        return False  # it would be refused
    new = (pair.verdict, pair.similarity, pair.reason, METHOD)
    return new != (stored.verdict, stored.similarity, stored.reason, stored.method)


def _save(session: Session, pairs: Iterable[Pair], now: datetime) -> list[Pair]:
    """Save verdicts, and bring up to date since when their problems are public; the ones that changed anything."""
    changed: list[Pair] = []
    touched: set[int] = set()
    for pair in pairs:
        outcome = save_pair(
            session, pair.first_id, pair.second_id, pair.verdict, pair.similarity, METHOD, pair.reason, now
        )
        if outcome is SaveOutcome.UNCHANGED:
            continue
        changed.append(pair)
        if pair.verdict is DuplicateVerdict.SAME or outcome is SaveOutcome.UPDATED:
            touched |= {pair.first_id, pair.second_id}
    if touched:
        refresh_exposure(session, touched, now=now)
    return changed
