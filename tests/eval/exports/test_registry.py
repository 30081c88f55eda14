"""Which exports there are, and what holds for all files of the tabular ones."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from eval import exports
from eval.exports import ExportUnavailable, all_exports
from eval.publishing.manifest import is_safe_path
from tests.eval.editions.built import PRIVATE_ID, invented, published
from tests.eval.exports.reading import TABULAR, bodies, csv_rows, small, turned

SEEDED = """
import hashlib
from tests.eval.exports.reading import TABULAR, bodies, small
for path, body in bodies(small(), *TABULAR).items():
    print(path, hashlib.sha256(body).hexdigest())
"""


def test_every_module_of_the_package_is_an_export_under_its_file_name() -> None:
    folder = Path(str(exports.__file__)).parent
    modules = {path.stem for path in folder.glob("*.py") if not path.name.startswith("_")}
    assert set(all_exports()) == modules
    assert modules >= set(TABULAR)
    assert list(all_exports()) == sorted(modules)
    for name, export in all_exports().items():
        assert export.name == name
        assert len(export.description) > 20


def test_an_export_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ExportUnavailable) as caught:
        next(all_exports()["parquet"].files(small()))
    assert caught.value.hint == "pip install 'livecut[parquet]'"
    assert "DuckDB" in caught.value.message


def test_the_files_have_the_paths_that_others_link_to() -> None:
    found = bodies(small(), *TABULAR)
    assert set(found) == {
        "data/results.csv",
        "data/results.json",
        "data/results.schema.json",
        "data/results.parquet",
        "data/problems.csv",
        "data/problems.json",
        "data/problems.schema.json",
        "data/problems.parquet",
        "data/outcomes.parquet",
        "data/outcomes.schema.json",
        *(f"data/outcomes/{slug}.csv" for slug in small().run_slugs.values()),
        "tables/own.md",
        "tables/common.md",
        "tables/equated.md",
    }
    assert all(is_safe_path(path) for path in found)


def test_nothing_of_a_private_problem_is_in_any_file() -> None:
    for path, body in bodies(small(), *TABULAR).items():
        assert PRIVATE_ID.encode() not in body, path
        assert b"Secret Garden" not in body, path


def test_a_private_problem_that_came_through_is_left_out_again() -> None:
    frozen = invented()
    whole = replace(published(frozen), edition=frozen.edition)
    found = bodies(whole, "problems", "outcomes")
    tables = [csv_rows(body) for path, body in found.items() if path.endswith(".csv")]
    ids = {row["problem"] for rows in tables for row in rows}
    assert not any(PRIVATE_ID in one for one in ids)
    assert "codeforces:p30" in ids


def test_the_order_of_what_has_none_changes_no_byte() -> None:
    withdrawn = {"ghost-1": "asked by its provider", "ghost-2": "asked by nobody"}
    of = replace(small(), edition=replace(small().edition, withdrawn=withdrawn))
    assert bodies(turned(of), *TABULAR) == bodies(of, *TABULAR)


def test_hash_seeds_change_no_byte(root: Path) -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", SEEDED],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("0", "1")
    }
    here = bodies(small(), *TABULAR).items()
    assert said == {"".join(f"{path} {hashlib.sha256(body).hexdigest()}\n" for path, body in here)}
