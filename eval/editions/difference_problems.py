"""What became of the problems between two editions as tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from eval import sheets
from eval.audits.refusals import named
from eval.editions.difference_lines import LONGEST_ID, LONGEST_REASON, N_SHOWN, cut, instant, plain
from eval.editions.problem_changes import ChangedFlag, ProblemChanges
from eval.sheets import Cell, Table


def problem_tables(found: ProblemChanges) -> Iterator[Table]:
    """How many problems moved and which, then what became of their tests, flags, dates and labels."""
    yield _problems(found)
    yield _tests(found)
    yield _flags(found)
    yield _dates(found)
    yield _labels(found)


def _problems(one: ProblemChanges) -> Table:
    """How many problems moved, and which; private ones are only counted."""
    private = one.private
    lists: list[tuple[str, Sequence[str]]] = [
        ("new", one.came),
        ("no longer there", one.gone),
        ("withdrawn", one.withdrawn),
        ("no longer withdrawn", one.reinstated),
        ("flagged, or a flag taken off or reworded", _distinct(flag.problem for flag in one.flags)),
        *(
            (f"other tests: {kind}", [each.problem for each in one.tests if each.kind == kind])
            for kind in _distinct(each.kind for each in one.tests)
        ),
        ("strength of made tests measured anew", [each.problem for each in one.strengths]),
        ("other statement", one.statements),
        ("date moved", [moved.problem for moved in one.dates]),
        ("other difficulty", [label.problem for label in one.difficulties]),
        *(
            (f"other {field}", [each.problem for each in one.details if field in each.fields])
            for field in _distinct(name for each in one.details for name in each.fields)
        ),
    ]
    counts = [
        ("private problems that came", private.came),
        ("private problems that are gone", private.gone),
        ("made private", private.made_private),
        ("made public", private.made_public),
        ("private problems that changed", private.changed),
    ]
    rows: list[tuple[Cell, ...]] = [
        (what, len(ids), named([plain(name, LONGEST_ID) for name in ids], N_SHOWN)) for what, ids in lists if ids
    ]
    rows += [(what, n, "not named") for what, n in counts if n]
    return Table("Problems", (sheets.text("what"), sheets.count("problems"), sheets.text("which")), tuple(rows))


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _tests(found: ProblemChanges) -> Table:
    """What became of the tests of each problem, and of results on it; then what was measured anew of made ones."""
    columns = (
        sheets.text("problem"),
        sheets.text("what"),
        sheets.text("before"),
        sheets.text("after"),
        sheets.count("runs re-judged"),
        sheets.count("with another result"),
        sheets.count("not judged again"),
    )
    rows: list[tuple[Cell, ...]] = [
        (one.problem, one.kind, one.before, one.after, one.n_rejudged, one.n_other_results, one.n_unjudged)
        for one in found.tests
    ]
    rows += [(one.problem, "measured anew", one.before, one.after, None, None, None) for one in found.strengths]
    table = cut("Tests", columns, rows)
    note = "re-judged: runs with a result before that have one by the tests of now; imported results know no tests here"
    return replace(table, notes=(*table.notes, note)) if found.tests else table


def _flags(found: ProblemChanges) -> Table:
    columns = tuple(map(sheets.text, ("problem", "flag", "what", "effect", "reason")))
    rows = [
        (one.problem, one.flag, one.change.value, _effect(one), plain(one.reason, LONGEST_REASON))
        for one in found.flags
    ]
    return cut("Flags", columns, rows, n_keys=2)


def _effect(one: ChangedFlag) -> str:
    return "keeps it out of scores" if one.keeps_out else "only informs"


def _dates(found: ProblemChanges) -> Table:
    columns = tuple(map(sheets.text, ("problem", "before", "after")))
    rows = [
        (
            one.problem,
            _dated(one.before, one.before_precision.value),
            _dated(one.after, one.after_precision.value),
        )
        for one in found.dates
    ]
    return cut("Dates from which problems may have been public", columns, rows, name="dates")


def _dated(at: datetime | None, precision: str) -> str | None:
    return None if at is None else f"{instant(at)} ({precision})"


def _labels(found: ProblemChanges) -> Table:
    columns = tuple(map(sheets.text, ("problem", "before", "after")))
    rows = [(one.problem, one.before, one.after) for one in found.difficulties]
    return cut("Labels of difficulty", columns, rows, name="difficulties")
