"""The table of the common window on the index: every run, by settings, with ranks as ranges. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eval.editions.document import EditionRun
from eval.sheets import NO_NUMBER, Column, Table
from eval.sheets import Cell as SheetCell
from eval.site.board_data import SettingsGroup, settings_groups
from eval.site.cells import (
    SORT_NUMBER,
    SORT_TEXT,
    Bar,
    Body,
    Cell,
    Grid,
    GridRow,
    Head,
    Reasons,
    count_cell,
    number_value,
)
from eval.site.own_table import name_cell
from eval.site.runs import RunsOf
from eval.site.tests_told import COLUMN, common_basis_cell

HEADS = (
    Head("model", sort=SORT_TEXT),
    Head("pass@1", "score", SORT_NUMBER, is_number=True),
    Head("95 %", "interval", SORT_NUMBER, is_number=True),
    Head("0 to 100 %", is_default_only=True, is_drawn=True),
    Head("rank", "rank", SORT_NUMBER, is_number=True),
    Head("all at once", "rank_all", SORT_NUMBER, is_number=True),
    Head("tier", "tier", SORT_NUMBER, is_number=True),
    Head("note", "note"),
    Head("problems", "problems", SORT_NUMBER, is_number=True),
    Head("tests beyond the samples", COLUMN),
    Head("samples", sort=SORT_NUMBER, is_number=True, is_default_only=True),
    Head("lacks", "lacks", SORT_NUMBER, is_number=True),
    Head("may have seen", "exposed", SORT_NUMBER, is_number=True),
    Head("cut-off", sort=SORT_TEXT),
)
_PASS, _INTERVAL, _RANK, _ALL, _TIER = "pass@1", "95 %", "rank", "all at once", "tier"


@dataclass(frozen=True)
class Found:
    """A run in the sheet: its row there by heading, with the columns, and what the sheet's data say of it."""

    cells: Mapping[str, SheetCell]
    columns: Mapping[str, Column]
    group: Mapping[str, Any]
    data: Mapping[str, Any]
    place: int

    def text(self, heading: str) -> str:
        """A cell as the sheet shows it."""
        return self.columns[heading].text(self.cells[heading])

    @property
    def basis(self) -> str:
        """What the group rests on, without its settings."""
        return str(self.group["title"]).removesuffix(f" ({self.group['settings']})")


def common_table(runs: RunsOf) -> Grid:
    """A row for each run of the edition, those under equal settings together; who is not ranked has the reason."""
    sheet = runs.numbers.common
    reasons = Reasons()
    found = _found(sheet.tables, sheet.data)
    bodies = tuple(_body(runs, group, found, reasons) for group in settings_groups(runs.edition))
    notes = [note for table in sheet.tables for note in table.notes]
    return Grid(
        "common",
        "All models on the same problems, after the latest cut-off among them",
        HEADS,
        bodies,
        tuple(reasons.texts),
        tuple(dict.fromkeys((*notes, *sheet.notes))),
        is_sortable=True,
    )


def ties_at_the_top(runs: RunsOf) -> Iterator[str]:
    """Which runs of each group share the first tier, so that nobody can tell which of them is best; a line each."""
    groups = runs.numbers.common.data.get("groups", ())
    for group in groups:
        where = f" ({group['settings']})" if group["settings"] else ""
        first = [str(row["model"]) for row in group["rows"] if row["ranks"] and row["ranks"]["tier"] == 1]
        if len(first) > 1:
            yield f"{', '.join(first)}: {len(first)} runs in tier 1, each of which may be the best{where}"
        elif first:
            yield f"nothing at the top: {first[0]} alone may be the best{where}"
        else:
            yield f"all of it: nobody is ranked, since {group['refusal'] or 'there are no ranks'}{where}"


def _found(tables: tuple[Table, ...], data: Mapping[str, Any]) -> dict[str, Found]:
    """The runs of the sheet by name."""
    found = {}
    for table, group in zip(tables, data.get("groups", ()), strict=True):
        columns = {column.heading: column for column in table.columns}
        for place, (row, values) in enumerate(zip(table.rows, group["rows"], strict=True)):
            cells = dict(zip(columns, row, strict=True))
            found[str(values["model"])] = Found(cells, columns, {**group, "title": table.title}, values, place)
    return found


