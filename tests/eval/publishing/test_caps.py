"""How large what is published may be: nothing is switched where a file or the first page is too large."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.publishing.building import with_manifest
from eval.publishing.caps import FILE_BYTES, FIRST_PAGE_BYTES, TooLarge, capped, loaded_at_once
from eval.publishing.folder import write_site
from eval.publishing.publication import File
from tests.eval.publishing.site_folders import edition_called, edition_in, put_site, small_site

PAGE = b"""<!DOCTYPE html><html><head>
<link rel="stylesheet" href="static/style.css"><link rel="alternate" href="feed.xml">
<script defer src="static/board.js?v=1"></script><script src="https://elsewhere.example/x.js"></script>
</head><body><img src="pictures/a.svg" alt=""><img src="pictures/b.png" loading="lazy" alt="">
<a href="data/all.csv">all</a><link rel="stylesheet" href="static/style.css"></body></html>"""


def site(page: bytes, **sizes: int) -> list[File]:
    """A page at the root, and files of these sizes, "_" for a slash."""
    return [File("index.html", page), *(File(path.replace("_", "/"), b"x" * size) for path, size in sizes.items())]


def test_what_a_page_loads_at_once() -> None:
    assert loaded_at_once(File("index.html", PAGE)) == ["static/style.css", "static/board.js", "pictures/a.svg"]
    assert loaded_at_once(File("editions/a/index.html", PAGE))[0] == "editions/a/static/style.css"
    assert loaded_at_once(File("a/index.html", b"<p><script src='../x.js'></script>")) == ["x.js"]


def test_the_caps_are_those_of_report_g08() -> None:
    assert (FIRST_PAGE_BYTES, FILE_BYTES) == (1_000_000, 20_000_000)


@pytest.mark.parametrize("over", [0, 1])
def test_the_first_page_with_what_it_loads_is_at_most_a_megabyte(over: int) -> None:
    sizes = {"static_style.css": 10_000, "static_board.js": 490_000, "pictures_b.png": 900_000, "data_all.csv": 10**7}
    page = PAGE + b" " * (500_000 + over - len(PAGE))
    files = site(page, **sizes)
    if not over:
        assert list(capped(files)) == files
        return
    with pytest.raises(TooLarge) as error:
        list(capped(files))
    assert error.value.message == (
        "index.html with what it loads at once is 1,000 kB, more than 1,000 kB: "
        "index.html 500 kB, static/style.css 10 kB, static/board.js 490 kB"
    )
    assert "live edition freeze" in error.value.hint


@pytest.mark.parametrize("over", [0, 1])
def test_no_file_is_above_twenty_megabytes(over: int) -> None:
    files = site(b"<p>", data_all=20_000_000 + over)
    if not over:
        assert list(capped(files)) == files
        return
    with pytest.raises(TooLarge) as error:
        list(capped(files))
    assert error.value.message == "data/all is 20.0 MB, more than 20.0 MB"


@pytest.mark.parametrize("files", [site(PAGE, **{"static_board.js": 10**6}), site(b"<p>", all=2 * 10**7 + 1)])
def test_nothing_is_switched_where_something_is_too_large(files: list[File], tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    put_site(folder, small_site("old"))
    with pytest.raises(TooLarge):
        write_site(folder, with_manifest(edition_called("new"), capped(files)))
    assert edition_in(folder) == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("path", ["../x", "/x", "a/../x", "a//x", ".htaccess", "a/.git/x", "a b", "ü", "", "A.json"])
def test_paths_that_could_lead_elsewhere_or_meet_another_are_no_paths(path: str) -> None:
    with pytest.raises(ValueError, match="is no path of a file"):
        list(with_manifest(edition_called("new"), [File("a.json", b""), File(path, b"")]))
