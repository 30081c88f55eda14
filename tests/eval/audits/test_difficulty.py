"""Where problems measure: bands, labels and the acceptance of new problems."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.audits.difficulty import DifficultyAudit, audit_difficulty, difficulty_sheet
from eval.evaluation import Settings
from eval.own_windows import OwnWindows, own_windows
from eval.sheets import sheet_to_json
from eval.statistics.irt_sampling import HeldOut
from eval.window import parse_since
from tests.eval.facts import NOW, matrix, model, problem, registry, run


def simulated(n_models: int = 8, seed: int = 1) -> OwnWindows:
    """Problems of difficulty -2 to 2 in steps of 0.1, and one that nobody solves; abilities from -1.5 to 1.5."""
    rng = np.random.default_rng(seed)
    difficulties = np.arange(-20, 21) / 10
    problems = [problem(number, "2024-06-01", contest=f"c{number // 2}") for number in range(42)]
    runs = []
    for place, ability in enumerate(np.linspace(-1.5, 1.5, n_models)):
        solved = rng.binomial(20, 1 / (1 + np.exp(difficulties - ability)))
        runs.append(run(f"m{place}", [*((n, 20, int(c)) for n, c in enumerate(solved)), (41, 20, 0)]))
    models = registry(*(model(f"m{place}") for place in range(n_models)))
    return own_windows(problems, runs, models, Settings(), now=NOW)


def test_bands_about_the_models_and_what_is_beyond_them() -> None:
    audit = audit_difficulty(simulated(), 0, now=NOW)
    assert audit.covered is not None
    assert (audit.covered.beyond, audit.covered.below) == (1, 0)
    assert sum(band.n_problems for band in audit.covered.bands) <= 41
    assert sum(label.n_problems for label in audit.labels.values()) == 42
    assert audit.labels["easy"].share_of_information == pytest.approx(1.0)
    sheet = difficulty_sheet(audit)
    assert "beyond the strongest model: 1 problem;" in sheet.notes[0]
    document = json.loads(sheet_to_json(sheet))
    assert len(document["problems"]) == 42


def test_bands_say_what_they_weigh() -> None:
    sheet = difficulty_sheet(audit_difficulty(simulated(), 0, now=NOW))
    bands = sheet.tables[0]
    assert [column.heading for column in bands.columns][2] == "of information"
    shares = [row[2] for row in bands.rows]
    assert 0.9 < sum(share for share in shares if isinstance(share, float)) <= 1.0


def test_the_acceptance_of_a_problem_leaves_it_out_of_the_fit() -> None:
    """Problem 20 has difficulty 0: right for the band about 0, wrong for one about 2."""
    own = simulated()
    fits, misses = (
        audit_difficulty(own, 0, now=NOW, band=band, candidates=[20]).candidates[0].result
        for band in ((-1.0, 1.0), (1.5, 2.5))
    )
    assert fits.accepted, fits.sentence
    assert not misses.accepted
    assert "outside 1.50 to 2.50" in misses.sentence
    nobody = audit_difficulty(own, 0, now=NOW, band=(-1.0, 1.0), candidates=[41]).candidates[0].result
    assert nobody.sentence == "refused: no model solves it, so that its difficulty is not known"


def test_how_well_unseen_results_are_predicted_is_said() -> None:
    audit = audit_difficulty(simulated(), 3, now=NOW)
    assert audit.held is not None
    assert audit.held == audit_difficulty(simulated(), 3, now=NOW).held
    assert audit.held != audit_difficulty(simulated(), 4, now=NOW).held
    assert audit.held.n_cells == 8 * 42
    losses = audit.held.two_pl, audit.held.item_mean
    assert losses[0] is not None
    assert losses[1] is not None
    assert losses[0] < losses[1] - 0.05
    notes = difficulty_sheet(audit).notes
    (line,) = (note for note in notes if "held out" in note)
    assert line.startswith("336 results held out, loss of each in nats (lower is better): 0.")
    assert not any("do not rely" in note for note in notes)
    assert json.loads(sheet_to_json(difficulty_sheet(audit)))["held_out"]["n_cells"] == 336


def test_slopes_and_bands_that_predict_nothing_are_warned_of() -> None:
    """Coins: no model is better than another, and no problem harder."""
    rng = np.random.default_rng(6)
    problems = [problem(number, "2024-06-01", contest=f"c{number // 4}") for number in range(120)]
    runs = [run(f"m{place}", [(n, 1, int(rng.integers(0, 2))) for n in range(120)]) for place in range(8)]
    models = registry(*(model(f"m{place}") for place in range(8)))
    own = own_windows(problems, runs, models, Settings(), now=NOW)
    audit = audit_difficulty(own, 0, now=NOW)
    notes = difficulty_sheet(audit).notes
    assert any("do not rely on" in note for note in notes)
    held = HeldOut(0.5, 0.5, 0.6, 0.6, 100)
    worse = difficulty_sheet(replace(audit, held=held)).notes
    assert "this fit predicts unseen results no better than the problems' means do: do not rely on these bands" in worse
    missing = difficulty_sheet(replace(audit, held=HeldOut(None, None, None, None, 0, "too few"))).notes
    assert "how well unseen results are predicted is not known: too few" in missing


def test_without_enough_in_common_there_is_no_fit() -> None:
    audit = audit_difficulty(simulated(n_models=4), 0, now=NOW)
    assert audit.fitted is None
    sheet = difficulty_sheet(audit)
    assert sheet.tables == ()
    assert sheet.notes[0].startswith("no fit: ")


def recorded(shared_data: Path) -> DifficultyAudit:
    problems, runs = matrix(shared_data, "lcb_v1_2024-04-17")
    models = registry(*(model(one.model) for one in runs))
    settings = Settings(after_cutoff=False, since=parse_since("2023-09-01"))
    return audit_difficulty(own_windows(problems, runs, models, settings, now=NOW), 0, now=NOW)


@pytest.mark.shared
def test_the_recorded_board_has_70_problems_that_nobody_solves(shared_data: Path) -> None:
    """irt tables of the recorded board: 70 of 238 problems; three more, as five with two dates stand twice."""
    audit = recorded(shared_data)
    assert audit.covered is not None
    assert audit.covered.beyond == 70 + 3
    hard = audit.labels["hard"]
    assert hard.share_of_information is not None
    assert hard.share_of_information < hard.share_of_problems
