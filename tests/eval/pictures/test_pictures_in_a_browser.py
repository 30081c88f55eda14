"""Pictures as a page shows them: light and dark, wide and narrow, with no word over another."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from eval.pictures import all_pictures
from eval.pictures._theme import DARK, PAPER
from eval.publishing.publication import Published
from tests.eval.editions.built import invented, published
from tests.eval.pictures.test_pictures import hostile
from tests.eval.site.browser import Offline

pytestmark = pytest.mark.browser

CLASHES = """() => {
  const height = document.documentElement.viewBox.baseVal.height;
  const texts = [...document.querySelectorAll('text')].filter(one => one.textContent.trim()).map(one => {
    const box = one.getBBox();
    const [top, bottom] = [box.y + 0.15 * box.height, box.y + 0.85 * box.height];
    return {text: one.textContent, left: box.x, right: box.x + box.width, top, bottom};
  });
  const outside = texts.filter(one => one.left < 0 || one.right > 700 || one.top < 0 || one.bottom > height);
  const over = texts.flatMap((one, place) => texts.slice(place + 1).filter(other =>
    one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1
  ).map(other => [one.text, other.text]));
  return [...outside.map(one => one.text), ...over];
}"""


def clashes(offline: Offline, folder: Path, of: Published) -> list[Any]:
    """Words that leave their picture or lie over others, as Chromium draws them."""
    page, found = offline.page(), []
    for one in all_pictures(of):
        path = folder / f"{one.name}.svg"
        path.write_bytes(one.svg)
        page.goto(path.as_uri())
        found += [(one.name, clash) for clash in page.evaluate(CLASHES)]
    return found


def test_no_word_leaves_its_picture_or_hides_another(offline: Offline, tmp_path: Path) -> None:
    assert clashes(offline, tmp_path, published(invented())) == []


@pytest.mark.parametrize("name", ["$x_1^2$ & <b>", "W" * 400, "an unbroken-name/with.signs_" * 20])
def test_no_long_name_does_either(offline: Offline, tmp_path: Path, name: str) -> None:
    assert clashes(offline, tmp_path, hostile(name, name[:200])) == []


@pytest.mark.slow
@pytest.mark.shared
def test_nor_on_the_recorded_board(offline: Offline, tmp_path: Path, recorded_edition: Published) -> None:
    assert clashes(offline, tmp_path, recorded_edition) == []


def colour(text: str) -> tuple[int, ...]:
    """A colour as its three parts."""
    return tuple(int(text[place : place + 2], 16) for place in (1, 3, 5))


@pytest.mark.parametrize(("scheme", "ground"), [("light", PAPER), ("dark", DARK[PAPER])])
@pytest.mark.parametrize("width", [700, 360])
def test_a_picture_in_a_page_follows_the_readers_colours(
    offline: Offline, tmp_path: Path, scheme: str, ground: str, width: int
) -> None:
    one = next(all_pictures(published(invented())))
    (tmp_path / "one.svg").write_bytes(one.svg)
    page = tmp_path / "page.html"
    page.write_text(
        '<!doctype html><body style="margin: 0"><img src="one.svg" alt="" style="width: 100%; height: auto">'
    )
    opened = offline.page(color_scheme=scheme, viewport={"width": width, "height": 400})
    opened.goto(page.as_uri())
    box = opened.evaluate("() => [document.images[0].naturalWidth, document.images[0].width]")
    assert box == [700, width]
    with Image.open(io.BytesIO(opened.screenshot())) as shot:
        assert shot.convert("RGB").getpixel((2, 2)) == colour(ground)
