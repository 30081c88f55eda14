"""Where the problems measure and where they do not: bands of difficulty, what they weigh, and what should be added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from eval import sheets
from eval.audits.broken_months import BrokenRuns, left_out
from eval.audits.refusals import grouped, named
from eval.cautions import differing_fields
from eval.common_window import settings_of
from eval.eligibility import CutoffStatus, UsedCutoff
from eval.own_windows import OwnWindows
from eval.sheets import Sheet, Table
from eval.statistics.difficulty import (
    Acceptance,
    Coverage,
    Fill,
    Weight,
    accept_problem,
    coverage,
    fill_list,
    group_weights,
)
from eval.statistics.irt import Fit, fit
from eval.statistics.irt_sampling import HeldOut, held_out
from eval.statistics.linking import Overlap, overlap


@dataclass(frozen=True)
class Candidate:
    """A problem put to the acceptance test of a band [low, high) of difficulty."""

    name: str
    low: float
    high: float
    result: Acceptance


@dataclass(frozen=True)
class DifficultyAudit:
    """The fit to what each run's cut-off allows, and what it says of the problems; no fit with a ``refusal``.

    ``held`` says how well results are predicted that no fit has seen; ``labels`` what each difficulty label weighs.
    ``broken`` months, by the name of the run, are not in it. ``shown`` are the rows to show (None: all).
    """

    own: OwnWindows
    overlap: Overlap
    refusal: str | None
    made_at: datetime
    fitted: Fit | None = None
    covered: Coverage | None = None
    fills: tuple[Fill, ...] = ()
    labels: Mapping[str, Weight] = field(default_factory=dict)
    held: HeldOut | None = None
    candidates: tuple[Candidate, ...] = ()
    broken: Mapping[str, Sequence[str]] = field(default_factory=dict)
    shown: tuple[int, ...] | None = None

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows to show."""
        return tuple(range(len(self.own.board.runs))) if self.shown is None else self.shown


def audit_difficulty(
    own: OwnWindows,
    seed: int,
    *,
    now: datetime,
    of_interest: Sequence[int] = (),
    band: tuple[float, float] | None = None,
    candidates: Sequence[int] = (),
    broken: BrokenRuns | None = None,
    shown: Sequence[int] | None = None,
) -> DifficultyAudit:
    """Fit abilities and difficulties to clean results alone, and look at the bands about the models.

    ``of_interest`` are the rows of the models that matter (none: all). ``candidates`` are problems, by column, that are
    left out of the fit and put to the acceptance test of ``band``. ``shown`` are the rows to show; all are fitted.
    What is ``broken`` is left out. ``seed`` draws the results that are held out.
    """
    lost: Mapping[str, Sequence[str]] = {}
    if broken is not None:
        lost = broken.within(own.board, own.clean)
        own = replace(own, clean=own.clean & ~broken.cells(own.board))
    rows = None if shown is None else tuple(shown)
    scores = own.scores
    if band is not None and candidates:
        scores[:, list(candidates)] = np.nan
    shared = overlap(scores)
    if shared.refusal is not None:
        return DifficultyAudit(own, shared, shared.refusal, now, broken=lost, shown=rows)
    fitted = fit(scores)
    covered = coverage(fitted, scores, list(of_interest) or None)
    tested = []
    if band is not None:
        for column in candidates:
            problem = own.board.problems[column]
            result = accept_problem(own.scores[:, column], fitted, scores, *band)
            tested.append(Candidate(f"{problem.platform}:{problem.native_id}", *band, result))
    return DifficultyAudit(
        own,
        shared,
        covered.refusal,
        now,
        fitted,
        covered,
        fill_list(covered),
        group_weights(fitted, scores, own.board.difficulties),
        held_out(scores, np.random.default_rng(seed)),
        tuple(tested),
        lost,
        rows,
    )


