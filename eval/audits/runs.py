"""Whether runs are fit to be judged at all: easy problems month by month, lost answers, other answers than before.

A broken run looks exactly like contamination, so this comes before any gap is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from db.answer_counts import AnswersOfRun
from eval import sheets
from eval.audits.selection import Selection
from eval.board import Board
from eval.cautions import differing_fields
from eval.sheets import Sheet, Table
from eval.statistics.run_health import (
    AnswerCounts,
    AnswerHealth,
    Change,
    PeriodHealth,
    answer_health,
    changed_answers,
    easy_guard,
    withheld_cells,
)
from sandbox import Verdict

TRUNCATED = frozenset({"length", "max_tokens", "max_output_tokens"})
"""The finish reasons that say that an answer was cut off."""

FAILED = (Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR, Verdict.MEMORY_LIMIT, Verdict.OUTPUT_LIMIT)
EASY = "easy"
EASILY_SOLVED = 0.8
SHOWN_Z = 3.0


@dataclass(frozen=True)
class OtherAnswers:
    """Two runs of one model, by name, and how far their results differ; ``settings`` are the fields that differ."""

    first: str
    second: str
    change: Change
    settings: tuple[str, ...]


@dataclass(frozen=True)
class RunsAudit:
    """The health of each run: its months, its answers (None where programs are not in the store), its namesakes.

    ``by_label`` says whether easy problems are those labelled so, or (where nothing is) those that most runs solve.
    """

    selection: Selection
    months: tuple[PeriodHealth, ...]
    answers: tuple[AnswerHealth | None, ...]
    counts: tuple[AnswerCounts | None, ...]
    others: tuple[OtherAnswers, ...]
    by_label: bool

    @property
    def withheld(self) -> NDArray[np.bool_]:
        """The cells (runs x problems) of the months that cannot be trusted."""
        board = self.selection.board
        return withheld_cells(self.months, months_of(board), len(board.runs))


def audit_runs(selection: Selection, answers: Mapping[int, AnswersOfRun]) -> RunsAudit:
    """Judge the runs of a selection; ``answers`` are those of the store, by run id."""
    board = selection.board
    counts = tuple(
        _counts(answers[run.run_id]) if run.run_id is not None and run.run_id in answers else None for run in board.runs
    )
    easy, by_label = _easy(board)
    return RunsAudit(
        selection,
        easy_guard(board.scores, easy, months_of(board)) if board.problems else (),
        tuple(None if one is None else answer_health(one) for one in counts),
        counts,
        tuple(_namesakes(selection)),
        by_label,
    )


def months_of(board: Board) -> NDArray[np.int64]:
    """The month of each problem's publication (UTC), as 12 * year + month - 1; -1 without a date."""
    instants = (one.exposed_at for one in board.problems)
    return np.array([-1 if at is None else 12 * at.year + at.month - 1 for at in instants], dtype=np.int64)


