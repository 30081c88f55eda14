"""Snapshots: the same answer twice is one row, and an error never hides the last good page."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.engine import Store
from db.errors import UnknownRow
from db.snapshots import (
    ResponseRecord,
    SnapshotOrigin,
    SnapshotRecord,
    get_snapshot,
    list_snapshots,
    newest_recorded,
    newest_snapshot,
    save_snapshot,
    validate_snapshot,
)
from tests.db.builders import row_counts

NUMBERS = itertools.count()
START = datetime(2026, 3, 1, 3, 17, tzinfo=UTC)
URL = "https://site.example/contests"


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def response(
    body: bytes = b"page",
    status: int = 200,
    *,
    url: str = URL,
    origin: SnapshotOrigin = SnapshotOrigin.FETCHED,
    headers: dict[str, str] | None = None,
    sha256: str = "",
    final_url: str | None = None,
) -> ResponseRecord:
    method = "POST" if sha256 else "GET"
    return ResponseRecord("site", method, url, sha256, final_url or url, status, headers or {}, body, origin)


def save(store: Store, hours: float, given: ResponseRecord) -> SnapshotRecord:
    with store.write() as session:
        return save_snapshot(session, given, now=at(hours))


def newest(store: Store, url: str = URL, accept: tuple[int, ...] = ()) -> SnapshotRecord | None:
    with store.read() as session:
        return newest_snapshot(session, "GET", url, accept=accept)


def n_rows(store: Store) -> int:
    with store.read() as session:
        return row_counts(session)["snapshot"]


def test_a_response_comes_back_as_it_was(store: Store) -> None:
    headers = {"content-type": "text/html", "etag": '"1"'}
    saved = save(store, 0, response(b"<p>\xff\x00</p>", headers=headers))
    with store.read() as session:
        assert get_snapshot(session, saved.id) == saved == newest_snapshot(session, "GET", URL)
    assert (saved.source, saved.method, saved.url, saved.final_url) == ("site", "GET", URL, URL)
    assert (saved.status, saved.headers, saved.body, saved.origin) == (200, headers, b"<p>\xff\x00</p>", "fetched")
    assert saved.fetched_at == saved.validated_at == at(0)


def test_the_same_answer_again_adds_no_row_but_is_validated(store: Store) -> None:
    first = save(store, 0, response(headers={"etag": '"1"'}))
    again = save(store, 5, response(headers={"etag": '"2"'}))
    assert (again.id, again.fetched_at, again.validated_at) == (first.id, at(0), at(5))
    assert again.headers == {"etag": '"2"'}, "the next conditional request has to use the newer tag"
    assert newest(store) == again
    assert n_rows(store) == 1


@pytest.mark.parametrize("other", [response(b"new"), response(final_url=URL + "/moved"), response(status=203)])
def test_another_answer_is_a_new_row(store: Store, other: ResponseRecord) -> None:
    save(store, 0, response())
    changed = save(store, 1, other)
    assert newest(store) == changed
    assert n_rows(store) == 2


def test_a_page_that_changes_back_is_a_third_answer(store: Store) -> None:
    ids = [save(store, hours, response(body)).id for hours, body in enumerate([b"a", b"b", b"a"])]
    assert len(set(ids)) == 3
    found = newest(store)
    assert found is not None
    assert found.id == ids[2]


@pytest.mark.parametrize(
    "trouble",
    [
        response(b"down for maintenance", 503),
        response(b"not found", 404),
        response(b"prove that you are human", origin=SnapshotOrigin.REFUSED),
        response(b"", 302),
    ],
)
def test_trouble_never_hides_the_last_good_page(store: Store, trouble: ResponseRecord) -> None:
    good = save(store, 0, response())
    for hours in (1, 2, 3):
        save(store, hours, trouble)
    assert newest(store) == good
    assert n_rows(store) == 2, "the same trouble again is no news"
    assert save(store, 4, response()).id == good.id, "and neither is the page that is back"
    assert n_rows(store) == 2


def test_a_host_that_flaps_adds_two_rows_in_all(store: Store) -> None:
    for hours in range(10):
        save(store, hours, response(b"sorry", 503) if hours % 2 else response())
    assert n_rows(store) == 2


def test_accepted_statuses_are_usable_for_whoever_accepts_them(store: Store) -> None:
    save(store, 0, response(b"[]"))
    failed = save(store, 1, response(b'{"status":"FAILED"}', 400))
    assert newest(store, accept=(400,)) == failed
    validated = save(store, 2, response(b"[]"))
    assert newest(store, accept=(400,)) == newest(store) == validated


def test_a_page_handed_in_by_a_person_is_the_newest(store: Store) -> None:
    save(store, 0, response(b"old"))
    recorded = save(store, 1, response(b"by hand", origin=SnapshotOrigin.RECORDED))
    assert newest(store) == recorded
    again = save(store, 2, response(b"by hand", headers={"etag": '"1"'}))
    assert (again.id, again.origin, again.headers) == (recorded.id, SnapshotOrigin.FETCHED, {"etag": '"1"'})
    assert newest(store) == again
    assert save(store, 3, response(b"by hand", origin=SnapshotOrigin.RECORDED)).headers == {"etag": '"1"'}


def test_the_origin_is_that_of_what_came_last(store: Store) -> None:
    origins = [SnapshotOrigin.FETCHED, SnapshotOrigin.RECORDED, SnapshotOrigin.FETCHED]
    for hours, origin in enumerate(origins):
        saved = save(store, hours, response(origin=origin))
        assert (newest(store), saved.origin) == (saved, origin)
    recorded = save(store, 4, response(origin=SnapshotOrigin.RECORDED))
    with store.write() as session:
        assert validate_snapshot(session, recorded.id, now=at(5)).origin is SnapshotOrigin.FETCHED
        assert get_snapshot(session, recorded.id).origin is SnapshotOrigin.FETCHED
    refused = save(store, 6, response(b"prove it", origin=SnapshotOrigin.REFUSED))
    with store.write() as session:
        assert validate_snapshot(session, refused.id, now=at(7)).origin is SnapshotOrigin.REFUSED


def test_what_was_recorded_is_found_behind_what_was_fetched(store: Store) -> None:
    recorded = save(store, 0, response(b"by hand", origin=SnapshotOrigin.RECORDED))
    save(store, 1, response(b"fetched"))
    save(store, 2, response(b"refused", origin=SnapshotOrigin.REFUSED))
    with store.read() as session:
        assert newest_recorded(session, URL) == recorded
        assert newest_recorded(session, URL + "/1") is None


def test_requests_are_told_apart_by_method_address_and_body(store: Store) -> None:
    save(store, 0, response())
    one, two = (save(store, 0, response(b"answer", sha256=sha)) for sha in ("aa", "bb"))
    assert one.id != two.id
    with store.read() as session:
        assert newest_snapshot(session, "POST", URL, "bb") == two
        assert newest_snapshot(session, "POST", URL, "cc") is None
        assert newest_snapshot(session, "GET", URL + "/1") is None


def test_not_modified_validates_without_a_row(store: Store) -> None:
    first = save(store, 0, response())
    with store.write() as session:
        validated = validate_snapshot(session, first.id, now=at(3))
        assert validate_snapshot(session, first.id, now=at(2)).validated_at == at(3), "time never runs back"
    assert validated.validated_at == at(3)
    assert newest(store) == validated
    assert n_rows(store) == 1


def test_listing_leaves_the_bodies_where_they_are(store: Store) -> None:
    save(store, 0, response(b"x" * 1000))
    save(store, 1, response(b"sorry", 503))
    with store.write() as session:
        other = ResponseRecord("else", "GET", URL, "", URL, 200, {}, b"page", SnapshotOrigin.RECORDED)
        save_snapshot(session, other, now=at(2))
    with store.read() as session:
        listed = list_snapshots(session)
        assert [(one.source, one.status, one.origin, one.size) for one in listed] == [
            ("site", 200, SnapshotOrigin.FETCHED, 1000),
            ("site", 503, SnapshotOrigin.FETCHED, 5),
            ("else", 200, SnapshotOrigin.RECORDED, 4),
        ]
        assert [one.id for one in list_snapshots(session, "site")] == [one.id for one in listed[:2]]
        assert list_snapshots(session, "nobody") == []


def test_what_is_not_there_is_named(store: Store) -> None:
    with store.write() as session:
        with pytest.raises(UnknownRow, match="no snapshot 7"):
            get_snapshot(session, 7)
        with pytest.raises(UnknownRow, match="no snapshot 7"):
            validate_snapshot(session, 7, now=at(0))


def test_what_no_database_holds_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ResponseRecord\.url must not be empty"):
        response(url="")
    with pytest.raises(ValueError, match=r"ResponseRecord\.headers holds a NUL"):
        response(headers={"x": "\0"})


def test_naive_instants_are_refused(store: Store) -> None:
    with store.write() as session, pytest.raises(ValueError, match="now must be an aware UTC datetime"):
        save_snapshot(session, response(), now=datetime(2026, 3, 1))


ANSWERS = st.tuples(
    st.sampled_from([b"a", b"b"]), st.sampled_from([200, 404, 503]), st.sampled_from(list(SnapshotOrigin))
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ANSWERS, max_size=12))
def test_the_newest_usable_page_is_the_last_one_that_came(
    shared_store: Store, answers: list[tuple[bytes, int, SnapshotOrigin]]
) -> None:
    url = f"https://site.example/{next(NUMBERS)}"
    expected: tuple[bytes, SnapshotOrigin] | None = None
    rows = n_rows(shared_store)
    last: dict[tuple[int, bool], bytes] = {}
    n_new = 0
    for hours, (body, status, origin) in enumerate(answers):
        save(shared_store, hours, response(body, status, origin=origin, url=url))
        kind = (status, origin is SnapshotOrigin.REFUSED)
        n_new += last.get(kind) != body
        last[kind] = body
        if status == 200 and origin is not SnapshotOrigin.REFUSED:
            expected = (body, origin)
    found = newest(shared_store, url)
    assert (found and (found.body, found.origin)) == expected
    assert n_rows(shared_store) == rows + n_new
