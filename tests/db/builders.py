"""Small records for the store's tests, and a look at the row counts that no public function gives."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.records import (
    AnswerStatus,
    CompletionRecord,
    DateClaim,
    Place,
    Precision,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from db.responses import ResponseRecord
from db.tables import Base

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LATER = datetime(2026, 2, 3, tzinfo=UTC)


def key_of(native_id: str = "p1", platform: str = "judge") -> ProblemKey:
    return ProblemKey(platform, native_id)


def claim(written: str = "2024-05-04", precision: Precision = Precision.DAY, source: str = "list") -> DateClaim:
    return DateClaim(written, datetime.fromisoformat(written).replace(tzinfo=UTC), precision, source)


def case(name: str, given: str, expected: str | None, origin: TestOrigin = TestOrigin.OFFICIAL) -> TestCaseRecord:
    return TestCaseRecord(name, given.encode(), None if expected is None else expected.encode(), origin)


def suite_of(*cases: TestCaseRecord) -> SuiteRecord:
    return SuiteRecord(cases or (case("1", "2 3\n", "5\n"),))


def problem(
    native_id: str = "p1",
    *,
    dates: Iterable[DateClaim] | None = None,
    suite: SuiteRecord | None = None,
    statement: str = "Add two numbers.",
    platform: str = "judge",
) -> ProblemRecord:
    return ProblemRecord(
        key=ProblemKey(platform, native_id),
        title=f"Problem {native_id}",
        dates=(claim(),) if dates is None else tuple(dates),
        source="list",
        statement=statement,
        suite=suite or suite_of(),
    )


def completion(native_id: str = "p1", sample: int = 0, code: str = "print(5)") -> CompletionRecord:
    return CompletionRecord(key_of(native_id), sample, code)


def response(
    problem_id: int, native_id: str = "p1", sample: int = 0, code: str = "print(5)", question_id: int = 0
) -> ResponseRecord:
    """An answer with a program in a block; to a question it is text that no test judges."""
    status = AnswerStatus.OK
    done = CompletionRecord(key_of(native_id), sample, code, finish_reason="stop", status=status, rule="last_block")
    return ResponseRecord(
        place=Place(problem_id, question_id, sample),
        key=key_of(native_id),
        status=status,
        rule="last_block",
        prompt=f"Solve {native_id}.",
        raw=f"Here:\n```python\n{code}\n```",
        reasoning="Think.",
        answer=code,
        completion=None if question_id else done,
        requested_at=NOW,
        latency_s=1.5,
        endpoint="api.example.com/v1",
        served_model="model-2026",
        finish_reason="stop",
        tokens_in=100,
        tokens_out=20,
    )


def row_counts(session: Session) -> dict[str, int]:
    """How many rows each table has."""
    return {
        name: session.execute(select(func.count()).select_from(table)).scalar_one()
        for name, table in Base.metadata.tables.items()
    }
