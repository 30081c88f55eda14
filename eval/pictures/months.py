"""pass@1 of each run by month of publication, with its cut-off: one picture for each run that has a result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eval import sheets
from eval.eligibility import NotScored
from eval.pictures import Picture
from eval.pictures._canvas import drawing
from eval.pictures._measured import counted, stands_in
from eval.pictures._month_drawing import draw_months, measured
from eval.pictures._month_marks import Point, Subject, When, subjects
from eval.plain_text import one_line
from eval.publishing.publication import Published
from eval.report import TOO_FEW_PROBLEMS
from eval.sheets import Table

NAME = "months"


def pictures(published: Published) -> Iterator[Picture]:
    """One for each run, in the order of the runs."""
    for subject in subjects(published):
        yield _picture(subject)


def _picture(subject: Subject) -> Picture:
    title, alt = f"{subject.run.name}: pass@1 by month of publication", _alt(subject)
    with drawing() as canvas:
        draw_months(canvas, subject)
        svg, png = canvas.finish(title, f"{alt} {_whole(subject)}.")
    slug = subject.published.run_slugs[subject.run.name]
    return Picture(f"{NAME}-{slug}", one_line(title), one_line(alt), svg, png, _table(subject, title))


def _whole(subject: Subject) -> str:
    """What was measured, with what is too long for the foot of the picture."""
    parts = [*measured(subject)]
    conditions = ", ".join(f"{name} {value}" for name, value in sorted(subject.run.conditions.items()))
    parts.append(f"settings: {conditions or 'not known'}")
    parts.append(f"results: {'imported from ' + subject.run.origin if subject.run.imported else 'judged here'}")
    return "Measured: " + "; ".join(parts)


def _alt(subject: Subject) -> str:
    """The picture in words: how much, on what, before and after the cut-off."""
    points = subject.together.points
    months = f"{points[0].score.month} to {points[-1].score.month}"
    total = counted(subject.together.n_problems)
    sentences = [f"pass@1 of {subject.run.name} by month of publication, {total}, {months}"]
    used = subject.cutoff
    if isinstance(used, NotScored):
        sentences.append(f"No cut-off: {used.reason}; {_mean(points)}")
    else:
        stated = "Its release date stands in for the cut-off:" if stands_in(used) else "Its cut-off is"
        sentences.append(f"{stated} {used.cutoff.in_words}")
        before = [one for one in points if one.when is When.SEEN]
        sentences.append(f"In the months before it: {_mean(before)}")
        sentences.append(f"On the problems after it: {_own(subject)}")
    few = sum(one.is_few for one in points)
    if few:
        sentences.append(
            f"Months with fewer than {TOO_FEW_PROBLEMS} problems, which have no rate: {few} of {len(points)}"
        )
    if subject.broken:
        sentences.append(f"It looks broken in {', '.join(subject.broken)}")
    return ". ".join(sentences) + "."


def _mean(points: Iterable[Point]) -> str:
    chosen = list(points)
    n = sum(one.score.n_problems for one in chosen)
    if n < TOO_FEW_PROBLEMS:
        return f"{counted(n)}, too few for a rate" if n else "no problem"
    return f"{100 * sum(one.score.n_solved for one in chosen) / n:.1f} % of {counted(n)}"


def _own(subject: Subject) -> str:
    score = None if subject.row is None else subject.row.pass_at_1
    if score is None or score.value is None:
        return "no result"
    if not score.is_rate:
        return f"{counted(score.n_problems)}, too few for a rate"
    between = "" if score.ci_low is None or score.ci_high is None else f" (95 %: {_range(score.ci_low, score.ci_high)})"
    return f"{100 * score.value:.1f} %{between} of {counted(score.n_problems)}"


def _range(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f}"


def _table(subject: Subject, title: str) -> Table:
    several = len(subject.panels) > 1
    columns = (
        sheets.text("month"),
        *((sheets.text("platform"),) if several else ()),
        sheets.count("problems"),
        sheets.number("solved"),
        sheets.percent("pass@1"),
        sheets.interval(),
        sheets.text("with regard to the cut-off", key="when"),
        sheets.text("remark"),
    )
    rows = tuple(
        (
            one.score.month,
            *((panel.platform or "all",) if several else ()),
            one.score.n_problems,
            one.score.n_solved,
            one.score.score,
            sheets.span(one.score.low, one.score.high),
            str(one.when),
            _remark(one),
        )
        for panel in subject.panels
        for one in panel.points
    )
    return Table(
        title, columns, rows, tuple(measured(subject)), n_keys=2 if several else 1, name=f"{NAME} {subject.run.name}"
    )


def _remark(point: Point) -> str:
    few = [f"fewer than {TOO_FEW_PROBLEMS} problems: no rate"] if point.is_few else []
    return "; ".join([*few, *(["looks broken"] if point.score.is_broken else [])])
