"""Report cases of group A (ingestion), played through the product: what is read, kept, dated and scored.

The cases are schematic: their contests and tasks are shown by a made-up source, or put into pages of a site's shape.
Which test shows which case stands in ``report_cases.py``.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import select

from db import tables as t
from db.contests import load_contests, start_history
from db.engine import Store
from db.ingest_runs import IngestOutcome
from db.problems import list_problems, list_revisions, save_problem
from db.records import ProblemKey, SightingRecord, SuiteRecord, TestCaseRecord, TestOrigin
from ingest.collecting import collect
from ingest.dates import epoch_instant
from ingest.errors import Blocked, PageChanged
from ingest.sources import ProblemList, ProblemRef, Wanted
from ingest.sources._atcoder_pages import choose_samples, read_archive, read_statements
from ingest.sources.leetcode import parse_question
from ingest.statements.markdown import to_markdown
from ingest.statements.wording import read_wording
from tests.db.builders import row_counts
from tests.ingest import atcoder_site, codeforces_site
from tests.ingest.leetcode_pages import page as leetcode_page
from tests.ingest.leetcode_pages import question
from tests.ingest.server import SiteServer, SkippingClock, fetcher
from tests.live.command import Live
from tests.real.case_sites import CaseSite, answer, instant, scores
from tests.real.report_cases import CASES, OPEN
from tests.real.test_fetching import lay_down

pytestmark = pytest.mark.shared

DAY = timedelta(days=1)
OLDER = "answers an older statement"


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_case_is_accounted_for(cases: Path) -> None:
    assert sorted([*CASES, *OPEN]) == sorted(path.name for path in cases.iterdir() if path.name[0] in "ABCEF")


def test_every_named_test_is_there(root: Path) -> None:
    named = [one.partition("::") for tests in CASES.values() for one in tests]
    texts = {file: (root / file).read_text(encoding="utf-8") for file, _, _ in named}
    assert [f"{file}::{name}" for file, _, name in named if f"\ndef {name}(" not in texts[file]] == []


def places(store: Store) -> list[tuple[str, str, str]]:
    """Contest, task and index of each place of a task in a contest."""
    query = (
        select(t.contest.c.native_id, t.problem.c.native_id, t.contest_problem.c.contest_index)
        .join(t.contest_problem, t.contest_problem.c.contest_id == t.contest.c.id)
        .join(t.problem, t.problem.c.id == t.contest_problem.c.problem_id)
        .order_by(t.contest.c.native_id, t.problem.c.native_id)
    )
    with store.read() as session:
        return [(row[0], row[1], row[2]) for row in session.execute(query)]


def test_a01_a_task_of_two_contests_stays_where_it_is(cases: Path, store: Store) -> None:
    expected = load(cases / "A01" / "expected.json")
    dumps = []
    for number, name in enumerate(load(cases / "A01" / "case.json")["order"]):
        shown = load(cases / "A01" / name)
        site = CaseSite(known=frozenset({"zgc009", "zrex2017"}))
        tasks = [ProblemRef(task["task_id"], task["title"], task["index"]) for task in shown["tasks"]]
        site.add(shown["contest_id"], instant(shown["start"]), *tasks)
        site.crawl(store, datetime(2017, 3, 10, tzinfo=UTC) + number * DAY)
        with store.read() as session:
            dumps.append((places(store), list_problems(session), row_counts(session)))
    first, second = (dumps[number - 1] for number in expected["idempotent_after"])
    assert first == second
    held, problems, counts = second
    assert held == [
        ("zgc009", "zgc009_a", "A"),
        ("zgc009", "zgc009_b", "B"),
        ("zrex2017", "zgc009_a", "C"),
        ("zrex2017", "zgc009_b", "D"),
    ]
    assert (counts["problem"], counts["contest_problem"]) == (expected["problems"], expected["memberships"])
    assert {one.key.native_id: one.exposed_at for one in problems} == {
        task: instant(start) for task, start in expected["release_at"].items()
    }


def test_a04_what_subscribers_saw_first_is_public_since_then(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    events = {event["kind"]: instant(event["at"]) for event in load(cases / "A04" / "events.json")}
    expected = load(cases / "A04" / "expected.json")
    start = events.pop("contest_start")
    seen = tuple(SightingRecord(ProblemKey("judge", "q1"), at, "judge", kind) for kind, at in events.items())
    site = CaseSite(sightings=seen)
    site.add("biweekly", start, ProblemRef("q1", "Harder Variant", "A"))
    site.crawl(store, start + 3 * DAY)
    with store.read() as session:
        (found,) = list_problems(session)
    assert (found.released_at, found.exposed_at) == (start, instant(expected["release_at"]))
    assert [name for name, _ in found.flags] == expected["flags"]

    answer(store, "reader", now=start + 3 * DAY)
    for day, is_eligible in expected["eligible_for_cutoff"].items():
        following = str(date.fromisoformat(day) + DAY)
        (row,) = scores(live, tmp_path, {}, "--since", following).values()
        assert row["n_eligible"] == is_eligible, day
    # A cut-off's day ends in the last time zone on earth, twelve hours later than the case counts.
    for day, n_eligible in {"2023-11-07": 1, "2023-11-08": 0, "2023-11-10": 0}.items():
        (row,) = scores(live, tmp_path, {"reader": day}).values()
        assert (row["n_eligible"], row["left_out"].get("published before the cut-off", 0)) == (
            n_eligible,
            1 - n_eligible,
        )


def test_a05_a_contest_that_moves_twice_waits_for_its_end(cases: Path, store: Store) -> None:
    expected = load(cases / "A05" / "expected.json")
    root, statement = codeforces_site.ROOT, (cases / "A21" / "en.html").read_bytes()
    standings = f"{root}/api/contest.standings?contestId=90101&from=1&count=1&lang=en"
    own_page = f"{root}/contest/90101/problem/A?locale=en"
    refused = Blocked("the contest has not started (403)")
    asked = []
    for row in load(cases / "A05" / "snapshots.json"):
        entry = {"id": row["id"], "name": "Round", "type": "CF", "phase": row["phase"]}
        entry |= {"durationSeconds": row["duration_s"], "startTimeSeconds": int(instant(row["start"]).timestamp())}
        site = codeforces_site.Site({codeforces_site.LIST: _answer([entry]), standings: refused, own_page: refused})
        if row["phase"] == "FINISHED":
            problems = [{"contestId": 90101, "index": "A", "name": "Two Towers", "type": "PROGRAMMING"}]
            site.answers[standings] = _answer({"contest": entry, "problems": problems, "rows": []})
            site.answers[own_page] = statement
        now = instant(row["seen_at"])
        result = collect(
            store, codeforces_site.SOURCE, site, Wanted(now - 30 * DAY, now + 14 * DAY, now), check=lambda: None
        )
        assert result.outcome is IngestOutcome.COMPLETED
        asked.append({request.url for request in site.asked} & {standings, own_page})
        with store.read() as session:
            listed = list_problems(session)
            texts = [one.statement for problem in listed for one in list_revisions(session, problem.problem_id)]
        assert len(listed) == (row["phase"] == "FINISHED")
        assert sum(not text.strip() for text in texts) + len(listed) - len(texts) == expected["empty_problem_rows"]
    assert asked == [set(), set(), set(), {standings, own_page}], "planned anew for the new start, and not dropped"
    with store.read() as session:
        contests = load_contests(session, "codeforces")
        history = [start for start, _ in start_history(session, "codeforces", "90101")]
    assert len(contests) == expected["contests"]
    assert contests[0].record.starts_at == listed[0].released_at == instant(expected["start"])
    assert history == [instant(start) for start in expected["start_history"]]


def _answer(result: object) -> bytes:
    return json.dumps({"status": "OK", "result": result}).encode()


def test_a09_a_start_of_nothing_is_undated_in_every_table(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    expected = load(cases / "A09" / "expected.json")
    site = CaseSite()
    for row in load(cases / "A09" / "contests.json"):
        site.add(row["id"], epoch_instant(row["start_epoch"]), ProblemRef(f"{row['id']}_a", "A Task", "A"))
    site.crawl(store, datetime(2026, 2, 1, tzinfo=UTC))
    answer(store, "reader", now=datetime(2026, 2, 1, tzinfo=UTC))
    released = {one["problem"]: one["released_at"] for one in live("problems", "list", "--json").document}
    assert {name: released[f"judge:{name}_a"] for name in expected["undated"]} == dict.fromkeys(expected["undated"])
    for name, start in expected["dated"].items():
        assert instant(released[f"judge:{name}_a"]) == instant(start)
    assert "1970" not in live("problems", "list").out
    (row,) = scores(live, tmp_path, {"reader": "2024-01-01"}).values()
    assert (row["n_eligible"], row["n_judged"]) == (len(expected["dated"]), len(expected["dated"]))
    assert row["left_out"] == {"publication date unknown": len(expected["undated"])}


def test_a14_a_drawing_is_a_part_of_the_statement(cases: Path) -> None:
    root = BeautifulSoup((cases / "A14" / "page.html").read_text(encoding="utf-8"), "lxml")
    (statement,) = read_statements(root)
    assert [list(pair) for pair in statement.samples.pairs] == load(cases / "A14" / "expected.json")["samples"]
    assert "```\nDD ..\n.. LL\n```" in statement.markdown


def test_a20_a_problem_in_a_picture_is_left_out_and_counted(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    expected = load(cases / "A20" / "expected.json")
    site, now = CaseSite(), datetime(2026, 2, 1, tzinfo=UTC)
    site.add("c1", now - DAY, *(ProblemRef(name, name, "A") for name in expected))
    for name in expected:
        page = BeautifulSoup((cases / "A20" / name).read_text(encoding="utf-8"), "lxml")
        text = to_markdown(page, base_url="https://judge.example/task")
        site.changes[name] = {"statement": text, "flags": read_wording(text).flags}
    site.crawl(store, now)
    with store.read() as session:
        found = {one.key.native_id: one for one in list_problems(session)}
        (kept,) = list_revisions(session, found["page.html"].problem_id)
    assert {name: [flag for flag, _ in one.flags] for name, one in found.items()} == {
        name: said["flags"] for name, said in expected.items()
    }
    assert "](https://judge.example/files/zz1.png)" in kept.statement
    answer(store, "reader", now=now)
    (row,) = scores(live, tmp_path, {"reader": "2025-01"}).values()
    assert row["n_judged"] == sum(said["eligible"] for said in expected.values())
    assert row["left_out"] == {"flagged: needs_image": 1}


def test_a21_russian_text_is_kept_beside_the_english_one(cases: Path, store: Store) -> None:
    expected = load(cases / "A21" / "expected.json")
    ref = ProblemRef("9001A", "Two Towers", "A")
    for number, name in enumerate(load(cases / "A21" / "case.json")["order"]):
        site = codeforces_site.Site({codeforces_site.single("A"): (cases / "A21" / name).read_bytes()})
        read = codeforces_site.SOURCE.read_problem(site, codeforces_site.listed(ref), ref, codeforces_site.WANTED)
        assert read.record.suite is not None
        assert (read.record.suite.io_kind, read.record.flags) == (expected["io"][0], ()), "no file that is called so"
        with store.write() as session:
            save_problem(session, read.record, now=codeforces_site.NOW + number * DAY)
    with store.read() as session:
        (problem,) = list_problems(session)
        revisions = list_revisions(session, problem.problem_id)
    assert problem.title == expected["title"]
    assert [one.language for one in revisions if one.is_current] == [expected["primary_lang"]]
    assert sorted(str(one.language) for one in revisions) == ["en"] * expected["revisions_en"] + ["ru"]


def test_a22_answers_to_the_japanese_text_are_not_mixed_with_those_to_the_english(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    expected = load(cases / "A22" / "expected.json")
    start = datetime(2026, 1, 10, 12, tzinfo=UTC)
    kept = []
    for name, day in (("day1", 1), ("day8", 8)):
        statements = read_statements(BeautifulSoup((cases / "A22" / f"{name}.html").read_bytes().decode(), "lxml"))
        samples, _ = choose_samples(statements)
        tests = [TestCaseRecord("1", given.encode(), out.encode(), TestOrigin.SAMPLE) for given, out in samples.pairs]
        preferred, *others = statements
        site = CaseSite()
        site.add("c1", start, ProblemRef("c1_a", "Sum", "A"))
        site.changes["c1_a"] = {
            "statement": preferred.markdown,
            "language": preferred.language,
            "translations": tuple((other.language, other.markdown) for other in others),
            "suite": SuiteRecord((*tests, TestCaseRecord("hidden", b"7 8\n", b"15\n", TestOrigin.OFFICIAL))),
        }
        site.crawl(store, start + day * DAY)
        answer(store, "reader", label=name, now=start + day * DAY)
        with store.read() as session:
            (problem,) = list_problems(session)
            revisions = list_revisions(session, problem.problem_id)
        kept.append((problem.problem_id, problem.released_at))
        assert sorted(str(one.language) for one in revisions) == expected[name]["lang"]
        assert all(one.statement.strip() for one in revisions)
        assert [list(pair) for pair in samples.pairs] == expected[name]["samples"]
        assert problem.n_tests == len(expected[name]["samples"]) + 1
    assert expected["day8"]["same_item"] is (kept[0] == kept[1])
    rows = scores(live, tmp_path, {"reader": "2025-01"})
    assert {name: (row["n_judged"], row["left_out"]) for name, row in rows.items()} == {
        "reader day1": (0, {OLDER: 1}),
        "reader day8": (1, {}),
    }


def test_a26_the_run_lists_what_is_absent(cases: Path, store: Store) -> None:
    routes = load(cases / "A26" / "routes.json")
    start = datetime(2026, 2, 1, 12, tzinfo=UTC)
    site = CaseSite()

    def list_problems_of(fetch: Any, contest: Any, wanted: Any) -> ProblemList:
        fetch(f"https://site.example/contests/{contest.native_id}/tasks")
        return ProblemList(contest, (ProblemRef(f"{contest.native_id}_a", "A Task", "A"),))

    for path in routes:
        site.add(path.split("/")[2], start)
    with SiteServer(SkippingClock()) as server:
        lay_down(server, routes)
        with fetcher(store, server) as fetch:
            now = server.clock.now()
            result = collect(
                store,
                replace(site.source(), list_problems=list_problems_of),
                fetch,
                Wanted(start - DAY, now + DAY, now),
                check=lambda: None,
                recheck=60 * DAY,
            )
    gone = {path.split("/")[2] for path, answers in routes.items() if answers[0]["status"] == 404}
    assert len(gone) == 12
    assert {one.what: one.kind for one in result.failures} == dict.fromkeys(gone, "absent")
    assert (result.outcome, result.counts["contests_read"]) == (IngestOutcome.PARTIAL, len(routes) - 12)


FRAME = '<ul><li class="active"><a href="/contests/archive?lang=ja">archive</a></li></ul>'


def archive_row(contest: str, start: datetime) -> str:
    """A row of AtCoder's archive."""
    link = f'<a href="/contests/{contest}">{contest}</a>'
    return f"<tr><td><time>{start:%Y-%m-%d %H:%M:%S+0000}</time></td><td>{link}</td><td>01:40</td></tr>"


