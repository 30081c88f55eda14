"""Raw answers in our own form: their programs are found as they are imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from db import tables as t
from db.engine import Store, open_store
from db.importing import ImportReport
from db.problems import save_problem
from db.records import IoKind, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from eval.importing import import_solutions
from tests.eval.stored import completions

NOW = datetime(2026, 3, 1, tzinfo=UTC)
STARTER = "class Answer:\n    def total(self, a):\n        "
METHOD = "    def total(self, a):\n        return sum(a)\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    test = (TestCaseRecord("1", b"1\n", b"2\n", TestOrigin.SAMPLE),)
    suites = {"n1": (SuiteRecord(test), ""), "n2": (SuiteRecord(test, IoKind.FUNCTION, "total"), STARTER)}
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        with opened.write() as session:
            for native_id, (suite, starter) in suites.items():
                record = ProblemRecord(
                    ProblemKey("nova", native_id), "A problem", (), "nova", starter_code=starter, suite=suite
                )
                save_problem(session, record, now=NOW)
        yield opened


def read(store: Store, folder: Path, *rows: dict[str, object], language: str = "python3") -> ImportReport:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_solutions(store, path, "jsonl", model="nova-1", known_models=str, now=NOW, language=language)


def found(store: Store) -> list[tuple[str | None, str | None]]:
    """Status and rule of each completion, in their order."""
    query = select(t.completion.c.status, t.completion.c.rule).order_by(t.completion.c.id)
    with store.read() as session:
        return [(row.status, row.rule) for row in session.execute(query)]


def test_the_program_of_an_answer_is_kept_with_its_rule_and_the_answer(store: Store, tmp_path: Path) -> None:
    answer = "So:\n\n```python\nprint(input())\n```\n"
    report = read(store, tmp_path, {"id": "n1", "output": answer, "finish_reason": "stop"})
    assert (report.created, report.n_refused) == (1, 0)
    (stored,) = completions(store)
    assert (stored.code, stored.raw_output, stored.finish_reason) == ("print(input())\n", answer, "stop")
    assert found(store) == [("ok", "whole_block")]
    assert read(store, tmp_path, {"id": "n1", "output": answer, "finish_reason": "stop"}).unchanged == 1


def test_answers_without_a_program_are_answers(store: Store, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "n1", "output": "I cannot."},
        {"id": "n1", "output": "```python\nimport sys\n", "finish_reason": "length"},
        {"id": "n1", "output": "```cpp\nint main() {}\n```", "finish_reason": "stop"},
    ]
    assert read(store, tmp_path, *rows).created == 3
    assert found(store) == [
        ("no_code", "no_block"),
        ("truncated", "open_block"),
        ("wrong_language", "other_language:cpp20"),
    ]
    assert [(row.sample_index, row.code) for row in completions(store)] == [(0, ""), (1, ""), (2, "")]


def test_failed_requests_are_refused(store: Store, tmp_path: Path) -> None:
    report = read(store, tmp_path, {"id": "n1", "output": " "}, {"id": "n1", "output": "$ERROR$ rate limit"})
    assert report.n_refused == 2
    assert [refusal.reason for refusal in report.refused] == [
        "a failed request in place of an answer: the answer has no text",
        "a failed request in place of an answer: the answer is an error's text: $ERROR$ rate limit",
    ]
    assert completions(store) == []


def test_a_lone_method_gets_the_class_of_the_problem(store: Store, tmp_path: Path) -> None:
    read(store, tmp_path, {"id": "n2", "output": f"```python\n{METHOD}```"})
    (stored,) = completions(store)
    assert stored.code == f"class Answer:\n{METHOD}"
    assert found(store) == [("ok", "completed_method")]


def test_the_language_of_the_row_or_of_the_import_is_looked_for(store: Store, tmp_path: Path) -> None:
    both = "```cpp\nint main() {}\n```\n```java\nclass Main { static void main(String[] a) {} }\n```\n"
    read(
        store, tmp_path, {"id": "n1", "output": both}, {"id": "n1", "output": both, "language": "Java"}, language="C++"
    )
    assert [(row.language, row.code.split()[0]) for row in completions(store)] == [("cpp20", "int"), ("java", "class")]


def test_programs_have_no_status(store: Store, tmp_path: Path) -> None:
    read(store, tmp_path, {"id": "n1", "code": "print(1)", "raw_output": "```python\nprint(2)\n```"})
    assert found(store) == [(None, None)]
    assert completions(store)[0].code == "print(1)"


@pytest.mark.parametrize("beside", ["code", "raw_output"])
def test_a_row_is_a_program_or_an_answer(store: Store, tmp_path: Path, beside: str) -> None:
    report = read(store, tmp_path, {"id": "n1", "output": "a", beside: "b"}, {"id": "n1", "output": 5})
    assert [(refusal.where, refusal.reason) for refusal in report.refused] == [
        ("line 1, id 'n1'", "'output' beside 'code' or 'raw_output'"),
        ("line 2, id 'n1'", "'output' must be a text, not 5"),
    ]
