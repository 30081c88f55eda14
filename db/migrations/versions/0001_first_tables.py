"""The first tables: problems with their tests, completions, verdicts, tallies.

The types are SQLAlchemy's own, so that this step stays what it is whatever SQLModel does later.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    "blob",
    "contest",
    "environment",
    "problem",
    "run",
    "completion",
    "contest_problem",
    "date_claim",
    "flag",
    "revision",
    "tally",
    "test_suite",
    "judgement",
    "test_case",
)


def upgrade() -> None:
    """Create the tables, those first that others point to."""
    _roots()
    _parts_of_problems()
    _suites()
    _answers()


def downgrade() -> None:
    """Drop the tables."""
    for table in reversed(TABLES):
        op.drop_table(table)


def _text(name: str, *constraints: SchemaItem, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(), *constraints, nullable=null)


def _number(name: str, *, null: bool = False, big: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger() if big else sa.Integer(), nullable=null)


def _instant(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=null)


def _json(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=null)


def _bytes(name: str) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=False)


def _create(table: str, *items: SchemaItem, key: tuple[str, ...] = ("id",), unique: tuple[str, ...] = ()) -> None:
    """Create a table with its primary key, a unique key where it has one, and constraints named by rule."""
    columns = [_number("id")] if key == ("id",) else []
    constraints: list[SchemaItem] = [sa.PrimaryKeyConstraint(*key, name=f"pk_{table}")]
    if unique:
        constraints.append(sa.UniqueConstraint(*unique, name=f"uq_{table}_{'_'.join(unique)}"))
    op.create_table(table, *columns, *items, *constraints)


def _points(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], name=f"fk_{table}_{column}")


def _index(table: str, column: str, *, unique: bool = False) -> None:
    op.create_index(f"ix_{table}_{column}", table, [column], unique=unique)


def _roots() -> None:
    _create("blob", _text("sha256"), _number("size", big=True), _bytes("zstd"), key=("sha256",))
    _create(
        "contest",
        _text("platform"),
        _text("native_id"),
        _text("title", null=True),
        _instant("starts_at", null=True),
        _instant("ends_at", null=True),
        unique=("platform", "native_id"),
    )
    _create(
        "environment",
        _text("digest"),
        _text("executor"),
        _json("details"),
        _instant("created_at"),
        unique=("digest",),
    )
    _create(
        "problem",
        _text("platform"),
        _text("native_id"),
        _text("title"),
        _text("url", null=True),
        _text("difficulty", null=True),
        _text("status"),
        _instant("released_at", null=True),
        _text("released_precision", null=True),
        _instant("exposed_at", null=True),
        _number("current_revision_id", null=True),
        _number("current_suite_id", null=True),
        _text("first_source"),
        _instant("first_seen_at"),
        unique=("platform", "native_id"),
    )
    _index("problem", "native_id")
    _index("problem", "current_suite_id", unique=True)
    _create(
        "run",
        _text("digest"),
        _text("model"),
        _text("label"),
        _json("conditions"),
        _instant("created_at"),
        unique=("digest",),
    )
    _index("run", "model")


def _parts_of_problems() -> None:
    _create(
        "contest_problem",
        _number("contest_id"),
        _number("problem_id"),
        _text("contest_index", null=True),
        _points("contest_problem", "contest_id", "contest.id"),
        _points("contest_problem", "problem_id", "problem.id"),
        key=("contest_id", "problem_id"),
    )
    _index("contest_problem", "problem_id")
    _create(
        "date_claim",
        _number("problem_id"),
        _text("source"),
        _text("as_written"),
        _instant("earliest"),
        _text("precision"),
        _instant("first_seen_at"),
        _points("date_claim", "problem_id", "problem.id"),
        unique=("problem_id", "source", "as_written", "earliest", "precision"),
    )
    _create(
        "flag",
        _number("problem_id"),
        _text("name"),
        _text("reason"),
        _text("flagged_by"),
        _instant("since"),
        _points("flag", "problem_id", "problem.id"),
        unique=("problem_id", "name", "reason"),
    )
    _create(
        "revision",
        _number("problem_id"),
        _text("content_hash"),
        _text("statement_sha256"),
        _text("starter_sha256"),
        _text("source"),
        _instant("first_seen_at"),
        _points("revision", "problem_id", "problem.id"),
        _points("revision", "statement_sha256", "blob.sha256"),
        _points("revision", "starter_sha256", "blob.sha256"),
        unique=("problem_id", "content_hash"),
    )


def _suites() -> None:
    _create(
        "test_suite",
        _number("problem_id"),
        _text("digest"),
        _text("io_kind"),
        _text("entry_point", null=True),
        _json("comparison"),
        sa.Column("time_limit_s", sa.Float(), nullable=True),
        _number("memory_limit_bytes", null=True, big=True),
        _number("n_tests"),
        sa.Column("samples_only", sa.Boolean(), nullable=False),
        _text("source"),
        _instant("first_seen_at"),
        _points("test_suite", "problem_id", "problem.id"),
        unique=("problem_id", "digest"),
    )
    _create(
        "test_case",
        _number("suite_id"),
        _number("position"),
        _text("name"),
        _text("input_sha256"),
        _text("expected_sha256", null=True),
        _text("origin"),
        _json("comparison", null=True),
        _points("test_case", "suite_id", "test_suite.id"),
        _points("test_case", "input_sha256", "blob.sha256"),
        _points("test_case", "expected_sha256", "blob.sha256"),
        key=("suite_id", "position"),
    )


def _answers() -> None:
    _create(
        "completion",
        _number("run_id"),
        _number("problem_id"),
        _number("sample_index"),
        _text("language"),
        _text("finish_reason", null=True),
        _text("code_sha256"),
        _text("raw_sha256", null=True),
        _points("completion", "run_id", "run.id"),
        _points("completion", "problem_id", "problem.id"),
        _points("completion", "code_sha256", "blob.sha256"),
        _points("completion", "raw_sha256", "blob.sha256"),
        unique=("run_id", "problem_id", "sample_index"),
    )
    _index("completion", "problem_id")
    _create(
        "judgement",
        _number("completion_id"),
        _number("suite_id"),
        _number("environment_id"),
        _text("verdict"),
        _instant("judged_at"),
        _bytes("tests"),
        _points("judgement", "completion_id", "completion.id"),
        _points("judgement", "suite_id", "test_suite.id"),
        _points("judgement", "environment_id", "environment.id"),
        unique=("completion_id", "suite_id", "environment_id"),
    )
    _create(
        "tally",
        _number("problem_id"),
        _text("model"),
        _text("origin"),
        _number("n_samples"),
        _number("n_correct"),
        _points("tally", "problem_id", "problem.id"),
        unique=("problem_id", "model", "origin"),
    )
    _index("tally", "model")
