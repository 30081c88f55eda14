"""Opening a store, its two kinds of transaction, and what happens when the file or the disk is not as it should be."""

from __future__ import annotations

import logging
import os
import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

import db
from db.blobs import get_blob, put_blob
from db.engine import Store, StoreBusy, StoreError, StoreFull, StoreTooNew, StoreUnavailable, open_store
from db.problems import list_problems, save_problem
from tests.db.builders import NOW, problem, row_counts


def test_every_connection_of_a_file_is_set_up(sqlite_store: Store) -> None:
    with sqlite_store.read() as first, sqlite_store.read() as second:
        for session in (first, second):
            assert session.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert session.execute(text("PRAGMA foreign_keys")).scalar() == 1
            assert session.execute(text("PRAGMA busy_timeout")).scalar() == 60_000
            assert session.execute(text("PRAGMA synchronous")).scalar() == 1


def test_paths_and_urls_name_the_same_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    urls = set()
    for name in ("a b.db", "sqlite:///a b.db", str(tmp_path / "a b.db"), "~/a b.db"):
        with open_store(name) as store:
            urls.add(store.url)
    assert len(urls) == 1
    with open_store(urls.pop()) as store, store.read() as session:
        assert list_problems(session) == []
    assert (tmp_path / "a b.db").is_file()


def test_a_block_that_fails_leaves_nothing(store: Store) -> None:
    def write_and_raise(error: BaseException) -> None:
        with store.write() as session:
            save_problem(session, problem(), now=NOW)
            raise error

    for error in (RuntimeError("stop"), KeyboardInterrupt(), SystemExit()):
        with pytest.raises(type(error)):
            write_and_raise(error)
    with store.read() as session:
        assert not any(row_counts(session).values())


def test_a_reader_keeps_its_snapshot_while_a_writer_commits(store: Store) -> None:
    with store.read() as reader:
        assert list_problems(reader) == []
        with store.write() as writer:
            save_problem(writer, problem(), now=NOW)
        assert list_problems(reader) == []
        assert row_counts(reader)["problem"] == 0
    with store.read() as reader:
        assert len(list_problems(reader)) == 1


def test_a_reader_does_not_wait_for_a_writer(store: Store) -> None:
    with store.write() as writer:
        save_problem(writer, problem(), now=NOW)
        with store.read() as reader:
            assert list_problems(reader) == []


def test_a_read_session_cannot_write(store: Store) -> None:
    with pytest.raises(StoreFull, match="read-only"), store.read() as session:
        save_problem(session, problem(), now=NOW)
    with store.write() as session:  # The same connection writes again.
        save_problem(session, problem(), now=NOW)


def test_rows_that_point_nowhere_are_refused(store: Store) -> None:
    with pytest.raises(IntegrityError), store.write() as session:
        session.execute(text("INSERT INTO contest_problem (contest_id, problem_id) VALUES (7, 8)"))
    with store.read() as session:
        assert row_counts(session)["contest_problem"] == 0


def test_a_mistake_in_a_statement_is_not_a_store_error(store: Store) -> None:
    with pytest.raises(Exception, match="no_such_table") as caught, store.read() as session:
        session.execute(text("SELECT * FROM no_such_table"))
    assert not isinstance(caught.value, StoreError)


def test_a_writer_that_waits_too_long_is_told_so(sqlite_store: Store) -> None:
    with sqlite_store.read() as session:  # The connection that the next writer gets, told not to wait.
        session.execute(text("PRAGMA busy_timeout = 1"))
    other = sqlite3.connect(Path(sqlite_store.url.removeprefix("sqlite:///")))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="locked") as caught, sqlite_store.write() as session:
        save_problem(session, problem(), now=NOW)
    assert "wait" in caught.value.hint
    other.close()


def test_a_store_from_a_newer_version_is_left_alone(store_url: str) -> None:
    with open_store(store_url) as store, store.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreTooNew, match=r"newer version.*9999") as caught:
        open_store(store_url)
    assert "pip install --upgrade" in caught.value.hint


def test_a_full_disk_keeps_what_was_committed(sqlite_store: Store) -> None:
    def write_too_much() -> None:
        with sqlite_store.write() as session:
            pages = session.execute(text("PRAGMA page_count")).scalar_one()
            session.execute(text(f"PRAGMA max_page_count = {pages + 5}"))
            save_problem(session, problem("lost"), now=NOW)
            put_blob(session, os.urandom(100_000))

    with sqlite_store.write() as session:
        save_problem(session, problem("kept"), now=NOW)
    with pytest.raises(StoreFull, match="full") as caught:
        write_too_much()
    assert "space" in caught.value.hint
    with sqlite_store.read() as session:
        assert [one.key.native_id for one in list_problems(session)] == ["kept"]
        assert session.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    with sqlite_store.write() as session:  # And once there is room again, work goes on.
        session.execute(text("PRAGMA max_page_count = 100000"))
        data = os.urandom(100_000)
        assert get_blob(session, put_blob(session, data)) == data


def test_a_read_only_store_can_be_read_and_says_so_when_written(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(str(path)) as kept_open, kept_open.write() as session:
        save_problem(session, problem(), now=NOW)
    with open_store(str(path)), open_store(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        with store.read() as session:
            assert len(list_problems(session)) == 1
        with pytest.raises(StoreFull, match="read-only") as caught, store.write() as session:
            save_problem(session, problem("other"), now=NOW)
        assert "writing" in caught.value.hint


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("shopping list\n" * 100)
    with pytest.raises(StoreUnavailable, match=r"notes\.txt.*not a database"):
        open_store(str(path))
    assert path.read_text() == "shopping list\n" * 100


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmark (url TEXT)")
    other.commit()
    other.close()
    with pytest.raises(StoreUnavailable, match=r"another program.*bookmark"):
        open_store(str(path))
    other = sqlite3.connect(path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmark",)]
    assert other.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    other.close()


@pytest.mark.parametrize(
    ("url", "what"),
    [
        (":memory:", "in memory"),
        ("sqlite://", "in memory"),
        ("nowhere/at/all.db", "does not exist"),
        (".", "is a folder"),
        ("sqlite:/single.db", "does not exist"),
        ("mongo://host/db", "no driver"),
        ("postgresql://nobody@127.0.0.1:9/none", "cannot reach|no driver"),
        ("://", "cannot read"),
    ],
)
def test_an_address_that_leads_nowhere_says_why(
    url: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreUnavailable, match=what) as caught:
        open_store(url)
    assert caught.value.hint
    assert "\n" not in caught.value.message
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_shared_memory_is_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        open_store(f"sqlite:///file:{tmp_path / 'store.db'}?vfs=unix-none&uri=true").close()
    assert "cannot use write-ahead logging" in caplog.text


def test_a_store_is_not_carried_over_a_fork(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="each process"), store.read():
        pass


def test_store_errors_cross_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(StoreFull("what", "do")))
    assert (type(error), str(error), error.hint) == (StoreFull, "what", "do")


def test_the_cheap_modules_load_no_database() -> None:
    code = "import sys, db, db.records, db.errors; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_name_of_the_face_is_there() -> None:
    assert all(getattr(db, name) is not None for name in db.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = db.nothing


def test_a_store_whose_file_is_gone_takes_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(str(path)) as store:
        path.rename(tmp_path / "elsewhere.db")
        with pytest.raises(StoreUnavailable, match="is gone"), store.write():
            pass
        (tmp_path / "elsewhere.db").rename(path)
        with store.read() as session:
            assert session is not None
