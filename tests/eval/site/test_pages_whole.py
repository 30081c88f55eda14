"""The site as a whole: links that lead somewhere, no text that is taken for markup, the same bytes, a bearable size."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from eval.editions.document import from_bytes, to_bytes
from eval.pictures import Picture
from eval.publishing.publication import Published
from eval.site.board_data import SCRIPTS
from eval.site.index_page import INDEX_PICTURES
from eval.site.pages import CONTENT_POLICY, site_files
from tests.eval.editions.built import HOSTILE, invented, published
from tests.eval.site.many_runs import many
from tests.eval.site.reading import Site, invented_site, links_of, resolved, site_of, small_pictures

WEB = ("https://", "http://")
AIM_BYTES = 250_000
LARGE_BYTES = 1_000_000


@pytest.fixture(scope="module")
def site() -> Site:
    return invented_site()


def test_every_link_leads_to_a_file_and_a_place_in_it(site: Site) -> None:
    places = {path: {str(tag["id"]) for tag in site.page(path).find_all(id=True)} for path in site.pages}
    n_links = 0
    for path in site.pages:
        for link in links_of(site.page(path)):
            if link.startswith((*WEB, "data:")):
                continue
            target, place = resolved(path, link)
            assert target in site.files or target in site.others, f"{path}: {link}"
            assert not place or place in places[target], f"{path}: {link}"
            n_links += 1
    assert n_links > 1_000


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    for path in site.pages:
        page = site.page(path)
        loaded = [tag.get("src") or tag.get("href") for tag in page.select("script, img, link:not([rel=canonical])")]
        assert not [link for link in loaded if str(link).startswith((*WEB, "//", "/"))], path
        policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
        assert policy is not None
        assert policy["content"] == CONTENT_POLICY
    style = site.files["static/style.css"].decode()
    assert "url(" not in style
    assert "@import" not in style


def test_only_the_index_has_scripts_and_all_of_them(site: Site) -> None:
    for path in site.pages:
        scripts = [str(tag["src"]) for tag in site.page(path).find_all("script")]
        assert scripts == ([f"static/{name}" for name in SCRIPTS] if path == "index.html" else [])
    assert {f"static/{name}" for name in SCRIPTS} <= set(site.files)


def test_every_page_says_what_it_belongs_to(site: Site) -> None:
    source = published(invented())
    titles = set()
    for path in site.pages:
        page = site.page(path)
        build = page.find("meta", attrs={"name": "livecut-build"})
        assert build is not None
        assert build["content"] == source.build_id
        footer = page.find("footer")
        assert footer is not None
        for words in (source.digest, source.build_id, "Edition 2025-05", "2025-05-03 09:00 UTC"):
            assert words in footer.get_text()
        assert page.html is not None
        assert page.html["lang"] == "en"
        description = page.find("meta", attrs={"name": "description"})
        assert description is not None
        assert len(str(description["content"])) > 40
        feed = page.find("link", type="application/atom+xml")
        assert feed is not None
        assert resolved(path, str(feed["href"]))[0] == "feed.xml"
        assert page.title is not None
        titles.add(page.title.get_text())
    assert len(titles) == len(site.pages)


def test_headings_go_down_one_step_at_a_time(site: Site) -> None:
    for path in site.pages:
        levels = [int(tag.name[1]) for tag in site.page(path).find_all(re.compile("^h[1-6]$"))]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(below - above <= 1 for above, below in pairwise(levels)), path


def test_hostile_text_is_written_as_text(site: Site) -> None:
    for path, text in site.pages.items():
        assert "<script>alert" not in text, path
        assert "<em>the</em>" not in text, path
        assert '<b onclick="x">' not in text, path
        assert "</pre><script>" not in text, path
    assert sum(HOSTILE.split("<")[0] in site.page(path).get_text() for path in site.pages) > 50


def test_what_is_no_web_address_is_no_link() -> None:
    source = published(invented())
    first, *others = source.edition.problems
    bad = replace(first, url="javascript:alert(1)", title="bell \x07, form feed \x0c, escape \x1b[31m")
    changed = site_of(replace(source, edition=replace(source.edition, problems=(bad, *others))))
    page = changed.page("problems/codeforces-p0.html")
    assert not [link for link in links_of(page) if link.startswith("javascript")]
    heading = page.find("h1")
    assert heading is not None
    assert heading.get_text() == "bell \ufffd, form feed \x0c, escape \ufffd[31m"


_DIGEST = """
from hashlib import sha256
from eval.site.pages import site_files
from tests.eval.editions.built import invented, published
from tests.eval.site.reading import small_pictures
source = published(invented())
total = sha256()
for file in site_files(source, small_pictures(source)):
    total.update(file.path.encode() + b"\\0" + file.body)
