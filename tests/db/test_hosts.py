"""The gate of a host: no two sends closer than the interval, whoever sends; pauses and blocks hold for everybody."""

from __future__ import annotations

import itertools
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.engine import Store, open_store
from db.hosts import HostBlock, block, blocked, postpone, reserve, settle

NUMBERS = itertools.count()
NOW = datetime(2026, 3, 1, 3, 17, tzinfo=UTC)
HOST = "site.example"


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_the_first_may_send_at_once_and_the_next_after_the_interval(store: Store) -> None:
    with store.write() as session:
        assert reserve(session, HOST, 2, NOW) == NOW
        assert reserve(session, HOST, 2, after(0.5)) == after(2)
        assert reserve(session, HOST, 2, after(1.5)) == after(2), "who only asked has taken no turn"
        assert reserve(session, HOST, 2, after(2)) == after(2)
        assert reserve(session, HOST, 2, after(2)) == after(4)
        assert reserve(session, "other.example", 2, after(2)) == after(2), "other hosts are not slowed down"


def test_a_pause_holds_for_those_who_wait_already(store: Store) -> None:
    with store.write() as session:
        reserve(session, HOST, 2, NOW)
        assert reserve(session, HOST, 2, after(1)) == after(2)
        postpone(session, HOST, after(30))
        assert reserve(session, HOST, 2, after(2)) == after(30)
        postpone(session, HOST, after(10))
        assert reserve(session, HOST, 2, after(10)) == after(30), "a shorter pause ends no longer one"
        postpone(session, "new.example", after(5))
        assert reserve(session, "new.example", 2, NOW) == after(5)


def test_a_turn_that_took_less_than_was_reserved_ends_early(store: Store) -> None:
    with store.write() as session:
        reserve(session, HOST, 12, NOW)
        settle(session, HOST, reserved_until=after(12), next_at=after(3))
        assert reserve(session, HOST, 12, after(3)) == after(3)
        postpone(session, HOST, after(60))
        settle(session, HOST, reserved_until=after(15), next_at=after(5))
        assert reserve(session, HOST, 12, after(16)) == after(60), "somebody else's pause stays"


def test_a_turn_that_took_longer_than_was_reserved_still_counts(store: Store) -> None:
    with store.write() as session:
        reserve(session, HOST, 12, NOW)
        settle(session, HOST, reserved_until=after(12), next_at=after(42))
        assert reserve(session, HOST, 12, after(13)) == after(42)


def test_a_block_holds_until_it_ends(store: Store) -> None:
    with store.write() as session:
        assert blocked(session, HOST, NOW) is None
        block(session, HOST, after(3600), "a challenge")
        assert blocked(session, HOST, after(3599)) == HostBlock(after(3600), "a challenge")
        assert blocked(session, HOST, after(3600)) is None
        assert blocked(session, "other.example", NOW) is None
        block(session, HOST, after(60), "less")
        assert blocked(session, HOST, NOW) == HostBlock(after(3600), "a challenge")
        block(session, HOST, after(7200), "more")
        assert blocked(session, HOST, NOW) == HostBlock(after(7200), "more")
    with open_store(store.url) as elsewhere, elsewhere.read() as session:
        assert blocked(session, HOST, NOW) == HostBlock(after(7200), "more")


def test_a_pause_within_a_turn_outlasts_the_end_of_the_turn(store: Store) -> None:
    with store.write() as session:
        assert reserve(session, HOST, 4, NOW) == NOW
        postpone(session, HOST, after(2))
        settle(session, HOST, reserved_until=after(4), next_at=after(1))
        assert reserve(session, HOST, 4, after(1)) == after(2)
        assert reserve(session, HOST, 4, after(2)) == after(2)


def test_naive_instants_are_refused(store: Store) -> None:
    naive = datetime(2026, 3, 1)
    with store.write() as session:
        for call in (
            lambda: reserve(session, HOST, 1, naive),
            lambda: postpone(session, HOST, naive),
            lambda: block(session, HOST, naive, "x"),
            lambda: blocked(session, HOST, naive),
            lambda: settle(session, HOST, reserved_until=NOW, next_at=naive),
        ):
            with pytest.raises(ValueError, match="must be an aware UTC datetime"):
                call()


STEPS = st.lists(
    st.tuples(st.integers(0, 3000), st.sampled_from(["ask", "ask", "ask", "postpone", "settle"]), st.integers(0, 5000)),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_never_two_sends_closer_than_the_interval_nor_within_a_pause(
    shared_store: Store, steps: list[tuple[int, str, int]]
) -> None:
    host, interval_s, hold_s = f"{next(NUMBERS)}.example", 1.0, 4.0
    now, sent, pause_ends, settled_at = NOW, list[datetime](), NOW, NOW
    with shared_store.write() as session:
        for wait_ms, what, pause_ms in steps:
            now += timedelta(milliseconds=wait_ms)
            if what == "postpone":
                pause_ends = max(pause_ends, now + timedelta(milliseconds=pause_ms))
                postpone(session, host, now + timedelta(milliseconds=pause_ms))
            elif what == "settle" and sent:
                settled_at = max(settled_at, now + timedelta(seconds=interval_s))
                settle(
                    session,
                    host,
                    reserved_until=sent[-1] + timedelta(seconds=hold_s),
                    next_at=now + timedelta(seconds=interval_s),
                )
            elif what == "ask" and reserve(session, host, hold_s, now) <= now:
                assert now >= pause_ends
                assert now >= settled_at
                sent.append(now)
    assert all(later - earlier >= timedelta(seconds=interval_s) for earlier, later in itertools.pairwise(sent))


def send_in_turn(url: str, host: str, n_sends: int, interval_s: float) -> list[datetime]:
    """What a process of the test does: wait for its turn so many times; the instants at which it may send."""
    sent: list[datetime] = []
    with open_store(url) as store:
        while len(sent) < n_sends:
            with store.write() as session:
                now = datetime.now(UTC)
                at = reserve(session, host, interval_s, now)
            if at <= now:
                sent.append(now)
            else:
                time.sleep((at - now).total_seconds())
    return sent


def test_the_interval_holds_over_processes(store_url: str) -> None:
    interval_s, n_jobs, n_sends = 0.08, 3, 8
    with ProcessPoolExecutor(n_jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = [pool.submit(send_in_turn, store_url, HOST, n_sends, interval_s) for _ in range(n_jobs)]
        sent = sorted(at for job in jobs for at in job.result(timeout=120))
    assert len(sent) == n_jobs * n_sends
    assert min(later - earlier for earlier, later in itertools.pairwise(sent)) >= timedelta(seconds=interval_s)
