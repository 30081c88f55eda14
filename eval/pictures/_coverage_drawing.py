"""How the coverage picture is drawn: problems by month under the models' cut-offs, then bands of difficulty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from eval.pictures._band_drawing import draw_bands
from eval.pictures._calendar import Calendar
from eval.pictures._canvas import HEADING, LEFT, RIGHT, SMALL, TEXT, WIDTH, Canvas, DrawMark, name_months
from eval.pictures._coverage_data import LABELS, Coverage, CutoffMark
from eval.pictures._measured import basis_text, counted, edition_text, published_span
from eval.pictures._shapes import Bar, Fill, Style, bars, marks
from eval.pictures._theme import AFTER, EASY, HARD, INK, LINE, MEDIUM, MUTED, OTHER, TAG

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TALLEST, _LEAST = 110.0, 26.0
_MARK = 11.0
_CUTOFF = Style("v", AFTER)
_FILLS = dict(zip(LABELS, (Fill(EASY), Fill(MEDIUM, hatch="///"), Fill(HARD), Fill(OTHER, hatch="|||")), strict=True))
"""Light, hatched and dark: labels differ without their colours."""


def draw_coverage(canvas: Canvas, shown: Coverage) -> None:
    """The whole picture."""
    total = counted(shown.total())
    canvas.head(
        "What the problems cover", f"sound problems by month of publication · edition {shown.published.name} · {total}"
    )
    if shown.calendar is None:
        canvas.lines("no sound problem has a date of publication")
    else:
        _draw_months(canvas, shown, shown.calendar)
    canvas.top += 14
    canvas.lines("Bands of difficulty, and where the models are", HEADING, bold=True)
    if shown.bands is None:
        canvas.lines(f"no bands: {shown.refusal}", TEXT, MUTED)
    else:
        draw_bands(canvas, shown.bands)
    canvas.foot("; ".join(measured(shown)))


def measured(shown: Coverage) -> Iterator[str]:
    """What the picture rests on."""
    yield edition_text(shown.published)
    yield published_span(shown.published)
    yield from basis_text(shown.published)
    yield "counts, which have no intervals"
    if shown.n_unsound:
        yield f"left out: {counted(shown.n_unsound)} withdrawn or flagged"
    if shown.n_undated:
        yield f"{counted(shown.n_undated)} without a date"
    if shown.without:
        yield f"models without a cut-off: {len(shown.without)}"
    if shown.bands is not None:
        yield "bands: two-parameter item response theory on results after the cut-offs; logits, 0 is the average model"
        yield "95 % is 1.96 standard errors"


def _draw_months(canvas: Canvas, shown: Coverage, calendar: Calendar) -> None:
    fills = [(_sample_fill(label), label) for label in shown.labels]
    canvas.legend([*fills, *_cutoff_legend(shown)])
    if shown.marks:
        _draw_cutoffs(canvas, shown, calendar)
    peaks = {name: _peak(shown, name) for name in shown.counts}
    for number, platform in enumerate(shown.counts):
        canvas.heading(platform, counted(shown.total(platform)))
        canvas.top += 10
        # One scale for all platforms: a tall bar is many problems wherever it stands.
        height = max(_LEAST, _TALLEST * peaks[platform] / max(peaks.values()))
        axes = canvas.panel(height)
        axes.set_xlim(0, calendar.length)
        axes.set_ylim(0, height * max(peaks.values()) / _TALLEST)
        axes.set_yticks([0, peaks[platform]] if height > 2 * TEXT else [peaks[platform]])
        axes.hlines([0, peaks[platform]], 0, calendar.length, color=LINE, linewidth=1, zorder=1)
        _stack(axes, shown, platform, f"{TAG}{number}-")
        canvas.top += 12
    name_months(canvas, axes, calendar)


def _peak(shown: Coverage, platform: str) -> int:
    months: dict[int, int] = {}
    for (month, _), n in shown.counts[platform].items():
        months[month] = months.get(month, 0) + n
    return max(months.values())


def _stack(axes: Axes, shown: Coverage, platform: str, tag: str) -> None:
    """Bars of one platform, the easy problems at the bottom."""
    assert shown.calendar is not None
    bottoms: dict[int, int] = {}
    for place, label in enumerate(LABELS):
        counts = {month: n for (month, level), n in shown.counts[platform].items() if level == label}
        stacked = [Bar(shown.calendar.middle(month), bottoms.get(month, 0), n) for month, n in counts.items()]
        bars(axes, stacked, 0.74, _FILLS[label], f"{tag}{place}")
        for month, n in counts.items():
            bottoms[month] = bottoms.get(month, 0) + n


def _sample_fill(label: str) -> DrawMark:
    return lambda page, x, y: bars(page, [Bar(x, y - 7, 14)], 16, _FILLS[label])


def _cutoff_legend(shown: Coverage) -> Iterator[tuple[DrawMark, str]]:
    if any(not one.is_assumed for one in shown.marks):
        yield _sample_mark(is_assumed=False), "cut-offs (models)"
    if any(one.is_assumed for one in shown.marks):
        yield _sample_mark(is_assumed=True), "release date stands in (?)"


def _sample_mark(*, is_assumed: bool) -> DrawMark:
    return lambda page, x, y: marks(page, [x], [y], _CUTOFF, _MARK, hollow=is_assumed)


def _draw_cutoffs(canvas: Canvas, shown: Coverage, calendar: Calendar) -> None:
    """A mark at the end of each cut-off with the number of its models; those off the calendar are counted beside it."""
    places = {one: calendar.place(one.after) for one in shown.marks}
    early = _models(one for one in shown.marks if places[one] < 0)
    late = _models(one for one in shown.marks if places[one] > calendar.length)
    if early or late:
        canvas.top += SMALL
        canvas.write(LEFT, canvas.top, f"← {early} earlier" if early else "", SMALL)
        canvas.write(WIDTH - RIGHT, canvas.top, f"{late} later →" if late else "", SMALL, ha="right")
        canvas.top += 2
    canvas.top += SMALL + 4
    axes = canvas.panel(14)
    axes.set_xlim(0, calendar.length)
    axes.set_ylim(0, 1)
    inside = [one for one in shown.marks if 0 <= places[one] <= calendar.length]
    for is_assumed in (False, True):
        x = [places[one] for one in inside if one.is_assumed is is_assumed]
        if x:
            tag = f"{TAG}cutoffs{'-assumed' if is_assumed else ''}"
            marks(axes, x, [0.4] * len(x), _CUTOFF, _MARK, hollow=is_assumed, tag=tag)
    near: dict[int, list[CutoffMark]] = {}
    for one in inside:
        near.setdefault(int(places[one]), []).append(one)
    for found in near.values():
        text = f"{_models(found)}{'?' if all(one.is_assumed for one in found) else ''}"
        middle = sum(places[one] for one in found) / len(found)
        axes.text(middle, 1.1, text, ha="center", va="bottom", fontsize=SMALL, color=INK)
    canvas.top += 4


def _models(marks: Iterable[CutoffMark]) -> int:
    return sum(len(one.models) for one in marks)
