"""The shape of an edition and its one form as bytes, over which its digest is taken. Pure.

The form is JSON with sorted keys and without white space, in UTF-8, ended by a line feed: the same content gives the
same bytes. Neither a name nor the instant of freezing is part of it, so that two editions of one store are equal. An
edition of an older format stays in it (`eval.editions.formats`): its bytes, digest and rules are those of its time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from db.records import DateClaim, Precision
from eval.editions.formats import COUNTS_SAMPLES, FORMATS, as_frozen, upgraded
from eval.evaluation import Outcome, RunOutcomes
from eval.models import ModelEntry, Registry, build_registry
from eval.report import Report, Row
from eval.settings import Settings
from eval.sheets import Sheet
from eval.window import ProblemFacts


class EditionUnreadable(ValueError):
    """Bytes that are no edition, or one of a format that is not known here. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class EditionSettings:
    """What was chosen when an edition was frozen: filters, margin, seed, and the two sets of the saturation picture.

    Runs are ranked together although they differ in the settings ``across``. ``saturated`` and ``fresh`` are written as
    `eval.problem_sets` reads them; None: chosen from the cut-offs.
    """

    margin_hours: float = 0.0
    platforms: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()
    include_flagged: bool = False
    across: tuple[str, ...] = ()
    seed: int = 0
    saturated: str | None = None
    fresh: str | None = None

    def after_cutoff(self) -> Settings:
        """The settings of the table in which each model has its own window; of public problems alone."""
        return Settings(
            margin=timedelta(hours=self.margin_hours),
            platforms=self.platforms,
            difficulties=self.difficulties,
            include_flagged=self.include_flagged,
            split="public",
        )


@dataclass(frozen=True)
class EditionEnvironment:
    """The sandbox environment that programs were judged in; ``digest`` is over all of it."""

    digest: str
    executor: str
    details: Mapping[str, Any]


@dataclass(frozen=True)
class EditionProblem:
    """A problem as it was. ``facts.problem_id`` is its place in the edition, counted from 0.

    ``evidence`` are the date claims that held, the deciding one first; ``revision`` is the content hash of the
    statement, which itself is in no edition.
    """

    facts: ProblemFacts
    title: str
    url: str | None
    status: str
    released_at: datetime | None
    released_precision: Precision | None
    evidence: tuple[DateClaim, ...] = ()
    revision: str | None = None

    @property
    def written_id(self) -> str:
        """Its id as people write it: "atcoder:abc301_a"."""
        return f"{self.facts.platform}:{self.facts.native_id}"


@dataclass(frozen=True)
class RareOutcome:
    """What most outcomes do not have: samples without a verdict or an answer, answers without a program by status."""

    problem: int
    n_waiting: int = 0
    n_internal: int = 0
    n_older: int = 0
    n_failed: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class EditionRun:
    """One run with its results as columns: ``n_correct`` of ``n_samples`` for each place in ``problems``.

    ``name`` is the one that tables show and is no other run's; ``entry`` the model's in the registry, if it has one.
    ``stored_label`` is the label in the store where tables show another. A run that is not ``is_shown`` is in no table:
    it is a peer beside which those that are shown are judged.
    """

    name: str
    model: str
    entry: str | None
    label: str
    origin: str
    imported: bool
    conditions: Mapping[str, Any]
    ran_on: date | None
    problems: tuple[int, ...]
    n_samples: tuple[int, ...]
    n_correct: tuple[int, ...]
    rare: tuple[RareOutcome, ...] = ()
    stored_label: str | None = None
    is_shown: bool = True

    def as_outcomes(self, *, counts_samples: bool = False) -> RunOutcomes:
        """The run as the statistics take it; problem ids are places in the edition.

        With ``counts_samples`` results on sample tests alone count like others (`Edition.counts_samples`).
        """
        rare = {one.problem: one for one in self.rare}
        columns = zip(self.problems, self.n_samples, self.n_correct, strict=True)
        return RunOutcomes(
            model=self.model,
            label=self.label,
            origin=self.origin,
            imported=self.imported,
            conditions=self.conditions,
            ran_on=self.ran_on,
            name=self.name,
            stored_label=self.stored_label,
            by_tests=not counts_samples,
            outcomes=tuple(
                Outcome(place, n, c) if place not in rare else _with_rare(Outcome(place, n, c), rare[place])
                for place, n, c in columns
            ),
        )


def _with_rare(outcome: Outcome, rare: RareOutcome) -> Outcome:
    return replace(
        outcome,
        n_waiting=rare.n_waiting,
        n_internal=rare.n_internal,
        n_older=rare.n_older,
        n_failed=rare.n_failed,
        statuses=rare.statuses,
    )


@dataclass(frozen=True)
class MonthScore:
    """pass@1 of one run on the problems of one month ("2025-01") of a platform, "" for all together.

    ``score`` and the interval are shares, None where there are too few problems (or contests) for one. ``is_broken``
    marks a month in which the run looks broken.
    """

    month: str
    platform: str
    n_problems: int
    n_solved: float
    score: float | None
    low: float | None
    high: float | None
    is_broken: bool = False


@dataclass(frozen=True)
class RunMonths:
    """The months of a run, by its name, in order."""

    run: str
    months: tuple[MonthScore, ...]


@dataclass(frozen=True)
class RankRange:
    """The ranks that the evidence allows a run, alone (``low`` to ``high``) and all runs at once, and its tier."""

    run: str
    low: int
    high: int
    simultaneous_low: int
    simultaneous_high: int
    tier: int


