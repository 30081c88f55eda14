"""What the tests of the Codeforces source share: a site that answers from the data, and what is read from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from db.records import ContestRecord, ProblemRecord, TestOrigin
from ingest.errors import Absent, SourceError
from ingest.pages import Page, Request
from ingest.sources import ProblemList, ProblemRef, ReadProblem, Wanted, load_source

DATA = Path(__file__).parent / "data" / "codeforces"
ROOT = "https://codeforces.com"
LIST = f"{ROOT}/api/contest.list?lang=en"
RATINGS = f"{ROOT}/api/problemset.problems?lang=en"
STANDINGS = f"{ROOT}/api/contest.standings?contestId=9001&from=1&count=1&lang=en"
ALL = f"{ROOT}/contest/9001/problems?locale=en"
NOW = datetime(2026, 3, 4, 16, 40, tzinfo=UTC)
START = datetime(2026, 3, 2, 14, 35, tzinfo=UTC)
"""1772462100, by a calendar."""
WANTED = Wanted(since=datetime(2026, 3, 1, tzinfo=UTC), until=datetime(2026, 4, 1, tzinfo=UTC), now=NOW)
ROUND = ContestRecord(
    "codeforces", "9001", "Codeforces Round 2001 (Div. 1)", START, START + timedelta(hours=2, minutes=30)
)
WHOLE = "problem_9001_B_saved.html"
SOURCE = load_source("codeforces")


@dataclass
class Site:
    """What the site answers by URL: the name of a file, bytes, or an error. Keeps what it was asked."""

    answers: dict[str, str | bytes | SourceError]
    asked: list[Request] = field(default_factory=list)

    def __call__(self, request: Request | str) -> Page:
        request = request if isinstance(request, Request) else Request(request)
        self.asked.append(request)
        answer = self.answers.get(request.url, Absent(f"{request.url} is not there (404)"))
        if isinstance(answer, SourceError):
            raise answer
        return Page(request.url, answer if isinstance(answer, bytes) else data(answer), NOW, snapshot_id=7)


def data(name: str) -> bytes:
    return (DATA / name).read_bytes()


def edited(name: str, *changes: tuple[str, str]) -> bytes:
    """A file of the data with parts replaced; each must be there."""
    text = data(name).decode()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text.encode()


def single(index: str, language: str = "en", contest: str = "contest/9001") -> str:
    return f"{ROOT}/{contest}/problem/{index}?locale={language}"


def of(index: str, title: str = "A name from the API") -> ProblemRef:
    return ProblemRef(f"9001{index}", title, index)


def listed(*refs: ProblemRef, contest: ContestRecord = ROUND) -> ProblemList:
    return ProblemList(contest, refs)


def read(site: Site, index: str, contest: ContestRecord = ROUND) -> ReadProblem:
    ref = ProblemRef(f"{contest.native_id}{index}", "A name from the API", index)
    return SOURCE.read_problem(site, ProblemList(contest, (ref,)), ref, WANTED)


def from_set(index: str) -> ProblemRecord:
    """A problem of the complete problem set of the data, which has nothing odd about it."""
    problem = read(Site({ALL: "problems_9001.html"}), index)
    assert problem.notes == ()
    return problem.record


def from_page(body: bytes | str, index: str) -> ReadProblem:
    return read(Site({single(index): body}), index)


def samples_of(record: ProblemRecord) -> list[tuple[str, str | None]]:
    assert record.suite is not None
    assert all(test.origin is TestOrigin.SAMPLE for test in record.suite.tests)
    return [(test.input.decode(), test.expected.decode() if test.expected else None) for test in record.suite.tests]
