"""The table of results as CSV and JSON: each number with what it rests on, the same in both, for strict readers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from jsonschema import Draft202012Validator

from eval.editions.document import EditionRun, PrivateScore
from eval.evaluation import evaluate
from eval.publishing.publication import Published
from eval.ranking import NOTHING_COMMON
from eval.render import to_csv
from tests.eval.editions.built import HOSTILE, edition_problem, edition_run, freeze_built, published
from tests.eval.exports.reading import (
    bodies,
    csv_rows,
    group_of,
    of_run,
    ranked,
    small,
    strict_json,
    with_common,
)
from tests.eval.facts import model, registry

NAMES = ["late", "frugal", "failing", "memoriser", "nameless", "steady", HOSTILE]
COUNTS = ["n_eligible", "n_judged", "n_missing", "n_exposed", "n_contests", "n_samples", "rank_low", "tier"]
SHARES = ["pass_at_1", "ci_low", "ci_high", "se"]

SAME = [
    *("pass_at_1", "ci_low", "ci_high", "se", "interval_method", "reason"),
    *("n_eligible", "n_judged", "n_contests", "n_samples", "window_from", "window_to", "problem_set_digest"),
    *("cutoff", "cutoff_precision", "cutoff_status", "cutoff_kind", "cutoff_source", "cutoff_revision"),
]
"""What the CSV form of `live eval` has too, under the same names."""

BASIS = {
    "window_start": "window_from",
    "window_end": "window_to",
    "cutoff_rule": "cutoff_rule",
    "set_id": "edition",
    "items_hash": "problem_set_digest",
    "n_items": "n_judged",
    "n_samples": "n_samples",
    "settings": "settings",
    "built_at": "built_at",
    "interval_method": "interval_method",
}
"""What must be beside every number, by the column that has it."""


def table(of: Published) -> list[dict[str, str]]:
    return csv_rows(bodies(of, "results")["data/results.csv"])


def document(of: Published) -> Any:
    return strict_json(bodies(of, "results")["data/results.json"])


def schema() -> Any:
    return strict_json(bodies(small(), "results")["data/results.schema.json"])


def test_each_run_stands_once_in_each_table_in_one_order() -> None:
    places = [(row["table"], row["run"]) for row in table(small())]
    assert places == [(name, run) for name in ("own", "common", "equated") for run in sorted(NAMES)]


def test_a_number_that_can_be_counted_by_hand() -> None:
    # The cut-off June 2024 is over on 1 July at 12:00 UTC. Of the 36 problems from then on p45 is private and p25 has
    # no result. Even places are solved by no sample, the 16 odd ones by 3, 2 or 1 of 3: together 10 1/3 of 34 problems.
    row = of_run(table(small()), "own", "steady")
    assert row["window_from"] == "2024-07-01T12:00:00Z"
    assert row["cutoff_end"] == "2024-07-01T11:59:59.999999Z"
    counts = ("n_eligible", "n_judged", "n_missing", "n_exposed", "n_contests", "n_samples")
    assert [row[name] for name in counts] == ["35", "34", "1", "0", "34", "102"]
    assert float(row["pass_at_1"]) == pytest.approx(31 / 102, rel=1e-11)
    assert row["interval_method"] == "contest_t"
    assert json.loads(row["left_out"]) == {
        "published before the cut-off": 22,
        "no completion": 1,
        "publication date unknown": 1,
    }
    assert json.loads(row["conditions"]) == {"temperature": 0.2, "prompt": "plain"}
    assert (row["model"], row["provider"], row["origin"], row["is_imported"]) == ("steady", "Acme", "judged", "false")
    assert (row["cutoff"], row["cutoff_precision"], row["cutoff_status"]) == ("2024-06", "month", "stated")
    assert (row["edition"], row["as_of"], row["built_at"]) == (
        "2025-05",
        "2025-05-02T03:17:00Z",
        "2025-05-03T09:00:30Z",
    )
    assert row["edition_digest"] == small().digest
    assert row["environment_digest"] == "e" * 64
    assert row["outcomes"] == "data/outcomes/steady.csv"
    assert row["rank_low"] == row["rank_high"] == row["tier"] == ""


@pytest.mark.parametrize(
    ("run", "score", "reason"),
    [
        ("frugal", "0.8", "fewer than 10 problems (5): read it as a list, not as a rate"),
        ("late", "", "no problem was judged"),
        ("nameless", "", "no cut-off and no release date is known"),
    ],
)
def test_where_there_is_no_rate_the_row_says_why(run: str, score: str, reason: str) -> None:
    row = of_run(table(small()), "own", run)
    assert (row["pass_at_1"], row["reason"]) == (score, reason)
    assert [row[name] for name in ("ci_low", "ci_high", "se", "interval_method")] == ["", "", "", "none"]


def test_no_row_lacks_both_a_number_and_a_reason() -> None:
    rows = table(small())
    assert [row for row in rows if not row["pass_at_1"] and not row["reason"]] == []
    assert {row["reason"] for row in rows if row["table"] == "common" and row["run"] != "nameless"} == {NOTHING_COMMON}
    assert of_run(rows, "equated", "steady")["reason"] == "needs at least 5 models that share problems, there are 0"


def test_columns_of_numbers_hold_numbers_or_nothing() -> None:
    kinds = {name: described["type"] for name, described in schema()["$defs"]["row"]["properties"].items()}
    numeric = [name for name, kind in kinds.items() if "integer" in kind or "number" in kind]
    assert {*COUNTS, *SHARES, "margin_hours"} <= set(numeric)
    for row in table(small()):
        for name in numeric:
            assert row[name] == "" or math.isfinite(float(row[name])), name


def test_ranks_hold_within_their_group_and_only_there() -> None:
    first = group_of([ranked("steady", 0.75), ranked("late", 0.5, 2, 4, n_missing=3)], settings="prompt plain")
    other = group_of(
        [{**ranked("frugal", 1.0, ranks=None, reason="fewer than 10 problems (4)"), "low": None, "high": None}],
        settings="prompt None",
        n_problems=4,
        refusal="ranks need at least 5 models, there are 1",
    )
    second = group_of([], not_ranked=[["failing", "9 of 10 samples have no answer; live generate asks"]])
    rows = table(with_common(small(), first, other, second, n_eligible=66, window_from="2025-05-01T12:00:00Z"))

    steady, late = of_run(rows, "common", "steady"), of_run(rows, "common", "late")
    ranks = ("rank_low", "rank_high", "rank_simultaneous_low", "rank_simultaneous_high", "tier")
    assert [steady[name] for name in ranks] == ["1", "3", "1", "4", "1"]
    assert [late[name] for name in ranks] == ["2", "4", "2", "5", "2"]
    assert (steady["rank_group"], steady["rank_reason"], late["n_missing"]) == ("prompt plain", "", "3")
    counts = ("n_eligible", "n_judged", "n_contests", "n_samples")
    assert [steady[name] for name in counts] == ["66", "60", "20", "120"]
    assert (steady["pass_at_1"], steady["ci_low"], steady["se"]) == ("0.75", "0.65", "0.05")
    assert json.loads(steady["warnings"]) == ["fewer than 100 problems (60)"]

    frugal = of_run(rows, "common", "frugal")
    assert (frugal["rank_group"], frugal["rank_low"], frugal["n_judged"]) == ("prompt None", "", "4")
    assert frugal["rank_reason"] == "ranks need at least 5 models, there are 1"
    assert (frugal["pass_at_1"], frugal["ci_low"], frugal["interval_method"]) == ("1.0", "", "none")

    failing = of_run(rows, "common", "failing")
    assert failing["reason"] == failing["rank_reason"] == "9 of 10 samples have no answer; live generate asks"
    assert failing["pass_at_1"] == failing["rank_group"] == ""
    assert of_run(rows, "common", "nameless")["reason"] == "no cut-off and no release date is known"


def test_equal_scores_are_in_the_order_of_names() -> None:
    runs = ["late", "frugal", "steady", "failing"]
    found = [
        [
            row["run"]
            for row in table(with_common(small(), group_of(ranked(run, 0.5) for run in order)))
            if row["table"] == "common" and row["pass_at_1"]
        ]
        for order in (runs, runs[::-1])
    ]
    assert found == [["failing", "frugal", "late", "steady"]] * 2


def test_every_number_carries_what_was_measured() -> None:
    of = with_common(small(), group_of([ranked("steady", 0.75)]))
    for row in (*table(of), *document(of)["rows"]):
        assert set(BASIS.values()) <= set(row)
        if row["pass_at_1"] in ("", None):
            continue
        open_ended = ["window_to"]  # no upper bound: the data end with as_of
        assert [name for name in BASIS.values() if row[name] in ("", None) and name not in open_ended] == []
        assert row["as_of"] == "2025-05-02T03:17:00Z"
        assert re.fullmatch("[0-9a-f]{64}", row["problem_set_digest"])
        assert re.fullmatch(r"[0-9-]{10}T[0-9:]{8}Z", row["window_from"])
        assert "strictly later than the end of the cut-off" in row["cutoff_rule"]
        assert float(row["margin_hours"]) == 0


def test_the_document_fits_its_schema_for_a_strict_reader() -> None:
    described = schema()
    Draft202012Validator.check_schema(described)
    validator = Draft202012Validator(described)
    for of in (small(), with_common(small(), group_of([ranked("steady", 0.75)]))):
        assert [error.message for error in validator.iter_errors(document(of))] == []
    broken = document(small())
    broken["rows"][0]["pass_at_1"] = "N/A"
    del broken["rows"][1]["reason"]
    broken["rows"][2]["window_from"] = "2024-07-01"
    assert len(list(validator.iter_errors(broken))) == 3


@pytest.mark.parametrize("name", ["results", "problems", "outcomes"])
def test_everything_in_a_schema_is_described_with_its_unit(name: str) -> None:
    described = strict_json(bodies(small(), name)[f"data/{name}.schema.json"])
    found = list(_properties(described))
    assert len(found) >= 7
    for path, one in found:
        assert len(one["description"]) >= 4, path
        assert one["unit"], path
        assert one["description"].endswith("."), path


def _properties(described: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, one in described.get("properties", {}).items():
        yield f"{path}.{name}", one
        yield from _properties(one, f"{path}.{name}")
        yield from _properties(one.get("items", {}), f"{path}.{name}[]")
    for name, one in described.get("$defs", {}).items():
        yield from _properties(one, f"{path}#{name}")


def test_csv_and_json_have_the_same_rows() -> None:
    of = with_common(small(), group_of([ranked("steady", 0.75)]))
    rows, in_json = table(of), document(of)["rows"]
    assert list(rows[0]) == list(in_json[0]) == list(schema()["$defs"]["row"]["properties"])
    for cells, values in zip(rows, in_json, strict=True):
        for name, value in values.items():
            assert _as_cell(value) == cells[name], name


def _as_cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def test_who_has_no_score_and_who_was_withdrawn_is_named_with_the_reason() -> None:
    found = document(small())
    reason = "no cut-off and no release date is known"
    assert found["not_scored"] == [
        {"table": name, "model": "nameless", "reason": reason} for name in ("own", "common", "equated")
    ]
    assert found["withdrawn"] == [{"model": "ghost-1", "reason": "asked by its provider"}]
    assert found["edition"]["n_problems"] == 58
    assert found["edition"]["build_id"] == small().digest[:12]
    assert found["edition"]["note"] == "A note of <em>the</em> maintainer"
    assert found["edition"]["base_url"] is None


def test_private_problems_are_there_in_aggregate_alone() -> None:
    found = {one["run"]: one for one in document(small())["private"]}
    assert sorted(found) == sorted(set(NAMES) - {"nameless"})
    assert found["steady"] == {
        "run": "steady",
        "n_problems": 1,
        "pass_at_1": None,
        "ci_low": None,
        "ci_high": None,
        "reason": "fewer than 10 problems (1): read it as a list, not as a rate",
    }


def test_private_scores_are_told_in_whole_percent() -> None:
    """Exact ones, edition after edition, would tell what became of each private problem."""
    score = PrivateScore("steady", 14, 5 / 14, 0.1234, 0.6789, None)
    numbers = replace(small().edition.numbers, private=(score,))
    (found,) = document(replace(small(), edition=replace(small().edition, numbers=numbers)))["private"]
    assert (found["pass_at_1"], found["ci_low"], found["ci_high"]) == (0.36, 0.12, 0.68)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_stops_the_export(number: float) -> None:
    with pytest.raises(ValueError, match="finding"):
        bodies(with_common(small(), group_of([ranked("steady", number)])), "results")


def test_an_edition_without_runs_has_a_header_and_a_document() -> None:
    problems = [edition_problem(place) for place in range(3)]
    nobody: list[EditionRun] = []
    of = published(freeze_built(problems, nobody, registry()))
    assert bodies(of, "results")["data/results.csv"].decode().startswith("table,run,model,")
    assert table(of) == []
    assert list(Draft202012Validator(schema()).iter_errors(document(of))) == []


def _rounded(cell: str) -> str | float:
    """Numbers to the 12 digits that an edition freezes."""
    try:
        return float(f"{float(cell):.12g}")
    except ValueError:
        return cell


@pytest.mark.shared
@pytest.mark.slow
def test_the_recorded_board_has_the_numbers_of_live_eval(recorded_edition: Published) -> None:
    edition = recorded_edition.edition
    report = evaluate(
        [one.facts for one in edition.problems],
        [run.as_outcomes() for run in edition.runs],
        edition.registry,
        edition.settings.after_cutoff(),
        now=edition.as_of,
    )
    expected = csv_rows(to_csv(report).encode())
    rows = [row for row in table(recorded_edition) if row["table"] == "own"]
    assert len(rows) == len(expected) == 16
    found = {(row["model"], row["label"]): row for row in rows}
    for row in expected:
        mine = found[row["model"], row["label"]]
        assert [_rounded(mine[name]) for name in SAME] == [_rounded(row[name]) for name in SAME], row["model"]
        assert json.loads(mine["left_out"]) == json.loads(row["left_out"])
        assert json.loads(mine["warnings"]) == json.loads(row["warnings"])


@pytest.mark.shared
@pytest.mark.slow
def test_the_recorded_board_fits_the_schema_and_ranks_all_16(recorded_edition: Published) -> None:
    found = document(recorded_edition)
    assert list(Draft202012Validator(schema()).iter_errors(found)) == []
    common = [row for row in found["rows"] if row["table"] == "common"]
    # After 1 February 2025, 12:00 UTC, the site shows 122 problems of 28 days; ten samples each.
    assert {(row["window_from"], row["n_judged"], row["n_contests"], row["n_samples"]) for row in common} == {
        ("2025-02-01T12:00:00Z", 122, 28, 1220)
    }
    best = max(common, key=lambda row: row["pass_at_1"])
    assert (best["run"], best["rank_low"], best["tier"]) == ("O4-Mini (High)", 1, 1)
    assert all(row["rank_simultaneous_low"] <= row["rank_low"] <= row["rank_high"] <= 16 for row in common)
    estimated = [row for row in found["rows"] if row["table"] == "equated"]
    assert all(row["score_kind"] == "estimated" and row["interval_method"] == "irt_refits" for row in estimated)
    assert of_run(found["rows"], "equated", "Claude-3-Haiku")["answered_share"] == 1.0


def test_a_margin_moves_the_window_and_is_said() -> None:
    problems = [edition_problem(place, exposed_at="2024-01-02", contest=f"c{place}") for place in range(12)]
    runs = [edition_run("steady", [(place, 1, 1) for place in range(12)])]
    of = published(freeze_built(problems, runs, registry(model("steady", "2023-10"))))
    settings = replace(of.edition.settings, margin_hours=36.0)
    later = published(freeze_built(problems, runs, registry(model("steady", "2023-10")), settings=settings))
    row, moved = (of_run(table(one), "own", "steady") for one in (of, later))
    assert (row["margin_hours"], moved["margin_hours"]) == ("0.0", "36.0")
    starts = [pd.Timestamp(one["window_from"]) for one in (row, moved)]
    assert starts[1] - starts[0] == timedelta(hours=36)
