"""Scores as records of Every Eval Ever, the shared schema of evaluation results.

Format: eval.schema.json 0.3.0 of https://github.com/evaleval/every_eval_ever. Shares lie in [0, 1]; whatever the schema
has no field for stands in ``details`` and ``additional_details``, whose values are strings. A result must have a score,
so a run without a rate has no record; ``without_score.txt`` says why. The datastore of that project names its files by
random UUIDs, and so needs other names than these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eval.exports._naming import SOFTWARE, address, json_file, software_version
from eval.exports._run_records import (
    CONFIDENCE,
    CommonScore,
    RunRecord,
    as_strings,
    common_basis,
    run_basis,
    run_records,
    without_score,
)
from eval.publishing.publication import File, Published
from eval.report import Row
from eval.standing import CUTOFF_RULE

NAME = "every_eval_ever"
DESCRIPTION = "every_eval_ever/RUN.json: each score as a record of Every Eval Ever"
SCHEMA_VERSION = "0.3.0"

_TYPED_ARGUMENTS = ("temperature", "top_p", "top_k", "max_tokens")
"""Conditions that the schema knows, as numbers; the last as a whole one of at least 1."""


def files(published: Published) -> Iterator[File]:
    """One record for each run with a rate, and the list of the others."""
    records = run_records(published)
    for record in records:
        if record.rated is not None:
            yield json_file(f"{NAME}/{record.slug}.json", _record(published, record, record.rated))
    yield from without_score(NAME, published, records)


def _record(published: Published, record: RunRecord, row: Row) -> dict[str, Any]:
    made = str(int(published.frozen_at.timestamp()))
    results = [_own(published, record, row)]
    if record.common is not None:
        results.append(_common(published, record, record.common))
    ran_on = record.run.ran_on
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{SOFTWARE}/{record.slug}/{published.build_id}/{made}",
        "retrieved_timestamp": made,
        **({} if ran_on is None else {"evaluation_timestamp": ran_on.isoformat()}),
        "source_metadata": _source(published, record),
        "eval_library": _library(published),
        "model_info": _model(record, row),
        "evaluation_results": results,
    }


def _source(published: Published, record: RunRecord) -> dict[str, Any]:
    """Who says it. Whether that is the model's maker is not known here, so the relation is ``other``."""
    return {
        "source_name": published.title,
        "source_type": "documentation" if record.run.imported else "evaluation_run",
        "source_organization_name": published.title,
        **({} if published.base_url is None else {"source_organization_url": published.base_url}),
        "evaluator_relationship": "other",
        "additional_details": {
            "evaluator_relationship": "not stated",
            "results": f"imported: {record.run.origin}" if record.run.imported else "judged here",
        },
    }


def _library(published: Published) -> dict[str, Any]:
    environment = published.edition.environment
    details = {"edition": published.name, "edition_digest": published.digest}
    details |= {} if environment is None else {"environment_digest": environment.digest}
    return {"name": SOFTWARE, "version": software_version(published), "additional_details": details}


def _model(record: RunRecord, row: Row) -> dict[str, Any]:
    details = {
        "deployment_type": "unknown",
        "model_availability": "unknown",
        "run": record.run.name,
        "run_label": record.run.label,
        "cutoff": row.cutoff,
        "cutoff_status": row.cutoff_status,
        "cutoff_source": row.cutoff_source,
    }
    return {
        "name": record.run.model,
        "id": record.model,
        **({} if row.provider is None else {"developer": row.provider}),
        "additional_details": {key: value for key, value in details.items() if value},
    }


def _own(published: Published, record: RunRecord, row: Row) -> dict[str, Any]:
    score = row.pass_at_1
    return {
        "evaluation_result_id": "after_cutoff/pass_at_1",
        "evaluation_name": f"{SOFTWARE}.after_cutoff",
        "source_data": _problems(published, row.problem_set_digest),
        "metric_config": _metric(f"pass@1 on problems published after the model's cut-off: {CUTOFF_RULE}"),
        "score_details": {
            "score": score.value,
            "details": as_strings(run_basis(published, record)),
            "uncertainty": _uncertainty(
                (score.ci_low, score.ci_high), score.se, score.interval_method, score.n_problems
            ),
        },
        **_generation(record),
    }


def _common(published: Published, record: RunRecord, common: CommonScore) -> dict[str, Any]:
    return {
        "evaluation_result_id": "common_window/pass_at_1",
        "evaluation_name": f"{SOFTWARE}.common_window",
        "source_data": _problems(published, common.basis["problem_set_digest"]),
        "metric_config": _metric(f"pass@1 on {common.basis['rule']}"),
        "score_details": {
            "score": common.value,
            "details": as_strings(common_basis(published, record, common)),
            "uncertainty": _uncertainty(
                (common.low, common.high), common.se, common.interval_method, common.n_problems
            ),
        },
        **_generation(record),
    }


def _problems(published: Published, digest: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "dataset_name": SOFTWARE,
        "additional_details": {"edition_digest": published.digest, "problem_set_digest": digest},
    }
    if published.base_url is None:
        return found | {"source_type": "other"}
    return found | {"source_type": "url", "url": [address(published, "problems.html")]}


def _metric(description: str) -> dict[str, Any]:
    return {
        "evaluation_description": description,
        "metric_id": "pass_at_k",
        "metric_name": "pass@1",
        "metric_kind": "pass_rate",
        "metric_unit": "proportion",
        "metric_parameters": {"k": 1},
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0,
    }


def _uncertainty(
    ends: tuple[float | None, float | None], se: float | None, method: str, n_problems: int
) -> dict[str, Any]:
    """The number of samples is that of problems: the interval is over them, not over answers."""
    found: dict[str, Any] = {"num_samples": n_problems}
    if se is not None:
        found["standard_error"] = {"value": se, "method": method}
    low, high = ends
    if low is not None and high is not None:
        found["confidence_interval"] = {
            "lower": low,
            "upper": high,
            "confidence_level": CONFIDENCE,
            "method": method,
        }
    return found


def _generation(record: RunRecord) -> dict[str, Any]:
    """How the answers were asked for, as far as the run says it."""
    conditions = record.run.conditions
    typed = {name: conditions[name] for name in _TYPED_ARGUMENTS if _is_typed(name, conditions.get(name))}
    rest = as_strings({name: value for name, value in conditions.items() if name not in typed})
    found = {"generation_args": typed, "additional_details": rest}
    return {"generation_config": {key: value for key, value in found.items() if value}} if conditions else {}


def _is_typed(name: str, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return name != "max_tokens" or (isinstance(value, int) and value >= 1)
