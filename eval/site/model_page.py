"""What the page of one run says: its score and all that it rests on, and every reason to doubt it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.claims import Claim
from eval.editions.document import EditionRun, RunFailures, RunMonths
from eval.eligibility import RELEASE_DATE, NotScored, UsedCutoff
from eval.models import ModelEntry, RegistryError
from eval.render import cutoff_basis, interval_text, most_left_out, samples_text, score_text, share_text, window_text
from eval.report import TOO_FEW_PROBLEMS, Row, Stratum
from eval.sheets import NO_NUMBER
from eval.site.cells import Body, Cell, Grid, GridRow, Head, Reasons, count_cell, is_web_link
from eval.site.index_page import Fact, figures
from eval.site.own_table import interval_cell, score_cell
from eval.site.problem_page import heading
from eval.site.runs import GapVerdict, RunsOf
from eval.site.standing import Standings
from eval.site.tests_told import own_basis_cell, told_basis
from eval.site.wording import METHODS, counted, spaced
from eval.statistics.placebo import Verdict


def model_values(runs: RunsOf, standings: Standings, run: EditionRun, pictures: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the template of a run's page takes."""
    row, entry = runs.rows.get(run.name), _entry(runs, run)
    slug = runs.published.run_slugs[run.name]
    by_month = tuple(figures(runs, pictures, (f"months-{slug}",)))
    return {
        "run": run,
        "row": row,
        "slug": slug,
        "reason": "" if row is not None else runs.not_scored(run),
        "score": "" if row is None else score_text(row.pass_at_1),
        "headline": None if row is None else (share_text(row.pass_at_1), interval_text(row.pass_at_1)),
        "method": "" if row is None else METHODS.get(row.pass_at_1.interval_method, ""),
        "no_number": NO_NUMBER,
        "facts": tuple(_facts(runs, run, row, entry)),
        "cutoff": None if row is None or row.cutoff is None else cutoff_basis(row),
        "claims": claims_table(runs, run),
        "model_notes": entry.notes if entry is not None else None,
        "gap": runs.gap(run.name),
        "gap_table": gap_table(runs.gap(run.name)),
        "health": runs.health(run.name),
        "figures": by_month,
        "months": None if by_month else months_table(runs, run),
        "parts": () if row is None else tuple(_parts(row)),
        "left_out": None if row is None else left_out_rows(row),
        "tests": tuple(told_basis(runs, run, row)),
        "warnings": () if row is None else (*_broken_notes(runs, run), *row.warnings),
        "conditions": tuple(sorted((spaced(str(name)), str(value)) for name, value in run.conditions.items())),
        "failures": _failures(runs, run),
        "results": results_table(runs, standings, run),
    }


def _broken_notes(runs: RunsOf, run: EditionRun) -> list[str]:
    """What the table says of broken months that the row of this run rests on."""
    start = f"{run.name}: results of "
    return [f"results of {note.removeprefix(start)}" for note in runs.numbers.own.notes if note.startswith(start)]


def _entry(runs: RunsOf, run: EditionRun) -> ModelEntry | None:
    try:
        return runs.registry.resolve(run.entry or run.model, run.ran_on)
    except RegistryError:
        return None


def _facts(runs: RunsOf, run: EditionRun, row: Row | None, entry: ModelEntry | None) -> Iterator[Fact]:
    yield Fact("model", run.entry or run.model)
    if entry is not None and entry.provider:
        yield Fact("provider", entry.provider)
    if run.label:
        yield Fact("run", run.label)
    if run.imported:
        yield Fact("results", f"imported from {run.origin}: there are no programs here, nothing could be judged again")
    else:
        yield Fact("results", "judged here")
    if run.ran_on is not None:
        yield Fact("ran on", run.ran_on.isoformat())
    if row is None:
        return
    yield Fact("window (UTC)", window_text(row))
    yield Fact(
        "problems", f"{row.n_judged} judged of {row.n_eligible} eligible, in {counted(row.n_contests, 'contest')}"
    )
    yield Fact("samples", samples_text(row))
    yield Fact("tests beyond the samples", own_basis_cell(runs, row, Reasons()).text, link="#tests")
    yield Fact("problem set", "digest", code=row.problem_set_digest)
    if row.environment_digest:
        yield Fact("environment", "digest", code=row.environment_digest)


