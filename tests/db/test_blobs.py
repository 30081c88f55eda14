"""Blobs: any bytes come back, once kept, and damage does not pass for content."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from db.blobs import decode_text, encode_text, get_blob, get_blobs, put_blob, put_blobs
from db.engine import Store, StoreUnavailable
from db.errors import UnknownRow
from tests.db.builders import row_counts


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=200), max_size=8))
def test_any_bytes_come_back_under_their_sha256(shared_store: Store, parts: list[bytes]) -> None:
    with shared_store.write() as session:
        hashes = put_blobs(session, parts)
        assert hashes == [hashlib.sha256(part).hexdigest() for part in parts]
        before = row_counts(session)
        assert [put_blob(session, part) for part in parts] == hashes
        assert row_counts(session) == before
        assert get_blobs(session, hashes) == dict(zip(hashes, parts, strict=True))


def test_large_bytes_are_kept_compressed(store: Store) -> None:
    data = b"1 2 3 4 5\n" * 2_000_000
    with store.write() as session:
        sha256 = put_blob(session, data)
        row = session.execute(text("SELECT size, length(zstd) AS packed FROM blob")).one()
    assert row.size == len(data)
    assert row.packed < len(data) // 1000
    with store.read() as session:
        assert get_blob(session, sha256) == data


def test_a_missing_blob_is_named(store: Store) -> None:
    with store.read() as session, pytest.raises(UnknownRow, match="no blob abc"):
        get_blob(session, "abc")
    with store.read() as session, pytest.raises(LookupError):
        get_blob(session, "abc")


@pytest.mark.parametrize("how", ["UPDATE blob SET zstd = :other", "UPDATE blob SET zstd = :broken"])
def test_damaged_bytes_are_not_given_out(store: Store, how: str) -> None:
    with store.write() as session:
        sha256 = put_blob(session, b"data")
        put_blob(session, b"other")
        other = session.execute(text("SELECT zstd FROM blob WHERE size = 5")).scalar_one()
        statement = text(how)
        session.execute(statement, {"other": other} if ":other" in how else {"broken": b"\x00\x01"})
        with pytest.raises(StoreUnavailable, match=r"have changed|damaged"):
            get_blob(session, sha256)


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_any_text_survives_lone_surrogates_included(written: str) -> None:
    assert decode_text(encode_text(written)) == written