def difficulty_sheet(audit: DifficultyAudit) -> Sheet:
    """The bands, the models in them, what labels weigh, what to add, and the candidates' tests."""
    board, n_problems = audit.own.board, int(audit.own.clean.any(axis=0).sum())
    conditions = [
        f"{len(board.runs)} runs, {n_problems} problems, {int(audit.own.clean.sum())} results after the cut-offs",
        "two-parameter item response theory (MAP); abilities and difficulties in logits, 0 = the average model",
        f"made {audit.made_at:%Y-%m-%dT%H:%MZ}",
        *left_out(audit.broken),
        *(f"not in it: {line}" for line in grouped((one.model, one.reason) for one in audit.own.not_scored)),
    ]
    if audit.shown is not None:
        names = named([board.names[row] for row in audit.shown])
        conditions.append(
            f"shown: {names or 'none, as none of the models asked for has results to fit'}; all were fitted"
        )
    tables: list[Table] = []
    if audit.fitted is None or audit.covered is None:
        return Sheet("Difficulty", tuple(conditions), (), (f"no fit: {audit.refusal}",), {"refusal": audit.refusal})
    tables.append(_band_table(audit))
    tables.append(_model_table(audit, audit.fitted))
    tables.append(_label_table(audit))
    if audit.candidates:
        tables.append(_candidate_table(audit))
    return Sheet("Difficulty", tuple(conditions), tuple(tables), tuple(_notes(audit)), _as_dict(audit))


def _band_table(audit: DifficultyAudit) -> Table:
    assert audit.covered is not None
    fills = {(fill.low, fill.high): fill for fill in audit.fills}
    rows = []
    for band in audit.covered.bands:
        fill = fills.get((band.low, band.high))
        names = named([audit.own.board.names[place] for place in band.near if place in audit.rows])
        rows.append(
            (
                f"{band.low:+.2f} to {band.high:+.2f}",
                band.n_problems,
                band.share_of_information,
                band.se,
                fill.missing if fill else None,
                names,
            )
        )
    columns = (
        sheets.text("difficulty"),
        sheets.count("problems"),
        sheets.percent("of information"),
        sheets.number("s.e. of an ability"),
        sheets.count("to add"),
        sheets.text("models near"),
    )
    return Table("Bands of difficulty", columns, tuple(rows))


def _model_table(audit: DifficultyAudit, fitted: Fit) -> Table:
    rows = []
    for place in audit.rows:
        own, n_own = audit.own.own(place)
        cutoff = _written(audit.own.cutoffs[place])
        rows.append((audit.own.board.names[place], cutoff, n_own, own, fitted.ability(place)))
    rows.sort(key=lambda row: -(row[-1] if row[-1] is not None else -np.inf))
    columns = (
        sheets.text("model"),
        sheets.text("cut-off"),
        sheets.count("problems"),
        sheets.percent("pass@1"),
        sheets.number("ability"),
    )
    return Table("Models", columns, tuple(rows))


def _written(used: UsedCutoff | None) -> str | None:
    """A cut-off as its source writes it, with a mark where a release date stands in for it."""
    return None if used is None else used.cutoff.as_written + ("?" if _is_assumed(used) else "")


def _is_assumed(used: UsedCutoff | None) -> bool:
    return used is not None and used.status is CutoffStatus.ASSUMED


def _label_table(audit: DifficultyAudit) -> Table:
    columns = (
        sheets.text("label"),
        sheets.count("problems"),
        sheets.percent("of problems"),
        sheets.percent("of information"),
    )
    rows = tuple(
        (label, one.n_problems, one.share_of_problems, one.share_of_information) for label, one in audit.labels.items()
    )
    return Table("What each difficulty label really weighs", columns, rows)


def _candidate_table(audit: DifficultyAudit) -> Table:
    columns = (
        sheets.text("problem"),
        sheets.number("difficulty"),
        sheets.number("with the rest"),
        sheets.text("result"),
    )
    rows = tuple((c.name, c.result.difficulty, c.result.item_rest, c.result.sentence) for c in audit.candidates)
    return Table("Acceptance of new problems", columns, rows)


