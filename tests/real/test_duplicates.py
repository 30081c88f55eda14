"""Near-duplicates among real statements: no two different problems are called the same, and copies are found."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from db.duplicates import DuplicateVerdict, list_pairs
from db.engine import Store, open_store
from db.problems import save_problem
from db.records import ContestRecord, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from ingest.duplicates import update_duplicates
from ingest.fingerprints import FingerprintIndex, character_shingles, fingerprint, plain_words
from ingest.importing import import_problems
from ingest.statements.markdown import to_markdown
from tests.livecodebench_data import as_problem_rows

pytestmark = pytest.mark.shared

SAME, RELATED = DuplicateVerdict.SAME, DuplicateVerdict.RELATED
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


@pytest.fixture(scope="module")
def statements(shared_data: Path) -> list[str]:
    with gzip.open(shared_data / "livecodebench" / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["statement"] for line in lines]


def pairs_of(store: Store, verdict: DuplicateVerdict) -> set[tuple[str, str]]:
    with store.read() as session:
        return {(pair.first.native_id, pair.second.native_id) for pair in list_pairs(session, verdict)}


@pytest.mark.parametrize("with_samples", [False, True])
def test_a03_only_white_space_is_merged(shared_data: Path, tmp_path: Path, with_samples: bool) -> None:
    case = shared_data.parent / "reports" / "cases" / "A03"
    expected = json.loads((case / "expected.json").read_text())
    tests = (TestCaseRecord("1", b"1\n", b"1\n", TestOrigin.SAMPLE),)
    for _ in range(2):  # the second time after a restart
        with open_store(str(tmp_path / "store.db")) as store:
            with store.write() as session:
                for name, text in json.loads((case / "statements.json").read_text()).items():
                    record = ProblemRecord(
                        key=ProblemKey("judge", name),
                        title=name,
                        dates=(),
                        source="list",
                        contest=ContestRecord("judge", f"round of {name}"),
                        statement=text,
                        suite=SuiteRecord(tests) if with_samples else None,
                    )
                    save_problem(session, record, now=NOW)
            update_duplicates(store, now=NOW)
            assert pairs_of(store, SAME) == {tuple(pair) for pair in expected["merged"]}
            assert pairs_of(store, RELATED) >= {tuple(pair) for pair in expected["related"]}


def test_livecodebench_and_the_packages_hold_one_problem_each(shared_data: Path, store: Store, tmp_path: Path) -> None:
    rows = tmp_path / "problems.jsonl"
    with rows.open("w") as lines:
        for row in as_problem_rows(shared_data / "livecodebench" / "problems.jsonl.gz"):
            lines.write(json.dumps(row) + "\n")
    import_problems(store, rows, "jsonl", now=NOW)
    import_problems(store, shared_data / "packages", "kattis", now=NOW)
    report = update_duplicates(store, now=NOW)
    assert (report.n_compared, report.n_too_short) == (1055 + 29, 0)
    assert pairs_of(store, SAME) == set()
    # The nearest pair, the easy and the hard version of one task of one contest, shares a little less than 80 %.
    assert pairs_of(store, RELATED) == set()
    assert update_duplicates(store, now=NOW).lines == ()


def test_other_white_space_changes_no_statement(statements: list[str]) -> None:
    draw = random.Random(3)

    def rewrapped(text: str) -> str:
        return re.sub(r"\s+", lambda _: draw.choice([" ", "\n", "  ", "\t", "\n\n", "\r\n"]), text)

    assert all(plain_words(rewrapped(text)) == plain_words(text) for text in statements)


def test_reworded_statements_are_found(statements: list[str]) -> None:
    """One word in twenty is another one; each copy that still shares 80 % is among the candidates."""
    draw = random.Random(4)
    vocabulary = sorted({word for text in statements for word in re.findall(r"[a-z]{3,}", text)})
    index = FingerprintIndex()
    originals = [plain_words(text) for text in statements]
    for number, words in enumerate(originals):
        index.add(number, fingerprint(words))
    n_alike = n_found = 0
    for number, words in enumerate(originals):
        copy = tuple(draw.choice(vocabulary) if word.isalpha() and draw.random() < 0.05 else word for word in words)
        one, two = character_shingles(words), character_shingles(copy)
        if len(one & two) >= 0.8 * len(one | two):
            n_alike += 1
            n_found += number in {other for other, _ in index.near(fingerprint(copy))}
    assert n_alike > 500
    assert n_found >= 0.998 * n_alike


def test_two_recordings_of_one_page_are_the_same_and_problems_of_a_round_are_not(
    shared_data: Path, store: Store
) -> None:
    recorded = shared_data.parent / "sources" / "recorded"
    texts: dict[str, str] = {}
    for page in ("contest_1211_problems_2020-01", "contest_1368_problems_2020-08", "contest_1715_problems_2022-08"):
        found = _soup(recorded / "codeforces" / f"{page}.html").select("div.problem-statement")
        texts |= {f"{page[8:12]}{'ABCDEFGHI'[place]}": to_markdown(one) for place, one in enumerate(found)}
    texts["fragment"] = to_markdown(_soup(recorded / "codeforces" / "statement_fragment_2019-12.html"))
    for state in ("in", "out"):
        page_of_task = _soup(recorded / "atcoder" / f"task_logged_{state}_atgo.html")
        for language in ("en", "ja"):
            element = page_of_task.select_one(f"span.lang-{language}")
            assert isinstance(element, Tag)
            texts[f"{state}-{language}"] = to_markdown(element)
    with store.write() as session:
        for name, text in texts.items():
            round_of_its_own = ContestRecord("recorded", f"round of {name}")
            save_problem(
                session,
                ProblemRecord(ProblemKey("recorded", name), name, (), "list", contest=round_of_its_own, statement=text),
                now=NOW,
            )
    update_duplicates(store, now=NOW)
    assert pairs_of(store, SAME) == {("1211A", "fragment"), ("in-en", "out-en"), ("in-ja", "out-ja")}
    assert pairs_of(store, RELATED) == set()


def _soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8", errors="replace"), "lxml")
