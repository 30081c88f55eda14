"""Answers as endpoints gave them, requests that failed, questions beyond the problem itself, scenarios of results."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import SchemaItem

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TALLY_KEY = ("problem_id", "model", "origin")
_PLACE = ("run_id", "problem_id", "question_id", "sample_index")


def upgrade() -> None:
    """Add the columns and tables. Results that are there are of code generation."""
    for name in ("status", "rule"):
        op.add_column("completion", _text(name, null=True))
    _key_of_tallies(with_scenario=True)
    _questions()
    _responses()
    _failed_requests()


def downgrade() -> None:
    """Take them away again, and with them the results of other scenarios: an older version would score them as code
    generation."""
    for table in ("failed_request", "response", "question"):
        op.drop_table(table)
    op.execute("DELETE FROM tally WHERE scenario <> 'code_generation'")
    _key_of_tallies(with_scenario=False)
    for name in ("rule", "status"):
        op.drop_column("completion", name)


def _text(name: str, *, null: bool = False, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=null, server_default=default)


def _number(name: str, *, null: bool = False, big: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger() if big else sa.Integer(), nullable=null)


def _float(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Float(), nullable=True)


def _instant(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=null)


def _blob(name: str, *, null: bool = True) -> sa.Column[str]:
    return sa.Column(name, sa.String(), sa.ForeignKey("blob.sha256"), nullable=null)


def _create(table: str, *items: SchemaItem) -> None:
    op.create_table(table, sa.Column("id", sa.Integer(), primary_key=True), *items)


def _place() -> tuple[SchemaItem, ...]:
    return (
        sa.Column("run_id", sa.Integer(), sa.ForeignKey("run.id"), nullable=False),
        sa.Column("problem_id", sa.Integer(), sa.ForeignKey("problem.id"), nullable=False),
        _number("question_id"),
        _number("sample_index"),
        sa.UniqueConstraint(*_PLACE),
    )


def _key_of_tallies(*, with_scenario: bool) -> None:
    """Change the unique key of the tallies; SQLite does that by writing the table anew."""
    with_it = (*_TALLY_KEY, "scenario")
    old, new = (_TALLY_KEY, with_it) if with_scenario else (with_it, _TALLY_KEY)
    with op.batch_alter_table("tally") as table:
        table.drop_constraint(f"uq_tally_{'_'.join(old)}", type_="unique")
        if with_scenario:
            table.add_column(_text("scenario", default="code_generation"))
        else:
            table.drop_column("scenario")
        table.create_unique_constraint(f"uq_tally_{'_'.join(new)}", list(new))


def _questions() -> None:
    _create(
        "question",
        sa.Column("problem_id", sa.Integer(), sa.ForeignKey("problem.id"), nullable=False),
        _text("scenario"),
        _text("digest"),
        _text("language", null=True),
        _blob("program_sha256"),
        _blob("input_sha256"),
        _blob("expected_sha256", null=False),
        _blob("feedback_sha256"),
        _instant("made_at"),
        sa.UniqueConstraint("problem_id", "scenario", "digest"),
    )


def _responses() -> None:
    _create(
        "response",
        *_place(),
        _instant("requested_at", null=True),
        _float("latency_s"),
        _number("attempts"),
        _text("endpoint"),
        _text("served_model", null=True),
        _text("fingerprint", null=True),
        _text("response_id", null=True),
        _text("finish_reason", null=True),
        _number("tokens_in", null=True, big=True),
        _number("tokens_out", null=True, big=True),
        _number("tokens_reasoning", null=True, big=True),
        _float("cost"),
        _text("currency", null=True),
        _blob("prompt_sha256"),
        _blob("raw_sha256"),
        _blob("reasoning_sha256"),
        _blob("answer_sha256"),
        _text("status"),
        _text("rule", null=True),
        _number("revision_id", null=True),
    )


def _failed_requests() -> None:
    _create(
        "failed_request",
        *_place(),
        _instant("failed_at"),
        _text("reason"),
        _text("message"),
        _number("attempts"),
        _number("tokens_in", null=True, big=True),
        _number("tokens_out", null=True, big=True),
        _float("cost"),
        _text("currency", null=True),
        sa.Column("is_answered", sa.Boolean(), nullable=False),
    )
