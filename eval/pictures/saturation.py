"""Each run on a saturated set of problems against the same run on a fresh one; none where no run has both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from eval import sheets
from eval.pictures import Picture
from eval.pictures._canvas import EDGE, LEFT, RIGHT, SMALL, TEXT, WIDTH, Canvas, drawing, fitted, width_of
from eval.pictures._label_places import label_places
from eval.pictures._measured import basis_text, edition_text, published_span
from eval.pictures._shapes import Style, crosses, marks, spans
from eval.pictures._theme import AFTER, BEFORE, BROKEN, INK, LINE, MUTED, TAG
from eval.plain_text import one_line
from eval.publishing.publication import Published
from eval.sheets import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "saturation"
TITLE = "Saturated against fresh problems"

_HEIGHT, _MARK, _NAME = 430.0, 10.0, 15.0
_MOST_NAMED, _FEW_NAMED = 40, 20
"""Up to so many runs all have a number and a name; of more, so many with the widest gaps."""

_SURE, _DOUBTFUL = Style("o", AFTER), Style("D", BEFORE)


@dataclass(frozen=True)
class Dot:
    """A run on both sets, in shares. ``low`` and ``high`` are the interval of its gap; ``doubt`` says why it is in no
    comparison with others."""

    name: str
    saturated: float
    fresh: float
    gap: float
    low: float | None
    high: float | None
    n_saturated: int
    n_fresh: int
    doubt: str | None
    broken: tuple[str, ...]

    @property
    def fresh_interval(self) -> tuple[float, float] | None:
        """The fresh score at either end of the gap's interval: it meets the diagonal where that interval holds 0."""
        if self.low is None or self.high is None:
            return None
        return max(self.saturated - self.high, 0.0), min(self.saturated - self.low, 1.0)


def pictures(published: Published) -> Iterator[Picture]:
    """One picture, or none where there are no two sets or no run has a score on both."""
    sheet = published.edition.numbers.saturation
    dots = () if sheet is None else _dots(sheet.data)
    if sheet is None or not dots:
        return
    alt = _alt(dots, sheet.data)
    with drawing() as canvas:
        _draw(canvas, published, dots, sheet.data)
        svg, png = canvas.finish(TITLE, f"{alt} Measured: {_measured(published)}; {'; '.join(sheet.conditions)}.")
    yield Picture(
        NAME,
        TITLE,
        one_line(alt),
        svg,
        png,
        _table(dots, (_measured(published), *sheet.conditions, *sheet.tables[0].notes)),
    )


def _dots(data: Mapping[str, Any]) -> tuple[Dot, ...]:
    """The runs with a gap, the widest first."""
    found = [
        Dot(
            row["model"],
            row["saturated"],
            row["fresh"],
            row["gap"],
            row["low"],
            row["high"],
            row["n_saturated"],
            row["n_fresh"],
            row["doubt"],
            tuple(data["broken_months"].get(row["model"], ())),
        )
        for row in data["rows"]
        if row["gap"] is not None
    ]
    return tuple(sorted(found, key=lambda dot: (-dot.gap, dot.name)))


def _written(data: Mapping[str, Any], which: str) -> str:
    """How a set is described; published scores are a text."""
    wanted = data[which]
    return str(wanted["written"] if isinstance(wanted, Mapping) else wanted)


def _counts(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least} problems" if least == most else f"{least} to {most} problems"


def _measured(published: Published) -> str:
    parts = (
        edition_text(published),
        published_span(published),
        *basis_text(published),
        "bars: 95 % of the gap, over contests (Welch)",
        "a fresh set that is only harder gives a gap, too",
    )
    return "; ".join(parts)


def _draw(canvas: Canvas, published: Published, dots: tuple[Dot, ...], data: Mapping[str, Any]) -> None:
    runs = f"{len(dots)} run{'' if len(dots) == 1 else 's'}"
    canvas.head(TITLE, f"pass@1 · edition {published.name} · {runs}")
    canvas.legend(list(_legend(dots)))
    canvas.top += 4
    fresh = _counts([dot.n_fresh for dot in dots])
    saturated = _counts([dot.n_saturated for dot in dots])
    canvas.lines(f"↑ fresh: {_written(data, 'fresh')}; {fresh}", SMALL, MUTED, most=2)
    canvas.top += 12
    named = dots if len(dots) <= _MOST_NAMED else dots[:_FEW_NAMED]
    _draw_dots(canvas, dots, len(named))
    canvas.top += 26
    text = f"→ saturated: {_written(data, 'saturated')}; {saturated}"
    canvas.lines(text, SMALL, MUTED, most=2)
    canvas.top += 8
    _name(canvas, named)
    if len(named) < len(dots):
        canvas.lines(f"numbered: the {len(named)} with the widest gaps of {len(dots)} runs", TEXT, MUTED)
    canvas.foot(_measured(published))


def _legend(dots: tuple[Dot, ...]) -> Iterator[Any]:
    if any(dot.doubt is None for dot in dots):
        yield (lambda page, x, y: marks(page, [x], [y], _SURE, _MARK)), "run, 95 % of its gap"
    if any(dot.doubt is not None for dot in dots):
        yield (lambda page, x, y: marks(page, [x], [y], _DOUBTFUL, _MARK, hollow=True)), "in no comparison with others"
    if any(dot.broken for dot in dots):
        yield (lambda page, x, y: crosses(page, [x], [y], BROKEN)), "has months that look broken"
    yield (lambda page, x, y: page.plot([x - 7, x + 7], [y + 6, y - 6], color=MUTED, linestyle=(0, (4, 3)))), "no gap"


