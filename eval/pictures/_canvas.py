"""The sheet that a picture is drawn on, from the top down, and its two files. matplotlib is imported here alone.

All lengths are pixels of a picture that is 700 wide; a phone shows it at half of that, hence the size of the text.
"""

from __future__ import annotations

import io
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from eval.pictures._calendar import Calendar
from eval.pictures._theme import INK, LINE, MUTED, PAPER, themed
from eval.plain_text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ft2font import FT2Font

WIDTH = 700.0
EDGE = 14.0
LEFT, RIGHT = 66.0, 16.0
TITLE, HEADING, TEXT, SMALL = 21.0, 17.5, 16.5, 13.5
LEADING = 1.28
"""The distance of two lines of text, in sizes of the text."""

_PNG_SCALE = 2
_PNG_COLOURS = 128
_UNIT = 72
"""matplotlib's SVG has 72 units to the inch; with as many dots, a point of text is a pixel."""

_FONT = "DejaVu Sans"  # comes with matplotlib: the same everywhere
_ELLIPSIS = "…"
_SIGNS = frozenset("-_/:.,()")
_SETTINGS: Any = {
    "font.family": [_FONT],
    "text.parse_math": False,  # names are no formulas
    "svg.fonttype": "none",
    "svg.hashsalt": "livecut",
    "hatch.linewidth": 1.2,
    "lines.solid_capstyle": "butt",
}

DrawMark = Callable[["Axes", float, float], None]
"""Draws a sample of a mark about a point of the page."""


@cache
def _font(bold: bool) -> FT2Font:
    """A font of our own to measure with: matplotlib changes the size of those that it keeps."""
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    font = FT2Font(findfont(FontProperties(family=[_FONT], weight="bold" if bold else "normal")))
    font.set_size(1000, _UNIT)
    return font


@cache
def _advance(char: str, bold: bool) -> float:
    """The width of a character, in sizes of the text; a guess where the font lacks it."""
    from matplotlib.ft2font import LoadFlags

    font = _font(bold)
    if font.get_char_index(ord(char)) == 0:
        return 1.1 if unicodedata.east_asian_width(char) in "WF" else 0.8
    return float(font.load_char(ord(char), LoadFlags.NO_HINTING).linearHoriAdvance) / 65536 / 1000


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a line of text is drawn, in pixels."""
    return size * sum(_advance(char, bold) for char in text)


def wrapped(text: str, size: float, width: float, *, bold: bool = False, most: int = 99) -> list[str]:
    """Text in lines of at most that width, broken after spaces and signs, within a word where it must be.

    What does not fit into ``most`` lines ends in an ellipsis.
    """
    lines: list[str] = []
    rest = one_line(text)
    while rest:
        end = _fitting(rest, size, width, bold)
        if len(lines) == most - 1 and end < len(rest):
            end = _fitting(rest, size, width - width_of(_ELLIPSIS, size, bold=bold), bold)
            return [*lines, rest[:end].rstrip() + _ELLIPSIS]
        if end < len(rest):
            end = _break(rest, end)
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return lines


def fitted(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Text in one line of at most that width."""
    return next(iter(wrapped(text, size, width, bold=bold, most=1)), "")


