"""All files of the site of an edition: its pages, their style and scripts, and the data of the start page. Pure.

Pages are made by Jinja2 with autoescaping, from values that the modules beside this one make; a name that a template
does not get is an error. The same edition gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files
from itertools import groupby
from typing import TYPE_CHECKING, Any

from eval.publishing.publication import File, Published
from eval.report import utc_text
from eval.site.board_data import SCRIPTS, board_script, filter_values
from eval.site.editions_page import editions_values
from eval.site.index_page import index_values
from eval.site.limits_page import limits_values
from eval.site.model_page import model_values
from eval.site.problem_list import list_pages
from eval.site.problem_page import problem_values
from eval.site.runs import RunsOf
from eval.site.standing import Standings

if TYPE_CHECKING:
    import jinja2

    from eval.pictures import Picture

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file: data:; "
    "base-uri 'none'; form-action 'none'"
)
"""What a page may load: nothing but this site's own files, also where it is opened from a folder."""

_NOT_HTML = {code: "\ufffd" for code in (*range(9), 11, *range(14, 32), *range(127, 160), 0xFFFE, 0xFFFF)}


@dataclass(frozen=True)
class Download:
    """A file for other programs that is on the site; ``path`` is "" for an export of many files."""

    path: str
    description: str
    n_bytes: int = 0

    @property
    def size(self) -> str:
        """Its size in words."""
        return f"{self.n_bytes / 1000:,.0f} kB" if self.n_bytes >= 1000 else f"{self.n_bytes} bytes"


def site_files(
    published: Published,
    pictures: Mapping[str, Picture],
    downloads: Sequence[Download] = (),
    *,
    root: str = "",
    at_root: str = "",
) -> Iterator[File]:
    """Every page of the edition with its style and scripts.

    ``root`` leads from their folder to that of the edition at the root of the site ("../../"; "": it is the same), and
    ``at_root`` is that one's name.
    """
    runs = RunsOf(published)
    standings = Standings(runs)
    yield _page(published, "index.html", {**index_values(runs, pictures), **_beside(published, downloads)})
    for run in runs.in_order:
        path = f"models/{published.run_slugs[run.name]}.html"
        yield _page(published, path, model_values(runs, standings, run, pictures), "model.html")
    for problem in published.edition.problems:
        path = f"problems/{published.problem_slugs[problem.written_id]}.html"
        yield _page(published, path, problem_values(runs, standings, problem), "problem.html")
    yield from _lists(published, runs, standings)
    yield _page(published, "limits.html", limits_values(runs))
    yield _page(published, "editions.html", {**editions_values(runs, root, at_root), "root": root})
    for name in ("style.css", *SCRIPTS):
        yield File(f"static/{name}", (package_files("eval.site") / "static" / name).read_bytes())
    yield File("data/board.js", board_script(published))


def _lists(published: Published, runs: RunsOf, standings: Standings) -> Iterator[File]:
    """The list of problems: one page, or an overview with a page for each part."""
    pages = list_pages(runs, standings)
    parts = [(one.path, one.label, one.grid.n_rows) for one in pages]
    if len(pages) > 1:
        yield _page(published, "problems.html", {"parts": parts, "here": "", "grid": None})
    for one in pages:
        values = {"parts": parts, "here": one.path, "label": one.label, "grid": one.grid}
        yield _page(published, one.path, values, "problems.html")


def _beside(published: Published, downloads: Sequence[Download]) -> dict[str, Any]:
    """What the index has beside its numbers: the form of the view, files, and how to cite."""
    from eval.exports.citation import bibtex

    groups = [(text, list(files)) for text, files in groupby(downloads, key=lambda one: one.description)]
    return {
        "filters": filter_values(published.edition),
        "scripts": SCRIPTS,
        "downloads": [(_without_names(text), files) for text, files in groups],
        "bibtex": bibtex(published),
    }


def _without_names(description: str) -> str:
    """A description without the names of files before it: "feed.xml: a feed" is "a feed"."""
    names, _, text = description.partition(": ")
    return text if text and "." in names and " " not in names.replace(", ", "") and "/" not in names else description


def _page(published: Published, path: str, values: Mapping[str, Any], template: str = "") -> File:
    """A page; ``base`` leads from it to the folder of the site."""
    shared = {
        "published": published,
        "edition": published.edition,
        "build": published.build_id,
        "frozen_at": utc_text(published.frozen_at),
        "policy": CONTENT_POLICY,
        "path": path,
        "base": "../" * path.count("/"),
    }
    text = _templates().get_template(template or path).render({**shared, **values})
    return File(path, text.encode())


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("eval.site"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_printable,
    )
    environment.filters["moment"] = _moment
    return environment


def _printable(value: object) -> object:
    """Text without characters that HTML does not allow: programs and titles may hold any."""
    return value.translate(_NOT_HTML) if isinstance(value, str) else value


def _moment(text: str) -> str:
    """An instant of JSON form as a reader sees it: "2025-05-02 03:17 UTC"."""
    return f"{text[:10]} {text[11:16]} UTC"
