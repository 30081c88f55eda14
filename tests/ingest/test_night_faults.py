"""A night on which one site shows something that it should not: one outcome for it, and none for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from db.ingest_runs import IngestOutcome, list_failures, list_runs
from db.problems import list_problems
from ingest.web.fetch import Limits
from tests.ingest import night_pages as pages
from tests.ingest.codeforces_site import data
from tests.ingest.night_runs import DAY, Nights, contents, nights, without_pages
from tests.ingest.night_world import (
    ATCODER,
    CODEFORCES,
    CONTEST_LIST,
    KENKOOOO,
    LEETCODE,
    SOURCES,
    Shown,
    archive,
    problem_page,
    problem_set,
    standings,
    task,
    tasks,
)
from tests.ingest.server import Reply, drip, huge

NIGHT = datetime(2026, 3, 10, 3, 17, tzinfo=UTC)
HOUR = timedelta(hours=1)
COMPLETED, PARTIAL, FAILED = IngestOutcome.COMPLETED, IngestOutcome.PARTIAL, IngestOutcome.FAILED
CHALLENGE = data("challenge.html").decode()
HTML = "<!DOCTYPE html>\n<html><head><title>Oops</title></head><body><p>We will be back soon.</p></body></html>"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Nights]:
    """Nights to come, with an empty store."""
    with nights(tmp_path, NIGHT) as run:
        yield run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a store holds after a night on which nothing is wrong, its pages left out."""
    with nights(tmp_path_factory.mktemp("whole"), NIGHT) as run:
        run.run()
        return without_pages(contents(run.store))


def outcomes(run: Nights, *sources: str) -> dict[str, IngestOutcome]:
    return {name: report.result.outcome for name, report in run.run(*sources).items()}


def kept(run: Nights, source: str) -> set[str]:
    with run.store.read() as session:
        return {one.key.native_id for one in list_problems(session, platform=source)}


def told(run: Nights, source: str) -> list[tuple[str, str, str]]:
    """What ``live runs SOURCE`` says of the last run: what could not be taken, as what kind, and why."""
    with run.store.read() as session:
        last = list_runs(session, source)[0]
        failures = [(one.what, one.kind, one.error) for one in list_failures(session, last.run_id)]
    if failures or last.error is None:
        return failures
    return [("", str(last.error_kind), last.error)]


@pytest.mark.parametrize(
    ("source", "host", "put", "n_asked", "n_kept"),
    [
        ("codeforces", CODEFORCES, lambda run: run.sites.page(problem_set("9101"), CHALLENGE), 8, 2),
        ("atcoder", ATCODER, lambda run: run.sites.page(task("zbc501", "zbc501_b"), CHALLENGE), 8, 1),
        ("leetcode", LEETCODE, lambda run: run.sites.answer("question rounds-of-the-keeper", CHALLENGE), 8, 2),
    ],
)
def test_a_challenge_ends_the_run_of_its_site_and_closes_it_for_hours(
    world: Nights,
    whole: dict[str, Any],
    source: str,
    host: str,
    put: Callable[[Nights], None],
    n_asked: int,
    n_kept: int,
) -> None:
    put(world)
    assert outcomes(world) == dict.fromkeys(SOURCES, COMPLETED) | {source: PARTIAL}
    ((_, kind, error),) = told(world, source)
    assert kind == "blocked"
    assert "shows a Cloudflare challenge" in error
    assert (world.sites.n_asked()[host], len(kept(world, source))) == (n_asked, n_kept)

    world.wait_until(world.now + HOUR)
    assert outcomes(world, source) == {source: FAILED}
    assert [kind for _, kind, _ in told(world, source)] == ["blocked"]
    assert (world.sites.n_asked()[host], len(kept(world, source))) == (0, n_kept)

    world.wait_until(world.now + 6 * HOUR)
    assert outcomes(world, source) == {source: COMPLETED}
    assert without_pages(contents(world.store)) == whole


