"""Live ingestion: snapshots, runs, leases, start history, withdrawal, twins, sightings, near-duplicates, languages.

Revisions that differ only in white space are one from here on: their content hash is made anew.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import sqlalchemy as sa
import zstandard
from alembic import op
from sqlalchemy.schema import SchemaItem

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = (
    "contest_start",
    "problem_alias",
    "sighting",
    "duplicate",
    "fingerprint",
    "snapshot",
    "host_gate",
    "lease",
    "ingest_run",
    "ingest_failure",
    "refused_row",
)
COLUMNS: dict[str, tuple[str, ...]] = {
    "contest": ("url", "kind", "n_listed", "collected_at", "missed_listings", "missed_at", "withdrawn_at"),
    "problem": ("last_seen_at", "withdrawn_at"),
    "contest_problem": ("missed_listings", "missed_at", "withdrawn_at"),
    "revision": ("language", "page_sha256"),
    "completion": ("revision_id",),
    "flag": ("cleared_at",),
}
_CLAIM_KEY = ("problem_id", "source", "as_written", "earliest", "precision")
_FLAG_KEY = ("problem_id", "name", "reason")
_WITH_SOURCE = (*_FLAG_KEY, "flagged_by")


def upgrade() -> None:
    """Add what live ingestion needs."""
    _add_columns()
    _key_of_claims(with_contest=True)
    _key_of_flags(_FLAG_KEY, _WITH_SOURCE)
    _tables_about_problems()
    _tables_about_runs()
    _rehash_revisions(" ".join)


def downgrade() -> None:
    """Take it away again. Claims of several contests, and flags of several sources, that say the same become one."""
    _rehash_revisions(None)
    for table in reversed(TABLES):
        op.drop_table(table)
    op.execute(
        "DELETE FROM date_claim WHERE id NOT IN "
        f"(SELECT min(id) FROM date_claim GROUP BY {', '.join(_CLAIM_KEY)}) OR superseded_at IS NOT NULL"
    )
    _key_of_claims(with_contest=False)
    op.execute(f"DELETE FROM flag WHERE id NOT IN (SELECT min(id) FROM flag GROUP BY {', '.join(_FLAG_KEY)})")
    _key_of_flags(_WITH_SOURCE, _FLAG_KEY)
    for table, columns in COLUMNS.items():
        for column in columns:
            op.drop_column(table, column)


def _text(name: str, *, null: bool = False, default: Any = None) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=null, server_default=default)


def _number(name: str, *, null: bool = False, default: str | None = None) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=null, server_default=default)


def _instant(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=null)


def _json(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=False)


def _points(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], name=f"fk_{table}_{column}")


def _create(table: str, *items: SchemaItem, key: tuple[str, ...] = ("id",), unique: tuple[str, ...] = ()) -> None:
    columns = [_number("id")] if key == ("id",) else []
    constraints: list[SchemaItem] = [sa.PrimaryKeyConstraint(*key, name=f"pk_{table}")]
    if unique:
        constraints.append(sa.UniqueConstraint(*unique, name=f"uq_{table}_{'_'.join(unique)}"))
    op.create_table(table, *columns, *items, *constraints)


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns))


def _add_columns() -> None:
    new: dict[str, list[sa.Column[Any]]] = {
        "contest": [
            _text("url", null=True),
            _text("kind", default="round"),
            _number("n_listed", null=True),
            _instant("collected_at", null=True),
            _number("missed_listings", default="0"),
            _instant("missed_at", null=True),
            _instant("withdrawn_at", null=True),
        ],
        "problem": [_instant("last_seen_at", null=True), _instant("withdrawn_at", null=True)],
        "contest_problem": [
            _number("missed_listings", default="0"),
            _instant("missed_at", null=True),
            _instant("withdrawn_at", null=True),
        ],
        "revision": [_text("language", null=True), _text("page_sha256", null=True)],
        "completion": [_number("revision_id", null=True)],
        "flag": [_instant("cleared_at", null=True)],
    }
    for table, columns in new.items():
        for column in columns:
            op.add_column(table, column)


def _key_of_claims(*, with_contest: bool) -> None:
    """Change the unique key of the claims; SQLite does that by writing the table anew."""
    with op.batch_alter_table("date_claim") as table:
        if with_contest:
            table.drop_constraint(f"uq_date_claim_{'_'.join(_CLAIM_KEY)}", type_="unique")
            table.add_column(_text("contest", default=sa.text("''")))
            table.add_column(_instant("superseded_at", null=True))
            # PostgreSQL takes no more than 63 characters for a name.
            table.create_unique_constraint("uq_date_claim_key", [*_CLAIM_KEY, "contest"])
        else:
            table.drop_constraint("uq_date_claim_key", type_="unique")
            table.drop_column("contest")
            table.drop_column("superseded_at")
            table.create_unique_constraint(f"uq_date_claim_{'_'.join(_CLAIM_KEY)}", list(_CLAIM_KEY))


def _key_of_flags(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    """Change the unique key of the flags: two sources may say the same, and each takes back its own word alone."""
    with op.batch_alter_table("flag") as table:
        table.drop_constraint(f"uq_flag_{'_'.join(old)}", type_="unique")
        table.create_unique_constraint(f"uq_flag_{'_'.join(new)}", list(new))


def _tables_about_problems() -> None:
    _create(
        "contest_start",
        _number("contest_id"),
        _instant("starts_at"),
        _text("source"),
        _instant("first_seen_at"),
        _points("contest_start", "contest_id", "contest.id"),
    )
    _index("contest_start", "contest_id")
    _create(
        "problem_alias",
        _text("platform"),
        _text("native_id"),
        _number("problem_id"),
        _text("reason"),
        _instant("first_seen_at"),
        _points("problem_alias", "problem_id", "problem.id"),
        key=("platform", "native_id"),
    )
    _index("problem_alias", "problem_id")
    _create(
        "sighting",
        _text("platform"),
        _text("native_id"),
        _text("source"),
        _instant("seen_at"),
        _text("reason"),
        unique=("platform", "native_id", "source"),
    )
    _create(
        "duplicate",
        _number("first_id"),
        _number("second_id"),
        _text("verdict"),
        sa.Column("similarity", sa.Float(), nullable=False),
        _text("method"),
        _text("reason"),
        _instant("found_at"),
        _points("duplicate", "first_id", "problem.id"),
        _points("duplicate", "second_id", "problem.id"),
        unique=("first_id", "second_id"),
    )
    _index("duplicate", "second_id")
    _create(
        "fingerprint",
        _number("revision_id"),
        _text("kind"),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        _points("fingerprint", "revision_id", "revision.id"),
        key=("revision_id",),
    )


def _tables_about_runs() -> None:
    _create(
        "snapshot",
        _text("source"),
        _text("method"),
        _text("url"),
        _text("request_sha256"),
        _text("final_url"),
        _number("status"),
        _json("headers"),
        _text("body_sha256"),
        _text("origin"),
        _instant("fetched_at"),
        _instant("validated_at"),
        _points("snapshot", "body_sha256", "blob.sha256"),
    )
    _index("snapshot", "url", "request_sha256")
    _create(
        "host_gate",
        _text("host"),
        _instant("next_at"),
        _instant("blocked_until", null=True),
        _text("blocked_reason", null=True),
        key=("host",),
    )
    _create("lease", _text("name"), _text("owner"), _instant("taken_at"), _instant("expires_at"), key=("name",))
    _create(
        "ingest_run",
        _text("source"),
        _instant("planned_at", null=True),
        _number("attempt"),
        _text("owner"),
        _instant("started_at"),
        _instant("finished_at", null=True),
        _text("outcome", null=True),
        sa.Column("caught_up", sa.Boolean(), nullable=False, server_default=sa.false()),
        _text("error_kind", null=True),
        _text("error", null=True),
        _json("counts"),
        _json("notes"),
        unique=("source", "planned_at", "attempt"),
    )
    _create(
        "ingest_failure",
        _number("run_id"),
        _text("what"),
        _text("kind"),
        _text("error"),
        _number("snapshot_id", null=True),
        _instant("failed_at"),
        _points("ingest_failure", "run_id", "ingest_run.id"),
        _points("ingest_failure", "snapshot_id", "snapshot.id"),
    )
    _index("ingest_failure", "run_id")
    _create(
        "refused_row",
        _text("file"),
        _text("place"),
        _text("reason"),
        _text("hint"),
        _text("raw"),
        _instant("refused_at"),
        unique=("file", "place", "reason"),
    )


def _rehash_revisions(join: Any) -> None:
    """Make every revision's content hash anew; ``join`` puts a statement's words together, None takes it as it is.

    Of revisions that are one by the new hash, the later ones keep their old hash: they stay what they were.
    """
    connection = op.get_bind()
    rows = connection.execute(
        sa.text(
            "SELECT r.id, r.problem_id, r.content_hash, s.zstd, c.zstd FROM revision r "
            "JOIN blob s ON s.sha256 = r.statement_sha256 JOIN blob c ON c.sha256 = r.starter_sha256 ORDER BY r.id"
        )
    ).all()
    taken = {(problem_id, content_hash) for _, problem_id, content_hash, _, _ in rows}
    unpack = zstandard.ZstdDecompressor().decompress
    for revision_id, problem_id, _, statement, starter in rows:
        said, code = (unpack(bytes(frame)).decode("utf-8", "surrogatepass") for frame in (statement, starter))
        parts = [join(said.split()) if join else said, code]
        text = json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()
        content_hash = hashlib.sha256(text).hexdigest()
        if (problem_id, content_hash) not in taken:
            taken.add((problem_id, content_hash))
            connection.execute(
                sa.text("UPDATE revision SET content_hash = :hash WHERE id = :id"),
                {"hash": content_hash, "id": revision_id},
            )
