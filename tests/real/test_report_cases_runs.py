"""Report cases of groups A and F that are about runs: fetching, the schedule, the store's file and the command.

Times of the cases are scaled down where somebody really waits. Which test shows which case stands in
``report_cases.py``.
"""

from __future__ import annotations

import json
import multiprocessing
import queue
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, select

from db import tables as t
from db.blobs import pack
from db.engine import Store, StoreUnavailable, open_store
from db.ingest_runs import IngestOutcome, list_runs
from db.judgements import load_verdicts
from db.migrate import MIGRATIONS
from db.problems import list_problems
from db.records import ContestRecord
from ingest.errors import PageChanged
from ingest.importing import import_problems
from ingest.nightly import Ingestion, IngestSettings
from ingest.pages import Fetch
from ingest.planning import Due, parse_cron
from ingest.runs import RunReport, guarded_run
from ingest.schedule import run_due
from ingest.sources import Host, Listing, ProblemRef, Wanted
from ingest.web.fetch import FetchSettings, Limits
from tests.ingest.nights import Clock, complete
from tests.ingest.reading import write_rows
from tests.ingest.server import Reply, SiteServer, Wire, fetcher, silence
from tests.ingest.test_fetch_manners import fetch_some
from tests.ingest.test_planning import fires
from tests.live.command import Live, runner
from tests.real.case_sites import CaseSite, answer, instant, open_case_store, stand_in
from tests.real.test_fetching import SITE, lay_down

pytestmark = pytest.mark.shared

