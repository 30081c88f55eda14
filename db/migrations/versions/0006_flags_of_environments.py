"""That reference solutions fail is worked out for the environment that is scored; it is no flag of the problem."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take those flags away: the verdicts that they came from are kept for each environment."""
    op.execute("DELETE FROM flag WHERE flagged_by = 'reference solutions'")


def downgrade() -> None:
    """Nothing to do: an older version puts them on again when it judges."""
