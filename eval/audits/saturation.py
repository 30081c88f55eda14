"""Scores on a saturated set of problems beside scores on a fresh one: a gap for each run, with the sets' limits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np

from eval import sheets
from eval.audits.refusals import grouped, named
from eval.board import Board, build_board
from eval.eligibility import NotScored, UsedCutoff, usable_cutoff
from eval.evaluation import RunOutcomes, digest_of_problems
from eval.models import ModelAmbiguous, Registry
from eval.problem_sets import ProblemSet
from eval.published_scores import Published
from eval.sheets import Sheet, Table
from eval.statistics.saturation import GapTable, SetGap, SetScores, gap_table, measured, published
from eval.window import ProblemFacts, date_reason, window_for


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

    ``exposed`` counts for each run the fresh problems with a result that may have been public before its cut-off (None:
    no cut-off is known); ``unmatched`` are published models of which there is no run.
    """

    names: tuple[str, ...]
    found: GapTable
    n_saturated: tuple[int, ...]
    n_fresh: tuple[int, ...]
    exposed: tuple[int | None, ...]
    saturated: ProblemSet | PublishedSet
    fresh: ProblemSet
    conditions: tuple[str, ...]
    unmatched: tuple[str, ...]
    twice: tuple[str, ...]


def audit_saturation(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    saturated: ProblemSet | PublishedSet,
    fresh: ProblemSet,
    *,
    now: datetime,
    include_flagged: bool = False,
) -> SaturationAudit:
    """The gap table of the runs that have a result on the fresh set. Raises ``SetsOverlap``."""
    universe, every = tuple(problems), tuple(runs)
    on_fresh, lines = _board(universe, every, fresh, "fresh", include_flagged)
    kept = [place for place, row in enumerate(on_fresh.seen) if row.any()]
    second = on_fresh.take_runs(kept)
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
        first, lines = measured(on_old.take_runs(kept).scores, on_old.clusters), [*more, *lines]
    found = gap_table(first, measured(second.scores, second.clusters))
    return SaturationAudit(
        names=second.names,
        found=found,
        n_saturated=tuple(int(n) for n in first.counts),
        n_fresh=tuple(int(n) for n in second.seen.sum(axis=1)),
        exposed=tuple(_exposed(second, place, registry) for place in range(len(second.runs))),
        saturated=saturated,
        fresh=fresh,
        conditions=(*lines, f"made {now:%Y-%m-%dT%H:%MZ}"),
        unmatched=unmatched,
        twice=twice,
    )


def _board(
    problems: Sequence[ProblemFacts], runs: Sequence[RunOutcomes], wanted: ProblemSet, name: str, include_flagged: bool
) -> tuple[Board, list[str]]:
    admitted = [one for one in problems if wanted.admits(one)]
    reasons = [wanted.reason(one, include_flagged=include_flagged) for one in admitted]
    board = build_board([one for one, reason in zip(admitted, reasons, strict=True) if reason is None], runs)
    digest = digest_of_problems(board.problems, imported=all(run.imported for run in runs))
    lines = [f"{name}: {wanted.written}: {len(board.problems)} problems with results; problem set {digest[:12]}"]
    left_out = Counter(reason for reason in reasons if reason is not None)
    if left_out:
        lines.append(f"left out of {name}: " + ", ".join(f"{n} {reason}" for reason, n in left_out.most_common()))
    return board, lines


def _published(
    runs: Sequence[RunOutcomes], given: PublishedSet, registry: Registry
) -> tuple[SetScores, tuple[str, ...], tuple[str, ...]]:
    """The published scores in the runs' order, joined by the registry's names; a model named twice has none."""
    by_model: dict[str, list[Published]] = {}
    for one in given.scores:
        by_model.setdefault(_canonical(one.model, registry), []).append(one)
    shares, counts, matched, twice = [], [], set(), []
    for run in runs:
        key = _canonical(run.model, registry)
        rows = by_model.get(key, [])
        matched.add(key)
        if len(rows) > 1:
            twice.append(f"{run.model}: the file has several of its names: {', '.join(row.model for row in rows)}")
        shares.append(rows[0].share if len(rows) == 1 else math.nan)
        counts.append(rows[0].n if len(rows) == 1 else 1)
    unmatched = tuple(rows[0].model for key, rows in by_model.items() if key not in matched)
    return published(np.array(shares, dtype=np.float64), counts), unmatched, tuple(dict.fromkeys(twice))