def test_a28_a_column_more_changes_nothing(cases: Path) -> None:
    """The case's table of submissions as one of contests: the links lead to contests, the states are durations."""
    expected = load(cases / "A28" / "expected.json")["rows"]
    for name in load(cases / "A28" / "case.json")["inputs"]:
        page = (cases / "A28" / name).read_text(encoding="utf-8")
        page = re.sub(r'"/contests/zabc308/tasks/(\w+)"', r'"/contests/\1"', page)
        page = re.sub('<span class="label">..</span>', "01:40", page)
        rows = read_archive(atcoder_site.page_of(page)).rows
        assert [(row.contest_id, row.starts_at) for row in rows] == [
            (row["task"], instant(row["time"])) for row in expected
        ]
        with pytest.raises(PageChanged, match="2 rows, and none has a start"):
            read_archive(atcoder_site.page_of(re.sub("</?time>|01:40", "", page)))


def test_a30_only_the_archives_own_end_is_an_end(cases: Path, store: Store) -> None:
    """The case's pages in the frame of AtCoder's archive, with a start in each row."""
    complete, broken = load(cases / "A30" / "case.json")["runs"]
    start = datetime(2026, 2, 28, 12, tzinfo=UTC)

    def shown(name: str) -> str:
        text = (cases / "A30" / name).read_text(encoding="utf-8").replace('<div id="archive">', f"<div>{FRAME}")
        return re.sub(r"<tr><td>(\w+)</td></tr>", lambda row: archive_row(row[1], start), text)

    def crawl(pages: list[str], day: int) -> set[str]:
        urls = [f"{atcoder_site.ARCHIVE}&page={number}" for number in range(1, len(pages) + 1)]
        site = atcoder_site.FakeSite(dict(zip(urls, map(shown, pages), strict=True)))
        now = atcoder_site.NOW + day * DAY
        wanted = Wanted(datetime(2026, 2, 10, tzinfo=UTC), now + DAY, now)
        collect(store, atcoder_site.SOURCE, site, wanted, check=lambda: None)
        with store.read() as session:
            return {one.record.native_id for one in load_contests(session, "atcoder")}

    assert {name for name in crawl(complete["pages"], 0) if name.startswith("zabc")} == set(complete["expected"])
    with store.read() as session:
        before = load_contests(session, "atcoder")
    for day in (1, 2, 3):
        with pytest.raises(PageChanged, match=r"page=2 has no 'li\.active a"):
            crawl(broken["pages"], day)
    with store.read() as session:
        assert load_contests(session, "atcoder") == before
    assert {one.withdrawn_at for one in before} == {None}


