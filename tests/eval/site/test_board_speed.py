"""How large the data of the start page are, and how quickly it shows another window."""

from __future__ import annotations

import gzip
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval.site.board_data import SCRIPTS, board_script
from tests.eval.site.board_pages import STATIC, View, wait_for_view, write_page
from tests.eval.site.browser import Offline
from tests.eval.site.odd_boards import FIRST, large_edition, published_of, recorded_site

if TYPE_CHECKING:
    from playwright.sync_api import Page

_MEASURE = """(fragments) => {
  const times = fragments.map((fragment) => {
    history.pushState(null, "", "#" + fragment);
    const start = performance.now();
    dispatchEvent(new PopStateEvent("popstate"));
    document.body.getBoundingClientRect();
    return performance.now() - start;
  });
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
}"""
VIEWS = [View(f"2023-{month:02}", "2024-12") for month in range(2, 12)]
VIEWS += [View(platforms=("atcoder",)), View(last="2024-06", difficulties=("hard",))]


def median_ms(page: Page, views: list[View]) -> float:
    """The median time from a choice to a page that is laid out again, in ms."""
    found: float = page.evaluate(_MEASURE, [view.fragment for view in views])
    return found


@pytest.mark.parametrize(
    ("n_runs", "n_problems", "n_ranked", "most_bytes"), [(16, 1055, 90, 60_000), (60, 2000, 90, 300_000)]
)
def test_the_data_stay_small(n_runs: int, n_problems: int, n_ranked: int, most_bytes: int) -> None:
    windows = [(FIRST + timedelta(days=number), None) for number in range(n_ranked)]
    size = len(board_script(published_of(large_edition(n_runs, n_problems, windows))))
    print(f"{n_runs} x {n_problems}: {size} bytes")
    assert size < most_bytes


@pytest.mark.shared
def test_the_recorded_data_stay_small(shared_data: Path) -> None:
    assert len(board_script(recorded_site(shared_data))) < 60_000


def test_the_scripts_stay_small() -> None:
    code = "".join((STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS)
    assert len(re.sub(r"/\*\*.*?\*/|^ *// .*?$", "", code, flags=re.DOTALL | re.MULTILINE).encode()) < 30_000
    assert len(gzip.compress(code.encode())) < 12_000


@pytest.mark.browser
def test_another_window_is_shown_at_once(offline: Offline, tmp_path: Path) -> None:
    page = offline.page()
    page.goto(f"{write_page(tmp_path, published_of(large_edition(16, 1055)))}#{VIEWS[0].fragment}")
    wait_for_view(page)
    median = median_ms(page, VIEWS)
    print(f"16 x 1055: {median:.1f} ms")
    assert median < 150  # about 10 on an idle machine


@pytest.mark.browser
@pytest.mark.slow
def test_a_very_large_board_stays_usable(offline: Offline, tmp_path: Path) -> None:
    site = published_of(large_edition(300, 5000))
    size = len(board_script(site))
    page = offline.page()
    page.goto(f"{write_page(tmp_path, site)}#{VIEWS[0].fragment}")
    wait_for_view(page)
    median = median_ms(page, VIEWS)
    print(f"300 x 5000: {size} bytes, {median:.1f} ms")
    assert size < 4_000_000
    assert median < 3000  # about 200 on an idle machine
