"""Why the score of a run moved between two editions: other results, another mix of problems, or harder ones. Pure.

What is split, how, and with what errors stands in `eval.statistics.revision`: the sets A and B there are the problems
that the run's row rests on in each edition, strata are platform x difficulty (where one is empty on one side:
difficulty). A problem has one stratum, that of the second edition as long as it is there: a new label alone moves
nothing.

    change = results + problem set = composition + behaviour,   behaviour = results + within strata

``moves`` splits the part of the problem set, exactly too, by why each problem came or went.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from eval.basis import Basis
from eval.board import numbered
from eval.cautions import CEILING, FLOOR
from eval.editions.document import EditionRun
from eval.editions.edition_side import EditionSide
from eval.editions.run_matching import MatchedRuns
from eval.eligibility import NotScored
from eval.evaluation import want_of_tests
from eval.report import TOO_FEW_PROBLEMS, Row, too_few
from eval.scoring import UNKNOWN
from eval.statistics.revision import Revision, explain, set_moves
from eval.window import ProblemFacts, date_reason, quality_reason

_SAME = 1e-9
_BETWEEN = "\x1f"
"""Between the platform and the difficulty of a stratum: no label has it."""


class Cause(StrEnum):
    """Why a problem is in one of the two sets alone; of several causes the first counts."""

    PROBLEMS = "new problems, or no longer there"
    PRIVACY = "made public or private"
    FILTERS = "other filters or labels"
    DATES = "dates moved"
    WINDOW = "cut-off or margin moved"
    QUALITY = "withdrawn or flagged, or no longer"
    RULES = "results on sample tests alone no longer count"
    TESTS = "tests beyond the samples now, or no longer"
    RESULTS = "with a result now, or no longer"


@dataclass(frozen=True)
class SetMove:
    """How many problems came into a run's set or went for one cause, and what that adds to its score."""

    cause: Cause
    n_came: int
    n_gone: int
    value: float


@dataclass(frozen=True)
class ScoreChange:
    """The score of one run in its own window, before and after, and why it moved.

    The values of ``moves`` add up to ``found.problem_set``. ``too_few`` says why the scores are not to be read as
    rates, None where they can be; ``cautions`` are sentences.
    """

    run: str
    found: Revision
    moves: tuple[SetMove, ...]
    too_few: str | None = None
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unexplained:
    """A run with a row in both editions whose scores are not set against each other, and why."""

    run: str
    reason: str


def score_changes(before: EditionSide, after: EditionSide, matched: MatchedRuns) -> Iterator[ScoreChange | Unexplained]:
    """The change of each run that has a row in both editions, by name."""
    for old, new in matched.pairs:
        rows = before.place_of(old), after.place_of(new)
        if isinstance(rows[0], Row) and isinstance(rows[1], Row):
            sets = _Sets(before, after, old, new)
            why = _unlike(rows[0], list(sets.a.values()), "before") or _unlike(rows[1], list(sets.b.values()), "after")
            yield sets.change() if why is None else Unexplained(new.name, why)


def _unlike(row: Row, scores: list[float], when: str) -> str | None:
    """Why there is no score to set against another, or that the row does not say what the edition's data give."""
    value = row.pass_at_1.value
    if row.n_judged != len(scores):
        return f"no split: its row {when} counts {row.n_judged} problems, while its results give {len(scores)}"
    if value is None:
        return f"no change: no problem was judged {when}"
    if abs(value - math.fsum(scores) / len(scores)) > _SAME:
        return f"no split: its row {when} has another score than its results give"
    return None