def _easy(board: Board) -> tuple[NDArray[np.bool_], bool]:
    labelled = np.array([name.casefold() == EASY for name in board.difficulties], dtype=np.bool_)
    if labelled.any():
        return labelled, True
    counts = board.seen.sum(axis=0)
    means = np.where(board.seen, board.scores, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return np.asarray(means >= EASILY_SOLVED), False


def _counts(found: AnswersOfRun) -> AnswerCounts:
    return AnswerCounts(
        asked=found.n_answers,
        empty=found.n_empty,
        truncated=found.n_truncated,
        failed=sum(found.verdicts[verdict] for verdict in FAILED),
        timed_out=found.verdicts[Verdict.TIME_LIMIT],
        repeated=found.n_repeated,
        all_equal=found.n_all_equal,
        distinct=found.n_distinct,
    )


def _namesakes(selection: Selection) -> Iterator[OtherAnswers]:
    board = selection.board
    models = [
        entry.name if entry is not None else run.model for run, entry in zip(board.runs, selection.entries, strict=True)
    ]
    for first, second in combinations(range(len(models)), 2):
        if models[first].casefold() == models[second].casefold():
            fields = differing_fields([board.runs[first].conditions, board.runs[second].conditions])
            change = changed_answers(board.scores[first], board.scores[second])
            yield OtherAnswers(board.names[first], board.names[second], change, tuple(fields))


def runs_sheet(audit: RunsAudit) -> Sheet:
    """Months that are withheld or odd, shares of lost answers, and runs of one name that differ."""
    tables = [_month_table(audit), _answer_table(audit)]
    if audit.others:
        tables.append(_namesake_table(audit))
    broken = [one for one in audit.months if one.withheld]
    names = audit.selection.board.names
    notes = [f"{names[one.model]}: results of {_month(one.period)} should not be used" for one in broken]
    notes.append(
        f"z: solved minus expected easy problems, in standard errors; beyond 5 a month is broken ({len(audit.months)} "
        "months of runs looked at)"
    )
    if not audit.by_label:
        notes.append('no problem is labelled "easy": those that runs solve at 80 % or more stand in')
    return Sheet("Run health", audit.selection.described(), tuple(tables), tuple(notes), _as_dict(audit))


def _month_table(audit: RunsAudit) -> Table:
    columns = (
        sheets.text("model"),
        sheets.text("month"),
        sheets.count("easy problems"),
        sheets.percent("solved"),
        sheets.percent("expected"),
        sheets.number("z", 1),
        sheets.text(""),
    )
    odd = [one for one in audit.months if one.z is not None and abs(one.z) > SHOWN_Z]
    rows = tuple(
        (
            audit.selection.board.names[one.model],
            _month(one.period),
            one.n_easy,
            one.observed,
            one.expected,
            one.z,
            "broken" if one.withheld else "",
        )
        for one in sorted(odd, key=lambda one: abs(one.z or 0), reverse=True)
    )
    judged = sum(one.z is not None for one in audit.months)
    notes = (
        [f"{judged} months of runs have 5 easy problems or more; none of them is odd"] if judged and not rows else []
    )
    refusals = {one.refusal.split(",")[0] for one in audit.months if one.refusal is not None}
    if not judged:
        notes.append("no month can be judged: " + "; ".join(sorted(refusals)) if refusals else "no month can be judged")
    return Table("Easy problems, by month", columns, rows, tuple(notes))


def _answer_table(audit: RunsAudit) -> Table:
    columns = (
        sheets.text("model"),
        sheets.count("answers"),
        sheets.percent("empty"),
        sheets.percent("cut off"),
        sheets.percent("failed"),
        sheets.percent("timed out"),
        sheets.percent("copies"),
    )
    names = audit.selection.board.names
    rows, notes = [], []
    for name, counts, health in zip(names, audit.counts, audit.answers, strict=True):
        if counts is None or health is None:
            continue
        rows.append(
            (name, counts.asked, health.empty, health.truncated, health.failed, health.timed_out, health.all_equal)
        )
        notes += [f"{name}: {warning}" for warning in health.warnings]
    imported = len(names) - len(rows)
    if imported:
        notes.append(f"{imported} runs are imported results: their answers are not in the store")
    notes.append(
        "percent of answers; failed = ended with an error or over memory, timed out = over the time limit, copies = "
        "problems whose samples are all the same program"
    )
    return Table("Answers", columns, tuple(rows), tuple(notes))


def _namesake_table(audit: RunsAudit) -> Table:
    columns = (
        sheets.text("run"),
        sheets.text("and"),
        sheets.count("common"),
        sheets.count("changed"),
        sheets.percent("changed, %"),
        sheets.text(""),
    )
    rows = tuple(
        (one.first, one.second, one.change.n_common, one.change.n_changed, one.change.share, _said(one))
        for one in audit.others
    )
    return Table("Same name, same problems, other answers", columns, rows)


def _said(one: OtherAnswers) -> str:
    if one.change.refusal is not None:
        return one.change.refusal
    if one.settings:
        return "under other settings: " + "; ".join(one.settings)
    return "the model behind the name or the harness is another" if one.change.alarm else ""


def _month(period: int) -> str:
    return "no date" if period < 0 else f"{period // 12}-{period % 12 + 1:02}"


def _as_dict(audit: RunsAudit) -> dict[str, Any]:
    names = audit.selection.board.names
    return {
        "months": [{**asdict(one), "model": names[one.model], "period": _month(one.period)} for one in audit.months],
        "answers": [
            {"model": name, "counts": counts and asdict(counts), **(asdict(health) if health else {})}
            for name, counts, health in zip(names, audit.counts, audit.answers, strict=True)
        ],
        "same_name": [
            {"first": one.first, "second": one.second, **asdict(one.change), "settings": one.settings}
            for one in audit.others
        ],
    }
