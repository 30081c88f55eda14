"""The commands around collecting: sources, runs, duplicates, sightings, and what they refuse. No host is asked."""

from __future__ import annotations

import sys
import types
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from db.engine import open_store
from ingest.collecting import collect
from ingest.errors import PageChanged
from tests.ingest.judge_source import START, World, contest, no_fetch, wanted
from tests.live.command import Live
from tests.live.test_commands import PROBLEM, write_lines

CONTACT = '[ingest]\ncontact = "you@example.org"\n'


@pytest.fixture(autouse=True)
def _no_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIVE_CONTACT", raising=False)


def two_problems(live: Live, tmp_path: Path) -> None:
    earlier = PROBLEM | {"id": "n0", "released": "2024-06-01T10:00:00Z"}
    assert live("import", "problems", write_lines(tmp_path / "two.jsonl", PROBLEM, earlier), "-f", "jsonl").code == 0


def shown(live: Live, problem: str) -> str:
    return live("problems", "show", problem).out


def test_sources_are_listed_with_their_schedule_and_what_they_lack(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIVE_YUKICODER_TOKEN", "word")
    (tmp_path / "live.toml").write_text('[ingest]\nschedule = "5 4 * * *"\n[sources.atcoder]\nschedule = "6 4 * * *"\n')
    sources = {row["source"]: row for row in live("sources", "list", "--json").document}
    assert sources["codeforces"]["schedule"] == "5 4 * * *"
    assert sources["atcoder"]["schedule"] == "6 4 * * *"
    assert (sources["icpc"]["can_run"], sources["icpc"]["schedule"]) == (False, None)
    assert sources["yukicoder"]["credentials"] == {"LIVE_YUKICODER_TOKEN": True}
    listed = live("sources", "list").out
    assert "needs settings" in listed
    assert "word" not in listed.split()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("[ingest]\ncontakt = 'x'\n", "[ingest] has an unknown key 'contakt'"),
        ("[ingest]\nrecheck_days = true\n", "[ingest]: recheck_days must be a whole number"),
        ("[ingest.mirrors]\n'https://a.example' = 7\n", "[ingest.mirrors] 'https://a.example' must be a text"),
        (
            "[ingest.intervals_s]\n'a.example' = 'slow'\n",
            "[ingest.intervals_s] 'a.example' must be a number of seconds",
        ),
        ("[ingest]\nrecheck_days = -5\n", "[ingest] recheck_days is -5"),
        ("[ingest.intervals_s]\n'a.example' = nan\n", "[ingest.intervals_s] 'a.example' is nan"),
        ("[ingest.intervals_s]\n'a.example' = 0\n", "[ingest.intervals_s] 'a.example' is 0"),
        ("[sources.icpc]\npaths = 'packages'\n", "[sources.icpc]: paths must be a list of texts"),
        ("[sources]\natcoder = 7\n", "[sources.atcoder] must be a table"),
        ("[sources.codeforces]\nfoo = 1\n", "[sources.codeforces] has an unknown key 'foo'"),
        ("[sources.codeforces]\nschedule = true\n", "[sources.codeforces]: schedule must be a text"),
        ("[ingest]\nsources = []\n", "[ingest] sources is empty"),
        ("[ingest.mirrors]\n'https://a.example' = 'b.example'\n", "[ingest.mirrors]: 'b.example' is no address"),
        ("models = [3]\n", "models must be a list of texts"),
        ("[sources.atcodr]\nschedule = '1 2 * * *'\n", "no source is called 'atcodr'"),
        ("[ingest]\nsources = ['atcodr']\n", "no source is called 'atcodr'"),
    ],
)
def test_settings_that_cannot_be_used_are_named(live: Live, tmp_path: Path, settings: str, says: str) -> None:
    (tmp_path / "live.toml").write_text(settings)
    ended = live("ingest", "--offline")
    assert ended.code == 2
    assert says in ended.err.splitlines()[0]
    assert "what to do" in ended.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ingest", "atcodr"], "no source is called 'atcodr'"),
        (["ingest", "atcoder"], "no contact is configured, so nothing is fetched"),
        (["schedule", "--once"], "no contact is configured, so nothing is fetched"),
        (["ingest", "--since", "2025-13-01"], "--since: "),
        (["ingest", "--until", "soon"], "--until: "),
        (["ingest", "--since", "2025-02-01", "--until", "2025-01-01"], "--since is not before --until"),
        (["eval", "--since", "2025-13-01"], "--since: "),
        (["schedule", "--cron", "every night"], "--cron: the schedule 'every night' has not the five fields of cron"),
        (["schedule", "--cron", ""], "--cron: the schedule '' has not the five fields of cron"),
        (["ingest", "icpc"], "the source icpc needs the setting paths"),
        (["runs", "atcodr"], "no source is called 'atcodr'"),
        (["sources", "record", "atcodr", "x", "--url", "https://a.example"], "no source is called 'atcodr'"),
        (["sources", "record", "atcoder", "none.html", "--url", "https://a.example"], "none.html cannot be read"),
        (["problems", "seen", "x", "--at", "2025-01-01", "--reason", "r"], "'x' names no platform"),
        (["problems", "seen", "nova:x", "--at", "soon", "--reason", "r"], "--at: "),
        (["problems", "flag", "nova:x", "odd", "--reason", "r"], "no problem nova:x in the store"),
        (["problems", "unflag", "nova:x", "odd"], "no problem nova:x in the store"),
        (["duplicates", "list", "--verdict", "alike"], "no verdict is called 'alike'"),
        (["duplicates", "same", "nova:x", "nova:y", "--reason", "r"], "no problem nova:x in the store"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_what_to_do(
    live: Live, tmp_path: Path, words: list[str], says: str
) -> None:
    open_store(str(tmp_path / "store.db")).close()
    ended = live(*words)
    assert ended.code == 2
    assert says in next(line for line in ended.err.splitlines() if line.startswith("error: "))
    assert ended.out == ""


def test_the_contact_may_come_from_the_environment(live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LIVE_CONTACT", "you@example.org")
    (tmp_path / "empty").mkdir()
    (tmp_path / "live.toml").write_text('[sources.icpc]\npaths = ["empty"]\n')
    ended = live("ingest", "icpc")  # asks nobody, and has no package to read
    assert ended.code == 1
    assert "there is no problem package in" in ended.err
    assert "what to do" in ended.err


def test_offline_without_snapshots_fails_and_is_on_record(live: Live) -> None:
    ended = live("ingest", "atcoder", "--offline", "--json")
    assert ended.code == 1
    (run,) = ended.document
    assert (run["source"], run["outcome"], run["error_kind"]) == ("atcoder", "failed", "not_recorded")
    health = {one["source"]: one for one in live("runs", "--json").document}
    assert (health["atcoder"]["last_good"], health["atcoder"]["failing"]) == (None, False)
    assert "never asked" in live("runs").out
    assert "atcoder.jp" in live("runs", "atcoder").out
    for _ in range(3):
        live("ingest", "atcoder", "--offline")
    assert live("runs").code == 0  # what an offline run lacks says nothing of how the source does


def test_a_source_that_does_not_load_stops_no_other(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = types.ModuleType("ingest.sources.aoj")
    monkeypatch.setitem(sys.modules, "ingest.sources.aoj", broken)
    ended = live("ingest", "aoj", "atcoder", "--offline", "--json")
    outcomes = {run["source"]: run["error_kind"] for run in ended.document}
    assert outcomes == {"aoj": "broken", "atcoder": "not_recorded"}
    assert "the source aoj does not load" in ended.err
    assert live("problems", "list").code == 0
    assert "does not load" in str(live("sources", "list", "--json").document)


def test_a_page_saved_by_hand_is_kept_once(live: Live, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body>The page.</body></html>")
    words = ["sources", "record", "codeforces", page, "--url", "https://codeforces.com/contest/1/problems?locale=en"]
    first, second = live(*words), live(*words)
    assert (first.code, second.code) == (0, 0)
    assert "snapshot 1" in first.err
    assert live("sources", "snapshot", "1").out == page.read_text()
    (kept,) = live("sources", "snapshots", "codeforces", "--json").document
    assert (kept["id"], kept["origin"], kept["size"]) == (1, "recorded", len(page.read_bytes()))
    assert "codeforces recorded 200 GET https://codeforces.com/contest/1/problems" in live("sources", "snapshots").out
    assert live("sources", "snapshot", "2").code == 2
    assert "snapshot 1" in second.err
    assert "for https://codeforces.com/contest/1/problems?locale=en\n" in first.err
    assert "used where codeforces asks for that address alone" in first.err
    page.write_text("")
    assert live(*words).code == 2
    with page.open("wb") as file:
        file.truncate(2**30)
    assert "is no file of at most 128 MiB" in live(*words).err
    assert "is no file" in live("sources", "record", "codeforces", tmp_path, "--url", str(words[-1])).err


@pytest.mark.parametrize("url", ["https://elsewhere.example/x", "https://www.codeforces.com/", "https://atcoder.jp/x"])
def test_a_page_of_a_host_that_the_source_does_not_name_is_refused(live: Live, tmp_path: Path, url: str) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body>The page.</body></html>")
    ended = live("sources", "record", "codeforces", page, "--url", url)
    assert ended.code == 2
    assert "is no host that codeforces names" in ended.err.splitlines()[0]
    assert "codeforces.com" in ended.err.splitlines()[1]
    ended = live("sources", "record", "icpc", page, "--url", url)
    assert (ended.code, "icpc asks no host" in ended.err) == (2, True)
    ended = live("sources", "record", "codeforces", page, "--url", "codeforces.com/x")
    assert (ended.code, "https://" in ended.err) == (2, True)


def test_a_page_saved_without_a_query_says_where_it_is_used(live: Live, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body>The page.</body></html>")
    kept = live("sources", "record", "codeforces", page, "--url", "https://codeforces.com/contest/1/problems")
    assert kept.code == 0
    assert "for https://codeforces.com/contest/1/problems\n" in kept.err
    assert "used where codeforces asks for it, and for it with a language (?lang=, ?locale=)" in kept.err


def test_a_sighting_before_the_contest_is_what_counts(live: Live, tmp_path: Path) -> None:
    two_problems(live, tmp_path)
    seen = ["problems", "seen", "nova:n1", "--at", "2025-05-30T06:00:00Z", "--reason", "in the members' list"]
    assert live(*seen).code == 0
    assert "exposed_at: 2025-05-30T06:00:00+00:00" in shown(live, "n1")
    assert "flag early_access" in shown(live, "n1")
    assert "nothing changed" in live(*seen).err


def test_a_flag_can_be_taken_back(live: Live, tmp_path: Path) -> None:
    two_problems(live, tmp_path)
    assert live("problems", "flag", "n1", "bad_tests", "--reason", "the second test").code == 0
    assert "flag bad_tests" in shown(live, "n1")
    assert live("problems", "unflag", "n1", "bad_tests").code == 0
    assert "flag bad_tests" not in shown(live, "n1")
    again = live("problems", "unflag", "n1", "bad_tests")
    assert (again.code, again.err.splitlines()[0]) == (2, "error: nova:n1 has no flag 'bad_tests'")


def test_a_person_decides_that_two_problems_are_the_same(live: Live, tmp_path: Path) -> None:
    two_problems(live, tmp_path)
    assert live("duplicates", "same", "nova:n1", "nova:n0", "--reason", "told by the author").code == 0
    assert "exposed_at: 2024-06-01T10:00:00+00:00" in shown(live, "n1")
    assert "flag exposed_earlier" in shown(live, "n1")
    (pair,) = live("duplicates", "list", "--json").document
    assert (pair["verdict"], pair["method"], {pair["first"], pair["second"]}) == (
        "same",
        "hand",
        {"nova:n0", "nova:n1"},
    )
    assert live("duplicates", "different", "n0", "n1", "--reason", "no").code == 0
    assert "exposed_at: 2025-06-01T10:00:00+00:00" in shown(live, "n1")
    assert live("duplicates", "list", "--verdict", "same").out == ""
    assert live("duplicates", "same", "n1", "n1", "--reason", "r").code == 2


def test_what_a_site_says_cannot_write_to_the_terminal(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    title = "Round \x1b]0;pwned\x07\n\nforged line \ud800"
    odd = World([replace(contest("c1"), title="Round"), contest("c2")], {"c1": ["One"]}, seen={"type \ud800": 1})
    odd.faults["c2"] = PageChanged(f"{title} cannot be read")
    module = types.ModuleType("ingest.sources.aoj")
    module.__dict__["SOURCE"] = replace(odd.source(is_local=True), name="judge")
    monkeypatch.setitem(sys.modules, "ingest.sources.aoj", module)
    ended = live("ingest", "aoj", "--since", "2026-03-01", "--json")
    assert "\x1b" not in ended.err
    assert not any(line.startswith("forged") for line in ended.err.splitlines())
    for words in (["runs", "aoj"], ["runs", "aoj", "--json"], ["runs"]):
        assert live(*words).code in {0, 1}


def test_a_start_that_moved_is_told_with_the_problem(live: Live, tmp_path: Path) -> None:
    world = World([contest("c1")], {"c1": ["One"]})
    with open_store(str(tmp_path / "store.db")) as store:
        for days in (0, 1):
            world.contests = [contest("c1", START + timedelta(days=days))]
            collect(store, world.source(), no_fetch, wanted(), check=lambda: None)
    assert "the start of c1 was moved: 2026-03-08T12:00:00+00:00 (seen on" in shown(live, "judge:c1A")
    assert "no longer said by judge" in shown(live, "judge:c1A")
