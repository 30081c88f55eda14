"""Stores that this process may not write: read without changing a byte, or refused in a sentence."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from db.engine import Store, StoreBusy, StoreError, StoreFull, StoreUnavailable, open_store
from db.migrate import known_revisions
from db.problems import list_problems, save_problem
from tests.db.builders import NOW, problem
from tests.without_rights import rights_count


@contextmanager
def locked(folder: Path) -> Iterator[dict[str, bytes]]:
    """The folder and its files, readable and not writable."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    try:
        with rights_count():
            yield before
    finally:
        folder.chmod(0o755)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")} == {
        name: content for name, content in before.items() if not name.endswith("-shm")
    }
    assert {path.name for path in folder.iterdir()} == set(before)


def fill(path: Path, *names: str) -> None:
    with open_store(str(path)) as store, store.write() as session:
        for name in names:
            save_problem(session, problem(name), now=NOW)


def names_in(store: Store) -> list[str]:
    with store.read() as session:
        return sorted(one.key.native_id for one in list_problems(session))


@pytest.mark.parametrize(
    ("file", "address"),
    [
        ("a store, 100%41?#.db", "{}"),
        ("store.db", "sqlite:///{}"),
        ("store.db", "sqlite:///file:{}?mode=ro&uri=true"),
    ],
)
def test_a_store_of_others_is_read_and_stays_as_it_is(tmp_path: Path, file: str, address: str) -> None:
    path = tmp_path / file
    fill(path, "a", "b")
    with locked(tmp_path):
        name = address.format(path)
        with open_store(name, reading=True) as store, store.read() as first, store.read() as second:
            assert len(list_problems(first)) == len(list_problems(second)) == 2
            with pytest.raises(StoreFull, match="read-only"), store.write() as session:
                save_problem(session, problem("c"), now=NOW)
            assert not store.has_written
        with pytest.raises(StoreError):
            open_store(str(path))


def test_a_file_that_may_not_be_written_gets_no_companions(tmp_path: Path) -> None:
    fill(tmp_path / "store.db", "a")
    (tmp_path / "store.db").chmod(0o444)
    tmp_path.chmod(0o777)
    with rights_count(), open_store(str(tmp_path / "store.db"), reading=True) as store:
        assert names_in(store) == ["a"]
        assert os.listdir(tmp_path) == ["store.db"]


def test_a_log_left_behind_is_read_with_and_without_its_index(tmp_path: Path) -> None:
    source = tmp_path / "source.db"
    fill(source, "a")
    kept_open = sqlite3.connect(source)  # so that closing does not empty the log
    kept_open.execute("SELECT count(*) FROM sqlite_master").fetchall()
    fill(source, "b")
    for copy, endings in (("whole", ("", "-wal", "-shm")), ("bare", ("", "-wal"))):
        (tmp_path / copy).mkdir()
        for ending in endings:
            shutil.copy(f"{source}{ending}", tmp_path / copy / f"store.db{ending}")
    kept_open.close()
    for copy in ("whole", "bare"):
        assert (tmp_path / copy / "store.db-wal").stat().st_size > 0
        with locked(tmp_path / copy), open_store(str(tmp_path / copy / "store.db"), reading=True) as store:
            assert names_in(store) == ["a", "b"]
            with store.read() as first, store.read() as second:
                assert len(list_problems(first)) == len(list_problems(second)) == 2


def test_a_writer_at_work_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(str(path)) as writer, writer.write() as session:
        save_problem(session, problem("a"), now=NOW)
        session.commit()
        assert sorted(file.name for file in tmp_path.iterdir()) == ["store.db", "store.db-shm", "store.db-wal"]
        with locked(tmp_path), open_store(str(path), reading=True) as store:
            assert names_in(store) == ["a"]


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_store_written_under_a_reader_without_locks_is_not_believed(tmp_path: Path, is_damaged: bool) -> None:
    path = tmp_path / "store.db"
    fill(path, "a")
    tmp_path.chmod(0o555)
    with rights_count():
        store = open_store(str(path), reading=True)
    with store:
        assert names_in(store) == ["a"]
        tmp_path.chmod(0o755)
        if is_damaged:
            path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 100_000)
        else:
            fill(path, "b")
        with pytest.raises(StoreBusy, match="while it was read") as caught:
            names_in(store)
    assert "again" in caught.value.hint


@pytest.mark.parametrize("is_empty", [False, True])
def test_what_has_to_be_migrated_first_is_refused(tmp_path: Path, is_empty: bool) -> None:
    path = tmp_path / "store.db"
    if is_empty:
        path.touch()
    else:
        fill(path, "a")
        older = sqlite3.connect(path)
        older.execute("UPDATE alembic_version SET version_num = ?", (known_revisions()[-2],))
        older.commit()
        older.close()
    with locked(tmp_path), pytest.raises(StoreFull, match=r"store\.db is read-only, and .* first") as caught:
        open_store(str(path), reading=True)
    assert "copy" in caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_a_transaction_that_was_cut_off_is_not_read_past(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    fill(path, "a")
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA journal_mode = DELETE")
    other.close()
    journal = sqlite3.connect(path, isolation_level=None)
    journal.execute("PRAGMA cache_size = 1")
    journal.execute("BEGIN IMMEDIATE")
    journal.execute("CREATE TABLE filler (x BLOB)")
    journal.execute("INSERT INTO filler VALUES (zeroblob(1000000))")
    (tmp_path / "cut").mkdir()
    for ending in ("", "-journal"):
        shutil.copy(f"{path}{ending}", tmp_path / "cut" / f"store.db{ending}")
    journal.close()
    with locked(tmp_path / "cut"), pytest.raises(StoreError) as caught:
        open_store(str(tmp_path / "cut" / "store.db"), reading=True)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["none.db", "no/such/folder.db", "sqlite:///file:none.db?mode=rwc&uri=true"])
@pytest.mark.parametrize("how", ["reading", "must_exist"])
def test_a_store_that_is_not_there_is_not_made(
    name: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreUnavailable, match=f"no store at {tmp_path}/no") as caught:
        open_store(name, reading=how == "reading", must_exist=how == "must_exist")
    assert "LIVE_DB" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_entered_does_not_make_a_store_missing(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    fill(tmp_path / "inner" / "store.db", "a")
    (tmp_path / "inner").chmod(0)
    with rights_count(), pytest.raises((StoreError, PermissionError)) as caught:
        open_store(str(tmp_path / "inner" / "store.db"), reading=True)
    assert "no store" not in str(caught.value)


def test_a_reader_of_a_writable_store_brings_it_up_to_date(store_url: str) -> None:
    open_store(store_url).close()
    with open_store(store_url, reading=True) as store:
        assert names_in(store) == []
        assert not store.has_written
    with open_store(store_url, must_exist=True) as store, store.write() as session:
        save_problem(session, problem("a"), now=NOW)
    assert store.has_written
