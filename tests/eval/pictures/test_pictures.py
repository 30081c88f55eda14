from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree  # type: ignore[import-untyped]
from PIL.PngImagePlugin import PngImageFile

from eval.editions.document import EditionSettings
from eval.pictures import Picture, all_pictures, kinds
from eval.pictures._theme import DARK
from eval.publishing.publication import Published
from eval.sheets import Sheet, sheet_to_csv
from tests.eval.editions.built import HOSTILE, edition_problem, edition_run, freeze_built, invented, published
from tests.eval.facts import model, registry
from tests.eval.pictures.drawn import SVG, Drawn
from tests.eval.pictures.small import PLAIN, months_edition, picture

ROOT = Path(__file__).resolve().parents[3]

NAMES = {
    HOSTILE: 'A | B "C" <script>alert(1)</script> end',
    "$x_1^2$ \\frac{1}{2} & 100% {0} %s": "$x_1^2$ \\frac{1}{2} & 100% {0} %s",
    "<image href='https://evil.example/x.png'/>&lt;b&gt;": "<image href='https://evil.example/x.png'/>&lt;b&gt;",
    "\u6a21\u578b-\u5927 \U0001f600 \u0645\u0631\u062d": "\u6a21\u578b-\u5927 \U0001f600 \u0645\u0631\u062d",
    "back\x08space \x1b[31m nul\x00 \u202eesrever": "back\ufffdspace \ufffd[31m nul\ufffd esrever",
    "W" * 400: "W" * 25,
    "an unbroken-name/with.signs_" * 20: "an unbroken-name/with.signs_an",
    " ": "",
}
"""Names that a store may hold, and how the text begins that shows them."""


def hostile(name: str, platform: str = "atcoder") -> Published:
    """An edition in which a run, a platform and the edition itself have names that are no names."""
    problems = [
        edition_problem(
            place, platform=platform, exposed_at=f"2024-0{1 + place // 12}-{1 + 2 * (place % 12):02d}T12:00"
        )
        for place in range(36)
    ]
    runs = [edition_run(name, [(place, 1, place % 2) for place in range(36)], entry="m", model="m")]
    settings = EditionSettings(saturated="until=2024-01", fresh="since=2024-02")
    return published(freeze_built(problems, runs, registry(model("m", "2024-01")), name="2025-05", settings=settings))


@pytest.fixture(scope="module")
def pictures() -> list[Picture]:
    return list(all_pictures(published(invented())))


def test_kinds_are_found_by_their_file() -> None:
    assert list(kinds()) == ["coverage", "months", "saturation"]


def test_names_and_files(pictures: list[Picture]) -> None:
    names = [one.name for one in pictures]
    assert names[0] == "coverage"
    assert names[-1] == "saturation"
    assert len(names) == len(set(names)) == 9
    assert all(re.fullmatch(r"[a-z0-9._-]+", name) for name in names)


@pytest.mark.parametrize(("name", "shown_as"), NAMES.items(), ids=range(len(NAMES)))
def test_names_are_text_and_nothing_else(name: str, shown_as: str) -> None:
    shown = [Drawn(one) for one in all_pictures(hostile(name))]
    assert len(shown) == 3
    for one in shown:
        tags = {element.tag.removeprefix(SVG) for element in one.root.iter()}
        assert tags <= {"svg", "title", "desc", "style", "defs", "g", "path", "text", "use", "pattern", "rect"}
        assert not one.root.xpath("//@*[starts-with(name(), 'on')]")
        assert all(value.startswith("#") for value in one.root.xpath("//@href"))
        assert "evil" not in one.style
    months = shown[1]
    assert any(word.startswith(shown_as) for word in months.words)
    assert months.picture.alt == " ".join(months.picture.alt.split())


def test_a_platform_with_a_hostile_name() -> None:
    for name in ["$x_1^2$ & <b>", "\u6a21\u578b", "p" * 300]:
        words = Drawn(picture(hostile("m", name), "coverage")).words
        assert any(word.rstrip("\u2026") in name and word.startswith(name[:2]) for word in words)


def test_names_that_are_too_long_end_in_an_ellipsis() -> None:
    shown = Drawn(picture(hostile("name/with.signs_" * 30), "months"))
    first, second = (word for word in shown.words if word.startswith("name/"))
    assert re.fullmatch(r"(name/with\.signs_)+(name/)?(with\.)?", first)
    assert second.endswith("\u2026")
    assert shown.picture.title.startswith("name/with.signs_" * 30)


def test_light_and_dark(pictures: list[Picture]) -> None:
    for one in pictures:
        light, dark = Drawn(one).style.split("@media(prefers-color-scheme:dark)")
        for colour in re.findall(r"#[0-9a-f]{6}", light):
            assert DARK[colour] in dark
        assert set(re.findall(r"#[0-9a-f]{6}", dark)) <= set(DARK.values())
        # No colour stands outside of the style sheet, where the dark one could not reach it.
        drawn = re.sub(rb"<style>.*?</style>", b"", one.svg, flags=re.DOTALL)
        drawn = re.sub(rb"<(title|desc)[^>]*>.*?</\1>", b"", drawn, flags=re.DOTALL)
        assert not re.findall(rb'(?:fill|stroke|style|color)="', drawn)


def test_light_and_dark_colours_are_each_one_colour() -> None:
    assert len(set(DARK)) == len(set(DARK.values()))


def luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (WCAG 2.2)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_words_and_marks_can_be_told_from_their_ground() -> None:
    from eval.pictures import _theme

    for name, least in {"INK": 7, "MUTED": 4.5, "AFTER": 4.5, "BEFORE": 4.5, "BROKEN": 4.5}.items():
        colour = getattr(_theme, name)
        assert contrast(colour, _theme.PAPER) >= least
        assert contrast(DARK[colour], DARK[_theme.PAPER]) >= least
    for ground in (_theme.SEEN, _theme.SEEN_MORE):
        assert contrast(_theme.BEFORE, ground) >= 3
        assert contrast(DARK[_theme.BEFORE], DARK[ground]) >= 3


def test_a_screen_reader_has_title_and_description(pictures: list[Picture]) -> None:
    for one in pictures:
        root = Drawn(one).root
        assert root.get("role") == "img"
        assert root.get("aria-labelledby") == "title desc"
        assert root.find(f"{SVG}title").text == one.title
        assert root.find(f"{SVG}desc").text.startswith(one.alt)
        assert 60 < len(one.alt) < 1000


def test_every_picture_carries_what_was_measured(pictures: list[Picture]) -> None:
    of = published(invented())
    for one in pictures:
        words = " ".join(Drawn(one).words)
        assert of.digest[:12] in words
        assert "frozen 2025-05-03T09:00Z" in words
        assert of.digest[:12] in sheet_to_csv(Sheet(one.title, (), (one.data,)))


def test_the_png_is_twice_as_large_and_says_the_same(pictures: list[Picture]) -> None:
    for one in pictures:
        assert one.png is not None
        with PngImageFile(io.BytesIO(one.png)) as image:
            height = int(Drawn(one).root.get("height"))
            assert image.size == (1400, 2 * height)
            assert image.text["Title"] == one.title
            assert image.text["Description"] == Drawn(one).root.find(f"{SVG}desc").text
            assert image.convert("L").getpixel((1, 1)) in {254, 255}
        assert len(one.png) < 90_000


def test_the_svg_is_small_and_refers_to_nothing_outside(pictures: list[Picture]) -> None:
    for one in pictures:
        assert len(one.svg) < 25_000
        assert b"http" not in one.svg.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"url(" not in re.sub(rb"url\(#h[0-9a-f]+\)", b"", one.svg)
        ids = set(Drawn(one).root.xpath("//@id"))
        used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', one.svg.decode())
        assert {first or second for first, second in used} <= ids


def digests(hash_seed: str) -> str:
    """The digests of all pictures of the invented edition, made in a process of its own."""
    script = (
        "import hashlib\nfrom eval.pictures import all_pictures\n"
        "from tests.eval.editions.built import invented, published\n"
        "for one in all_pictures(published(invented())):\n"
        "    print(one.name, hashlib.sha256(one.svg).hexdigest(), hashlib.sha256(one.png).hexdigest(), one.alt)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": "Pacific/Auckland", "MPLBACKEND": "svg"}
    command = [sys.executable, "-W", "error", "-c", script]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


def test_the_same_bytes_in_every_process(pictures: list[Picture]) -> None:
    here = "".join(
        f"{one.name} {hashlib.sha256(one.svg).hexdigest()} {hashlib.sha256(one.png or b'').hexdigest()} {one.alt}\n"
        for one in pictures
    )
    assert digests("1") == digests("271828") == here


@pytest.fixture
def odd_settings() -> Iterator[None]:
    """matplotlib as a user may have set it."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcParams.update(
            {"font.size": 30, "axes.grid": True, "lines.linewidth": 9, "svg.fonttype": "path", "font.family": "serif"}
        )
        yield


@pytest.mark.usefixtures("odd_settings")
def test_the_users_settings_change_nothing_and_are_left_as_they_are(pictures: list[Picture]) -> None:
    import matplotlib

    again = next(iter(all_pictures(published(invented()))))
    assert (again.svg, again.png) == (pictures[0].svg, pictures[0].png)
    assert matplotlib.rcParams["font.size"] == 30


def test_matplotlib_is_not_imported_before_something_is_drawn() -> None:
    script = "import sys, eval.pictures; eval.pictures.kinds(); assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_pyplot_is_never_used() -> None:
    script = (
        "import sys\nfrom eval.pictures import all_pictures\n"
        "from tests.eval.editions.built import invented, published\n"
        "next(all_pictures(published(invented()))); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_an_edition_without_runs_has_one_picture() -> None:
    of = published(freeze_built([edition_problem(0)], [], registry(model("m"))))
    assert [one.name for one in all_pictures(of)] == ["coverage"]


def test_long_calendars_stay_readable() -> None:
    months = {f"{year}-{month:02d}": (1, 1) for year in range(2008, 2025) for month in range(1, 13)}
    one = picture(months_edition({"atcoder": months}), "months")
    labels = [word for word in Drawn(one).words if re.fullmatch(r"\d{4}-\d\d", word)]
    assert labels == ["2010-01", "2015-01", "2020-01"]
    assert len(one.svg) < 40_000


def test_svg_is_well_formed_xml(pictures: list[Picture]) -> None:
    for one in pictures:
        etree.fromstring(one.svg, etree.XMLParser(resolve_entities=False, no_network=True, recover=False))
        assert b"<!DOCTYPE" not in one.svg


def test_plain_months_are_small() -> None:
    assert len(picture(months_edition({"atcoder": PLAIN}), "months").svg) < 8_000