@dataclass(frozen=True)
class Fault:
    """What is put on a page of a site, and what the run says: ``says`` is a part of the error of the first failure."""

    name: str
    source: str
    put: Callable[[Nights], None]
    outcome: IngestOutcome
    what: str = ""
    kind: str = ""
    says: str = ""
    n_kept: int = 0

    def __str__(self) -> str:
        return self.name


def page(url: str, shown: Shown) -> Callable[[Nights], None]:
    return lambda run: run.sites.page(url, shown)


def answer(operation: str, shown: Shown) -> Callable[[Nights], None]:
    return lambda run: run.sites.answer(operation, shown)


def changed(url: str, *changes: tuple[str, str]) -> Callable[[Nights], None]:
    """A page of a site with parts replaced; each must be there."""

    def put(run: Nights) -> None:
        text = str(run.sites.shown(url))
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        run.sites.page(url, text)

    return put


def cut(url: str, after: str) -> Callable[[Nights], None]:
    """A page of a site that ends early, although the answer is whole for HTTP."""

    def put(run: Nights) -> None:
        text = str(run.sites.shown(url))
        run.sites.page(url, text[: text.index(after) + len(after)])

    return put


def down(host: str) -> Callable[[Nights], None]:
    """A host that has trouble with everything."""
    return lambda run: run.sites.servers[host].fault(host, Reply(b"", 503))


def impatient(put: Callable[[Nights], None], limits: Limits) -> Callable[[Nights], None]:
    """The same, for runs with other limits."""

    def put_and_limit(run: Nights) -> None:
        put(run)
        run.limits = limits

    return put_and_limit


def _cut_set_with_pages_of_its_own(run: Nights) -> None:
    cut(problem_set("9101"), "rung by")(run)
    for listed in run.world.codeforces[1].problems:
        run.sites.page(problem_page("9101", listed.index), pages.codeforces_page(listed))


