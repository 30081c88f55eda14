"""What moved between two editions as a sheet: for the terminal, as Markdown, CSV or JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from eval import sheets
from eval.audits.refusals import grouped, named
from eval.editions.difference import Difference, EditionMark
from eval.editions.difference_lines import LONGEST_REASON, cut, instant, plain
from eval.editions.difference_problems import problem_tables
from eval.editions.private_names import COPY_REASONS, HIDDEN
from eval.editions.run_changes import ChangedResults, CutoffRevision
from eval.editions.score_changes import ScoreChange
from eval.eligibility import UsedCutoff
from eval.sheets import Cell, Sheet, Table
from eval.statistics.composition import Estimate

MANY_RESULTS = 0.05
"""With more of its results changed on the same tests, a run may be another model's or another harness's."""

_DIGEST = 12


def difference_sheet(found: Difference) -> Sheet:
    """The tables of a difference, those of scores first; a table in which nothing stands is left out."""
    found = _without_copies(found)
    tables = (
        _scores(found),
        _moves(found),
        _runs(found),
        _conditions(found),
        _cutoffs(found),
        _results(found),
        *problem_tables(found.problems),
        _made_with(found),
    )
    return Sheet(
        title=plain(f"What moved from {found.before.name} to {found.after.name}"),
        conditions=tuple(
            plain(f"{when}: {_in_words(mark)}") for when, mark in (("before", found.before), ("after", found.after))
        ),
        tables=() if found.is_empty else tuple(_shown(table) for table in tables if table.rows or table.notes),
        notes=tuple(map(plain, _notes(found))),
        data=_data(found),
    )


def _without_copies(found: Difference) -> Difference:
    """A flag that says of which private problem one is a copy would tell, even without the name, what that one is."""
    flags = (
        replace(one, reason=COPY_REASONS[one.flag]) if HIDDEN in one.reason and one.flag in COPY_REASONS else one
        for one in found.problems.flags
    )
    return replace(found, problems=replace(found.problems, flags=tuple(flags)))


def _in_words(mark: EditionMark) -> str:
    private = f" and {_count(mark.n_private, 'private one')}" if mark.n_private else ""
    return (
        f"{mark.name}, frozen {instant(mark.frozen_at)}, data as of {instant(mark.as_of)}, digest "
        f"{mark.digest[:_DIGEST]}: {_count(mark.n_runs, 'run')}, {_count(mark.n_problems, 'public problem')}{private}"
    )


def _notes(found: Difference) -> Iterator[str]:
    if found.is_same:
        yield "both hold the same, to the byte"
    elif found.is_empty:
        yield "nothing that is compared here moved"
    if found.silent_removals:
        yield f"gone without a word: {named(list(found.silent_removals))}"
    if found.elsewhere:
        yield f"also different: {'; '.join(found.elsewhere)}"
    if found.other_models:
        names = named(list(found.other_models))
        yield f"entries of the registry that differ, though not in the cut-off that counts: {names}"


def _scores(found: Difference) -> Table:
    """One row for each run with a number on both sides."""
    columns = (
        sheets.text("run"),
        sheets.count("problems before"),
        sheets.count("problems after"),
        sheets.percent("before"),
        sheets.percent("after"),
        sheets.points("change"),
        sheets.difference_interval(),
        sheets.points("composition"),
        sheets.percent("s.e.", key="composition_se"),
        sheets.points("behaviour"),
        sheets.percent("s.e.", key="behaviour_se"),
        sheets.points("same problems", key="results"),
        sheets.percent("s.e.", key="results_se"),
        sheets.for_programs(sheets.points("within strata", key="within")),
        sheets.for_programs(sheets.percent("s.e.", key="within_se")),
        sheets.for_programs(sheets.points("problem set")),
    )
    moved = [one for one in found.scores if one.found.change.value or one.moves]
    notes = list(_score_notes(found))
    still = [one.run for one in found.scores if not (one.found.change.value or one.moves)]
    if still:
        notes.append(f"no change: {named(still)}")
    return Table("Scores in each run's own window", columns, tuple(map(_score_row, moved)), tuple(notes), name="scores")


def _score_row(one: ScoreChange) -> tuple[Cell, ...]:
    found = one.found
    sizes: tuple[Cell, ...] = (one.run, found.n_before, found.n_after)
    if one.too_few is not None:
        return (*sizes, *(None,) * 13)
    return (
        *sizes,
        found.before,
        found.after,
        found.change.value,
        sheets.span(found.low, found.high),
        *_estimate(found.composition),
        *_estimate(found.behaviour),
        *_estimate(found.results),
        *_estimate(found.within),
        found.problem_set.value,
    )


def _estimate(found: Estimate | None) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (found.value, found.se)


def _score_notes(found: Difference) -> Iterator[str]:
    yield from grouped((one.run, one.reason) for one in found.unexplained)
    yield from grouped((one.run, one.too_few) for one in found.scores)
    rates = [one for one in found.scores if one.too_few is None]
    yield from grouped((one.run, one.found.refusal and f"not split: {one.found.refusal}") for one in rates)
    yield from grouped((one.run, caution) for one in rates for caution in one.cautions)
    if any(one.found.change.value or one.moves for one in rates):
        yield "points; change = composition (which problems are asked) + behaviour (how they are solved)"
        yield "strata are platform x difficulty; a harder problem under the same label shows as behaviour"
        yield "same problems: the part of behaviour that is other results on problems that count in both editions"
        yield (
            "errors are clustered by contest; a change whose interval holds 0 is not to be read as one; the intervals "
            "are not adjusted for the number of runs"
        )


def _moves(found: Difference) -> Table:
    columns = (
        sheets.text("run"),
        sheets.text("why"),
        sheets.count("came"),
        sheets.count("gone"),
        sheets.points("points"),
    )
    rows = tuple(
        (one.run, move.cause.value, move.n_came, move.n_gone, move.value if one.too_few is None else None)
        for one in found.scores
        for move in one.moves
    )
    notes = (
        "a problem that came adds its score less the run's score before, one that went that less its score, each over "
        "the problems after; they add up to what other problems moved",
    )
    return Table("Why the problems of a run changed", columns, rows, notes if rows else (), 2, "problem sets")


def _runs(found: Difference) -> Table:
    runs = found.runs
    rows = [
        *(
            (one.name, f"withdrawn: {one.reason}" if one.reason is not None else "gone without a word")
            for one in runs.gone
        ),
        *((one.run, f"not scored any more: {one.reason}") for one in runs.scoring if not one.is_scored),
        *((one.run, f"scored now; before: {one.reason}") for one in runs.scoring if one.is_scored),
        *((one.name, _arrival(one.not_scored, one.returned)) for one in runs.came),
        *((one.after, f'called "{one.before}" before') for one in runs.renamed),
    ]
    return Table("Runs", (sheets.text("run"), sheets.text("what")), tuple(rows))


def _arrival(not_scored: str | None, returned: str | None) -> str:
    words = "new" if returned is None else f"back; it was withdrawn: {returned}"
    return words if not_scored is None else f"{words}; not scored: {not_scored}"


def _conditions(found: Difference) -> Table:
    columns = (sheets.text("run"), sheets.text("condition"), sheets.text("before"), sheets.text("after"))
    rows = [(one.run, one.name, _value(one.before), _value(one.after)) for one in found.runs.conditions]
    return cut("Conditions of runs", columns, rows, n_keys=2)


def _cutoffs(found: Difference) -> Table:
    columns = (
        sheets.text("model"),
        sheets.text("before"),
        sheets.text("after"),
        sheets.text("moved"),
        sheets.count("more problems"),
        sheets.count("fewer problems"),
        sheets.text("source"),
    )
    rows = tuple(_cutoff_row(one) for one in found.cutoffs)
    notes = (
        "more and fewer: sound public problems of the second edition that count for the model by one of the two "
        "cut-offs alone",
    )
    return Table("Cut-offs", columns, rows, notes if rows else (), name="cut-offs")


def _cutoff_row(one: CutoffRevision) -> tuple[Cell, ...]:
    old, new = one.before.source, one.after.source
    source = new or "none" if old == new else f"{old or 'none'}; now {new or 'none'}"
    moved = one.moved or "not at all"
    return one.model, _cutoff(one.before), _cutoff(one.after), moved, one.n_more, one.n_fewer, source


def _cutoff(used: UsedCutoff) -> str:
    """The cut-off as written, on what it rests, and whose word it is."""
    kind = "release date" if used.kind == "release_date" else "training data"
    words = [used.status.value, kind, *([f"by {used.by}"] if used.by else [])]
    if used.inherited_from is not None:
        words.append(f"of {used.inherited_from}")
    return f"{used.cutoff.in_words} ({', '.join(words)})"


def _results(found: Difference) -> Table:
    columns = (
        sheets.text("run"),
        sheets.count("results in both"),
        sheets.count("same tests"),
        sheets.count("tests changed"),
        sheets.count("statement changed"),
        sheets.count("new"),
        sheets.count("no longer"),
        sheets.count("unjudged samples"),
        sheets.count("private"),
    )
    rows = tuple(
        (
            one.run,
            one.n_common,
            len(one.same_tests),
            len(one.other_tests),
            len(one.other_statement),
            len(one.came),
            len(one.gone),
            one.n_unjudged,
            one.n_private,
        )
        for one in found.results
    )
    notes = list(grouped((one.run, _alarm(one)) for one in found.results))
    if rows:
        notes.append(
            "how many problems have another result, on the same tests and statement (judged or run again), or with "
            "other ones; results that were imported know no tests here"
        )
    return Table("Results", columns, rows, tuple(notes))


def _alarm(one: ChangedResults) -> str | None:
    if len(one.same_tests) <= MANY_RESULTS * one.n_on_same_tests:
        return None
    return (
        f"more than {100 * MANY_RESULTS:g} % of the results on the same tests changed: if they were not run anew, "
        "another model answered or the harness is another one"
    )


def _made_with(found: Difference) -> Table:
    columns = tuple(map(sheets.text, ("what", "field", "before", "after")))
    rows = [(one.part, one.name, _value(one.before), _value(one.after)) for one in found.made_with]
    return cut("What the tables were made with", columns, rows, n_keys=2, name="made with")


def _shown(table: Table) -> Table:
    """A table with every text as a line that can be read: stored texts are anybody's."""

    rows = tuple(tuple(plain(cell) if isinstance(cell, str) else cell for cell in row) for row in table.rows)
    return replace(table, rows=rows, notes=tuple(map(plain, table.notes)))


def _value(text: str | None) -> str | None:
    return None if text is None else plain(text, LONGEST_REASON)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _data(found: Difference) -> dict[str, Any]:
    """The whole difference as plain values, the parts of a score's change beside its run."""
    scores = [{**asdict(one.found), **{k: v for k, v in asdict(one).items() if k != "found"}} for one in found.scores]
    return {**asdict(found), "scores": scores, "is_same": found.is_same}
