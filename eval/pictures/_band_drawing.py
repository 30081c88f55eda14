"""How bands of difficulty are drawn: who is where, how many problems each band has, and what they tell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eval.pictures._canvas import EDGE, SMALL, TEXT, WIDTH, Canvas, DrawMark
from eval.pictures._coverage_data import Ability, Band, Bands
from eval.pictures._measured import counted
from eval.pictures._shapes import Bar, Fill, Style, bars, marks
from eval.pictures._theme import AFTER, BEFORE, INK, LINE, MEDIUM, MUTED, OTHER, PAPER, TAG

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OUTSIDE = 0.8
"""How far, in logits, the problems that nobody or everybody solves stand from the bands."""

_MODEL = Style("D", AFTER)
_FULL, _THIN, _OUTER = Fill(MEDIUM, MEDIUM), Fill(PAPER, BEFORE), Fill(PAPER, MUTED, "////")
_MARK = 8.5
_LANE, _MOST_LANES, _MOST_BARS = 12.0, 8, 40
_Z95 = 1.96


def draw_bands(canvas: Canvas, bands: Bands) -> None:
    """Models over the problems of each band, beside those that tell no model apart, over what each band weighs."""
    first, last = bands.bands[0].low, bands.bands[-1].high
    limits = (first - 1.75 * _OUTSIDE, last + 1.75 * _OUTSIDE)
    canvas.legend(list(_legend(bands)))
    if bands.abilities:
        _draw_abilities(canvas, bands.abilities, limits)
    _draw_problems(canvas, bands, limits)
    axes = _draw_weights(canvas, bands, limits)
    ticks = range(math.ceil(first), math.floor(last) + 1)
    names = [f"{tick:+d}".replace("-", "−") if tick else "0" for tick in ticks]
    axes.set_xticks([*ticks, first - _OUTSIDE, last + _OUTSIDE], [*names, "all solve", "none solve"])
    canvas.top += 24
    canvas.lines(sentence(bands), TEXT, MUTED)


def sentence(bands: Bands) -> str:
    """What no band covers, in words."""
    beyond = f"Beyond reach: no model solves {counted(bands.beyond)}"
    empty = f"bands without a problem: {_named(bands.empty)}" if bands.empty else "no band is empty"
    thin = f"; too few problems or too large an error: {_named(bands.thin)}" if bands.thin else ""
    return f"{beyond}; {empty}{thin}. Every model that tried solves {counted(bands.below)}."


def _named(bands: Sequence[Band]) -> str:
    return ", ".join(f"{one.low:+.2f} to {one.high:+.2f}" for one in bands)


def _legend(bands: Bands) -> Iterator[tuple[DrawMark, str]]:
    if bands.abilities:
        yield (
            (lambda page, x, y: marks(page, [x], [y], _MODEL, _MARK)),
            "model, 95 %" if len(bands.abilities) <= _MOST_BARS else "model",
        )
    yield _sample(_FULL), "problems in a band"
    if bands.thin:
        yield _sample(_THIN), "too few, or too large an error"
    yield _sample(_OUTER), "tell no model apart"


def _sample(fill: Fill) -> DrawMark:
    return lambda page, x, y: bars(page, [Bar(x, y - 6, 12)], 14, fill)


def _draw_abilities(canvas: Canvas, abilities: Sequence[Ability], limits: tuple[float, float]) -> None:
    """Each model at its ability with its interval, in lanes so that none hides another as long as there is room."""
    width = (WIDTH - 2 * EDGE) / (limits[1] - limits[0])
    has_bars = len(abilities) <= _MOST_BARS
    ordered = sorted(abilities, key=lambda one: (one.value, one.name))
    ends: list[float] = []
    lanes = []
    for one in ordered:
        half = max(_Z95 * one.se if has_bars and one.se is not None else 0.0, 6 / width)
        free = [lane for lane, end in enumerate(ends) if one.value - half > end]
        lane = free[0] if free else len(ends) if len(ends) < _MOST_LANES else ends.index(min(ends))
        ends[lane : lane + 1] = [one.value + half]
        lanes.append(lane)
    axes = canvas.panel(_LANE * len(ends), left=EDGE, right=EDGE)
    axes.set_xlim(*limits)
    axes.set_ylim(-0.5, len(ends) - 0.5)
    bars = [(lane, one) for lane, one in zip(lanes, ordered, strict=True) if has_bars and one.se is not None]
    if bars:
        low = [max(one.value - _Z95 * (one.se or 0.0), limits[0]) for _, one in bars]
        high = [min(one.value + _Z95 * (one.se or 0.0), limits[1]) for _, one in bars]
        axes.hlines([lane for lane, _ in bars], low, high, color=AFTER, linewidth=1.6, gid=f"{TAG}abilities-95")
    marks(axes, [one.value for one in ordered], lanes, _MODEL, _MARK, tag=f"{TAG}abilities")
    canvas.top += 8


def _draw_problems(canvas: Canvas, bands: Bands, limits: tuple[float, float]) -> None:
    """How many problems each band has, and how many lie outside of all."""
    axes = _axis(canvas, "problems", 92, limits)
    axes.set_ylim(0, max(bands.beyond, bands.below, *(one.n_problems for one in bands.bands), 1))
    full, thin = ([one for one in bands.bands if (one.gap is not None) is wanted] for wanted in (False, True))
    outside = [
        Bar(bands.bands[0].low - _OUTSIDE, 0, bands.below),
        Bar(bands.bands[-1].high + _OUTSIDE, 0, bands.beyond),
    ]
    for wanted, fill, name in (
        ([Bar(one.middle, 0, one.n_problems) for one in full], _FULL, "bands"),
        ([Bar(one.middle, 0, one.n_problems) for one in thin], _THIN, "bands-thin"),
        (outside, _OUTER, "outside"),
    ):
        bars(axes, wanted, 0.4, fill, f"{TAG}{name}")
        for bar in wanted:
            _number(axes, bar, f"{bar.height}")


def _draw_weights(canvas: Canvas, bands: Bands, limits: tuple[float, float]) -> Axes:
    """What share of all information each band has."""
    axes = _axis(canvas, "% of the information that tells models apart", 30, limits)
    shares = [Bar(one.middle, 0, one.information or 0.0) for one in bands.bands]
    axes.set_ylim(0, max(one.height for one in shares) or 1)
    bars(axes, shares, 0.4, Fill(OTHER, OTHER), f"{TAG}weights")
    for bar in shares:
        _number(axes, bar, f"{100 * bar.height:.0f}")
    return axes


def _axis(canvas: Canvas, name: str, height: float, limits: tuple[float, float]) -> Axes:
    """A diagram with its name over it, and room for numbers over its highest bar."""
    canvas.lines(name, SMALL, MUTED)
    canvas.top += SMALL + 3
    axes = canvas.panel(height, left=EDGE, right=EDGE)
    axes.set_xlim(*limits)
    axes.axhline(0, color=LINE, linewidth=1, zorder=1)
    canvas.top += 8
    return axes


def _number(axes: Axes, bar: Bar, text: str) -> None:
    axes.annotate(
        text, (bar.middle, bar.height), (0, 3), textcoords="offset points", ha="center", fontsize=SMALL, color=INK
    )
