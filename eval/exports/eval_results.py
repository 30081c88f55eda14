"""Scores as the Hugging Face Hub reads them: YAML files of the folder ``.eval_results`` of a model's repository.

Format: https://huggingface.co/docs/hub/eval-results (dataset {id, task_id}, value, date, source {url, name}, notes). A
record there must have a value, so a run without a rate has none here; ``without_score.txt`` says why. It must name a
data set on the Hub too: where the site does not stand in one, there are no records, and ``README.txt`` says what lacks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from eval.exports._naming import address, lines_file, one_line
from eval.exports._run_records import (
    CommonScore,
    RunRecord,
    common_basis,
    run_basis,
    run_records,
    without_score,
    written,
)
from eval.publishing.publication import File, Published
from eval.report import Row, utc_text

NAME = "eval_results"
DESCRIPTION = (
    "eval_results/RUN.yaml: each score for the folder .eval_results of a model on the Hub, where the site stands there"
)

OWN_TASK, COMMON_TASK = "after_cutoff", "common_window"
_ON_THE_HUB = re.compile(r"https://huggingface\.co/datasets/([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)/")
_SAYS_VALUE = "value is pass@1 as a share from 0 to 1"
_HEAD = "# Put this file into the folder .eval_results of the model's repository."
_MISSING = (
    "no scores for the Hugging Face Hub: a score there must name the data set on the Hub that has this benchmark, and",
    "nobody said which",
    "",
    "put the site into a data set of your own, and say where it stands:",
    "live publish ... --base-url https://huggingface.co/datasets/ORG/NAME/resolve/main/",
)


def files(published: Published) -> Iterator[File]:
    """One file for each run with a rate, and the list of the others; what is missing where no data set is known."""
    found = _ON_THE_HUB.match(published.base_url or "")
    if found is None:
        yield lines_file(f"{NAME}/README.txt", _MISSING)
        return
    records = run_records(published)
    for record in records:
        if record.rated is not None:
            yield _file(published, found[1], record, record.rated)
    yield from without_score(NAME, published, records)


def _file(published: Published, dataset: str, record: RunRecord, row: Row) -> File:
    entries = [_own(published, dataset, record, row)]
    if record.common is not None:
        entries.append(_common(published, dataset, record, record.common))
    body = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=10**6)
    return lines_file(f"{NAME}/{record.slug}.yaml", [_HEAD, body.rstrip("\n")])


def _own(published: Published, dataset: str, record: RunRecord, row: Row) -> dict[str, Any]:
    score, basis = row.pass_at_1, run_basis(published, record)
    return {
        "dataset": {"id": dataset, "task_id": OWN_TASK},
        "value": score.value,
        **_when_and_where(published, record),
        "notes": _notes(basis | _interval(score.ci_low, score.ci_high, score.interval_method, score.n_problems)),
    }


def _common(published: Published, dataset: str, record: RunRecord, common: CommonScore) -> dict[str, Any]:
    basis = common_basis(published, record, common)
    return {
        "dataset": {"id": dataset, "task_id": COMMON_TASK},
        "value": common.value,
        **_when_and_where(published, record),
        "notes": _notes(basis | _interval(common.low, common.high, common.interval_method, common.n_problems)),
    }


def _when_and_where(published: Published, record: RunRecord) -> dict[str, Any]:
    """The day of the run, or when the score was made where that is not known; and the run's page, if it has one."""
    ran_on = record.run.ran_on
    found: dict[str, Any] = {"date": utc_text(published.frozen_at) if ran_on is None else ran_on.isoformat()}
    if published.base_url is not None:
        page = address(published, f"models/{record.slug}.html")
        found["source"] = {"url": page, "name": one_line(f"{published.title}, edition {published.name}")}
    return found


def _interval(low: float | None, high: float | None, method: str, n_problems: int) -> dict[str, Any]:
    interval = "none" if low is None or high is None else [low, high]
    return {"interval_95": interval, "interval_method": method, "n_problems": n_problems}


def _notes(basis: Mapping[str, Any]) -> str:
    """Everything that the format has no field for, as one line."""
    return "; ".join([_SAYS_VALUE, *(f"{key}: {written(value)}" for key, value in sorted(basis.items()))])
