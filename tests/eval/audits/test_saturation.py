"""Saturated against fresh: from problem sets and published scores to the gap table."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from eval.audits.saturation import PublishedSet, SaturationAudit, SetsOverlap, audit_saturation, saturation_sheet
from eval.cutoffs import parse_cutoff
from eval.evaluation import RunOutcomes
from eval.models import Alias
from eval.problem_sets import read_problem_set
from eval.published_scores import Published, read_published
from eval.sheets import sheet_to_json
from tests.eval.facts import NOW, claim, matrix, model, problem, registry, run
from tests.eval.statistics.boards import table
from tests.eval.statistics.test_saturation import BOTH

OLD = [problem(number, None, platform="humaneval", contest=None) for number in range(20)]
FRESH = [problem(number, "2024-06-01", contest=f"c{number // 4}") for number in range(20, 60)]
SETS = read_problem_set("platform=humaneval"), read_problem_set("platform=atcoder,since=2024-01")


def solver(name: str, old: int, fresh: int) -> RunOutcomes:
    """Solves the first problems of each set, so many of them."""
    solved = {*range(old), *range(20, 20 + fresh)}
    return run(name, [(number, 1, int(number in solved)) for number in range(60)])


def notes(audit: SaturationAudit) -> tuple[str, ...]:
    return saturation_sheet(audit).tables[0].notes


def test_two_sets_of_the_store() -> None:
    runs = [solver("a", 19, 10), solver("b", 18, 20), solver("c", 10, 8), solver("d", 12, 10)]
    models = registry(model("a"), model("b", "2024-08"), model("c"), model("d", None))
    audit = audit_saturation([*OLD, *FRESH], runs, models, *SETS, now=NOW)
    gaps = [row.gap for row in audit.found.rows]
    assert gaps == [pytest.approx(0.95 - 0.25), None, pytest.approx(0.5 - 0.2), pytest.approx(0.6 - 0.25)]
    assert audit.exposed == (0, 40, 0, None)
    said = notes(audit)
    assert "1 of 4 models are above 90% on the saturated set, their differences are squeezed: a" in said
    assert any(line.startswith("b: no gap: needs a result on at least 10 problems of each set") for line in said)
    assert any(line.startswith("d: no usable cut-off") and "no comparison with others" in line for line in said)
    sheet = saturation_sheet(audit)
    assert [row[0] for row in sheet.tables[0].rows] == ["a", "d", "c", "b"]
    assert [row[1] for row in sheet.tables[0].rows] == ["2023-10", "unknown", "2023-10", "2024-08"]
    document = json.loads(sheet_to_json(sheet))
    assert document["ceiling_saturated"] == 0.25
    assert document["rows"][1]["n_exposed"] == 40


def test_a_fresh_side_is_what_lies_after_the_models_own_cut_off() -> None:
    late = [problem(number, "2024-10-01", contest=f"c{number // 4}") for number in range(40, 60)]
    runs = [solver("a", 15, 30), solver("b", 15, 30)]
    models = registry(model("a"), model("b", "2024-08"))
    audit = audit_saturation([*OLD, *FRESH[:20], *late], runs, models, *SETS, now=NOW)
    # Both solve 20 of the earlier fresh problems and 10 of the 20 later ones; only the later are fresh to b.
    assert [row.fresh for row in audit.found.rows] == pytest.approx([0.75, 0.5])
    assert (audit.n_fresh, audit.exposed) == ((40, 20), (0, 20))
    assert any("since=2024-09-02 in --fresh all would have the same one" in line for line in notes(audit))


def test_a_model_without_a_cut_off_moves_no_other() -> None:
    known = [solver(f"m{place}", 18, place * 2 + 10) for place in range(11)]
    models = registry(*(model(f"m{place}") for place in range(11)), model("x", None))
    alone = audit_saturation([*OLD, *FRESH], known, models, *SETS, now=NOW)
    beside = audit_saturation([*OLD, *FRESH], [solver("x", 20, 0), *known], models, *SETS, now=NOW)
    assert beside.found.rows[1:] == alone.found.rows
    assert alone.found.rows[0].beyond_peers is not None
    stranger = beside.found.rows[0]
    assert (stranger.gap, stranger.beyond_peers, stranger.below_line) == (1.0, None, None)
    assert beside.found.rho == alone.found.rho


def test_another_run_of_a_model_is_no_other_model() -> None:
    runs = [replace(solver("a", 18, 10 + place), label=f"run {place}") for place in range(11)]
    audit = audit_saturation([*OLD, *FRESH], runs, registry(model("a")), *SETS, now=NOW)
    assert audit.doubts == (None, *["another run of the same model is compared"] * 10)
    assert audit.found.rho is None


def test_the_squeezed_are_named_up_to_ten() -> None:
    runs = [solver(f"m{place}", 19, 20) for place in range(12)]
    audit = audit_saturation([*OLD, *FRESH], runs, registry(*(model(one.model) for one in runs)), *SETS, now=NOW)
    (line, *_) = audit.warnings
    assert line.startswith("12 of 12 models are above 90% on the saturated set")
    assert line.endswith(": m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more")


def test_sets_that_share_problems_are_refused() -> None:
    with pytest.raises(SetsOverlap, match="share 40 problems") as caught:
        audit_saturation(FRESH, [solver("a", 0, 5)], registry(), read_problem_set("until=2024-12"), SETS[1], now=NOW)
    assert "until=" in caught.value.hint


def test_published_scores_are_joined_by_the_registrys_names() -> None:
    runs = [solver("gpt-x-2024", 0, 20), solver("B", 0, 10), solver("c", 0, 10), solver("d", 0, 10)]
    models = registry(model("gpt-x-2024", aliases=(Alias("GPT-X"),)), model("d", aliases=(Alias("D!"),)))
    rows = (Published("gpt-x", 0.9, 164), Published("b", 0.8, 164), Published("z", 0.1, 9), Published("d", 0.1, 164))
    given = PublishedSet("a list", (*rows, Published("D!", 0.2, 164)))
    audit = audit_saturation(FRESH, runs, models, given, SETS[1], now=NOW)
    assert [row.gap for row in audit.found.rows] == [pytest.approx(0.4), pytest.approx(0.55), None, None]
    said = notes(audit)
    assert "c, d: no gap: no published score" in said
    assert "d: the file has several of its names: d, D!" in said
    assert any(line.startswith("published models without a run here: 1 (z);") for line in said)
    assert saturation_sheet(audit).conditions[0] == "saturated: a list"


def test_a_run_under_an_alias_that_has_moved_has_the_score_of_its_day() -> None:
    """ "latest" was a in March and is b since June; the run is of March."""
    moved = date(2024, 6, 1)
    models = registry(
        model("a", aliases=(Alias("latest", None, moved),)), model("b", aliases=(Alias("latest", moved, None),))
    )
    runs = [replace(solver("latest", 0, 20), ran_on=date(2024, 3, 1))]
    given = PublishedSet("a list", (Published("a", 0.9, 164), Published("b", 0.1, 164)))
    audit = audit_saturation(FRESH, runs, models, given, SETS[1], now=NOW)
    assert audit.found.rows[0].gap == pytest.approx(0.9 - 0.5)


def test_one_solved_problem_is_no_ceiling() -> None:
    runs = [solver("a", 10, 20), solver("b", 10, 20), run("c", [(0, 1, 1), (20, 1, 1)])]
    audit = audit_saturation([*OLD, *FRESH], runs, registry(*map(model, "abc")), *SETS, now=NOW)
    assert audit.warnings == ()
    assert audit.found.ceiling_fresh == 0.0


def test_weak_cut_offs_and_old_problems_are_said_once() -> None:
    runs = [solver(name, 10, 20) for name in "abcd"]
    released = model("a", None, release=parse_cutoff("2023-11-05"), release_source="https://example.org")
    unsourced = model("b", None, claims=(claim("2023-10", source=None),))
    models = registry(released, unsourced, model("c", "2023"), model("d"))
    said = notes(audit_saturation([*OLD, *FRESH], runs, models, *SETS, now=NOW))
    for line in (
        "a: cut-off unknown: release date used (2023-11-05)",
        "b: cut-off without a source",
        'c: cut-off known only as "2023": its last day counts',
        "the fresh set: published more than 12 months ago, so clean for this snapshot only: 40 of the problems",
    ):
        assert said.count(line) == 1
    assert sum("release date" in line for line in said) == 1


def test_no_run_on_the_fresh_set() -> None:
    audit = audit_saturation(OLD, [solver("a", 3, 0)], registry(), *SETS, now=NOW)
    assert "no gap: no run has a result on the fresh set" in notes(audit)


def test_the_gap_to_published_scores_is_tested_where_answers_are_single() -> None:
    runs = [solver("a", 0, 10), solver("b", 0, 20), solver("dated not", 0, 5), run("c", [(n, 4, 2) for n in range(60)])]
    models = registry(model("a"), model("b"), model("dated not", None), model("c"))
    scores = [Published(name, 0.75, 160) for name in ("a", "b", "dated not", "c")]
    audit = audit_saturation([*OLD, *FRESH], runs, models, PublishedSet("f", tuple(scores)), SETS[1], now=NOW)
    # 120 of 160 against 10 of 40: pooled 130/200, z = .5 / sqrt(.65 * .35 * (1/160 + 1/40)) = 5.93.
    first, second, third, fourth = audit.tests
    assert first is not None
    assert second is not None
    assert first.z == pytest.approx(0.5 / math.sqrt(0.65 * 0.35 * (1 / 160 + 1 / 40)))
    assert second.z == pytest.approx(0.25 / math.sqrt(0.7 * 0.3 * (1 / 160 + 1 / 40)))
    assert first.p_holm == pytest.approx(2 * (first.p or 0.0))
    assert (third, fourth) == (None, None)  # nobody knows whether its side is fresh; several samples
    sheet = saturation_sheet(audit)
    assert [column.heading for column in sheet.tables[0].columns][-3:] == ["p", "Holm p", "BH p"]
    assert any(", adjusted over 2 runs by Holm" in line for line in notes(audit))
    rows = json.loads(sheet_to_json(sheet))["rows"]
    assert rows[0]["test"]["n_tests"] == 2
    assert rows[3]["test"] is None
    measured = audit_saturation([*OLD, *FRESH], [solver("a", 15, 10)], models, *SETS, now=NOW)
    assert measured.tests == (None,)  # the spread of results of the store is over contests
    assert [column.heading for column in saturation_sheet(measured).tables[0].columns][-1] == "below line"


@pytest.mark.shared
def test_the_recorded_tests_of_gsm1k(shared_data: Path) -> None:
    """63 models on two sets of single answers: 21 gaps by p, 14 by Benjamini-Hochberg, 5 by Holm."""
    rows = table(shared_data, "gsm1k_table_v4")
    fresh = [problem(number, "2024-06-01", contest=None) for number in range(1205)]
    runs = [
        run(row["model"], [(n, 1, int(n < round(1205 * float(row["gsm1k"])))) for n in range(1205)]) for row in rows
    ]
    published = tuple(Published(row["model"], float(row["gsm8k"]), 1319) for row in rows)
    models = registry(*(model(row["model"]) for row in rows))
    wanted = read_problem_set("platform=atcoder")
    found = audit_saturation(fresh, runs, models, PublishedSet("GSM8K", published), wanted, now=NOW).tests
    tests = [one for one in found if one is not None]
    # Shares are printed with three digits; a whole number of 1,205 problems is up to .0004 away from them.
    assert [one.z for one in tests] == pytest.approx([float(row["z_pooled"]) for row in rows], abs=0.12)
    significant = [[getattr(one, name) < 0.05 for one in tests] for name in ("p", "p_bh", "p_holm")]
    assert [sum(column) for column in significant] == [21, 14, 5]


@pytest.mark.shared
def test_humaneval_against_livecodebench(shared_data: Path) -> None:
    """Models that are on both recorded boards, by aliases or by one name: what the statistic's own test finds."""
    problems, runs = matrix(shared_data, "lcb_v1_2024-04-17")
    names: dict[str, list[str]] = {}
    for published, ours in BOTH.items():
        names.setdefault(ours, []).extend([published] if published.casefold() != ours.casefold() else [])
    models = registry(*(model(ours, aliases=tuple(map(Alias, theirs))) for ours, theirs in names.items()))
    text = (shared_data / "saturated" / "evalplus_leaderboard.json").read_text(encoding="utf-8")
    given = PublishedSet("EvalPlus", tuple(read_published(text, "EvalPlus", "humaneval")))
    audit = audit_saturation(problems, runs, models, given, read_problem_set("since=2023-09"), now=NOW)
    with_gap = [name for name, row in zip(audit.names, audit.found.rows, strict=True) if row.gap is not None]
    assert sorted(with_gap) == sorted([*names, "Command-R+"])  # which has one name on both
    # One of GPT-4 Turbo's is above 90 % of HumanEval; OC-DS-1.3B solves 4.9 % of the fresh set.
    ceiling, floor = audit.warnings
    assert ceiling.startswith("1 of 26 models are above 90% on the saturated set")
    assert floor == "1 of 45 models are below 5% on the fresh set, their differences are squeezed: OC-DS-1.3B"
    below = {name: row.below_line for name, row in zip(audit.names, audit.found.rows, strict=True)}
    assert (below["DSCoder-1.3b-Ins"] or 0) > 0.02
