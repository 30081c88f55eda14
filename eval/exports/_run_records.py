"""What a record of one run carries, whatever its format: the score or why there is none, and the basis of both. Pure.

The headline is the score in the run's own window, after its cut-off; the one on the common problems stands beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from eval.editions.document import Edition, EditionRun
from eval.exports._naming import SOFTWARE, lines_file, one_line
from eval.exports._tests import common_text, own_texts
from eval.publishing.publication import File, Published
from eval.render import share_text, window_text
from eval.report import Row, utc_text
from eval.sheets import plain
from eval.standing import CUTOFF_RULE

COMMON_RULE = "the problems after the latest cut-off among the runs that are compared, which all of them have answered"
NOT_IN_TABLE = "the run is not in this table"
CONFIDENCE = 0.95


@dataclass(frozen=True)
class CommonScore:
    """pass@1 of a run on the problems that all compared runs share, with its 95 % interval and the basis of both."""

    value: float
    low: float | None
    high: float | None
    se: float | None
    interval_method: str
    n_problems: int
    basis: Mapping[str, Any]


@dataclass(frozen=True)
class RunRecord:
    """A run with its file name. ``row`` is None for a model that is not scored.

    ``reason`` says why there is no rate; None where there is one.
    """

    run: EditionRun
    slug: str
    row: Row | None
    reason: str | None
    common: CommonScore | None

    @property
    def model(self) -> str:
        """The model, by the registry's name where it has one."""
        return self.run.entry or self.run.model

    @property
    def rated(self) -> Row | None:
        """The row where it has a rate."""
        return self.row if self.reason is None else None


def run_records(published: Published) -> tuple[RunRecord, ...]:
    """A record for each run, by file name."""
    edition, common = published.edition, _common_scores(published)
    records = []
    for run in edition.runs:
        row = edition.row_of(run.name)
        reason = own_reason(edition, run) if row is None else row.pass_at_1.reason
        records.append(RunRecord(run, published.run_slugs[run.name], row, reason, common.get(run.name)))
    return tuple(sorted(records, key=lambda record: record.slug))


def own_reason(edition: Edition, run: EditionRun) -> str:
    """Why a run is not in the table of own windows."""
    return edition.reason_of(run) or NOT_IN_TABLE


def _common_scores(published: Published) -> dict[str, CommonScore]:
    """The rates of the table of common problems, by run."""
    data = published.edition.numbers.common.data
    imported = {run.name for run in published.edition.runs if run.imported}
    found = {}
    for group in data.get("groups", ()):
        basis = {
            "window": f"[{data['window_from'] or '...'}, {data['window_to'] or '...'})",
            "window_from": data["window_from"],
            "window_to": data["window_to"],
            "rule": COMMON_RULE,
            "problem_set_digest": group["problem_set_digest"],
            "n_problems": group["n_problems"],
            "n_contests": group["n_contests"],
            "seed": data["seed"],
        }
        for row in group["rows"]:
            if row["score"] is not None and row["reason"] is None:
                found[row["model"]] = CommonScore(
                    value=row["score"],
                    low=row["low"],
                    high=row["high"],
                    se=row["se"],
                    interval_method=row["interval_method"],
                    n_problems=group["n_problems"],
                    basis=basis
                    | {"n_samples": row["n_samples"], "interval_method": row["interval_method"]}
                    | {"tests": common_text(group, imported=row["model"] in imported)},
                )
    return found


def edition_basis(published: Published) -> dict[str, Any]:
    """What holds for every number of an edition: which one it is, when it was made, and under which settings."""
    edition = published.edition
    settings = edition.numbers.own.settings
    return {
        "edition": published.name,
        "edition_digest": published.digest,
        "as_of": utc_text(edition.as_of),
        "built_at": utc_text(published.frozen_at),
        "software": edition.software,
        "site": published.base_url,
        "settings": plain({key: value for key, value in settings.items() if value is not None}),
        "margin_hours": edition.settings.margin_hours,
        "cutoff_rule": CUTOFF_RULE,
    }


def run_basis(published: Published, record: RunRecord) -> dict[str, Any]:
    """What the own score of a run rests on; what is not known is absent. A model without a cut-off has no window."""
    run, row = record.run, record.row
    known = {
        **edition_basis(published),
        "run": run.name,
        "model": record.model,
        "label": run.label or None,
        "origin": run.origin,
        "imported": run.imported,
        "ran_on": run.ran_on and run.ran_on.isoformat(),
        "conditions": plain(run.conditions) or None,
        "reason": record.reason,
        **({} if row is None else _row_basis(row)),
    }
    return {key: value for key, value in known.items() if value is not None}


def common_basis(published: Published, record: RunRecord, common: CommonScore) -> dict[str, Any]:
    """What the score of a run on the common problems rests on; what is not known is absent."""
    basis = edition_basis(published) | dict(common.basis) | {"run": record.run.name, "model": record.model}
    return {key: value for key, value in basis.items() if value is not None and key != "cutoff_rule"}


def _row_basis(row: Row) -> dict[str, Any]:
    score = row.pass_at_1
    return {
        "provider": row.provider,
        "cutoff": row.cutoff,
        "cutoff_precision": row.cutoff_precision,
        "cutoff_status": row.cutoff_status,
        "cutoff_kind": row.cutoff_kind,
        "cutoff_end": utc_text(row.cutoff_end),
        "cutoff_source": row.cutoff_source,
        "cutoff_inherited_from": row.cutoff_inherited_from,
        "cutoff_revision": row.cutoff_revision,
        "window": window_text(row),
        "window_from": utc_text(row.window_from),
        "window_to": utc_text(row.window_to),
        "problem_set_digest": row.problem_set_digest if row.n_judged else None,
        "environment_digest": row.environment_digest,
        "n_eligible": row.n_eligible,
        "n_problems": row.n_judged,
        "n_contests": row.n_contests,
        "n_samples": row.n_samples,
        "samples_per_problem": row.samples_per_problem and list(row.samples_per_problem),
        "solved": share_text(score) if score.value is not None and not score.is_rate else None,
        "interval_method": score.interval_method if score.is_rate else None,
        **dict(own_texts(row)),
        "left_out": dict(row.left_out) or None,
        "notes": list(row.warnings) or None,
    }


def as_strings(basis: Mapping[str, Any]) -> dict[str, str]:
    """The same with strings alone; what is none is written as JSON."""
    return {key: value if isinstance(value, str) else written(value) for key, value in basis.items()}


def written(value: Any) -> str:
    """A value as one line: text as it is, the rest as JSON."""
    if isinstance(value, str):
        return one_line(value)
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=False, allow_nan=False)


def margin_text(hours: float) -> str:
    """A margin as it is typed: "30d", "12h"."""
    days = timedelta(hours=hours) / timedelta(days=1)
    return f"{days:g}d" if days == int(days) else f"{hours:g}h"


def without_score(folder: str, published: Published, records: tuple[RunRecord, ...]) -> Iterator[File]:
    """The list of the runs that have no record in a format that needs a number, each with its reason."""
    missing = [record for record in records if record.rated is None]
    n_all, withdrawn = len(records), published.edition.withdrawn
    yield lines_file(
        f"{folder}/without_score.txt",
        [
            f"{SOFTWARE} edition {one_line(published.name)}, {published.digest}: {len(missing)} of {n_all} "
            f"run{'' if n_all == 1 else 's'} have no score, and so no record here",
            *(f"{one_line(record.run.name)}: {one_line(record.reason or '')}" for record in missing),
            *(f"{one_line(model)}: left out: {one_line(why)}" for model, why in sorted(withdrawn.items())),
        ],
    )
