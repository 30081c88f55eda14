"""What the problems cover: months and difficulties under the models' cut-offs, and bands that tell models apart."""

from __future__ import annotations

from collections.abc import Iterator

from eval import sheets
from eval.pictures import Picture
from eval.pictures._band_drawing import sentence
from eval.pictures._calendar import month_text
from eval.pictures._canvas import drawing
from eval.pictures._coverage_data import Coverage, coverage_of
from eval.pictures._coverage_drawing import draw_coverage, measured
from eval.pictures._measured import counted
from eval.plain_text import one_line
from eval.publishing.publication import Published
from eval.sheets import Table

NAME = "coverage"


def pictures(published: Published) -> Iterator[Picture]:
    """One picture of the whole edition."""
    shown = coverage_of(published)
    title, alt = f"What the problems of edition {published.name} cover", _alt(shown)
    with drawing() as canvas:
        draw_coverage(canvas, shown)
        svg, png = canvas.finish(title, f"{alt} Measured: {'; '.join(measured(shown))}.")
    yield Picture(NAME, one_line(title), one_line(alt), svg, png, _table(shown, title))


def _alt(shown: Coverage) -> str:
    """The picture in words."""
    sentences = [f"{counted(shown.total())} by month of publication and difficulty{_span(shown)}"]
    sentences += [f"{platform}: {', '.join(_levels(shown, platform))}" for platform in shown.counts]
    if shown.marks:
        first, last = shown.marks[0].after, shown.marks[-1].after
        after = sum(
            one.facts.exposed_at is not None and one.facts.exposed_at >= last
            for one in shown.published.edition.problems
        )
        models = f"{shown.n_models} model{'' if shown.n_models == 1 else 's'}"
        ends = f"end {first:%Y-%m-%d}" if first == last else f"end between {first:%Y-%m-%d} and {last:%Y-%m-%d}"
        sentences.append(f"The cut-offs of {models} {ends}; {counted(after)} later than all of them")
    if shown.bands is None:
        sentences.append(f"No bands of difficulty: {shown.refusal}")
    else:
        sentences.append(sentence(shown.bands).removesuffix("."))
    return ". ".join(sentences) + "."


def _span(shown: Coverage) -> str:
    if shown.calendar is None:
        return ""
    return f", {month_text(shown.calendar.first)} to {month_text(shown.calendar.last)}"


def _levels(shown: Coverage, platform: str) -> Iterator[str]:
    for label in shown.labels:
        n = shown.total(platform, label)
        if n:
            yield f"{n} {label}"


def _table(shown: Coverage, title: str) -> Table:
    """Months by platform as rows; cut-offs and bands as notes."""
    months = sorted({(month, platform) for platform, counts in shown.counts.items() for month, _ in counts})
    columns = (
        sheets.text("month"),
        sheets.text("platform"),
        *(sheets.count(label) for label in shown.labels),
        sheets.count("problems"),
    )
    rows: list[tuple[sheets.Cell, ...]] = []
    for month, platform in months:
        counts = [shown.counts[platform].get((month, label), 0) for label in shown.labels]
        rows.append((month_text(month), platform, *counts, sum(counts)))
    return Table(title, columns, tuple(rows), tuple(_notes(shown)), n_keys=2, name=NAME)


def _notes(shown: Coverage) -> Iterator[str]:
    for one in shown.marks:
        assumed = " (release date stands in)" if one.is_assumed else ""
        yield f"cut-off ends {one.after:%Y-%m-%dT%H:%MZ}{assumed}: {', '.join(one.models)}"
    if shown.bands is None:
        yield f"no bands: {shown.refusal}"
    else:
        for band in shown.bands.bands:
            weight = "" if band.information is None else f", {100 * band.information:.1f} % of information"
            lack = "" if band.gap is None else f" ({band.gap})"
            yield f"band {band.low:+.2f} to {band.high:+.2f}: {counted(band.n_problems)}{weight}{lack}"
        for model in shown.bands.abilities:
            error = "" if model.se is None else f", s.e. {model.se:.2f}"
            yield f"ability of {model.name}: {model.value:+.2f}{error}"
        yield sentence(shown.bands)
    yield from measured(shown)
