"""A keyed split of the problems into a private and a public part, and the gap of each run between the two."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval import sheets
from eval.audits.broken_months import BrokenRuns, broken_runs, still_in
from eval.audits.refusals import grouped, named
from eval.audits.selection import Selection
from eval.board import Board, numbered
from eval.common_window import cautions_of
from eval.problem_sets import ProblemSet
from eval.sheets import Sheet, Table
from eval.statistics.multiplicity import holm
from eval.statistics.splits import SplitGap, gap_difference, private_mask, split_gaps
from eval.window import ProblemFacts

FINGERPRINT = b"livecut: fingerprint of a key that splits problems"
FINGERPRINT_LENGTH = 16
MAX_PAIRS = 15
LEVEL = 0.05


@dataclass(frozen=True)
class KeyedSplit:
    """A key with the share of problems that it makes private. The key itself is never shown."""

    key: bytes
    share: float

    @property
    def fingerprint(self) -> str:
        """What tells keys apart and gives none away: the first digits of an HMAC of a fixed text."""
        return hmac.new(self.key, FINGERPRINT, hashlib.sha256).hexdigest()[:FINGERPRINT_LENGTH]

    def private(self, problems: Sequence[ProblemFacts]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which problems are private, by the id that people write."""
        return private_mask([written_id(one) for one in problems], self.key, self.share)

    def __repr__(self) -> str:
        return f"KeyedSplit({self.fingerprint}, {self.share})"


@dataclass(frozen=True)
class PairGap:
    """The gap of the first run less that of the second; p adjusted by Holm over all pairs that have one."""

    first: str
    second: str
    found: SplitGap
    p_holm: float | None = None