DAY = timedelta(days=1)
SCALE = 0.1
"""What a second of a case is here."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Live:
    monkeypatch.setenv("LIVE_CONTACT", "you@example.org")
    return runner(monkeypatch, capsys, tmp_path)


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def local_site(name: str) -> CaseSite:
    """A source without hosts, with one contest that ended the day before yesterday."""
    site = CaseSite(name=name, hosts=())
    site.add("c1", datetime.now(UTC) - 2 * DAY, ProblemRef("c1_a", "A Task", "A"))
    return site


# Fetching


@pytest.mark.enable_socket
def test_a24_a_login_in_place_of_data_fails_one_source_alone(
    cases: Path, live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    routes = load(cases / "A24" / "routes.json")
    url = SITE + next(iter(routes))

    def discover(fetch: Fetch, wanted: Wanted) -> Listing:
        return Listing((ContestRecord("aoj", str(fetch(url).json()["id"])),))

    gated = CaseSite(name="aoj", hosts=(Host("site.example", 0.01),)).source()
    stand_in(monkeypatch, "aoj", replace(gated, discover=discover))
    stand_in(monkeypatch, "yukicoder", local_site("yukicoder").source())
    with SiteServer(tcp=True) as server:
        lay_down(server, routes)
        mirror = f'"{SITE}" = "http://127.0.0.1:{server.port}/site.example"\n'
        (tmp_path / "live.toml").write_text(f"[ingest.mirrors]\n{mirror}", encoding="utf-8")
        ended = live("ingest", "aoj", "yukicoder", "--json")
        assert server.asked() == [next(iter(routes))], "no login is looked at, and nothing asked again"
    refused, other = ended.document
    assert ended.code == 1
    assert (refused["outcome"], refused["error_kind"]) == ("failed", "auth_required")
    assert url in refused["error"]
    assert (other["outcome"], other["counts"]["problems_new"]) == ("completed", 1)
    assert [one["problem"] for one in live("problems", "list", "--json").document] == ["yukicoder:c1_a"]


def test_a27_one_interval_for_all_jobs(cases: Path, store: Store) -> None:
    plan = load(cases / "A27" / "plan.json")
    jobs = {job["name"]: job["requests"] for job in plan["jobs"]}
    interval_s = plan["min_gap_s"] * SCALE
    with SiteServer() as server:
        for name, n_requests in jobs.items():
            for number in range(n_requests):
                server.page(f"{SITE}/{name}/{number}", b"x")
        with ProcessPoolExecutor(len(jobs), mp_context=multiprocessing.get_context("spawn")) as pool:
            running = [
                pool.submit(fetch_some, store.url, str(server.path), name, n_requests, interval_s)
                for name, n_requests in jobs.items()
            ]
            assert sum(job.result(timeout=120) for job in running) == len(server.arrivals)
        assert len(server.asked("site.example")) == sum(jobs.values())
        assert min(server.gaps_s("site.example")) >= interval_s


def test_f09_more_requests_than_connections(cases: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = load(cases / "F09" / "plan.json")
    monkeypatch.setattr("ingest.web.exchange.CONNECTIONS", plan["max_connections"])

    def slowly(wire: Wire) -> None:
        time.sleep(plan["server_delay_s"] * SCALE)
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")

    hosts = [Host(f"{name}.example", 0.001) for name in ("one", "two", "three")]
    urls = [f"https://{hosts[number % 3].name}/{number}" for number in range(plan["requests"])]
    with SiteServer() as server:
        for url in urls:
            server.page(url, Reply(act=slowly))
        with fetcher(store, server, hosts=hosts) as fetch, ThreadPoolExecutor(len(urls)) as pool:
            assert [page.body for page in pool.map(fetch, urls)] == [b"x"] * plan["expected_ok"]
            assert fetch.counts.retries == 0


# Runs and the schedule


def test_a31_a_contest_that_is_not_whole_is_told_and_made_whole(
    cases: Path, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing, plan = load(cases / "A31" / "listing.json"), load(cases / "A31" / "plan.json")
    contest = listing["contest_id"]
    site = CaseSite(name="aoj", hosts=())
    refs = {index: ProblemRef(f"{contest}_{index.lower()}", f"Task {index}", index) for index in listing["tasks"]}
    site.add(contest, datetime.now(UTC) - 2 * DAY, *refs.values())
    for index in plan["run1"]["fail_on"]:
        site.faults[refs[index].native_id] = PageChanged(f"the page of {index} has no 'pre'")
    stand_in(monkeypatch, "aoj", site.source())
    first = live("ingest", "aoj", "--json")
    assert (first.code, first.document[0]["outcome"]) == (1, "partial")
    assert first.document[0]["counts"]["contests_incomplete"] == 1
    assert "failed: zabc361/C: the page of C has no 'pre'" in live("runs", "aoj").out
    assert ": 3 of 4 problems" in live("runs").out, "it ended more than a day ago"

    site.faults.clear()
    site.asked.clear()
    second = live("ingest", "aoj", "--json")
    assert (second.code, second.document[0]["outcome"]) == (0, "completed")
    assert site.asked == [contest, *(refs[index].native_id for index in plan["run1"]["fail_on"])]
    assert "of 4 problems" not in live("runs").out


NO_NETWORK = """
import importlib, pkgutil, socket, sys
def refuse(*_args, **_kwargs):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
for room in ("live", "ingest", "eval", "db", "sandbox"):
    for module in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
        if ".migrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
