"""What scores rest on as pages say it: where tests come from, how strong made ones are, results on samples alone. Pure.

`static/tables.js` says the same of any window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from db.records import TestOrigin
from eval.editions.document import EditionRun
from eval.render import samples_only_text
from eval.report import Row
from eval.site.cells import Body, Cell, Grid, GridRow, Head, Reasons, count_cell
from eval.site.runs import RunsOf
from eval.site.wording import counted
from eval.test_basis import NOT_RUN_HERE, PRIVATE_PROBLEM, basis_text, basis_to_dict, strength_text
from eval.window import ProblemFacts

OFFICIAL, MADE, RECOVERED, MIXED = "official", "made", "recovered", "of several origins"
NOT_RECORDED, SAMPLES_ALONE = "not recorded", "samples alone"
ORIGINS = (OFFICIAL, MADE, RECOVERED, MIXED, NOT_RECORDED, SAMPLES_ALONE)
"""Where the tests beyond the samples come from; the last of editions in which results on sample tests alone count."""

COLUMN = "tests"
"""The column of both tables of the start page, as scripts call it."""

_WORDS = {TestOrigin.OFFICIAL: OFFICIAL, TestOrigin.GENERATED: MADE, TestOrigin.RECOVERED: RECOVERED}


def origin_word(facts: ProblemFacts, *, counts_samples: bool) -> str | None:
    """The origin of a problem's tests, one of `ORIGINS`; None where none can be under a score.

    ``counts_samples``: the edition scores results on sample tests alone, and has no record of origins.
    """
    if not facts.n_tests or (facts.samples_only and not counts_samples):
        return None
    if facts.samples_only:
        return SAMPLES_ALONE
    origins = facts.hidden_origins
    if not origins:
        return NOT_RECORDED
    return _WORDS[origins[0]] if len(origins) == 1 else MIXED


def basis_cell(basis: Mapping[str, Any] | None, n_on_samples: int = 0) -> Cell:
    """Where the tests under a score come from, in short, from the basis as JSON values; None: no program was run here.

    ``n_on_samples`` problems count by their samples alone.
    """
    if basis is None:
        return Cell(NOT_RUN_HERE)
    counts = [basis[name] for name in ("n_official", "n_made", "n_recovered", "n_mixed", "n_not_recorded")]
    told = ", ".join(f"{n} {word}" for n, word in zip((*counts, n_on_samples), ORIGINS, strict=True) if n)
    strength = basis.get("strength")
    if strength and strength["n_wrong"]:
        told += f"; made ones fail {strength['n_wrong_killed']}/{strength['n_wrong']} known-wrong"
    return Cell(told)


def own_basis_cell(runs: RunsOf, row: Row, reasons: Reasons) -> Cell:
    """The same of a run's row."""
    if row.tests is not None and not row.n_judged:
        return reasons.empty("no problem was judged")
    return basis_cell(basis_to_dict(row.tests), runs.numbers.counted_on_samples.get(row.run, 0))


def common_basis_cell(run: EditionRun, group: Mapping[str, Any], reasons: Reasons) -> Cell:
    """The same of the group of the common table that a run is in; ``group`` are its values in the sheet."""
    if run.imported:
        return Cell(NOT_RUN_HERE)
    if "tests" not in group:
        return Cell(NOT_RECORDED)
    return basis_cell(group["tests"]) if group["n_problems"] else reasons.empty("there is no common problem")


