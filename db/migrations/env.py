"""What Alembic runs. ``db.migrate`` hands in the connection; at the ``alembic`` command it is ``-x db=URL``."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, create_engine

from db.tables import Base


def run(connection: Connection) -> None:
    """Run the asked-for steps in the connection's transaction, all or none."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        transactional_ddl=True,
        # SQLite changes a table by writing it anew.
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if isinstance(given, Connection):
    run(given)
else:
    with create_engine(context.get_x_argument(as_dictionary=True)["db"]).begin() as opened:
        run(opened)