def _canonical(name: str, registry: Registry) -> str:
    try:
        entry = registry.resolve(name)
    except ModelAmbiguous:
        entry = None
    return (entry.name if entry is not None else name).casefold()


def _exposed(board: Board, place: int, registry: Registry) -> int | None:
    run = board.runs[place]
    try:
        entry = registry.resolve(run.model, run.ran_on)
    except ModelAmbiguous:
        entry = None
    used = NotScored(run.model, "unknown") if entry is None else usable_cutoff(entry, registry)
    if not isinstance(used, UsedCutoff):
        return None
    window = window_for(used.cutoff)
    mine = zip(board.problems, board.seen[place], strict=True)
    return sum(bool(seen) and date_reason(one, window) is not None for one, seen in mine)


def saturation_sheet(audit: SaturationAudit) -> Sheet:
    """One row for each run, the widest gap first."""
    columns = (
        sheets.text("model"),
        sheets.count("saturated n"),
        sheets.percent("saturated"),
        sheets.count("fresh n"),
        sheets.percent("fresh"),
        sheets.points("gap"),
        sheets.text("95 %"),
        sheets.points("beyond others"),
        sheets.points("below line"),
    )
    gaps = [-math.inf if row.gap is None else row.gap for row in audit.found.rows]
    places = sorted(range(len(gaps)), key=lambda place: gaps[place], reverse=True)
    rows = tuple(_row(audit, place) for place in places)
    return Sheet(
        title="Saturated against fresh",
        conditions=audit.conditions,
        tables=(Table("", columns, rows, tuple(_notes(audit))),),
        data=_as_dict(audit),
    )


def _row(audit: SaturationAudit, place: int) -> tuple[sheets.Cell, ...]:
    row: SetGap = audit.found.rows[place]
    return (
        audit.names[place],
        audit.n_saturated[place],
        row.saturated,
        audit.n_fresh[place],
        row.fresh,
        row.gap,
        sheets.span(row.low, row.high, signed=True),
        row.beyond_peers,
        row.below_line,
    )


def _notes(audit: SaturationAudit) -> Iterator[str]:
    found = audit.found
    if not audit.names:
        yield "no gap: no run has a result on the fresh set"
    yield from found.warnings
    yield from grouped((name, _refusal(audit, place)) for place, name in enumerate(audit.names))
    yield from grouped((name, _stale(audit, place)) for place, name in enumerate(audit.names))
    yield from audit.twice
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


def _stale(audit: SaturationAudit, place: int) -> str | None:
    """What makes the fresh set doubtful for a run with a gap."""
    exposed = audit.exposed[place]
    if audit.found.rows[place].gap is None or exposed == 0:
        return None
    if exposed is None:
        return "no cut-off is known: nobody can tell whether the fresh set is fresh to it"
    return f"{exposed} of its {audit.n_fresh[place]} fresh problems may have been public before its cut-off"


def _reading(audit: SaturationAudit) -> Iterator[str]:
    if audit.found.rho is not None:
        yield (
            f"order: rho {audit.found.rho:.2f} between the two sets (1: the same order of models; Spearman's, over the "
            "models with a gap)"
        )
    yield "percent, gaps in percentage points: saturated less fresh; a fresh set that is only harder gives a gap, too"
    yield "beyond others: the gap less the median gap of the other models, which have met the same two sets"
    yield (
        "below line: how far the fresh score lies below what models with such a saturated score have (needs ten others)"
    )
    if isinstance(audit.saturated, PublishedSet):
        yield "published scores were made by others, with their prompts and tests"


def _as_dict(audit: SaturationAudit) -> dict[str, Any]:
    found = audit.found
    numbers = {name: value for name, value in asdict(found).items() if name != "rows"}
    return {
        **numbers,
        "saturated": audit.saturated.described
        if isinstance(audit.saturated, PublishedSet)
        else asdict(audit.saturated),
        "fresh": asdict(audit.fresh),
        "unmatched": list(audit.unmatched),
        "rows": [
            {"model": name, "n_saturated": n_old, "n_fresh": n_new, "n_exposed": exposed, **asdict(row)}
            for name, n_old, n_new, exposed, row in zip(
                audit.names, audit.n_saturated, audit.n_fresh, audit.exposed, found.rows, strict=True
            )
        ],
    }