def test_a33_an_answer_stays_with_the_text_that_it_was_given_to(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    expected = load(cases / "A33" / "expected.json")
    start = datetime(2026, 1, 10, 12, tzinfo=UTC)
    site = CaseSite()
    site.add("c1", start, ProblemRef("c1_a", "Dominoes", "A"))
    released = set()
    for day, name in enumerate(load(cases / "A33" / "case.json")["order"], start=1):
        site.changes["c1_a"] = {"statement": (cases / "A33" / name).read_text(encoding="utf-8")}
        site.crawl(store, start + day * DAY)
        if day == 1:
            answer(store, "reader", now=start + day * DAY)
        with store.read() as session:
            (problem,) = list_problems(session)
        released.add((problem.released_at, problem.exposed_at))
    assert released == {(start, start)}
    with store.read() as session:
        assert len(list_revisions(session, problem.problem_id)) == expected["revisions"]
        revisions = session.execute(select(t.revision.c.id).order_by(t.revision.c.id)).scalars().all()
        answered = session.execute(select(t.completion.c.revision_id)).scalars().one()
    assert revisions.index(answered) + 1 == expected["result_revision"]
    (row,) = scores(live, tmp_path, {"reader": "2025-01"}).values()
    assert (row["n_judged"], row["left_out"]) == (0, {OLDER: 1})


def test_a35_a_locked_problem_is_counted_until_its_text_is_there(
    cases: Path, store: Store, live: Live, tmp_path: Path
) -> None:
    case = load(cases / "A35" / "case.json")
    start = datetime(2026, 1, 10, 12, tzinfo=UTC)
    site = CaseSite()
    site.add("weekly", start, *(ProblemRef(name, name, None) for name in case["inputs"]))
    for name in case["inputs"]:
        record = parse_question(leetcode_page(question(**load(cases / "A35" / name)))).record
        site.changes[name] = {"statement": record.statement, "suite": record.suite, "flags": record.flags}
    site.crawl(store, start + DAY)
    answer(store, "reader", now=start + DAY, natives=())  # there is nothing to answer
    with store.read() as session:
        locked = list_problems(session)
        assert [[name for name, _ in one.flags] for one in locked] == [[case["expected_state"]]] * 2
        assert [list_revisions(session, one.problem_id) for one in locked] == [[], []]
    (row,) = scores(live, tmp_path, {"reader": "2025-01"}).values()
    assert (row["n_eligible"], row["left_out"]) == (0, {f"flagged: {case['expected_state']}": 2})

    site.changes.clear()
    site.crawl(store, start + 5 * DAY)
    answer(store, "reader", now=start + 5 * DAY)
    with store.read() as session:
        assert [(one.exposed_at, one.flags) for one in list_problems(session)] == [(start, ())] * 2
    (row,) = scores(live, tmp_path, {"reader": "2025-01"}).values()
    assert (row["n_eligible"], row["n_judged"], row["left_out"]) == (2, 2, {})
