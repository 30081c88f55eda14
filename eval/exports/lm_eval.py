"""Scores in the form of the results file of lm-evaluation-harness, so that its readers can take them.

Format: ``results_*.json`` as EleutherAI's lm-evaluation-harness 0.4 writes it (lm_eval/result_schema.py, all keys of
which are optional). Only what is true of a run is filled in: what that harness alone could know is null or absent. What
it has no key for stands in the ``metadata`` of each task's configuration, which is free. A run without a rate has a
task without a metric, and the reason there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from eval.exports._naming import json_file
from eval.exports._run_records import CommonScore, RunRecord, common_basis, run_basis, run_records
from eval.publishing.publication import File, Published
from eval.sheets import plain

NAME = "lm_eval"
DESCRIPTION = "lm_eval/RUN.json: each run in the form of lm-evaluation-harness's results"

OWN_TASK, COMMON_TASK = "livecut_after_cutoff", "livecut_common_window"
METRIC, NO_VALUE = "pass@1", "N/A"
"""A metric's key is "pass@1,none": the part behind the comma names a filter, of which there is none."""


_GENERATION = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_gen_toks", "stop": "until"}
"""Conditions of a run, as the harness calls them."""


def files(published: Published) -> Iterator[File]:
    """One file for each run."""
    for record in run_records(published):
        tasks = {OWN_TASK: _own(published, record)}
        if record.common is not None:
            tasks[COMMON_TASK] = _common(published, record, record.common)
        yield json_file(f"{NAME}/{record.slug}.json", _document(published, record, tasks))


def _document(published: Published, record: RunRecord, tasks: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "results": {name: task["results"] for name, task in tasks.items()},
        "group_subtasks": {},
        "configs": {name: _config(name, task, record) for name, task in tasks.items()},
        "versions": dict.fromkeys(tasks, published.name),
        "n-shot": {},
        "higher_is_better": {name: {METRIC: True} for name in tasks},
        "n-samples": {name: task["n-samples"] for name, task in tasks.items()},
        "config": {
            "model": record.model,
            "model_args": None,
            "batch_size": None,
            "batch_sizes": [],
            "device": None,
            "use_cache": None,
            "limit": None,
            "bootstrap_iters": None,
            "gen_kwargs": _generation(record) or None,
        },
        "git_hash": None,
        "date": published.frozen_at.timestamp(),
        "task_hashes": {name: task["hash"] for name, task in tasks.items() if task["hash"]},
        "model_source": record.run.origin,
        "model_name": record.model,
        "model_name_sanitized": re.sub(r'["<>:/|\\?*\[\]]+', "__", record.model),
    }


def _config(name: str, task: Mapping[str, Any], record: RunRecord) -> dict[str, Any]:
    return {
        "task": name,
        "output_type": "generate_until",
        "generation_kwargs": _generation(record),
        "metric_list": [{"metric": METRIC, "aggregation": "mean", "higher_is_better": True}],
        "metadata": task["metadata"],
    }


def _generation(record: RunRecord) -> dict[str, Any]:
    """What the harness would have been told about sampling, as far as the run says it."""
    conditions = record.run.conditions
    return {theirs: plain(conditions[ours]) for ours, theirs in _GENERATION.items() if conditions.get(ours) is not None}


def _own(published: Published, record: RunRecord) -> dict[str, Any]:
    row, rated = record.row, record.rated
    basis = run_basis(published, record)
    metrics = {}
    if rated is not None:
        score = rated.pass_at_1
        metrics = _metrics(score.value, score.se)
        basis |= _interval(score.ci_low, score.ci_high)
    n_judged = 0 if row is None else row.n_judged
    return {
        "results": _result(OWN_TASK, "livecut, after the cut-off", n_judged, metrics),
        "n-samples": {"original": 0 if row is None else row.n_eligible, "effective": n_judged},
        "hash": basis.get("problem_set_digest"),
        "metadata": basis | {"version": published.name},
    }


def _common(published: Published, record: RunRecord, common: CommonScore) -> dict[str, Any]:
    basis = common_basis(published, record, common) | _interval(common.low, common.high)
    n = common.n_problems
    return {
        "results": _result(COMMON_TASK, "livecut, common problems", n, _metrics(common.value, common.se)),
        "n-samples": {"original": n, "effective": n},
        "hash": common.basis["problem_set_digest"],
        "metadata": basis | {"version": published.name},
    }


def _result(name: str, alias: str, n_problems: int, metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "alias": alias, "sample_len": n_problems, **metrics}


def _metrics(value: float | None, se: float | None) -> dict[str, Any]:
    """The metric with its standard error, which the harness writes as "N/A" where there is none."""
    return {f"{METRIC},none": value, f"{METRIC}_stderr,none": NO_VALUE if se is None else se}


def _interval(low: float | None, high: float | None) -> dict[str, Any]:
    """The 95 % interval as shares; nothing where there is none."""
    return {} if low is None or high is None else {"interval_95": [low, high]}
