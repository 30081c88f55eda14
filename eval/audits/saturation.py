"""Scores on a saturated set of problems beside scores on a fresh one: a gap for each run, with the sets' limits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval import sheets
from eval.audits.broken_months import BrokenRuns, still_in, together
from eval.audits.refusals import grouped, named
from eval.basis import basis_of
from eval.board import Board, build_board, on_samples_alone
from eval.cautions import age_cautions
from eval.common_window import cutoff_text, cutoffs_cautions
from eval.eligibility import NotScored, UsedCutoff
from eval.evaluation import RunOutcomes, digest_of_problems
from eval.models import Registry
from eval.problem_sets import ProblemSet
from eval.published_scores import Published
from eval.settings import Settings
from eval.sheets import Sheet, Table
from eval.statistics.correlation import ProportionGap, proportion_gaps
from eval.statistics.saturation import (
    GapTable,
    SetGap,
    SetScores,
    above_ceiling,
    below_floor,
    gap_table,
    has_rate,
    measured,
    published,
)
from eval.window import ProblemFacts, Window, date_reason, window_for

MAX_NAMED = 10


class SetsOverlap(ValueError):
    """The two sets share problems, so that their scores cannot be set against each other."""

    def __init__(self, n: int) -> None:
        self.message = f"the saturated and the fresh set share {n} problems"
        self.hint = "bound them so that no problem is in both: until=... in one, since=... in the other"
        super().__init__(self.message)


@dataclass(frozen=True)
class PublishedSet:
    """Scores that were published, in place of results on a saturated set."""

    described: str
    scores: tuple[Published, ...]


@dataclass(frozen=True)
class SaturationAudit:
    """The gaps of the runs, and what they rest on.

    A run's fresh side holds only problems from after its own cut-off: ``exposed`` counts those that were left out
    (None: no cut-off is known, so that none was). Runs that ``doubts`` says something of may have seen their fresh
    side: they have a gap of their own, and no part in what the others are set against. ``unmatched`` are published
    models of which there is no run; ``broken`` the months of runs that look broken and are counted all the same.
    ``tests`` has a two-proportion test for each run whose two sides are shares of single answers and not in doubt: for
    published scores alone, as results of the store have their spread over contests. ``warnings`` say whose scores are
    squeezed, ``cautions`` what is weak about the cut-offs and the fresh problems.
    """

    names: tuple[str, ...]
    found: GapTable
    n_saturated: tuple[int, ...]
    n_fresh: tuple[int, ...]
    exposed: tuple[int | None, ...]
    cutoffs: tuple[UsedCutoff | None, ...]
    doubts: tuple[str | None, ...]
    saturated: ProblemSet | PublishedSet
    fresh: ProblemSet
    conditions: tuple[str, ...]
    unmatched: tuple[str, ...]
    twice: tuple[str, ...]
    broken: Mapping[str, Sequence[str]]
    tests: tuple[ProportionGap | None, ...]
    warnings: tuple[str, ...]
    cautions: tuple[str, ...]


def audit_saturation(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    saturated: ProblemSet | PublishedSet,
    fresh: ProblemSet,
    *,
    now: datetime,
    include_flagged: bool = False,
    broken: BrokenRuns | None = None,
) -> SaturationAudit:
    """The gap table of the runs that have a result on the fresh set. Raises ``SetsOverlap``."""
    universe, every = tuple(problems), tuple(runs)
    on_fresh, lines = _board(universe, every, fresh, "fresh", include_flagged)
    kept = [place for place, row in enumerate(on_fresh.seen) if row.any()]
    whole = on_fresh.take_runs(kept)
    cutoffs, doubts = _cutoffs(whole.runs, registry, now)
    hidden = _hidden(whole, cutoffs)
    second = replace(
        whole, n_samples=np.where(hidden, 0, whole.n_samples), n_correct=np.where(hidden, 0, whole.n_correct)
    )
    months = {} if broken is None else broken.within(second)
    unmatched: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    if isinstance(saturated, PublishedSet):
        first, unmatched, twice = _published(second.runs, saturated, registry)
        lines = [f"saturated: {saturated.described}", *lines]
    else:
        on_old, more = _board(universe, every, saturated, "saturated", include_flagged)
        shared = {one.problem_id for one in on_old.problems} & {one.problem_id for one in on_fresh.problems}
        if shared:
            raise SetsOverlap(len(shared))
        old = on_old.take_runs(kept)
        first, lines = measured(old.scores, old.clusters), [*more, *lines]
        months = months if broken is None else together(broken.within(old), months)
    on_new = measured(second.scores, second.clusters)
    found = _table(first, on_new, doubts)
    return SaturationAudit(
        names=second.names,
        found=found,
        n_saturated=tuple(int(n) for n in first.counts),
        n_fresh=tuple(int(n) for n in second.seen.sum(axis=1)),
        exposed=tuple(None if used is None else int(row.sum()) for used, row in zip(cutoffs, hidden, strict=True)),
        cutoffs=cutoffs,
        doubts=doubts,
        saturated=saturated,
        fresh=fresh,
        conditions=(*lines, f"made {now:%Y-%m-%dT%H:%MZ}"),
        unmatched=unmatched,
        twice=twice,
        broken=months,
        tests=_tests(first, second, found, doubts) if isinstance(saturated, PublishedSet) else (None,) * len(kept),
        warnings=(*_extremes(first, second.names, "saturated"), *_extremes(on_new, second.names, "fresh")),
        cautions=tuple(_cautions(second, cutoffs, fresh, now)),
    )


def _cautions(board: Board, cutoffs: Sequence[UsedCutoff | None], fresh: ProblemSet, now: datetime) -> Iterator[str]:
    """What is weak about the cut-offs, and about the fresh problems on which any run has a result that counts."""
    yield from cutoffs_cautions(board.names, cutoffs, Window(None, fresh.since, fresh.until))
    for line in age_cautions(board.take(np.asarray(board.seen.any(axis=0))).problems, now):
        yield f"the fresh set: {line}"


def _cutoffs(
    runs: Sequence[RunOutcomes], registry: Registry, now: datetime
) -> tuple[tuple[UsedCutoff | None, ...], tuple[str | None, ...]]:
    """The cut-off of each run (None: there is no usable one), and why nobody can tell what is fresh to it."""
    bases = [basis_of(run, registry, Settings(), now) for run in runs]
    cutoffs = tuple(None if isinstance(basis, NotScored) else basis.known for basis in bases)
    doubts: list[str | None] = []
    models: set[str] = set()
    for run, basis in zip(runs, bases, strict=True):
        if isinstance(basis, NotScored):
            doubts.append(f"no usable cut-off ({basis.reason})")
            continue
        name = (run.model if basis.entry is None else basis.entry.name).casefold()
        doubts.append(basis.doubt or ("another run of the same model is compared" if name in models else None))
        models.add(name)
    return cutoffs, tuple(doubts)


def _hidden(board: Board, cutoffs: Sequence[UsedCutoff | None]) -> NDArray[np.bool_]:
    """Results (runs x problems) on problems that may have been public before the cut-off of their run."""
    windows = [None if used is None else window_for(used.cutoff) for used in cutoffs]
    early = [
        [window is not None and date_reason(one, window) is not None for one in board.problems] for window in windows
    ]
    return np.array(early, dtype=np.bool_).reshape(board.seen.shape) & board.seen


def _table(first: SetScores, second: SetScores, doubts: Sequence[str | None]) -> GapTable:
    """The gap table, of which runs whose fresh side is in doubt have their gap alone."""
    known = np.array([doubt is None for doubt in doubts], dtype=np.bool_)
    every = gap_table(first, second)
    sure = gap_table(
        first, replace(second, means=np.where(known, second.means, np.nan), counts=np.where(known, second.counts, 0.0))
    )
    rows = tuple(
        mine if certain else replace(own, beyond_peers=None, below_line=None)
        for mine, own, certain in zip(sure.rows, every.rows, known, strict=True)
    )
    return replace(every, rows=rows, rho=sure.rho)


def _tests(
    first: SetScores, second: Board, found: GapTable, doubts: Sequence[str | None]
) -> tuple[ProportionGap | None, ...]:
    """Whether each gap is above zero, adjusted over the runs that can be tested: one sample on every fresh problem."""
    single = second.n_samples.max(axis=1, initial=0) <= 1
    places = [
        place for place, row in enumerate(found.rows) if row.gap is not None and doubts[place] is None and single[place]
    ]
    answers = second.n_samples[places].sum(axis=1)
    right = second.n_correct[places].sum(axis=1)
    tested = iter(proportion_gaps(first.means[places], first.counts[places], right / answers, answers))
    chosen = set(places)
    return tuple(next(tested) if place in chosen else None for place in range(len(found.rows)))


def _extremes(scores: SetScores, names: Sequence[str], which: str) -> Iterator[str]:
    total = int(has_rate(scores).sum())
    for where, chosen in (("above 90%", above_ceiling(scores)), ("below 5%", below_floor(scores))):
        if chosen.any():
            several = [name for name, extreme in zip(names, chosen, strict=True) if extreme]
            yield (
                f"{len(several)} of {total} models are {where} on the {which} set, their differences are squeezed: "
                f"{named(several, MAX_NAMED)}"
            )


def _board(
    problems: Sequence[ProblemFacts], runs: Sequence[RunOutcomes], wanted: ProblemSet, name: str, include_flagged: bool
) -> tuple[Board, list[str]]:
    admitted = [one for one in problems if wanted.admits(one)]
    reasons = [wanted.reason(one, include_flagged=include_flagged) for one in admitted]
    sound = [one for one, reason in zip(admitted, reasons, strict=True) if reason is None]
    board = build_board(sound, runs)
    digest = digest_of_problems(board.problems, imported=all(run.imported for run in runs))
    lines = [f"{name}: {wanted.written}: {len(board.problems)} problems with results; problem set {digest[:12]}"]
    left_out = Counter(str(reason) for reason in reasons if reason is not None)
    left_out.update(on_samples_alone(sound, runs))
    if left_out:
        lines.append(f"left out of {name}: " + ", ".join(f"{n} {reason}" for reason, n in left_out.most_common()))
    return board, lines


def _published(
    runs: Sequence[RunOutcomes], given: PublishedSet, registry: Registry
) -> tuple[SetScores, tuple[str, ...], tuple[str, ...]]:
    """The published scores in the runs' order, joined by the registry's names; a model named twice has none."""
    by_model: dict[str, list[Published]] = {}
    for one in given.scores:
        by_model.setdefault(registry.canonical(one.model).casefold(), []).append(one)
    shares, counts, matched, twice = [], [], set(), []
    for run in runs:
        key = registry.canonical(run.model, run.ran_on).casefold()
        rows = by_model.get(key, [])
        matched.add(key)
        if len(rows) > 1:
            twice.append(f"{run.model}: the file has several of its names: {', '.join(row.model for row in rows)}")
        shares.append(rows[0].share if len(rows) == 1 else math.nan)
        counts.append(rows[0].n if len(rows) == 1 else 1)
    unmatched = tuple(rows[0].model for key, rows in by_model.items() if key not in matched)
    return published(np.array(shares, dtype=np.float64), counts), unmatched, tuple(dict.fromkeys(twice))


def saturation_sheet(audit: SaturationAudit) -> Sheet:
    """One row for each run, the widest gap first."""
    columns = (
        sheets.text("model"),
        sheets.text("cut-off"),
        sheets.count("saturated n"),
        sheets.percent("saturated"),
        sheets.count("fresh n"),
        sheets.count("left out"),
        sheets.percent("fresh"),
        sheets.points("gap"),
        sheets.difference_interval(),
        sheets.points("beyond others"),
        sheets.points("below line"),
        *(
            (sheets.p_value("p"), sheets.p_value("Holm p", key="p_holm"), sheets.p_value("BH p", key="p_bh"))
            if any(audit.tests)
            else ()
        ),
    )
    gaps = [-math.inf if row.gap is None else row.gap for row in audit.found.rows]
    places = sorted(range(len(gaps)), key=lambda place: gaps[place], reverse=True)
    rows = tuple(_row(audit, place) for place in places)
    return Sheet(
        title="Saturated against fresh",
        conditions=(*audit.conditions, *still_in(audit.broken)),
        tables=(Table("", columns, rows, tuple(_notes(audit))),),
        data=_as_dict(audit),
    )


def _row(audit: SaturationAudit, place: int) -> tuple[sheets.Cell, ...]:
    row: SetGap = audit.found.rows[place]
    used, test = audit.cutoffs[place], audit.tests[place]
    return (
        audit.names[place],
        "unknown" if used is None else cutoff_text(used) + (" (in doubt)" if audit.doubts[place] else ""),
        audit.n_saturated[place],
        row.saturated,
        audit.n_fresh[place],
        audit.exposed[place],
        row.fresh,
        row.gap,
        sheets.span(row.low, row.high),
        row.beyond_peers,
        row.below_line,
        *(((None,) * 3 if test is None else (test.p, test.p_holm, test.p_bh)) if any(audit.tests) else ()),
    )


def _notes(audit: SaturationAudit) -> Iterator[str]:
    if not audit.names:
        yield "no gap: no run has a result on the fresh set"
    yield from audit.warnings
    yield from grouped((name, _refusal(audit, place)) for place, name in enumerate(audit.names))
    yield from grouped((name, _doubt(audit, place)) for place, name in enumerate(audit.names))
    yield from audit.twice
    yield from audit.cautions
    if audit.unmatched:
        yield (
            f"published models without a run here: {len(audit.unmatched)} ({named(list(audit.unmatched))}); if one is "
            "there under another name, write the published name as an alias in your models' file"
        )
    yield from _reading(audit)


def _refusal(audit: SaturationAudit, place: int) -> str | None:
    refusal = audit.found.rows[place].refusal
    if refusal is None or audit.n_saturated[place]:
        return refusal and f"no gap: {refusal}"
    where = "published score" if isinstance(audit.saturated, PublishedSet) else "result on the saturated set"
    return f"no gap: no {where}"


def _doubt(audit: SaturationAudit, place: int) -> str | None:
    """What makes the fresh side doubtful for a run with a gap."""
    doubt = audit.doubts[place]
    if doubt is None or audit.found.rows[place].gap is None:
        return None
    return f"{doubt}: nobody can tell whether the fresh set is fresh to it; it is in no comparison with others"


def _sides_differ(audit: SaturationAudit) -> Iterator[str]:
    """Where cut-offs lie within the fresh set, each model has another part of it."""
    if not any(audit.exposed):
        return
    yield "left out: fresh problems with a result that may have been public before the model's own cut-off"
    last, n_last = max(
        (used.cutoff.after, n) for used, n in zip(audit.cutoffs, audit.n_fresh, strict=True) if used is not None
    )
    if n_last:
        first = (last + timedelta(days=1)).date()
        yield f"so models differ in their fresh side; with since={first} in --fresh all would have the same one"


def _reading(audit: SaturationAudit) -> Iterator[str]:
    yield from _sides_differ(audit)
    if audit.found.rho is not None:
        yield (
            f"order: rho {audit.found.rho:.2f} between the two sets (1: the same order of models; Spearman's, over the "
            "models with a gap and a cut-off)"
        )
    yield "percent, gaps in percentage points: saturated less fresh; a fresh set that is only harder gives a gap, too"
    yield "beyond others: the gap less the median gap of the other models that have a cut-off"
    yield (
        "below line: how far the fresh score lies below what models with such a saturated score have (needs ten others)"
    )
    if isinstance(audit.saturated, PublishedSet):
        yield "published scores were made by others, with their prompts and tests"
    n_tests = next((one.n_tests for one in audit.tests if one is not None), 0)
    if n_tests:
        yield (
            f"p: that the gap is above 0 (two-proportion Z, one-sided, problems taken as independent), adjusted over "
            f"{n_tests} runs by Holm (accuse nobody without it) and Benjamini-Hochberg (a list to look at); runs with "
            "one sample each alone. It says something only of sets that are made equally hard"
        )


def _as_dict(audit: SaturationAudit) -> dict[str, Any]:
    found = audit.found
    numbers = {name: value for name, value in asdict(found).items() if name != "rows"}
    return {
        **numbers,
        "warnings": audit.warnings,
        "cautions": audit.cautions,
        "saturated": audit.saturated.described
        if isinstance(audit.saturated, PublishedSet)
        else asdict(audit.saturated),
        "fresh": asdict(audit.fresh),
        "unmatched": list(audit.unmatched),
        "rows": [
            {
                "model": name,
                "cutoff": used and used.cutoff.as_written,
                "doubt": doubt,
                "n_saturated": n_old,
                "n_fresh": n_new,
                "n_exposed": exposed,
                **asdict(row),
                "test": test and asdict(test),
            }
            for name, used, doubt, n_old, n_new, exposed, row, test in zip(
                audit.names,
                audit.cutoffs,
                audit.doubts,
                audit.n_saturated,
                audit.n_fresh,
                audit.exposed,
                found.rows,
                audit.tests,
                strict=True,
            )
        ],
        "broken_months": audit.broken,
    }
