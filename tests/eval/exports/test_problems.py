"""The list of problems as CSV and JSON: dates with their evidence, ids as text, no statement, nothing private."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
from jsonschema import Draft202012Validator

from eval.publishing.publication import Published
from tests.eval.editions.built import HOSTILE, edition_problem, freeze_built, published
from tests.eval.exports.reading import bodies, csv_rows, query, small, strict_json
from tests.eval.facts import registry

TEXT = ["native_id", "contest", "difficulty"]
INSTANTS = ["exposed_at", "exposed_before", "released_at"]


def table(of: Published) -> dict[str, dict[str, str]]:
    return {row["problem"]: row for row in csv_rows(bodies(of, "problems")["data/problems.csv"])}


def _numbered() -> Published:
    """Problems whose ids and labels look like numbers."""
    ids = ("001", "1e5", "007", "-3", "NA")
    problems = [
        edition_problem(place, native_id=name, contest=f"0{place}", difficulty="1200", title=f"={name}")
        for place, name in enumerate(ids)
    ]
    return published(freeze_built(problems, [], registry()))


def test_the_58_public_problems_are_there_in_one_order() -> None:
    rows = table(small())
    assert len(rows) == 58
    assert list(rows) == sorted(rows)
    assert "atcoder:p17" not in rows
    assert {row["build_id"] for row in rows.values()} == {small().digest[:12]}


def test_a_date_stands_with_its_precision_and_its_evidence() -> None:
    row = table(small())["atcoder:p13"]
    # Known by its day alone: it was public at some instant of these 24 hours.
    assert (row["exposed_at"], row["exposed_precision"]) == ("2024-04-08T00:00:00Z", "day")
    assert row["exposed_before"] == "2024-04-09T00:00:00Z"
    assert json.loads(row["evidence"]) == [
        {
            "as_written": "2024-04-08T00:00:00+00:00",
            "earliest": "2024-04-08T00:00:00Z",
            "precision": "day",
            "source": "atcoder",
            "contest": "",
        }
    ]
    undated = table(small())["atcoder:p11"]
    assert [undated[name] for name in (*INSTANTS, "evidence")] == ["", "", "", "[]"]


def test_what_is_wrong_with_a_problem_stands_beside_it() -> None:
    rows = table(small())
    assert json.loads(rows["atcoder:p7"]["flags"]) == [
        {"name": "bad_tests", "reason": "two right programs fail <test 3>"}
    ]
    assert (rows["atcoder:p9"]["withdrawn"], rows["atcoder:p9"]["status"]) == ("true", "withdrawn_upstream")
    assert (rows["atcoder:p19"]["samples_only"], rows["atcoder:p19"]["withdrawn"]) == ("true", "false")
    assert (rows["atcoder:p23"]["n_tests"], rows["atcoder:p23"]["suite_digest"]) == ("0", "")
    assert [rows["atcoder:p21"][name] for name in ("difficulty", "contest", "url")] == ["", "", ""]
    assert rows["atcoder:p3"]["title"] == HOSTILE
    assert rows["codeforces:p4"]["revision"] == f"{4:064x}"


def test_the_document_fits_its_schema_and_has_the_rows_of_the_csv() -> None:
    found = bodies(small(), "problems")
    document = strict_json(found["data/problems.json"])
    validator = Draft202012Validator(strict_json(found["data/problems.schema.json"]))
    assert [error.message for error in validator.iter_errors(document)] == []
    rows = csv_rows(found["data/problems.csv"])
    assert [row["problem"] for row in document["rows"]] == [row["problem"] for row in rows]
    assert list(document["rows"][0]) == list(rows[0])
    document["rows"][0] |= {"statement": "Given two integers", "n_tests": "2"}
    assert len(list(validator.iter_errors(document))) == 2


def test_ids_that_look_like_numbers_stay_text_for_readers_that_are_told(tmp_path: Any) -> None:
    path = tmp_path / "problems.csv"
    path.write_bytes(bodies(_numbered(), "problems")["data/problems.csv"])
    expected = ["-3", "001", "007", "1e5", "NA"]
    frame = pd.read_csv(
        path,
        dtype=dict.fromkeys(TEXT, "string"),
        dtype_backend="numpy_nullable",
        keep_default_na=False,
        na_values=[""],
        parse_dates=INSTANTS,
        date_format="ISO8601",
    )
    assert frame["native_id"].tolist() == expected
    assert frame["contest"].tolist() == ["03", "00", "02", "01", "04"]
    assert {str(frame.dtypes[name]) for name in INSTANTS} == {"datetime64[us, UTC]"}
    overrides = dict.fromkeys(TEXT, pl.String)
    lines = pl.read_csv(path, try_parse_dates=True, infer_schema_length=None, schema_overrides=overrides)
    assert lines["native_id"].to_list() == expected
    assert lines.schema["exposed_at"] == pl.Datetime("us", "UTC")
    types = "{'native_id': 'VARCHAR', 'contest': 'VARCHAR', 'difficulty': 'VARCHAR'}"
    read = query(f"select native_id, difficulty from read_csv('{path}', types={types})").fetchall()
    assert read == [(name, "1200") for name in expected]


def test_instants_with_and_without_fractions_are_read_in_one_column(tmp_path: Any) -> None:
    problems = [
        edition_problem(place, exposed_at=at) for place, at in enumerate(("2024-06-01", "2024-06-01T12:00:00.25"))
    ]
    path = tmp_path / "problems.csv"
    path.write_bytes(bodies(published(freeze_built(problems, [], registry())), "problems")["data/problems.csv"])
    frame = pd.read_csv(path, parse_dates=INSTANTS, date_format="ISO8601")
    assert frame["exposed_at"].tolist() == [pd.Timestamp("2024-06-01T00:00Z"), pd.Timestamp("2024-06-01T12:00:00.25Z")]
    lines = pl.read_csv(path, try_parse_dates=True, infer_schema_length=None)
    assert lines["exposed_at"].to_list() == frame["exposed_at"].tolist()


def test_equal_ids_of_two_platforms_are_two_problems() -> None:
    one, other = edition_problem(0, native_id="a"), edition_problem(1, native_id="a", platform="codeforces")
    of = published(freeze_built([replace(other, title="second"), one], [], registry()))
    assert {name: row["title"] for name, row in table(of).items()} == {
        "atcoder:a": "Problem 0",
        "codeforces:a": "second",
    }
