"""The table of estimated scores: models with different windows on one reference set, by item response theory. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval import sheets
from eval.audits.selection import published
from eval.board import on_samples_alone
from eval.cautions import BUILD_HINT, age_cautions, differing_fields, split_lines
from eval.common_window import cutoff_text, cutoffs_cautions, settings_of
from eval.eligibility import CutoffStatus
from eval.evaluation import RunOutcomes, digest_of_problems
from eval.models import Registry
from eval.own_windows import OwnWindows, own_windows
from eval.report import TOO_FEW_PROBLEMS, cutoff_fields, too_few
from eval.settings import Settings
from eval.sheets import Sheet, Table
from eval.statistics.linking import MIN_MODELS, EquatedScores, equate
from eval.test_basis import TestBasis, basis_of_tests, basis_text, basis_to_dict
from eval.window import ProblemFacts, Window, quality_reason

LARGE_DIFFERENCE = 0.03
HALF = 0.5


@dataclass(frozen=True)
class EquatedRuns:
    """Runs with the results that their cut-offs allow, and their estimated scores on the reference set.

    The reference set are the problems of the window that the settings give, or all, of those that a run has answered.
    ``n_thin`` of them were published in quarters that fewer than 5 runs have answered; ``n_unanswered`` sound problems
    of the window have no result and are not in it, ``n_samples_only`` have tests that are the samples alone.
    """

    own: OwnWindows
    reference: NDArray[np.bool_]
    found: EquatedScores
    n_thin: int
    n_unanswered: int
    settings: Settings
    made_at: datetime
    environment_digest: str | None = None
    n_samples_only: int = 0

    @property
    def tests(self) -> TestBasis | None:
        """What the tests of the reference set are, as far as programs were judged on it here; None: they were not."""
        judged = [place for place, run in enumerate(self.own.board.runs) if run.rests_on_tests]
        if not judged:
            return None
        return basis_of_tests(self.own.board.take(self.reference & self.own.clean[judged].any(axis=0)).problems)

    @property
    def refusal(self) -> str | None:
        """Why there are no estimates; several runs of one model are one model."""
        n_models = self.own.board.n_models
        if n_models < MIN_MODELS:
            return f"equating needs at least {MIN_MODELS} models, there are {n_models}"
        return self.found.refusal


def equate_runs(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    settings: Settings,
    rng: np.random.Generator,
    *,
    now: datetime,
    environment_digest: str | None = None,
) -> EquatedRuns:
    """Estimate every run's score on one reference set from the results that lie after its own cut-off.

    ``since`` and ``until`` of the settings bound the reference set, not the results used. What a model may have seen
    before its cut-off is left out before anything is fitted.
    """
    universe = tuple(problems)
    own = own_windows(universe, runs, registry, replace(settings, after_cutoff=True, since=None, until=None), now=now)
    reference = np.array([_in_reference(one, settings) for one in own.board.problems], dtype=np.bool_)
    reference &= own.clean.any(axis=0)
    strata, thin = _quarters(own)
    models = [run.model.casefold() for run in own.board.runs]
    found = equate(own.scores, own.board.clusters, reference, rng, strata=strata, models=models)
    sound = [one for one in universe if _is_sound(one, settings)]
    n_samples_only = sum(on_samples_alone(sound, own.board.runs).values())
    return EquatedRuns(
        own=own,
        reference=reference,
        found=found,
        n_thin=int((thin & reference).sum()),
        n_unanswered=len(sound) - n_samples_only - int(reference.sum()),
        settings=settings,
        made_at=now,
        environment_digest=environment_digest,
        n_samples_only=n_samples_only,
    )


def _is_sound(problem: ProblemFacts, settings: Settings) -> bool:
    """Whether a problem could be in the reference set, had anybody answered it."""
    return (
        settings.admits(problem)
        and _in_reference(problem, settings)
        and quality_reason(problem, include_flagged=settings.include_flagged) is None
    )


def _quarters(own: OwnWindows) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The stratum of each problem, and which problems lie in quarters that fewer than 5 runs have answered.

    A quarter of publication has a mean difficulty of its own, since newer problems are harder: with one for all,
    estimates come out about 2 points low. A quarter that few runs have answered goes with the next one that has enough
    (else the last): one strong run alone cannot tell easy problems from its own strength.
    """
    quarters = np.array([_quarter(one) for one in own.board.problems], dtype=np.int64)
    enough = [
        quarter
        for quarter in np.unique(quarters).tolist()
        if own.clean[:, quarters == quarter].any(axis=1).sum() >= MIN_MODELS
    ]
    if not enough:
        return np.zeros_like(quarters), np.ones(len(quarters), dtype=np.bool_)
    places = np.searchsorted(enough, quarters).clip(max=len(enough) - 1)
    return np.asarray(places, dtype=np.int64), ~np.isin(quarters, enough)


def _quarter(problem: ProblemFacts) -> int:
    at = problem.exposed_at
    return -1 if at is None else 4 * at.year + (at.month - 1) // 3


def _in_reference(problem: ProblemFacts, settings: Settings) -> bool:
    at = problem.exposed_at
    if at is None:
        return False
    return (settings.since is None or at >= settings.since) and (settings.until is None or at < settings.until)


