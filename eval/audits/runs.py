"""Whether runs are fit to be judged at all: easy problems month by month, lost answers, other answers than before.

A broken run looks exactly like contamination, so this comes before any gap is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from db.answer_counts import AnswersOfRun
from eval import sheets
from eval.audits.refusals import grouped
from eval.audits.selection import Selection
from eval.board import Board
from eval.cautions import answer_cautions, differing_fields
from eval.generate.extraction import explain
from eval.generate.health import RunHealth, without_program
from eval.sheets import Sheet, Table
from eval.statistics.run_health import (
    MAX_Z,
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


Rules = Mapping[tuple[str, str], int]
"""How many answers have each status by each rule of extraction (`eval.generate.extraction.RULES`)."""


@dataclass(frozen=True)
class RunsAudit:
    """The health of each run: its months, its answers (None where programs are not in the store), its namesakes.

    ``asked`` is how asking for its answers went, as far as they were searched for programs, and ``rules`` counts these
    by status and rule of extraction. ``by_label`` says whether easy problems are those labelled so, or (where nothing
    is) those that most runs solve.
    """

    selection: Selection
    months: tuple[PeriodHealth, ...]
    answers: tuple[AnswerHealth | None, ...]
    counts: tuple[AnswerCounts | None, ...]
    asked: tuple[RunHealth | None, ...]
    rules: tuple[Rules, ...]
    others: tuple[OtherAnswers, ...]
    by_label: bool

    @property
    def shown_months(self) -> tuple[PeriodHealth, ...]:
        """The months of the runs that were asked for."""
        rows = set(self.selection.shown)
        return tuple(one for one in self.months if one.model in rows)

    @property
    def withheld(self) -> NDArray[np.bool_]:
        """The cells (runs x problems) of the months that cannot be trusted."""
        board = self.selection.board
        return withheld_cells(self.months, months_of(board), len(board.runs))


def audit_runs(
    selection: Selection,
    answers: Mapping[int, AnswersOfRun],
    rules: Mapping[int, Rules] = MappingProxyType({}),
    failures: Mapping[int, Mapping[str, int]] = MappingProxyType({}),
    *,
    months: tuple[PeriodHealth, ...] | None = None,
) -> RunsAudit:
    """Judge the runs of a selection. By run id: ``answers`` are those of the store, ``rules`` how programs were found
    in them, ``failures`` the samples without an answer by reason. ``months`` are the board's, judged already."""
    board = selection.board
    ids = [-1 if run.run_id is None else run.run_id for run in board.runs]
    found = [answers.get(run_id) for run_id in ids]
    counts = tuple(None if one is None else _counts(one) for one in found)
    return RunsAudit(
        selection,
        judged_months(board) if months is None else months,
        tuple(None if one is None else answer_health(one) for one in counts),
        counts,
        tuple(_asked(one, failures.get(run_id)) for run_id, one in zip(ids, found, strict=True)),
        tuple(rules.get(run_id, {}) for run_id in ids),
        tuple(_namesakes(selection)),
        _easy(board)[1],
    )


def _asked(found: AnswersOfRun | None, failures: Mapping[str, int] | None) -> RunHealth | None:
    if found is None:
        return None if failures is None else RunHealth({}, failures)
    return RunHealth(found.statuses, failures or {"failed": found.n_failed})


def judged_months(board: Board, *, screen: float = 0.0) -> tuple[PeriodHealth, ...]:
    """Each run in each month of publication, by its easy problems; ``screen`` as :func:`easy_guard` has it."""
    return easy_guard(board.scores, _easy(board)[0], months_of(board), screen=screen) if board.problems else ()


