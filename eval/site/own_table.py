"""The table of the index in which each model has its own window: every run, scored or not. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from eval.audits.refusals import grouped
from eval.editions.document import EditionRun
from eval.eligibility import CutoffStatus
from eval.render import interval_text, share_text, stratum_text, table_notes, written_cutoff
from eval.report import Row, Score, Stratum
from eval.sheets import NO_NUMBER
from eval.site.board_data import own_note
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
    is_web_link,
    number_value,
)
from eval.site.runs import RunsOf
from eval.site.tests_told import COLUMN, own_basis_cell

MAX_STRATA = 4
"""Parts of the problems that a cell lists; where there are more, it counts them and leads to the model's page."""

HEADS = (
    Head("model", sort=SORT_TEXT),
    Head("pass@1", "score", SORT_NUMBER, is_number=True),
    Head("95 %", "interval", SORT_NUMBER, is_number=True),
    Head("0 to 100 %", is_default_only=True, is_drawn=True),
    Head("note", "note"),
    Head("judged", "problems", SORT_NUMBER, is_number=True),
    Head("of eligible", "eligible", SORT_NUMBER, is_number=True),
    Head("tests beyond the samples", COLUMN),
    Head("cut-off", sort=SORT_TEXT),
    Head("counts from (UTC)", sort=SORT_TEXT, is_default_only=True),
    Head("gap at the cut-off", sort=SORT_TEXT),
    Head("broken months", sort=SORT_TEXT),
    Head("warnings", sort=SORT_NUMBER, is_number=True, is_default_only=True),
    Head("contests", "contests", SORT_NUMBER, is_number=True),
    Head("samples", sort=SORT_NUMBER, is_number=True, is_default_only=True),
    Head("by difficulty", is_default_only=True),
    Head("by platform", is_default_only=True),
)


def own_table(runs: RunsOf) -> Grid:
    """A row for each run of the edition; those without a row in the report have their reason."""
    reasons = Reasons()
    rows = tuple(_row(runs, run, reasons) for run in runs.in_order)
    report = runs.numbers.own
    return Grid(
        "own",
        "Each model on the public problems after its own cut-off, the earliest cut-off first",
        HEADS,
        (Body(rows),),
        tuple(reasons.texts),
        tuple(table_notes(report)),
        is_sortable=True,
    )


def _row(runs: RunsOf, run: EditionRun, reasons: Reasons) -> GridRow:
    row = runs.rows.get(run.name)
    doubts = _doubts(runs, run, reasons)
    cells = _unscored(runs, run, doubts, reasons) if row is None else _scored(runs, row, doubts, reasons)
    return GridRow((name_cell(runs, run), *cells), runs.published.run_slugs[run.name], run.name)


def name_cell(runs: RunsOf, run: EditionRun) -> Cell:
    """A run by name, with the model of the registry where that is called otherwise, and whether it was imported."""
    model = run.entry or run.model
    lines = [] if run.name.casefold() == model.casefold() else [model]
    lines += ["imported"] if run.imported and not runs.all_imported else []
    return Cell(run.name, href=runs.links[run.name], lines=tuple(lines))


def _unscored(runs: RunsOf, run: EditionRun, doubts: list[Cell], reasons: Reasons) -> list[Cell]:
    reason = f"not scored: {runs.not_scored(run)}"
    nothing = reasons.empty(reason)
    return [nothing, nothing, Cell(), Cell(reason), *[nothing] * 5, *doubts, *[nothing] * 5]


def _scored(runs: RunsOf, row: Row, doubts: list[Cell], reasons: Reasons) -> list[Cell]:
    score, n_warnings, page = row.pass_at_1, len(row.warnings), runs.links[row.run]
    return [
        score_cell(score, reasons),
        interval_cell(score, reasons),
        bar_cell(score),
        Cell(own_note(row)),
        count_cell(row.n_judged),
        count_cell(row.n_eligible),
        own_basis_cell(runs, row, reasons),
        cutoff_cell(row, reasons),
        Cell("any time") if row.window_from is None else _from_cell(row.window_from),
        *doubts,
        Cell(str(n_warnings), value=str(n_warnings), href=f"{page}#warnings" if n_warnings else ""),
        count_cell(row.n_contests),
        count_cell(row.n_samples),
        strata_cell(row.by_difficulty, page, reasons),
        strata_cell(row.by_platform, page, reasons),
    ]