class _Sets:
    """The problems that a run's rows rest on in both editions, in the order of their written ids, with its scores."""

    def __init__(self, before: EditionSide, after: EditionSide, old: EditionRun, new: EditionRun) -> None:
        self._before, self._after, self._old, self._new = before, after, old, new
        self.a, self.b = before.judged_by(old), after.judged_by(new)
        self._names = sorted(self.a.keys() | self.b.keys())

    def change(self) -> ScoreChange:
        """What the two sets say of the run."""
        facts = [self._facts(name) for name in self._names]
        levels = [one.difficulty or UNKNOWN for one in facts]
        strata = [f"{one.platform}{_BETWEEN}{level}" for one, level in zip(facts, levels, strict=True)]
        scores = [np.array([side.get(name, math.nan) for name in self._names]) for side in (self.a, self.b)]
        clusters = numbered([one.cluster for one in facts])
        found = _readable(explain(scores[0], scores[1], clusters, np.array(strata), coarser=np.array(levels)))
        fewest = min(found.n_before, found.n_after)
        return ScoreChange(
            self._new.name,
            found,
            tuple(self._moves(set_moves(scores[0], scores[1]))),
            too_few(fewest) if fewest < TOO_FEW_PROBLEMS else None,
            (*_cautions(found), *self._broken(facts)) if fewest >= TOO_FEW_PROBLEMS else (),
        )

    def _broken(self, facts: Iterable[ProblemFacts]) -> Iterator[str]:
        """The months of its problems in which the run looks broken, in one edition or both."""
        judged = {f"{one.exposed_at:%Y-%m}" for one in facts if one.exposed_at is not None}
        marked = (
            *self._before.edition.numbers.broken_months.get(self._old.name, ()),
            *self._after.edition.numbers.broken_months.get(self._new.name, ()),
        )
        months = sorted(judged.intersection(marked))
        if months:
            yield f"the run looks broken in {', '.join(months)}: what moved may be that"

    def _facts(self, name: str) -> ProblemFacts:
        """A problem as it is now, or as it was when it was last there."""
        return (self._after.problems.get(name) or self._before.problems[name]).facts

    def _moves(self, values: NDArray[np.float64]) -> Iterator[SetMove]:
        causes: dict[Cause, list[tuple[bool, float]]] = {}
        windows = self._bases()
        for name, value in zip(self._names, values.tolist(), strict=True):
            if name not in self.a:
                cause = _cause(name, self._before, self._after, windows[0], self._old.imported)
            elif name not in self.b:
                cause = _cause(name, self._after, self._before, windows[1], self._new.imported)
            else:
                continue
            causes.setdefault(cause, []).append((name in self.b, value))
        for cause in Cause:
            if cause in causes:
                came = sum(is_new for is_new, _ in causes[cause])
                total = math.fsum(value for _, value in causes[cause])
                yield SetMove(cause, came, len(causes[cause]) - came, total)

    def _bases(self) -> tuple[Basis, Basis]:
        old, new = self._before.basis_of(self._old), self._after.basis_of(self._new)
        assert not isinstance(old, NotScored)  # both have rows that their results bear out
        assert not isinstance(new, NotScored)
        return old, new


def _cause(name: str, out: EditionSide, inside: EditionSide, basis: Basis, imported: bool) -> Cause:
    """Why a problem is not in a run's set in one edition (``basis``, ``imported`` are of that one), while it is in the
    other.

    Where it did not count because of its own facts, those of the other edition would have let it in.
    """
    one = out.problems.get(name)
    if one is None:
        return Cause.PROBLEMS
    facts, other, settings = one.facts, inside.problems[name].facts, out.settings
    if facts.is_private:
        return Cause.PRIVACY
    if not settings.admits(facts):
        return Cause.FILTERS
    if date_reason(facts, basis.window) is not None:
        return Cause.WINDOW if date_reason(other, basis.window) is not None else Cause.DATES
    if quality_reason(facts, include_flagged=settings.include_flagged) is not None:
        is_changed = quality_reason(other, include_flagged=settings.include_flagged) is None
        return Cause.QUALITY if is_changed else Cause.FILTERS
    return _cause_in_tests(facts, other, imported, counts_samples=out.edition.counts_samples)


def _cause_in_tests(facts: ProblemFacts, other: ProblemFacts, imported: bool, *, counts_samples: bool) -> Cause:
    if want_of_tests(facts, imported, by_tests=not counts_samples) is None:
        return Cause.RESULTS
    return Cause.RULES if other.samples_only and facts.samples_only else Cause.TESTS


def _readable(found: Revision) -> Revision:
    """The same with the names of strata as a reader writes them: "atcoder easy"."""
    return replace(
        found,
        refusal=None if found.refusal is None else found.refusal.replace(_BETWEEN, " "),
        merged=tuple(tuple(code.replace(_BETWEEN, " ") for code in codes) for codes in found.merged),
    )


def _cautions(found: Revision) -> Iterator[str]:
    for name, score in (("before", found.before), ("after", found.after)):
        if score < FLOOR:
            yield f"under {100 * FLOOR:g} % solved {name}: near the floor, a change in points says little"
        elif score > CEILING:
            yield f"over {100 * CEILING:g} % solved {name}: near the ceiling, a change in points says little"
    if found.n_contests_moved == 1:
        yield "all that moved is of one contest: no error"
    if found.merged:
        groups = "; ".join(" with ".join(codes) for codes in found.merged)
        yield f"coarser strata, since some are empty on one side: {groups}"
