"""The frozen shape of a report: what every score carries, and its JSON form. Instants are UTC; shares lie in [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from eval.models import NotScored


@dataclass(frozen=True)
class Score:
    """pass@k over ``n_problems`` problems in ``n_contests`` contests. ``value`` is None when no problem allows it.

    ``n_too_few`` judged problems have fewer than k samples and are not in it.
    """

    k: int
    value: float | None
    ci_low: float | None
    ci_high: float | None
    interval_method: str
    n_problems: int
    n_contests: int
    n_too_few: int = 0


@dataclass(frozen=True)
class Stratum:
    """The scores of one difficulty or one platform."""

    name: str
    n_judged: int
    n_samples: int
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class Row:
    """One run of one model over its window, with everything that its score rests on.

    ``n_eligible`` problems lie in the window and are sound; ``n_with_tests`` of them can be judged here; ``n_judged``
    were (or have imported results). ``left_out`` gives a count for each reason; with ``n_judged`` it adds up to
    ``n_universe``, the problems that the filters leave; only reasons "fewer than K samples" do not enter that sum,
    since they concern pass@K alone. ``n_in_window_left_out`` lie in the window. ``problem_set`` names the judged
    problems and their suites.
    """

    model: str
    label: str
    origin: str
    conditions: Mapping[str, Any]
    provider: str | None
    cutoff: str | None
    cutoff_precision: str | None
    cutoff_status: str | None
    cutoff_source: str | None
    cutoff_looked_up: date | None
    cutoff_end: datetime | None
    window_from: datetime | None
    window_to: datetime | None
    n_universe: int
    n_eligible: int
    n_with_tests: int
    n_judged: int
    n_contests: int
    n_samples: int
    n_samples_only: int
    scores: tuple[Score, ...]
    by_difficulty: tuple[Stratum, ...]
    by_platform: tuple[Stratum, ...]
    left_out: Mapping[str, int]
    n_in_window_left_out: int
    warnings: tuple[str, ...]
    problem_set: frozenset[str]
    problem_set_digest: str
    environment_digest: str | None

    def score(self, k: int) -> Score | None:
        """The score for this k, if it was asked for."""
        return next((score for score in self.scores if score.k == k), None)

    @property
    def pass_at_1(self) -> Score:
        """pass@1, which every row has."""
        return self.scores[0]


@dataclass(frozen=True)
class Report:
    """A table of rows that may rest on different problems, so it has no ranks; and the models that have no row."""

    rows: tuple[Row, ...]
    not_scored: tuple[NotScored, ...]
    settings: Mapping[str, Any]
    problem_set_digest: str
    environment_digest: str | None
    generated_at: datetime
    notes: tuple[str, ...] = field(default=())

    @property
    def has_scores(self) -> bool:
        """Whether any row has a number."""
        return any(row.pass_at_1.value is not None for row in self.rows)


def utc_text(instant: datetime | None) -> str | None:
    """An instant as "2023-11-01T12:00:00Z"."""
    return None if instant is None else instant.replace(tzinfo=None).isoformat() + "Z"


def report_to_dict(report: Report) -> dict[str, Any]:
    """The report as JSON values. Every key is always there; what is not known is null, and no number is NaN."""
    return {
        "rows": [row_to_dict(row) for row in report.rows],
        "not_scored": [{"model": model.model, "reason": model.reason} for model in report.not_scored],
        "problem_set_digest": report.problem_set_digest,
        "environment_digest": report.environment_digest,
        "generated_at": utc_text(report.generated_at),
        "settings": dict(report.settings),
        "notes": list(report.notes),
    }


def row_to_dict(row: Row) -> dict[str, Any]:
    """One row as JSON values."""
    first = row.pass_at_1
    return {
        "model": row.model,
        "label": row.label,
        "origin": row.origin,
        "provider": row.provider,
        "cutoff": row.cutoff,
        "cutoff_precision": row.cutoff_precision,
        "cutoff_status": row.cutoff_status,
        "cutoff_source": row.cutoff_source,
        "cutoff_looked_up": None if row.cutoff_looked_up is None else row.cutoff_looked_up.isoformat(),
        "cutoff_end": utc_text(row.cutoff_end),
        "window_from": utc_text(row.window_from),
        "window_to": utc_text(row.window_to),
        "n_universe": row.n_universe,
        "n_eligible": row.n_eligible,
        "n_with_tests": row.n_with_tests,
        "n_judged": row.n_judged,
        "n_contests": row.n_contests,
        "n_samples": row.n_samples,
        "n_samples_only": row.n_samples_only,
        **{f"pass_at_{score.k}": score.value for score in row.scores},
        "ci_low": first.ci_low,
        "ci_high": first.ci_high,
        "interval_method": first.interval_method,
        "scores": [score_to_dict(score) for score in row.scores],
        "by_difficulty": [stratum_to_dict(stratum) for stratum in row.by_difficulty],
        "by_platform": [stratum_to_dict(stratum) for stratum in row.by_platform],
        "left_out": dict(row.left_out),
        "warnings": list(row.warnings),
        "conditions": dict(row.conditions),
        "problem_set_digest": row.problem_set_digest,
        "environment_digest": row.environment_digest,
    }


def score_to_dict(score: Score) -> dict[str, Any]:
    """One score as JSON values."""
    return {
        "k": score.k,
        "value": score.value,
        "ci_low": score.ci_low,
        "ci_high": score.ci_high,
        "interval_method": score.interval_method,
        "n_problems": score.n_problems,
        "n_contests": score.n_contests,
        "fewer_than_k_samples": score.n_too_few,
    }


def stratum_to_dict(stratum: Stratum) -> dict[str, Any]:
    """One stratum as JSON values."""
    return {
        "name": stratum.name,
        "n_judged": stratum.n_judged,
        "n_samples": stratum.n_samples,
        "scores": [score_to_dict(score) for score in stratum.scores],
    }