def left_out_lines(names: Sequence[str], months: Iterable[PeriodHealth]) -> Iterator[str]:
    """For each broken month a line that says that an audit leaves it out."""
    for one in months:
        if one.withheld:
            yield (
                f"left out: results of {names[one.model]} in {month_name(one.period)} (broken run: z {one.z:.1f} on "
                "easy problems; see live audit runs)"
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
    shown = set(selection.shown)
    for first, second in combinations(range(len(models)), 2):
        if not shown & {first, second}:
            continue
        if models[first].casefold() == models[second].casefold():
            fields = differing_fields([board.runs[first].conditions, board.runs[second].conditions])
            change = changed_answers(board.scores[first], board.scores[second])
            yield OtherAnswers(board.names[first], board.names[second], change, tuple(fields))


def runs_sheet(audit: RunsAudit) -> Sheet:
    """Months that are withheld or odd, shares of lost answers, and runs of one name that differ."""
    tables = [_month_table(audit), _answer_table(audit)]
    if any(audit.rules[row] for row in audit.selection.shown):
        tables.append(_rule_table(audit))
    if audit.others:
        tables.append(_namesake_table(audit))
    broken = [one for one in audit.shown_months if one.withheld]
    notes = [_advice(audit, one) for one in broken]
    if broken:
        notes.append(
            "live audit contamination, composition, difficulty and memorisation leave broken months out by themselves; "
            "live eval (every table), live compare and live audit stability, weights, saturation and split keep them "
            "and say so: give these a window without them (--since, --until)"
        )
    if not audit.by_label and audit.selection.board.problems:
        notes.append('no problem is labelled "easy": those that runs solve at 80 % or more stand in')
    return Sheet("Run health", audit.selection.described(), tuple(tables), tuple(notes), _as_dict(audit))


def _advice(audit: RunsAudit, one: PeriodHealth) -> str:
    run, name = audit.selection.board.runs[one.model], audit.selection.board.names[one.model]
    fewer = "fewer" if one.z is not None and one.z < 0 else "more"
    what = (
        "look for answers that are empty, cut off or refused"
        if fewer == "fewer"
        else "look at how these were graded, and whether it is the rest of the run that is broken"
    )
    again = "ask whoever published them, and import sound ones" if run.imported else "then ask the model again"
    return (
        f"{name}: results of {month_name(one.period)} should not be used: {fewer} easy problems solved than the rest "
        f"of the run lets one expect; {what}; {again}"
    )


def _month_table(audit: RunsAudit) -> Table:
    columns = (
        sheets.text("model"),
        sheets.text("month"),
        sheets.count("easy problems"),
        sheets.percent("solved"),
        sheets.percent("expected"),
        sheets.number("z", 1),
        sheets.text("remark"),
    )
    judged = [one for one in audit.shown_months if one.z is not None]
    odd = [one for one in judged if one.z is not None and abs(one.z) > SHOWN_Z]
    rows = tuple(
        (
            audit.selection.board.names[one.model],
            month_name(one.period),
            one.n_easy,
            one.observed,
            one.expected,
            one.z,
            "broken" if one.withheld else "",
        )
        for one in sorted(odd, key=lambda one: abs(one.z or 0), reverse=True)
    )
    return Table("Easy problems, by month", columns, rows, tuple(_month_notes(audit, len(judged), len(rows))))


def _month_notes(audit: RunsAudit, n_judged: int, n_odd: int) -> Iterator[str]:
    refusals = sorted({one.refusal.split(",")[0] for one in audit.shown_months if one.refusal is not None})
    if not n_judged:
        yield f"no month can be judged: {'; '.join(refusals) or 'there are no results'}"
        return
    others = len(audit.shown_months) - n_judged
    yield (
        f"{n_judged} months of runs were judged; "
        + (f"shown: the {n_odd} with |z| > {SHOWN_Z:g}" if n_odd else f"none has |z| > {SHOWN_Z:g}")
        + (f"; {others} others were not: {'; '.join(refusals)}" if others else "")
    )
    yield f"z: solved minus expected easy problems, in standard errors; beyond {MAX_Z:g} either way a month is broken"


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
    rows, warnings = [], []
    for row in audit.selection.shown:
        name, counts, health = names[row], audit.counts[row], audit.answers[row]
        if counts is None or health is None:
            warnings += [(name, line) for line in _without_answers(audit, row)]
            continue
        rows.append(
            (name, counts.asked, health.empty, health.truncated, health.failed, health.timed_out, health.all_equal)
        )
        warnings += [(name, warning) for warning in health.warnings]
        asked = audit.asked[row]
        if asked is not None:
            lacking = without_program(asked.statuses)
            warnings += [(name, line) for line in answer_cautions(asked.n_answers, asked.n_failed, lacking)]
    notes = list(grouped(warnings))
    imported = sum(
        audit.counts[row] is None and audit.selection.board.runs[row].imported for row in audit.selection.shown
    )
    if imported:
        runs = "run is an imported result: its" if imported == 1 else "runs are imported results: their"
        notes.append(f"{imported} {runs} answers are not in the store")
    notes.append(
        "percent of all answers, judged or not; failed = ended with an error, did not compile, or went over a limit of "
        "memory or output; timed out = over the time limit; copies = problems whose samples are all the same program"
    )
    return Table("Answers", columns, tuple(rows), tuple(notes))


def _without_answers(audit: RunsAudit, row: int) -> Iterator[str]:
    asked = audit.asked[row]
    if asked is not None:
        yield f"no answers yet: {asked.n_failed} requests failed"
    elif not audit.selection.board.runs[row].imported:
        yield "no answers yet"


def _rule_table(audit: RunsAudit) -> Table:
    columns = (
        sheets.text("model"),
        sheets.text("status"),
        sheets.text("rule"),
        sheets.count("answers"),
        sheets.percent("share"),
        sheets.text("what was found"),
    )
    rows = []
    for row in audit.selection.shown:
        rules = audit.rules[row]
        n_answers = sum(rules.values())
        rows += [
            (audit.selection.board.names[row], status, rule, n, n / n_answers, explain(rule))
            for (status, rule), n in _by_frequency(rules)
        ]
    return Table("Answers by rule", columns, tuple(rows))


def _by_frequency(rules: Rules) -> list[tuple[tuple[str, str], int]]:
    return sorted(rules.items(), key=lambda item: (-item[1], item[0]))


def _namesake_table(audit: RunsAudit) -> Table:
    columns = (
        sheets.text("run"),
        sheets.text("and"),
        sheets.count("common"),
        sheets.count("changed"),
        sheets.percent("changed, %"),
        sheets.text("remark"),
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


def month_name(period: int) -> str:
    """A month of ``months_of`` as it is written."""
    return "no date" if period < 0 else f"{period // 12}-{period % 12 + 1:02}"


def _fields(one: AnswerCounts | AnswerHealth | None) -> dict[str, Any] | None:
    return None if one is None else asdict(one)


def _as_dict(audit: RunsAudit) -> dict[str, Any]:
    names = audit.selection.board.names
    return {
        "months": [
            {**asdict(one), "model": names[one.model], "period": month_name(one.period)} for one in audit.shown_months
        ],
        "answers": [
            {
                "model": names[row],
                "counts": _fields(audit.counts[row]),
                "asked": None if (asked := audit.asked[row]) is None else asked.as_dict(),
                "rules": [
                    {"status": status, "rule": rule, "answers": n}
                    for (status, rule), n in _by_frequency(audit.rules[row])
                ],
                **(_fields(audit.answers[row]) or {}),
            }
            for row in audit.selection.shown
        ],
        "same_name": [
            {"first": one.first, "second": one.second, **asdict(one.change), "settings": one.settings}
            for one in audit.others
        ],
    }
