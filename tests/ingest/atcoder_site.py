"""AtCoder and kenkoooo for the tests: pages in the sites' shape, with contests and tasks of ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from db.records import ContestRecord
from ingest.errors import Absent, SourceError
from ingest.pages import Page, Request
from ingest.sources import ProblemList, ProblemRef, ReadProblem, Wanted, load_source

DATA = Path(__file__).parent / "data" / "atcoder"
SITE = "https://atcoder.jp"
ARCHIVE = f"{SITE}/contests/archive?lang=ja"
OVERVIEW = f"{SITE}/contests/?lang=ja"
RESOURCES = "https://kenkoooo.com/atcoder/resources"
TASKS = f"{SITE}/contests/zbc412/tasks?lang=en"
TASK = f"{SITE}/contests/zbc412/tasks/zbc412_a?lang=en"
NOW = datetime(2026, 3, 10, 3, 17, tzinfo=UTC)
START = datetime(2026, 3, 7, 12, tzinfo=UTC)
END = START + timedelta(minutes=100)
CONTEST = ContestRecord("atcoder", "zbc412", "Lamp Beginner Contest 412", START, END)
REF = ProblemRef("zbc412_a", "Two Lamps", "A")
SOURCE = load_source("atcoder")


def text_of(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def page_of(body: str, url: str = f"{SITE}/page") -> Page:
    return Page(url, body.encode(), NOW, snapshot_id=7)


FILES = {
    f"{ARCHIVE}&page=1": "archive_1.html",
    f"{ARCHIVE}&page=2": "archive_2.html",
    f"{ARCHIVE}&page=3": "archive_3.html",
    f"{ARCHIVE}&category=20&page=1": "archive_weekday.html",
    f"{ARCHIVE}&category=60&page=1": "archive_training.html",
    OVERVIEW: "overview.html",
    TASKS: "tasks.html",
    TASK: "task.html",
    **{f"{RESOURCES}/{name}.json": f"kenkoooo_{name}.json" for name in ("contests", "contest-problem", "problems")},
    f"{RESOURCES}/problem-models.json": "kenkoooo_problem-models.json",
}


class FakeSite:
    """Both hosts: the pages of the folder, some of them changed or failing, and what was asked of them."""

    def __init__(self, changed: Mapping[str, str | SourceError] | None = None) -> None:
        self.changed = changed or {}
        self.asked: list[str] = []

    def __call__(self, request: Request | str) -> Page:
        url = request if isinstance(request, str) else request.url
        self.asked.append(url)
        body = self.changed.get(url)
        if isinstance(body, SourceError):
            raise body
        if body is None and url not in FILES:
            raise Absent(f"{url} is not there")
        return page_of(text_of(FILES[url]) if body is None else body, url)


def wanted(since: datetime = datetime(2026, 2, 10, tzinfo=UTC), until: datetime = NOW + timedelta(days=14)) -> Wanted:
    return Wanted(since, until, NOW)


def statement_page(statement: str) -> str:
    """The task's page with another statement."""
    page = text_of("task.html")
    begin = page.index('<div id="task-statement">') + len('<div id="task-statement">')
    return page[:begin] + statement + page[page.index("</span>\n\n\t\t</div>") + len("</span>") :]


def read(page: str, ref: ProblemRef = REF, contest: ContestRecord = CONTEST) -> ReadProblem:
    url = f"{SITE}/contests/{contest.native_id}/tasks/{ref.native_id}?lang=en"
    return SOURCE.read_problem(FakeSite({url: page}), ProblemList(contest, (ref,)), ref, wanted())


def samples_of(read_problem: ReadProblem) -> list[tuple[bytes, bytes | None]]:
    assert read_problem.record.suite is not None
    return [(test.input, test.expected) for test in read_problem.record.suite.tests]
