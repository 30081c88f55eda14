"""Findings about problems as a reader gets them: a table with its legend, and the commands that set problems aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from eval import sheets
from eval.audits.problems import Finding, ProblemAudit, Signal
from eval.sheets import Sheet, Table

_LEGENDS = {
    Signal.UNSOLVED: (
        "labelled easy or medium, and so many of the strongest models and of all models with results solve it; models "
        "like the strongest all fail with this chance"
    ),
    Signal.OTHER_ANSWER: (
        "so many independent sources differ alike from the expected answer, and so many give it; so few would with "
        "this chance"
    ),
    Signal.MANY_ANSWERS: (
        "independent sources give so many answers other than the expected one, and so many give it; so few would with "
        "this chance"
    ),
    Signal.REFERENCES_DISAGREE: (
        "programs that are given as right answer otherwise on inputs that tests were made from; such a problem is out "
        "of scores until somebody has looked and types live problems unflag ID references_disagree"
    ),
    Signal.ANSWERS_DIFFER: (
        "completions that pass the samples answer otherwise on many inputs that tests were made from, or a right "
        "program fails a made test (live tests show ID)"
    ),
    Signal.REVERSED: "models that do worse elsewhere do better here; r is the item-rest correlation",
    Signal.SAMPLES_ONLY: "all tests are shown in the statement, so that a table of them passes",
}


def problems_sheet(audit: ProblemAudit, *, show_weak: bool = False) -> Sheet:
    """One row for each finding, and the commands under them; weak ones only if they are asked for."""
    listed = audit.findings if show_weak else audit.strong
    numbers = _numbers(listed)
    columns = [sheets.text("problem"), sheets.text("signal"), sheets.text("evidence")]
    flagged = any(one.flags for one in listed)
    if flagged:
        columns.append(sheets.text("flagged already"))
    columns += [sheets.for_programs(sheets.number(name)) for name in numbers]
    rows = tuple(
        (
            one.problem,
            _signal(one),
            one.brief or one.sentence,
            *([", ".join(one.flags) or None] if flagged else []),
            *(_whole(one.evidence.get(name)) for name in numbers),
        )
        for one in listed
    )
    notes = tuple(_notes(audit, show_weak))
    tables = [Table(_title(audit, listed), tuple(columns), rows, notes, n_keys=2, name="findings")]
    commands = tuple((one.command,) for one in listed if one.command is not None)
    if commands:
        tables.append(Table("To set one aside, once you have looked at it", (sheets.command("command"),), commands))
    return Sheet(
        title="Problems that may be broken",
        conditions=(
            f"{audit.n_problems} problems, {audit.n_statements} statements, {audit.n_solutions} judged programs of "
            f"{audit.groups.count} {audit.groups.unit}",
            *audit.selection.described(),
        ),
        tables=tuple(tables),
        data={
            "findings": [asdict(one) for one in listed],
            "n_strong": _counts(audit.strong),
            "n_weak": _counts(one for one in audit.findings if one.weak),
            "n_problems": audit.n_problems,
            "n_statements": audit.n_statements,
            "n_solutions": audit.n_solutions,
            "groups": audit.groups.count,
            "group_unit": audit.groups.unit,
        },
    )


def _title(audit: ProblemAudit, listed: Sequence[Finding]) -> str:
    problems = len({one.problem for one in listed})
    return f"{len(listed)} findings about {problems} problems" if listed else "Nothing was found"


def _numbers(findings: Iterable[Finding]) -> list[str]:
    """The names of what the evidence of these findings counts or measures."""
    return list(
        dict.fromkeys(
            name
            for one in findings
            for name, value in one.evidence.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        )
    )


def _whole(value: float | None) -> float | None:
    """A count as a whole number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _signal(finding: Finding) -> str:
    return f"{finding.signal} (weak)" if finding.weak else str(finding.signal)


def _counts(findings: Iterable[Finding]) -> dict[str, int]:
    return {str(signal): count for signal, count in Counter(one.signal for one in findings).items()}


def _notes(audit: ProblemAudit, show_weak: bool) -> Iterator[str]:
    yield "a finding is a reason to look, not a verdict; nothing is set aside until somebody types the command"
    listed = audit.findings if show_weak else audit.strong
    signals = {one.signal for one in listed}
    yield from (f"{signal}: {legend}" for signal, legend in _LEGENDS.items() if signal in signals)
    if any(one.signal in {Signal.OTHER_ANSWER, Signal.MANY_ANSWERS} for one in listed):
        yield (
            "answers are compared by how they first differ from the expected one: equal outputs differ alike, and what "
            "differs alike is mostly, not always, equal"
        )
        if audit.groups.unit == "models":
            yield "each model counts as independent, for there are fewer than 5 providers: agreement is overstated"
    yield from audit.unseen
    weak = _counts(one for one in audit.findings if one.weak)
    if weak and not show_weak:
        named = ", ".join(f"{count} {signal}" for signal, count in weak.items())
        yield f"weak signals, listed with --all: {named}"
