"""Models against each other, pair by pair on the problems that both have answered in a common window. Pure.

Runs that were not judged alike are set against each other only by request: tests and graders differ as models do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from eval import sheets
from eval.audits.refusals import grouped, named
from eval.board import Board
from eval.common_window import CommonWindow, cautions_of, settings_of
from eval.sheets import Sheet, Table
from eval.statistics import pairs
from eval.statistics.multiplicity import holm
from eval.statistics.pairs import PairMethod

LEVEL = 0.05
WORTHWHILE = 0.03
"""A difference that people act on: three points."""


@dataclass(frozen=True)
class Pair:
    """Two runs by name, what their common problems say, and the p value adjusted for all pairs that were tested."""

    first: str
    second: str
    found: pairs.Comparison
    p_holm: float | None = None


def compare_runs(
    common: CommonWindow, *, across_results: bool = False, within: Collection[str] = ()
) -> tuple[Pair, ...]:
    """Every pair of runs of two models. p values are adjusted by Holm over the pairs that have one.

    Runs that were not judged alike (here, or by the same origin) have no numbers unless ``across_results`` are meant.
    Runs of one model are set against each other only where ``within`` has its name.
    """
    board, models = common.board, [run.model.casefold() for run in common.board.runs]
    wanted = {name.casefold() for name in within}
    found = [
        _pair(board, a, b, across_results=across_results)
        for a, b in combinations(range(len(board.names)), 2)
        if models[a] != models[b] or models[a] in wanted
    ]
    tested = {place: pair.found.p for place, pair in enumerate(found) if pair.found.p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())).tolist(), strict=True))
    return tuple(replace(pair, p_holm=adjusted.get(place)) for place, pair in enumerate(found))


def _pair(board: Board, a: int, b: int, *, across_results: bool) -> Pair:
    found = pairs.compare(board.scores[a], board.scores[b], board.clusters)
    judged = sorted(settings_of(board.runs[place])["results"] for place in (a, b))
    if judged[0] != judged[1] and not across_results:
        found = pairs.Comparison(
            found.n_common,
            found.n_contests,
            found.n_only_a,
            found.n_only_b,
            refusal=(
                f"not judged alike ({judged[0]}; {judged[1]}), so that a difference may be that of tests and graders; "
                "where it is meant, say --across results"
            ),
        )
    return Pair(board.names[a], board.names[b], found)


def comparison_sheet(common: CommonWindow, found: tuple[Pair, ...]) -> Sheet:
    """The pairs as a table, with a sentence for each."""
    tests = sum(pair.found.p is not None for pair in found)
    several = tests > 1
    p, p_holm = sheets.p_value("p"), sheets.p_value("p (Holm)")
    columns = (
        sheets.text("model A"),
        sheets.text("model B"),
        sheets.count("problems"),
        sheets.count("contests"),
        sheets.points("A - B", key="difference"),
        sheets.difference_interval(),
        *((sheets.for_programs(p), p_holm) if several else (p, sheets.for_programs(p_holm))),
        sheets.percent("could be seen", key="detectable"),
    )
    rows = tuple(
        (
            pair.first,
            pair.second,
            pair.found.n_common,
            pair.found.n_contests,
            pair.found.difference,
            sheets.span(pair.found.low, pair.found.high),
            pair.found.p,
            pair.p_holm,
            pair.found.detectable,
        )
        for pair in found
    )
    single = bool((common.board.n_samples <= 1).all())
    notes = list(grouped((f"{pair.first} and {pair.second}", _refusal(pair)) for pair in found))
    notes += [line for pair in found for line in _sentences(pair, several, single)]
    notes += _not_paired(common, found)
    notes += _all_cautions(common, found)
    notes.append(
        "differences in percentage points, on problems that both have answered; errors are clustered by contest"
    )
    alone = ", were it the only pair" if several else ""
    notes.append(f'"could be seen": the true difference that this many problems would show in 4 of 5 cases{alone}')
    if several:
        notes.append(f"{tests} pairs were tested; p values are adjusted for all of them (Holm), intervals are not")
    return Sheet(
        title="Comparison on common problems",
        conditions=common.described(),
        tables=(Table("", columns, rows, tuple(notes), n_keys=2),),
        notes=(*common.cautions(), *common.not_compared()),
        data={**common.as_dict(), "pairs": [_as_dict(pair) for pair in found]},
    )


def _all_cautions(common: CommonWindow, found: tuple[Pair, ...]) -> Iterator[str]:
    """The cautions of all pairs, each said once; of every pair, without their names."""
    of_pairs = [(f"{pair.first} and {pair.second}", tuple(_cautions(common, pair))) for pair in found]
    of_all = [line for line in of_pairs[0][1] if all(line in lines for _, lines in of_pairs)] if len(found) > 1 else []
    yield from (f"every pair: {line}" for line in of_all)
    yield from grouped((name, line) for name, lines in of_pairs for line in lines if line not in of_all)


def _cautions(common: CommonWindow, pair: Pair) -> Iterator[str]:
    """What a reader must know of the problems that two runs are compared on."""
    board = common.board.take_runs([common.board.names.index(name) for name in (pair.first, pair.second)])
    return cautions_of(board.take(np.asarray(board.seen.all(axis=0))))


def _refusal(pair: Pair) -> str | None:
    return None if pair.found.difference is not None else f"no comparison: {pair.found.refusal}"


def _not_paired(common: CommonWindow, found: tuple[Pair, ...]) -> Iterator[str]:
    """The models of which several runs are there that are not set against each other."""
    runs = dict(zip(common.board.names, (run.model for run in common.board.runs), strict=True))
    paired = {runs[pair.first] for pair in found if runs[pair.first] == runs[pair.second]}
    counts = Counter(runs.values())
    names = [name for name, count in counts.items() if count > 1 and name not in paired]
    if names:
        yield f"runs of one model are not set against each other ({named(names)}); to do so, name the model twice"


def _sentences(pair: Pair, several: bool, single: bool) -> Iterator[str]:
    found, names = pair.found, f"{pair.first} and {pair.second}"
    if found.difference is None:
        return
    p = pair.p_holm if several else found.p
    if found.caution is not None:
        yield f"{names}: {found.caution}"
    elif p is not None and p < LEVEL:
        better, worse = (pair.first, pair.second) if found.difference > 0 else (pair.second, pair.first)
        yield f"{better} solves more than {worse}"
    elif found.detectable is not None:
        unseen = f"a true difference under {100 * found.detectable:.1f} points would mostly not show"
        yield f"{names} cannot be told apart: {unseen}{_planned(found)}"
    if found.method is PairMethod.LARGER_T:
        yield f"{names}: only {found.n_contests} contests: the larger of two standard errors is used"
    if found.mcnemar is not None:
        test, each = found.mcnemar, "one sample each" if single else "all samples of a problem alike"
        unadjusted = ", not adjusted" if several else ""
        yield (
            f"{names}, {each}: {test.only_a} problems solved by the first alone, {test.only_b} by the second alone "
            f"(McNemar's exact test: {_p_text(test.p)}{unadjusted})"
        )
    if found.n_only_a or found.n_only_b:
        yield (
            f"{names}: left out since only one of them has a result there: {found.n_only_a} of the first, "
            f"{found.n_only_b} of the second"
        )


def _planned(found: pairs.Comparison) -> str:
    """How many problems would show a difference that matters, where these cannot."""
    if found.se is None or found.detectable is None or found.detectable <= WORTHWHILE:
        return ""
    needed = pairs.planned_problems(found.se, found.n_common, WORTHWHILE)
    return f"; {100 * WORTHWHILE:.0f} points would take about {needed} problems like these"


def _p_text(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def _as_dict(pair: Pair) -> dict[str, Any]:
    return {"first": pair.first, "second": pair.second, **asdict(pair.found), "p_holm": pair.p_holm}
