"""From plain data to a report: which problems count for each run, their scores, what was left out. No I/O, no clock.

One rule for gaps: a problem without a completion or a verdict is left out and counted, never taken as unsolved. The row
shows how many of its eligible problems were judged, and warns when more than 5 % are missing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import numpy as np

from db.records import require_utc
from eval.basis import basis_of
from eval.cautions import age_cautions, answer_cautions, differing_fields, row_warnings
from eval.eligibility import NotScored, UsedCutoff
from eval.generate.health import without_program
from eval.models import ModelEntry, Registry
from eval.repair_scores import NO_REPAIR_NEEDED, lacks_repairs, repair_scores
from eval.report import TOO_FEW_PROBLEMS, RepairScores, Report, Row, SamplesApart, cutoff_fields
from eval.scoring import UNKNOWN, Judged, score, strata
from eval.settings import Settings
from eval.test_basis import basis_of_tests
from eval.window import ProblemFacts, Reason, Window, classify, date_reason, window_for


@dataclass(frozen=True)
class Repairs:
    """What self-repair began from: ``n_before`` samples were accepted, ``n_asked`` failing ones were to be repaired."""

    n_before: int
    n_asked: int


@dataclass(frozen=True)
class Outcome:
    """What became of one problem in one run: ``n_correct`` of ``n_samples`` judged samples were accepted.

    ``n_waiting`` samples have no verdict yet, ``n_internal`` met an internal error of the judge, ``n_older`` answer a
    statement that has been changed since, ``n_failed`` were asked for and have no answer; ``n_samples`` holds none of
    them. ``statuses`` counts the answers without a program, which are among the samples, by status. ``repairs`` is of
    self-repair alone.
    """

    problem_id: int
    n_samples: int
    n_correct: int
    n_waiting: int = 0
    n_internal: int = 0
    n_older: int = 0
    repairs: Repairs | None = None
    n_failed: int = 0
    statuses: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_answers(self) -> int:
        """All its answers, with and without a verdict."""
        return self.n_samples + self.n_waiting + self.n_internal + self.n_older


@dataclass(frozen=True)
class RunOutcomes:
    """The outcomes of one run: a model under one set of conditions, or an import of published results (``imported``).

    ``ran_on`` is the day of the run, where it is known: an alias is resolved as of that day. ``run_id`` is the store's,
    ``repairs_run_id`` that of the run that it repairs, whose verdicts it needs. ``name`` is one that was given to it
    for good, so that it has the same in every table ("": made from what is beside it). ``stored_label`` is the label in
    the store where ``label`` was made to tell runs apart (None: they are one). ``by_tests`` says that answers are
    programs, which tests judge; it is false where answers are held against what a test says, so that no test has to be
    hidden from them.
    """

    model: str
    outcomes: tuple[Outcome, ...]
    label: str = ""
    origin: str = "judged"
    imported: bool = False
    conditions: Mapping[str, Any] = field(default_factory=dict)
    ran_on: date | None = None
    run_id: int | None = None
    repairs_run_id: int | None = None
    name: str = ""
    stored_label: str | None = None
    by_tests: bool = True

    @property
    def rests_on_tests(self) -> bool:
        """Whether its results are what tests said of programs here."""
        return self.by_tests and not self.imported


@dataclass(frozen=True)
class _Selection:
    """What classifying every problem for one run gave."""

    judged: Judged
    left_out: Counter[str]
    eligible: tuple[ProblemFacts, ...]
    n_incomplete: int
    repair: RepairScores | None
    n_answers: int
    n_failed: int
    without_program: Mapping[str, int]
    samples_only: SamplesApart | None


def evaluate(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    settings: Settings,
    *,
    now: datetime,
    environment_digest: str | None = None,
    requested: Iterable[str] = (),
) -> Report:
    """Score every run on the problems that its model cannot have seen (or on an explicit window).

    ``requested`` are models that were asked for: those without a run are listed as not scored. Rows are sorted by
    cut-off, then name: an order by score would be a ranking over different problems.
    """
    require_utc("now", now)
    universe = tuple(problem for problem in problems if settings.admits(problem))
    rows: list[Row] = []
    not_scored: list[NotScored] = []
    seen: set[str] = set()
    lines: frozenset[str] = frozenset()
    for run in runs:
        seen.add(run.model.casefold())
        result = _evaluate_run(universe, run, registry, settings, now, environment_digest)
        if isinstance(result, NotScored):
            if result not in not_scored:
                not_scored.append(result)
        else:
            rows.append(result[0])
            lines |= result[1]
    missing = [name for name in requested if name.casefold() not in seen]
    not_scored += [NotScored(name, "no run and no imported result") for name in missing]
    rows.sort(key=lambda row: (row.cutoff_end is None, row.cutoff_end or now, row.model, row.label, row.origin))
    return Report(
        rows=tuple(rows),
        not_scored=tuple(sorted(not_scored, key=lambda model: model.model)),
        settings=settings.as_dict() | {"cutoffs_as_of": registry.known_on and registry.known_on.isoformat()},
        problem_set_digest=_digest(lines),
        environment_digest=environment_digest,
        generated_at=now,
        notes=(
            *(f"rows differ in {line}" for line in differing_fields([row.conditions for row in rows])),
            *registry.warnings,
        ),
    )


def eligible_problems(
    problems: Iterable[ProblemFacts], run: RunOutcomes, registry: Registry, settings: Settings, *, now: datetime
) -> list[ProblemFacts]:
    """The problems that a row of this run would rest on if all were judged; none for a model that is not scored."""
    basis = basis_of(run, registry, settings, now)
    if isinstance(basis, NotScored):
        return []
    admitted = (problem for problem in problems if settings.admits(problem))
    return [p for p in admitted if classify(p, basis.window, include_flagged=settings.include_flagged) is None]


def _evaluate_run(
    universe: Sequence[ProblemFacts],
    run: RunOutcomes,
    registry: Registry,
    settings: Settings,
    now: datetime,
    environment_digest: str | None,
) -> tuple[Row, frozenset[str]] | NotScored:
    """The row of a run, with the lines of its problems in the table's digest; or why its model is not scored."""
    basis = basis_of(run, registry, settings, now)
    if isinstance(basis, NotScored):
        return basis
    selection = _select(universe, run, basis.window, settings.include_flagged)
    row = _row(run, basis.entry, basis.known, basis.window, selection, settings, len(universe), environment_digest)
    exposed = _exposed_count(selection.judged, basis.known)
    asking = answer_cautions(selection.n_answers, row.n_failed, row.without_program)
    cautions = (*basis.cautions, *asking, *(() if row.n_judged or row.samples_only else _elsewhere(universe, run)))
    warnings = row_warnings(row, run.imported, selection.n_incomplete, exposed, cautions)
    lines = frozenset(_problem_line(problem, run.imported) for problem in selection.judged.problems)
    return replace(row, warnings=(*warnings, *age_cautions(selection.judged.problems, now))), lines


