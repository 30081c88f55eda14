"""The frozen shape of a report: what every score carries, and its JSON form. Instants are UTC; shares lie in [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any

from eval.eligibility import NotScored, UsedCutoff
from eval.test_basis import TestBasis, basis_to_dict

TOO_FEW_PROBLEMS = 10
"""With fewer problems a table shows a count and each problem, no rate and no interval; JSON says so in ``reason``."""


def too_few(n_problems: int) -> str:
    """Why a mean over so many problems is not to be read as a rate."""
    return f"fewer than {TOO_FEW_PROBLEMS} problems ({n_problems}): read it as a list, not as a rate"


@dataclass(frozen=True)
class Score:
    """pass@k over ``n_problems`` problems in ``n_contests`` contests. ``value`` is None when no problem allows it.

    ``n_too_few`` judged problems have fewer than k samples and are not in it. ``se`` is the standard error that the
    interval rests on: over problems or contests, never over samples. ``unjudged`` says why no problem was judged, where
    more is known of it than that.
    """

    k: int
    value: float | None
    ci_low: float | None
    ci_high: float | None
    interval_method: str
    n_problems: int
    n_contests: int
    n_too_few: int = 0
    se: float | None = None
    unjudged: str | None = None

    @property
    def is_rate(self) -> bool:
        """Whether there are problems enough to speak of a rate."""
        return self.value is not None and self.n_problems >= TOO_FEW_PROBLEMS

    @property
    def reason(self) -> str | None:
        """Why there is no number, or why it must not be read as a rate; None for one that can be."""
        if self.value is None:
            few = self.n_too_few
            return f"n < k for {few} of {few} problems" if few else self.unjudged or "no problem was judged"
        if not self.is_rate:
            return too_few(self.n_problems)
        return None


@dataclass(frozen=True)
class ProblemResult:
    """One problem of a run: ``n_correct`` of its ``n_samples`` judged samples were accepted."""

    problem: str
    n_samples: int
    n_correct: int


@dataclass(frozen=True)
class SamplesApart:
    """What became of problems whose tests are the samples alone, which are in no score: a program that has learned what
    the statement shows passes them. ``n_correct`` of ``n_samples`` judged samples on them were accepted."""

    n_problems: int
    n_samples: int
    n_correct: int


@dataclass(frozen=True)
class Stratum:
    """The scores of one difficulty or one platform."""

    name: str
    n_judged: int
    n_samples: int
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class RepairScores:
    """What a round of self-repair changed on the problems of a row, whose pass@1 is that after it.

    ``before`` is pass@1 before, ``repaired`` the mean share of failing samples that pass after it, over the problems
    that have such; ``n_repaired`` of ``n_asked`` samples were repaired.
    """

    before: Score
    repaired: Score
    n_asked: int
    n_repaired: int


@dataclass(frozen=True)
class Row:
    """One run of one model over its window, with everything that its score rests on.

    ``n_eligible`` problems lie in the window and are sound; ``n_with_tests`` of them have tests here that a score can
    rest on, which for programs are tests beyond the samples; ``n_judged`` were judged (or have imported results).
    ``left_out`` gives a count for each reason; with ``n_judged`` it adds up to ``n_universe``, the problems that the
    filters leave; only reasons "fewer than K samples" do not enter that sum, since they concern pass@K alone.
    ``cutoff_kind`` is ``training_data`` or ``release_date``; ``cutoff_inherited_from`` the base model whose cut-off it
    is; ``cutoff_revision`` names the state of the claims that it was chosen from. ``samples_per_problem`` are the least
    and the most; ``results`` lists problems that are too few for a rate. ``repair`` is of runs of self-repair whose run
    before it is known. ``n_failed`` samples of eligible problems were asked for and have no answer; ``without_program``
    counts, by status, answers in which no program was found. ``run`` is the name that the run has in every table of an
    edition, "" elsewhere. ``samples_only`` is beside the score: of problems left out since their tests are the samples
    alone (None: no result on such). ``tests`` says what the tests of the judged problems are; None where no program was
    run on tests here.
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
    cutoff_kind: str | None
    cutoff_by: str | None
    cutoff_inherited_from: str | None
    cutoff_revision: str | None
    window_from: datetime | None
    window_to: datetime | None
    n_universe: int
    n_eligible: int
    n_with_tests: int
    n_judged: int
    n_contests: int
    n_samples: int
    scores: tuple[Score, ...]
    by_difficulty: tuple[Stratum, ...]
    by_platform: tuple[Stratum, ...]
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]
    problem_set_digest: str
    environment_digest: str | None
    samples_per_problem: tuple[int, int] | None = None
    results: tuple[ProblemResult, ...] = ()
    repair: RepairScores | None = None
    n_failed: int = 0
    without_program: Mapping[str, int] = field(default_factory=dict)
    run: str = ""
    samples_only: SamplesApart | None = None
    tests: TestBasis | None = None

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