def claims_table(runs: RunsOf, run: EditionRun) -> Grid | None:
    """All that is claimed of the cut-off of the model and of those whose data it inherits; None of an unknown model."""
    entry = _entry(runs, run)
    if entry is None:
        return None
    basis = runs.bases[run.name]
    known = None if isinstance(basis, NotScored) else basis.known
    reasons = Reasons()
    rows: list[GridRow] = []
    for one in (entry, *runs.registry.ancestors(entry)):
        is_owner = known is not None and (known.inherited_from or entry.name) == one.name
        used = known if is_owner else None
        rows += [_claim_row(one, claim, used, reasons) for claim in one.claims]
        if one.release is not None:
            rows.append(_release_row(one, used, reasons))
    heads = ("used", "of", "kind", "as written", "read as", "said by", "source", "looked up", "holds")
    why = "" if known is None else f"used: {known.why}"
    notes = (why,) if why else ()
    return Grid(
        "claims",
        "Every claim of the cut-off",
        tuple(map(Head, heads)),
        (Body(tuple(rows)),),
        tuple(reasons.texts),
        notes,
    )


def _claim_row(entry: ModelEntry, claim: Claim, used: UsedCutoff | None, reasons: Reasons) -> GridRow:
    is_used = (
        used is not None
        and claim.holds
        and used.kind == claim.kind.value
        and (used.cutoff, used.source, used.by) == (claim.cutoff, claim.source, claim.by)
    )
    looked_up = claim.looked_up
    return GridRow(
        (
            Cell("used" if is_used else "no"),
            Cell(entry.name),
            Cell(claim.kind.words),
            Cell(claim.cutoff.in_words),
            Cell(f"{claim.cutoff.first} to {claim.cutoff.last}"),
            Cell(claim.by) if claim.by else reasons.empty("nobody is named"),
            _source_cell(claim.source, reasons),
            reasons.empty("not written down") if looked_up is None else Cell(looked_up.isoformat()),
            Cell("yes" if claim.superseded is None else f"until {claim.superseded}"),
        )
    )


def _release_row(entry: ModelEntry, used: UsedCutoff | None, reasons: Reasons) -> GridRow:
    assert entry.release is not None  # asked for with a release alone
    is_used = used is not None and used.kind == RELEASE_DATE
    nothing = reasons.empty("a release is no claim of somebody's about the training data")
    return GridRow(
        (
            Cell("used" if is_used else "no"),
            Cell(entry.name),
            Cell("release date"),
            Cell(entry.release.in_words),
            Cell(f"{entry.release.first} to {entry.release.last}"),
            nothing,
            _source_cell(entry.release_source, reasons),
            nothing,
            Cell("yes"),
        )
    )


def _source_cell(source: str | None, reasons: Reasons) -> Cell:
    if not source:
        return reasons.empty("no source is given")
    return Cell(source, href=source if is_web_link(source) else "")


def gap_table(gap: GapVerdict) -> Grid | None:
    """The verdicts on each platform with their numbers; None where nothing was tested."""
    if not gap.platforms:
        return None
    reasons = Reasons()
    rows = tuple(_gap_row(platform, one, reasons) for platform, one in gap.platforms)
    heads = (
        Head("platform"),
        Head("verdict"),
        Head("before", is_number=True),
        Head("after", is_number=True),
        Head("gap, points", is_number=True),
        Head("could be seen, points", is_number=True),
        Head("p (Holm)", is_number=True),
        Head("in words"),
    )
    return Grid("gap-table", "Gap at the cut-off, by platform", heads, (Body(rows),), tuple(reasons.texts))


def _gap_row(platform: str, one: Mapping[str, Any], reasons: Reasons) -> GridRow:
    told = one["verdict"] in {Verdict.FOUND, Verdict.NOT_FOUND}
    points = ((one["gap"] or {}).get("points") or {}) if told else {}
    why = "not estimated" if told else f"{one['verdict']}: its numbers must not be read"

    def count(value: int | None) -> Cell:
        return reasons.empty("not counted: there was no test") if value is None else count_cell(value)

    def number(value: float | None, form: str) -> Cell:
        return reasons.empty(why) if value is None else Cell(form.format(value))

    return GridRow(
        (
            Cell(platform),
            Cell(str(one["verdict"])),
            count(one["n_before"]),
            count(one["n_after"]),
            number(None if not points else 100 * points["value"], "{:+.1f}"),
            number(None if one["detectable"] is None else 100 * one["detectable"], "{:.1f}"),
            number(one["p_holm"], "{:.4f}"),
            Cell(str(one["sentence"])),
        )
    )