def _elsewhere(universe: Iterable[ProblemFacts], run: RunOutcomes) -> Iterator[str]:
    """Where the results of a run are that has none in the window: it may have been made for another one."""
    has_result = {outcome.problem_id for outcome in run.outcomes if outcome.n_samples}
    days = sorted(
        problem.exposed_at.date()
        for problem in universe
        if problem.problem_id in has_result and problem.exposed_at is not None
    )
    if days:
        span = f"on {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"
        yield f"no result in this window; the run has results on {len(days)} problems published {span}"


def _select(universe: Sequence[ProblemFacts], run: RunOutcomes, window: Window, include_flagged: bool) -> _Selection:
    """Give every problem its one reason to be left out, or a place among the judged."""
    outcomes = {outcome.problem_id: outcome for outcome in run.outcomes}
    if len(outcomes) != len(run.outcomes):
        raise ValueError(f"two outcomes for one problem in the run of {run.model}: results must be joined by id first")
    left_out: Counter[str] = Counter()
    eligible: list[ProblemFacts] = []
    judged: list[tuple[ProblemFacts, Outcome]] = []
    for problem in universe:
        reason = classify(problem, window, include_flagged=include_flagged)
        if reason is None:
            eligible.append(problem)
            outcome = outcomes.get(problem.problem_id)
            reason = outcome_reason(problem, outcome, run.imported, by_tests=run.by_tests)
            if reason is None and outcome is not None:
                judged.append((problem, outcome))
                continue
        left_out[str(reason)] += 1
    answered = [outcomes[one.problem_id] for one in eligible if one.problem_id in outcomes]
    if lacks_repairs(outcomes[one.problem_id] for one in _with_tests(eligible, run) if one.problem_id in outcomes):
        asked = [(problem, one) for problem, one in judged if one.repairs is None or one.repairs.n_asked]
        left_out[NO_REPAIR_NEEDED] += len(judged) - len(asked)
        judged = asked
    return _Selection(
        judged=Judged(
            tuple(problem for problem, _ in judged),
            np.array([outcome.n_samples for _, outcome in judged], dtype=np.int64),
            np.array([outcome.n_correct for _, outcome in judged], dtype=np.int64),
        ),
        left_out=left_out,
        eligible=tuple(eligible),
        n_incomplete=sum(1 for _, one in judged if one.n_waiting or one.n_internal or one.n_older),
        repair=repair_scores(judged),
        n_answers=sum(one.n_answers for one in answered),
        n_failed=sum(one.n_failed for one in answered),
        without_program=without_program(sum((Counter(one.statuses) for one in answered), Counter())),
        samples_only=samples_apart(eligible, run),
    )


def _with_tests(problems: Iterable[ProblemFacts], run: RunOutcomes) -> list[ProblemFacts]:
    """Those with tests here that a result of this run can rest on."""
    return [one for one in problems if one.n_tests and want_of_tests(one, run.imported, by_tests=run.by_tests) is None]


