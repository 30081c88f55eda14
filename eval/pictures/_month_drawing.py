"""How a month picture is drawn: a panel for each platform, marks with bars, the cut-off through all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eval.eligibility import NotScored
from eval.pictures._calendar import month_of
from eval.pictures._canvas import EDGE, LEFT, RIGHT, SMALL, TEXT, WIDTH, Canvas, DrawMark, name_months, width_of
from eval.pictures._measured import INTERVALS, counted, edition_text, published_span, stands_in, window_text
from eval.pictures._month_marks import Panel, Point, Subject, When
from eval.pictures._shapes import Bar, Fill, Style, bars, crosses, marks, spans
from eval.pictures._theme import AFTER, BEFORE, BROKEN, INK, LINE, MUTED, OTHER, SEEN, SEEN_MORE, TAG
from eval.report import TOO_FEW_PROBLEMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TALL, _LOW, _STRIP = 150.0, 62.0, 24.0
_LARGE = 9.0
_MOST_COUNTED = 48
"""With more months there is no room for the number of problems beside a mark."""

_STYLES = {
    When.SEEN: Style("s", BEFORE),
    When.PART: Style("D", BEFORE),
    When.UNSEEN: Style("o", AFTER),
    When.UNKNOWN: Style("^", INK),
}


def draw_months(canvas: Canvas, subject: Subject) -> None:
    """The whole picture of a run."""
    total = counted(subject.together.n_problems)
    edition = subject.published.name
    canvas.head(subject.run.name, f"pass@1 by month of publication · edition {edition} · {total}")
    canvas.legend(list(_legend(subject)))
    _name_cutoff(canvas, subject)
    for number, panel in enumerate(subject.panels):
        strip = _draw_panel(canvas, subject, panel, f"{TAG}{number}-")
    name_months(canvas, strip, subject.calendar)
    canvas.foot("; ".join(measured(subject)))


def measured(subject: Subject) -> Iterator[str]:
    """What the picture rests on."""
    yield edition_text(subject.published)
    yield published_span(subject.published)
    yield window_text(subject.cutoff, subject.published.edition.settings.margin_hours)
    if subject.row is not None:
        row = subject.row
        yield f"there {row.n_judged} of {counted(row.n_eligible)}, set {row.problem_set_digest[:12]}"
    least, most = min(subject.run.n_samples, default=0), max(subject.run.n_samples, default=0)
    samples = f"{least}" if least == most else f"{least} to {most}"
    yield f"{samples} sample{'' if samples == '1' else 's'} for each problem"
    yield INTERVALS


def _legend(subject: Subject) -> Iterator[tuple[DrawMark, str]]:
    for when in subject.whens:
        yield _sample(_STYLES[when]), str(when)
    if subject.has_few:
        hollow = _sample(_STYLES[subject.whens[-1]], hollow=True)
        yield hollow, f"hollow: fewer than {TOO_FEW_PROBLEMS} problems, no rate"
    yield _sample_bar(1.8, INK), "95 %"
    if not isinstance(subject.cutoff, NotScored) and subject.cutoff.cutoff.first < subject.cutoff.cutoff.last:
        yield _sample_bar(14, SEEN_MORE), "days that the cut-off names"
    yield _sample_bar(7, OTHER), "number of problems (n)"
    if subject.broken:
        yield _sample_cross, f"looks broken: {', '.join(subject.broken)}"


def _sample(style: Style, *, hollow: bool = False) -> DrawMark:
    return lambda page, x, y: marks(page, [x], [y], style, _LARGE, hollow=hollow)


def _sample_bar(width: float, colour: str) -> DrawMark:
    def draw(page: Axes, x: float, y: float) -> None:
        page.plot([x, x], [y - 7, y + 7], color=colour, linewidth=width)

    return draw


def _sample_cross(page: Axes, x: float, y: float) -> None:
    crosses(page, [x], [y], BROKEN)


def _name_cutoff(canvas: Canvas, subject: Subject) -> None:
    """The cut-off in words over its line, or why there is no line."""
    used, length = subject.cutoff, subject.calendar.length
    if isinstance(used, NotScored):
        canvas.lines(f"no cut-off: {used.reason}", TEXT, bold=True, most=2)
        canvas.top += 4
        return
    text = f"cut-off ? released {used.cutoff.in_words}" if stands_in(used) else f"cut-off {used.cutoff.in_words}"
    place = subject.calendar.place(used.cutoff.after)
    text = f"← {text}" if place < 0 else f"{text} →" if place > length else text
    half = width_of(text, TEXT, bold=True) / 2
    x = LEFT + (WIDTH - LEFT - RIGHT) * min(max(place / length, 0), 1)
    canvas.top += TEXT + 2
    canvas.write(min(max(x, EDGE + half), WIDTH - EDGE - half), canvas.top, text, fontweight="bold", ha="center")
    canvas.top += 6


def _draw_panel(canvas: Canvas, subject: Subject, panel: Panel, tag: str) -> Axes:
    """One platform: shares over its calendar, and under them how many problems each month has."""
    canvas.heading(panel.platform or "all platforms", counted(panel.n_problems))
    canvas.top += 12
    axes = canvas.panel(_TALL if panel.has_rate else _LOW)
    axes.set_xlim(0, subject.calendar.length)
    axes.set_ylim(0, 1)
    ticks = [0, 0.5, 1] if panel.has_rate else [0, 1]
    axes.set_yticks(ticks, [f"{tick:.0%}".replace("%", " %") for tick in ticks])
    axes.hlines(ticks, 0, subject.calendar.length, color=LINE, linewidth=1, gid=f"{tag}grid", zorder=1)
    _draw_points(axes, subject, panel, tag)
    canvas.top += 9
    strip = canvas.panel(_STRIP)
    _draw_counts(strip, subject, panel, tag)
    for one in (axes, strip):
        _shade(one, subject, tag if one is axes else "")
    canvas.top += 14
    return strip


def _draw_points(axes: Axes, subject: Subject, panel: Panel, tag: str) -> None:
    size = min(_LARGE, max(3.5, 300 / subject.calendar.length))
    for when, style in _STYLES.items():
        for is_few in (False, True):
            chosen = [one for one in panel.points if one.when is when and one.is_few is is_few]
            if not chosen:
                continue
            x = [subject.calendar.middle(month_of(one.score.month)) for one in chosen]
            name = f"{tag}{when.name.lower()}{'-few' if is_few else ''}"
            marks(axes, x, [one.share for one in chosen], style, size, hollow=is_few, tag=name)
            if is_few and subject.calendar.length <= _MOST_COUNTED:
                _name_counts(axes, x, chosen, size)
            if not is_few:
                _bars(axes, x, chosen, style, f"{name}-95")
    broken = [one for one in panel.points if one.score.is_broken]
    if broken:
        x = [subject.calendar.middle(month_of(one.score.month)) for one in broken]
        crosses(axes, x, [one.share for one in broken], BROKEN, f"{tag}broken")


def _bars(axes: Axes, x: Sequence[float], points: Sequence[Point], style: Style, tag: str) -> None:
    """The 95 % intervals of the months that have one."""
    known = [
        (at, one.score.low, one.score.high)
        for at, one in zip(x, points, strict=True)
        if one.score.low is not None and one.score.high is not None
    ]
    spans(axes, known, style.colour, tag)


def _name_counts(axes: Axes, x: Sequence[float], points: Sequence[Point], size: float) -> None:
    """How many problems hollow marks rest on, under a mark or over one that is low."""
    for at, one in zip(x, points, strict=True):
        below = one.share > 0.5
        axes.annotate(
            str(one.score.n_problems),
            (at, one.share),
            (0, -size / 2 - 3 if below else size / 2 + 3),
            textcoords="offset points",
            ha="center",
            va="top" if below else "baseline",
            fontsize=SMALL,
            color=MUTED,
        )


def _draw_counts(strip: Axes, subject: Subject, panel: Panel, tag: str) -> None:
    counts = [one.score.n_problems for one in panel.points]
    strip.set_xlim(0, subject.calendar.length)
    strip.set_ylim(0, max(counts))
    strip.set_yticks([max(counts) / 2], [f"n ≤ {max(counts)}"])
    strip.tick_params(axis="y", labelsize=SMALL)
    x = [subject.calendar.middle(month_of(one.score.month)) for one in panel.points]
    bars(strip, [Bar(at, 0, n) for at, n in zip(x, counts, strict=True)], 0.62, Fill(OTHER, OTHER), f"{tag}n")


def _shade(axes: Axes, subject: Subject, tag: str) -> None:
    """What may have been seen is shaded, a coarse cut-off from its first day on more so; a line at its end."""
    used, calendar = subject.cutoff, subject.calendar
    if isinstance(used, NotScored) or subject.unseen_from is None:
        return
    first, after, end = (
        min(max(calendar.place(one), 0.0), float(calendar.length))
        for one in (used.cutoff.first, used.cutoff.after, subject.unseen_from)
    )
    if end > 0:
        axes.axvspan(0, end, color=SEEN, linewidth=0, zorder=0, gid=f"{tag}seen-span" if tag else None)
    if after > first:
        axes.axvspan(first, after, color=SEEN_MORE, linewidth=0, zorder=0.5, gid=f"{tag}cutoff-span" if tag else None)
    if 0 <= calendar.place(used.cutoff.after) <= calendar.length:
        style = (0, (4, 3)) if stands_in(used) else "solid"
        axes.axvline(after, color=INK, linewidth=1.8, linestyle=style, zorder=2.5, gid=f"{tag}cutoff" if tag else None)
