"""A small start page that keeps the contract between pages and scripts, and what its tables show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment

from eval.publishing.publication import Published
from eval.site.board_data import SCRIPTS, board_script, filter_values, settings_groups

if TYPE_CHECKING:
    from playwright.sync_api import Page

STATIC = Path(__file__).resolve().parents[3] / "eval" / "site" / "static"
COLUMNS = {
    "own": ("score", "interval", "problems", "contests", "eligible", "tests", "note"),
    "common": (
        "score",
        "interval",
        "rank",
        "rank_all",
        "tier",
        "lacks",
        "exposed",
        "problems",
        "contests",
        "eligible",
        "tests",
        "note",
    ),
}
_TEMPLATE = Environment(autoescape=True).from_string(
    """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>board</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' file:; img-src data:">
<link rel="icon" href="data:,">
{% for name in scripts %}<script defer src="static/{{ name }}"></script>
{% endfor %}</head><body>
<form id="view" data-build="{{ published.build_id }}" hidden>
<input type="month" name="from" aria-label="from"><input type="month" name="to" aria-label="to">
{% for name in values.platforms %}<input type="checkbox" name="platform" value="{{ name }}" aria-label="{{ name }}">
{% endfor %}
{% for name in values.difficulties %}<input type="checkbox" name="difficulty" value="{{ name }}"
 aria-label="{{ name }}">
{% endfor %}
<button type="reset">reset</button></form>
<output id="view-said" aria-live="polite">the <em>default</em> view</output>
{% for table, columns in tables.items() %}
<table id="{{ table }}" data-table="{{ table }}">
<caption>{{ table }} <span data-default-view>as it was made</span></caption>
<thead><tr><th scope="col" aria-sort="none"><button type="button" data-sort="text">model</button></th>
{% for name in columns %}<th scope="col" aria-sort="none"><button type="button" data-sort="{{
 'text' if name == 'note' else 'number' }}">{{ name }}</button></th>{% endfor %}</tr></thead>
{% for group in (groups if table == 'common' else [everyone]) %}<tbody data-group="{{ loop.index0 }}">
<tr><th colspan="9">{{ group.label or "all" }}</th></tr>
{% for name in group.runs %}<tr data-run="{{ published.run_slugs[name] }}"><th scope="row" data-name="{{ name }}"><a
 href="#{{ table }}">{{ name }}</a> etc.</th>
{% for column in columns %}<td data-column="{{ column }}"{% if column == "score" %} data-value="{{
 loop.index / 100 }}"{% endif %}>made <b>before</b></td>{% endfor %}</tr>{% endfor %}</tbody>{% endfor %}
</table>{% endfor %}
</body></html>
"""
)
_READ = """(fragments) => fragments.map((fragment) => {
  const number = (text) => (text === undefined ? null : Number(text));
  if (fragment !== null) {
    history.pushState(null, "", "#" + fragment);
    dispatchEvent(new PopStateEvent("popstate"));
  }
  const tables = {};
  for (const name of ["own", "common"]) {
    tables[name] = {};
    for (const row of document.querySelectorAll(`#${name} tr[data-run]`)) {
      const cells = {};
      for (const cell of row.querySelectorAll("[data-column]")) {
        const {column, value, high} = cell.dataset;
        cells[column] = [cell.textContent, number(value), number(high)];
      }
      tables[name][row.dataset.run] = cells;
    }
  }
  return {said: document.getElementById("view-said").innerText, tables};
})"""


@dataclass(frozen=True)
class View:
    """What a reader chooses: months ("" for no bound), and values (none: all)."""

    first: str = ""
    last: str = ""
    platforms: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()

    @property
    def fragment(self) -> str:
        """As it stands in the address."""
        pairs = [("from", self.first), ("to", self.last)]
        pairs += [("platform", name) for name in self.platforms]
        pairs += [("difficulty", name) for name in self.difficulties]
        return urlencode([(name, value) for name, value in pairs if value])


@dataclass(frozen=True)
class Everyone:
    """All runs as one group."""

    label: str
    runs: tuple[str, ...]


def write_page(folder: Path, published: Published) -> str:
    """Write the page with its scripts and data; its address."""
    html = _TEMPLATE.render(
        published=published,
        scripts=SCRIPTS,
        values=filter_values(published.edition),
        tables=COLUMNS,
        groups=settings_groups(published.edition),
        everyone=Everyone("", tuple(run.name for run in published.edition.runs)),
    )
    for name in SCRIPTS:
        (folder / "static").mkdir(parents=True, exist_ok=True)
        (folder / "static" / name).write_bytes((STATIC / name).read_bytes())
    (folder / "data").mkdir()
    (folder / "data" / "board.js").write_bytes(board_script(published))
    (folder / "index.html").write_text(html, encoding="utf-8")
    return (folder / "index.html").as_uri()


def wait_for_view(page: Page) -> None:
    """Until the data have been read and the view that was asked for is shown."""
    page.locator("#view-said").filter(has_not_text="Reading the data").wait_for(state="attached")


def shown(page: Page, views: Sequence[View] | None = None) -> list[dict[str, Any]]:
    """What the page says and shows of each view, or now; a cell is [text, value, high]. The data have been read."""
    found: list[dict[str, Any]] = page.evaluate(_READ, [None] if views is None else [one.fragment for one in views])
    return found


def order(page: Page, table: str) -> list[str]:
    """The runs of a table from above to below."""
    names: Iterable[str] = page.evaluate(
        "(table) => [...document.querySelectorAll(`#${table} tr[data-run]`)].map((row) => row.dataset.run)", table
    )
    return list(names)