def want_of_tests(problem: ProblemFacts, imported: bool, *, by_tests: bool = True) -> Reason | None:
    """Why no result of a run counts on a problem, whatever it answered, for want of tests; None where one may.

    Imported results need no tests here. What is asked of a model does, and programs (``by_tests``) need some that they
    have not been shown: one that has learned the samples passes these.
    """
    if imported:
        return None
    if problem.n_tests == 0:
        return Reason.NO_TESTS
    return Reason.SAMPLES_ONLY if by_tests and problem.samples_only else None


def outcome_reason(
    problem: ProblemFacts, outcome: Outcome | None, imported: bool, *, by_tests: bool = True
) -> Reason | None:
    """Why an eligible problem has no result that counts in a run; see `want_of_tests`."""
    reason = want_of_tests(problem, imported, by_tests=by_tests)
    if reason is not None:
        return reason
    if outcome is None or outcome.n_answers == 0:
        return Reason.NO_RESULT if imported else Reason.NO_COMPLETION
    if outcome.n_samples == 0:
        if outcome.n_waiting:
            return Reason.NOT_JUDGED
        return Reason.INTERNAL_ERROR if outcome.n_internal else Reason.OLDER_STATEMENT
    return None


def samples_apart(problems: Iterable[ProblemFacts], run: RunOutcomes) -> SamplesApart | None:
    """What became of those of the problems whose tests are the samples alone; None where nothing is left out for it."""
    found = outcomes_apart(problems, run)
    if not found:
        return None
    return SamplesApart(len(found), sum(one.n_samples for one in found), sum(one.n_correct for one in found))


def outcomes_apart(problems: Iterable[ProblemFacts], run: RunOutcomes) -> list[Outcome]:
    """The judged outcomes of a run on those of the problems whose tests are the samples alone, which do not count."""
    reasons = {one.problem_id: want_of_tests(one, run.imported, by_tests=run.by_tests) for one in problems}
    return [one for one in run.outcomes if one.n_samples and reasons.get(one.problem_id) is Reason.SAMPLES_ONLY]


def _unjudged(selection: _Selection) -> str | None:
    """Why no problem was judged, where that is for want of tests beyond the samples."""
    n_alone = selection.left_out[Reason.SAMPLES_ONLY]
    if selection.judged.problems or not n_alone:
        return None
    if n_alone == len(selection.eligible):
        return "no score, since all eligible problems have sample tests only"
    return "no score, since no problem with tests beyond the samples was judged"


def _row(
    run: RunOutcomes,
    entry: ModelEntry | None,
    known: UsedCutoff | None,
    window: Window,
    selection: _Selection,
    settings: Settings,
    n_universe: int,
    environment_digest: str | None,
) -> Row:
    judged = selection.judged
    scores = tuple(score(judged, k, unjudged=_unjudged(selection)) for k in settings.all_ks)
    left_out = dict(sorted(selection.left_out.items(), key=lambda item: (-item[1], item[0])))
    left_out |= {f"fewer than {score.k} samples": score.n_too_few for score in scores if score.n_too_few}
    return Row(
        model=entry.name if entry is not None else run.model,
        label=run.label,
        origin=run.origin,
        conditions=run.conditions,
        provider=entry.provider if entry is not None else None,
        **cutoff_fields(known),
        window_from=window.start,
        window_to=window.end,
        n_universe=n_universe,
        n_eligible=len(selection.eligible),
        n_with_tests=len(_with_tests(selection.eligible, run)),
        n_judged=len(judged.problems),
        n_contests=len({problem.cluster for problem in judged.problems}),
        n_samples=int(judged.n.sum()),
        scores=scores,
        by_difficulty=strata(judged, [problem.difficulty or UNKNOWN for problem in judged.problems], settings.all_ks),
        by_platform=strata(judged, [problem.platform for problem in judged.problems], settings.all_ks),
        left_out=left_out,
        warnings=(),
        problem_set_digest=digest_of_problems(judged.problems, imported=run.imported),
        environment_digest=None if run.imported else environment_digest,
        samples_per_problem=(int(judged.n.min()), int(judged.n.max())) if judged.problems else None,
        results=judged.results() if len(judged.problems) < TOO_FEW_PROBLEMS else (),
        repair=selection.repair,
        n_failed=selection.n_failed,
        without_program=selection.without_program,
        run=run.name,
        samples_only=selection.samples_only,
        tests=basis_of_tests(judged.problems) if run.rests_on_tests else None,
    )


def _exposed_count(judged: Judged, known: UsedCutoff | None) -> int:
    """How many judged problems may have been public before the cut-off (an explicit window may hold such)."""
    if known is None:
        return 0
    window = window_for(known.cutoff)
    return sum(1 for problem in judged.problems if date_reason(problem, window) is not None)


def digest_of_problems(problems: Iterable[ProblemFacts], *, imported: bool) -> str:
    """The digest of a set of problems with the tests that they were judged on, in hex; their order does not matter."""
    return _digest({_problem_line(problem, imported) for problem in problems})


def _problem_line(problem: ProblemFacts, imported: bool) -> str:
    """One problem in a set's digest: what it is, and on which tests it was judged (not known for imported results)."""
    tests = "imported" if imported else problem.suite_digest or "-"
    return f"{problem.platform}:{problem.native_id} {tests}"


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