def cutoff_fields(known: UsedCutoff | None) -> dict[str, Any]:
    """The fields of a `Row` about its cut-off; all None where none is known."""
    cutoff = known.cutoff if known is not None else None
    return {
        "cutoff": cutoff and cutoff.as_written,
        "cutoff_precision": cutoff and cutoff.precision.value,
        "cutoff_status": known and known.status.value,
        "cutoff_end": cutoff and cutoff.end,
        "cutoff_kind": known and known.kind,
        "cutoff_by": known and known.by,
        "cutoff_source": known and known.source,
        "cutoff_looked_up": known and known.looked_up,
        "cutoff_inherited_from": known and known.inherited_from,
        "cutoff_revision": known and known.revision,
    }


def samples_only_fields(apart: SamplesApart | None) -> dict[str, int]:
    """Results on sample tests alone as JSON values; 0 where there are none."""
    found = apart or SamplesApart(0, 0, 0)
    return {
        "n_samples_only": found.n_problems,
        "samples_only_n_samples": found.n_samples,
        "samples_only_n_correct": found.n_correct,
    }


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
        "cutoff_kind": row.cutoff_kind,
        "cutoff_by": row.cutoff_by,
        "cutoff_inherited_from": row.cutoff_inherited_from,
        "cutoff_revision": row.cutoff_revision,
        "window_from": utc_text(row.window_from),
        "window_to": utc_text(row.window_to),
        "n_universe": row.n_universe,
        "n_eligible": row.n_eligible,
        "n_with_tests": row.n_with_tests,
        "n_judged": row.n_judged,
        "n_contests": row.n_contests,
        "n_samples": row.n_samples,
        "samples_per_problem": row.samples_per_problem and list(row.samples_per_problem),
        **samples_only_fields(row.samples_only),
        "tests": basis_to_dict(row.tests),
        "n_failed": row.n_failed,
        "without_program": dict(row.without_program),
        **{f"pass_at_{score.k}": score.value for score in row.scores},
        "ci_low": first.ci_low,
        "ci_high": first.ci_high,
        "se": first.se,
        "interval_method": first.interval_method,
        "reason": first.reason,
        "scores": [score_to_dict(score) for score in row.scores],
        "by_difficulty": [stratum_to_dict(stratum) for stratum in row.by_difficulty],
        "by_platform": [stratum_to_dict(stratum) for stratum in row.by_platform],
        "problems": [asdict(result) for result in row.results],
        "repair": None if row.repair is None else repair_to_dict(row.repair),
        "left_out": dict(row.left_out),
        "warnings": list(row.warnings),
        "conditions": dict(row.conditions),
        "problem_set_digest": row.problem_set_digest,
        "environment_digest": row.environment_digest,
    }


def repair_to_dict(repair: RepairScores) -> dict[str, Any]:
    """What self-repair changed as JSON values."""
    return {
        "before": score_to_dict(repair.before),
        "repaired": score_to_dict(repair.repaired),
        "n_asked": repair.n_asked,
        "n_repaired": repair.n_repaired,
    }


def score_to_dict(score: Score) -> dict[str, Any]:
    """One score as JSON values."""
    return {
        "k": score.k,
        "value": score.value,
        "ci_low": score.ci_low,
        "ci_high": score.ci_high,
        "se": score.se,
        "interval_method": score.interval_method,
        "reason": score.reason,
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
