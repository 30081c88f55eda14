"""Marks, bars and lines as pictures draw them, each group under a tag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.pictures._theme import PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUND = frozenset("o^v")


@dataclass(frozen=True)
class Style:
    """How a mark looks: matplotlib's letter for its shape, and its colour. Both differ between kinds of marks, so that
    neither a printer nor an eye needs the colour."""

    shape: str
    colour: str


@dataclass(frozen=True)
class Fill:
    """How a bar looks: what fills it, its edge, and matplotlib's sign for hatching ("": none), which has the edge's
    colour."""

    colour: str
    edge: str = PAPER
    hatch: str = ""


@dataclass(frozen=True)
class Bar:
    """A bar that stands on ``bottom``."""

    middle: float
    bottom: float
    height: float


def marks(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    style: Style,
    size: float,
    *,
    hollow: bool = False,
    tag: str = "",
) -> None:
    """Marks of one kind at these places; those with corners are drawn smaller, so that all look alike in size."""
    axes.plot(
        x,
        y,
        linestyle="none",
        marker=style.shape,
        markersize=size * (1 if style.shape in _ROUND else 0.84),
        markerfacecolor=PAPER if hollow else style.colour,
        markeredgecolor=style.colour if hollow else PAPER,
        markeredgewidth=1.2 if hollow else 0.7,
        zorder=3,
        gid=tag or None,
    )


def crosses(axes: Axes, x: Sequence[float], y: Sequence[float], colour: str, tag: str = "") -> None:
    """Crosses over marks that are not to be trusted."""
    axes.plot(
        x,
        y,
        linestyle="none",
        marker="x",
        markersize=13,
        markeredgewidth=2.2,
        color=colour,
        zorder=4,
        gid=tag or None,
    )


def bars(axes: Axes, wanted: Iterable[Bar], width: float, fill: Fill, tag: str = "") -> None:
    """Bars of one kind as one shape, which is a third as long in SVG as a shape for each."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    boxes = [_box(one, width) for one in wanted]
    if boxes:
        whole = Path.make_compound_path(*(Path(box, closed=True) for box in boxes))
        style = {"facecolor": fill.colour, "edgecolor": fill.edge, "hatch": fill.hatch or None}
        axes.add_patch(PathPatch(whole, linewidth=1, zorder=2, gid=tag or None, **style))


def _box(bar: Bar, width: float) -> list[tuple[float, float]]:
    left, right, top = bar.middle - width / 2, bar.middle + width / 2, bar.bottom + bar.height
    return [(left, bar.bottom), (right, bar.bottom), (right, top), (left, top), (left, bar.bottom)]


def spans(axes: Axes, wanted: Sequence[tuple[float, float, float]], colour: str, tag: str) -> None:
    """Intervals as upright lines, each given as (where, from, to)."""
    if wanted:
        where, low, high = (list(column) for column in zip(*wanted, strict=True))
        axes.vlines(where, low, high, color=colour, linewidth=1.8, zorder=2, gid=tag)