LOGIN = Reply(b"", 302, (("Location", "https://atcoder.jp/login?continue=https%3A%2F%2Fatcoder.jp"),))
TASK_B = task("zbc501", "zbc501_b")
FAULTS = [
    Fault("login", "atcoder", page(TASK_B, LOGIN), PARTIAL, "zbc501/B", "auth_required", "leads to a login at", 2),
    Fault(
        "html for json in an api",
        "codeforces",
        page(standings("9102"), HTML),
        PARTIAL,
        "9102",
        "page_changed",
        "is an HTML page, not JSON",
        4,
    ),
    Fault(
        "html for json in a query",
        "leetcode",
        answer("question rounds-of-the-keeper", HTML),
        PARTIAL,
        "biweekly-contest-401/Q1",
        "page_changed",
        "is an HTML page, not JSON",
        2,
    ),
    Fault(
        "half a statement on its own page",
        "codeforces",
        cut(problem_page("9103", "B"), "It fits where"),
        PARTIAL,
        "9103/B",
        "page_changed",
        "has no '</html>'",
        5,
    ),
    Fault("half a problem set", "codeforces", _cut_set_with_pages_of_its_own, COMPLETED, n_kept=6),
    Fault(
        "half a task",
        "atcoder",
        cut(TASK_B, "Put the lines in"),
        PARTIAL,
        "zbc501/B",
        "page_changed",
        "has no '</html>'",
        2,
    ),
    Fault(
        "half a list of tasks",
        "atcoder",
        cut(tasks("zbc501"), "Rope Lengths</a></td>"),
        FAILED,
        "zbc501",
        "page_changed",
        "has no '</html>'",
    ),
    Fault("half an archive", "atcoder", cut(archive(), "<tbody>"), FAILED, "", "page_changed", "has no "),
    Fault(
        "half an answer",
        "leetcode",
        answer("question rounds-of-the-keeper", '{"data": {"question": {"questionId": "98011", "ti'),
        PARTIAL,
        "biweekly-contest-401/Q1",
        "page_changed",
        "is not JSON",
        2,
    ),
    Fault(
        "a column more",
        "atcoder",
        changed(archive(), ("<tr>\n\t\t\t\t<td", "<tr>\n\t\t\t\t<td>★</td>\n\t\t\t\t<td")),
        COMPLETED,
        n_kept=3,
    ),
    Fault(
        "another class for samples",
        "codeforces",
        changed(problem_set("9102"), ('class="sample-tests"', 'class="examples"')),
        PARTIAL,
        "9102/A",
        "page_changed",
        "has no '.sample-tests' in problem A",
        4,
    ),
    Fault(
        "another class for the title",
        "atcoder",
        changed(TASK_B, ('class="h2"', 'class="title"')),
        PARTIAL,
        "zbc501/B",
        "page_changed",
        "has no 'span.h2'",
        2,
    ),
    Fault(
        "another name for the statement",
        "leetcode",
        answer("question rounds-of-the-keeper", {"data": {"question": {"questionId": "98011", "body": "<p>Hm.</p>"}}}),
        PARTIAL,
        "biweekly-contest-401/Q1",
        "page_changed",
        "has no data.question.content",
        2,
    ),
    Fault(
        "no contests of codeforces",
        "codeforces",
        page(CONTEST_LIST, {"status": "OK", "result": []}),
        FAILED,
        "",
        "page_changed",
        "has an empty 'result'",
    ),
    Fault(
        "no contests of atcoder",
        "atcoder",
        page(archive(), pages.atcoder_archive([])),
        FAILED,
        "",
        "page_changed",
        "has no contest at all",
    ),
    Fault(
        "no contests of leetcode",
        "leetcode",
        answer("allContests", {"data": {"allContests": []}}),
        FAILED,
        "",
        "page_changed",
        "has no contest with a start in data.allContests",
    ),
    Fault(
        "a site that is down",
        "leetcode",
        down(LEETCODE),
        FAILED,
        "",
        "unreachable",
        "nothing of https://leetcode.com is asked without its robots.txt",
    ),
    Fault("a second opinion that is down", "atcoder", down(KENKOOOO), COMPLETED, n_kept=3),
    Fault(
        "a slow drip",
        "atcoder",
        impatient(page(TASK_B, Reply(act=drip)), Limits(total_s=2)),
        PARTIAL,
        "zbc501/B",
        "timeout",
        "in time",
        2,
    ),
    Fault(
        "a huge body",
        "atcoder",
        impatient(page(tasks("zbc501"), Reply(act=huge(2**30, announced=False))), Limits(max_bytes=2**20)),
        FAILED,
        "zbc501",
        "too_large",
        "is larger than 1 MiB",
    ),
]


def _told_of(rows: list[tuple[Any, ...]]) -> set[str]:
    """Rows to compare: since when a problem was public depends on whether the other site's copy is there, too."""
    return {repr([pair for pair in row if pair[0] != "exposed_at"]) for row in rows}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_what_is_wrong_at_one_site_is_told_and_made_up_for(world: Nights, whole: dict[str, Any], fault: Fault) -> None:
    fault.put(world)
    assert outcomes(world) == dict.fromkeys(SOURCES, COMPLETED) | {fault.source: fault.outcome}
    if fault.outcome is COMPLETED:
        assert told(world, fault.source) == []
    else:
        what, kind, error = told(world, fault.source)[0]
        assert (what, kind) == (fault.what, fault.kind)
        assert fault.says in error
    assert len(kept(world, fault.source)) == fault.n_kept
    for name, rows in without_pages(contents(world.store)).items():
        assert name == "contest" or _told_of(rows) <= _told_of(whole[name]), name

    world.limits = Limits()
    world.wait_until(NIGHT + DAY)
    assert outcomes(world, fault.source) == {fault.source: COMPLETED}
    assert without_pages(contents(world.store)) == whole


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.outcome is FAILED], ids=str)
def test_a_site_that_shows_nothing_takes_nothing_away(world: Nights, whole: dict[str, Any], fault: Fault) -> None:
    assert outcomes(world) == dict.fromkeys(SOURCES, COMPLETED)
    for night in (1, 2, 3):
        world.wait_until(NIGHT + night * DAY)
        fault.put(world)
        assert outcomes(world, fault.source) == {fault.source: FAILED}
    assert without_pages(contents(world.store)) == whole
