"""Leases: one owner at a time, until it gives the lease back or shows no sign of life."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from db.engine import Store, open_store
from db.leases import Lease, find_lease, is_gone, new_owner, release_lease, renew_lease, take_lease
from tests.db.builders import NOW

TTL = timedelta(seconds=120)
SPAWN = multiprocessing.get_context("spawn")


def take(store: Store, owner: str, now: datetime = NOW, name: str = "ingest:own") -> Lease | None:
    with store.write() as session:
        return take_lease(session, name, owner, now, TTL)


def renew(store: Store, owner: str, now: datetime) -> bool:
    with store.write() as session:
        return renew_lease(session, "ingest:own", owner, now, TTL)


def release(store: Store, owner: str) -> bool:
    with store.write() as session:
        return release_lease(session, "ingest:own", owner)


def test_a_free_lease_is_taken_and_kept_from_others(store: Store) -> None:
    taken = take(store, "first")
    assert taken == Lease("ingest:own", "first", NOW, NOW + TTL)
    assert take(store, "second", NOW + TTL - timedelta(seconds=1)) is None
    with store.read() as session:
        assert find_lease(session, "ingest:own") == taken
        assert find_lease(session, "ingest:other") is None
    assert take(store, "second", name="ingest:other") is not None


def test_an_expired_lease_goes_to_the_next_and_its_old_owner_cannot_renew_it(store: Store) -> None:
    take(store, "killed")
    later = NOW + TTL
    assert take(store, "next", later) == Lease("ingest:own", "next", later, later + TTL)
    assert not renew(store, "killed", later)
    assert not release(store, "killed")
    with store.read() as session:
        found = find_lease(session, "ingest:own")
    assert found is not None
    assert found.owner == "next"
    assert found.holds(later + TTL - timedelta(microseconds=1))
    assert not found.holds(later + TTL)


def test_its_owner_may_take_it_again_and_renew_it(store: Store) -> None:
    take(store, "owner")
    later = NOW + timedelta(seconds=100)
    assert take(store, "owner", later) == Lease("ingest:own", "owner", NOW, later + TTL)
    assert renew(store, "owner", later + timedelta(seconds=100))
    assert take(store, "other", later + timedelta(seconds=219)) is None


def test_an_expired_lease_that_nobody_took_can_be_renewed(store: Store) -> None:
    take(store, "asleep")
    much_later = NOW + timedelta(days=1)
    assert renew(store, "asleep", much_later)
    assert take(store, "other", much_later) is None


def test_a_released_lease_is_free(store: Store) -> None:
    take(store, "first")
    assert release(store, "first")
    assert not release(store, "first")
    assert not renew(store, "first", NOW)
    assert take(store, "second") is not None


def test_of_many_that_come_at_once_one_gets_it(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda number: take(store, f"owner {number}"), range(8)))
    assert len([lease for lease in taken if lease is not None]) == 1


def test_a_naive_instant_and_an_empty_name_are_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="aware UTC"):
        take(store, "first", datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="lease owner must not be empty"):
        take(store, "")
    with store.read() as session:
        assert find_lease(session, "ingest:own") is None


def test_owners_have_names_of_their_own() -> None:
    host, pid, token = new_owner().rsplit(":", 2)
    assert (host.partition("/")[0], pid) == (socket.gethostname(), str(os.getpid()))
    assert len({new_owner() for _ in range(100)}) == 100
    assert len(token) == 8


def hold_for_ever(url: str) -> None:
    """Take the lease for a second and wait to be killed."""
    with open_store(url) as store:
        with store.write() as session:
            take_lease(session, "ingest:own", "killed", datetime.now(UTC), timedelta(seconds=1))
        time.sleep(600)


def test_a_killed_owner_keeps_its_lease_no_longer_than_its_time(sqlite_store: Store) -> None:
    holder = SPAWN.Process(target=hold_for_ever, args=(sqlite_store.url,))
    holder.start()
    give_up = time.monotonic() + 60
    held = None
    while held is None and time.monotonic() < give_up:
        with sqlite_store.read() as session:
            held = find_lease(session, "ingest:own")
    holder.kill()
    holder.join()
    assert held is not None
    assert take(sqlite_store, "next", held.expires_at - timedelta(microseconds=1)) is None
    assert take(sqlite_store, "next", held.expires_at) is not None


def test_the_lease_of_a_process_that_ended_is_free_at_once(store: Store) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "from db.leases import new_owner; print(new_owner())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert is_gone(ended)
    assert not is_gone(new_owner())
    assert not is_gone(ended.replace("/", "/1"))  # another host, or another space of process ids
    assert not is_gone("no owner")
    assert take(store, ended) is not None
    assert take(store, new_owner()) is not None
