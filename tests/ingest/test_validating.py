"""Input validators at the import: what they refuse is no test, and one that does not work lets nothing through."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from db.engine import Store, open_store
from db.importing import ImportReport
from db.problems import list_problems, load_suite
from eval.window import flag_reason
from ingest.importing import import_problems
from ingest.validating import BrokenValidator, InputValidator
from sandbox import Judge, Program
from tests.ingest.reading import write_rows
from tests.live.command import Live, runner

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SMALL = """
import sys
number = int(sys.stdin.read())
if number > 9:
    print(f"{number} is above 9", file=sys.stderr)
    sys.exit(43)
sys.exit(42)
"""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge("bubblewrap", jobs=1) as judge:
        yield judge


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        yield opened


def row(name: str, *tests: tuple[str, str]) -> dict[str, Any]:
    given = [{"input": text, "expected": "1\n", "origin": origin} for origin, text in tests]
    return {"platform": "nova", "id": name, "title": name, "tests": given}


def imported(store: Store, folder: Path, judge: Judge, source: str, *rows: dict[str, Any]) -> ImportReport:
    path = write_rows(folder / "rows.jsonl", rows)
    return import_problems(store, path, "jsonl", now=NOW, validator=InputValidator(judge, Program(source)))


@pytest.mark.bubblewrap
def test_what_the_validator_refuses_is_left_out_with_its_words(store: Store, tmp_path: Path, judge: Judge) -> None:
    rows = [
        row("a", ("sample", "1\n"), ("official", "10\n"), ("official", "9\n")),
        row("b"),
        row("c", ("sample", "3\n")),
    ]
    report = imported(store, tmp_path, judge, SMALL, *rows)
    assert [(refusal.where, refusal.reason) for refusal in report.refused] == [
        ("nova:a, test official-1", "the input validator refuses its input: 10 is above 9 (exit code 43)")
    ]
    with store.read() as session:
        problems = {one.key.native_id: one for one in list_problems(session)}
        assert problems["a"].suite_id is not None
        kept = [test.name for test in load_suite(session, problems["a"].suite_id).tests]
    assert kept == ["sample-1", "official-2"]
    assert dict(problems["a"].flags) == {"partial_tests": "1 of 3 tests were refused by the input validator"}
    assert [problems[name].n_tests for name in "bc"] == [0, 1]
    assert problems["c"].flags == ()
    again = imported(store, tmp_path, judge, SMALL, *rows)
    assert (again.created, again.updated, again.unchanged) == (0, 0, 3)


@pytest.mark.bubblewrap
def test_a_problem_whose_hidden_tests_are_all_refused_is_not_scored(store: Store, tmp_path: Path, judge: Judge) -> None:
    rows = [row("a", ("sample", "1\n"), ("official", "10\n")), row("b", ("official", "11\n"))]
    assert imported(store, tmp_path, judge, SMALL, *rows).n_refused == 2
    with store.read() as session:
        problems = list_problems(session)
    assert [problem.n_tests for problem in problems] == [1, 0]
    for problem in problems:
        reasons = {flag_reason(name) for name, _ in problem.flags}
        assert reasons == {None, "no tests beyond the samples"}


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("raise SystemExit(1)", "exit code 1"),
        ("print('valid')", "exit code 0"),
        ("int(input())", "exit code 0"),
        ("int('x')", "ValueError"),
        ("def", "SyntaxError"),
        ("import os\nos.abort()", "signal 6"),
    ],
)
def test_a_validator_that_does_not_work_ends_the_import(
    store: Store, tmp_path: Path, judge: Judge, source: str, says: str
) -> None:
    with pytest.raises(BrokenValidator, match=says) as caught:
        imported(store, tmp_path, judge, source, row("a", ("official", "1\n"), ("official", "2\n")))
    assert caught.value.message.startswith("the input validator ends with neither 42 nor 43 on a test of nova:a")
    assert caught.value.hint
    with store.read() as session:
        assert list_problems(session) == []


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Live:
    return runner(monkeypatch, capsys, tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("check.prolog", b"", "cannot be told from its name"),
        ("absent.py", None, "cannot be read: No such file or directory"),
        ("check.py", b"\xff", "is not UTF-8"),
    ],
)
def test_a_validator_that_cannot_be_read_is_said_in_two_lines(
    live: Live, tmp_path: Path, name: str, content: bytes | None, says: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    rows = write_rows(tmp_path / "rows.jsonl", [row("a", ("official", "1\n"))])
    ended = live("import", "problems", rows, "-f", "jsonl", "--input-validator", tmp_path / name)
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert says in first
    assert second.startswith("  what to do: ")
    assert live("problems", "list", "--json").document == []
