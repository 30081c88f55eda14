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
from eval.cautions import age_cautions, cutoff_cautions, differing_fields
from eval.common_window import cutoff_text, settings_of
from eval.evaluation import digest_of_problems
from eval.own_windows import OwnWindows
from eval.report import TOO_FEW_PROBLEMS, cutoff_fields
from eval.settings import Settings
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
from eval.statistics.irt_sampling import AbilityErrors, HeldOut, ability_errors, held_out
from eval.statistics.linking import FEW_ANCHORS, linked
from eval.window import ProblemFacts, window_for

DRAWS = 100


@dataclass(frozen=True)
class Proposed:
    """Problems, by column, that should fill the band [low, high) of difficulty, in logits."""

    low: float
    high: float
    columns: tuple[int, ...]


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

    A run with too little in common with others is not in the fit. ``errors`` are those of the abilities. ``held`` says
    how well results are predicted that no fit has seen; ``labels`` what each difficulty label weighs. ``broken``
    months, by the name of the run, are not in it. ``shown`` are the rows to show (None: all).
    """

    own: OwnWindows
    settings: Settings
    refusal: str | None
    made_at: datetime
    seed: int
    fitted: Fit | None = None
    errors: AbilityErrors | None = None
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

    @property
    def problems(self) -> tuple[ProblemFacts, ...]:
        """The problems with a result after the cut-off of its run."""
        return self.own.board.take(np.asarray(self.own.clean.any(axis=0))).problems

    @property
    def digest(self) -> str:
        """The digest of these problems, in hex."""
        return digest_of_problems(self.problems, imported=all(run.imported for run in self.own.board.runs))


def audit_difficulty(
    own: OwnWindows,
    settings: Settings,
    seed: int,
    *,
    now: datetime,
    of_interest: Sequence[int] | None = None,
    proposed: Proposed | None = None,
    broken: BrokenRuns | None = None,
    shown: Sequence[int] | None = None,
) -> DifficultyAudit:
    """Fit abilities and difficulties to clean results alone, and look at the bands about the models.

    ``settings`` are those that made ``own``. ``of_interest`` are the rows of the models that matter, None: all.
    ``proposed`` is left out of the fit and put to the acceptance test of its band. ``shown`` are the rows to show; all
    are fitted. What is ``broken`` is left out. ``seed`` draws the contests for the errors of abilities, and the results
    that are held out.
    """
    lost: Mapping[str, Sequence[str]] = {}
    if broken is not None:
        lost = broken.within(own.board, own.clean)
        own = replace(own, clean=own.clean & ~broken.cells(own.board))
    rows = None if shown is None else tuple(shown)
    scores = own.scores
    if proposed is not None:
        scores[:, list(proposed.columns)] = np.nan
    kept, shared = linked(scores, [run.model.casefold() for run in own.board.runs])
    scores[~kept] = np.nan
    if shared.refusal is not None:
        return DifficultyAudit(own, settings, shared.refusal, now, seed, broken=lost, shown=rows)
    fitted = fit(scores)
    covered = coverage(fitted, scores, of_interest)
    tested = []
    if proposed is not None:
        low, high = proposed.low, proposed.high
        for column in proposed.columns:
            problem = own.board.problems[column]
            result = accept_problem(own.scores[:, column], fitted, scores, low, high)
            tested.append(Candidate(f"{problem.platform}:{problem.native_id}", low, high, result))
    return DifficultyAudit(
        own,
        settings,
        covered.refusal,
        now,
        seed,
        fitted,
        ability_errors(fitted, scores, own.board.clusters, DRAWS, np.random.default_rng([seed, DRAWS])),
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
    board, n_problems = audit.own.board, len(audit.problems)
    whom = f"{len(board.runs)} runs" + (f" of {_models(board.n_models)}" if board.n_models < len(board.runs) else "")
    conditions = [
        f"{whom}, {n_problems} problems, {int(audit.own.clean.sum())} results after the cut-offs",
        "two-parameter item response theory (MAP); abilities and difficulties in logits, 0 = the average model",
        f"problem set {audit.digest[:12]}; made {audit.made_at:%Y-%m-%dT%H:%MZ}",
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
        notes = (f"no abilities, and no difficulties: {audit.refusal}", *_cautions(audit))
        return Sheet("Difficulty", tuple(conditions), (), notes, _measured(audit))
    if audit.candidates:
        tables.append(_candidate_table(audit))
    tables += [_band_table(audit), _model_table(audit, audit.fitted), _label_table(audit)]
    return Sheet("Difficulty", tuple(conditions), tuple(tables), tuple(_notes(audit)), _as_dict(audit))


def _models(n: int) -> str:
    return "1 model" if n == 1 else f"{n} models"


def _band_table(audit: DifficultyAudit) -> Table:
    assert audit.covered is not None
    fills = {(fill.low, fill.high): fill for fill in audit.fills}
    rows = []
    for band in audit.covered.bands:
        fill = fills.get((band.low, band.high))
        names = named([audit.own.board.names[place] for place in band.near if place in audit.rows])
        rows.append(
            (
                (band.low, band.high),
                band.n_problems,
                band.share_of_information,
                band.se,
                fill.missing if fill else None,
                names,
            )
        )
    columns = (
        sheets.Column("difficulty", "+.2f", between=" to "),
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
        (own, n_own), used = audit.own.own(place), audit.own.cutoffs[place]
        score: sheets.Cell = own
        if own is not None and n_own < TOO_FEW_PROBLEMS:
            score = f"{own * n_own:.3g} of {n_own}"
        cutoff = None if used is None else cutoff_text(used)
        rows.append((audit.own.board.names[place], cutoff, n_own, score, fitted.ability(place), _error(audit, place)))
    rows.sort(key=lambda row: -(row[4] if row[4] is not None else -np.inf))
    columns = (
        sheets.text("model"),
        sheets.text("cut-off"),
        sheets.count("problems"),
        sheets.percent("pass@1"),
        sheets.number("ability"),
        sheets.number("s.e."),
    )
    return Table("Models", columns, tuple(rows))


def _error(audit: DifficultyAudit, place: int) -> float | None:
    return audit.errors.se[place] if audit.errors is not None else None


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
    yield from grouped((audit.own.board.names[place], _without_ability(audit, place)) for place in audit.rows)
    if audit.errors is not None:
        drawn = f"s.e. of an ability: over {audit.errors.draws} refits to contests drawn anew, seed {audit.seed}"
        yield drawn if audit.errors.refusal is None else f"no s.e. of abilities: {audit.errors.refusal}"
    yield from _cautions(audit)
    for line in differing_fields([settings_of(run) for run in audit.own.board.runs]):
        yield f"the runs differ in {line}: what that changes is taken for ability"
    if not audit.fitted.converged:
        yield "the fit did not converge: read it with care"


def _without_ability(audit: DifficultyAudit, place: int) -> str | None:
    if audit.fitted is None or audit.fitted.ability(place) is not None:
        return None
    return f"no ability: {FEW_ANCHORS if audit.own.clean[place].any() else 'no result after the cut-off'}"


def _cautions(audit: DifficultyAudit) -> Iterator[str]:
    """What is weak about the cut-offs of the rows that are shown, and about the problems."""
    settings = audit.settings
    lines = []
    for place in audit.rows:
        name, used = audit.own.board.names[place], audit.own.cutoffs[place]
        if used is not None:
            window = window_for(used.cutoff, since=settings.since, until=settings.until, margin=settings.margin)
            lines += [(name, line) for line in cutoff_cautions(cutoff_fields(used), window)]
    yield from grouped(lines)
    yield from age_cautions(audit.problems, audit.made_at)


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


def _measured(audit: DifficultyAudit) -> dict[str, Any]:
    """What was looked at, as plain values; it stands whether there is a fit or not."""
    return {
        "refusal": audit.refusal,
        "settings": audit.settings.as_dict(),
        "problem_set_digest": audit.digest,
        "made_at": audit.made_at,
        "seed": audit.seed,
        "broken_months": audit.broken,
        "not_scored": [{"model": one.model, "reason": one.reason} for one in audit.own.not_scored],
    }


def _model_dict(audit: DifficultyAudit, fitted: Fit, place: int) -> dict[str, Any]:
    own, n_own = audit.own.own(place)
    return {
        "model": audit.own.board.names[place],
        **cutoff_fields(audit.own.cutoffs[place]),
        "n_problems": n_own,
        "score": own if n_own >= TOO_FEW_PROBLEMS else None,
        "n_solved": None if own is None else own * n_own,
        "ability": fitted.ability(place),
        "se": _error(audit, place),
        "reason": _without_ability(audit, place),
    }


def _as_dict(audit: DifficultyAudit) -> Mapping[str, Any]:
    assert audit.covered is not None
    assert audit.fitted is not None
    names, fitted = audit.own.board.names, audit.fitted
    return {
        **_measured(audit),
        "bands": [{**asdict(band), "near": [names[place] for place in band.near]} for band in audit.covered.bands],
        "to_add": [{**asdict(fill), "near": [names[place] for place in fill.near]} for fill in audit.fills],
        "beyond_the_strongest": audit.covered.beyond,
        "below_the_weakest": audit.covered.below,
        "labels": [{"label": label, **asdict(one)} for label, one in audit.labels.items()],
        "held_out": asdict(audit.held) if audit.held else None,
        "models": [_model_dict(audit, fitted, place) for place in audit.rows],
        "problems": [
            {
                "problem": f"{one.platform}:{one.native_id}",
                "difficulty": (difficulty := fitted.difficulty(place)),
                "se": None if difficulty is None else float(fitted.difficulty_se[place]),
                "n_runs": int(fitted.cells_of_problem[place]),
            }
            for place, one in enumerate(audit.own.board.problems)
        ],
        "candidates": [asdict(candidate) for candidate in audit.candidates],
        "converged": audit.fitted.converged,
    }
