"""One set of store tests over each database that LIVE_TEST_DB_URLS names (comma-separated; default: an SQLite file)."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from db.engine import Store, open_store

URLS = [url.strip() for url in os.environ.get("LIVE_TEST_DB_URLS", "sqlite").split(",") if url.strip()]


@contextmanager
def fresh_url(url: str, folder: Path) -> Iterator[str]:
    """The URL of an empty store: a new file, or a new schema of a server's database that is dropped afterwards."""
    if url.startswith("sqlite"):
        yield f"sqlite:///{folder / 'store.db'}"
        return
    schema = f"livecut_test_{uuid.uuid4().hex}"
    parsed = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(parsed, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
        yield parsed.update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(hide_password=False)
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


@pytest.fixture(params=URLS, ids=lambda url: str(url).partition(":")[0])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store, for each database."""
    with fresh_url(request.param, tmp_path) as url:
        yield url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An open, empty store."""
    with open_store(store_url) as opened:
        yield opened


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[Store]:
    """An open, empty SQLite store, for what is SQLite's alone."""
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


@pytest.fixture(scope="module", params=URLS, ids=lambda url: str(url).partition(":")[0])
def shared_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One open store for all examples of a property; each example uses keys of its own."""
    with fresh_url(request.param, tmp_path_factory.mktemp("store")) as url, open_store(url) as opened:
        yield opened