def basis_table(runs: RunsOf) -> Grid | None:
    """What the tests of each row are, in full, and beside it the results on sample tests alone; None where no row rests
    on tests here."""
    rows = [row for row in runs.numbers.own.rows if row.tests is not None]
    if not rows:
        return None
    reasons = Reasons()
    n_on_samples = runs.numbers.counted_on_samples
    origins = ORIGINS if runs.edition.counts_samples else ORIGINS[:-1]
    heads = (
        Head("model"),
        *(Head(word, is_number=True) for word in origins),
        Head("what made tests fail"),
        Head("weakest made tests"),
        Head("on samples alone, not in the score", is_number=True),
    )
    body = tuple(
        GridRow(
            (
                Cell(row.run, href=f"{runs.links[row.run]}#tests"),
                *_counts(row, n_on_samples.get(row.run, 0))[: len(origins)],
                _strength_cell(row, reasons),
                _weakest_cell(runs, row, reasons),
                _apart_cell(runs, row, reasons),
            )
        )
        for row in rows
    )
    caption = "Problems of each row by the origin of their tests beyond the samples"
    return Grid("tests", caption, heads, (Body(body),), tuple(reasons.texts))


def _counts(row: Row, n_on_samples: int) -> list[Cell]:
    assert row.tests is not None  # rows without are left out
    tests = row.tests
    counts = (tests.n_official, tests.n_made, tests.n_recovered, tests.n_mixed, tests.n_not_recorded, n_on_samples)
    return [count_cell(n) for n in counts]


def _strength_cell(row: Row, reasons: Reasons) -> Cell:
    if row.tests is None or row.tests.strength is None:
        return reasons.empty("no made test whose strength is known")
    return Cell(strength_text(row.tests.strength))


def _weakest_cell(runs: RunsOf, row: Row, reasons: Reasons) -> Cell:
    weakest = None if row.tests is None else row.tests.weakest
    if weakest is None:
        return reasons.empty("no made test was tried on known-wrong programs")
    slug = runs.published.problem_slugs.get(weakest.problem or "")
    failed = f"{weakest.n_wrong_killed} of {weakest.n_wrong} known-wrong programs"
    return Cell(weakest.problem or PRIVATE_PROBLEM, href=f"problems/{slug}.html" if slug else "", lines=(failed,))


def _apart_cell(runs: RunsOf, row: Row, reasons: Reasons) -> Cell:
    if runs.edition.counts_samples:
        return reasons.empty("such results count in the scores of this edition")
    apart = row.samples_only
    if apart is None:
        return reasons.empty("no result on sample tests alone")
    share = f"{100 * apart.n_correct / apart.n_samples:.1f} %"
    return Cell(share, lines=(f"of {counted(apart.n_samples, 'sample')}, {counted(apart.n_problems, 'problem')}",))


def rules_of_tests(runs: RunsOf) -> str:
    """By which tests results count in this edition, in a sentence."""
    if runs.all_imported:
        return f"{NOT_RUN_HERE}: every result was published by others, and rests on tests of theirs"
    if runs.edition.counts_samples:
        return (
            "results on the samples of a statement alone count in this edition, as they did when it was frozen; where "
            "other tests come from was not recorded then"
        )
    return (
        "a result counts only on a problem with tests beyond the samples of its statement: official ones, made here or "
        "recovered; results on sample tests alone are reported apart and never ranked"
    )


def told_basis(runs: RunsOf, run: EditionRun, row: Row | None) -> Iterator[str]:
    """Sentences for the page of a run: what its tests are, and what became of problems with sample tests alone."""
    if run.imported:
        yield "No program of this run was run here, so nothing is known of the tests that its results rest on."
        return
    if row is None:
        yield "The run has no score, so no tests stand under one."
        return
    n_on_samples = runs.numbers.counted_on_samples.get(row.run, 0)
    if n_on_samples:
        yield (
            f"{counted(n_on_samples, 'problem')} of its row had sample tests alone, which counted in scores when this "
            "edition was frozen; a program that has learned the samples passes them."
        )
    text = basis_text(row.tests)
    yield f"{text[:1].upper()}{text[1:]}." if text else "No problem was judged."
    if row.samples_only is not None:
        text = samples_only_text(row.samples_only)
        yield f"{text[:1].upper()}{text[1:]}. A program that has learned the samples passes them."
