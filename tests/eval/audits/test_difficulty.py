"""Where problems measure: bands, labels and the acceptance of new problems."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.audits.difficulty import DifficultyAudit, Proposed, audit_difficulty, difficulty_sheet
from eval.cutoffs import parse_cutoff
from eval.own_windows import OwnWindows, own_windows
from eval.settings import Settings
from eval.sheets import sheet_to_json
from eval.statistics.irt_sampling import HeldOut
from eval.window import parse_since
from tests.eval.facts import NOW, claim, matrix, model, problem, registry, run


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
    audit = audit_difficulty(simulated(), Settings(), 0, now=NOW)
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
    sheet = difficulty_sheet(audit_difficulty(simulated(), Settings(), 0, now=NOW))
    bands = sheet.tables[0]
    assert [column.heading for column in bands.columns][2] == "of information"
    shares = [row[2] for row in bands.rows]
    assert 0.9 < sum(share for share in shares if isinstance(share, float)) <= 1.0


def test_the_acceptance_of_a_problem_leaves_it_out_of_the_fit() -> None:
    """Problem 20 has difficulty 0: right for the band about 0, wrong for one about 2."""
    own = simulated()
    fits, misses = (
        audit_difficulty(own, Settings(), 0, now=NOW, proposed=Proposed(*band, (20,))).candidates[0].result
        for band in ((-1.0, 1.0), (1.5, 2.5))
    )
    assert fits.accepted, fits.sentence
    assert not misses.accepted
    assert "outside 1.50 to 2.50" in misses.sentence
    nobody = audit_difficulty(own, Settings(), 0, now=NOW, proposed=Proposed(-1.0, 1.0, (41,))).candidates[0].result
    assert nobody.sentence == "refused: no model solves it, so that its difficulty is not known"


def test_how_well_unseen_results_are_predicted_is_said() -> None:
    audit = audit_difficulty(simulated(), Settings(), 3, now=NOW)
    assert audit.held is not None
    assert audit.held == audit_difficulty(simulated(), Settings(), 3, now=NOW).held
    assert audit.held != audit_difficulty(simulated(), Settings(), 4, now=NOW).held
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
    audit = audit_difficulty(own, Settings(), 0, now=NOW)
    notes = difficulty_sheet(audit).notes
    assert any("do not rely on" in note for note in notes)
    held = HeldOut(0.5, 0.5, 0.6, 0.6, 100)
    worse = difficulty_sheet(replace(audit, held=held)).notes
    assert "this fit predicts unseen results no better than the problems' means do: do not rely on these bands" in worse
    missing = difficulty_sheet(replace(audit, held=HeldOut(None, None, None, None, 0, "too few"))).notes
    assert "how well unseen results are predicted is not known: too few" in missing


def test_without_enough_in_common_there_is_no_fit() -> None:
    audit = audit_difficulty(simulated(n_models=4), Settings(), 0, now=NOW)
    assert audit.fitted is None
    sheet = difficulty_sheet(audit)
    assert sheet.tables == ()
    assert sheet.notes[0] == (
        "no abilities, and no difficulties: needs at least 5 models that share problems, there are 4"
    )


def test_several_runs_of_one_model_are_one_model() -> None:
    own = simulated(5)
    settings = [replace(one, model="m", label=one.model) for one in own.board.runs]
    same = own_windows(own.board.problems, settings, registry(model("m")), Settings(), now=NOW)
    audit = audit_difficulty(same, Settings(), 0, now=NOW)
    assert audit.refusal == "needs at least 5 models that share problems, there are 1"
    assert difficulty_sheet(audit).conditions[0].startswith("5 runs of 1 model, 42 problems")
    assert audit_difficulty(own, Settings(), 0, now=NOW).refusal is None


def test_one_problem_is_neither_a_rate_nor_an_ability() -> None:
    own = simulated(8)
    problems = [*own.board.problems, problem(500), problem(501)]
    runs = [*own.board.runs, run("m8", [(3, 1, 1)])]
    models = registry(*(model(f"m{place}") for place in range(9)))
    beside = own_windows(problems, runs, models, Settings(), now=NOW)
    audit = audit_difficulty(beside, Settings(), 0, now=NOW)
    sheet = difficulty_sheet(audit)
    rows = {row[0]: row for row in sheet.tables[1].rows}
    assert rows["m8"][2:] == (1, "1 of 1", None, None)
    assert "m8: no ability: needs results on at least 30 problems that 3 models share" in sheet.notes
    assert not any("m8" in str(row[-1]) for row in sheet.tables[0].rows)
    document = json.loads(sheet_to_json(sheet))
    last = document["models"][8]
    assert (last["n_problems"], last["score"], last["n_solved"], last["ability"]) == (1, None, 1.0, None)
    # It bends nothing, and the others have an error.
    alone = audit_difficulty(own, Settings(), 0, now=NOW)
    assert audit.fitted is not None
    assert alone.fitted is not None
    assert audit.fitted.theta[:8] == pytest.approx(alone.fitted.theta)
    assert all(0.0 < row["se"] < 1.0 for row in document["models"][:8])


def test_difficulties_come_with_their_error_and_number_of_results() -> None:
    document = json.loads(sheet_to_json(difficulty_sheet(audit_difficulty(simulated(), Settings(), 0, now=NOW))))
    assert {one["n_runs"] for one in document["problems"]} == {8}
    assert all(one["se"] > 0 for one in document["problems"])
    assert document["seed"] == 0
    assert len(document["problem_set_digest"]) == 64
    assert document["settings"]["after_cutoff"]


def test_weak_cut_offs_and_old_problems_are_said_once() -> None:
    own = simulated(5)
    weak = [model("m0", "2023"), model("m1", None, claims=(claim("2023-10", source=None),))]
    released = model("m2", None, release=parse_cutoff("2023-11-05"), release_source="https://example.org")
    models = registry(*weak, released, model("m3"), model("m4"))
    again = own_windows(own.board.problems, own.board.runs, models, Settings(), now=NOW)
    sheet = difficulty_sheet(audit_difficulty(again, Settings(), 0, now=NOW))
    for line in (
        'm0: cut-off known only as "2023": its last day counts',
        "m1: cut-off without a source",
        "m2: cut-off unknown: release date used (2023-11-05)",
        "published more than 12 months ago, so clean for this snapshot only: 42 of the problems",
    ):
        assert sheet.notes.count(line) == 1
    assert sum("release date" in line for line in sheet.notes) == 1


def test_nobody_of_interest_is_not_everybody() -> None:
    audits = [audit_difficulty(simulated(), Settings(), 0, now=NOW, of_interest=rows) for rows in (None, (), (0, 3))]
    near = [{row for band in one.covered.bands for row in band.near} for one in audits if one.covered]
    assert near == [set(range(8)), set(), {0, 3}]


def recorded(shared_data: Path) -> DifficultyAudit:
    problems, runs = matrix(shared_data, "lcb_v1_2024-04-17")
    models = registry(*(model(one.model) for one in runs))
    settings = Settings(after_cutoff=False, since=parse_since("2023-09-01"))
    return audit_difficulty(own_windows(problems, runs, models, settings, now=NOW), settings, 0, now=NOW)


@pytest.mark.shared
def test_the_recorded_board_has_70_problems_that_nobody_solves(shared_data: Path) -> None:
    """irt tables of the recorded board: 70 of 238 problems; three more, as five with two dates stand twice."""
    audit = recorded(shared_data)
    assert audit.covered is not None
    assert audit.covered.beyond == 70 + 3
    hard = audit.labels["hard"]
    assert hard.share_of_information is not None
    assert hard.share_of_information < hard.share_of_problems
