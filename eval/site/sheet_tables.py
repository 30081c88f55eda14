"""The other tables of the index: estimated scores, the saturation picture's, changes, and private problems. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eval.report import TOO_FEW_PROBLEMS
from eval.sheets import Column, Sheet, Table
from eval.site.cells import Body, Cell, Grid, GridRow, Head, Reasons, Why, count_cell, number_value, sheet_grid
from eval.site.runs import RunsOf
from eval.statistics.correlation import MIN_MODELS
from eval.statistics.saturation import MIN_PEERS

ONE_CONTEST = "no interval: the error is not known, as all problems are of one contest or none differs from another"
NO_CUTOFF = "no cut-off is known"
_RATE, _INTERVAL = "pass@1", "95 %"


def equated_table(runs: RunsOf) -> Grid | None:
    """Estimated scores of models with different windows on one reference set; None where none was computed."""
    sheet = runs.numbers.equated
    if not sheet.tables:
        return None
    (table,) = sheet.tables
    rows = sheet.data["rows"]

    def why(place: int, column: Column) -> str:
        one = rows[place]
        if column.heading == "cut-off":
            return NO_CUTOFF
        if column.heading == "own pass@1":
            return str(one["own_reason"] or "no problem was judged")
        return f"no estimate: {one['refusal']}" if one["refusal"] else ONE_CONTEST

    return sheet_grid(
        table, "equated", why=why, links=runs.links, caption="Estimated scores, the highest first", notes=sheet.notes
    )


def saturation_why(sheet: Sheet) -> Why:
    """The reasons for empty cells of the saturation sheet's table."""
    by_model = {one["model"]: one for one in sheet.data["rows"]}
    names = [str(row[0]) for row in sheet.tables[0].rows]

    def why(place: int, column: Column) -> str:
        return _saturation_reason(by_model[names[place]], column.heading)

    return why


def _saturation_reason(one: Mapping[str, Any], heading: str) -> str:
    if heading == "left out":
        return f"{NO_CUTOFF}, so nothing could be left out"
    if one["refusal"]:
        return f"no gap: {one['refusal']}"
    if one["doubt"] and heading in {"beyond others", "below line"}:
        return f"set beside no others: {one['doubt']}"
    if heading == "beyond others":
        return f"needs {MIN_PEERS} other models with a gap and a cut-off"
    if heading == "below line":
        return f"needs {MIN_MODELS} other models with a gap and a cut-off"
    return ONE_CONTEST if heading == "95 %" else "not tested"


def saturation_table(runs: RunsOf) -> Grid | None:
    """Every run on the saturated and on the fresh set; None where there are no two sets."""
    sheet = runs.numbers.saturation
    if sheet is None:
        return None
    (table,) = sheet.tables
    return sheet_grid(table, "saturation", why=saturation_why(sheet), caption=sheet.title)


def picture_table(runs: RunsOf, name: str, title: str, data: Table) -> Grid:
    """The numbers that a picture shows."""
    headings = [column.heading for column in data.columns]

    def why(place: int, column: Column) -> str:
        rate = data.rows[place][headings.index(_RATE)] if _RATE in headings else None
        if column.heading == _RATE or (column.heading == _INTERVAL and _RATE in headings and rate is None):
            return f"no rate: fewer than {TOO_FEW_PROBLEMS} problems"
        return ONE_CONTEST if column.heading == _INTERVAL else f"{column.heading}: not known"

    return sheet_grid(data, f"{name}-data", why=why, links=runs.links, caption=f"{title}: the numbers")


def changes_tables(runs: RunsOf) -> Iterator[Grid]:
    """What moved since the edition before, table by table."""
    sheet = runs.published.changes
    for number, table in enumerate(sheet.tables if sheet is not None else (), 1):
        why = _change_why(sheet, table) if sheet is not None and table.name == "scores" else None
        yield sheet_grid(table, f"changes-{number}", why=why, links=runs.links)


def _change_why(sheet: Sheet, table: Table) -> Why:
    """The reasons for empty cells of the scores that moved."""
    by_run = {str(one["run"]): one for one in sheet.data.get("scores", ())}

    def why(place: int, column: Column) -> str:
        one = by_run.get(str(table.rows[place][0]))
        if one is None:
            return "no number; what is missing stands under the table"
        if one["too_few"]:
            return f"no change: {one['too_few']}"
        is_part = column.heading in {"composition", "behaviour", "s.e."}
        return f"not split: {one['refusal']}" if is_part and one["refusal"] else ONE_CONTEST

    return why


def private_table(runs: RunsOf) -> Grid | None:
    """The private problems in aggregate; None where there are none."""
    scores = runs.numbers.private
    if not scores:
        return None
    reasons = Reasons()
    rows = []
    for one in scores:
        why = one.reason or ONE_CONTEST
        share = reasons.empty(why) if one.score is None else Cell(f"{100 * one.score:.1f} %", number_value(one.score))
        ends = (
            reasons.empty(why)
            if one.low is None or one.high is None
            else Cell(f"{100 * one.low:.1f}–{100 * one.high:.1f}", number_value(one.low))
        )
        rows.append(GridRow((Cell(one.run, href=runs.links.get(one.run, "")), share, ends, count_cell(one.n_problems))))
    heads = (Head("model"), Head("pass@1", is_number=True), Head("95 %", is_number=True), Head("n", is_number=True))
    return Grid(
        "private", "Private problems after each model's cut-off", heads, (Body(tuple(rows)),), tuple(reasons.texts)
    )
