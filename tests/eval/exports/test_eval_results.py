"""YAML for the Hub against its documentation (https://huggingface.co/docs/hub/eval-results, read in the state of 2026).

What is written was also read back by huggingface_hub 2.4.0 (``parse_eval_result_entries``) without a loss.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from eval.exports import eval_results
from eval.publishing.publication import Published
from tests.eval.editions.built import HOSTILE, published
from tests.eval.exports.small_editions import SITE, by_path, duel, empty, odd

ON_THE_HUB = "https://huggingface.co/datasets/acme/live-board/resolve/main/"


def odd_on_the_hub() -> Published:
    return replace(odd(), base_url=ON_THE_HUB)


def _files(edition: Published) -> dict[str, list[dict[str, Any]]]:
    files = by_path(eval_results.files(edition))
    return {path: yaml.safe_load(body) for path, body in files.items() if path.endswith(".yaml")}


def _alpha(edition: Published) -> list[dict[str, Any]]:
    return _files(edition)[f"eval_results/{edition.run_slugs['acme/alpha']}.yaml"]


def test_the_headline_is_the_score_after_the_own_cutoff_and_the_common_one_stands_beside() -> None:
    own, common = _alpha(published(duel(), base_url=ON_THE_HUB))
    assert own["dataset"] == {"id": "acme/live-board", "task_id": "after_cutoff"}
    assert own["value"] == pytest.approx(11 / 14, abs=1e-12)
    assert common["dataset"] == {"id": "acme/live-board", "task_id": "common_window"}
    assert common["value"] == pytest.approx(9 / 12, abs=1e-12)


def test_keys_and_types_are_those_of_the_documentation() -> None:
    entries = [entry for file in _files(odd_on_the_hub()).values() for entry in file]
    assert len(entries) == 4
    for entry in entries:
        assert entry.keys() <= {"dataset", "value", "verifyToken", "date", "source", "evaluation_framework", "notes"}
        assert entry["dataset"].keys() <= {"id", "task_id", "revision"}
        assert entry["dataset"].keys() >= {"id", "task_id"}
        assert isinstance(entry["value"], float)
        assert isinstance(entry["date"], str)
        assert entry["source"].keys() <= {"url", "name", "user", "org"}
        assert entry["source"]["url"].startswith(f"{ON_THE_HUB}models/")
        assert isinstance(entry["notes"], str)


def test_the_notes_carry_what_the_score_rests_on() -> None:
    edition = published(duel(), base_url=ON_THE_HUB)
    own, common = _alpha(edition)
    said = dict(part.split(": ", 1) for part in own["notes"].split("; ") if ": " in part)
    row = next(row for row in edition.edition.numbers.own.rows if row.run == "acme/alpha")
    expected = {
        "window": "[2024-03-01T12:00:00Z, ...)",
        "window_from": "2024-03-01T12:00:00Z",
        "cutoff": "2024-02",
        "cutoff_status": "stated",
        "margin_hours": "0.0",
        "problem_set_digest": row.problem_set_digest,
        "edition_digest": edition.digest,
        "n_problems": "14",
        "n_samples": "14",
        "built_at": "2025-05-03T09:00:30Z",
        "as_of": "2025-05-02T03:17:00Z",
        "interval_method": "contest_wilson",
        "label": "first",
    }
    assert said.items() >= expected.items()
    assert "published strictly later than the end of the cut-off" in said["cutoff_rule"]
    assert "window: [2024-04-01T12:00:00Z, ...)" in common["notes"]
    assert "n_problems: 12;" in common["notes"]


def test_the_date_is_that_of_the_run_where_it_is_known_and_else_that_of_the_score() -> None:
    files = _files(published(duel(), base_url=ON_THE_HUB))
    dates = {entry["date"] for file in files.values() for entry in file}
    assert dates == {"2024-07-01", "2025-05-03T09:00:30Z"}


@pytest.mark.parametrize("base_url", [None, SITE, "https://huggingface.co/acme/live-board/", "https://huggingface.co/"])
def test_where_no_data_set_is_known_there_are_no_scores_but_what_is_missing(base_url: str | None) -> None:
    """A data set's name that nobody said is somebody else's, or nobody's."""
    files = by_path(eval_results.files(replace(odd(), base_url=base_url)))
    assert list(files) == ["eval_results/README.txt"]
    said = files["eval_results/README.txt"].decode()
    assert "must name the data set on the Hub" in said
    assert "--base-url https://huggingface.co/datasets/ORG/NAME/" in said


def test_a_run_without_a_rate_has_no_file_and_the_list_says_why() -> None:
    files = by_path(eval_results.files(odd_on_the_hub()))
    slugs = odd().run_slugs
    assert {path for path in files if path.endswith(".yaml")} == {
        f"eval_results/{slugs[run]}.yaml" for run in ("steady", "memoriser", "failing", HOSTILE)
    }
    lines = files["eval_results/without_score.txt"].decode().splitlines()
    assert lines[0].endswith("3 of 7 runs have no score, and so no record here")
    assert lines[1:] == [
        "frugal: fewer than 10 problems (5): read it as a list, not as a rate",
        "late: no problem was judged",
        "nameless: no cut-off and no release date is known",
        "ghost-1: left out: asked by its provider",
    ]


def test_a_hostile_name_stays_text() -> None:
    (entry,) = _files(odd_on_the_hub())[f"eval_results/{odd().run_slugs[HOSTILE]}.yaml"]
    assert 'run: A | B "C" <script>alert(1)</script> end' in entry["notes"]


def test_an_edition_without_runs_has_the_list_alone() -> None:
    files = by_path(eval_results.files(published(empty(), base_url=ON_THE_HUB)))
    assert list(files) == ["eval_results/without_score.txt"]
    assert b": 0 of 0 runs have no score" in files["eval_results/without_score.txt"]
