"""What the three sites show in the nights of the tests: contests around one night, and a server that shows them.

One round in two divisions that share a problem and an educational round; a beginner contest and a training; a weekly
and a biweekly contest with a locked question; on each site a contest to come. "Nets on the Quay" of AtCoder is
"Counting Nets" of Codeforces in nearly the same words.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise
from typing import Any
from urllib.parse import urlsplit

from ingest.web.clock import Clock
from tests.ingest import night_pages as pages
from tests.ingest.leetcode_pages import GRAPHQL
from tests.ingest.night_pages import Contest, Listed
from tests.ingest.server import Arrival, Reply, SiteServer, Wire

CODEFORCES, ATCODER, KENKOOOO, LEETCODE = HOSTS = ("codeforces.com", "atcoder.jp", "kenkoooo.com", "leetcode.com")
SOURCES = ("codeforces", "atcoder", "leetcode")
ROBOTS = "User-agent: *\nDisallow: /submit\nCrawl-delay: 3\n"
INTERVALS_S = {CODEFORCES: 3.0, ATCODER: 1.0, KENKOOOO: 1.0, LEETCODE: 2.0}
"""The least that must lie between two requests: what the sources say, and what the robots.txt of Codeforces asks."""
_APART = "9103B"
"""The problem whose statement its complete problem set lacks: it is on its own page."""
Page = str | list[Any] | dict[str, Any]
"""A page, or what is to be written as JSON."""
Shown = Page | Reply
_CONTEST = "https://codeforces.com/contest"
_TASKS = "https://atcoder.jp/contests/{}/tasks"
_RESOURCES = "https://kenkoooo.com/atcoder/resources"


def problem_set(contest_id: str) -> str:
    return f"{_CONTEST}/{contest_id}/problems?locale=en"


def problem_page(contest_id: str, index: str) -> str:
    return f"{_CONTEST}/{contest_id}/problem/{index}?locale=en"


def standings(contest_id: str) -> str:
    return f"https://codeforces.com/api/contest.standings?contestId={contest_id}&from=1&count=1&lang=en"


CONTEST_LIST = "https://codeforces.com/api/contest.list?lang=en"


def archive(category: str = "") -> str:
    wanted = f"&category={category}" if category else ""
    return f"https://atcoder.jp/contests/archive?lang=ja{wanted}&page=1"


def tasks(contest_id: str) -> str:
    return f"{_TASKS.format(contest_id)}?lang=en"


def task(contest_id: str, task_id: str) -> str:
    return f"{_TASKS.format(contest_id)}/{task_id}?lang=en"


def info(slug: str) -> str:
    return f"https://leetcode.com/contest/api/info/{slug}/"


class World:
    """The contests around the day of a night, by site, each in the order of the site's own list.

    ``is_rated`` says whether the sites know by now how difficult the problems are.
    """

    def __init__(self, night: datetime) -> None:
        self._day = night.replace(hour=0, minute=0, second=0, microsecond=0)
        self.is_rated = False
        bell, again = Listed("A", "9101A", "bell"), Listed("C", "9102C", "bell")
        self.codeforces = (
            self._contest("9110", "Codeforces Round 2110", 6, "14:35", 120, Listed("A", "9110A", "slipway")),
            self._contest(
                "9101", "Codeforces Round 2101 (Div. 1)", -3, "14:35", 150, bell, Listed("B", "9101B", "ferries")
            ),
            self._contest(
                "9102",
                "Codeforces Round 2101 (Div. 2)",
                -3,
                "14:35",
                150,
                Listed("A", "9102A", "nets"),
                Listed("B", "9102B", "salt"),
                again,
            ),
            self._contest(
                "9103",
                "Educational Codeforces Round 901",
                -5,
                "14:35",
                120,
                Listed("A", "9103A", "depth"),
                Listed("B", "9103B", "mooring"),
            ),
            self._contest("8000", "Codeforces Round 1900", -400, "14:35", 120),
        )
        self.atcoder = (
            self._contest("zbc502", "Quay Beginner Contest 502", 4, "12:00", 100, Listed("A", "zbc502_a", "lock")),
            self._contest(
                "zbc501",
                "Quay Beginner Contest 501",
                -2,
                "12:00",
                100,
                Listed("A", "zbc501_a", "rope"),
                Listed("B", "zbc501_b", "tides"),
                Listed("C", "zbc501_c", "nets_again"),
            ),
        )
        self.trainings = (self._contest("adt_easy_1", "Quay Daily Training EASY", -1, "07:00", 60),)
        self.leetcode = (
            self._contest("weekly-contest-802", "Weekly Contest 802", 5, "02:30", 90, Listed("Q1", "98021", "gull")),
            self._contest(
                "biweekly-contest-401", "Biweekly Contest 401", -1, "14:30", 90, Listed("Q1", "98011", "rounds")
            ),
            self._contest(
                "weekly-contest-801",
                "Weekly Contest 801",
                -2,
                "02:30",
                90,
                Listed("Q1", "98001", "buoys"),
                Listed("Q2", "98002", "lighthouse"),
            ),
        )

    def _at(self, days: int, hour: str) -> datetime:
        """An hour of a day, counted from that of the night."""
        hours, minutes = hour.split(":")
        return self._day + timedelta(days=days, hours=int(hours), minutes=int(minutes))

    def _contest(self, native_id: str, title: str, days: int, hour: str, minutes: int, *problems: Listed) -> Contest:
        return Contest(native_id, title, self._at(days, hour), minutes, problems)

    def move(self, native_id: str, by: timedelta) -> None:
        """Let a contest start at another time."""
        (found,) = [one for one in chain(self.codeforces, self.atcoder, self.leetcode) if one.native_id == native_id]
        found.starts_at += by

    def show(self, sites: Sites, now: datetime) -> None:
        """Lay down all pages as they are at an instant, in the place of whatever was there."""
        sites.clear()
        self._show_codeforces(sites, now)
        self._show_atcoder(sites, now)
        self._show_kenkoooo(sites)
        self._show_leetcode(sites, now)

    def _show_codeforces(self, sites: Sites, now: datetime) -> None:
        sites.page(f"https://{CODEFORCES}/robots.txt", ROBOTS)
        contests = [pages.codeforces_contest(contest, now) for contest in self.codeforces]
        sites.page(CONTEST_LIST, {"status": "OK", "result": contests})
        new = [
            pages.codeforces_problem(contest, listed) | ({"rating": 1900} if self.is_rated else {})
            for contest in self.codeforces[1:]
            for listed in contest.problems
        ]
        old = {"contestId": 8000, "index": "A", "name": "An Old One", "type": "PROGRAMMING", "rating": 800, "tags": []}
        ratings = {"problems": [*new, old], "problemStatistics": []}
        sites.page(f"https://{CODEFORCES}/api/problemset.problems?lang=en", {"status": "OK", "result": ratings})
        for contest, shown in zip(self.codeforces, contests, strict=True):
            if shown["phase"] != "FINISHED":
                continue
            problems = [pages.codeforces_problem(contest, listed) for listed in contest.problems]
            result = {"contest": shown, "problems": problems, "rows": []}
            sites.page(standings(contest.native_id), {"status": "OK", "result": result})
            parts = []
            for listed in contest.problems:
                is_apart = listed.native_id == _APART
                parts.append(pages.codeforces_gap(listed) if is_apart else pages.codeforces_statement(listed))
                if is_apart:
                    sites.page(problem_page(contest.native_id, listed.index), pages.codeforces_page(listed))
            sites.page(problem_set(contest.native_id), pages.codeforces_set(contest, parts))

    def _show_atcoder(self, sites: Sites, now: datetime) -> None:
        ended = [contest for contest in self.atcoder if contest.ends_at <= now]
        sites.page(archive(), pages.atcoder_archive(ended))
        sites.page(archive("20"), pages.atcoder_archive([]))
        sites.page(archive("60"), pages.atcoder_archive(self.trainings))
        upcoming = [contest for contest in self.atcoder if contest.ends_at > now]
        sites.page("https://atcoder.jp/contests/?lang=ja", pages.atcoder_overview(upcoming, ended))
        for contest in ended:
            sites.page(tasks(contest.native_id), pages.atcoder_tasks(contest))
            for listed in contest.problems:
                sites.page(task(contest.native_id, listed.native_id), pages.atcoder_task(contest, listed))

    def _show_kenkoooo(self, sites: Sites) -> None:
        """Its files of the first night, on which it had the contest of two days before. The training took its task."""
        contest, training = self.atcoder[-1], self.trainings[0]
        dated = [
            {"id": one.native_id, "start_epoch_second": one.start_s, "duration_second": one.minutes * 60}
            for one in (contest, training)
        ]
        places = [(contest.native_id, listed.native_id) for listed in contest.problems]
        again = (training.native_id, contest.problems[0].native_id)
        sites.page(f"{_RESOURCES}/contests.json", dated)
        sites.page(
            f"{_RESOURCES}/contest-problem.json",
            [{"contest_id": where, "problem_id": which, "problem_index": "A"} for where, which in (*places, again)],
        )
        sites.page(
            f"{_RESOURCES}/problems.json",
            [{"id": which, "contest_id": where, "problem_index": "A"} for where, which in (again, *places[1:])],
        )
        models: dict[str, Any] = {"zbc480_d": {"difficulty": 1500.2}}
        models |= {listed.native_id: {"difficulty": 712.4} for listed in contest.problems if self.is_rated}
        sites.page(f"{_RESOURCES}/problem-models.json", models)

    def _show_leetcode(self, sites: Sites, now: datetime) -> None:
        contests = [pages.leetcode_contest(contest) for contest in self.leetcode]
        sites.answer("allContests", {"data": {"allContests": contests}})
        questions = [listed for contest in self.leetcode for listed in contest.problems]
        sites.answer("problemsetQuestionList", pages.leetcode_newest(questions))
        for listed in questions:
            sites.answer(f"question {listed.slug}", pages.leetcode_question(listed))
        for contest in self.leetcode:
            sites.page(info(contest.native_id), pages.leetcode_info(contest, now))


class _NightServer(SiteServer):
    """Keeps, and finds, the queries of LeetCode by the name of their operation and the slug that they ask for."""

    def answer(self, arrival: Arrival) -> Reply:
        if arrival.method == "POST":
            asked = json.loads(arrival.body)
            slug = asked["variables"].get("titleSlug", "")
            arrival = replace(arrival, body=f"{asked['operationName']} {slug}".strip().encode())
        return super().answer(arrival)


@dataclass(frozen=True)
class Sites:
    """The servers of all hosts, which may be one and the same."""

    servers: Mapping[str, SiteServer]
    _shown: dict[str, Shown] = field(default_factory=dict)

    def page(self, url: str, *shown: Shown) -> None:
        """Lay down what an address answers, in turn: with an entity tag where it is no reply that is made already."""
        self._shown[url] = shown[-1]
        replies = [one if isinstance(one, Reply) else Reply(_bytes(one), etag=True) for one in shown]
        self._server_of(url).page(url, *replies)

    def answer(self, operation: str, *shown: Shown) -> None:
        """Lay down what a query of LeetCode answers, in turn."""
        self._shown[operation] = shown[-1]
        replies = [one if isinstance(one, Reply) else Reply(_bytes(one)) for one in shown]
        self._server_of(GRAPHQL).page(GRAPHQL, *replies, method="POST", body=operation.encode())

    def shown(self, name: str) -> Shown:
        """What was laid down last for an address or a query."""
        return self._shown[name]

    def clear(self) -> None:
        """Take away whatever was laid down in the place of pages, and forget who asked."""
        for host, server in self.servers.items():
            server.mend(host)
            server.arrivals.clear()

    def arrivals(self, host: str) -> list[Arrival]:
        """The requests that came for a host, in their order."""
        return [one for one in self.servers[host].arrivals if one.host == host]

    def asked(self, *hosts: str) -> list[str]:
        """What was asked for: the target, and for a query of LeetCode what it asks for."""
        return [f"{one.target} {one.body.decode()}".strip() for host in hosts or HOSTS for one in self.arrivals(host)]

    def n_asked(self) -> dict[str, int]:
        """How many requests each host got."""
        return {host: len(self.arrivals(host)) for host in HOSTS}

    def gaps_s(self, host: str) -> list[float]:
        """Seconds between neighbouring requests at a host."""
        return [(after.at - before.at).total_seconds() for before, after in pairwise(self.arrivals(host))]

    def _server_of(self, url: str) -> SiteServer:
        return self.servers[urlsplit(url).netloc]


def _bytes(shown: Page) -> bytes:
    return (shown if isinstance(shown, str) else json.dumps(shown)).encode()


@contextmanager
def sites_on_one_socket(clock: Clock) -> Iterator[Sites]:
    """All sites on one Unix socket, for fetchers of this process with a clock of theirs."""
    with _NightServer(clock) as server:
        yield Sites(dict.fromkeys(HOSTS, server))


@contextmanager
def sites_on_ports() -> Iterator[Sites]:
    """Each site on a port of its own of 127.0.0.1, as mirrors for other processes: a host is where it is asked."""
    with ExitStack() as stack:
        yield Sites({host: stack.enter_context(_NightServer(tcp=True)) for host in HOSTS})


class Held:
    """An answer that does not come before it is let go: until then it is certain where whoever asked stands."""

    def __init__(self, shown: Page = "", head: str = "200 OK") -> None:
        body = _bytes(shown)
        self._answer = f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        self._let_go = threading.Event()
        self.reached = threading.Event()

    @property
    def reply(self) -> Reply:
        return Reply(act=self._act)

    def let_go(self) -> None:
        self._let_go.set()

    def _act(self, wire: Wire) -> None:
        self.reached.set()
        while not wire.closing.is_set():
            if self._let_go.wait(0.02):
                wire.send(self._answer)
                return


def today() -> datetime:
    """The night that it is."""
    return datetime.now(UTC)
