"""Records of Every Eval Ever against what its schema requires.

Source: every_eval_ever/schemas/eval.schema.json, version 0.3.0, of https://github.com/evaleval/every_eval_ever (package
every-eval-ever 0.3.0). The rules below were written from it by hand; the records of the recorded board also pass that
package's own validator, with its semantic checks.
"""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft7Validator

from eval.exports import every_eval_ever
from eval.publishing.publication import Published
from tests.eval.editions.built import HOSTILE, edition_problem, edition_run, published
from tests.eval.exports.small_editions import SITE, by_path, duel, empty, odd, odd_on_a_site, one_run, strict_json

_STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_RESULT = {
    "type": "object",
    "required": ["evaluation_name", "source_data", "metric_config", "score_details"],
    "properties": {
        "evaluation_name": {"type": "string"},
        "evaluation_result_id": {"type": "string"},
        "source_data": {
            "type": "object",
            "required": ["dataset_name", "source_type"],
            "oneOf": [
                {"required": ["url"], "properties": {"source_type": {"const": "url"}, "url": {"minItems": 1}}},
                {"properties": {"source_type": {"const": "other"}}},
            ],
            "properties": {"additional_details": _STRINGS},
        },
        "metric_config": {
            "type": "object",
            "required": ["lower_is_better", "min_score", "max_score"],  # the last two since it is continuous
            "properties": {
                "lower_is_better": {"const": False},
                "score_type": {"const": "continuous"},
                "min_score": {"const": 0},
                "max_score": {"const": 1},
                "metric_parameters": {"const": {"k": 1}},
            },
        },
        "score_details": {
            "type": "object",
            "required": ["score"],
            "properties": {
                "score": _SHARE,
                "details": _STRINGS,
                "uncertainty": {
                    "type": "object",
                    "properties": {
                        "standard_error": {"required": ["value"], "properties": {"value": {"type": "number"}}},
                        "confidence_interval": {
                            "required": ["lower", "upper"],
                            "properties": {"lower": _SHARE, "upper": _SHARE, "confidence_level": {"const": 0.95}},
                        },
                        "num_samples": {"type": "integer"},
                    },
                },
            },
        },
        "generation_config": {
            "type": "object",
            "properties": {
                "generation_args": {
                    "type": "object",
                    "properties": {
                        "temperature": {"type": ["null", "number"]},
                        "top_p": {"type": ["null", "number"]},
                        "top_k": {"type": ["null", "number"]},
                        "max_tokens": {"type": "integer", "minimum": 1},
                    },
                    "additionalProperties": False,
                },
                "additional_details": _STRINGS,
            },
        },
    },
}
RULES = {
    "type": "object",
    "required": [
        "schema_version",
        "evaluation_id",
        "retrieved_timestamp",
        "source_metadata",
        "model_info",
        "eval_library",
        "evaluation_results",
    ],
    "additionalProperties": False,
    "properties": {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": {"type": "string"},
        "evaluation_timestamp": {"type": "string"},
        "retrieved_timestamp": {"type": "string", "pattern": "^[0-9]+$"},
        "source_metadata": {
            "type": "object",
            "required": ["source_type", "source_organization_name", "evaluator_relationship"],
            "properties": {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]},
                "additional_details": _STRINGS,
            },
        },
        "eval_library": {
            "type": "object",
            "required": ["name", "version"],
            "properties": {"additional_details": _STRINGS},
        },
        "model_info": {
            "type": "object",
            "required": ["name", "id", "additional_details"],
            "properties": {
                "name": {"type": "string"},
                "id": {"type": "string"},
                "developer": {"type": "string"},
                "additional_details": {
                    **_STRINGS,
                    "required": ["deployment_type", "model_availability"],
                    "properties": {
                        "deployment_type": {"enum": ["self_deployed", "externally_managed", "unknown"]},
                        "model_availability": {"enum": ["open_weights", "closed_weights", "unknown"]},
                    },
                },
            },
        },
        "evaluation_results": {"type": "array", "items": _RESULT, "minItems": 1},
    },
}


def _records(edition: Published) -> dict[str, Any]:
    files = by_path(every_eval_ever.files(edition))
    return {path: strict_json(body) for path, body in files.items() if path.endswith(".json")}


def _alpha() -> Any:
    edition = published(duel(), base_url=SITE, title="A board")
    return _records(edition)[f"every_eval_ever/{edition.run_slugs['acme/alpha']}.json"]


