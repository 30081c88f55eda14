"""What reading snapshots costs: pages a second on one core, and the memory of a run over ten thousand of them.

    python -m benchmarks.ingestion [--snapshots 10000] [--shared ../shared]

A new SQLite store gets snapshots in the shape of the three main sites, written from the texts of the tests and filled
up to the size of real pages; then each source is run offline over all of its own, as ``live ingest --offline`` does it.
Where the shared recorded pages are there, the parsers alone are measured on real pages, too.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from db.digests import sha256_hex
from db.engine import Store, open_store
from db.snapshots import ResponseRecord, SnapshotOrigin, save_snapshot
from ingest.nightly import Ingestion, IngestSettings, Span
from ingest.pages import Page
from ingest.sources import _atcoder_pages as atcoder
from ingest.sources import _codeforces_pages as codeforces
from ingest.sources import leetcode
from ingest.web.fetch import FetchSettings, SystemClock
from tests.ingest import night_pages as pages
from tests.ingest.leetcode_pages import GRAPHQL
from tests.ingest.night_pages import Contest, Listed
from tests.ingest.night_world import CONTEST_LIST, archive, info, problem_set, standings, task, tasks

ROOT = Path(__file__).parent.parent
NOW = datetime.now(UTC).replace(microsecond=0)
FIRST = datetime(2019, 1, 1, 12, tzinfo=UTC)
PAGE_BYTES = 40_000
"""What a page of Codeforces or AtCoder with one statement weighs, most of it around the statement."""
SHARES = {"atcoder": 0.55, "codeforces": 0.3, "leetcode": 0.15}

Response = tuple[str, bytes, bytes]
"""Address, body of the request, body of the answer."""


def contests(n: int, prefix: str, letters: str, texts: list[str], first_id: int) -> Iterator[Contest]:
    """So many contests, twice a day, with a problem for each letter."""
    for number in range(n):
        native = f"{prefix}{first_id + number}"
        problems = tuple(
            Listed(
                letter, _problem_id(prefix, native, place, letter), texts[(number * len(letters) + place) % len(texts)]
            )
            for place, letter in enumerate(letters)
        )
        yield Contest(native, f"Round {first_id + number}", FIRST + timedelta(hours=12 * number), 120, problems)


def _problem_id(prefix: str, native: str, place: int, letter: str) -> str:
    if prefix == "weekly-contest-":
        return f"{native.removeprefix(prefix)}{place}"
    return f"{native}_{letter.lower()}" if prefix else f"{native}{letter}"


def filled(page: str) -> bytes:
    """A page at the weight of a real one: what is around the statement is links and lists."""
    filler = '<li><a class="menu" href="/help/topic">A line of a menu</a></li>'
    n = max(0, PAGE_BYTES - len(page)) // len(filler)
    return page.replace("</body>", f"<ul>{filler * n}</ul></body>").encode()


def responses(source: str, n: int) -> Iterable[Response]:
    """About `n` answers of a source, its lists among them."""
    return {"atcoder": _atcoder, "codeforces": _codeforces, "leetcode": _leetcode}[source](n)


def _renamed(texts: list[str], n: int) -> Iterator[str]:
    """So many texts under titles of their own: LeetCode knows a question by its title."""
    for number in range(n):
        text = pages.TEXTS[texts[number % len(texts)]]
        letters = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        pages.TEXTS[letters] = text | {"title": f"{text['title']} {letters}"}
        yield letters


def _with(*parts: str) -> list[str]:
    return [name for name, text in pages.TEXTS.items() if all(part in text for part in parts)]


def _codeforces(n: int) -> Iterator[Response]:
    texts = [name for name in _with("legend", "time_limit") if not pages.TEXTS[name]["time_limit"].endswith(" sec")]
    held = list(contests(n // 2, "", "ABCDEF", texts, 3000))
    yield CONTEST_LIST, b"", _json({"status": "OK", "result": [pages.codeforces_contest(one, NOW) for one in held]})
    for one in held:
        problems = [pages.codeforces_problem(one, listed) for listed in one.problems]
        result = {"contest": pages.codeforces_contest(one, NOW), "problems": problems, "rows": []}
        yield standings(one.native_id), b"", _json({"status": "OK", "result": result})
        statements = map(pages.codeforces_statement, one.problems)
        yield problem_set(one.native_id), b"", filled(pages.codeforces_set(one, statements))


def _atcoder(n: int) -> Iterator[Response]:
    texts = [name for name in _with("legend", "input") if pages.TEXTS[name]["time_limit"].endswith(" sec")]
    held = list(contests(n // 8, "zbc", "ABCDEFG", texts, 1000))
    yield archive(), b"", pages.atcoder_archive(reversed(held)).encode()
    for category in ("20", "60"):
        yield archive(category), b"", pages.atcoder_archive(()).encode()
    yield "https://atcoder.jp/contests/?lang=ja", b"", pages.atcoder_overview((), ()).encode()
    for one in held:
        yield tasks(one.native_id), b"", filled(pages.atcoder_tasks(one))
        for listed in one.problems:
            yield task(one.native_id, listed.native_id), b"", filled(pages.atcoder_task(one, listed))


def _leetcode(n: int) -> Iterator[Response]:
    held = list(contests(n // 5, "weekly-contest-", "1234", list(_renamed(_with("function"), n)), 1000))
    listed = {"data": {"allContests": [pages.leetcode_contest(one) for one in held]}}
    yield GRAPHQL, leetcode.contests_request().body, _json(listed)
    yield GRAPHQL, leetcode.list_request().body, _json(pages.leetcode_newest(()))
    for one in held:
        yield info(one.native_id), b"", _json(pages.leetcode_info(one, NOW))
        for question in one.problems:
            asked = leetcode.question_request(question.slug)
            yield GRAPHQL, asked.body, _json(pages.leetcode_question(question))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def keep(store: Store, source: str, n: int) -> int:
    """Save about `n` answers of a source as snapshots; how many there are."""
    saved = 0
    with store.write() as session:
        for url, asked, body in responses(source, n):
            method, digest = ("POST", sha256_hex(asked)) if asked else ("GET", "")
            response = ResponseRecord(source, method, url, digest, url, 200, {}, body, SnapshotOrigin.FETCHED)
            save_snapshot(session, response, now=NOW)
            saved += 1
    return saved


def peak_mb() -> float:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_runs(n: int) -> None:
    """Each source offline over its snapshots, twice, with what that costs."""
    with tempfile.TemporaryDirectory() as folder, open_store(str(Path(folder) / "store.db")) as store:
        saved = {source: keep(store, source, round(n * share)) for source, share in SHARES.items()}
        print(f"{sum(saved.values())} snapshots; memory so far {peak_mb():.0f} MB")
        ingestion = Ingestion(store, IngestSettings(FetchSettings(), environ={}), SystemClock())
        span = Span(FIRST - timedelta(days=1), NOW)
        for label in ("first run", "again"):
            for source, count in saved.items():
                started, cpu = time.monotonic(), time.process_time()
                result = ingestion.run(source, span=span, offline=True).result
                took, busy = time.monotonic() - started, time.process_time() - cpu
                new = result.counts["problems_new"]
                print(
                    f"{source}, {label}: {result.outcome}, {new} new problems from {count} snapshots in {took:.1f} s "
                    f"({count / took:.0f} snapshots/s, {busy:.1f} s of CPU), {len(result.failures)} failures"
                )
        print(f"memory: {peak_mb():.0f} MB at most")


def measure_parsers(recorded: Path) -> None:
    """The parsers alone on real pages."""
    for name, file, read in (
        ("Codeforces, one statement", "codeforces/statement_1234f_2022.html", _one_statement),
        ("Codeforces, nine statements", "codeforces/contest_1211_problems_2020-01.html", _all_statements),
        ("AtCoder, archive of 50", "atcoder/contests_archive_2019-10.html", atcoder.read_archive),
        ("AtCoder, tasks", "atcoder/tasks_abc399_2025-04.html", lambda page: atcoder.read_tasks(page, "abc399")),
        ("AtCoder, two languages", "atcoder/abc153_b_2020.html", lambda page: atcoder.read_task(page, "B")),
        ("LeetCode, question", "leetcode/graphql_question_selectProblem_2024-03.json", leetcode.parse_question),
    ):
        body = (recorded / file).read_bytes()
        print(f"{name} ({len(body) / 1000:.0f} kB): {_rate(read, body):.0f} pages/s")


def _one_statement(page: Page) -> object:
    return codeforces.read_statement(page, codeforces.single_problem(page, "F"), "F")


def _all_statements(page: Page) -> object:
    return [codeforces.read_statement(page, part, index) for index, part in codeforces.problem_set(page).items()]


def _rate(read: Callable[[Page], object], body: bytes, seconds: float = 2.0) -> float:
    read(Page("https://site.example/page", body, NOW))
    started = time.process_time()
    count = 0
    while time.process_time() - started < seconds:
        read(Page("https://site.example/page", body, NOW))
        count += 1
    return count / (time.process_time() - started)


def main() -> None:
    """Run it and print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snapshots", type=int, default=10_000)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    options = parser.parse_args()
    recorded = options.shared / "sources" / "recorded"
    if recorded.is_dir():
        measure_parsers(recorded)
    measure_runs(options.snapshots)


if __name__ == "__main__":
    main()
