"""Rows without a number on a page that sorts: the reported case in which "N/A" broke the order."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval.editions.document import EditionRun
from eval.publishing.publication import Published
from eval.site.pages import site_files
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, published
from tests.eval.facts import model, registry
from tests.eval.site.board_pages import order, shown
from tests.eval.site.browser import Offline

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.shared]

N_PROBLEMS, N_SAMPLES = 40, 20
FIRST_YEAR = datetime(2024, 1, 1, tzinfo=UTC).year


def board(rows: list[dict[str, Any]]) -> Published:
    """The rows as runs of an edition: null has no cut-off, and so no score; a word is one without any result."""
    problems = [
        edition_problem(
            place,
            exposed_at=f"{FIRST_YEAR + place // 12}-{1 + place % 12:02}-15",
            contest=f"c{place}",
        )
        for place in range(N_PROBLEMS)
    ]
    models = registry(*(model(row["m"], None if row["s"] is None else "2023-06") for row in rows))
    return published(freeze_built(problems, [_run(row) for row in rows], models))


def _run(row: dict[str, Any]) -> EditionRun:
    if isinstance(row["s"], str):
        return edition_run(row["m"], [])
    n_correct = round(N_SAMPLES * (row["s"] or 0))
    return edition_run(row["m"], [(place, N_SAMPLES, n_correct) for place in range(N_PROBLEMS)])


def opened(offline: Offline, folder: Path, site: Published) -> Page:
    for file in site_files(site, {}):
        (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.path).write_bytes(file.body)
    page = offline.page()
    page.goto((folder / "index.html").as_uri())
    return page


@pytest.mark.parametrize("table", ["own", "common"])
def test_rows_without_a_number_come_last_in_both_directions(
    offline: Offline, tmp_path: Path, shared_data: Path, table: str
) -> None:
    case = shared_data.parent / "reports" / "cases" / "G01"
    rows = json.loads((case / "rows.json").read_text(encoding="utf-8"))
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    page = opened(offline, tmp_path, board(rows))
    for direction in ("desc", "asc"):
        page.click(f"#{table} thead button:text-is('pass@1')")
        assert order(page, table) == expected[direction] + expected["unranked"]
    cells = shown(page)[0]["tables"][table]
    for name in expected["unranked"]:
        for column in ("score", "interval") + (("rank", "rank_all", "tier") if table == "common" else ()):
            text, *numbers = cells[name][column]
            assert (text.rstrip("0123456789"), numbers) == ("–", [None, None])
    scores = {row["m"]: row["s"] for row in rows if row["m"] not in expected["unranked"]}
    assert {name: cells[name]["score"][1] for name in scores} == pytest.approx(scores)
