"""Programs that are known to solve a problem, and what became of them on its tests in each environment."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the two tables."""
    op.create_table(
        "reference",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("problem_id", sa.Integer(), sa.ForeignKey("problem.id"), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("code_sha256", sa.String(), sa.ForeignKey("blob.sha256"), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.UniqueConstraint("problem_id", "source", "name"),
    )
    op.create_table(
        "reference_verdict",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("reference_id", sa.Integer(), sa.ForeignKey("reference.id"), nullable=False),
        sa.Column("suite_id", sa.Integer(), sa.ForeignKey("test_suite.id"), nullable=False),
        sa.Column("environment_id", sa.Integer(), sa.ForeignKey("environment.id"), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("reference_id", "suite_id", "environment_id"),
    )


def downgrade() -> None:
    """Take them away again."""
    op.drop_table("reference_verdict")
    op.drop_table("reference")