def _break(text: str, most: int) -> int:
    """Where to break a line of at most so many characters: at a space (but not before "%"), else after a
    sign, else where it ends."""
    spaces = (
        place for place in range(most, most // 2, -1) if text[place] == " " and text[place + 1 : place + 2] != "%"
    )
    return next(spaces, None) or next(
        (place + 1 for place in range(most - 1, most // 2, -1) if text[place] in _SIGNS), most
    )


def _fitting(text: str, size: float, width: float, bold: bool) -> int:
    """How many characters fit; one at least."""
    used = 0.0
    for place, char in enumerate(text):
        used += size * _advance(char, bold)
        if used > width:
            return max(place, 1)
    return len(text)


class Canvas:
    """A page that is filled from the top down. ``top`` is where the next thing goes."""

    def __init__(self, figure: Figure) -> None:
        self.top = EDGE
        self._figure = figure
        self._panels: list[tuple[Axes, float, float]] = []
        self.page: Axes = figure.add_axes((0, 0, 1, 1), zorder=5)
        self.page.set_axis_off()
        self.page.set_xlim(0, WIDTH)
        self.page.set_ylim(1, 0)
        self.page.patch.set_visible(False)

    def write(self, x: float, baseline: float, text: str, size: float = TEXT, **how: Any) -> None:
        """One line of text on the page; ``how`` is what matplotlib's text takes."""
        style: dict[str, Any] = {"fontsize": size, "color": INK, "va": "baseline"}
        self.page.text(x, baseline, one_line(text), **style | how)

    def lines(
        self, text: str, size: float = TEXT, colour: str = INK, *, bold: bool = False, most: int = 99, x: float = EDGE
    ) -> None:
        """A paragraph over the width of the page."""
        for line in wrapped(text, size, WIDTH - x - EDGE, bold=bold, most=most):
            self.top += size
            self.write(x, self.top, line, size, color=colour, fontweight="bold" if bold else "normal")
            self.top += size * (LEADING - 1)

    def head(self, title: str, subtitle: str) -> None:
        """What the picture shows, and of what."""
        self.lines(title, TITLE, bold=True, most=2)
        self.top += 2
        self.lines(subtitle, TEXT, MUTED, most=2)
        self.top += 6

    def heading(self, name: str, beside: str) -> None:
        """The name of a part, and a word about it."""
        name = fitted(name, HEADING, WIDTH - 250, bold=True)
        self.top += HEADING
        self.write(EDGE, self.top, name, HEADING, fontweight="bold")
        self.write(EDGE + width_of(name, HEADING, bold=True) + 10, self.top, beside, TEXT, color=MUTED)

    def legend(self, entries: Sequence[tuple[DrawMark, str]], size: float = TEXT) -> None:
        """Samples of marks with what they mean, in as many lines as they need."""
        x, height = EDGE, size * LEADING
        for draw, meaning in entries:
            width = 24 + width_of(one_line(meaning), size)
            if x > EDGE and x + width > WIDTH - EDGE:
                x, self.top = EDGE, self.top + height
            draw(self.page, x + 8, self.top + size * 0.62)
            self.write(x + 22, self.top + size, meaning, size)
            x += width + 16
        self.top += height + 6 if entries else 0

    def panel(self, height: float, *, left: float = LEFT, right: float = RIGHT) -> Axes:
        """An empty diagram over the width of the page; without a frame and without marks on its axes."""
        axes = self._figure.add_axes((left / WIDTH, 0, (WIDTH - left - right) / WIDTH, 1))
        axes.patch.set_visible(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, pad=5, labelsize=TEXT, labelcolor=MUTED)
        axes.set_xticks([])
        axes.set_yticks([])
        self._panels.append((axes, self.top, height))
        self.top += height
        return axes

    def foot(self, text: str) -> None:
        """What was measured, in small letters under a line, so that a picture that is cut out still says it."""
        self.top += 8
        self.page.plot([EDGE, WIDTH - EDGE], [self.top, self.top], color=LINE, linewidth=1)
        self.top += 5
        self.lines(text, SMALL, MUTED)

    def finish(self, title: str, description: str) -> tuple[bytes, bytes]:
        """The picture as SVG and as PNG, both with the title and what was measured inside them."""
        height = round(self.top + EDGE)
        self._figure.set_size_inches(WIDTH / _UNIT, height / _UNIT)
        self.page.set_ylim(height, 0)
        for axes in self._figure.axes:
            for artist in axes.get_children():
                artist.set_clip_on(False)  # marks at an edge are whole
        for axes, top, tall in self._panels:
            box = axes.get_position()
            axes.set_position((box.x0, 1 - (top + tall) / height, box.width, tall / height))
        title, description = one_line(title), one_line(description)
        return themed(_svg(self._figure), title, description), _png(self._figure, title, description)


def name_months(canvas: Canvas, axes: Axes, calendar: Calendar) -> None:
    """Months under the last diagram of a column; one whose name would leave the picture has none."""
    places, names = calendar.labels()
    unit, half = (WIDTH - LEFT - RIGHT) / calendar.length, width_of(names[0], TEXT) / 2
    kept = [(at, name) for at, name in zip(places, names, strict=True) if (calendar.length - at) * unit + RIGHT > half]
    axes.tick_params(axis="x", pad=9)
    axes.set_xticks([at for at, _ in kept], [name for _, name in kept])
    canvas.top += TEXT + 14


@contextmanager
def drawing() -> Iterator[Canvas]:
    """An empty canvas, with matplotlib set as pictures need it, whatever the user's own settings are."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        # Names may hold signs that the font lacks: the SVG shows them by the reader's fonts, the PNG has boxes.
        warnings.filterwarnings("ignore", message="Glyph ", category=UserWarning)
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support", category=UserWarning)
        yield Canvas(Figure(figsize=(WIDTH / _UNIT, 1), dpi=_UNIT, facecolor=PAPER))


def _svg(figure: Figure) -> bytes:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.BytesIO()
    nothing: Mapping[str, None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    FigureCanvasSVG(figure).print_svg(out, metadata=nothing)  # type: ignore[no-untyped-call]
    return out.getvalue()


def _png(figure: Figure, title: str, description: str) -> bytes:
    """Few colours, since there are few: a third of the size."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    figure.set_dpi(_UNIT * _PNG_SCALE)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
    drawn = Image.frombuffer("RGBA", canvas.get_width_height(physical=True), pixels, "raw", "RGBA", 0, 1)
    said = PngInfo()
    said.add_itxt("Title", title)
    said.add_itxt("Description", description)
    out = io.BytesIO()
    few = drawn.convert("RGB").quantize(_PNG_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(out, "png", pnginfo=said)
    return out.getvalue()
