"""The pages that are published, in a browser: what they show of a view is what the commands that they name print."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval.publishing.publication import Published
from eval.site.pages import site_files
from tests.eval.editions.built import invented, published
from tests.eval.site.board_pages import View, order, shown, wait_for_view
from tests.eval.site.browser import Offline
from tests.eval.site.odd_boards import recorded_site
from tests.live.command import Live, runner
from tests.live.graded import write_board

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

_COUNTED = """() => {
  const board = liveTables.prepare(window.LIVE_BOARD);
  const all = {since: null, until: null, platforms: null, difficulties: null};
  const found = {own: liveTables.own(board, all), common: liveTables.common(board, all).rows};
  for (const name of ["own", "common"]) {
    found[name] = Object.fromEntries(found[name].map((row, place) => [board.runs[place].slug, row]));
  }
  return found;
}"""


@pytest.fixture
def board_live(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Live:
    """The command with the invented board of ten models, frozen as "2025-05"."""
    live = runner(monkeypatch, capsys, tmp_path)
    write_board(tmp_path)
    monkeypatch.setenv("LIVE_MODELS", str(tmp_path / "models.toml"))
    for kind in ("problems", "results"):
        assert live("import", kind, tmp_path / f"{kind}.jsonl", "--format", "jsonl").code == 0
    assert live("edition", "freeze", "2025-05").code == 0
    return live


def test_the_commands_that_a_view_names_print_what_it_shows(board_live: Live, offline: Offline, tmp_path: Path) -> None:
    assert board_live("publish", tmp_path / "site").code == 0
    page = offline.page()
    page.goto((tmp_path / "site" / "index.html").as_uri())
    # Ranks are known beforehand for windows of whole months after the latest cut-off, which is 2024-09.
    views = {
        View("2024-11"): True,
        View("2024-11", "2025-03"): True,
        View("2024-10", "2025-03"): False,
        View(last="2024-06", difficulties=("easy", "hard")): False,
        View(platforms=("atcoder",)): False,
    }
    for view, has_ranks in views.items():
        page.goto(f"{page.url.partition('#')[0]}#{view.fragment}")
        wait_for_view(page)
        (tables,) = (one["tables"] for one in shown(page))
        own, common = page.locator("#view-said code").all_text_contents()[:2]
        compare_own(tables["own"], board_live(*shlex.split(own)[1:], "--json").document)
        compare_common(tables["common"], board_live(*shlex.split(common)[1:], "--json").document, has_ranks)
        (group,) = board_live(*shlex.split(common)[1:], "--json").document["groups"]
        assert order(page, "common") == [row["model"] for row in group["rows"]]


def test_the_commands_of_an_edition_of_some_models_leave_the_others_out(
    board_live: Live, offline: Offline, tmp_path: Path
) -> None:
    """ "late" has a cut-off nine months later, which would take the problems of these months from all others."""
    chosen = [f"m{place}" for place in range(8)]
    frozen = board_live(
        *("edition", "freeze", "some", *chosen),
        *("--withdrawn", "late=not asked for", "--withdrawn", "memoriser=not asked for"),
    )
    assert frozen.code == 0
    assert board_live("publish", tmp_path / "site", "--edition", "some").code == 0
    page = offline.page()
    page.goto((tmp_path / "site" / "index.html").as_uri() + "#" + View(platforms=("atcoder",)).fragment)
    wait_for_view(page)
    (tables,) = (one["tables"] for one in shown(page))
    assert set(tables["common"]) == set(chosen)
    own, common = page.locator("#view-said code").all_text_contents()[:2]
    compare_own(tables["own"], board_live(*shlex.split(own)[1:], "--json").document)
    document = board_live(*shlex.split(common)[1:], "--json").document
    assert document["groups"][0]["n_problems"] > 21
    compare_common(tables["common"], document, has_ranks=False)
    assert "on the store as it was frozen" in page.inner_text("#view-said")


def compare_own(cells: dict[str, Any], document: Any) -> None:
    assert {row["model"] for row in document["rows"]} == set(cells)
    for row in document["rows"]:
        shows = cells[row["model"]]
        assert shows["score"][1] == pytest.approx(row["pass_at_1"], abs=1e-9)
        assert [shows[name][1] for name in ("problems", "eligible", "contests")] == [
            row["n_judged"],
            row["n_eligible"],
            row["n_contests"],
        ]
        if row["n_judged"] >= 10:
            assert shows["interval"][1:] == pytest.approx([row["ci_low"], row["ci_high"]], abs=1e-9)
            assert shows["score"][0] == f"{100 * row['pass_at_1']:.1f} %"
        else:
            assert shows["note"][0].startswith(row["reason"])


def compare_common(cells: dict[str, Any], document: Any, has_ranks: bool) -> None:
    (group,) = document["groups"]
    assert {row["model"] for row in group["rows"]} == set(cells)
    for row in group["rows"]:
        shows = cells[row["model"]]
        assert shows["score"][1] == pytest.approx(row["score"], abs=1e-9)
        assert shows["interval"][1:] == pytest.approx([row["low"], row["high"]], abs=1e-9)
        counts = [shows[name][1] for name in ("lacks", "exposed", "problems")]
        assert counts == [row["n_missing"], row["n_exposed"], group["n_problems"]]
        if has_ranks:
            assert shows["rank"][1:] == [row["ranks"]["low"], row["ranks"]["high"]]
            assert shows["rank_all"][1:] == [row["ranks"]["simultaneous_low"], row["ranks"]["simultaneous_high"]]
            assert shows["tier"][1] == row["ranks"]["tier"]
        else:
            assert [shows[name][0] for name in ("rank", "rank_all", "tier")] == ["–"] * 3


def open_site(offline: Offline, folder: Path, site: Published, fragment: str = "") -> Page:
    shutil.rmtree(folder, ignore_errors=True)
    for file in site_files(site, {}):
        (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.path).write_bytes(file.body)
    page = offline.page()
    page.goto(f"{(folder / 'index.html').as_uri()}#{fragment}")
    wait_for_view(page)
    return page


def check_default_view(offline: Offline, folder: Path, site: Published) -> None:
    """What Python has put into the page is what the script would count for the same view."""
    made = shown(open_site(offline, folder, site))[0]["tables"]
    page = open_site(offline, folder, site, "from=2024-01")
    counted = page.evaluate(_COUNTED)
    for table, rows in made.items():
        assert set(rows) == set(counted[table])
        for run, cells in rows.items():
            for column, (text, *numbers) in cells.items():
                cell = counted[table][run].get(column, {})
                if column not in {"rank", "rank_all", "tier"}:
                    # An empty cell of the page carries the number of its reason: "–3".
                    assert text == cell.get("text", "–") or text.rstrip("0123456789") == cell.get("text", "–") == "–"
                    assert numbers == pytest.approx([cell.get("value"), cell.get("high")], abs=1e-6)  # as pages round


def test_the_default_view_of_the_invented_edition_is_what_would_be_counted(offline: Offline, tmp_path: Path) -> None:
    check_default_view(offline, tmp_path, published(invented()))


@pytest.mark.shared
@pytest.mark.slow
def test_the_default_view_of_the_recorded_edition_is_what_would_be_counted(
    offline: Offline, tmp_path: Path, shared_data: Path
) -> None:
    check_default_view(offline, tmp_path, recorded_site(shared_data))


def test_a_view_of_a_published_page_and_the_way_back(offline: Offline, tmp_path: Path) -> None:
    site = published(invented())
    page = open_site(offline, tmp_path, site)
    made = page.inner_html("main")
    page.click("#view summary")
    page.fill('#view [name="from"]', "2024-06")
    page.dispatch_event('#view [name="from"]', "change")
    page.locator("#view-said code").first.wait_for()
    assert "Shown: problems published from 2024-06 on (UTC)." in page.inner_text("#view-said")
    assert page.locator("main [data-default-view]:visible").count() == 0
    page.click("#common thead button:text-is('pass@1')")
    page.click("#common thead button:text-is('pass@1')")
    assert page.locator("main script").count() == 0
    page.click("#common thead button:text-is('pass@1')")
    page.click("#view button[type=reset]")
    page.click("#view summary")
    assert page.inner_html("main") == made
