"""Tests that are made here, where a suite's tests beyond the samples come from, what a program is to its problem."""

from __future__ import annotations

from collections import defaultdict

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_COUNTED = ("wrong", "slow", "mutants", "right")
_AT_ONCE = 5000
# Joined and not looked up test by test: SQLite has no index for that, and takes the square of a suite's length.
_HIDDEN = """
    SELECT DISTINCT hidden.suite_id, hidden.origin FROM test_case AS hidden
    LEFT JOIN (
        SELECT DISTINCT suite_id, input_sha256, expected_sha256 FROM test_case WHERE origin = 'sample'
    ) AS shown
    ON shown.suite_id = hidden.suite_id
    AND shown.input_sha256 = hidden.input_sha256 AND shown.expected_sha256 = hidden.expected_sha256
    WHERE hidden.expected_sha256 IS NOT NULL AND hidden.origin <> 'sample' AND shown.suite_id IS NULL
"""
_MADE = "SELECT suite_id FROM made_suite"


def upgrade() -> None:
    """Add the columns and the table. Programs that are there are solutions; suites are looked through for origins."""
    op.add_column("reference", sa.Column("role", sa.String(), nullable=False, server_default="accepted"))
    op.add_column("test_suite", sa.Column("hidden_origins", sa.String(), nullable=False, server_default=sa.text("''")))
    _fill_in_origins()
    counts = [f"n_{what}{ending}" for what in _COUNTED for ending in ("", "_killed")]
    op.create_table(
        "made_suite",
        sa.Column("suite_id", sa.Integer(), sa.ForeignKey("test_suite.id"), primary_key=True),
        sa.Column("base_suite_id", sa.Integer(), sa.ForeignKey("test_suite.id"), nullable=False),
        sa.Column("revision_id", sa.Integer(), sa.ForeignKey("revision.id"), nullable=True),
        sa.Column("recipe", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("n_made", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in counts),
        sa.Column("details_sha256", sa.String(), sa.ForeignKey("blob.sha256"), nullable=False),
    )


def downgrade() -> None:
    """Take them away again, with what an older version would take for something else: tests that were made here for
    those of a platform (what they were made from becomes current), programs with another role for solutions."""
    op.execute(
        "UPDATE problem SET current_suite_id ="
        " (SELECT base_suite_id FROM made_suite WHERE made_suite.suite_id = problem.current_suite_id)"
        f" WHERE current_suite_id IN ({_MADE})"
    )
    # The suites go after the rows that say which they are, and these point at them.
    made = list(op.get_bind().execute(sa.text(_MADE)).scalars())
    op.drop_table("made_suite")
    for column, table in (
        ("suite_id", "judgement"),
        ("suite_id", "reference_verdict"),
        ("suite_id", "test_case"),
        ("id", "test_suite"),
    ):
        for start in range(0, len(made), _AT_ONCE):
            wanted = sa.column(column).in_(made[start : start + _AT_ONCE])
            op.execute(sa.delete(sa.table(table, sa.column(column))).where(wanted))
    op.drop_column("test_suite", "hidden_origins")
    op.execute(
        "DELETE FROM reference_verdict WHERE reference_id IN (SELECT id FROM reference WHERE role <> 'accepted')"
    )
    op.execute("DELETE FROM reference WHERE role <> 'accepted'")
    op.drop_column("reference", "role")


def _fill_in_origins() -> None:
    """A test that is a sample again is none beyond the samples, as ``samples_only`` has it."""
    connection = op.get_bind()
    origins: defaultdict[int, set[str]] = defaultdict(set)
    for suite_id, origin in connection.execute(sa.text(_HIDDEN)):
        origins[suite_id].add(origin)
    if origins:
        connection.execute(
            sa.text("UPDATE test_suite SET hidden_origins = :said WHERE id = :suite"),
            [{"said": ",".join(sorted(said)), "suite": suite_id} for suite_id, said in origins.items()],
        )
