"""A site as a reader's program sees it: its pages parsed, their tables by the names of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from posixpath import dirname, join, normpath

from bs4 import BeautifulSoup, Tag

from eval.editions.difference import difference
from eval.editions.difference_sheet import difference_sheet
from eval.pictures import Picture
from eval.publishing.publication import OtherEdition, Published, slugs
from eval.sheets import Table, count, percent, text
from eval.site.pages import Download, site_files
from tests.eval.editions.built import invented, published
from tests.eval.editions.moved import changed
from tests.eval.facts import model

KINDS = {
    "index": "index.html",
    "scored model": "models/steady.html",
    "imported model": "models/frugal.html",
    "model without a score": "models/nameless.html",
    "problem": "problems/atcoder-p19.html",
    "problem of odd dates": "problems/atcoder-p13.html",
    "list of problems": "problems.html",
    "limits": "limits.html",
    "editions": "editions.html",
}
"""A page of each kind."""

FILES = (
    Download("results.csv", "Every run in every table", 12_345),
    Download("results.json", "Every run in every table", 54_321),
    Download("feed.xml", "feed.xml: editions and new problems as an Atom feed", 999),
    Download("", "badges/RUN.json: a badge for each run"),
)

_SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><rect width="4" height="3"/></svg>'


@dataclass(frozen=True)
class Site:
    """The files of a site by path, and those that others add to it."""

    files: Mapping[str, bytes]
    others: frozenset[str]

    @property
    def pages(self) -> Mapping[str, str]:
        """The text of every page by path."""
        return {path: body.decode() for path, body in self.files.items() if path.endswith(".html")}

    def page(self, path: str) -> BeautifulSoup:
        """A page, parsed."""
        return BeautifulSoup(self.files[path], "lxml")


def site_of(source: Published, pictures: Mapping[str, Picture] | None = None) -> Site:
    """The site of what is published, with small pictures in place of drawn ones."""
    drawn = small_pictures(source) if pictures is None else pictures
    files = {file.path: file.body for file in site_files(source, drawn, FILES)}
    added = {f"pictures/{name}.svg" for name in drawn} | {one.path for one in FILES if one.path}
    added |= {f"editions/{slugs([one.name])[one.name]}/index.html" for one in source.others}
    return Site(files, frozenset(added))


@cache
def invented_site() -> Site:
    """The site of the invented edition with one before it, made once."""
    return site_of(with_one_before())


@cache
def with_one_before() -> Published:
    """The invented edition, and what moved in it: a run came, another one's results and cut-off are others."""
    now = invented()
    steady, *others = now.edition.runs
    once = replace(steady, n_correct=tuple(0 if place % 4 else n for place, n in enumerate(steady.n_correct)))
    models = tuple(model("steady", "2024-02") if one.name == "steady" else one for one in now.edition.models)
    before = changed(now, "2025-04", runs=(once, *others[:-1]), models=models)
    other = OtherEdition("2025-04", before.frozen_at, before.digest, 58, 6, "the first one")
    return published(now, changes=difference_sheet(difference(before, now)), others=(other,))


def small_pictures(source: Published) -> dict[str, Picture]:
    """A picture of each name without anything in it, whose numbers have an empty cell."""
    data = Table(
        "Numbers",
        (text("month"), text("platform"), count("problems"), percent("pass@1"), text("remark")),
        (("2025-01", "atcoder", 12, 0.5, ""), ("2025-02", "atcoder", 4, None, "")),
        n_keys=2,
    )
    names = ["coverage", "saturation", *(f"months-{slug}" for slug in source.run_slugs.values())]
    return {name: Picture(name, f"Picture {name}", f"{name} in words", _SVG, None, data) for name in names}


def write(site: Site, folder: Path) -> None:
    """Put a site into a folder, with small stand-ins for what others add to it."""
    for path, body in [*site.files.items(), *((path, _SVG) for path in site.others if path.endswith(".svg"))]:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)


def rows_of(page: BeautifulSoup, name: str) -> dict[str, dict[str, str]]:
    """The rows of a table by the text that names each, with the texts of their cells by heading."""
    table = page.find("table", id=name)
    assert isinstance(table, Tag), f"there is no table {name}"
    heads = [cell_text(head) for head in table.select("thead th")]
    found = {}
    for row in table.select("tbody tr"):
        if row.has_attr("class"):
            continue  # what a group has in common
        cells = row.find_all(["th", "td"])
        assert len(cells) == len(heads)
        found[named(cells[0])] = dict(zip(heads, map(cell_text, cells), strict=True))
    return found


def named(cell: Tag) -> str:
    """What names a row: the run's name without what stands under it."""
    return str(cell.get("data-name") or cell_text(cell))


def cell_text(cell: Tag) -> str:
    """The text of a cell, lines under it apart, marks of reasons left out."""
    copy = BeautifulSoup(str(cell), "lxml")
    for mark in copy.select('[role="doc-noteref"]'):
        mark.decompose()
    for line in copy.select("small"):
        line.insert(0, "\n")
    return copy.get_text().strip("\n")


def empty_cells(page: BeautifulSoup) -> Iterator[tuple[str, Tag]]:
    """Every cell that holds no number, with the name of its table."""
    for table, cell in product(page.find_all("table"), ["td", "th"]):
        for found in table.select(f"tbody {cell}"):
            if cell_text(found) == "–":
                yield str(table.get("id")), found


def links_of(page: BeautifulSoup) -> Iterator[str]:
    """Every address that a page names."""
    for name, key in (("a", "href"), ("link", "href"), ("script", "src"), ("img", "src")):
        for found in page.find_all(name):
            if found.get(key):
                yield str(found[key])


def resolved(path: str, link: str) -> tuple[str, str]:
    """The file and the place in it that a relative link on a page leads to."""
    target, _, place = link.partition("#")
    return (path if not target else normpath(join(dirname(path), target))), place
