"""What the page of one problem says: its dates with their evidence, its tests and flags, and every run on it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from db.records import MadeStrength, Precision, TestOrigin
from eval.editions.document import EditionProblem
from eval.editions.tests_in_words import origins_text
from eval.render import written_cutoff
from eval.report import utc_text
from eval.site.cells import Body, Cell, Grid, GridRow, Head, Reasons, count_cell, is_web_link, moment_text
from eval.site.runs import RunsOf
from eval.site.standing import Standing, Standings
from eval.site.wording import PRECISIONS, counted, spaced
from eval.statistics.intervals import wilson
from eval.window import ProblemFacts, Reason, flag_reason

UNTITLED = "untitled"


def problem_values(runs: RunsOf, standings: Standings, problem: EditionProblem) -> dict[str, Any]:
    """Everything that the template of a problem's page takes."""
    facts = problem.facts
    return {
        "problem": problem,
        "heading": heading(problem),
        "link": problem.url if is_web_link(problem.url) else None,
        "exposed": date_words(facts),
        "exposed_before": utc_text(facts.exposed_before),
        "released": _released(problem),
        "evidence": evidence_table(problem),
        "tests": tests_words(facts),
        "strength": None if facts.strength is None else strength_grid(facts.strength),
        "is_made": TestOrigin.GENERATED in facts.hidden_origins,
        "is_recorded": not runs.edition.counts_samples,
        "flags": tuple(flag_words(facts, include_flagged=runs.edition.settings.include_flagged)),
        "status": spaced(problem.status),
        "results": results_table(runs, standings, problem),
        "imported": any(run.imported for run in runs.edition.runs),
    }


def heading(problem: EditionProblem) -> str:
    """A problem's title, or a word for one that has none."""
    return problem.title.strip() or UNTITLED


def date_words(facts: ProblemFacts) -> str:
    """The first instant at which a problem may have been public, and how finely that is known."""
    if facts.exposed_at is None:
        return "not known"
    return f"{moment_text(facts.exposed_at)} UTC, {PRECISIONS[facts.exposed_precision]}"


def _released(problem: EditionProblem) -> str:
    if problem.released_at is None:
        return "not known"
    return f"{moment_text(problem.released_at)} UTC, {PRECISIONS[problem.released_precision or Precision.INSTANT]}"


def evidence_table(problem: EditionProblem) -> Grid:
    """Every claim of its date as it was written; the first one decides."""
    rows = tuple(
        GridRow(
            (
                Cell(claim.as_written),
                Cell(f"{moment_text(claim.earliest)}"),
                Cell(PRECISIONS[claim.precision]),
                Cell(claim.source, href=claim.source if is_web_link(claim.source) else ""),
                Cell("this one" if number == 0 else "no"),
            )
        )
        for number, claim in enumerate(problem.evidence)
    )
    heads = ("as written", "earliest instant (UTC)", "known", "source", "decides")
    return Grid("evidence", "What is claimed of its date", tuple(map(Head, heads)), (Body(rows),))


def tests_words(facts: ProblemFacts) -> str:
    """How many tests there are, and where those beyond the samples come from."""
    if not facts.n_tests:
        return "none here: only imported results count"
    tests = counted(facts.n_tests, "test")
    if facts.samples_only:
        tests += ", the samples of its statement only"
    else:
        origins = origins_text(facts)
        tests += f"; beyond the samples of its statement: {origins or 'of an origin that is not recorded'}"
    return tests + (", with a checker of its own" if facts.has_checker else "")


def strength_grid(strength: MadeStrength) -> Grid:
    """What made tests do to programs of which is known what they are, kind by kind."""
    reasons = Reasons()
    kinds = (
        ("known-wrong programs", strength.n_wrong, strength.n_wrong_killed, "all of them"),
        ("right programs with one thing changed (mutants)", strength.n_mutants, strength.n_mutants_killed, "many"),
        ("known to be too slow", strength.n_slow, strength.n_slow_killed, "all of them"),
    )
    rows = tuple(
        GridRow(
            (
                Cell(what),
                count_cell(n),
                count_cell(failed),
                Cell(f"{100 * failed / n:.1f} %") if n else reasons.empty("there was no such program to try"),
                _wilson(n, failed, reasons),
                Cell(wanted),
            )
        )
        for what, n, failed, wanted in kinds
    )
    heads = (
        Head("programs"),
        Head("tried", is_number=True),
        Head("fail", is_number=True),
        Head("share", is_number=True),
        Head("95 %", is_number=True),
        Head("should fail"),
    )
    caption = "What its made tests do to programs of which is known what they are"
    n, n_aside = strength.n_right, strength.n_right_killed
    aside = f"; what {n_aside} of them failed was set aside" if n_aside else ""
    right = (
        f"of {counted(n, 'program')} known to be right these tests fail none{aside}"
        if n
        else "no other program known to be right was there to try"
    )
    return Grid("strength", caption, heads, (Body(rows),), tuple(reasons.texts), (right,))


def _wilson(n: int, failed: int, reasons: Reasons) -> Cell:
    if not n:
        return reasons.empty("there was no such program to try")
    low, high = wilson(failed / n, n)
    return Cell(f"{100 * low:.1f}–{100 * high:.1f}")


def flag_words(facts: ProblemFacts, *, include_flagged: bool) -> Iterator[tuple[str, str, str]]:
    """Each flag with its reason, and what it does."""
    for name, why in facts.flags:
        effect = flag_reason(name, has_checker=facts.has_checker, has_made_tests=facts.has_made_tests)
        if effect is None:
            does = "for information: it keeps the problem out of no score"
        elif include_flagged:
            does = "would keep it out of scores; this edition scores flagged problems"
        else:
            does = "keeps it out of every score"
        yield spaced(name), why, does


def results_table(runs: RunsOf, standings: Standings, problem: EditionProblem) -> Grid:
    """Every run on the problem: its result, whether its model may have seen it, and whether it counts."""
    reasons = Reasons()
    rows = []
    for run in runs.in_order:
        one = standings.of(problem, run.name)
        row = runs.rows.get(run.name)
        rows.append(
            GridRow(
                (
                    Cell(run.name, href=runs.links[run.name]),
                    Cell(written_cutoff(row)) if row is not None and row.cutoff else reasons.empty("no usable cut-off"),
                    Cell(one.counts) if one.n_samples else reasons.empty(_without_result(one, run.imported)),
                    Cell(one.exposure),
                    Cell(_counting(one)),
                )
            )
        )
    heads = (
        Head("model"),
        Head("cut-off"),
        Head("passed", is_number=True),
        Head("published"),
        Head("counts in its row"),
    )
    return Grid(
        "results", "Samples that passed of all that were judged", heads, (Body(tuple(rows)),), tuple(reasons.texts)
    )


def _counting(one: Standing) -> str:
    if one.is_apart:
        return f"no: {one.reason}" if one.reason == Reason.SAMPLES_ONLY else f"no: {one.reason}; sample tests only"
    return f"no: {one.reason}" if one.reason else "yes"


def _without_result(one: Standing, imported: bool) -> str:
    return "no imported result" if imported else "no judged sample"
