"""A report for people and programs: a table for the terminal, Markdown, CSV, JSON.

Every form carries the window, the cut-off with its status and link, the counts, the interval's method, what was left
out and why, and the digests. None has ranks: rows rest on different problems.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from rich.console import Console

from db.records import CODE_GENERATION
from eval.cautions import BUILD_HINT, split_lines
from eval.csv_text import write_csv_text
from eval.layout import TextColumn, lay_out
from eval.report import RepairScores, Report, Row, SamplesApart, Score, Stratum, report_to_dict, row_to_dict, utc_text
from eval.sheets import NO_NUMBER, markdown_row, markdown_text, print_columns, print_lines
from eval.test_basis import basis_text
from eval.window import Reason

STATUS_MARKS = {"stated": "", "assumed": "?"}
DIGEST_LENGTH = 12
_REPAIR_COLUMNS = ("before", "repaired")


def print_table(report: Report, console: Console) -> None:
    """Print the table and its footnotes. Colour is the console's business (see NO_COLOR).

    Intervals for k above 1 stand in the footnotes; beside such a column the window's start does too. Columns that do
    not fit the console stand below, beside the models again.
    """
    if report.rows:
        print_columns(console, lay_out(tuple(_columns(report)), console.width))
    print_lines(console, footnotes(report))


def _columns(report: Report) -> Iterator[TextColumn]:
    others = [k for k in _ks(report) if k > 1]
    repairs = any(row.repair for row in report.rows)
    yield TextColumn("model", tuple(_short_name(row, report) for row in report.rows))
    yield TextColumn("cut-off", tuple(map(written_cutoff, report.rows)))
    if not others and not repairs:
        yield TextColumn("from (UTC)", tuple(map(_from, report.rows)))
    yield TextColumn(
        "judged/eligible", tuple(f"{row.n_judged}/{row.n_eligible}" for row in report.rows), is_number=True
    )
    numbers = [(*_score_cells(row, 1), *(_score_cells(row, k)[0] for k in others)) for row in report.rows]
    if repairs:
        numbers = [(*cells, *_repair_cells(row)) for cells, row in zip(numbers, report.rows, strict=True)]
    headings = ("pass@1", "95 %", *(f"pass@{k}" for k in others), *(_REPAIR_COLUMNS if repairs else ()))
    for heading, cells in zip(headings, zip(*numbers, strict=True), strict=True):
        yield TextColumn(heading, cells, is_number=True)


def footnotes(report: Report) -> list[str]:
    """The lines under the table, as plain text: each model's basis, then what holds for the whole table."""
    lines: list[str] = []
    for row in report.rows:
        lines += ["", *_row_notes(row)]
    if report.not_scored:
        lines += ["", "Not scored:"]
        lines += [f"  {model.model}: {model.reason}" for model in report.not_scored]
    return [*lines, "", *table_notes(report)]


def to_markdown(report: Report) -> str:
    """A Markdown table and its notes as a list."""
    ks = _ks(report)
    head = ["model", "cut-off", "window (UTC)", "eligible", "judged", "samples"]
    head += [name for k in ks for name in (f"pass@{k}", "95 % interval")]
    head += ["by difficulty", "by platform"]
    lines = [markdown_row(head), markdown_row(["---"] * 3 + ["---:"] * (3 + 2 * len(ks)) + ["---"] * 2)]
    for row in report.rows:
        cells = [
            markdown_text(row_name(row)),
            _md_cutoff(row),
            window_text(row),
            str(row.n_eligible),
            str(row.n_judged),
            str(row.n_samples),
        ]
        cells += [cell for k in ks for cell in _score_cells(row, k)]
        cells += [markdown_text(_strata_text(row.by_difficulty)), markdown_text(_strata_text(row.by_platform))]
        lines.append(markdown_row(cells))
    lines.append("")
    for row in report.rows:
        notes = [left_out_text(row), samples_only_text(row.samples_only), basis_text(row.tests), *row.warnings]
        notes += [_repair_text(row.repair)] if row.repair else []
        notes += [f"problem by problem: {results_text(row)}"] if row.results else []
        notes += [f"run with {conditions_text(row)}"] if row.conditions else []
        lines.append(
            f"- **{markdown_text(row_name(row))}**: {markdown_text('; '.join(note for note in notes if note))}"
        )
    lines += [
        f"- not scored: **{markdown_text(model.model)}**: {markdown_text(model.reason)}" for model in report.not_scored
    ]
    lines += [f"- {markdown_text(line)}" for line in table_notes(report)]
    return "\n".join(lines) + "\n"


def to_csv(report: Report) -> str:
    """One row for each model's run. Nested values (strata, what was left out, warnings) are JSON in their cells."""
    rows = [row_to_dict(row) for row in report.rows]
    names = list(rows[0]) if rows else ["model"]
    names += [name for row in rows for name in row if name not in names]
    names += ["table_problem_set_digest", "generated_at"]
    lines: list[list[object]] = [list(names)]
    for row in rows:
        row |= {
            "table_problem_set_digest": report.problem_set_digest,
            "generated_at": utc_text(report.generated_at),
        }
        lines.append([_csv_cell(row.get(name)) for name in names])
    return write_csv_text(lines)


