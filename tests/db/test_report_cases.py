"""What people who run such tools reported of their databases: each kind of fault, and how the store behaves instead."""

from __future__ import annotations

import logging
import multiprocessing
import sqlite3
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, select, text
from sqlalchemy.exc import StatementError

from db import tables as t
from db.blobs import pack
from db.completions import RunRecord, save_completions, save_run
from db.contests import load_contests, save_contest
from db.engine import Store, StoreFull, StoreTooNew, open_store
from db.judgements import EnvironmentRecord, JudgementRecord, load_verdicts, save_environment, save_judgements
from db.migrate import MIGRATIONS, known_revisions
from db.problems import list_problems, save_problem
from db.records import ContestKind, ContestRecord, DateClaim, Precision, ProblemRecord, SaveOutcome
from db.sql import insert_row
from tests.db.builders import NOW, claim, completion, key_of, problem, row_counts

SPAWN = multiprocessing.get_context("spawn")
NEWEST = known_revisions()[-1]
TOKYO = timezone(timedelta(hours=9))


# F10: a collector, two judges and a report on one store at once.

SECONDS = 5.0
N_ANSWERS = 200


def collect_for(url: str, seconds: float, per_second: float) -> int:
    """Save problems, one a transaction; how many."""
    done = 0
    with open_store(url) as store:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with store.write() as session:
                save_problem(session, problem(f"new-{done}", platform="collected"), now=NOW)
            done += 1
            time.sleep(1 / per_second)
    return done


def judge_for(url: str, seconds: float, per_second: float, environment: str) -> int:
    """Save verdicts, one a transaction, each in an environment of its own round; how many."""
    done = 0
    with open_store(url) as store:
        with store.read() as session:
            answers = session.execute(select(t.completion.c.id, t.problem.c.current_suite_id).join(t.problem)).all()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer, suite = answers[done % len(answers)]
            with store.write() as session:
                name = f"{environment} {done // len(answers)}"
                environment_id = save_environment(session, EnvironmentRecord(name, "none"), now=NOW)
                save_judgements(session, environment_id, [JudgementRecord(answer, suite, "accepted", [], NOW)])
            done += 1
            time.sleep(1 / per_second)
    return done


def report_for(url: str, seconds: float) -> int:
    """Read reports one after the other; how many. What was seen once is seen again."""
    seen, reports = 0, 0
    with open_store(url) as store:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with store.read() as session:
                found = len(list_problems(session, platform="collected"))
                load_verdicts(session, 1, [1])
            assert found >= seen
            seen = found
            reports += 1
    return reports


@pytest.mark.slow
def test_a_collector_two_judges_and_a_report_never_meet_a_lock(store_url: str) -> None:
    with open_store(store_url) as store, store.write() as session:
        for number in range(N_ANSWERS):
            save_problem(session, problem(f"p{number}"), now=NOW)
        run_id = save_run(session, RunRecord("model"), now=NOW)
        save_completions(session, run_id, [completion(f"p{number}") for number in range(N_ANSWERS)])
    with ProcessPoolExecutor(4, mp_context=SPAWN) as pool:
        collecting = pool.submit(collect_for, store_url, SECONDS, 50)
        judging = [pool.submit(judge_for, store_url, SECONDS, 100, name) for name in ("first", "second")]
        reporting = pool.submit(report_for, store_url, SECONDS)
        n_problems, n_verdicts = collecting.result(timeout=300), sum(one.result(timeout=300) for one in judging)
        assert reporting.result(timeout=300) > 0
    with open_store(store_url) as store, store.read() as session:
        counts = row_counts(session)
    assert n_problems > 0
    assert n_verdicts > 0
    assert (counts["problem"], counts["judgement"]) == (N_ANSWERS + n_problems, n_verdicts)


# F12: instants keep their zone.


