"""Results in the form of lm-evaluation-harness against its own description of the file.

Source: lm_eval/result_schema.py (``EvalResults``) and lm_eval/evaluator_utils.py of lm_eval 0.4.13: a metric's key is
"METRIC,FILTER", its standard error's "METRIC_stderr,FILTER", a number or "N/A". The files were also read by
``lm_eval.utils.make_table`` of that version, and by the converter of every-eval-ever 0.3.0.
"""

from __future__ import annotations

from typing import Any

import pytest

from eval.exports import lm_eval
from eval.publishing.publication import Published
from tests.eval.editions.built import HOSTILE, published
from tests.eval.exports.small_editions import by_path, duel, empty, odd, strict_json

KNOWN_KEYS = {
    "results", "groups", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples", "samples",
    "config", "git_hash", "date", "pretty_env_info", "transformers_version", "lm_eval_version", "upper_git_hash",
    "tokenizer_pad_token", "tokenizer_eos_token", "tokenizer_bos_token", "eot_token_id", "max_length", "model_source",
    "model_name", "model_name_sanitized", "system_instruction", "system_instruction_sha", "fewshot_as_multiturn",
    "chat_template", "chat_template_sha", "task_hashes", "total_evaluation_time_seconds",
}  # fmt: skip
KNOWN_CONFIG = {
    "model", "model_args", "model_num_parameters", "model_dtype", "model_revision", "model_sha", "batch_size",
    "batch_sizes", "device", "use_cache", "limit", "bootstrap_iters", "gen_kwargs", "random_seed", "numpy_seed",
    "torch_seed", "fewshot_seed",
}  # fmt: skip
OWN, COMMON = "livecut_after_cutoff", "livecut_common_window"


def _files(edition: Published) -> dict[str, Any]:
    return {path: strict_json(body) for path, body in by_path(lm_eval.files(edition)).items()}


def _alpha() -> Any:
    edition = published(duel())
    return _files(edition)[f"lm_eval/{edition.run_slugs['acme/alpha']}.json"]


def test_keys_and_types_are_those_of_the_harness() -> None:
    for document in (*_files(odd()).values(), *_files(published(duel())).values()):
        assert document.keys() <= KNOWN_KEYS
        assert document.keys() >= {
            "results", "configs", "versions", "n-shot", "n-samples", "higher_is_better", "config", "git_hash", "date",
        }  # fmt: skip
        assert document["config"].keys() <= KNOWN_CONFIG
        assert isinstance(document["date"], float)
        tasks = set(document["results"])
        assert tasks == set(document["configs"]) == set(document["versions"]) == set(document["n-samples"])
        for name, result in document["results"].items():
            assert result["name"] == name
            assert isinstance(result["sample_len"], int)
            assert document["n-samples"][name].keys() == {"original", "effective"}
            assert document["higher_is_better"][name] == {"pass@1": True}
            assert result.keys() <= {"name", "alias", "sample_len", "pass@1,none", "pass@1_stderr,none"}


def test_both_scores_are_tasks_of_their_own() -> None:
    document = _alpha()
    own, common = document["results"][OWN], document["results"][COMMON]
    assert own["pass@1,none"] == pytest.approx(11 / 14, abs=1e-12)
    assert own["sample_len"] == 14
    assert common["pass@1,none"] == pytest.approx(9 / 12, abs=1e-12)
    assert common["pass@1_stderr,none"] == pytest.approx(0.13056, abs=1e-5)  # sqrt(12/11 * 12 * 0.75 * 0.25) / 12
    assert document["n-samples"] == {
        OWN: {"original": 14, "effective": 14},
        COMMON: {"original": 12, "effective": 12},
    }


def test_what_the_harness_has_no_key_for_stands_in_the_metadata() -> None:
    document = _alpha()
    metadata = document["configs"][OWN]["metadata"]
    expected = {
        "version": "2025-05",
        "window_from": "2024-03-01T12:00:00Z",
        "cutoff": "2024-02",
        "margin_hours": 0.0,
        "n_problems": 14,
        "n_samples": 14,
        "built_at": "2025-05-03T09:00:30Z",
    }
    assert metadata.items() >= expected.items()
    low, high = metadata["interval_95"]
    assert 0 < low < 11 / 14 < high < 1
    assert document["task_hashes"][OWN] == metadata["problem_set_digest"]
    assert document["date"] == 1746262830.0  # 2025-05-03T09:00:30Z
    assert document["configs"][OWN]["generation_kwargs"] == {
        "temperature": 0.2,
        "top_p": 0.95,
        "max_gen_toks": 4096,
        "until": ["```"],
    }


def test_nothing_is_said_that_only_the_harness_could_know() -> None:
    document = _alpha()
    assert "lm_eval_version" not in document
    assert document["n-shot"] == {}
    assert document["git_hash"] is None


@pytest.mark.parametrize(
    ("run", "judged", "reason"),
    [
        ("late", 0, "no problem was judged"),
        ("frugal", 5, "fewer than 10 problems (5): read it as a list, not as a rate"),
        ("nameless", 0, "no cut-off and no release date is known"),
    ],
)
def test_a_run_without_a_rate_has_a_task_without_a_metric(run: str, judged: int, reason: str) -> None:
    document = _files(odd())[f"lm_eval/{run}.json"]
    assert document["results"].keys() == {OWN}
    assert document["results"][OWN].keys() == {"name", "alias", "sample_len"}
    assert document["n-samples"][OWN]["effective"] == judged
    metadata = document["configs"][OWN]["metadata"]
    assert metadata["reason"] == reason
    assert "interval_95" not in metadata


def test_where_there_is_no_standard_error_the_harness_writes_na() -> None:
    edition = published(duel(contest="one"))
    document = _files(edition)["lm_eval/beta.json"]
    assert document["results"][OWN]["pass@1_stderr,none"] == "N/A"


def test_a_hostile_name_is_text_and_its_file_name_is_safe() -> None:
    document = _files(odd())[f"lm_eval/{odd().run_slugs[HOSTILE]}.json"]
    assert document["model_name"] == HOSTILE
    assert not set('"<>:/\\|?*[]') & set(document["model_name_sanitized"])


def test_an_edition_without_runs_has_no_files() -> None:
    assert _files(published(empty())) == {}