@pytest.mark.parametrize("edition", [odd, odd_on_a_site, lambda: published(duel(contest="one"))])
def test_records_keep_to_the_schema(edition: Any) -> None:
    records = _records(edition())
    assert records
    for record in records.values():
        assert [error.message for error in Draft7Validator(RULES).iter_errors(record)] == []


@pytest.mark.shared
def test_the_recorded_board_has_a_record_for_each_of_its_16_runs(recorded_edition: Published) -> None:
    records = _records(recorded_edition)
    assert len(records) == 16
    for record in records.values():
        assert [error.message for error in Draft7Validator(RULES).iter_errors(record)] == []
        assert [one["evaluation_name"] for one in record["evaluation_results"]] == [
            "livecut.after_cutoff",
            "livecut.common_window",
        ]
        assert record["source_metadata"]["source_type"] == "documentation"


def test_both_scores_with_their_uncertainty() -> None:
    own, common = _alpha()["evaluation_results"]
    assert own["score_details"]["score"] == pytest.approx(11 / 14, abs=1e-12)
    assert common["score_details"]["score"] == pytest.approx(9 / 12, abs=1e-12)
    uncertainty = common["score_details"]["uncertainty"]
    # 9 of 12 in contests of their own: sqrt(12/11 * 12 * 0.75 * 0.25) / 12 = 0.13056; t with 11 degrees of freedom is
    # 2.201, so the upper end would be above 1 and the interval is Wilson's, with the ends inside [0, 1].
    assert uncertainty["standard_error"]["value"] == pytest.approx(0.13056, abs=1e-5)
    assert uncertainty["num_samples"] == 12
    assert uncertainty["confidence_interval"]["method"] == "contest_wilson"
    assert uncertainty["confidence_interval"]["confidence_level"] == 0.95
    assert 0.4 < uncertainty["confidence_interval"]["lower"] < 0.75 < uncertainty["confidence_interval"]["upper"] < 1


def test_a_record_says_who_what_and_when() -> None:
    record = _alpha()
    assert record["model_info"]["id"] == "acme/alpha"
    assert record["model_info"]["developer"] == "Acme"
    assert record["eval_library"]["name"] == "livecut"
    assert record["eval_library"]["version"] == "0.1.0"
    assert record["retrieved_timestamp"] == "1746262830"  # 2025-05-03T09:00:30Z
    assert record["evaluation_timestamp"] == "2024-07-01"
    assert record["source_metadata"]["source_organization_name"] == "A board"
    assert record["source_metadata"]["evaluator_relationship"] == "other"  # nobody said which
    own = record["evaluation_results"][0]
    assert own["source_data"]["url"] == ["https://example.org/board/problems.html"]
    assert own["generation_config"] == {
        "generation_args": {"temperature": 0.2, "top_p": 0.95, "max_tokens": 4096},
        "additional_details": {"prompt": "plain", "stop": '["```"]'},
    }
    details = own["score_details"]["details"]
    assert details["window_from"] == "2024-03-01T12:00:00Z"
    assert details["n_problems"] == "14"
    assert details["built_at"] == "2025-05-03T09:00:30Z"
    assert details["margin_hours"] == "0.0"
    assert '"split": "public"' in details["settings"]


def test_conditions_that_the_schema_could_not_hold_stand_beside_as_text() -> None:
    odd_values = {"temperature": "hot", "top_p": True, "max_tokens": 0, "top_k": 40}
    run = edition_run("solo", [(place, 1, 1) for place in range(12)], conditions=odd_values)
    (record,) = _records(published(one_run(run, [edition_problem(place) for place in range(12)]))).values()
    assert [error.message for error in Draft7Validator(RULES).iter_errors(record)] == []
    assert record["evaluation_results"][0]["generation_config"] == {
        "generation_args": {"top_k": 40},
        "additional_details": {"temperature": "hot", "top_p": "true", "max_tokens": "0"},
    }


def test_ids_differ_between_runs_and_editions() -> None:
    ids = [record["evaluation_id"] for record in _records(odd()).values()]
    ids += [record["evaluation_id"] for record in _records(published(duel())).values()]
    assert len(set(ids)) == len(ids) == 6


def test_a_run_without_a_rate_has_no_record() -> None:
    slugs = odd().run_slugs
    assert set(_records(odd())) == {
        f"every_eval_ever/{slugs[run]}.json" for run in ("steady", "memoriser", "failing", HOSTILE)
    }
    reasons = by_path(every_eval_ever.files(odd()))["every_eval_ever/without_score.txt"].decode()
    assert "late: no problem was judged" in reasons


def test_an_edition_without_runs_has_no_records() -> None:
    assert _records(published(empty())) == {}
