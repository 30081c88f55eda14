"""The table of a common window: every run on the same problems, with the ranks that the evidence allows each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from eval import sheets
from eval.board import Board
from eval.cautions import differing_fields
from eval.common_window import CommonWindow, by_settings, cautions_of, cutoff_text
from eval.evaluation import digest_of_problems, want_of_tests
from eval.freshness import not_fresh
from eval.generate.health import failed_text, is_failing
from eval.report import TOO_FEW_PROBLEMS, too_few
from eval.sheets import Sheet, Table
from eval.statistics.intervals import FEW_CLUSTERS, Interval, interval
from eval.statistics.ranks import MIN_COMMON, MIN_MODELS, RankSets, rank_sets
from eval.test_basis import TestBasis, basis_of_tests, basis_text, basis_to_dict

MAX_LOST = 0.05
NOTHING_COMMON = "no problem of the window has a result of every run"


@dataclass(frozen=True)
class RankedRun:
    """One run on the common problems: its score (a share, None without problems), interval, and how many it lacks.

    ``n_exposed`` of the problems may have been public before its cut-off; None where no cut-off is known. ``n_samples``
    are those of the common problems.
    """

    name: str
    cutoff: str | None
    score: float | None
    interval: Interval
    n_missing: int
    n_exposed: int | None
    n_samples: int


@dataclass(frozen=True)
class RankedGroup:
    """Runs under the same settings, on the problems that all of them have answered, with their rank sets.

    ``few`` says why there is no rate: a sentence, where fewer than 10 problems are common.

    ``settings`` are what the runs of the group share and other groups do not. ``digest`` is of the common problems.
    ``suggestion`` says which runs to leave out where too little is common. ``unfit`` are runs that are not ranked
    since too many of their samples have no answer, each with the reason; they are none of ``runs``. ``tests`` says what
    the tests of the common problems are (None: no program was run on tests here).
    """

    settings: str
    runs: tuple[RankedRun, ...]
    ranks: RankSets
    n_problems: int
    n_contests: int
    n_not_common: int
    digest: str
    cautions: tuple[str, ...]
    suggestion: str | None
    unfit: tuple[tuple[str, str], ...] = ()
    tests: TestBasis | None = None

    @property
    def few(self) -> str | None:
        if not self.n_problems:
            return NOTHING_COMMON
        return too_few(self.n_problems) if self.n_problems < TOO_FEW_PROBLEMS else None


def rank_runs(common: CommonWindow, rng: np.random.Generator, *, across: Sequence[str] = ()) -> tuple[RankedGroup, ...]:
    """Rank the runs of each group of equal settings; ``across`` names settings whose differences are meant."""
    groups = by_settings(common.board.runs, across)
    differing = list(differing_fields([dict(key) for key in groups]))
    fields = [line.split(":")[0] for line in differing]
    # Every group starts from the same state: what is drawn for one does not depend on which others there are.
    return tuple(
        _group(common, places, ", ".join(f"{name} {dict(key).get(name)}" for name in fields), deepcopy(rng))
        for key, places in groups.items()
    )


def _group(common: CommonWindow, places: Sequence[int], settings: str, rng: np.random.Generator) -> RankedGroup:
    unfit = {place: reason for place in places if (reason := _unfit(common.board, place)) is not None}
    places = [place for place in places if place not in unfit]
    board = _scorable(common.board.take_runs(places))
    complete = np.asarray(board.seen.all(axis=0))
    shared = board.take(complete)
    clusters = shared.clusters.tolist()
    runs = []
    for row, place in enumerate(places):
        scores, used = shared.scores[row], common.cutoffs[place]
        runs.append(
            RankedRun(
                name=board.names[row],
                cutoff=None if used is None else cutoff_text(used),
                score=float(scores.mean()) if scores.size else None,
                interval=interval(scores, clusters),
                n_missing=int((~board.seen[row]).sum()),
                n_exposed=common.n_exposed(place, shared.problems),
                n_samples=int(shared.n_samples[row].sum()),
            )
        )
    ranks = rank_sets(shared.scores, shared.clusters, rng)
    few = (
        None if board.n_models >= MIN_MODELS else f"ranks need at least {MIN_MODELS} models, there are {board.n_models}"
    )
    seen = not_fresh(board.names, [one.n_exposed for one in runs], len(shared.problems))
    ranks = replace(ranks, refusal=few or ranks.refusal or (seen and f"{seen}: use --after-cutoff"))
    return RankedGroup(
        settings=settings,
        runs=tuple(runs),
        ranks=ranks,
        n_problems=len(shared.problems),
        n_contests=len(set(clusters)),
        n_not_common=int((~complete).sum()),
        digest=digest_of_problems(shared.problems, imported=all(run.imported for run in board.runs)),
        cautions=tuple(cautions_of(shared)),
        suggestion=_suggestion(board),
        unfit=tuple((common.board.names[place], reason) for place, reason in unfit.items()),
        tests=basis_of_tests(shared.problems) if any(run.rests_on_tests for run in board.runs) else None,
    )


def _scorable(board: Board) -> Board:
    """The board without problems that only imported results can be on, if all its runs rest on tests here."""
    if not all(run.rests_on_tests for run in board.runs):
        return board
    return board.take(np.array([want_of_tests(one, False) is None for one in board.problems], dtype=np.bool_))


def _unfit(board: Board, place: int) -> str | None:
    """Why a run is not ranked: requests that fail are no answers, and what they would have been nobody knows."""
    in_window = {problem.problem_id for problem in board.problems}
    outcomes = [one for one in board.runs[place].outcomes if one.problem_id in in_window]
    n_failed, n_answers = sum(one.n_failed for one in outcomes), sum(one.n_answers for one in outcomes)
    if not is_failing(n_failed, n_answers):
        return None
    return f"{failed_text(n_failed, n_answers)}; live generate asks for them again"


def _suggestion(board: Board) -> str | None:
    """Which runs to leave out so that the others share enough problems, where all together do not."""
    places = list(range(len(board.names)))
    while len(places) >= 2:
        n_common = int(board.seen[places].all(axis=0).sum())
        if n_common >= MIN_COMMON:
            gone = [name for place, name in enumerate(board.names) if place not in places]
            return f"without {', '.join(gone)} the other {len(places)} share {n_common} problems" if gone else None
        # The run whose absence leaves most in common; of equals the one that has least.
        left = [int(np.delete(board.seen[places], row, axis=0).all(axis=0).sum()) for row in range(len(places))]
        has = board.seen[places].sum(axis=1).tolist()
        places.pop(max(range(len(places)), key=lambda row: (left[row], -has[row])))
    return None


def ranking_sheet(common: CommonWindow, groups: Sequence[RankedGroup], seed: int) -> Sheet:
    """One table for each group, best score first; ranks are intervals."""
    notes = []
    if len(groups) > 1:
        notes.append(
            "runs under different settings are ranked apart; where a difference is meant, say so with --across NAME"
        )
    notes.append(f"intervals and ranks hold with 95 %; seed {seed}")
    if any(run.cutoff is not None and run.cutoff.endswith("?") for group in groups for run in group.runs):
        notes.append("a cut-off marked ? is not known: the release date stands in for it")
    return Sheet(
        title="Models on the same problems",
        conditions=common.described(),
        tables=tuple(_table(group, common.tests) for group in groups),
        notes=(*notes, *common.cautions(), *common.not_compared()),
        data={**common.as_dict(), "groups": [_as_dict(group) for group in groups], "seed": seed},
    )


def _table(group: RankedGroup, of_all: TestBasis | None) -> Table:
    columns = (
        sheets.text("model"),
        sheets.text("cut-off"),
        sheets.percent("pass@1"),
        sheets.interval(),
        sheets.from_to("rank"),
        sheets.from_to("all at once", key="rank_simultaneous"),
        sheets.text("tier"),
        sheets.count("lacks"),
    )
    rows = []
    for place in _order(group):
        run = group.runs[place]
        found = group.ranks.sets[place] if group.ranks.refusal is None else None
        score: sheets.Cell = run.score
        if group.few and run.score is not None:
            score = f"{run.score * group.n_problems:.3g} of {group.n_problems}"
        rows.append(
            (
                run.name,
                run.cutoff,
                score,
                None if group.few else sheets.span(run.interval.low, run.interval.high),
                None if found is None else (found.low, found.high),
                None if found is None else (found.simultaneous_low, found.simultaneous_high),
                None if found is None else str(found.tier),
                run.n_missing,
            )
        )
    runs = "1 run" if len(group.runs) == 1 else f"{len(group.runs)} runs"
    title = f"{runs} on {group.n_problems} problems of {group.n_contests} contests"
    title += f", problem set {group.digest[:12]}"
    if group.settings:
        title += f" ({group.settings})"
    return Table(title, columns, tuple(rows), tuple(_notes(group, of_all)), name=group.settings or "same problems")


def _order(group: RankedGroup) -> list[int]:
    """Best score first; equal ones by name."""
    return sorted(range(len(group.runs)), key=lambda place: (-(group.runs[place].score or 0), group.runs[place].name))


def _notes(group: RankedGroup, of_all: TestBasis | None) -> Iterator[str]:
    for name, reason in group.unfit:
        yield f"{name} is not ranked: {reason}"
    yield from _rank_notes(group)
    if group.n_problems and group.few:
        yield group.few
    if group.n_not_common:
        yield f"{group.n_not_common} problems are not in it: a run has no result there (see lacks)"
    if group.suggestion is not None:
        yield group.suggestion
    if group.tests is not None and group.tests != of_all and group.n_problems:
        yield basis_text(group.tests)
    yield from group.cautions
    for run in group.runs if group.suggestion is None and len(group.runs) > 1 else ():
        if run.n_missing > MAX_LOST * (group.n_problems + group.n_not_common):
            yield f"{run.name} lacks {run.n_missing} problems; without this run the table may hold more"


def _rank_notes(group: RankedGroup) -> Iterator[str]:
    ranks = group.ranks
    if ranks.refusal is not None:
        yield f"no ranks: {ranks.refusal}"
        return
    first = [group.runs[place].name for place in _order(group) if place in ranks.may_be_first]
    yield f"first is {first[0]}" if len(first) == 1 else f"any of {len(first)} may be first: {', '.join(first)}"
    yield (
        f'"rank" holds for one model looked at alone, "all at once" for all together: {ranks.n_tests} pairs, '
        f"{ranks.unit}s drawn {ranks.draws} times"
    )
    yield (
        "tier 1: no other is shown to beat it at once, so it may be first; else one below the worst tier shown to beat "
        "it: a run of few or uneven results is shown to be beaten by fewer, and may stand in a better tier"
    )
    if ranks.n_contests < FEW_CLUSTERS:
        yield f"only {ranks.n_contests} contests: sets are widened by Student's t"
    if ranks.n_no_spread:
        yield f"{ranks.n_no_spread} pairs are equal on every problem and gave no evidence"


def _as_dict(group: RankedGroup) -> Mapping[str, Any]:
    rows = []
    for place in _order(group):
        run, found = group.runs[place], group.ranks.sets[place]
        rows.append(
            {
                "model": run.name,
                "cutoff": run.cutoff,
                "n_exposed": run.n_exposed,
                "score": run.score,
                "low": None if group.few else run.interval.low,
                "high": None if group.few else run.interval.high,
                "se": None if group.few else run.interval.se,
                "interval_method": run.interval.method,
                "n_samples": run.n_samples,
                "reason": group.few,
                "n_missing": run.n_missing,
                "ranks": None if found is None or group.ranks.refusal is not None else asdict(found),
            }
        )
    return {
        "settings": group.settings,
        "n_problems": group.n_problems,
        "n_contests": group.n_contests,
        "n_not_common": group.n_not_common,
        "problem_set_digest": group.digest,
        "cautions": group.cautions,
        "not_ranked": group.unfit,
        "tests": basis_to_dict(group.tests),
        "n_tests": group.ranks.n_tests,
        "refusal": group.ranks.refusal,
        "rows": rows,
    }
