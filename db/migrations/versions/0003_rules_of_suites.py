"""What judges a suite beside a comparison: checkers, signatures, groups with scores, and arguments of checkers.

The rules are JSON in ``blob``. The column that names it has no foreign key: SQLite cannot add one to a table that
exists.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NEWER = "rules_sha256 IS NOT NULL OR io_kind NOT IN ('stdin', 'function')"
_NEWER_SUITES = f"SELECT id FROM test_suite WHERE {_NEWER}"


def upgrade() -> None:
    """Add the columns. Suites that are there have no rules and keep their digest."""
    op.add_column("test_suite", sa.Column("rules_sha256", sa.String(), nullable=True))
    op.add_column("test_suite", sa.Column("has_checker", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("test_case", sa.Column("checker_flags", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    """Take them away again, with the suites that need them or are of the kinds that came with them, and the verdicts.

    Without its rules such a suite would be judged by comparison, and wrongly, under the digest of the right one; a kind
    that an older version does not know stops it.
    """
    op.execute(f"UPDATE problem SET current_suite_id = NULL WHERE current_suite_id IN ({_NEWER_SUITES})")
    op.execute(f"DELETE FROM judgement WHERE suite_id IN ({_NEWER_SUITES})")
    op.execute(f"DELETE FROM test_case WHERE suite_id IN ({_NEWER_SUITES})")
    op.execute(f"DELETE FROM test_suite WHERE {_NEWER}")
    op.drop_column("test_case", "checker_flags")
    op.drop_column("test_suite", "has_checker")
    op.drop_column("test_suite", "rules_sha256")
