"""Why a run's score moved between two editions: by hand, by cause, and that the parts add up whatever moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.editions.difference import difference
from eval.editions.document import EditionProblem, EditionSettings, FrozenEdition
from eval.editions.score_changes import Cause, ScoreChange, Unexplained
from eval.models import Registry
from eval.statistics.composition import Estimate
from tests.eval.editions.built import edition_problem, edition_run
from tests.eval.editions.moved import ALICE, alice, changed, edited, rows_of, small, taken, with_facts
from tests.eval.editions.random_editions import random_pair
from tests.eval.facts import model, registry, utc


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def the_change(first: FrozenEdition, second: FrozenEdition) -> ScoreChange:
    (found,) = difference(first, second).scores
    return found


def labelled(*levels: str) -> list[EditionProblem]:
    return [edition_problem(place, difficulty=level) for place, level in enumerate(levels)]


def test_a_change_by_hand() -> None:
    # Six easy problems of which alice solves 4, four hard ones of which she solves 1: 50 %.
    problems = labelled(*["easy"] * 6, *["hard"] * 4)
    first = small(problems, [alice([1, 1, 1, 1, 0, 0, 1, 0, 0, 0])])
    # p0 is withdrawn, p1 is judged again and fails, p10 to p12 come: two hard ones, one of them solved, an easy one.
    new = labelled(*["easy"] * 10, "hard", "hard", "easy")[10:]
    problems = [*edited(problems, p0=with_facts(withdrawn=True)), *new]
    second = small(problems, [alice([1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1])])
    one = the_change(first, second)
    found = one.found
    assert (found.n_before, found.n_after, found.n_common) == (10, 12, 9)
    assert [found.before, found.after] == pytest.approx([1 / 2, 5 / 12])
    assert value(found.results) == pytest.approx(-1 / 12)
    # With p1 still solved: easy 4/6 before and after, hard 1/4 and 2/6; shares .6 and .4 before, .5 and .5 after.
    assert value(found.composition) == pytest.approx(-0.1 * (2 / 3) + 0.1 * (1 / 4 + 1 / 3) / 2)
    assert value(found.within) == pytest.approx((1 / 3 - 1 / 4) * 0.45)
    assert value(found.behaviour) == pytest.approx(-1 / 12 + (1 / 3 - 1 / 4) * 0.45)
    assert [(move.cause, move.n_came, move.n_gone) for move in one.moves] == [
        (Cause.PROBLEMS, 3, 0),
        (Cause.QUALITY, 0, 1),
    ]
    # Of 12 problems after, less the 50 % before: half a problem lost with p0, and won with those that came.
    assert [move.value for move in one.moves] == pytest.approx([0.5 / 12, -0.5 / 12])


TWELVE = [1, 0, 1] * 4
PLAIN = labelled(*["easy"] * 12)


def only_inside(
    out: Callable[[EditionProblem], EditionProblem] | None = None, **outside: Any
) -> tuple[FrozenEdition, FrozenEdition]:
    """Two editions that count p3 and p4 in the second alone: they, or what the first one is made with, are changed."""
    problems = PLAIN if out is None else edited(PLAIN, p3=out, p4=out)
    models = outside.pop("models", ALICE)
    first = small(problems, [alice(outside.pop("scores", TWELVE))], models, settings=EditionSettings(**outside))
    return first, small(PLAIN, [alice(TWELVE)])


def earlier(one: EditionProblem) -> EditionProblem:
    return replace(one, facts=replace(one.facts, exposed_at=utc("2022-01-01")))


EARLY = [*PLAIN[:3], *(replace(one, facts=replace(one.facts, exposed_at=utc("2023-12-01"))) for one in PLAIN[3:5])]
EARLY += PLAIN[5:]


@pytest.mark.parametrize(
    ("pair", "cause"),
    [
        (only_inside(with_facts(flags=(("private", "held back"),))), Cause.PRIVACY),
        (only_inside(with_facts(platform="atcoder", difficulty="hard"), difficulties=("easy",)), Cause.FILTERS),
        (only_inside(earlier), Cause.DATES),
        (only_inside(with_facts(exposed_at=None)), Cause.DATES),
        (only_inside(with_facts(withdrawn=True)), Cause.QUALITY),
        (only_inside(with_facts(flags=(("bad_tests", "test 3"),))), Cause.QUALITY),
        (only_inside(with_facts(n_tests=0)), Cause.TESTS),
        (only_inside(with_facts(samples_only=True)), Cause.TESTS),
        (only_inside(scores=[1, 0, 1, None, None, *TWELVE[5:]]), Cause.RESULTS),
    ],
)
def test_each_cause_by_itself(pair: tuple[FrozenEdition, FrozenEdition], cause: Cause) -> None:
    came, went = the_change(*pair), the_change(*pair[::-1])
    # Ten problems with 7 solved, and p3 solved, p4 not: 8 of 12.
    assert [came.found.before, came.found.after] == pytest.approx([7 / 10, 8 / 12])
    assert [(one.cause, one.n_came, one.n_gone) for one in came.moves] == [(cause, 2, 0)]
    assert [(one.cause, one.n_came, one.n_gone) for one in went.moves] == [(cause, 0, 2)]
    assert came.moves[0].value == pytest.approx(8 / 12 - 7 / 10)
    assert went.moves[0].value == pytest.approx(7 / 10 - 8 / 12)


@pytest.mark.parametrize(("models", "margin_hours"), [(registry(model("alice", "2023-12")), 0.0), (ALICE, 31 * 24.0)])
def test_a_cutoff_or_a_margin_that_moved(models: Registry, margin_hours: float) -> None:
    first = small(EARLY, [alice(TWELVE)], models, settings=EditionSettings(margin_hours=margin_hours))
    second = small(EARLY, [alice(TWELVE)])
    assert [(one.cause, one.n_came) for one in the_change(first, second).moves] == [(Cause.WINDOW, 2)]
    assert [(one.cause, one.n_gone) for one in the_change(second, first).moves] == [(Cause.WINDOW, 2)]


def test_flagged_problems_that_one_edition_scores_are_its_filter() -> None:
    flagged = edited(PLAIN, p3=with_facts(flags=(("bad_tests", "test 3"),)))
    first = small(flagged, [alice(TWELVE)])
    second = small(flagged, [alice(TWELVE)], settings=EditionSettings(include_flagged=True))
    assert [one.cause for one in the_change(first, second).moves] == [Cause.FILTERS]


def test_a_problem_that_came_and_one_that_went_are_told_by_cause_and_not_netted() -> None:
    first = small(PLAIN, [alice([None, *TWELVE[1:]])])
    second = small(PLAIN, [alice([*TWELVE[:-1], None])])
    (move,) = the_change(first, second).moves
    assert (move.cause, move.n_came, move.n_gone) == (Cause.RESULTS, 1, 1)


def test_a_new_label_alone_moves_nothing() -> None:
    first = small(PLAIN, [alice(TWELVE)])
    found = difference(first, small(edited(PLAIN, p3=with_facts(difficulty="hard")), [alice(TWELVE)]))
    (one,) = found.scores
    assert (value(one.found.change), value(one.found.composition), value(one.found.behaviour)) == (0, 0, 0)
    assert one.moves == ()
    assert len(found.problems.difficulties) == 1


def test_other_results_alone_are_behaviour_on_the_same_problems() -> None:
    first = small(PLAIN, [alice(TWELVE)])
    found = the_change(first, small(PLAIN, [alice([0] * 3 + TWELVE[3:])])).found
    assert value(found.change) == pytest.approx(-2 / 12)
    assert found.behaviour == found.results
    assert found.results.se == pytest.approx(found.change.se)
    assert value(found.composition) == 0


def test_a_platform_that_came_makes_strata_coarser_and_says_so() -> None:
    first = small(PLAIN, [alice(TWELVE)])
    more = [*PLAIN, *(edition_problem(place, platform="codeforces") for place in range(12, 15))]
    one = the_change(first, small(more, [alice([*TWELVE, 1, 1, 1])]))
    assert one.found.refusal is None
    assert one.found.merged == (("atcoder easy", "codeforces easy"),)
    # One stratum is left: all of it is behaviour.
    assert [value(one.found.composition), value(one.found.behaviour)] == pytest.approx([0, 11 / 15 - 8 / 12])
    assert "coarser strata, since some are empty on one side: atcoder easy with codeforces easy" in one.cautions


def test_a_difficulty_that_came_is_refused_and_named() -> None:
    first = small(PLAIN, [alice(TWELVE)])
    more = [*PLAIN, *(edition_problem(place, difficulty="hard") for place in range(12, 15))]
    found = the_change(first, small(more, [alice([*TWELVE, 0, 0, 0])])).found
    assert found.refusal is not None
    assert "atcoder hard" in found.refusal
    assert (found.composition, found.within, found.behaviour) == (None, None, None)
    assert value(found.results) + value(found.problem_set) == pytest.approx(value(found.change))


def test_labels_that_look_like_another_stratum_stay_apart() -> None:
    problems = [
        edition_problem(place, platform="a b" if place % 2 else "a", difficulty="c" if place % 2 else "b c")
        for place in range(12)
    ]
    first = small(problems, [alice(TWELVE)])
    fewer, runs = taken(problems, first.edition.runs, range(11))
    found = the_change(first, changed(first, problems=fewer, runs=runs)).found
    assert found.refusal is None
    assert value(found.composition) + value(found.behaviour) == pytest.approx(value(found.change))


def test_few_problems_are_a_list_and_no_rate() -> None:
    first = small(PLAIN[:9], [alice(TWELVE[:9])])
    one = the_change(first, small(PLAIN, [alice(TWELVE)]))
    assert one.too_few == "fewer than 10 problems (9): read it as a list, not as a rate"
    assert one.found.refusal is not None
    assert one.found.change.se is None


def test_a_row_without_a_problem_has_no_change() -> None:
    first = small(PLAIN, [alice(TWELVE)], registry(model("alice", "2025-04")))
    found = difference(first, small(PLAIN, [alice(TWELVE)]))
    assert found.scores == ()
    assert found.unexplained == (Unexplained("alice", "no change: no problem was judged before"),)


def test_a_row_that_its_own_data_do_not_bear_out_is_not_split() -> None:
    first = small(PLAIN, [alice(TWELVE)])
    own = first.edition.numbers.own
    score = replace(own.rows[0].pass_at_1, value=0.5)
    for row, words in (
        (replace(own.rows[0], n_judged=11), "no split: its row after counts 11 problems, while its results give 12"),
        (replace(own.rows[0], scores=(score,)), "no split: its row after has another score than its results give"),
    ):
        numbers = replace(first.edition.numbers, own=replace(own, rows=(row,)))
        found = difference(first, replace(first, edition=replace(first.edition, numbers=numbers)))
        assert found.unexplained == (Unexplained("alice", words),)


def test_a_broken_month_is_told_beside_the_change() -> None:
    first = small(PLAIN, [alice(TWELVE)])
    numbers = replace(first.edition.numbers, broken_months={"alice": ("2024-05", "2024-06"), "zoe": ("2024-07",)})
    (one,) = difference(first, replace(first, edition=replace(first.edition, numbers=numbers))).scores
    assert one.cautions == ("the run looks broken in 2024-06: what moved may be that",)


def test_the_error_grows_with_what_moved() -> None:
    # Forty problems in contests of their own, 20 more, half of each solved: no change, and the error of the new ones.
    problems = labelled(*["easy"] * 60)
    first = small(problems[:40], [edition_run("alice", rows_of([1, 0] * 20))])
    second = small(problems, [edition_run("alice", rows_of([1, 0] * 30))])
    found = the_change(first, second).found
    assert value(found.change) == 0
    # Each of the 20 adds +-.5/60, each of the 40 takes +-.5 * (1/40 - 1/60): one fifth of the variance of all 60.
    assert found.change.se == pytest.approx((60 / 59 * (20 * (0.5 / 60) ** 2 + 40 * (0.5 / 120) ** 2)) ** 0.5)
    assert found.low is not None
    assert found.low < 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_parts_add_up_whatever_moved(seed: int) -> None:
    first, second = random_pair(np.random.default_rng(seed))
    for one in difference(first, second).scores:
        found = one.found
        exactly = pytest.approx(found.after - found.before, abs=1e-12)
        assert value(found.change) == exactly
        assert value(found.results) + value(found.problem_set) == exactly
        assert sum(move.value for move in one.moves) == pytest.approx(value(found.problem_set), abs=1e-12)
        assert sum(move.n_came - move.n_gone for move in one.moves) == found.n_after - found.n_before
        assert sum(move.n_gone for move in one.moves) == found.n_before - found.n_common
        if found.refusal is None:
            assert value(found.composition) + value(found.behaviour) == exactly
            assert value(found.composition) + value(found.within) == pytest.approx(value(found.problem_set), abs=1e-12)
            assert value(found.results) + value(found.within) == pytest.approx(value(found.behaviour), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_sets_are_those_that_the_rows_count(seed: int) -> None:
    first, second = random_pair(np.random.default_rng(seed))
    found = difference(first, second)
    rows = {row.run: row for row in second.edition.numbers.own.rows}
    assert not [one for one in found.unexplained if one.reason.startswith("no split")]
    for one in found.scores:
        assert one.found.n_after == rows[one.run].n_judged
        assert one.found.after == pytest.approx(rows[one.run].pass_at_1.value)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_order_does_not_matter_and_nothing_differs_from_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = random_pair(rng)
    order = rng.permutation(len(second.edition.problems)).tolist()
    problems, runs = taken(second.edition.problems, second.edition.runs, order)
    shuffled = changed(second, problems=problems, runs=tuple(reversed(runs)))
    there, here = difference(first, second), difference(first, shuffled)
    assert here == replace(there, after=here.after)
    assert difference(second, shuffled).is_empty
    assert difference(first, first).is_empty