from live.cli import main
for words in (["--help"], ["ingest", "--help"], ["eval", "--help"]):
    sys.argv = ["live", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""


def test_a37_nothing_is_asked_at_import_or_for_help() -> None:
    done = subprocess.run([sys.executable, "-c", NO_NETWORK], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Usage: live") == 3


def test_a37_a_source_that_does_not_load_stops_no_command(
    cases: Path, live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The command runs without a network here. Source b of the case is yukicoder, and a, which is broken, aoj."""
    (tmp_path / "live.toml").write_text('[ingest]\nsources = ["aoj", "yukicoder", "icpc"]\n', encoding="utf-8")
    stand_in(monkeypatch, "aoj", None)
    for name in ("yukicoder", "icpc"):
        stand_in(monkeypatch, name, local_site(name).source())
    words = {
        "status": ["runs"],
        "report": ["eval", "--since", "2020", "--no-judge"],
        "--help": ["--help"],
        "collect": ["ingest", "yukicoder"],
    }
    rows = load(cases / "A37" / "commands.json")
    assert [row["args"][0] for row in rows] == list(words)
    for row in sorted(rows, key=lambda row: row["args"][0] != "collect"):
        assert live(*words[row["args"][0]]).code == row["exit"], row
        if row["args"][0] == "collect":
            with open_case_store(tmp_path) as store:
                answer(store, "reader", now=datetime.now(UTC))
    every = live("ingest", "--json")
    assert every.code == 1
    assert {one["source"]: one["outcome"] for one in every.document} == {
        "aoj": "failed",
        "yukicoder": "completed",
        "icpc": "completed",
    }
    assert "the source aoj does not load" in every.err


def test_f01_a_process_that_was_down_at_the_time_runs_once_and_late(cases: Path, store: Store) -> None:
    plan = load(cases / "F01" / "plan.json")
    trigger, day = parse_cron(plan["cron"]), "2026-01-05T"
    clock = Clock(instant(f"2026-01-04T{plan['down'][1]}Z"))

    def run(source: str, due: Due) -> RunReport:
        return guarded_run(store, source, due, complete, clock=clock)

    started = []
    for at in (clock(), *(instant(f"{day}{at}Z") for at in plan["down"])):
        clock.now = at
        looked = run_due(store, {plan["job"]: trigger}, run, now=at, stop=threading.Event())
        started += [f"{at:%H:%M} (late {(at - one.planned_at).seconds} s)" for one in looked.reports if one.planned_at]
    assert started[1:] == plan["expected_runs"]
    with store.read() as session:
        assert list_runs(session)[0].notes == ("planned for 2026-01-05 03:00 UTC, 10 min late",)


def test_f05_in_the_night_of_the_clock_change_each_hour_comes_once(cases: Path) -> None:
    plan = load(cases / "F05" / "plan.json")
    for start in (instant(plan["start"]), instant("2026-03-28T23:45:00Z")):
        found = fires(parse_cron(plan["cron"]), start, plan["count"])
        assert len(found) == plan["count"]
        assert {later - earlier for earlier, later in pairwise(found)} == {timedelta(hours=1)}


def test_f06_everything_is_planned_in_utc(cases: Path) -> None:
    days, cron = load(cases / "F06" / "plan.json")
    first = datetime.fromisoformat(days["start"]).replace(tzinfo=ZoneInfo(days["zone"])).astimezone(UTC)
    daily = fires(parse_cron(f"{first.minute} {first.hour} * * *"), first, days["count"])
    assert [instant.isoformat() for instant in daily] == [
        "2026-03-28T15:00:00+00:00",
        "2026-03-29T15:00:00+00:00",
        "2026-03-30T15:00:00+00:00",
    ]
    around = instant(f"{cron['around']}T00:00Z")
    nights = fires(parse_cron(cron["cron"]), around - DAY, 3)
    assert nights == [around + number * DAY + timedelta(hours=2, minutes=30) for number in (-1, 0, 1)]


def test_f07_a_run_that_hangs_ends_at_its_deadline_and_the_source_is_failing(
    cases: Path, store: Store, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = load(cases / "F07" / "plan.json")
    interval, deadline_s = timedelta(seconds=plan["interval_s"] * SCALE), plan["deadline_s"] * SCALE
    source = CaseSite(name="aoj", hosts=(Host("site.example", 0.001),)).source()
    stand_in(monkeypatch, "aoj", replace(source, discover=lambda fetch, wanted: fetch(f"{SITE}/list").json()))
    reached = queue.Queue[None]()

    def accept_and_stay_silent(wire: Wire) -> None:
        reached.put(None)
        silence(wire)

    with SiteServer() as server, ThreadPoolExecutor(1) as pool:
        server.fault("site.example", Reply(act=accept_and_stay_silent))
        settings = IngestSettings(
            FetchSettings("you@example.org", limits=Limits(run_s=deadline_s, backoff_s=0.001)), {}
        )
        planned_at = server.clock.now()

        def run(planned_at: datetime) -> RunReport:
            # A run closes its transport.
            ingestion = Ingestion(store, settings, server.clock, transport=server.transport())
            return ingestion.run("aoj", due=Due(planned_at, timedelta(0)))

        for _ in plan["expected"]:
            stuck = pool.submit(run, planned_at)
            reached.get(timeout=60)
            overlapping = run(planned_at + interval)
            assert (overlapping.run_id, overlapping.result.outcome) == (None, IngestOutcome.SKIPPED)
            assert stuck.result(timeout=60).result.outcome is IngestOutcome.FAILED
            planned_at += 2 * interval
    with store.read() as session:
        runs = list_runs(session)[::-1]
    assert [one.error_kind for one in runs] == plan["expected"]
    ends = [(one.started_at, one.finished_at) for one in runs]
    assert sum(end is None or end > start for (_, end), (start, _) in pairwise(ends)) == plan["overlaps"]
    status = live("runs")
    assert status.code == 1
    assert "FAILING, 3 not completed; the last: failed (timeout)" in status.out


# The store's file, and what a user types


def test_f12_instants_keep_their_zone_and_a_naive_one_is_refused(cases: Path, store: Store, tmp_path: Path) -> None:
    expected = load(cases / "F12" / "expected.json")
    rows = [
        {"platform": "own", "id": f"p{number}", "title": "T", "released": value}
        for number, value in enumerate(load(cases / "F12" / "values.json"))
    ]
    report = import_problems(store, write_rows(tmp_path / "rows.jsonl", rows), "jsonl", now=datetime.now(UTC))
    with store.read() as session:
        found = {one.key.native_id: one.released_at for one in list_problems(session)}
    naive = [number for number, value in enumerate(expected) if value == "ERROR naive"]
    assert found == {f"p{number}": instant(value) for number, value in enumerate(expected) if number not in naive}
    assert all(one is not None and one.tzinfo is UTC for one in found.values())
    assert [(one.where, one.reason.partition(" has ")[2]) for one in report.refused] == [
        (f"line {number + 1}, id 'p{number}'", "a time of day but no time zone") for number in naive
    ]


def test_f16_the_same_task_again_is_one_row(cases: Path, store: Store, tmp_path: Path) -> None:
    expected = load(cases / "F16" / "expected.json")
    first = datetime(2026, 1, 1, tzinfo=UTC)

    def row(given: dict[str, str]) -> dict[str, Any]:
        contest = {"id": given["contest_id"]}
        named = {name: given[name] for name in ("index", "title")}
        return {"platform": "atcoder", "id": given["problem_id"], "contest": contest} | named

    given = load(cases / "F16" / "rows.json")
    for number, one in enumerate(given):
        path = write_rows(tmp_path / "rows.jsonl", [row(one)])
        assert import_problems(store, path, "jsonl", now=first + number * DAY).n_refused == 0
    with store.read() as session:
        (kept,) = session.execute(select(t.problem)).all()
        indices = session.execute(select(t.contest_problem.c.contest_index)).scalars().all()
    assert (kept.title, indices) == (expected["title"], [expected["index"]] * expected["rows"])
    assert (kept.first_seen_at, kept.last_seen_at) == (first, first + (len(given) - 1) * DAY)

    batch = [row(given[0] | {"problem_id": f"zabc1_{number % 199}"}) for number in range(200)]
    report = import_problems(store, write_rows(tmp_path / "batch.jsonl", batch), "jsonl", now=first)
    assert (report.created, report.n_refused) == (199, 1)
    assert "appears more than once here" in report.refused[0].reason


def test_f18_verdicts_of_the_first_version_come_up_and_what_was_not_kept_is_unknown(
    cases: Path, tmp_path: Path
) -> None:
    """The case's rows in a store of our own first version; its file itself is another program's, and stays as it is."""
    script, expected = (cases / "F18" / "v1.sql").read_text(encoding="utf-8"), load(cases / "F18" / "expected.json")
    foreign, path = tmp_path / "foreign.db", tmp_path / "v1.db"
    with closing(sqlite3.connect(foreign)) as other:
        other.executescript(script)
        rows = list(other.execute("SELECT id, model, problem, verdict FROM verdict"))
    before = foreign.read_bytes()
    with pytest.raises(StoreUnavailable, match="another program"):
        open_store(str(foreign))
    assert foreign.read_bytes() == before

    _first_version(path, rows)
    words = {"AC": "accepted", "WA": "wrong_answer"}
    with open_store(str(path)) as store, store.read() as session:
        found = load_verdicts(session, 1, [1])
        statements = session.execute(select(t.completion.c.revision_id)).scalars().all()
    assert [one.verdict for one in found] == [words[row[3]] for row in rows]
    assert (len(found), expected["test_set_version"], statements) == (expected["rows"], "unknown", [None] * len(rows))
    (copy,) = tmp_path.glob("v1.db.before-*")
    with closing(sqlite3.connect(copy)) as kept:
        assert kept.execute("SELECT count(*) FROM judgement").fetchone()[0] == expected["rows"]


def _first_version(path: Path, rows: list[tuple[int, str, str, str]]) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    words, at = {"AC": "accepted", "WA": "wrong_answer"}, "2025-01-01 00:00:00.000000"
    with closing(sqlite3.connect(path)) as old:
        old.execute("INSERT INTO environment VALUES (1, 'e', 'none', '{}', ?)", (at,))
        old.execute(
            "INSERT INTO run (id, digest, model, label, conditions, created_at) VALUES (1, 'r', ?, '', '{}', ?)",
            (rows[0][1], at),
        )
        old.execute("INSERT INTO blob VALUES ('c', 3, ?)", (pack(b"old"),))
        for number, _, native, verdict in rows:
            old.execute(
                "INSERT INTO problem (id, platform, native_id, title, status, first_source, first_seen_at, "
                "current_suite_id) VALUES (?, 'judge', ?, 'Old', 'active', 'list', ?, ?)",
                (number, native, at, number),
            )
            old.execute(
                "INSERT INTO test_suite (id, problem_id, digest, io_kind, comparison, n_tests, samples_only, source, "
                "first_seen_at) VALUES (?, ?, 'd', 'stdin', '{}', 1, 0, 'list', ?)",
                (number, number, at),
            )
            answered = (number, number)
            old.execute("INSERT INTO completion VALUES (?, 1, ?, 0, 'python3', NULL, 'c', NULL)", answered)
            judged = (number, number, number, words[verdict], at, pack(b"[]"))
            old.execute("INSERT INTO judgement VALUES (?, ?, ?, 1, ?, ?, ?)", judged)
        old.commit()


def test_f19_what_cannot_be_is_refused_by_its_option_and_a_day_is_one_of_utc(
    cases: Path, live: Live, tmp_path: Path
) -> None:
    *refused, taken = load(cases / "F19" / "commands.json")
    for row in refused:
        ended = live("eval", *row["args"][1:], "--no-judge")
        assert (ended.code, ended.out) == (row["exit"], "")
        assert row["args"][1] in ended.err
        assert list(tmp_path.iterdir()) == [], "nothing is written"
    with open_case_store(tmp_path) as store:
        now = datetime(2025, 6, 1, tzinfo=UTC)
        site = CaseSite()
        site.add("c1", now - DAY, ProblemRef("c1_a", "A Task", "A"))
        site.crawl(store, now)
        answer(store, "reader", now=now)
    ended = live("eval", *taken["args"][1:], "--no-judge")
    assert ended.code == taken["exit"]
    assert "from (UTC)" in ended.out
    assert "window [2025-01-01T00:00:00Z, ...)" in ended.out