def _from_cell(start: datetime) -> Cell:
    return Cell(f"{start:%Y-%m-%d}", lines=(f"{start:%H:%M}",))


def score_cell(score: Score, reasons: Reasons) -> Cell:
    """pass@1 in percent, or as a count where there are too few problems."""
    if score.value is None:
        return reasons.empty(score.reason or "no problem was judged")
    return Cell(share_text(score), value=number_value(score.value))


def interval_cell(score: Score, reasons: Reasons) -> Cell:
    """The interval in percent."""
    text = interval_text(score)
    if text == NO_NUMBER or score.ci_low is None or score.ci_high is None:
        return reasons.empty(score.reason or "no interval: all problems are of one contest")
    return Cell(text, value=number_value(score.ci_low), high=number_value(score.ci_high))


def bar_cell(score: Score) -> Cell:
    """The same, drawn; nothing where there is no rate."""
    if score.value is None or not score.is_rate:
        return Cell()
    low, high = (None if end is None else 100 * end for end in (score.ci_low, score.ci_high))
    return Cell(bar=Bar(100 * score.value, low, high))


def cutoff_cell(row: Row, reasons: Reasons) -> Cell:
    """The cut-off as it was written, with its status in words and a link to its source."""
    if row.cutoff is None:
        return reasons.empty("no cut-off is known")
    words = "release date" if row.cutoff_status == CutoffStatus.ASSUMED else "stated"
    words += f" by {row.cutoff_by}" if row.cutoff_by else ""
    lines = [words]
    lines += [f"of {row.cutoff_inherited_from}, whose data it inherits"] if row.cutoff_inherited_from else []
    source = row.cutoff_source
    lines += [] if source else ["no source"]
    lines += [source] if source and not is_web_link(source) else []
    link = source if source and is_web_link(source) else ""
    end = "" if row.cutoff_end is None else f"{row.cutoff_end:%Y-%m-%d}"
    return Cell(written_cutoff(row), value=end, href=link, lines=tuple(lines))


def strata_cell(strata: Sequence[Stratum], page: str, reasons: Reasons) -> Cell:
    """The scores of parts of the problems; where they are many, a link to them."""
    if not strata:
        return reasons.empty("no problem was judged")
    if len(strata) > MAX_STRATA:
        return Cell(f"{len(strata)} parts", href=f"{page}#parts")
    return Cell(lines=tuple(f"{one.name} {stratum_text(one.scores[0])}" for one in strata))


def _doubts(runs: RunsOf, run: EditionRun, reasons: Reasons) -> list[Cell]:
    gap, health = runs.gap(run.name), runs.health(run.name)
    found = Cell(gap.in_all, lines=gap.visible)
    months = Cell(health.words, lines=health.broken)
    return [
        found if gap.in_all else reasons.empty(gap.reason),
        months if health.n_judged else Cell(health.words, mark=reasons.mark(f"run not judged: {health.reason}")),
    ]


def warning_lines(runs: RunsOf) -> tuple[str, ...]:
    """The warnings of all rows, each once with the runs that have it."""
    return tuple(grouped((row.run, warning) for row in runs.numbers.own.rows for warning in row.warnings))


def left_out_table(runs: RunsOf) -> Grid:
    """How many problems were left out of each row, by reason."""
    rows = runs.numbers.own.rows
    totals: Counter[str] = Counter()
    for row in rows:
        totals.update(row.left_out)
    names = [name for name, _ in sorted(totals.items(), key=lambda item: (-item[1], item[0]))]
    return Grid(
        "left-out",
        "Problems left out of each row, by the first reason that applies",
        (Head("model"), *(Head(name, is_number=True) for name in ("problems", "judged", *names))),
        (
            Body(
                tuple(
                    GridRow(
                        (
                            Cell(row.run),
                            count_cell(row.n_universe),
                            count_cell(row.n_judged),
                            *(count_cell(row.left_out.get(name, 0)) for name in names),
                        )
                    )
                    for row in rows
                )
            ),
        ),
        notes=("problems = judged + left out; of one problem the first reason counts: dates come before flags",),
    )