@dataclass(frozen=True)
class SplitAudit:
    """The gaps of the runs, public less private, and the differences of gaps between them."""

    selection: Selection
    split: KeyedSplit
    n_private: int
    found: tuple[SplitGap, ...]
    p_holm: tuple[float | None, ...]
    pairs: tuple[PairGap, ...]
    one_sided: tuple[tuple[str, ...], ...] = ()
    """For each run the kinds of problems (platform and difficulty) in which it has results on one side alone."""
    broken: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The months of runs that look broken and are counted all the same."""


def written_id(problem: ProblemFacts) -> str:
    """The id of a problem, which the key decides on: platform and native id."""
    return f"{problem.platform}:{problem.native_id}"


def listed(problems: Iterable[ProblemFacts], wanted: ProblemSet, split: KeyedSplit, *, private: bool) -> list[str]:
    """The ids of one part of a set of problems, in order; flagged ones are in it, too."""
    rows = [one for one in problems if wanted.admits(one) and wanted.holds_date_of(one)]
    return sorted(written_id(one) for one, secret in zip(rows, split.private(rows), strict=True) if secret == private)


def audit_split(selection: Selection, split: KeyedSplit, broken: BrokenRuns | None = None) -> SplitAudit:
    """The gaps of the runs that are to be shown, within strata of platform and difficulty.

    ``broken`` is what the runs were found to be elsewhere, by default on the selection's own problems.
    """
    broken = broken or broken_runs(selection.board)
    selection = _shown_alone(selection)
    board = selection.board
    private = split.private(board.problems)
    strata = numbered(zip(board.platforms, board.difficulties, strict=True))
    found = split_gaps(board.scores, board.clusters, strata, private)
    pairs = [
        PairGap(
            board.names[a],
            board.names[b],
            gap_difference(board.scores[a], board.scores[b], board.clusters, strata, private),
        )
        for a, b in combinations(range(len(board.names)), 2)
    ]
    adjusted = _holm([pair.found for pair in pairs])
    return SplitAudit(
        selection,
        split,
        int(private.sum()),
        found,
        _holm(found),
        tuple(replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)),
        tuple(tuple(_one_sided(board, seen, private)) for seen in board.seen),
        broken.within(board),
    )


def _shown_alone(selection: Selection) -> Selection:
    """The runs that are to be shown, on the problems that any of them has: no other takes part in a gap."""
    if selection.wanted is None:
        return selection
    rows = selection.wanted
    board = selection.board.take_runs(rows)
    return replace(
        selection,
        board=board.take(np.asarray(board.seen.any(axis=0))),
        entries=tuple(selection.entries[row] for row in rows),
        cutoffs=tuple(selection.cutoffs[row] for row in rows),
        wanted=None,
    )


def _one_sided(board: Board, seen: NDArray[np.bool_], private: NDArray[np.bool_]) -> Iterator[str]:
    kinds = np.array([" ".join(pair) for pair in zip(board.platforms, board.difficulties, strict=True)], dtype=np.str_)
    for kind in sorted(set(kinds[seen].tolist())):
        sides = private[seen & (kinds == kind)]
        if sides.all() or not sides.any():
            yield kind


def _holm(found: Sequence[SplitGap]) -> tuple[float | None, ...]:
    tested = [place for place, one in enumerate(found) if one.p is not None]
    adjusted = dict(zip(tested, holm([found[place].p or 0.0 for place in tested]).tolist(), strict=True))
    return tuple(adjusted.get(place) for place in range(len(found)))


def split_sheet(audit: SplitAudit) -> Sheet:
    """The gap of each run, and the differences of gaps that are least likely to be chance."""
    board = audit.selection.board
    n_public = len(board.problems) - audit.n_private
    return Sheet(
        title="Private against public problems",
        conditions=(
            f"split by a key with the fingerprint {audit.split.fingerprint}; share private {audit.split.share:g}: "
            f"{audit.n_private} private and {n_public} public problems with results",
            *audit.selection.described(),
            *still_in(audit.broken),
        ),
        tables=(_gaps_table(audit), *_pairs_table(audit)),
        data={
            "fingerprint": audit.split.fingerprint,
            "share": audit.split.share,
            "n_private": audit.n_private,
            "n_public": n_public,
            "broken_months": audit.broken,
            "rows": [
                {
                    "model": name,
                    **asdict(one),
                    "p_holm": p,
                    "n_without_result": int((~seen).sum()),
                    "kinds_on_one_side": kinds,
                }
                for name, one, p, seen, kinds in zip(
                    board.names, audit.found, audit.p_holm, board.seen, audit.one_sided, strict=True
                )
            ],
            "pairs": [
                {"first": one.first, "second": one.second, **asdict(one.found), "p_holm": one.p_holm}
                for one in audit.pairs
            ],
        },
    )


def _gaps_table(audit: SplitAudit) -> Table:
    columns = (
        sheets.text("model"),
        sheets.count("public"),
        sheets.count("private"),
        sheets.points("gap"),
        sheets.percent("s.e."),
        sheets.difference_interval(),
        sheets.p_value("p (Holm)"),
    )
    rows = tuple(
        (name, one.n_public, one.n_private, one.gap, one.se, sheets.span(one.low, one.high), p)
        for name, one, p in zip(audit.selection.board.names, audit.found, audit.p_holm, strict=True)
    )
    return Table("", columns, rows, tuple(_gap_notes(audit)))


def _gap_notes(audit: SplitAudit) -> Iterator[str]:
    board, tests = audit.selection.board, sum(p is not None for p in audit.p_holm)
    if not audit.found:
        yield "no gap: there is no result"
    yield from grouped(
        (name, one.refusal and f"no gap: {one.refusal}") for name, one in zip(board.names, audit.found, strict=True)
    )
    yield from grouped(
        (name, line) for name, one in zip(board.names, audit.found, strict=True) for line in one.cautions
    )
    lines = [tuple(_uncounted(audit, place)) for place in range(len(board.names))]
    if len(lines) > 1 and len(set(lines)) == 1:
        yield from (f"of every model, {line}" for line in lines[0])
    else:
        yield from grouped((name, line) for name, mine in zip(board.names, lines, strict=True) for line in mine)
    for name, one, p in zip(board.names, audit.found, audit.p_holm, strict=True):
        if p is not None and p < LEVEL and (one.gap or 0.0) > 0:
            yield f"{name} does better on the public part than chance explains"
    yield from cautions_of(board)
    yield (
        "gap in percentage points, public less private, within platform and difficulty; it means something only if the "
        "private part was never published"
    )
    yield f"{tests} gaps were tested; p values are adjusted for all of them (Holm); errors are over contests"


def _uncounted(audit: SplitAudit, place: int) -> Iterator[str]:
    """Why the row of a run counts fewer problems than there are in all."""
    board, n_unmatched = audit.selection.board, audit.found[place].n_unmatched
    without = int((~board.seen[place]).sum())
    if without:
        yield f"{without} of the {len(board.problems)} problems have no result"
    if n_unmatched:
        yield (
            f"{n_unmatched} of the {len(board.problems)} problems do not count: their kinds are on one side alone "
            f"({named(list(audit.one_sided[place]))})"
        )


def _pairs_table(audit: SplitAudit) -> Iterator[Table]:
    if not audit.pairs:
        return
    columns = (
        sheets.text("model A"),
        sheets.text("model B"),
        sheets.count("problems"),
        sheets.points("gap A - gap B"),
        sheets.difference_interval(),
        sheets.p_value("p (Holm)"),
    )
    tested = sorted((one for one in audit.pairs if one.p_holm is not None), key=lambda one: one.found.p or 0.0)
    rows = tuple(
        (
            one.first,
            one.second,
            one.found.n_public + one.found.n_private,
            one.found.gap,
            sheets.span(one.found.low, one.found.high),
            one.p_holm,
        )
        for one in tested[:MAX_PAIRS]
    )
    notes = [
        f"{len(tested)} of {len(audit.pairs)} pairs were tested, on problems that both have (Holm over all of them)"
    ]
    if len(tested) > MAX_PAIRS:
        notes.append(f"the {MAX_PAIRS} with the least p are shown; --json has all")
    yield Table("Differences of gaps", columns, rows, tuple(notes), n_keys=2)
