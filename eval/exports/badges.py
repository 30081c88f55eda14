"""A badge for each run, as the JSON that shields.io's endpoint badge reads.

Format: https://shields.io/badges/endpoint-badge (schemaVersion, label, message, color).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eval.exports._naming import json_file, one_line
from eval.exports._run_records import RunRecord, margin_text, run_records
from eval.publishing.publication import File, Published
from eval.render import interval_text, share_text
from eval.report import Row

NAME = "badges"
DESCRIPTION = "badges/RUN.json: a badge for each run, for shields.io's endpoint"

LABEL = "livecut pass@1"
LONGEST_MESSAGE = 80
"""Characters: a badge is one line in somebody's README."""

LONGEST_CUTOFF = 24
_MONTHS_NAMED = 2

_RATE, _NO_RATE = "blue", "lightgrey"
"""No colour says good or bad: scores of different windows are not to be set beside each other."""


def files(published: Published) -> Iterator[File]:
    """A badge for every run; one without a rate, or that looks broken, says so and has no number."""
    for record in run_records(published):
        is_broken = bool(published.edition.numbers.broken_months.get(record.run.name))
        badge = {
            "schemaVersion": 1,
            "label": LABEL,
            "message": _message(published, record),
            "color": _NO_RATE if record.rated is None or is_broken else _RATE,
        }
        yield json_file(f"badges/{record.slug}.json", badge)


def _message(published: Published, record: RunRecord) -> str:
    row = record.row
    if row is None:
        return _shortened(f"not scored: {record.reason}", LONGEST_MESSAGE)
    after = _after(row, published.edition.settings.margin_hours)
    if row.pass_at_1.value is None:
        return _shortened(f"not scored: no problem {after} was judged", LONGEST_MESSAGE)
    months = published.edition.numbers.broken_months.get(record.run.name, ())
    said = one_line(f"run looks broken {_in_months(months)}: no score {after}" if months else _scored(row, after))
    imported = f"{said} (imported)" if record.run.imported else said
    return imported if len(imported) <= LONGEST_MESSAGE else _shortened(said, LONGEST_MESSAGE)


def _in_months(months: Sequence[str]) -> str:
    return f"in {', '.join(months)}" if len(months) <= _MONTHS_NAMED else f"in {len(months)} months"


def _scored(row: Row, after: str) -> str:
    score = row.pass_at_1
    if not score.is_rate:
        return f"{share_text(score)} {_problems(score.n_problems)} {after}"
    span = "no interval" if score.ci_low is None else f"[{interval_text(score)}]"
    between = ", " if score.ci_low is None else " "
    return f"{share_text(score)}{between}{span}, {score.n_problems} {_problems(score.n_problems)} {after}"


def _problems(count: int) -> str:
    return "problem" if count == 1 else "problems"


def _after(row: Row, margin_hours: float) -> str:
    """After which cut-off: its words, the margin, and whether the release date stands in for it."""
    margin = f" + {margin_text(margin_hours)}" if margin_hours else ""
    assumed = " (release)" if row.cutoff_status == "assumed" else ""
    return f"after {_shortened(row.cutoff or 'no cut-off', LONGEST_CUTOFF)}{margin}{assumed}"


def _shortened(text: str, longest: int) -> str:
    line = one_line(text)
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
