"""Report cases about what is kept: withdrawn problems, categories that fall silent, refused rows, unknown words."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from db import tables as t
from db.engine import Store
from db.ingest_runs import IngestOutcome
from db.problems import list_problems, save_problem
from db.records import ProblemKey
from db.refused import list_refused
from db.snapshots import ResponseRecord, list_snapshots, save_snapshot
from eval.judging import Pending
from ingest.importing import import_problems
from ingest.sources import Listing, ProblemRef, Wanted
from tests.db.builders import problem
from tests.ingest import atcoder_site
from tests.ingest.reading import write_rows
from tests.live.command import Live
from tests.real.case_sites import CaseSite, answer, instant, scores, stand_in

pytestmark = pytest.mark.shared

DAY = timedelta(days=1)
NOW = datetime(2026, 3, 10, tzinfo=UTC)
FRAME = '<ul><li class="active"><a href="/contests/archive?lang=ja">archive</a></li></ul>'
PAGES = '<ul class="pagination"><a href="?page=1">1</a></ul>'


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def archive_of(rows: list[dict[str, Any]]) -> str:
    """AtCoder's archive with these contests; one without a start is a menu's entry."""
    shown = []
    for row in rows:
        link = f'<a href="/contests/{row["id"]}">{row["id"]}</a>'
        time = f"<time>{instant(row['start']):%Y-%m-%d %H:%M:%S+0000}</time>" if row["start"] else ""
        duration = "01:40" if row["start"] else ""
        shown.append(f"<tr><td>{time}</td><td>{link}</td><td>{duration}</td></tr>")
    return f"<html><body>{FRAME}{PAGES}<table><tbody>{''.join(shown)}</tbody></table></body></html>"


def test_a07_what_two_listings_lack_is_withdrawn_and_kept(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    expected = load(cases / "A07" / "expected.json")
    status: dict[str, str] = {}
    for night, name in enumerate(load(cases / "A07" / "case.json")["order"]):
        site = CaseSite()
        for contest in load(cases / "A07" / name):
            tasks = [ProblemRef(f"{contest['id']}/{index}", index, index) for index in contest["problems"]]
            site.add(str(contest["id"]), NOW - 2 * DAY, *tasks)
        site.crawl(store, NOW + night * DAY)
        if night == 0:
            answer(store, "reader", now=NOW)
        with store.read() as session:
            status = {one.key.native_id: one.status for one in list_problems(session)}
        assert (set(status.values()) == {"active"}) is (night < expected["needs_consecutive_listings"])
    assert sorted(name for name, said in status.items() if said == "withdrawn") == sorted(expected["withdrawn"])
    assert [name for name, said in status.items() if said == "active"] == expected["live"]
    (row,) = scores(live, tmp_path, {"reader": "2020-01"}).values()
    assert (row["n_judged"], row["left_out"]) == (1, {"withdrawn": 2})
    with store.read() as session:
        gone = t.problem.c.status == "withdrawn"
        assert session.execute(select(t.problem.c.withdrawn_at).where(gone)).scalars().all() == [NOW + 2 * DAY] * 2
        assert session.execute(select(t.judgement.c.id)).scalars().all() == [1, 2, 3], "nothing of it is deleted"


def test_a32_a_series_is_found_by_its_category_and_a_menu_is_no_contest(
    cases: Path, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load(cases / "A32" / "expected.json")
    files = {"": "listing_all.json", "&category=60": "listing_cat60.json"}
    site = atcoder_site.FakeSite(
        {
            f"{atcoder_site.ARCHIVE}{category}&page=1": archive_of(load(cases / "A32" / name))
            for category, name in files.items()
        }
    )
    wanted = Wanted(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC), atcoder_site.NOW)
    listing = atcoder_site.SOURCE.discover(site, wanted)
    assert {one.native_id for one in listing.contests if one.starts_at} == set(expected["contests"])
    for name in expected["ignored"]:
        assert name not in listing.ids
        assert f"{name} is left out: category_60 lists it without start and duration" in listing.notes
    assert (listing.seen["archive"], listing.seen["category_60"]) == (1, 2)

    silent = Listing((), seen={"archive": 3, "category_60": 0})
    source = CaseSite(name="aoj", hosts=()).source()
    stand_in(monkeypatch, "aoj", replace(source, discover=lambda fetch, wanted: silent))
    live("ingest", "aoj")
    assert "listed_category_60 0" in live("runs", "aoj").out


def test_f14_rows_that_cannot_be_are_refused_by_their_fields_and_kept(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    expected = load(cases / "F14" / "expected.json")
    rows = []
    for given in load(cases / "F14" / "rows.json"):
        row = {name: given[name] for name in ("platform", "id", "title")}
        row |= {"released": given["release_at"], "time_limit_s": given["time_limit_ms"] / 1000}
        if "tests" in given:
            row["tests"] = given["tests"] and [{"input": one["in"], "expected": one["out"]} for one in given["tests"]]
        rows.append(row)
    path = write_rows(tmp_path / "rows.jsonl", rows)
    for _ in range(2):
        report = import_problems(store, path, "jsonl", now=NOW)
        with store.read() as session:
            assert [one.key.native_id for one in list_problems(session)] == expected["stored"]
            kept = {row.place: row for row in list_refused(session)}
        fields = ("platform", "released", "time_limit_s", "title", "tests")
        assert len(kept) == len(report.refused) == 5
        for native, field, refusal in zip(expected["quarantined"], fields, report.refused, strict=True):
            assert repr(native) in refusal.where
            assert field in refusal.reason
            assert json.loads(kept[refusal.where].raw) == rows[int(native) - 1]
    assert "rows.jsonl, line 2" in live("import", "refused").out


def test_f14_records_that_cannot_be_are_kept_with_the_page_that_shows_them(store: Store) -> None:
    site = CaseSite()
    names = ["another platform", "no title", "good"]
    site.add("c1", NOW - DAY, *(ProblemRef(f"p{n}", name, str(n)) for n, name in enumerate(names)))
    site.changes = {"p0": {"key": ProblemKey("juge", "p0")}, "p1": {"title": ""}}
    result = site.crawl(store, NOW)
    assert result.outcome is IngestOutcome.PARTIAL
    assert [(one.what, one.kind) for one in result.failures] == [("c1/0", "invalid"), ("c1/1", "invalid")]
    assert ["platform is 'juge'" in result.failures[0].error, "empty title" in result.failures[1].error] == [True, True]
    with store.read() as session:
        assert [one.title for one in list_problems(session)] == ["good"]


def test_f15_one_unknown_word_breaks_no_query(store: Store) -> None:
    with store.write() as session:
        for native in ("p1", "p2", "p3"):
            save_problem(session, problem(native), now=NOW)
            url = f"https://judge.example/{native}"
            save_snapshot(session, ResponseRecord("judge", "GET", url, "", url, 200, {}, b"a"), now=NOW)
    answer(store, "reader", now=NOW)
    with store.write() as session:
        session.execute(text("DELETE FROM judgement"))
        session.execute(text("UPDATE test_case SET origin = 'OFFICIAL' WHERE suite_id = 1"))
        session.execute(text("UPDATE test_suite SET io_kind = 'STDIN' WHERE id = 2"))
        session.execute(text("UPDATE snapshot SET origin = 'FETCHED' WHERE id = 1"))
        session.execute(text("UPDATE date_claim SET precision = 'DAY' WHERE problem_id = 3"))
    with store.read() as session:
        environment = session.execute(text("SELECT id FROM environment")).scalar_one()
        assert len(list_snapshots(session)) == 3
        assert len(list_problems(session)) == 3
    # The suite of an unknown kind is left to a version that knows it.
    assert len(list(Pending(store, environment).jobs(lambda program, suite: None))) == 2
