"""The command at night, as processes of their own: the three sites stand on ports of this machine, in real time.

Each is the mirror of a real site (``[ingest.mirrors]`` of live.toml), with a short interval in the place of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from db.engine import Store, open_store
from db.ingest_runs import IngestOutcome, IngestRunSummary, list_runs
from db.leases import find_lease
from db.problems import list_problems
from db.snapshots import ResponseRecord, get_snapshot, list_snapshots, save_snapshot
from ingest.runs import LEASE_TTL, lease_of
from tests.ingest.codeforces_site import data
from tests.ingest.night_runs import contents, let_time_pass, without_pages
from tests.ingest.night_world import (
    ATCODER,
    CODEFORCES,
    HOSTS,
    KENKOOOO,
    LEETCODE,
    SOURCES,
    Held,
    Sites,
    World,
    problem_set,
    sites_on_ports,
    task,
    today,
)
from tests.live.command import Ended, Live

pytestmark = pytest.mark.enable_socket

INTERVAL_S = 0.03
PATIENCE_S = 60
SOON_S = 6
REQUESTS = {CODEFORCES: 10, ATCODER: 9, KENKOOOO: 5, LEETCODE: 8}
TASK_B = task("zbc501", "zbc501_b")
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Place:
    """A folder in which the command is started: with its live.toml, its store, and a folder for temporary files."""

    folder: Path
    sites: Sites
    world: World
    night: datetime

    @property
    def store_path(self) -> Path:
        return self.folder / "store.db"

    def configure(self, schedule: str = "17 3 * * *") -> None:
        """Write the configuration, and let the sites show all their pages."""
        mirrors = [f'"https://{host}" = "http://127.0.0.1:{self.sites.servers[host].port}/{host}"' for host in HOSTS]
        intervals = [f'"{host}" = {INTERVAL_S}' for host in HOSTS]
        lines = [
            "[ingest]",
            'contact = "https://our.example/bot"',
            f"sources = {list(SOURCES)}",
            f'schedule = "{schedule}"',
            "[ingest.mirrors]",
            *mirrors,
            "[ingest.intervals_s]",
            *intervals,
        ]
        (self.folder / "live.toml").write_text("\n".join(lines), encoding="utf-8")
        (self.folder / "tmp").mkdir(exist_ok=True)
        self.world.show(self.sites, self.night)

    def schedule_five_hours_ago(self) -> datetime:
        """Plan the runs for an instant of every day that was five hours ago; that instant."""
        planned = (today() - timedelta(hours=5)).replace(second=0, microsecond=0)
        self.configure(f"{planned.minute} {planned.hour} * * *")
        return planned

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the command, as the leader of a group of processes."""
        own = {name: str(self.folder / "home") for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LIVE_")}
        return subprocess.Popen(
            [sys.executable, "-m", "live", "--db", str(self.store_path), *arguments],
            cwd=self.folder,
            env=kept | own | {"TMPDIR": str(self.folder / "tmp"), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def live(self, *arguments: str) -> Ended:
        """Run the command to its end."""
        return ended(self.start(*arguments))

    def runs(self, source: str) -> list[IngestRunSummary]:
        """The attempts at a source, newest first."""
        with open_store(str(self.store_path)) as store, store.read() as session:
            return list_runs(session, source)


def ended(process: subprocess.Popen[str], within_s: float = PATIENCE_S) -> Ended:
    try:
        out, err = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Ended(process.returncode, out, err)


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A first night that is over; what it printed is in ``report.json``. Nobody changes it."""
    with sites_on_ports() as sites:
        now = today()
        place = Place(tmp_path_factory.mktemp("night"), sites, World(now), now)
        place.configure()
        first = place.live("ingest", "--json")
        assert first.code == 0, first.err
        (place.folder / "report.json").write_text(first.out, encoding="utf-8")
        yield place


@pytest.fixture
def place(night: Place, tmp_path: Path) -> Iterator[Place]:
    """An empty folder on the same night, with sites of its own."""
    with sites_on_ports() as sites:
        made = Place(tmp_path, sites, World(night.night), night.night)
        made.configure()
        yield made


def held_in_the_middle(sites: Sites, head: str = "200 OK") -> list[Held]:
    """Let each site keep back one answer, and then show the page: some problems are read by then, and some are not."""
    held = [Held(head=head) for _ in SOURCES]
    sites.page(problem_set("9102"), held[0].reply, sites.shown(problem_set("9102")))
    sites.page(TASK_B, held[1].reply, sites.shown(TASK_B))
    sites.answer("question locked-lighthouse", held[2].reply, sites.shown("question locked-lighthouse"))
    return held


READ_BY_THEN = {"9103A", "9103B", "9101A", "9101B", "zbc501_a", "98001"}


def wait_for(held: list[Held]) -> None:
    assert [one.reached.wait(PATIENCE_S) for one in held] == [True] * len(held)


def native_ids(path: Path) -> set[str]:
    with open_store(str(path)) as store, store.read() as session:
        return {one.key.native_id for one in list_problems(session)}


def test_a_first_night_is_completed_and_asks_each_host_at_its_interval(night: Place) -> None:
    report = json.loads((night.folder / "report.json").read_text(encoding="utf-8"))
    assert [(one["source"], one["outcome"]) for one in report] == [(name, "completed") for name in SOURCES]
    assert [one["counts"]["problems_new"] for one in report] == [6, 3, 3]
    assert night.sites.n_asked() == REQUESTS
    for host in HOSTS:
        assert min(night.sites.gaps_s(host)) >= INTERVAL_S, host

    health = night.live("runs", "--json")
    assert health.code == 0
    assert {one["source"]: one["last_good"]["outcome"] for one in health.document} == dict.fromkeys(
        SOURCES, "completed"
    )
    assert [one["late_contests"] + one["not_completed_since"] for one in health.document] == [[], [], []]

    (pair,) = night.live("duplicates", "list", "--json").document
    assert pair["verdict"] == "same"
    assert {pair["first"], pair["second"]} == {"codeforces:9102A", "atcoder:zbc501_c"}


def test_a_killed_night_goes_on_where_it_was(place: Place, night: Place) -> None:
    held = held_in_the_middle(place.sites)
    process = place.start("ingest")
    wait_for(held)
    process.kill()
    ended(process)
    assert native_ids(place.store_path) == READ_BY_THEN

    # Its leases hold still, but its process is gone; only the turns that it had taken at the hosts have to pass.
    place.world.show(place.sites, place.night)
    with open_store(str(place.store_path)) as store:
        let_time_pass(store, LEASE_TTL / 4)
    again = place.live("ingest")
    assert again.code == 0, again.err
    for source in SOURCES:
        newest, killed = place.runs(source)
        assert newest.outcome is IngestOutcome.COMPLETED
        assert (killed.outcome, killed.error_kind) == (IngestOutcome.FAILED, "interrupted")
        assert "went away without an end" in (killed.error or "")
    with open_store(str(place.store_path)) as store, open_store(str(night.store_path)) as whole:
        assert contents(store) == contents(whole)
    # What was read before is asked whether it still holds, or not at all.
    counted = {source: place.runs(source)[0].counts for source in SOURCES}
    assert {source: (one["requests"], one["not_modified"]) for source, one in counted.items()} == {
        "codeforces": (9, 8),
        "atcoder": (11, 9),
        "leetcode": (6, 1),
    }
    assert "/contests/zbc501/tasks/zbc501_a?lang=en" not in place.sites.asked(ATCODER)
    assert "/graphql/ question buoys-in-line" not in place.sites.asked(LEETCODE)


@pytest.mark.parametrize(
    "head",
    [
        pytest.param("503 Busy\r\nRetry-After: 600", id="while it waits for a turn"),
        pytest.param("200 OK", id="while an answer does not come"),
    ],
)
def test_ctrl_c_ends_a_night_soon_and_keeps_what_was_read(place: Place, head: str) -> None:
    held = held_in_the_middle(place.sites, head)
    if head.startswith("503"):
        for one in held:
            one.let_go()
    process = place.start("ingest")
    wait_for(held)
    process.send_signal(signal.SIGINT)
    stopped = ended(process, SOON_S)
    assert stopped.code == 130
    assert "Traceback" not in stopped.err
    assert native_ids(place.store_path) == READ_BY_THEN
    for source in SOURCES:
        (run,) = place.runs(source)
        assert (run.outcome, run.error_kind) == (IngestOutcome.FAILED, "interrupted")
    with open_store(str(place.store_path)) as store, store.read() as session:
        assert [find_lease(session, lease_of(source)) for source in SOURCES] == [None] * 3
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert list((place.folder / "tmp").iterdir()) == []
    assert {path.name for path in place.folder.iterdir()} <= {"live.toml", "store.db", "tmp", "home"}


def test_a_challenge_makes_exit_code_1_and_is_told(place: Place) -> None:
    place.sites.page(problem_set("9102"), data("challenge.html").decode())
    first = place.live("ingest", "--json")
    assert first.code == 1
    assert [one["outcome"] for one in first.document] == ["partial", "completed", "completed"]
    assert place.sites.n_asked() == REQUESTS
    shown = place.live("runs", "codeforces")
    assert f"partial (blocked): codeforces: {problem_set('9102')} shows a Cloudflare challenge" in shown.out
    assert "(snapshot " in shown.out

    place.world.show(place.sites, place.night)
    second = place.live("ingest", "codeforces")
    assert second.code == 1
    assert "is left alone until" in second.err
    assert place.sites.asked() == []


def test_a_schedule_runs_what_is_due_once_and_says_how_late_it_is(place: Place) -> None:
    planned = place.schedule_five_hours_ago()
    first = place.live("schedule", "--once")
    assert first.code == 0, first.err
    assert first.err.count(f"planned for {planned:%Y-%m-%d %H:%M} UTC, 5 h") == len(SOURCES)
    assert place.sites.n_asked() == REQUESTS
    for source in SOURCES:
        (run,) = place.runs(source)
        assert (run.planned_at, run.outcome) == (planned, IngestOutcome.COMPLETED)

    place.world.show(place.sites, place.night)
    second = place.live("schedule", "--once")
    assert (second.code, second.err.splitlines()) == (0, [f"{source}: not due" for source in SOURCES])
    assert place.sites.asked() == []


def test_two_schedules_that_start_together_run_each_source_once(place: Place, night: Place) -> None:
    planned = place.schedule_five_hours_ago()
    both = [place.start("schedule", "--once") for _ in range(2)]
    for process in both:
        end = ended(process)
        assert end.code == 0, end.err
    assert place.sites.n_asked() == REQUESTS
    for source in SOURCES:
        (run,) = place.runs(source)
        assert (run.planned_at, run.outcome) == (planned, IngestOutcome.COMPLETED)
    with open_store(str(place.store_path)) as store, open_store(str(night.store_path)) as whole:
        assert contents(store) == contents(whole)


def test_a_second_schedule_leaves_alone_what_another_one_is_at(place: Place) -> None:
    place.schedule_five_hours_ago()
    held = held_in_the_middle(place.sites, "503 Busy")
    first = place.start("schedule", "--once")
    wait_for(held)
    second = place.live("schedule", "--once")
    assert second.code == 0
    assert second.err.count("is at it") == len(SOURCES)
    for one in held:
        one.let_go()
    assert ended(first).code == 0
    assert place.sites.n_asked() == {CODEFORCES: 11, ATCODER: 10, KENKOOOO: 5, LEETCODE: 9}
    assert [len(place.runs(source)) for source in SOURCES] == [1, 1, 1]


def test_a_page_saved_by_hand_completes_a_night_without_a_network(night: Place, live: Live, tmp_path: Path) -> None:
    (tmp_path / "live.toml").write_text(f"[ingest]\nsources = {list(SOURCES)}\n", encoding="utf-8")
    saved = tmp_path / "saved.html"
    with open_store(str(night.store_path)) as whole, open_store(str(tmp_path / "store.db")) as store:
        saved.write_bytes(copy_pages(whole, store, TASK_B))
    first = live("ingest", "--offline", "--json")
    assert (first.code, [one["outcome"] for one in first.document]) == (1, ["completed", "partial", "completed"])
    ((failure,),) = [one["failures"] for one in first.document if one["failures"]]
    assert (failure["what"], failure["kind"]) == ("zbc501/B", "not_recorded")

    assert live("sources", "record", "atcoder", saved, "--url", TASK_B).code == 0
    again = live("ingest", "--offline", "--json")
    assert (again.code, [one["outcome"] for one in again.document]) == (0, ["completed"] * 3)
    with open_store(str(night.store_path)) as whole, open_store(str(tmp_path / "store.db")) as store:
        assert without_pages(contents(store)) == without_pages(contents(whole))


def copy_pages(whole: Store, store: Store, missing: str) -> bytes:
    """Copy all responses of a store to another one, all but that of an address, whose body comes back."""
    with whole.read() as session:
        kept = [get_snapshot(session, one.id) for one in list_snapshots(session)]
    with store.write() as session:
        for one in kept:
            if one.url != missing:
                said = {name: getattr(one, name) for name in ResponseRecord.__dataclass_fields__}
                save_snapshot(session, ResponseRecord(**said), now=one.fetched_at)
    (body,) = [one.body for one in kept if one.url == missing]
    return body