def to_json(report: Report) -> str:
    """One JSON document; see ``eval.report.report_to_dict``."""
    return json.dumps(report_to_dict(report), indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def _ks(report: Report) -> list[int]:
    return sorted({score.k for row in report.rows for score in row.scores})


def row_name(row: Row) -> str:
    """The model, with the run's label or the import's origin where there is one."""
    extra = [part for part in (row.label, "" if row.origin == "judged" else row.origin) if part]
    return f"{row.model} ({', '.join(extra)})" if extra else row.model


def _short_name(row: Row, report: Report) -> str:
    """The name without the origin where all rows share it; the notes have it anyway."""
    if len({other.origin for other in report.rows}) > 1:
        return row_name(row)
    return f"{row.model} ({row.label})" if row.label else row.model


def written_cutoff(row: Row) -> str:
    """The cut-off as it is written, with "?" where the release date stands in; "unknown" where there is none."""
    return f"{row.cutoff}{STATUS_MARKS.get(row.cutoff_status or '', '')}" if row.cutoff else "unknown"


def _from(row: Row) -> str:
    if row.window_from is None:
        return "any time"
    return f"{row.window_from:%Y-%m-%d %H}h"


def window_text(row: Row) -> str:
    """The window of a row as half-open UTC instants."""
    return f"[{utc_text(row.window_from) or '...'}, {utc_text(row.window_to) or '...'})"


def _score_cells(row: Row, k: int) -> tuple[str, str]:
    """The score and its interval; a handful of problems is shown as a count, none as no number at all."""
    score = row.score(k)
    if score is None or score.value is None:
        return NO_NUMBER, NO_NUMBER
    return share_text(score), interval_text(score)


def share_text(score: Score) -> str:
    """A score in percent; as a count where there are too few problems for a rate: "7 of 9"."""
    if score.value is None:
        return NO_NUMBER
    if not score.is_rate:
        return f"{score.value * score.n_problems:.3g} of {score.n_problems}"
    return f"{100 * score.value:.1f} %"


def interval_text(score: Score) -> str:
    """The interval of a score in percent, where there is a rate."""
    if score.ci_low is None or score.ci_high is None or not score.is_rate:
        return NO_NUMBER
    return f"{100 * score.ci_low:.1f}–{100 * score.ci_high:.1f}"


def _row_notes(row: Row) -> Iterable[str]:
    yield row_name(row)
    if row.cutoff:
        yield f"  {cutoff_basis(row)}"
    yield f"  window {window_text(row)}; {row.n_judged} problems in {row.n_contests} contests, {samples_text(row)}"
    if row.conditions:
        yield f"  run with {conditions_text(row)}"
    if row.n_judged:
        yield f"  by difficulty: {_strata_text(row.by_difficulty)}"
        yield f"  by platform: {_strata_text(row.by_platform)}"
        yield from (f"  pass@{score.k}: {score_text(score)}" for score in row.scores)
        if row.repair:
            yield f"  {_repair_text(row.repair)}"
        if row.results:
            yield f"  problem by problem: {results_text(row)}"
    else:
        yield f"  {row.pass_at_1.unjudged or 'no problem of the window was judged, so there is no number'}"
    told = (basis_text(row.tests), left_out_text(row), samples_only_text(row.samples_only))
    yield from (f"  {text}" for text in told if text)
    for warning in row.warnings:
        yield f"  note: {warning}"


def cutoff_basis(row: Row) -> str:
    """The cut-off with everything that it rests on."""
    claim = (row.cutoff_kind or "").replace("_", " ") + (f" by {row.cutoff_by}" if row.cutoff_by else "")
    facts = [str(row.cutoff_status), claim, f"precision {row.cutoff_precision}"]
    if row.cutoff_inherited_from:
        facts.insert(0, f"inherited from {row.cutoff_inherited_from}")
    if row.cutoff_looked_up:
        facts.append(f"looked up {row.cutoff_looked_up}")
    facts.append(f"revision {row.cutoff_revision}")
    return f"cut-off {row.cutoff} ({', '.join(facts)}): {row.cutoff_source or 'no source'}"


def score_text(score: Score) -> str:
    """A score with its interval and what that rests on, or why there is none."""
    if score.value is None:
        few = score.n_too_few
        return f"no number: {f'{few} problems have fewer than {score.k} samples' if few else score.reason}"
    if not score.is_rate:
        return f"{share_text(score)}, too few for a rate"
    if score.ci_low is None:
        return f"{share_text(score)}, no interval ({score.n_problems} problems)"
    return f"{share_text(score)}, 95 % {interval_text(score)} ({score.interval_method}, {score.n_contests} contests)"


def samples_text(row: Row) -> str:
    """How many samples there are, and how many of each problem."""
    if row.samples_per_problem is None:
        return "0 samples"
    least, most = row.samples_per_problem
    return f"{row.n_samples} samples ({least if least == most else f'{least} to {most}'} of each)"


def conditions_text(row: Row) -> str:
    """The settings of a run."""
    return ", ".join(f"{name} {value}" for name, value in sorted(row.conditions.items()))


def _repair_cells(row: Row) -> tuple[str, str]:
    return (
        (NO_NUMBER, NO_NUMBER)
        if row.repair is None
        else (share_text(row.repair.before), share_text(row.repair.repaired))
    )


def _repair_text(repair: RepairScores) -> str:
    asked = f"{repair.n_repaired} of {repair.n_asked} failing samples"
    repaired = score_text(repair.repaired) if repair.n_asked else "nothing had to be"
    problems = f"of {repair.repaired.n_problems} problems" if repair.n_asked else "of any problem"
    return f"before the repair: {score_text(repair.before)}; repaired: {asked} {problems}, {repaired}"


def results_text(row: Row) -> str:
    """The problems of a row with accepted and all samples, where they are too few for a rate."""
    return ", ".join(f"{one.problem} {one.n_correct}/{one.n_samples}" for one in row.results)


def most_left_out(row: Row) -> list[tuple[str, int]]:
    """The reasons why problems were left out of a row with their counts, the most frequent first."""
    return sorted(row.left_out.items(), key=lambda item: (-item[1], item[0]))


def left_out_text(row: Row) -> str:
    """How many problems were left out of a row, by reason."""
    if not row.left_out:
        return "nothing left out"
    return "left out: " + ", ".join(f"{count} {reason}" for reason, count in most_left_out(row))


def samples_only_text(apart: SamplesApart | None) -> str:
    """What became of problems that have sample tests alone; "" where there is no result on such."""
    if apart is None:
        return ""
    problems = "1 problem" if apart.n_problems == 1 else f"{apart.n_problems} problems"
    passed = f"{100 * apart.n_correct / apart.n_samples:.1f} % of {apart.n_samples} samples pass"
    return f"on sample tests alone, not in the score: {problems}, {passed}"


def _strata_text(strata: tuple[Stratum, ...]) -> str:
    return ", ".join(f"{stratum.name} {stratum_text(stratum.scores[0])}" for stratum in strata)


def stratum_text(score: Score) -> str:
    """The score of a part of the problems, with their number."""
    text = share_text(score)
    return f"{text} of {score.n_problems}" if score.is_rate else text


def table_notes(report: Report) -> Iterable[str]:
    """What holds for the whole table."""
    if any(row.cutoff_status == "assumed" for row in report.rows):
        yield "Cut-offs marked ? are release dates, used where nothing is stated of the training data."
    if report.settings.get("cutoffs_as_of"):
        yield f"Cut-offs as they were known on {report.settings['cutoffs_as_of']}."
    if len(report.rows) > 1:
        if len({row.problem_set_digest for row in report.rows}) > 1:
            yield "Rows rest on different problems: they are sorted by cut-off; do not rank them against each other."
        else:
            yield "Rows rest on the same problems; they are sorted by cut-off, not ranked."
    if any(Reason.SAMPLES_ONLY in row.left_out and row.pass_at_1.unjudged is None for row in report.rows):
        yield f"Problems with {Reason.SAMPLES_ONLY} are in no score: {BUILD_HINT}."
    scenario = report.settings.get("scenario", CODE_GENERATION)
    if scenario != CODE_GENERATION:
        yield f"Scenario {scenario}: not to be set beside scores of code generation."
    yield from (f"{line[:1].upper()}{line[1:]}." for line in split_lines(report.settings.get("split", "")))
    if any(row.repair for row in report.rows):
        yield (
            "pass@1 is that after the repair, before that of the same samples before it. repaired: the share of a "
            "problem's failing programs that pass after it, on average over the problems that have such."
        )
    yield from report.notes
    yield f"Problem set {report.problem_set_digest[:DIGEST_LENGTH]}, {_environment(report)}, {_generated(report)}."


def _environment(report: Report) -> str:
    if report.environment_digest is None:
        return "no sandbox environment"
    return f"environment {report.environment_digest[:DIGEST_LENGTH]}"


def _generated(report: Report) -> str:
    return f"made {report.generated_at:%Y-%m-%dT%H:%MZ}"


def _md_cutoff(row: Row) -> str:
    text = markdown_text(written_cutoff(row))
    if row.cutoff_source is None or not row.cutoff_source.startswith(("https://", "http://")):
        return text
    link = row.cutoff_source
    for mark, code in (("|", "%7C"), ("(", "%28"), (")", "%29"), (" ", "%20"), ("<", "%3C"), (">", "%3E")):
        link = link.replace(mark, code)
    return f"[{text}]({link})"


def _csv_cell(value: object) -> object:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else value
