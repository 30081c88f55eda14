"""The migrations lead to exactly the tables that the code has, from wherever the program is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from db.engine import Store, open_store
from db.migrate import MIGRATIONS, known_revisions
from db.tables import Base


def config() -> Config:
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    return made


def test_autogenerate_finds_nothing_to_do(store: Store) -> None:
    with store.read() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_the_revisions_read_from_file_names_are_alembics_own() -> None:
    scripts = ScriptDirectory.from_config(config())
    assert [script.revision for script in scripts.walk_revisions()][::-1] == known_revisions()
    assert scripts.get_heads() == [known_revisions()[-1]]


def test_every_step_can_be_taken_back(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'steps.db'}")
    with engine.begin() as connection:
        steps = config()
        steps.attributes["connection"] = connection
        command.upgrade(steps, "head")
        assert set(Base.metadata.tables) < set(inspect(connection).get_table_names())
        command.downgrade(steps, "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_a_store_is_made_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alembic.ini").write_text("[alembic]\nscript_location = nowhere\n")
    open_store("store.db").close()
    assert (tmp_path / "store.db").is_file()


def test_opening_again_migrates_nothing(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(store_url).close()
    monkeypatch.setattr("db.migrate._upgrade", lambda *_: pytest.fail("migrated again"))
    open_store(store_url).close()