def _notes(audit: DifficultyAudit) -> Iterator[str]:
    assert audit.covered is not None
    assert audit.fitted is not None
    if audit.refusal is not None:
        yield f"no bands: {audit.refusal}"
    below = audit.covered.below
    yield f"{audit.covered.sentence}; {below} are solved by every model that tried: neither tells models apart"
    if audit.fills:
        worst = audit.fills[0]
        band = f"{worst.low:+.2f} to {worst.high:+.2f}"
        yield f"{len(audit.fills)} bands need new problems, first {band}: {worst.reason}"
        yield (
            "a new problem passes (--candidate) if its difficulty is in the band and its correlation with the rest is "
            "above 0.20"
        )
    yield '"to add" makes 5 problems in the band and brings the error of an ability in its middle down to 0.30'
    yield '"of information" is what a band or label weighs in telling these models apart'
    yield from _unseen(audit.held)
    if audit.fitted.discrimination_refusal:
        yield f"no discrimination of single problems is given: {audit.fitted.discrimination_refusal}"
    if any(_is_assumed(audit.own.cutoffs[place]) for place in audit.rows):
        yield "?: no cut-off is stated; the release date stands in for it"
    silent = [audit.own.board.names[place] for place in audit.rows if audit.fitted.ability(place) is None]
    if silent:
        yield f"no result after the cut-off, so no ability: {', '.join(silent)}"
    for line in differing_fields([settings_of(run) for run in audit.own.board.runs]):
        yield f"the runs differ in {line}: what that changes is taken for ability"
    if not audit.fitted.converged:
        yield "the fit did not converge: read it with care"


def _unseen(held: HeldOut | None) -> Iterator[str]:
    """How well unseen results are predicted, and what follows where that is not well."""
    if held is None or held.two_pl is None or held.one_pl is None or held.item_mean is None:
        yield f"how well unseen results are predicted is not known: {held.refusal if held else 'there is no fit'}"
        return
    yield (
        f"{held.n_cells} results held out, loss of each in nats (lower is better): {held.two_pl:.3f} by this fit, "
        f"{held.one_pl:.3f} with one slope for all problems (1PL), {held.additive:.3f} by model + problem, "
        f"{held.item_mean:.3f} by the problem's mean"
    )
    if held.two_pl >= held.item_mean:
        yield "this fit predicts unseen results no better than the problems' means do: do not rely on these bands"
    elif held.two_pl >= held.one_pl:
        yield "slopes of their own do not help to predict unseen results: do not rely on what bands and labels weigh"


def _as_dict(audit: DifficultyAudit) -> Mapping[str, Any]:
    assert audit.covered is not None
    assert audit.fitted is not None
    names = audit.own.board.names
    return {
        "refusal": audit.refusal,
        "bands": [{**asdict(band), "near": [names[place] for place in band.near]} for band in audit.covered.bands],
        "to_add": [{**asdict(fill), "near": [names[place] for place in fill.near]} for fill in audit.fills],
        "beyond_the_strongest": audit.covered.beyond,
        "below_the_weakest": audit.covered.below,
        "labels": [{"label": label, **asdict(one)} for label, one in audit.labels.items()],
        "held_out": asdict(audit.held) if audit.held else None,
        "models": [
            {
                "model": names[place],
                "cutoff": None if (used := audit.own.cutoffs[place]) is None else used.cutoff.as_written,
                "cutoff_status": None if used is None else used.status,
                "ability": audit.fitted.ability(place),
            }
            for place in audit.rows
        ],
        "broken_months": audit.broken,
        "problems": [
            {"problem": f"{one.platform}:{one.native_id}", "difficulty": audit.fitted.difficulty(place)}
            for place, one in enumerate(audit.own.board.problems)
        ],
        "candidates": [asdict(candidate) for candidate in audit.candidates],
        "converged": audit.fitted.converged,
    }
