"""The list of editions that are on the site. Pure."""

from __future__ import annotations

from typing import Any

from eval.publishing.publication import OtherEdition, slugs
from eval.site.cells import Body, Cell, Grid, GridRow, Head, count_cell, moment_cell
from eval.site.runs import RunsOf


def editions_values(runs: RunsOf, root: str = "", at_root: str = "") -> dict[str, Any]:
    """Everything that the template takes.

    ``root`` leads to the folder of the edition at the root of the site, ``at_root`` is its name (both "": this one).
    Where only the first is known, others are named without links.
    """
    published = runs.published
    slug = slugs([published.name, *(one.name for one in published.others)])

    def page(name: str) -> str:
        if name == at_root:
            return f"{root}index.html"
        return f"{root}editions/{slug[name]}/index.html" if at_root or not root else ""

    this = OtherEdition(
        published.name,
        published.frozen_at,
        published.digest,
        len(runs.edition.problems),
        len(runs.edition.runs),
        runs.edition.note,
    )
    rows = (_row(this, "index.html"), *(_row(one, page(one.name)) for one in published.others))
    heads = (
        Head("edition"),
        Head("frozen at (UTC)"),
        Head("problems", is_number=True),
        Head("runs", is_number=True),
        Head("digest (SHA-256)"),
        Head("note"),
    )
    caption = "Editions on this site: this one first, then the others, the newest first"
    return {"editions": Grid("editions", caption, heads, (Body(rows),)), "n_others": len(published.others)}


def _row(one: OtherEdition, page: str) -> GridRow:
    return GridRow(
        (
            Cell(one.name, href=page),
            moment_cell(one.frozen_at),
            count_cell(one.n_problems),
            count_cell(one.n_runs),
            Cell(one.digest),
            Cell(one.note),
        )
    )
