"""A measure of memorisation against gaps: of a file, and of the store."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.audits.broken_months import broken_runs
from eval.audits.contamination import ContaminationAudit, audit_contamination, is_withheld
from eval.audits.memorisation import (
    CutoffGap,
    audit_file,
    audit_memorisation,
    judged_gaps,
    memorisation_sheet,
    plain_gaps,
)
from eval.audits.selection import Selection, select
from eval.board import EPOCH
from eval.cutoffs import parse_cutoff
from eval.evaluation import RunOutcomes
from eval.measures import MeasuresError, read_measures
from eval.models import Alias, Registry
from eval.settings import Settings
from eval.sheets import sheet_to_json
from eval.window import ProblemFacts
from tests.eval.facts import NOW, claim, model, problem, registry, run

MONTHS = [f"{2023 + month // 12}-{1 + month % 12:02}-15" for month in range(24)]
PROBLEMS = [problem(number, MONTHS[number % 24], contest=f"c{number % 24}") for number in range(120)]


def selection(runs: list[RunOutcomes], models: Registry, problems: list[ProblemFacts] = PROBLEMS) -> Selection:
    return select(problems, runs, models, Settings(after_cutoff=False, since=EPOCH), now=NOW)


def solver(name: str, before: int, after: int, last: int = 12) -> RunOutcomes:
    """So many of 10 samples right in the first months and in those from ``last`` on."""
    return run(name, [(number, 10, before if number % 24 < last else after) for number in range(120)])


def gaps_of(runs: list[RunOutcomes], models: Registry) -> tuple[CutoffGap, ...]:
    chosen = selection(runs, models)
    return plain_gaps(chosen, models, broken_runs(chosen.board))


def test_the_gap_of_the_store_by_hand() -> None:
    runs = [solver("knows", 9, 3), solver("a", 6, 4), solver("b", 5, 3), solver("c", 4, 5), solver("undated", 1, 1)]
    models = registry(*(model(name, "2023-12") for name in ("knows", "a", "b", "c")), model("undated", None))
    found = {one.name: one for one in gaps_of(runs, models)}
    # Others of "knows": (6 + 5 + 4 + 1) / 4 = 4.0 before, (4 + 3 + 5 + 1) / 4 = 3.25 after. December 2023 is left out.
    assert found["knows"].gap == pytest.approx((0.9 - 0.4) - (0.3 - 0.325))
    assert (found["knows"].n_before, found["knows"].n_after) == (55, 60)
    assert found["undated"].refusal == "no cut-off is known"


def test_a_gap_needs_problems_on_both_sides_and_others() -> None:
    models = registry(*(model(name, "2023-02") for name in "abcd"), model("late", "2025-06"))
    runs = [solver(name, 5, 4) for name in "abcd"]
    (first, *_) = gaps_of(runs, models)
    assert first.refusal is not None
    assert first.refusal.endswith("there are 5 and 110 problems of 1 and 22 contests")
    (late, *_) = gaps_of([solver("late", 5, 5), *runs], models)
    assert late.refusal == "all problems that it shares with 3 other models lie on one side of the cut-off"
    (alone, *_) = gaps_of(runs[:3], models)
    assert alone.gap is None  # two others


def test_runs_of_one_model_are_no_peers_of_each_other() -> None:
    models = registry(*(model(name, "2023-12") for name in "abcd"))
    runs = [solver("a", 9, 3), solver("a", 0, 0), *(solver(name, 5, 5) for name in "bcd")]
    found = gaps_of(runs, models)
    assert found[0].gap == pytest.approx(0.6)
    assert found[1].gap == pytest.approx(0.0)


def test_several_runs_of_one_model_are_one_other() -> None:
    models = registry(*(model(name, "2023-12") for name in "abcd"))
    runs = [solver("a", 9, 3), *(solver(name, 5, 5) for name in "bc")]
    twice = [replace(solver("d", *right), label=f"run {right}") for right in ((2, 8), (4, 8))]
    (tested, *_) = gaps_of([*runs, *twice], models)
    # d counts as its mean, .3 before and .8 after: others .4333 and .6.
    assert tested.gap == pytest.approx(0.9 - 0.3 - (1.3 - 1.8) / 3)
    (few, *_) = gaps_of([runs[0], runs[1], *twice], models)  # b and d are two models
    assert few.gap is None


def test_a_release_date_is_no_cut_off() -> None:
    """Nothing is surely from before it, so that there is no before to set against an after."""
    released = model("new", None, release=parse_cutoff("2023-12-20"), release_source="https://example.org")
    placeholder = model("old", release=parse_cutoff("2025-03-01"), claims=(claim("2023-12", source=None),))
    models = registry(released, placeholder, *(model(name, "2023-12") for name in "abcd"))
    chosen = selection([solver("new", 9, 3), solver("old", 9, 3), *(solver(name, 5, 5) for name in "abcd")], models)
    audit = audit_memorisation(read_measures("model,measure\nnew,1\nold,2\na,3\n", "f"), chosen, models, 0)
    assert [one.gap for one in audit.points][:2] == [None, None]
    assert audit.points[2].gap is not None
    assert audit.points[0].missing == (
        "no cut-off is stated: the release date stands in for it, and nothing is surely from before it"
    )
    assert (audit.points[1].missing or "").startswith("the cut-off 2023-12 is 15 months before the release")


def test_before_the_cut_off_is_before_all_that_is_claimed_of_it() -> None:
    """Claims of 2023-10 and of 2023-12: October and November are on neither side; a day begins early in the east."""
    names = "abcd"
    both = model("x", None, claims=(claim("2023-12"), claim("2023-10")))
    models = registry(both, *(model(name, "2023-12") for name in names))
    runs = [solver("x", 9, 3), *(solver(name, 5, 5) for name in names)]
    (found, *_) = gaps_of(runs, models)
    assert (found.n_before, found.n_after) == (9 * 5, 12 * 5)
    edge = [problem(number, "2023-09-30T12:00Z" if number % 24 == 8 else MONTHS[number % 24], contest=f"c{number % 24}")
            for number in range(120)]  # fmt: skip
    chosen = selection(runs, models, edge)
    (near, *_) = plain_gaps(chosen, models, broken_runs(chosen.board))
    assert near.n_before == 8 * 5  # it was October in Samoa


def test_points_of_the_store_and_their_correlation() -> None:
    names = [f"m{place}" for place in range(12)]
    models = registry(*(model(name, "2023-12") for name in names), model("idle"))
    runs = [solver(name, 5 + place // 3, 5 - place // 4) for place, name in enumerate(names)]
    chosen = selection(runs, models)
    lines = [f"{name.upper()},{place}" for place, name in enumerate(names)]
    measures = read_measures("\n".join(["model,measure", *lines, "idle,3", "m99,"]), "f")
    audit = audit_memorisation(measures, chosen, models, 0)
    assert audit.found.n == 12
    assert audit.found.rho is not None
    assert audit.found.rho > 0.9
    sheet = memorisation_sheet(audit)
    assert "idle, m99: left out: no run and no imported result" in sheet.tables[1].notes
    assert [row[0] for row in sheet.tables[1].rows] == names[::-1]
    assert any("plain difference in differences" in line for line in sheet.conditions)
    document = json.loads(sheet_to_json(sheet))
    assert document["correlation"]["without_low"]["model"] in names
    assert len(document["points"]) == 14


def test_few_models_are_points_only() -> None:
    measures = read_measures("model,measure,gap,origin\na,1,10,us\nb,2,,us\n", "f")
    audit = audit_file(measures, 0)
    assert audit.found.rho is None
    sheet = memorisation_sheet(audit)
    assert sheet.tables[0].notes == (
        "no correlation: needs at least 10 models with a measure and a gap, there are 1: look at the points",
    )
    assert [row[0] for row in sheet.tables[1].rows] == ["a"]
    assert "b: left out: no gap" in sheet.tables[1].notes


@pytest.mark.shared
def test_the_recorded_file_of_gsm1k(shared_data: Path) -> None:
    """Recorded: rho .288, p .039 over 52 models, and a bootstrap interval from -.01 to .55 (another random stream)."""
    path = shared_data / "leaderboards" / "gsm1k_loglik_vs_gap.csv"
    text = path.read_text(encoding="utf-8")
    names = "avg_char_norm_loglik", "overfit_gsm8k_minus_gsm1k"
    with pytest.raises(MeasuresError, match="these look like shares"):  # as which they were recorded
        read_measures(text, "f", *names)
    rows = list(csv.DictReader(io.StringIO(text)))
    lines = [f"{row['model']},{row[names[0]]},{100 * float(row[names[1]])}" for row in rows]
    measures = read_measures("\n".join(["model,measure,gap", *lines]), "f")
    found = audit_file(measures, 0).found
    assert (found.n, found.rho, found.p) == pytest.approx((52, 0.288, 0.039), abs=5e-4)
    assert np.array([found.low, found.high], dtype=float) == pytest.approx([-0.01, 0.55], abs=0.02)


def contaminated(tested: int) -> tuple[ContaminationAudit, Registry]:
    """Six controls and so many models with a cut-off at the end of 2023, on 360 problems; all are honest."""
    rng = np.random.default_rng(5)
    problems = [problem(number, MONTHS[number % 24], contest=f"c{number % 72}") for number in range(360)]
    hard = rng.normal(0, 1, 360)
    names = [*(f"control{place}" for place in range(6)), *(f"m{place}" for place in range(tested))]
    abilities = [*np.linspace(-1.5, 1.5, 6), *np.linspace(-1.2, 1.2, tested)]
    runs = [
        run(name, [(n, 10, int(right)) for n, right in enumerate(rng.binomial(10, 1 / (1 + np.exp(hard - ability))))])
        for name, ability in zip(names, abilities, strict=True)
    ]
    models = registry(*(model(name, "2022-10" if name.startswith("c") else "2023-12") for name in names))
    return audit_contamination(selection(runs, models, problems), models, (), 0), models


def test_gaps_of_the_contamination_audit_where_ten_models_have_one() -> None:
    audit, models = contaminated(14)
    gaps = {one.name: one for one in judged_gaps(audit)}
    assert gaps["control0"].refusal == "not tested: it serves as a control, or has no result"
    for one in audit.panels[0].judged:
        found = gaps[audit.selection.board.names[one.model]]
        if is_withheld(one):
            assert (found.gap, found.refusal) == (None, str(one.verdict))
        else:
            assert one.gap is not None
            assert one.gap.points is not None
            assert (found.gap, found.se) == (one.gap.points.value, one.gap.points.se)
    named = sorted(name for name, one in gaps.items() if one.gap is not None)
    assert len(named) >= 10
    text = "\n".join(["model,measure", *(f"{name},{place}" for place, name in enumerate([*named, "control0"]))])
    correlated = audit_memorisation(read_measures(text, "f"), audit.selection, models, 0, audit)
    assert correlated.which_gap.startswith("that of live audit contamination")
    assert [one.gap for one in correlated.points] == [gaps[name].gap for name in [*named, "control0"]]
    few = read_measures("\n".join(text.splitlines()[:10]), "f")
    plain = audit_memorisation(few, audit.selection, models, 0, audit)
    assert plain.which_gap.startswith("before less after")
    assert "has one, not withheld, for 9 of the file's models: 10 are needed" in plain.which_gap
    expected = plain_gaps(audit.selection, models, broken_runs(audit.selection.board))
    assert plain.points[0].gap == {one.name: one.gap for one in expected}[named[0]]


def test_a_model_under_several_names_is_one_model() -> None:
    models = registry(model("a", "2023-12", aliases=(Alias("a-latest"),)), *(model(name, "2023-12") for name in "bcd"))
    chosen = selection([solver(name, 5, 4) for name in "abcd"], models)
    measures = read_measures("model,measure\na,1\nA-latest,2\nb,3\n", "f")
    audit = audit_memorisation(measures, chosen, models, 0)
    assert [one.missing for one in audit.points] == [None, "the same model stands on an earlier line", None]