def _body(runs: RunsOf, group: SettingsGroup, found: Mapping[str, Found], reasons: Reasons) -> Body:
    """The runs of one group as the sheet has them, then those that it does not have."""
    there = sorted((name for name in group.runs if name in found), key=lambda name: found[name].place)
    members = [*there, *sorted(set(group.runs) - set(there))]
    rows = tuple(_row(runs, runs.by_name[name], found.get(name), reasons) for name in members)
    return Body(rows, group.label, found[there[0]].basis if there else "none of them is compared")


def _row(runs: RunsOf, run: EditionRun, found: Found | None, reasons: Reasons) -> GridRow:
    first = name_cell(runs, run)
    slug = runs.published.run_slugs[run.name]
    cells = _absent(_why_absent(runs, run), reasons) if found is None else _present(run, found, reasons)
    return GridRow((first, *cells), slug, run.name)


def _why_absent(runs: RunsOf, run: EditionRun) -> str:
    """Why the sheet has no row of a run."""
    data = runs.numbers.common.data
    models = {name.casefold() for name in (run.model, run.entry or run.model)}
    for one in data.get("not_compared", ()):
        if one["model"].casefold() in models:
            return str(one["reason"])
    unfit = {name: reason for group in data.get("groups", ()) for name, reason in group["not_ranked"]}
    return str(unfit.get(run.name, "no result in the window"))


def _absent(reason: str, reasons: Reasons) -> list[Cell]:
    nothing = reasons.empty(f"not compared: {reason}")
    return [nothing, nothing, Cell(), *[nothing] * 3, Cell(f"not compared: {reason}"), *[nothing] * 6]


def _present(run: EditionRun, found: Found, reasons: Reasons) -> list[Cell]:
    few = str(found.data["reason"] or "")
    exposed = found.data["n_exposed"]
    samples = found.data.get("n_samples")
    return [
        _score(found, few, reasons),
        _interval(found, few, reasons),
        _bar(found, few),
        *(_ranks(found, heading, reasons) for heading in (_RANK, _ALL, _TIER)),
        Cell(few),
        count_cell(found.group["n_problems"]),
        common_basis_cell(run, found.group, reasons),
        count_cell(samples) if samples is not None else reasons.empty("not counted by the version that froze this"),
        count_cell(found.data["n_missing"]),
        reasons.empty("no cut-off is known, so nobody can tell") if exposed is None else count_cell(exposed),
        reasons.empty("no cut-off is known") if found.data["cutoff"] is None else Cell(found.data["cutoff"]),
    ]


def _score(found: Found, few: str, reasons: Reasons) -> Cell:
    text, value = found.text(_PASS), found.data["score"]
    if value is None:
        return reasons.empty(few)
    return Cell(text if isinstance(found.cells[_PASS], str) else f"{text} %", value=number_value(value))


def _interval(found: Found, few: str, reasons: Reasons) -> Cell:
    ends = found.cells[_INTERVAL]
    if not isinstance(ends, tuple):
        return reasons.empty(few or "no interval: all problems are of one contest")
    return Cell(found.text(_INTERVAL), value=number_value(ends[0]), high=number_value(ends[1]))


def _bar(found: Found, few: str) -> Cell:
    value, low, high = (found.data[key] for key in ("score", "low", "high"))
    if value is None or few:
        return Cell()
    return Cell(bar=Bar(100 * value, *(None if end is None else 100 * end for end in (low, high))))


def _ranks(found: Found, heading: str, reasons: Reasons) -> Cell:
    cell, text = found.cells[heading], found.text(heading)
    if text == NO_NUMBER or cell is None:
        return reasons.empty(f"no ranks: {found.group['refusal'] or 'not computed'}")
    if isinstance(cell, tuple):
        return Cell(text, value=f"{cell[0]:g}", high=f"{cell[1]:g}")
    return Cell(text, value=text)