def _draw_dots(canvas: Canvas, dots: tuple[Dot, ...], n_named: int) -> None:
    axes = canvas.panel(_HEIGHT)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    ticks = [0, 0.25, 0.5, 0.75, 1]
    names = [f"{100 * tick:g} %" for tick in ticks]
    axes.set_xticks(ticks, ["", *names[1:]])
    axes.get_xticklabels()[-1].set_horizontalalignment("right")
    axes.set_yticks(ticks, names)
    axes.hlines(ticks, 0, 1, color=LINE, linewidth=1, zorder=1, gid=f"{TAG}grid-y")
    axes.vlines(ticks, 0, 1, color=LINE, linewidth=1, zorder=1, gid=f"{TAG}grid-x")
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=1.4, linestyle=(0, (4, 3)), zorder=1.5, gid=f"{TAG}diagonal")
    for style, doubtful, name in ((_SURE, False, "sure"), (_DOUBTFUL, True, "doubtful")):
        chosen = [dot for dot in dots if (dot.doubt is not None) is doubtful]
        if chosen:
            x, y = [dot.saturated for dot in chosen], [dot.fresh for dot in chosen]
            marks(axes, x, y, style, _MARK, hollow=doubtful, tag=f"{TAG}{name}")
            known = [(dot.saturated, *dot.fresh_interval) for dot in chosen if dot.fresh_interval is not None]
            spans(axes, known, style.colour, f"{TAG}{name}-95")
    broken = [dot for dot in dots if dot.broken]
    if broken:
        crosses(axes, [dot.saturated for dot in broken], [dot.fresh for dot in broken], BROKEN, f"{TAG}broken")
    _number(axes, dots, n_named)


def _number(axes: Axes, dots: tuple[Dot, ...], n_named: int) -> None:
    """Numbers beside the first dots."""
    wide, tall = WIDTH - LEFT - RIGHT, _HEIGHT
    sizes = [(width_of(str(number), TEXT, bold=True), TEXT * 0.75) for number in range(1, n_named + 1)]
    points = [(dot.saturated * wide, dot.fresh * tall) for dot in dots]
    lines = [
        (x - 1, ends[0] * tall, x + 1, ends[1] * tall)
        for (x, _), ends in zip(points, (dot.fresh_interval for dot in dots), strict=True)
        if ends is not None
    ]
    places = label_places(points, sizes, _MARK * 0.8, (0, 0, wide, tall), lines)
    for number, (middle, height) in enumerate(places, 1):
        axes.text(
            middle / wide,
            height / tall,
            str(number),
            ha="center",
            va="center_baseline",
            fontsize=TEXT,
            fontweight="bold",
            color=INK,
            zorder=5,
        )


def _name(canvas: Canvas, dots: tuple[Dot, ...]) -> None:
    """The numbered runs in two columns, each with its gap."""
    width = (WIDTH - 2 * EDGE - 16) / 2
    half = -(-len(dots) // 2)
    top = canvas.top
    for place, dot in enumerate(dots):
        column, row = divmod(place, half)
        x, baseline = EDGE + column * (width + 16), top + _NAME * 1.42 * (row + 0.8)
        gap = f"{100 * dot.gap:+.1f}"
        room = width - 30 - width_of(gap, _NAME) - 8
        canvas.write(x + 24, baseline, str(place + 1), _NAME, fontweight="bold", ha="right")
        canvas.write(x + 30, baseline, fitted(dot.name, _NAME, room), _NAME)
        canvas.write(x + width, baseline, gap, _NAME, ha="right", color=MUTED)
    canvas.top = top + _NAME * 1.42 * half + 4


def _alt(dots: tuple[Dot, ...], data: Mapping[str, Any]) -> str:
    """The picture in words."""
    widest, least = dots[0], dots[-1]
    above = sum(dot.low is not None and dot.low > 0 for dot in dots)
    runs = f"{len(dots)} run{'' if len(dots) == 1 else 's'}"
    sentences = [
        f"pass@1 of {runs} on saturated problems ({_written(data, 'saturated')}) against fresh ones "
        f"({_written(data, 'fresh')})",
        f"Median gap {100 * median(dot.gap for dot in dots):+.1f} points; widest {_told(widest)}",
    ]
    if len(dots) > 1:
        sentences.append(f"Narrowest {_told(least)}")
    sentences.append(f"The 95 % interval of the gap lies above 0 for {above} of {len(dots)}")
    doubtful = sum(dot.doubt is not None for dot in dots)
    if doubtful:
        sentences.append(f"In no comparison with others: {doubtful} of them")
    return ". ".join(sentences) + "."


def _told(dot: Dot) -> str:
    return f"{100 * dot.gap:+.1f} ({dot.name}: {100 * dot.saturated:.1f} % against {100 * dot.fresh:.1f} %)"


def _table(dots: tuple[Dot, ...], notes: tuple[str, ...]) -> Table:
    columns = (
        sheets.count("number"),
        sheets.text("run"),
        sheets.count("saturated n"),
        sheets.percent("saturated"),
        sheets.count("fresh n"),
        sheets.percent("fresh"),
        sheets.points("gap"),
        sheets.difference_interval(),
        sheets.text("remark"),
    )
    rows = tuple(
        (
            number,
            dot.name,
            dot.n_saturated,
            dot.saturated,
            dot.n_fresh,
            dot.fresh,
            dot.gap,
            sheets.span(dot.low, dot.high),
            "; ".join([*([dot.doubt] if dot.doubt else []), *(f"{month} looks broken" for month in dot.broken)]),
        )
        for number, dot in enumerate(dots, 1)
    )
    return Table(TITLE, columns, rows, notes, n_keys=2, name=NAME)
