"""A measure of problems against each model's results: a simulated board, a recorded one, and refusals."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.audits.exposure import ExposureAudit, RunExposure, audit_exposure
from eval.audits.exposure_sheet import exposure_sheet
from eval.audits.selection import Selection, select
from eval.board import EPOCH
from eval.cutoffs import parse_cutoff
from eval.evaluation import RunOutcomes
from eval.measures import MeasuresError, ProblemMeasures, read_problem_measures
from eval.models import Registry
from eval.settings import Settings
from eval.sheets import sheet_to_csv, sheet_to_json
from eval.window import ProblemFacts
from tests.eval.facts import NOW, claim, matrix, model, problem, registry, run
from tests.eval.statistics.boards import table

MONTHS = [f"{2023 + month // 12}-{1 + month % 12:02}-15" for month in range(24)]
PROBLEMS = [problem(number, MONTHS[number % 24], contest=f"c{number % 72}") for number in range(288)]
BEFORE = np.arange(288) % 24 < 11
COUNTS = np.random.default_rng(3).lognormal(2, 1, 288)


def chosen(runs: list[RunOutcomes], models: Registry, problems: list[ProblemFacts] = PROBLEMS) -> Selection:
    return select(problems, runs, models, Settings(after_cutoff=False, since=EPOCH), now=NOW)


def audited(
    found: ProblemMeasures, runs: list[RunOutcomes], models: Registry, problems: list[ProblemFacts] = PROBLEMS
) -> ExposureAudit:
    return audit_exposure(found, chosen(runs, models, problems), models)


def measures(counts: np.ndarray[tuple[int], np.dtype[np.float64]] = COUNTS) -> ProblemMeasures:
    lines = [f"atcoder:p{number},{count},code search" for number, count in enumerate(counts)]
    return _read("\n".join(["problem,measure,origin", *lines]))


def board(slope: float = 1.0, n_models: int = 8) -> list[RunOutcomes]:
    """Models that know nothing, and "knows", whose log-odds rise by ``slope`` per log(1 + count) before 2023-12."""
    rng = np.random.default_rng(4)
    hard = rng.normal(0, 1.2, 288)
    runs = []
    for place, ability in enumerate(np.linspace(-1, 1, n_models)):
        runs.append(simulated(f"m{place}", ability - hard, rng))
    known = np.where(BEFORE, slope * (np.log1p(COUNTS) - np.log1p(COUNTS).mean()), 0.0)
    return [*runs, simulated("knows", known - hard, rng)]


def simulated(name: str, logits: np.ndarray[tuple[int], np.dtype[np.float64]], rng: np.random.Generator) -> RunOutcomes:
    solved = rng.binomial(5, 1 / (1 + np.exp(-logits)))
    return run(name, [(number, 5, int(right)) for number, right in enumerate(solved)])


def dated(runs: list[RunOutcomes], early: int = 0) -> Registry:
    """Cut-offs at 2023-12; the first few a year earlier, so that all of their results are clean."""
    return registry(*(model(one.model, "2022-11" if place < early else "2023-12") for place, one in enumerate(runs)))


def of(audit: ExposureAudit, name: str) -> RunExposure:
    return next(row for row in audit.rows if row.name == name)


def test_what_is_learnt_by_heart_shows_before_the_cut_off_alone() -> None:
    runs = board()
    audit = audited(measures(), runs, dated(runs, early=6))
    knows = of(audit, "knows")
    assert knows.difficulty_by is not None
    assert knows.difficulty_by.startswith("other models' results from after their own cut-offs")
    assert knows.before is not None
    assert knows.after is not None
    assert (knows.before.found.n, knows.after.found.n) == (132, 144)  # December 2023 is on neither side
    assert knows.before.found.count is not None
    assert knows.before.found.count.low > 1.5
    assert knows.before.found.count.low < np.e < knows.before.found.count.high
    assert knows.before.p_holm is not None
    assert knows.before.p_holm < 1e-4
    assert knows.after.found.count is not None
    assert knows.after.found.count.low < 1 < knows.after.found.count.high
    assert knows.change is not None
    assert knows.change.low > 1
    # Three models have problems on both sides; the six with the early cut-off have none before it.
    assert audit.n_tests == (3, 9)
    early = of(audit, "m0").before
    assert early is not None
    assert early.found.refusal == "needs at least 15 problems of 4 contests, there are 0 of 0"
    others = [side for row in audit.rows if row.name != "knows" for _, side in row.sides]
    assert all(side.p_holm is None or side.p_holm > 0.05 for side in others)


def test_all_results_of_others_give_difficulties_where_too_few_are_clean() -> None:
    runs = board()
    audit = audited(measures(), runs, dated(runs))
    assert audit.n_tests == (9, 9)
    sheet = exposure_sheet(audit)
    notes = "\n".join(sheet.tables[0].notes)
    assert "difficulty by all results of other models" in notes
    assert "Holm p: over 9 tests before and, apart from them, 9 after" in notes
    document = json.loads(sheet_to_json(sheet))
    rows = {row["model"]: row for row in document["rows"]}
    assert rows["knows"]["before"]["count"]["value"] == pytest.approx(np.e, rel=0.35)
    assert document["origin"] == "code search"
    head, *lines = csv.reader(io.StringIO(sheet_to_csv(sheet)))
    assert head[1:6] == ["model", "side", "cutoff", "problems", "solved"]
    assert head[6:11] == ["odds_ratio", "ci_low", "ci_high", "p", "p_holm"]
    assert [line[2] for line in lines[:3]] == ["before", "after", "before / after"]


def test_labels_give_difficulties_where_models_are_few() -> None:
    levels = [("easy", "medium", "hard")[number % 3] for number in range(288)]
    labelled = [
        problem(number, MONTHS[number % 24], contest=f"c{number % 72}", difficulty=level)
        for number, level in enumerate(levels)
    ]
    rng = np.random.default_rng(8)
    only = simulated(
        "only", np.log1p(COUNTS) - 2 - np.array([{"easy": -1, "hard": 1}.get(one, 0) for one in levels]), rng
    )
    audit = audited(measures(), [only], registry(model("only", "2023-12")), labelled)
    (row,) = audit.rows
    assert row.difficulty_by is not None
    assert row.difficulty_by.startswith("the platforms' labels")
    assert row.before is not None
    assert row.before.found.count is not None
    assert row.before.found.count.low > 1
    assert row.before.found.difficulty is not None
    assert row.before.found.difficulty.high < 1
    bare = [problem(number, MONTHS[number % 24], difficulty=None) for number in range(288)]
    (unlabelled,) = audited(measures(), [only], registry(model("only", "2023-12")), bare).rows
    assert unlabelled.difficulty_by is not None
    assert unlabelled.difficulty_by.startswith("nothing")
    assert unlabelled.before is not None
    assert unlabelled.before.found.count is None


def test_numbers_serve_as_labels() -> None:
    rated = [problem(n, MONTHS[n % 24], contest=f"c{n % 72}", difficulty=str(800 + n % 9 * 100)) for n in range(288)]
    rng = np.random.default_rng(9)
    only = simulated("only", rng.normal(0, 1, 288), rng)
    audit = audited(measures(), [only], registry(model("only", "2023-12")), rated)
    assert audit.says_something


def test_refusals_say_what_is_missing() -> None:
    runs = [*board(), run("zero", [(number, 1, 0) for number in range(288)]), run("idle", [(3, 1, 1)])]
    models = registry(
        *(model(one.model, "2023-12") for one in runs if one.model not in {"m0", "m1"}),
        model("m0", None),
        model("m1", None, release=parse_cutoff("2024-01-10")),
    )
    audit = audited(measures(), runs, models)
    notes = exposure_sheet(audit).tables[0].notes
    assert "m0: left out: no cut-off is known" in notes
    assert any(line.startswith("m1, before: no odds ratio: no cut-off is stated: the release date") for line in notes)
    assert (
        "zero, before: no odds ratio: none of 132 problems is solved: the share solved is at most 2.8 % (exact bound)"
        in (notes)
    )
    assert of(audit, "m1").after is not None
    assert of(audit, "zero").change is None
    assert any(line.startswith("idle, before") for line in notes)


def test_a_cut_off_in_doubt_has_no_sides() -> None:
    runs = board()
    old = model("m0", release=parse_cutoff("2025-03-01"), claims=(claim("2023-12", source=None),))
    models = registry(old, *(model(one.model, "2023-12") for one in runs if one.model != "m0"))
    row = of(audited(measures(), runs, models), "m0")
    assert row.sides == ()
    assert (row.refusal or "").startswith("the cut-off 2023-12 is 15 months before the release (2025-03-01)")


def test_runs_of_one_model_do_not_make_enough_others() -> None:
    """Eight settings of one model give no difficulties: nobody else has solved anything."""
    runs = board()
    settings = [replace(one, model="m", label=one.model) for one in runs[:-1]]
    row = of(
        audited(measures(), [*settings, runs[-1]], registry(model("m", "2023-12"), model("knows", "2023-12"))), "knows"
    )
    assert (row.difficulty_by or "").startswith("the platforms' labels")


def test_runs_of_the_tested_model_do_not_tell_its_difficulties() -> None:
    runs = board()
    twice = [
        *runs,
        run("knows", [(outcome.problem_id, 5, outcome.n_correct) for outcome in runs[-1].outcomes], label="b"),
    ]
    audits = [audited(measures(), one, dated(runs)) for one in (runs, twice)]
    once, again = (audit.rows[8].before for audit in audits)
    assert once is not None
    assert again is not None
    assert once.found.count is not None
    assert again.found.count is not None
    assert once.found.count.value == pytest.approx(again.found.count.value)


def test_problems_are_found_by_their_ids() -> None:
    runs = board()
    found = _read("problem,measure\nP1,2\natcoder:p2,3\nleetcode:p3,4\nnosuch,5\np4,\n")
    audit = audited(found, runs, dated(runs))
    assert (audit.n_problems, audit.unknown) == (2, ("leetcode:p3", "nosuch"))
    assert not audit.says_something
    assert any("2 problems of the file have no result here" in line for line in exposure_sheet(audit).tables[0].notes)
    with pytest.raises(MeasuresError, match="line 3: atcoder:p1 is on line 2 already"):
        audited(_read("problem,measure\np1,2\natcoder:p1,3\n"), runs, dated(runs))
    both = [*PROBLEMS, problem(500, MONTHS[0], platform="leetcode", native_id="p1")]
    runs = [*runs, run("other", [(500, 1, 1)])]
    with pytest.raises(MeasuresError, match="line 2: several platforms have a problem p1"):
        audited(_read("problem,measure\np1,2\n"), runs, dated(runs), both)


def _read(text: str) -> ProblemMeasures:
    found = read_problem_measures(text, "m.csv")
    assert found is not None
    return found


@pytest.mark.shared
def test_a_made_up_measure_finds_nothing_on_the_recorded_board(shared_data: Path) -> None:
    """5 % of the p values of 40 such measures are below 5 %; of this one's no adjusted one is."""
    problems, runs = matrix(shared_data, "lcb_v6_2025-04-22")
    declared = {row["model"]: row["declared_cutoff"][:7] for row in table(shared_data, "lcb_v6_board_site_vs_declared")}
    models = registry(*(model(one.model, declared[one.model]) for one in runs))
    selection = chosen(runs, models, problems)
    rng = np.random.default_rng(0)
    lines = [f"{one.platform}:{one.native_id},{rng.lognormal(2, 1.5)}" for one in selection.board.problems]
    found = _read("\n".join(["problem,measure", *dict.fromkeys(lines)]))
    audit = audit_exposure(found, selection, models)
    assert audit.n_tests == (16, 16)
    assert all(side.p_holm is not None and side.p_holm > 0.05 for row in audit.rows for _, side in row.sides)