print(total.hexdigest())
"""


def test_the_same_edition_gives_the_same_bytes(root: Path) -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _DIGEST],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root), "TZ": zone, "PATH": "", "LC_ALL": "C"},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed, zone in (("0", "UTC"), ("1", "Asia/Kathmandu"), ("4242", "America/New_York"))
    }
    assert len(digests) == 1


def test_the_order_of_what_is_handed_in_does_not_matter() -> None:
    source = published(invented())
    pictures = small_pictures(source)
    edition = source.edition
    turned = replace(
        edition,
        withdrawn=dict(reversed([*edition.withdrawn.items(), ("another", "its maker asked")])),
        failures=tuple(
            replace(one, verdicts=dict(reversed([*one.verdicts.items()]))) for one in reversed(edition.failures)
        ),
        models=tuple(reversed(edition.models)),
    )
    straight = replace(edition, withdrawn={**edition.withdrawn, "another": "its maker asked"})
    first = {file.path: file.body for file in site_files(replace(source, edition=straight), pictures)}
    second = {
        file.path: file.body for file in site_files(replace(source, edition=turned), dict(reversed(pictures.items())))
    }
    assert {path for path in first if first[path] != second.get(path)} == set()


def test_an_edition_that_was_stored_has_the_same_pages() -> None:
    source = published(invented())
    stored = replace(source, edition=from_bytes(to_bytes(source.edition)))
    for first, second in zip(site_files(source, {}), site_files(stored, {}), strict=True):
        assert first == second


def _weights(source: Published, drawn: Mapping[str, Picture]) -> dict[str, int]:
    """The bytes of everything that the start page loads, at once or for another view, by path."""
    files = {file.path: file.body for file in site_files(source, drawn)}
    files |= {f"pictures/{name}.svg": one.svg for name, one in drawn.items()}
    page = BeautifulSoup(files["index.html"], "lxml")
    loaded = [str(tag.get("src") or tag.get("href")) for tag in page.select("script, img, link[rel=stylesheet]")]
    return {path: len(files[path]) for path in ("index.html", "data/board.js", *loaded)}


@pytest.mark.shared
def test_the_start_page_of_the_recorded_board_is_light(recorded_edition: Published) -> None:
    weights = _weights(recorded_edition, _drawn(recorded_edition))
    print(weights, sum(weights.values()))
    assert set(weights) == {
        *("index.html", "data/board.js", "static/style.css"),
        *(f"static/{name}" for name in SCRIPTS),
        *(f"pictures/{name}.svg" for name in INDEX_PICTURES),
    }
    assert sum(weights.values()) < AIM_BYTES


def _drawn(source: Published) -> dict[str, Picture]:
    from eval.pictures import kinds

    return {one.name: one for kind in INDEX_PICTURES for one in kinds()[kind](source)}


@pytest.mark.shared
def test_three_hundred_models_still_fit_one_page(recorded_edition: Published) -> None:
    source = many(recorded_edition, 19)
    assert len(source.edition.runs) == 304
    assert len(next(site_files(source, _drawn(source))).body) < LARGE_BYTES


def test_templates_and_style_go_with_the_package(root: Path, tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        assert packed.testzip() is None
    here = {
        f"eval/site/{path.relative_to(root / 'eval' / 'site').as_posix()}"
        for folder in ("templates", "static")
        for path in (root / "eval" / "site" / folder).iterdir()
    }
    assert len(here) > 8
    assert here <= names


def test_the_digest_of_a_page_is_that_of_its_bytes(site: Site) -> None:
    """Pages are written as UTF-8 with line feeds alone, so that a digest over them holds everywhere."""
    for path, body in site.files.items():
        assert b"\r" not in body, path
        assert body.endswith(b"\n"), path
        assert hashlib.sha256(body.decode().encode()).digest() == hashlib.sha256(body).digest()