@dataclass(frozen=True)
class RankedWindow:
    """Ranks on the common problems published in ``[since, until)``; ``until`` None: no bound."""

    since: datetime
    until: datetime | None
    ranks: tuple[RankRange, ...]


@dataclass(frozen=True)
class PrivateScore:
    """A run on the private problems after its cut-off, in aggregate; ``reason`` says why there is no number."""

    run: str
    n_problems: int
    score: float | None
    low: float | None
    high: float | None
    reason: str | None


@dataclass(frozen=True)
class Numbers:
    """What an edition says. All but ``private`` are of its public problems alone.

    ``own`` has each run in its own window; the sheets are those that `live eval --table common|equated` and `live
    audit contamination|runs|difficulty|saturation` show. ``saturation`` is None where no two sets can be told apart.
    ``broken_months`` are by the name of the run; so is ``counted_on_samples``, of editions in which results on sample
    tests alone count: on how many problems a row has such.
    """

    own: Report
    common: Sheet
    equated: Sheet
    contamination: Sheet
    health: Sheet
    difficulty: Sheet
    saturation: Sheet | None
    months: tuple[RunMonths, ...]
    ranked_windows: tuple[RankedWindow, ...]
    broken_months: Mapping[str, tuple[str, ...]]
    private: tuple[PrivateScore, ...] = ()
    counted_on_samples: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SampledFailure:
    """A failed sample that was drawn: which test it failed first, and its program, cut where it is long."""

    problem: str
    sample_index: int
    verdict: str
    test: str
    language: str
    code: str
    is_cut: bool


@dataclass(frozen=True)
class RunFailures:
    """How the judged samples of a run ended on its eligible public problems, by verdict, with a few drawn failures."""

    run: str
    verdicts: Mapping[str, int]
    sampled: tuple[SampledFailure, ...]


@dataclass(frozen=True)
class Edition:
    """A frozen table with everything that it rests on.

    ``as_of`` is the instant at which the data stood so, ``models`` are the registry entries of its runs and of the
    models they inherit from. ``withdrawn`` are models that were left out, with the reason; ``note`` is the
    maintainer's. ``private_count`` private problems were taken out of it by `public_part`, and ``unshown_count`` runs
    and problems that are not shown by `shown_part`.
    """

    format: int
    software: str
    as_of: datetime
    settings: EditionSettings
    environment: EditionEnvironment | None
    models: tuple[ModelEntry, ...]
    problems: tuple[EditionProblem, ...]
    runs: tuple[EditionRun, ...]
    withdrawn: Mapping[str, str]
    note: str
    numbers: Numbers
    failures: tuple[RunFailures, ...] = ()
    private_count: int = 0
    unshown_count: int = 0

    @property
    def registry(self) -> Registry:
        """The models as they were known."""
        return build_registry(self.models)

    @property
    def counts_samples(self) -> bool:
        """Whether results on sample tests alone count in its scores, and the origins of tests are not recorded."""
        return self.format in COUNTS_SAMPLES

    @property
    def n_private(self) -> int:
        """How many private problems it has, or had before its public part was taken."""
        return self.private_count + sum(one.facts.is_private for one in self.problems)

    def row_of(self, run_name: str) -> Row | None:
        """The row of a run in the table of own windows, by the run's name; None where it has none."""
        return next((row for row in self.numbers.own.rows if row.run == run_name), None)

    def reason_of(self, run: EditionRun) -> str | None:
        """Why a run has no row in the table of own windows; None where it has one, or where nothing is said of it.

        What is said goes by the name of its model, in the registry or its own, in any case.
        """
        if self.row_of(run.name) is not None:
            return None
        names = [name.casefold() for name in (run.entry, run.model, run.name) if name is not None]
        refused = {one.model.casefold(): one.reason for one in self.numbers.own.not_scored}
        withdrawn = {name.casefold(): reason for name, reason in self.withdrawn.items()}
        said = (reasons[name] for reasons in (refused, withdrawn) for name in names if name in reasons)
        return next(said, None)


@dataclass(frozen=True)
class FrozenEdition:
    """An edition under its name, with the instant of freezing and the digest of its bytes in hex."""

    name: str
    frozen_at: datetime
    digest: str
    edition: Edition


def to_bytes(edition: Edition) -> bytes:
    """The one form of an edition. Raises ``ValueError`` for a number that is not finite."""
    document = as_frozen(_adapter().dump_python(edition, mode="json"))
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def from_bytes(body: bytes) -> Edition:
    """The edition of these bytes. Raises ``EditionUnreadable``."""
    try:
        document = json.loads(body)
        known = document.get("format") if isinstance(document, dict) else None
        if known not in FORMATS:
            raise EditionUnreadable(
                f"an edition of format {known}, while this version reads formats {min(FORMATS)} to {max(FORMATS)}",
                "use the version of livecut that froze it",
            )
        return _adapter().validate_python(upgraded(document))
    except (json.JSONDecodeError, UnicodeDecodeError, ValidationError, RecursionError) as error:
        raise EditionUnreadable(f"not an edition: {error}", "freeze it again") from error


def digest_of(body: bytes) -> str:
    """The digest of an edition's bytes, in hex."""
    return hashlib.sha256(body).hexdigest()


@cache
def _adapter() -> TypeAdapter[Edition]:
    return TypeAdapter(Edition)
