"""The tables as compact Markdown for READMEs: a caption that says what was measured, then the rows. Pure.

What is shown are the rows of ``data/results.json``, rounded. Names and other text from outside are escaped. A run leads
to its page where the site's address is known, else its cut-off to its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any
from urllib.parse import quote

from eval import sheets
from eval.audits.refusals import grouped, named
from eval.exports._result_rows import (
    COMMON,
    EQUATED,
    ESTIMATED,
    NO_INTERVAL,
    OWN,
    REFITS,
    RULES,
    TABLES,
    result_rows,
)
from eval.exports._tests import row_texts
from eval.publishing.publication import File, Published
from eval.render import DIGEST_LENGTH, STATUS_MARKS
from eval.report import TOO_FEW_PROBLEMS, utc_text
from eval.sheets import NO_NUMBER, Cell, Column, markdown_row, markdown_text, span

NAME = "markdown"
DESCRIPTION = "The tables as Markdown with captions that say what was measured, for READMEs"
NO_RUN = "no run"

_UNQUOTED = "/:?#@!$&'*+,;=%~-._"
_TITLES = {
    OWN: "each run on the problems published after its own cut-off; no ranks, since rows rest on different problems",
    COMMON: (
        'all runs on the same problems; ranks are the ranges that the evidence allows with 95 %: "rank" for one run '
        'looked at alone, "all at once" for all together'
    ),
    EQUATED: "scores estimated for one reference set by item response theory; they were not measured",
}
_METHODS = {
    "contest_t": "clustered by contest, Student's t",
    "contest_wilson": "clustered by contest, Wilson near 0 or 1",
    "exact": "Clopper and Pearson where all problems are alike",
    "item_wilson": "Wilson where there are few contests",
    REFITS: "refits of the model to contests drawn anew",
    NO_INTERVAL: "none where there are too few problems",
}
Row = Mapping[str, Any]


def files(published: Published) -> Iterator[File]:
    """tables/own.md, tables/common.md and tables/equated.md."""
    for which in TABLES:
        yield File(f"tables/{which}.md", table_markdown(published, which).encode())


def table_markdown(published: Published, which: str) -> str:
    """The table "own", "common" or "equated", ended by a line feed.

    Where no run has a number, "no run" stands in the place of rows, with the reasons. Raises ``ValueError`` for a table
    that does not exist.
    """
    if which not in TABLES:
        raise ValueError(f'there is no table "{which}": write {", ".join(TABLES)}')
    rows = [row for row in result_rows(published) if row["table"] == which]
    lines = [_caption(published, which, rows), ""]
    if any(row["pass_at_1"] is not None for row in rows):
        lines += _parts(published, which, rows)
    else:
        lines += [NO_RUN if not rows else f"{NO_RUN} has a number in this table", ""]
    notes = [f"- {markdown_text(note)}" for note in _notes(published, rows)]
    return "\n".join([*lines, *notes]).rstrip("\n") + "\n"


def _caption(published: Published, which: str, rows: Sequence[Row]) -> str:
    edition = published.edition
    name = markdown_text(f"Edition {published.name}")
    facts = [
        f"digest {published.build_id}",
        f"data as of {utc_text(edition.as_of)}",
        f"built {utc_text(published.frozen_at)} by {edition.software}",
    ]
    measured = [_TITLES[which], *_measured(published, which, rows), _settings_text(rows, edition.settings.margin_hours)]
    return (
        f"{_link(name, published.base_url)} ({markdown_text('; '.join(facts))}): {markdown_text('. '.join(measured))}."
    )


def _measured(published: Published, which: str, rows: Sequence[Row]) -> Iterator[str]:
    """The window, the rule behind it, the problems and the kind of interval, as sentences."""
    if which == OWN:
        yield "Window: from the instant in the row on"
        yield f"Rule: {RULES[which]}"
        yield f"Problem set of all rows: {published.edition.numbers.own.problem_set_digest[:DIGEST_LENGTH]}"
    else:
        window = _window_text(rows[0]) if rows else "no problem"
        yield f"{'Window' if which == COMMON else 'Reference set'}: {window}"
        yield f"Rule: {RULES[which]}"
        digests = {row["problem_set_digest"][:DIGEST_LENGTH] for row in rows if row["problem_set_digest"] is not None}
        if digests:
            yield f"Problem set: {', '.join(sorted(digests))}"
    methods = {_METHODS[row["interval_method"]] for row in rows if row["pass_at_1"] is not None}
    if methods:
        yield f"95 % intervals: {'; '.join(sorted(methods))}"


def _window_text(row: Row) -> str:
    since, until = row["window_from"], row["window_to"]
    published = "at any date" if since is None and until is None else f"in [{since or '...'}, {until or '...'})"
    return f"{row['n_eligible'] or 0} problems published {published}"


def _settings_text(rows: Sequence[Row], margin_hours: float) -> str:
    settings = rows[0]["settings"] if rows else {}
    platforms, difficulties = settings.get("platforms"), settings.get("difficulties")
    flagged = "flagged problems counted" if settings.get("include_flagged") else "flagged problems left out"
    return (
        f"Settings: margin {margin_hours:g} h, platforms {', '.join(platforms) if platforms else 'all'}, "
        f"difficulties {', '.join(difficulties) if difficulties else 'all'}, {flagged}, public problems alone"
    )


def _parts(published: Published, which: str, rows: Sequence[Row]) -> Iterator[str]:
    """The lines of each table: one for each group of runs that are ranked together, else one."""
    if which != COMMON:
        yield from _table(published, which, rows)
        return
    for group in sorted({row["rank_group"] for row in rows if row["rank_group"] is not None}):
        members = [row for row in rows if row["rank_group"] == group]
        heading = f"{members[0]['n_judged']} problems of {members[0]['n_contests']} contests"
        yield f"{markdown_text(heading + (f', runs with {group}' if group else ''))}:"
        yield ""
        yield from _table(published, which, members)


def _table(published: Published, which: str, rows: Sequence[Row]) -> Iterator[str]:
    columns = _COLUMNS[which]
    yield markdown_row(["run", "cut-off", *(column.heading for column, _ in columns)])
    yield markdown_row(["---", "---", *("---:" if column.is_number else "---" for column, _ in columns)])
    for row in sorted(rows, key=_ORDERS[which]):
        cells = (markdown_text(column.text(cell(row))) for column, cell in columns)
        yield markdown_row([_run(published, row), _cutoff(published, row), *cells])
    yield ""


def _run(published: Published, row: Row) -> str:
    name = markdown_text(row["run"])
    page = f"models/{published.run_slugs[row['run']]}.html"
    return _link(name, None if published.base_url is None else published.base_url + page)


def _cutoff(published: Published, row: Row) -> str:
    if row["cutoff"] is None:
        return NO_NUMBER
    written = markdown_text(row["cutoff"] + STATUS_MARKS[row["cutoff_status"]])
    return _link(written, row["cutoff_source"] if published.base_url is None else None)


def _link(written: str, url: str | None) -> str:
    """Escaped text as a link, where the address is one of the web."""
    if url is None or not url.startswith(("https://", "http://")):
        return written
    return f"[{written}]({quote(url, safe=_UNQUOTED)})"


def _score(row: Row) -> Cell:
    """The score; a count where there are too few problems for a rate."""
    score: float | None = row["pass_at_1"]
    n_problems = row["n_judged"]
    if score is None or row["score_kind"] == ESTIMATED or n_problems >= TOO_FEW_PROBLEMS:
        return score
    return f"{score * n_problems:.3g} of {n_problems}"


def _interval(row: Row) -> Cell:
    return None if isinstance(_score(row), str) else span(row["ci_low"], row["ci_high"])


_COLUMNS: dict[str, tuple[tuple[Column, Callable[[Row], Cell]], ...]] = {
    OWN: (
        (sheets.text("from (UTC)"), itemgetter("window_from")),
        (sheets.count("judged"), itemgetter("n_judged")),
        (sheets.count("eligible"), itemgetter("n_eligible")),
        (sheets.count("samples"), itemgetter("n_samples")),
        (sheets.percent("pass@1, %"), _score),
        (sheets.interval("95 % interval"), _interval),
    ),
    COMMON: (
        (sheets.percent("pass@1, %"), _score),
        (sheets.interval("95 % interval"), _interval),
        (sheets.from_to("rank"), lambda row: span(row["rank_low"], row["rank_high"])),
        (
            sheets.from_to("all at once"),
            lambda row: span(row["rank_simultaneous_low"], row["rank_simultaneous_high"]),
        ),
        (sheets.count("tier"), itemgetter("tier")),
        (sheets.count("lacks"), itemgetter("n_missing")),
        (sheets.count("samples"), itemgetter("n_samples")),
    ),
    EQUATED: (
        (sheets.count("own problems"), itemgetter("n_judged")),
        (sheets.count("samples"), itemgetter("n_samples")),
        (sheets.percent("estimated, %"), _score),
        (sheets.interval("95 % interval"), _interval),
        (sheets.percent("answered, %"), itemgetter("answered_share")),
    ),
}


def _by_window(row: Row) -> tuple[bool, str, str]:
    return row["window_from"] is None, row["window_from"] or "", row["run"]


def _by_score(row: Row) -> tuple[bool, float, str]:
    """Best first, what has no number last, equal ones by name."""
    score = row["pass_at_1"]
    return score is None, -(score or 0.0), row["run"]


_ORDERS: dict[str, Callable[[Row], tuple[bool, Any, str]]] = {OWN: _by_window, COMMON: _by_score, EQUATED: _by_score}


def _notes(published: Published, rows: Sequence[Row]) -> Iterator[str]:
    """Why there are no numbers or ranks, what is odd, and who was taken out."""
    yield from grouped((row["run"], f"no number: {row['reason']}") for row in rows if row["pass_at_1"] is None)
    if any(row["cutoff_status"] == "assumed" and row["pass_at_1"] is not None for row in rows):
        yield "a cut-off marked ? is a release date, used where nothing is stated of the training data"
    for months in sorted({tuple(row["broken_months"]) for row in rows if row["broken_months"]}):
        names = [row["run"] for row in rows if tuple(row["broken_months"]) == months]
        yield f"{named(names)}: results of {named(list(months))} look broken"
    common = [row for row in rows if row["table"] == COMMON and row["pass_at_1"] is not None]
    yield from grouped((row["run"], row["rank_reason"] and f"no rank: {row['rank_reason']}") for row in common)
    yield from grouped((row["run"], text) for row in rows if row["pass_at_1"] is not None for text in row_texts(row))
    withdrawn = published.edition.withdrawn
    yield from (f"withdrawn: {name}: {withdrawn[name]}" for name in sorted(withdrawn))