def equated_sheet(equated: EquatedRuns, seed: int) -> Sheet:
    """The estimated scores, best first."""
    columns = (
        sheets.text("model"),
        sheets.text("cut-off"),
        sheets.count("own problems"),
        sheets.percent("own pass@1"),
        sheets.percent("estimated"),
        sheets.interval(),
        sheets.percent("answered, %", key="answered"),
    )
    rows = []
    for place in _order(equated):
        one, used = equated.found.scores[place], equated.own.cutoffs[place]
        own, n_own = equated.own.own(place)
        rows.append(
            (
                equated.own.board.names[place],
                cutoff_text(used) if used is not None else None,
                n_own,
                own if n_own >= TOO_FEW_PROBLEMS else None if own is None else f"{own * n_own:.3g} of {n_own}",
                one.estimate if equated.refusal is None else None,
                sheets.span(one.low, one.high) if equated.refusal is None else None,
                one.answered,
            )
        )
    settings = equated.settings
    window = published(Window(None, settings.since, settings.until))
    digest = digest_of_problems(_referred(equated), imported=all(run.imported for run in equated.own.board.runs))
    n, alone = equated.n_unanswered, equated.n_samples_only
    conditions = [
        f"reference set: {len(_referred(equated))} problems published {window}; problem set {digest[:12]}",
        *([f"{n} sound problems of that window have no clean result and are not in it"] if n else []),
        *([f"{alone} have sample tests only and are not in it: {BUILD_HINT}"] if alone else []),
        *([tests] if (tests := basis_text(equated.tests)) else []),
        *split_lines(settings.split),
        "each model's results after its own cut-off only; what lies before was left out before the fit",
        f"made {equated.made_at:%Y-%m-%dT%H:%MZ}",
    ]
    return Sheet(
        title="Estimated scores on one reference set (two-parameter item response theory)",
        conditions=tuple(conditions),
        tables=(Table("", columns, tuple(rows), tuple(_notes(equated, seed))),),
        notes=(
            *cutoffs_cautions(equated.own.board.names, equated.own.cutoffs, Window()),
            *age_cautions(_referred(equated), equated.made_at),
            *(f"not scored: {model.model}: {model.reason}" for model in equated.own.not_scored),
        ),
        data={
            "reference_from": settings.since,
            "reference_to": settings.until,
            "n_reference": len(_referred(equated)),
            "n_unanswered": equated.n_unanswered,
            "n_samples_only": equated.n_samples_only,
            "tests": basis_to_dict(equated.tests),
            "problem_set_digest": digest,
            "environment_digest": equated.environment_digest,
            "settings": settings.as_dict(),
            "made_at": equated.made_at,
            "refusal": equated.refusal,
            "rows": [_as_dict(equated, place) for place in _order(equated)],
            "not_scored": [{"model": one.model, "reason": one.reason} for one in equated.own.not_scored],
            "seed": seed,
        },
    )


def _referred(equated: EquatedRuns) -> list[ProblemFacts]:
    """The problems of the reference set that estimates rest on: all of it without estimates."""
    meant = equated.reference
    if equated.refusal is None:
        fitted = np.array([one.estimate is not None for one in equated.found.scores], dtype=np.bool_)
        meant = meant & equated.own.clean[fitted].any(axis=0)
    return [one for one, is_meant in zip(equated.own.board.problems, meant, strict=True) if is_meant]


def _order(equated: EquatedRuns) -> list[int]:
    """Best estimate first; by name where there is none."""
    names, found = equated.own.board.names, equated.found.scores
    if equated.refusal is not None:
        return sorted(range(len(names)), key=lambda place: names[place])
    return sorted(range(len(names)), key=lambda place: (-(found[place].estimate or 0.0), names[place]))


def _notes(equated: EquatedRuns, seed: int) -> Iterator[str]:
    found = equated.found
    if equated.refusal is not None:
        yield f"no estimate: {equated.refusal}"
        return
    for line in differing_fields([settings_of(run) for run in equated.own.board.runs]):
        yield f"the runs differ in {line}"
    yield "estimated scores are what the model would be expected to solve of the reference set; they were not measured"
    yield (
        '"95 %" is for these very problems, and holds as far as the item response model does; "answered" is the share '
        "of the reference set that the model has answered"
    )
    if any(used is not None and used.status is CutoffStatus.ASSUMED for used in equated.own.cutoffs):
        yield "a cut-off marked ? is not known: the release date stands in for it"
    yield (
        f"the models hang together by {found.overlap.n_anchors} problems that 3 or more of them answered; "
        f"intervals from {found.draws} refits to contests drawn anew, seed {seed}"
    )
    yield f"each quarter of publication that {MIN_MODELS} runs have answered has a mean difficulty of its own"
    if equated.n_thin:
        yield (
            f"{equated.n_thin} of its problems were published in quarters that fewer than {MIN_MODELS} runs have "
            "answered: what the others would solve there rests on those few"
        )
    thin = sum(one.estimate is not None and one.answered < HALF for one in found.scores)
    if thin:
        yield f"{thin} models are estimated from results on less than half of the reference set"
    for place, one in enumerate(found.scores):
        if one.refusal is not None:
            yield f"{equated.own.board.names[place]}: no estimate: {one.refusal}"
    if found.largest_difference is not None and found.largest_difference > LARGE_DIFFERENCE:
        yield (
            f"the one-parameter model differs by up to {100 * found.largest_difference:.1f} points: "
            "read the estimates with care"
        )
    if found.converged is False:
        yield "the fit did not converge: read the estimates with care"


def _as_dict(equated: EquatedRuns, place: int) -> Mapping[str, Any]:
    own, n_own = equated.own.own(place)
    one = equated.found.scores[place]
    if equated.refusal is not None:
        one = replace(one, estimate=None, low=None, high=None, refusal=equated.refusal)
    return {
        "model": equated.own.board.names[place],
        "settings": settings_of(equated.own.board.runs[place]),
        **cutoff_fields(equated.own.cutoffs[place]),
        "n_own_problems": n_own,
        "own_score": own,
        "own_reason": None if n_own >= TOO_FEW_PROBLEMS else too_few(n_own),
        **asdict(one),
    }
