"""Pages of every kind for every reader: in light and dark, on a phone, by keyboard, on paper, without scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.eval.site.reading import KINDS, invented_site, write

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.eval.site.browser import Offline

PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
OPEN_ALL = "() => document.querySelectorAll('details').forEach(one => { one.open = true })"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("site")
    write(invented_site(), path)
    return path


def _open(offline: Offline, folder: Path, kind: str, **options: Any) -> Page:
    page = offline.page(**options)
    page.goto((folder / KINDS[kind]).as_uri())
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(offline: Offline, folder: Path, kind: str, size: dict[str, int], scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    page = _open(offline, folder, kind, viewport=size, color_scheme=scheme)
    page.evaluate(OPEN_ALL)
    found = Axe().run(page, options={"preload": False}).response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_never_scrolls_sideways_on_a_phone(offline: Offline, folder: Path, kind: str) -> None:
    page = _open(offline, folder, kind, viewport=PHONE)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("() => document.documentElement.scrollWidth") == PHONE["width"]


def test_score_and_interval_are_in_sight_on_a_phone(offline: Offline, folder: Path) -> None:
    page = _open(offline, folder, "index", viewport=PHONE)
    for column in ("score", "interval"):
        box = page.locator(f'#own tr[data-run="steady"] [data-column="{column}"]').bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= PHONE["width"]
    region = page.locator(".scroll:has(#own)")
    region.evaluate("one => { one.scrollLeft = 600 }")
    name = page.locator('#own tr[data-run="steady"] th').bounding_box()
    assert name is not None
    assert 0 <= name["x"] < 40, "the model's name stays in sight"


def test_the_keyboard_gets_to_the_content_first_and_through_tables(offline: Offline, folder: Path) -> None:
    page = _open(offline, folder, "index", viewport=DESKTOP)
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    box = page.locator(".skip").bounding_box()
    assert box is not None
    assert box["x"] >= 0, "the skip link is in sight where it has the focus"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"
    region = page.locator(".scroll:has(#own)")
    region.focus()
    before = region.evaluate("one => one.scrollLeft")
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.scroll:has(#own)').scrollLeft > 0")
    assert before == 0


def test_the_focus_is_seen(offline: Offline, folder: Path) -> None:
    page = _open(offline, folder, "index", viewport=DESKTOP)
    for _ in range(12):
        page.keyboard.press("Tab")
        width = page.evaluate("() => parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
        assert width >= 2


def test_without_scripts_the_numbers_are_there_and_no_form(offline: Offline, folder: Path) -> None:
    page = _open(offline, folder, "index", viewport=DESKTOP, java_script_enabled=False)
    assert page.locator("#view").is_hidden()
    assert page.locator('#own tr[data-run="steady"] [data-column="score"]').inner_text() == "30.4 %"


def test_on_paper_there_are_addresses_and_no_controls(offline: Offline, folder: Path) -> None:
    page = _open(offline, folder, "index", viewport=DESKTOP, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator("#view").is_hidden()
    assert page.locator("header nav").is_hidden()
    assert page.evaluate("() => getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    problem = _open(offline, folder, "problem")
    problem.emulate_media(media="print")
    link = "main p > a[href^='https://atcoder.example/']"
    after = problem.locator(link).evaluate("one => getComputedStyle(one, '::after').content")
    assert "atcoder.example" in after or "attr(href)" in after


def test_the_picture_of_an_interval_lies_where_its_numbers_say(offline: Offline, folder: Path) -> None:
    page = _open(offline, folder, "index", viewport=DESKTOP)
    row = page.locator('#own tr[data-run="steady"]')
    frame = row.locator("svg").bounding_box()
    line, dot = row.locator("svg line").bounding_box(), row.locator("svg circle").bounding_box()
    assert frame is not None
    assert line is not None
    assert dot is not None
    share = (dot["x"] + dot["width"] / 2 - frame["x"]) / frame["width"]
    assert share == pytest.approx(0.304, abs=0.02)
    ends = [(line["x"] - frame["x"]) / frame["width"], (line["x"] + line["width"] - frame["x"]) / frame["width"]]
    assert ends == pytest.approx([0.172, 0.436], abs=0.02)