def test_instants_come_back_aware_and_equal_and_a_naive_one_is_refused(store: Store) -> None:
    in_tokyo, in_utc = datetime(2026, 3, 1, tzinfo=TOKYO), datetime(2026, 2, 28, 15, tzinfo=UTC)
    for name, instant in (("tokyo", in_tokyo), ("utc", in_utc)):
        with store.write() as session:
            insert_row(session, t.contest, {"platform": "judge", "native_id": name, "starts_at": instant})
    naive = {"platform": "judge", "native_id": "naive", "starts_at": datetime(2026, 3, 1)}
    with store.write() as session, pytest.raises(StatementError, match="must have timezone information"):
        insert_row(session, t.contest, naive)
    with store.read() as session:
        starts = [one.record.starts_at for one in load_contests(session, "judge")]
    assert starts == [in_utc, in_utc]
    assert all(start is not None and start.tzinfo is UTC for start in starts)


@pytest.mark.parametrize("starts_at", [datetime(2026, 3, 1), datetime(2026, 3, 1, tzinfo=TOKYO)])
def test_a_record_takes_nothing_but_utc(starts_at: datetime) -> None:
    with pytest.raises(ValueError, match="starts_at must be an aware UTC datetime"):
        ContestRecord("judge", "c1", starts_at=starts_at)
    with pytest.raises(ValueError, match="earliest must be an aware UTC datetime"):
        DateClaim("2026-03-01", starts_at, Precision.DAY, "list")


INSTANTS = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.sampled_from([UTC, TOKYO]))


@pytest.fixture(scope="module")
def file_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One SQLite file for all examples."""
    with open_store(str(tmp_path_factory.mktemp("store") / "store.db")) as opened:
        yield opened


@settings(deadline=None)
@given(first=INSTANTS, second=INSTANTS)
def test_raw_text_in_the_file_sorts_in_the_order_of_time(file_store: Store, first: datetime, second: datetime) -> None:
    with file_store.write() as session:
        session.execute(t.lease.delete())
        for name, instant in (("first", first), ("second", second)):
            insert = {"name": name, "owner": "o", "taken_at": instant, "expires_at": instant}
            session.execute(t.lease.insert(), insert)
        raw = {name: written for name, written in session.execute(text("SELECT name, expires_at FROM lease"))}
    assert (raw["first"] < raw["second"], raw["first"] == raw["second"]) == (first < second, first == second)


# F15: values and not names are stored, and a spelling that is not known breaks nothing else.


def test_values_of_enums_are_stored(store: Store) -> None:
    with store.write() as session:
        save_problem(session, problem(), now=NOW)
        save_contest(session, ContestRecord("judge", "c1", kind=ContestKind.TRAINING), source="list", now=NOW)
    with store.read() as session:
        assert session.execute(text("SELECT DISTINCT precision FROM date_claim")).scalars().all() == ["day"]
        assert session.execute(text("SELECT DISTINCT origin FROM test_case")).scalars().all() == ["official"]
        assert session.execute(text("SELECT io_kind FROM test_suite")).scalars().all() == ["stdin"]
        assert session.execute(text("SELECT kind FROM contest")).scalars().all() == ["training"]


def test_a_platform_that_nobody_knew_needs_no_migration(store: Store) -> None:
    with store.write() as session:
        save_problem(session, problem(platform="a judge of tomorrow"), now=NOW)
    with store.read() as session:
        assert [one.key.platform for one in list_problems(session)] == ["a judge of tomorrow"]


def test_a_contest_of_an_unknown_kind_hides_no_other_and_dates_nothing(store: Store) -> None:
    with store.write() as session:
        for native in ("c1", "c2"):
            save_contest(session, ContestRecord("judge", native, starts_at=NOW), source="list", now=NOW)
        session.execute(text("UPDATE contest SET kind = 'ROUND' WHERE native_id = 'c2'"))
    with store.read() as session:
        kinds = {one.record.native_id: one.record.kind for one in load_contests(session, "judge")}
    assert kinds["c1"] is ContestKind.ROUND
    assert kinds["c2"] is not ContestKind.ROUND


# F16 and F17: keys that fit, and keys with an empty part.


def test_the_same_problem_again_is_one_row_with_the_newest_index_and_title(store: Store) -> None:
    said = [("A", "T"), ("A", "T"), ("B", "T"), ("B", "T2")]
    outcomes = []
    for number, (index, title) in enumerate(said):
        record = ProblemRecord(
            key_of(), title, (claim(),), "list", contest=ContestRecord("judge", "c1"), contest_index=index
        )
        with store.write() as session:
            outcomes.append(save_problem(session, record, now=NOW + number * timedelta(days=1)).outcome)
    assert outcomes == [SaveOutcome.CREATED, SaveOutcome.UNCHANGED, SaveOutcome.UPDATED, SaveOutcome.UPDATED]
    with store.read() as session:
        counts = row_counts(session)
        assert (counts["problem"], counts["contest"], counts["contest_problem"]) == (1, 1, 1)
        row = session.execute(select(t.problem)).one()
        assert (row.title, row.first_seen_at, row.last_seen_at) == ("T2", NOW, NOW + timedelta(days=3))
        assert session.execute(select(t.contest_problem.c.contest_index)).scalars().all() == ["B"]


def test_a_batch_with_the_same_problem_twice_in_it(store: Store) -> None:
    batch = [problem(f"p{number % 199}") for number in range(200)]
    with store.write() as session:
        outcomes = [save_problem(session, record, now=NOW).outcome for record in batch]
    assert outcomes.count(SaveOutcome.CREATED) == 199
    assert outcomes[-1] is SaveOutcome.UNCHANGED
    with store.read() as session:
        assert row_counts(session)["problem"] == 199


def test_a_problem_of_no_contest_is_one_row_however_often_it_comes(store: Store) -> None:
    for number in range(4):
        with store.write() as session:
            save_problem(session, problem(), now=NOW + number * timedelta(days=1))
    with store.read() as session:
        counts = row_counts(session)
    # The claim's key has a part for the contest, which is "" and never NULL: NULLs would never meet.
    assert (counts["problem"], counts["date_claim"], counts["contest"], counts["contest_problem"]) == (1, 1, 0, 0)
    with pytest.raises(ValueError, match="native_id must not be empty"):
        ContestRecord("judge", "")


# F18: a store of the version before.

OLD_ROWS = """
INSERT INTO environment (id, digest, executor, details, created_at) VALUES (1, 'e', 'none', '{}', '2025-01-01');
INSERT INTO problem (id, platform, native_id, title, status, first_source, first_seen_at, current_suite_id)
    VALUES (1, 'judge', 'p1', 'Old', 'active', 'list', '2025-01-01 00:00:00.000000', 1);
