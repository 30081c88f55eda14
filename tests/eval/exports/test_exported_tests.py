"""What exports say of the tests under scores: origins, strength, samples alone apart; older editions have no record."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jsonschema import Draft202012Validator

from db.records import MadeStrength, TestOrigin
from eval.editions.document import EditionProblem, FrozenEdition, digest_of, from_bytes, to_bytes
from eval.publishing.publication import Published
from tests.eval.editions.built import FROZEN_AT, edition_problem, edition_run, freeze_built, published
from tests.eval.exports.reading import bodies, csv_rows, of_run, query, strict_json
from tests.eval.facts import model, registry

FORMAT_1 = Path(__file__).parents[1] / "editions" / "data" / "format_1.json"
BASE_URL = "https://huggingface.co/datasets/org/name/resolve/main/"
TOLD = (
    "tests beyond the samples of 24 problems: 12 official, 12 made; made ones fail 84 of 120 known-wrong programs "
    "(70.0 %, 95 % 61.3–77.5), none of 24 right ones; "
    "weakest: atcoder:p1, 7 of 10"
)
APART = "on sample tests alone, not in the score: 12 problems, 50.0 % of 24 samples pass"


def problem(place: int) -> EditionProblem:
    """By three: official, made (each failing 7 of 10 known-wrong programs) and sample tests."""
    facts: dict[str, Any] = {"hidden_origins": (TestOrigin.OFFICIAL,)}
    if place % 3 == 1:
        strength = MadeStrength(n_wrong=10, n_wrong_killed=7, n_right=2)
        facts = {"hidden_origins": (TestOrigin.GENERATED,), "strength": strength}
    elif place % 3 == 2:
        facts = {"samples_only": True}
    return edition_problem(place, **facts)


@cache
def three() -> Published:
    """36 problems, 12 of each kind: "a" and "b" answer all with 2 samples; "site" is imported, "cheat" has samples."""
    runs = [
        edition_run("a", [(place, 2, 1) for place in range(36)]),
        edition_run("b", [(place, 2, place % 3) for place in range(36)]),
        edition_run("cheat", [(place, 1, 1) for place in range(2, 36, 3)]),
        edition_run("site", [(place, 1, 1) for place in range(36)], imported=True, origin="site"),
    ]
    models = registry(*(model(run.name, "2023-10") for run in runs))
    return published(freeze_built([problem(place) for place in range(36)], runs, models), base_url=BASE_URL)


@cache
def old() -> Published:
    """An edition of format 1, in which results on sample tests alone count."""
    edition = from_bytes(FORMAT_1.read_bytes())
    return published(FrozenEdition("2025-01", FROZEN_AT, digest_of(to_bytes(edition)), edition))


def rows_of(of: Published, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = strict_json(bodies(of, table)[f"data/{table}.json"])["rows"]
    return rows


def picked(row: Any, prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)}


@pytest.mark.parametrize("of", [three, old])
@pytest.mark.parametrize("table", ["results", "problems"])
def test_the_documents_follow_their_schemas(of: Any, table: str) -> None:
    files = bodies(of(), table)
    schema = strict_json(files[f"data/{table}.schema.json"])
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(strict_json(files[f"data/{table}.json"]))


def test_the_tests_under_the_own_score_stand_in_its_row() -> None:
    rows = rows_of(three(), "results")
    row = of_run(rows, "own", "a")
    assert (row["n_judged"], row["pass_at_1"]) == (24, 0.5)
    origins = {"n_official": 12, "n_made": 12, "n_recovered": 0, "n_mixed": 0, "n_not_recorded": 0}
    assert picked(row, "tests_") == origins
    # Wilson's interval of 84 of 120: centre (0.7 + z²/240) / (1 + z²/120), z = 1.95996.
    assert row["made_kill_rate"] == pytest.approx(0.7)
    assert [row["made_kill_rate_low"], row["made_kill_rate_high"]] == pytest.approx([0.6128, 0.7747], abs=1e-4)
    assert row["made_strength"] == {
        "n_wrong": 120,
        "n_wrong_killed": 84,
        "n_slow": 0,
        "n_slow_killed": 0,
        "n_mutants": 0,
        "n_mutants_killed": 0,
        "n_right": 24,
        "n_right_killed": 0,
        "n_measured": 12,
        "weakest": {"problem": "atcoder:p1", "n_wrong": 10, "n_wrong_killed": 7},
    }
    assert (row["n_samples_only"], picked(row, "samples_only_")) == (12, {"n_samples": 24, "n_correct": 12})


def test_other_rows_say_what_there_is_to_say() -> None:
    rows = rows_of(three(), "results")
    imported = of_run(rows, "own", "site")
    assert imported["n_judged"] == 36
    assert set(picked(imported, "tests_").values()) == {None}
    assert (imported["made_strength"], imported["n_samples_only"]) == (None, 0)
    cheat = of_run(rows, "own", "cheat")
    assert cheat["pass_at_1"] is None
    assert cheat["reason"] == "no score, since no problem with tests beyond the samples was judged"
    assert (cheat["n_samples_only"], picked(cheat, "samples_only_")) == (12, {"n_samples": 12, "n_correct": 12})
    assert cheat["tests_n_official"] == 0
    common = of_run(rows, "common", "a")
    assert (common["n_judged"], common["tests_n_official"], common["tests_n_made"]) == (24, 12, 12)
    assert (common["made_strength"]["n_wrong_killed"], common["n_samples_only"]) == (84, 12)
    assert set(picked(of_run(rows, "common", "site"), "tests_").values()) == {None}


def test_csv_and_parquet_have_the_same_columns_and_empty_cells(tmp_path: Path) -> None:
    cells = csv_rows(bodies(three(), "results")["data/results.csv"])
    row = of_run(cells, "own", "a")
    assert (row["tests_n_made"], row["made_kill_rate"]) == ("12", "0.7")
    assert json.loads(row["made_strength"])["n_measured"] == 12
    assert of_run(cells, "own", "site")["made_strength"] == ""
    for name, body in bodies(three(), "parquet").items():
        (tmp_path / Path(name).name).write_bytes(body)
    frame = pl.read_parquet(tmp_path / "results.parquet").filter(pl.col("table") == "own")
    strengths = dict(frame.select("run", "made_strength").iter_rows())
    assert json.loads(strengths["a"])["n_wrong"] == 120
    assert strengths["site"] is None
    problems = pl.read_parquet(tmp_path / "problems.parquet")
    assert dict(problems.select("problem", "test_origins").iter_rows())["atcoder:p1"] == '["generated"]'


def test_problems_say_where_their_tests_come_from() -> None:
    rows = {row["problem"]: row for row in rows_of(three(), "problems")}
    found = [
        (rows[f"atcoder:p{place}"]["test_origins"], rows[f"atcoder:p{place}"]["samples_only"]) for place in (0, 1, 2)
    ]
    assert found == [(["official"], False), (["generated"], False), ([], True)]
    strength = rows["atcoder:p1"]["made_strength"]
    assert (strength["n_wrong"], strength["n_wrong_killed"], strength["kill_rate"]) == (10, 7, 0.7)
    # Wilson's interval of 7 of 10: centre (0.7 + z²/20) / (1 + z²/10).
    assert [strength["kill_rate_low"], strength["kill_rate_high"]] == pytest.approx([0.3968, 0.8922], abs=1e-4)
    assert rows["atcoder:p0"]["made_strength"] is None


@pytest.mark.parametrize("of", [three, old])
def test_the_score_is_the_mean_of_what_outcomes_call_judged(of: Any, tmp_path: Path) -> None:
    files = bodies(of(), "outcomes")
    rows = [row for row in rows_of(of(), "results") if row["table"] == "own" and row["pass_at_1"] is not None]
    assert rows
    for row in rows:
        path = tmp_path / f"{row['run']}.csv"
        path.write_bytes(files[row["outcomes"]])
        (found,) = query(f"select avg(n_correct / n_samples), count(*) from '{path}' where judged").fetchall()
        assert found == (pytest.approx(row["pass_at_1"]), row["n_judged"])


def test_an_edition_without_a_record_has_nulls_and_no_origin() -> None:
    rows = rows_of(old(), "results")
    row = of_run(rows, "own", "steady")
    assert (row["n_judged"], row["tests_n_not_recorded"], row["tests_n_official"]) == (20, 14, 0)
    assert (row["n_samples_only"], row["made_strength"], row["made_kill_rate"]) == (None, None, None)
    assert "problems judged on sample tests only: 6" in row["warnings"]
    assert {one["test_origins"] is None for one in rows_of(old(), "problems")} == {True}
    common = of_run(rows, "common", "steady")
    assert (common["tests_n_official"], common["n_samples_only"]) == (None, None)


def test_records_of_other_formats_tell_it_with_the_score() -> None:
    files = bodies(three(), "every_eval_ever", "lm_eval", "eval_results", "markdown")
    own, common = strict_json(files["every_eval_ever/a.json"])["evaluation_results"]
    details = own["score_details"]["details"]
    assert (details["tests"], details["samples_only"]) == (TOLD, APART)
    assert common["score_details"]["details"]["tests"] == TOLD
    imported = strict_json(files["every_eval_ever/site.json"])["evaluation_results"]
    assert {one["score_details"]["details"]["tests"] for one in imported} == {"not run here"}
    tasks = strict_json(files["lm_eval/a.json"])["configs"]
    assert {task["metadata"]["tests"] for task in tasks.values()} == {TOLD}
    assert f"tests: {TOLD}" in files["eval_results/a.yaml"].decode()
    assert "cheat: no score, since no problem with tests" in files["eval_results/without_score.txt"].decode()
    notes = files["tables/own.md"].decode()
    assert "- a, b: tests: 12 official, 12 made here; made ones fail 84 of 120 known-wrong programs" in notes
    assert f"- a: {APART}" in notes
    assert "- site: tests: not run here" in notes


def test_records_of_an_edition_without_a_record_claim_nothing() -> None:
    own, *rest = strict_json(bodies(old(), "every_eval_ever")["every_eval_ever/brisk.json"])["evaluation_results"]
    assert own["score_details"]["details"]["tests"] == (
        "tests beyond the samples of 14 problems: 14 of origin not recorded"
    )
    assert {one["score_details"]["details"]["tests"] for one in rest} <= {
        "where they come from was not recorded when the edition was frozen"
    }