def months_table(runs: RunsOf, run: EditionRun) -> Grid | None:
    """pass@1 by month of publication, all platforms together; None without results."""
    months = next((one for one in runs.numbers.months if one.run == run.name), RunMonths(run.name, ()))
    reasons = Reasons()
    rows = []
    for one in months.months:
        if one.platform:
            continue
        few = f"fewer than {TOO_FEW_PROBLEMS} problems in the month: see how many are solved"
        ends = None if one.low is None or one.high is None else f"{100 * one.low:.1f}–{100 * one.high:.1f}"
        no_ends = few if one.score is None else "no interval: all problems are of one contest"
        rows.append(
            GridRow(
                (
                    Cell(one.month),
                    Cell(f"{one.n_solved:.3g} of {one.n_problems}"),
                    reasons.empty(few) if one.score is None else Cell(f"{100 * one.score:.1f} %"),
                    reasons.empty(no_ends) if ends is None else Cell(ends),
                    Cell("looks broken" if one.is_broken else ""),
                )
            )
        )
    heads = (
        Head("month (UTC)"),
        Head("solved", is_number=True),
        Head("pass@1", is_number=True),
        Head("95 %", is_number=True),
        Head("remark"),
    )
    caption = "By month of publication, before and after the cut-off"
    return Grid("months", caption, heads, (Body(tuple(rows)),), tuple(reasons.texts)) if rows else None


def _parts(row: Row) -> Iterator[Grid]:
    if row.n_judged:
        yield _part("difficulty", row.by_difficulty)
        yield _part("platform", row.by_platform)


def _part(name: str, strata: Sequence[Stratum]) -> Grid:
    reasons = Reasons()
    rows = tuple(
        GridRow(
            (
                Cell(one.name),
                score_cell(one.scores[0], reasons),
                interval_cell(one.scores[0], reasons),
                count_cell(one.n_judged),
                count_cell(one.n_samples),
            )
        )
        for one in strata
    )
    heads = (
        Head(name),
        Head("pass@1", is_number=True),
        Head("95 %", is_number=True),
        Head("problems", is_number=True),
        Head("samples", is_number=True),
    )
    return Grid(f"by-{name}", f"By {name}", heads, (Body(rows),), tuple(reasons.texts))


def left_out_rows(row: Row) -> Grid:
    """How many problems were left out of the row, by reason."""
    rows = tuple(GridRow((Cell(str(reason)), count_cell(count))) for reason, count in most_left_out(row))
    caption = f"Of {counted(row.n_universe, 'public problem')} {row.n_judged} were judged and these left out"
    return Grid("left-out", caption, (Head("reason"), Head("problems", is_number=True)), (Body(rows),))


def _failures(runs: RunsOf, run: EditionRun) -> dict[str, Any] | None:
    """How samples ended, by verdict, and the failures that were drawn."""
    found = next((one for one in runs.edition.failures if one.run == run.name), None)
    if found is None:
        return None
    return {"verdicts": _verdicts(found), "sampled": tuple(_sampled(runs, found))}


def _verdicts(found: RunFailures) -> Grid:
    counts = sorted(found.verdicts.items(), key=lambda item: (-item[1], item[0]))
    rows = tuple(GridRow((Cell(spaced(str(name))), count_cell(count))) for name, count in counts)
    heads = (Head("verdict"), Head("samples", is_number=True))
    return Grid("verdicts", "How the judged samples of its eligible public problems ended", heads, (Body(rows),))


def _sampled(runs: RunsOf, found: RunFailures) -> Iterator[dict[str, Any]]:
    titles = {one.written_id: heading(one) for one in runs.edition.problems}
    for one in found.sampled:
        slug = runs.published.problem_slugs.get(one.problem)
        yield {
            "problem": one.problem,
            "title": titles.get(one.problem, one.problem),
            "href": f"problems/{slug}.html" if slug else "",
            "sample": one.sample_index,
            "verdict": spaced(one.verdict),
            "test": one.test,
            "language": one.language,
            "code": one.code,
            "is_cut": one.is_cut,
        }


def results_table(runs: RunsOf, standings: Standings, run: EditionRun) -> Grid | None:
    """The problems that its row rests on, the newest first; None where there are none."""
    rows = []
    for problem in sorted(runs.edition.problems, key=lambda one: (_when(one.facts.exposed_at), one.written_id)):
        one = standings.of(problem, run.name)
        if one.reason:
            continue
        href = f"problems/{runs.published.problem_slugs[problem.written_id]}.html"
        at = problem.facts.exposed_at
        rows.append(
            GridRow(
                (
                    Cell(problem.written_id, href=href),
                    Cell(heading(problem)),
                    Cell("" if at is None else f"{at:%Y-%m-%d}"),
                    Cell(problem.facts.difficulty or "unknown"),
                    Cell(one.counts),
                )
            )
        )
    heads = (Head("problem"), Head("title"), Head("public since"), Head("difficulty"), Head("passed", is_number=True))
    caption = "The problems of its row, the newest first: samples that passed of all judged"
    return Grid("results", caption, heads, (Body(tuple(rows)),)) if rows else None


def _when(at: Any) -> float:
    return 0.0 if at is None else -float(at.timestamp())
