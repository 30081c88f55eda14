"""Scores under a user's own mix of work, beside the plain ones: each run on problems after its model's cut-off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from eval import sheets
from eval.audits.broken_months import BrokenRuns, still_in
from eval.audits.refusals import grouped, named
from eval.basis import basis_of
from eval.board import build_board
from eval.cautions import age_cautions, cutoff_cautions
from eval.common_window import cutoff_text
from eval.eligibility import NotScored, UsedCutoff
from eval.evaluation import RunOutcomes, digest_of_problems
from eval.models import Registry
from eval.report import TOO_FEW_PROBLEMS, cutoff_fields, utc_text
from eval.settings import Settings
from eval.sheets import Sheet, Table
from eval.statistics.intervals import Interval, interval
from eval.statistics.weighting import WeightedScore, WeightedStratum, post_stratified
from eval.window import ProblemFacts, Window, classify
from eval.workloads import Workload


@dataclass(frozen=True)
class WeightedRun:
    """One run on its own window: its mean (a share, None with fewer than 10 problems) and its weighted score.

    ``cautions`` say what is weak about its cut-off.
    """

    name: str
    window: Window
    cutoff: UsedCutoff | None
    n_problems: int
    plain: float | None
    plain_interval: Interval | None
    weighted: WeightedScore
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True)
class WeightsAudit:
    """The runs that have a window, those that have none, and what all of this rests on.

    ``unweighted`` are the kinds of problems with results that have no weight, ``broken`` the months of runs that look
    broken and are counted all the same; ``cautions`` say what is weak about the problems as a whole.
    """

    runs: tuple[WeightedRun, ...]
    not_scored: tuple[NotScored, ...]
    workload: Workload
    problem_set_digest: str
    made_at: datetime
    unweighted: tuple[str, ...] = ()
    broken: Mapping[str, Sequence[str]] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()


def audit_weights(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    settings: Settings,
    workload: Workload,
    *,
    now: datetime,
    broken: BrokenRuns | None = None,
) -> WeightsAudit:
    """Weigh each run's problems after its own cut-off, within the settings' filters and bounds."""
    admitted = [problem for problem in problems if settings.admits(problem)]
    board = build_board(admitted, runs)
    strata = np.array(workload.strata(board.problems), dtype=np.str_)
    scores, clusters = board.scores, board.clusters
    found, refused = [], []
    used = np.zeros(board.seen.shape, dtype=np.bool_)
    for place, run in enumerate(board.runs):
        basis = basis_of(run, registry, settings, now)
        if isinstance(basis, NotScored):
            refused.append(basis)
            continue
        clean = [
            classify(one, basis.window, include_flagged=settings.include_flagged) is None for one in board.problems
        ]
        own = np.array(clean, dtype=np.bool_) & board.seen[place]
        used[place] = own
        values, contests = scores[place, own], clusters[own]
        is_rate = values.size >= TOO_FEW_PROBLEMS
        weighted = post_stratified(values, contests, strata[own], workload.weights())
        found.append(
            WeightedRun(
                board.names[place],
                basis.window,
                basis.known,
                int(own.sum()),
                float(values.mean()) if is_rate else None,
                interval(values, contests.tolist()) if is_rate else None,
                _checked(weighted),
                (*basis.cautions, *cutoff_cautions(cutoff_fields(basis.known), basis.window)),
            )
        )
    taken = np.asarray(used.any(axis=0))
    counted = board.take(taken).problems
    digest = digest_of_problems(counted, imported=all(run.imported for run in board.runs))
    return WeightsAudit(
        tuple(found),
        tuple(dict.fromkeys(refused)),
        workload,
        digest,
        now,
        tuple(sorted(set(strata[taken].tolist()) - set(workload.weights()))),
        broken.within(board, used) if broken is not None else {},
        tuple(age_cautions(counted, now)),
    )


def _checked(weighted: WeightedScore) -> WeightedScore:
    """The score, withheld where fewer than 10 problems carry it: that is a list, and no rate."""
    if weighted.n >= TOO_FEW_PROBLEMS:
        return weighted
    there = f"there are {weighted.n}" if weighted.n else "there is none in its window"
    refusal = f"no weighted score: needs at least {TOO_FEW_PROBLEMS} problems of the kinds that have a weight, {there}"
    return WeightedScore(weighted.strata, weighted.n, weighted.n_outside, weighted.n_contests, refusal=refusal)


def weights_sheet(audit: WeightsAudit) -> Sheet:
    """The scores of each run, and of the kinds of problems what they weigh and how many there are."""
    columns = (
        sheets.text("model"),
        sheets.text("cut-off"),
        sheets.text("from (UTC)"),
        sheets.count("problems"),
        sheets.percent("plain"),
        sheets.interval(key="plain"),
        sheets.count("used problems"),
        sheets.count("used contests"),
        sheets.percent("weighted"),
        sheets.interval(key="weighted"),
        sheets.percent("s.e."),
        sheets.points("change"),
        sheets.number("effective n", 0),
    )
    return Sheet(
        title="Scores under your workload",
        conditions=(
            f"workload: {audit.workload.described()}",
            "each model on problems published after its own training cut-off",
            f"problem set {audit.problem_set_digest[:12]}; made {audit.made_at:%Y-%m-%dT%H:%MZ}",
            *still_in(audit.broken),
            *(f"not scored: {one.model}: {one.reason}" for one in audit.not_scored),
        ),
        tables=(
            Table("", columns, tuple(_row(run) for run in audit.runs), tuple(_notes(audit))),
            _strata_table(audit),
        ),
        data=_as_dict(audit),
    )


def _row(run: WeightedRun) -> tuple[sheets.Cell, ...]:
    weighted, plain = run.weighted, run.plain_interval
    change = None if weighted.score is None or run.plain is None else weighted.score - run.plain
    return (
        run.name,
        None if run.cutoff is None else cutoff_text(run.cutoff),
        utc_text(run.window.start),
        run.n_problems,
        run.plain,
        None if plain is None else sheets.span(plain.low, plain.high),
        weighted.n,
        weighted.n_contests,
        weighted.score,
        sheets.span(weighted.low, weighted.high),
        weighted.cluster_se,
        change,
        weighted.n_eff,
    )


def _notes(audit: WeightsAudit) -> Iterator[str]:
    if not audit.runs:
        yield "no score: no run has a usable cut-off"
    yield from grouped((run.name, run.weighted.refusal) for run in audit.runs)
    yield from grouped((run.name, line) for run in audit.runs for line in (*run.weighted.warnings, *run.cautions))
    yield from audit.cautions
    if audit.unweighted:
        yield f"of a kind without a weight, so in plain alone: {named(list(audit.unweighted))}"
    yield (
        "percent; plain counts all problems alike, weighted the used problems (those of a kind with a weight) as your "
        "workload has them; change is the second less the first, in percentage points"
    )
    yield "effective n: as many equally weighted problems would say as much; s.e. is over contests"
    yield "models have different windows: these scores do not rank them"


def _strata_table(audit: WeightsAudit) -> Table:
    columns = (
        sheets.text("kind"),
        sheets.percent("weight", 0),
        sheets.from_to("share of problems", scale=100),
        sheets.from_to("problems"),
        sheets.from_to("solved", 1, 100),
    )
    weights = audit.workload.weights()
    total = sum(weights.values())
    scored = [run for run in audit.runs if run.n_problems]
    rows = []
    for code, weight in weights.items():
        strata = [(run, one) for run in scored for one in run.weighted.strata if one.code == code]
        shares = [one.n / run.n_problems for run, one in strata]
        means = [one.mean for _, one in strata if one.mean is not None and one.n >= TOO_FEW_PROBLEMS]
        rows.append(
            (code, weight / total, _ends(shares), _ends([one.n for _, one in strata]), _ends(means)),
        )
    notes = (
        "from the model with least to the one with most; shares and solved in percent, "
        f"solved of those with at least {TOO_FEW_PROBLEMS} problems of the kind",
    )
    return Table("Kinds of problems", columns, tuple(rows), notes)


def _ends(values: list[float] | list[int]) -> tuple[float, float] | None:
    return (min(values), max(values)) if values else None


def _as_dict(audit: WeightsAudit) -> dict[str, Any]:
    return {
        "workload": {"platform": dict(audit.workload.platform), "difficulty": dict(audit.workload.difficulty)},
        "weights": audit.workload.weights(),
        "problem_set_digest": audit.problem_set_digest,
        "rows": [
            {
                "model": run.name,
                "window_from": run.window.start,
                "window_to": run.window.end,
                **cutoff_fields(run.cutoff),
                "n_problems": run.n_problems,
                "plain": None if run.plain_interval is None else {"score": run.plain, **asdict(run.plain_interval)},
                "weighted": {**asdict(run.weighted), "strata": [_stratum_dict(one) for one in run.weighted.strata]},
                "cautions": run.cautions,
            }
            for run in audit.runs
        ],
        "not_scored": [asdict(one) for one in audit.not_scored],
        "kinds_without_weight": audit.unweighted,
        "cautions": audit.cautions,
        "broken_months": audit.broken,
    }


def _stratum_dict(one: WeightedStratum) -> dict[str, Any]:
    """A kind of problems; its mean is none where fewer than 10 have a result."""
    return asdict(one) | ({} if one.n >= TOO_FEW_PROBLEMS else {"mean": None, "se": None})
