"""Scans without a date: who is scanned, what withholds a break, and what its p hangs on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from eval.statistics.breaks import JudgedBreak, ScanCase, judge_breaks
from eval.statistics.changepoint import differences, scan

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CONTESTS = 60
CLUSTERS = np.repeat(np.arange(CONTESTS), 4)
EVERY = np.ones(CLUSTERS.size, dtype=np.bool_)
CONTROLS = (1, 2, 3, 4, 5, 6)


def draws(row: int) -> np.random.Generator:
    return np.random.default_rng([11, row])


ABILITIES = (-1.5, -0.9, -0.3, 0.3, 0.9, 1.5)


def simulated(
    seed: int,
    ability: float = 0.0,
    *,
    gaps: dict[int, float] | None = None,
    level: float = 0.0,
    drift: float = 0.0,
    others: tuple[float, ...] = ABILITIES,
) -> FloatArray:
    """A model and six controls on problems of 60 contests; who has a gap (logits) has it in the first 22.

    Problems are of such a level, and become harder by ``drift`` in the middle.
    """
    rng = np.random.default_rng(seed)
    hard = rng.normal(level, 1.2, CLUSTERS.size) + drift * (CLUSTERS >= CONTESTS // 2)
    logits = np.array([ability, *others])[:, None] - hard
    learnt = CLUSTERS <= 21
    for row, gap in (gaps or {}).items():
        logits[row] += gap * learnt
    return np.asarray(rng.binomial(10, 1 / (1 + np.exp(-logits))) / 10, dtype=np.float64)


def judged(scores: FloatArray, **options: object) -> JudgedBreak:
    (found,) = judge_breaks(scores, CLUSTERS, CLUSTERS, [ScanCase(0, EVERY, CONTROLS)], draws, **options)  # type: ignore[arg-type]
    return found


def test_what_was_learnt_breaks_off_where_it_ends() -> None:
    found = judged(simulated(1, gaps={0: 2.0}))
    assert found.is_break
    assert found.found is not None
    assert found.found.last_before is not None
    assert abs(found.found.last_before - 21) <= 1
    assert (found.found.n_items, found.found.n_contests, found.n_left_out) == (240, 60, 0)
    assert [one.control for one in found.placebos] == list(CONTROLS)
    clean = judged(simulated(1))
    assert (clean.is_told, clean.is_break) == (True, False)


@pytest.mark.parametrize("seed", range(6))
def test_a_strong_model_beside_weak_controls_is_not_scanned(seed: int) -> None:
    """It has learnt nothing, and breaks off from them where problems become harder, as a scan by itself says."""
    scores = simulated(seed, ability=2.5, level=0.5, drift=2.0, others=(-1.5, -1.2, -0.9, -0.6, -0.3, 0.0))
    by_itself = scan(differences(scores[0], scores[1:]), CLUSTERS, CLUSTERS, draws(0))
    assert by_itself.p is not None
    assert by_itself.p < 0.05
    found = judged(scores)
    assert found.refusal == "its ability lies more than 0.5 logits outside those of its controls"
    assert (found.found, found.p_holm, found.is_told) == (None, None, False)


def test_a_control_with_a_break_withholds_that_of_a_model() -> None:
    found = judged(simulated(2, gaps={0: 2.0, 4: 2.0}))
    assert found.against == (4,)
    assert found.withheld == "withheld: placebo failed (1 of 6 controls have a break that they cannot have)"
    assert (found.is_told, found.is_break) == (False, False)
    # It does so for a model that shows none as well: what is withheld says nothing of p.
    assert judged(simulated(2, gaps={4: 2.0})).withheld == found.withheld


def test_a_run_that_breaks_off_is_no_memoriser() -> None:
    scores = simulated(3, ability=0.9, level=-1.5)
    scores[0] = np.where(CLUSTERS < 30, scores[0], np.round(2 * scores[0]) / 10)
    found = judged(scores)
    assert found.withheld == "withheld: run broken? (at the date of a break)"


def test_a_break_has_to_pass_as_a_gap_at_its_date() -> None:
    """Problems that are hard for nearly all become harder yet: strong models within reach seem to break off."""
    kept, seen = 0, 0
    for seed in range(12):
        scores = simulated(seed, ability=1.9, level=1.5, drift=3.0)
        by_itself = scan(differences(scores[0], scores[1:]), CLUSTERS, CLUSTERS, draws(0))
        seen += by_itself.p is not None and by_itself.p < 0.05
        kept += judged(scores).is_break
    assert seen >= 6
    assert kept <= 1


def test_controls_of_two_models_are_too_few() -> None:
    found = judged(simulated(1, gaps={0: 2.0}), families=[0, 7, 7, 7, 8, 8, 8])
    assert found.refusal == (
        "needs at least 3 controls of different families with results on 90% of its problems, there are 2 (6 runs)"
    )
    none = judge_breaks(simulated(1), CLUSTERS, CLUSTERS, [ScanCase(0, EVERY, ()), ScanCase(1, ~EVERY, (2,))], draws)
    assert [one.refusal for one in none] == [
        "needs at least 3 controls of different families with results on 90% of its problems, there are 0",
        "has no results on the problems of the scan",
    ]
    assert judge_breaks(simulated(1), CLUSTERS, CLUSTERS, [], draws) == ()


def test_problems_that_a_control_lacks_are_counted() -> None:
    """Six controls lack 20 problems each, no two the same: half of what the model has answered is not in the scan."""
    scores = simulated(1, gaps={0: 2.0})
    scores[7 - 1, :30] = np.nan  # more than one in ten: no control of it
    for row in CONTROLS[:5]:
        scores[row, 30 + 20 * row : 50 + 20 * row] = np.nan
    found = judged(scores)
    assert found.controls == CONTROLS[:5]
    assert found.found is not None
    assert (found.found.n_items, found.n_left_out) == (140, 100)


def test_p_hangs_on_no_other_model() -> None:
    """In any order, and among others: only Holm's factor counts them."""
    scores = simulated(4, gaps={0: 0.3})
    alone = judged(scores)
    extra = np.vstack([scores, simulated(5)[:2]])
    for rows in ((0, 7, 8), (8, 7, 0)):
        cases = [ScanCase(row, EVERY, CONTROLS) for row in rows]
        found = {one.model: one for one in judge_breaks(extra, CLUSTERS, CLUSTERS, cases, draws)}
        assert found[0].found == alone.found
        assert found[0].placebos == alone.placebos


def test_like_ability_hears_only_placebos_about_such_models() -> None:
    """The strongest control breaks off from weaker ones: that says nothing about a model far below it."""
    scores = simulated(6, ability=-0.8, level=0.5, drift=2.0, others=(-1.5, -1.2, -0.9, -0.6, -0.3, 2.5))
    every, alike = judged(scores), judged(scores, like_ability=True)
    assert every.against == (6,)
    assert alike.withheld is None
