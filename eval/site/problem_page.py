"""What the page of one problem says: its dates with their evidence, its tests and flags, and every run on it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from db.records import Precision
from eval.editions.document import EditionProblem
from eval.render import written_cutoff
from eval.report import utc_text
from eval.site.cells import Body, Cell, Grid, GridRow, Head, Reasons, is_web_link, moment_text
from eval.site.runs import RunsOf
from eval.site.standing import Standing, Standings
from eval.site.wording import PRECISIONS, spaced
from eval.window import ProblemFacts, flag_reason

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
    """How many tests there are, and of what kind."""
    if not facts.n_tests:
        return "none here: only imported results count"
    tests = "1 test" if facts.n_tests == 1 else f"{facts.n_tests} tests"
    tests += ", the samples of its statement only" if facts.samples_only else ""
    return tests + (", with a checker of its own" if facts.has_checker else "")


def flag_words(facts: ProblemFacts, *, include_flagged: bool) -> Iterator[tuple[str, str, str]]:
    """Each flag with its reason, and what it does."""
    for name, why in facts.flags:
        effect = flag_reason(name, has_checker=facts.has_checker)
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
                    Cell(f"no: {one.reason}" if one.reason else "yes"),
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


def _without_result(one: Standing, imported: bool) -> str:
    return "no imported result" if imported else "no judged sample"
