"""Editions: results as they stood when they were frozen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "edition",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("frozen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body_sha256", sa.String(), sa.ForeignKey("blob.sha256"), nullable=False),
        sa.UniqueConstraint("name"),
    )


def downgrade() -> None:
    """Take it away again; the bytes stay among the blobs, which nothing of an older version reads."""
    op.drop_table("edition")
