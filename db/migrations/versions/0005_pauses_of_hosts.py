"""A pause that a host demands is kept apart from whose turn it is, so that the end of a turn cannot shorten it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("host_gate", sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Take it away; a pause that still holds becomes the host's next turn."""
    op.execute("UPDATE host_gate SET next_at = paused_until WHERE paused_until > next_at")
    op.drop_column("host_gate", "paused_until")