INSERT INTO test_suite (id, problem_id, digest, io_kind, comparison, n_tests, samples_only, source, first_seen_at)
    VALUES (1, 1, 'd', 'stdin', '{}', 1, 0, 'list', '2025-01-01 00:00:00.000000');
INSERT INTO run (id, digest, model, label, conditions, created_at)
    VALUES (1, 'r', 'model', '', '{}', '2025-01-01 00:00:00.000000');
"""


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """A store at the first revision, with three verdicts, and open to nobody."""
    path = tmp_path / "old.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(OLD_ROWS)
        connection.execute("INSERT INTO blob VALUES ('c', 3, ?)", (pack(b"old"),))
        for number in range(3):
            answer = (number + 1, number)
            connection.execute("INSERT INTO completion VALUES (?, 1, 1, ?, 'python3', NULL, 'c', NULL)", answer)
            verdict = (number + 1, number + 1, "accepted" if number else "wrong_answer", pack(b"[]"))
            connection.execute("INSERT INTO judgement VALUES (?, ?, 1, 1, ?, '2025-01-01', ?)", verdict)
        connection.commit()
    return path


def verdicts_in(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT version_num, verdict FROM judgement, alembic_version ORDER BY id")
        return list(rows)


def test_an_old_store_is_kept_beside_and_comes_up_with_its_rows(
    old_store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old_store.chmod(0o600)
    with open_store(str(old_store)) as store, store.read() as session:
        found = load_verdicts(session, 1, [1])
        assert [row.verdict for row in found] == ["wrong_answer", "accepted", "accepted"]
        assert session.execute(select(t.completion.c.revision_id)).scalars().all() == [None] * 3, "not known"
        assert [one.title for one in list_problems(session)] == ["Old"]
    copy = old_store.with_name(f"old.db.before-{NEWEST}")
    kept = [("0001", "wrong_answer"), ("0001", "accepted"), ("0001", "accepted")]
    assert verdicts_in(copy) == kept
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert f"kept in {copy}" in caplog.text
    assert verdicts_in(old_store) == [(NEWEST, verdict) for _, verdict in kept]
    copied_at = copy.stat().st_mtime_ns
    open_store(str(old_store)).close()
    assert copy.stat().st_mtime_ns == copied_at, "a store that is up to date is not copied"


def test_what_is_not_yet_in_the_file_is_in_its_copy(old_store: Path) -> None:
    with closing(sqlite3.connect(old_store)) as other:  # While it is open, the write-ahead log is not moved over.
        other.execute("UPDATE judgement SET verdict = 'time_limit'")
        other.commit()
        assert old_store.with_name("old.db-wal").stat().st_size > 0
        open_store(str(old_store)).close()
    assert verdicts_in(old_store.with_name(f"old.db.before-{NEWEST}")) == [("0001", "time_limit")] * 3


def test_a_step_that_fails_leaves_the_store_as_it_was(old_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise RuntimeError("a fault in the step")

    with monkeypatch.context() as patched:
        patched.setattr("db.migrate._upgrade", fail)
        with pytest.raises(RuntimeError, match="a fault in the step"):
            open_store(str(old_store))
    assert len(verdicts_in(old_store)) == 3
    with closing(sqlite3.connect(old_store)) as other:  # The old version goes on with it before the step comes about.
        other.execute("UPDATE judgement SET verdict = 'time_limit'")
        other.commit()
    open_store(str(old_store)).close()
    assert verdicts_in(old_store.with_name(f"old.db.before-{NEWEST}")) == [("0001", "time_limit")] * 3


def test_without_room_for_the_copy_nothing_is_changed(old_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect_full(*args: object) -> sqlite3.Connection:
        connection = sqlite3.Connection(str(args[0]))
        connection.execute("PRAGMA max_page_count = 2")
        return connection

    before = old_store.read_bytes()
    monkeypatch.setattr("db.migrate.sqlite3.connect", connect_full)
    with pytest.raises(StoreFull, match="full"):
        open_store(str(old_store))
    monkeypatch.undo()
    assert sorted(path.name for path in old_store.parent.glob("old.db.*")) == []
    assert (verdicts_in(old_store)[0][0], len(before)) == ("0001", old_store.stat().st_size)


def test_without_a_place_for_the_copy_nothing_is_changed(old_store: Path) -> None:
    in_the_way = old_store.with_name(f"old.db.before-{NEWEST}.part")
    in_the_way.mkdir()
    with pytest.raises(StoreFull, match=r"old\.db could not be copied before its migration") as caught:
        open_store(str(old_store))
    assert "beside it" in caught.value.hint
    assert verdicts_in(old_store)[0][0] == "0001"


def test_a_new_store_has_no_copy(tmp_path: Path) -> None:
    open_store(str(tmp_path / "new.db")).close()
    assert [path.name for path in tmp_path.iterdir() if "before" in path.name] == []


def test_processes_that_meet_at_an_old_store_migrate_it_once(old_store: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), ProcessPoolExecutor(3, mp_context=SPAWN) as pool:
        counted = list(pool.map(count_verdicts, [str(old_store)] * 6))
    assert counted == [3] * 6
    assert len(verdicts_in(old_store.with_name(f"old.db.before-{NEWEST}"))) == 3


def count_verdicts(url: str) -> int:
    with open_store(url) as store, store.read() as session:
        return len(load_verdicts(session, 1, [1]))


def test_a_store_that_is_too_new_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    open_store(str(path)).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="9999"):
        open_store(str(path))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if "before" in one.name] == []
