"""What an edition diff says of tests: what kind became which, who was judged again, and what was measured anew."""

from __future__ import annotations

from typing import Any

import pytest

from db.records import MadeStrength, TestOrigin
from eval.editions.difference import difference
from eval.editions.difference_sheet import difference_sheet
from eval.editions.document import EditionProblem, RareOutcome
from eval.editions.score_changes import Cause
from eval.editions.suite_changes import ChangedStrength, ChangedTests
from eval.sheets import Cell
from eval.statistics.composition import Estimate
from tests.eval.editions.built import edition_problem, edition_run
from tests.eval.editions.moved import alice, edited, problems_of, rows_of, small, with_facts

SAMPLES: dict[str, Any] = {"samples_only": True, "n_tests": 3, "suite_digest": "samples"}
STRENGTH = MadeStrength(n_wrong=20, n_wrong_killed=18, n_mutants=9, n_mutants_killed=6, n_right=5)
MADE: dict[str, Any] = {
    "samples_only": False,
    "n_tests": 51,
    "suite_digest": "made",
    "hidden_origins": (TestOrigin.GENERATED,),
    "strength": STRENGTH,
}
OFFICIAL: dict[str, Any] = {
    "n_tests": 40,
    "suite_digest": "official",
    "hidden_origins": (TestOrigin.OFFICIAL,),
    "strength": None,
}
BOTH = (TestOrigin.OFFICIAL, TestOrigin.GENERATED)
# Wilson's interval of 18 of 20 by hand: centre (0.9 + z²/40) / (1 + z²/20), z = 1.95996.
MADE_TEXT = (
    "51 tests, made here beyond the samples; made ones fail 18 of 20 known-wrong programs (90.0 %, 95 % 69.9–97.2), "
    "6 of 9 mutants of right ones, none of 5 right ones"
)


def one_problem(**facts: Any) -> list[EditionProblem]:
    return [edition_problem(0, **facts)]


@pytest.mark.parametrize(
    ("before", "after", "kind", "texts"),
    [
        (SAMPLES, MADE, "sample tests only -> made tests", ("3 sample tests only", MADE_TEXT)),
        (
            MADE,
            OFFICIAL,
            "made tests -> official tests",
            (MADE_TEXT, "40 tests, official beyond the samples"),
        ),
        (
            {"n_tests": 0, "suite_digest": None},
            {**SAMPLES, "n_tests": 1},
            "no tests -> sample tests only",
            ("no tests", "1 sample test only"),
        ),
        (
            OFFICIAL,
            {
                **OFFICIAL,
                "suite_digest": "b",
                "n_tests": 41,
                "hidden_origins": (TestOrigin.OFFICIAL, TestOrigin.GENERATED),
            },
            "official tests -> official and made tests",
            ("40 tests, official beyond the samples", "41 tests, official and made here beyond the samples"),
        ),
        (
            {**OFFICIAL, "hidden_origins": (TestOrigin.RECOVERED,)},
            {**OFFICIAL, "hidden_origins": (TestOrigin.RECOVERED,), "suite_digest": "b", "n_tests": 44},
            "other recovered tests",
            ("40 tests, recovered beyond the samples", "44 tests, recovered beyond the samples"),
        ),
        (
            OFFICIAL,
            {**OFFICIAL, "has_checker": True},
            "the same tests with a checker",
            (
                "40 tests, official beyond the samples",
                "40 tests, official beyond the samples, with a checker of its own",
            ),
        ),
    ],
)
def test_what_kind_of_tests_became_which(
    before: dict[str, Any], after: dict[str, Any], kind: str, texts: tuple[str, str]
) -> None:
    found = difference(small(one_problem(**before), []), small(one_problem(**after), [])).problems
    assert found.tests == (ChangedTests("atcoder:p0", kind, *texts, 0, 0, 0),)
    assert (found.strengths, found.details) == ((), ())


def test_who_was_judged_again_by_other_tests() -> None:
    others = {"bob": [1], "carol": [1], "dave": [0]}
    first = small(
        one_problem(**SAMPLES),
        [
            alice([1]),
            *(edition_run(name, rows_of(scores)) for name, scores in others.items()),
            edition_run("imported", rows_of([1]), imported=True, origin="site"),
        ],
    )
    waiting = edition_run("carol", [(0, 0, 0)], rare=(RareOutcome(0, n_waiting=1),))
    second = small(
        one_problem(**MADE),
        [
            alice([0]),
            edition_run("bob", rows_of([1])),
            waiting,
            edition_run("dave", rows_of([0])),
            edition_run("new", rows_of([1])),
            edition_run("imported", rows_of([0]), imported=True, origin="site"),
        ],
    )
    (one,) = difference(first, second).problems.tests
    # alice, bob and dave have verdicts by the tests of now, alice another one; carol's sample waits.
    assert (one.n_rejudged, one.n_other_results, one.n_unjudged) == (3, 1, 1)


def test_made_tests_that_were_measured_anew() -> None:
    anew = MadeStrength(n_wrong=25, n_wrong_killed=20)
    first = small(one_problem(**MADE), [alice([1])])
    second = small(one_problem(**{**MADE, "strength": anew}), [alice([1])])
    found = difference(first, second)
    assert (found.problems.tests, found.results, found.problems.details) == ((), (), ())
    told = "18 of 20 known-wrong programs (90.0 %, 95 % 69.9–97.2), 6 of 9 mutants of right ones, none of 5 right ones"
    assert found.problems.strengths == (
        ChangedStrength("atcoder:p0", told, "20 of 25 known-wrong programs (80.0 %, 95 % 60.9–91.1)"),
    )
    assert not found.is_empty
    nothing = difference(small(one_problem(**{**MADE, "strength": MadeStrength()}), []), first).problems.strengths
    assert nothing[0].before == "none: no program is known to measure them by"
    assert difference(small(one_problem(**{**MADE, "strength": None}), []), first).problems.strengths == (
        ChangedStrength("atcoder:p0", "not measured", told),
    )


def test_tests_of_private_problems_are_counted_alone() -> None:
    private = {"flags": (("private", "held back"),)}
    first = small([*one_problem(**SAMPLES, **private), edition_problem(1, **MADE, **private)], [])
    anew = {**MADE, "strength": MadeStrength(n_wrong=1)}
    second = small([*one_problem(**MADE, **private), edition_problem(1, **anew, **private)], [])
    found = difference(first, second).problems
    assert (found.tests, found.strengths, found.private.changed) == ((), (), 2)


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def test_a_problem_that_leaves_sample_tests_behind_joins_the_scored_set() -> None:
    # Ten problems with official tests, six solved; p10 and p11 pass their samples, which count for nothing.
    whole = [*problems_of(10, **OFFICIAL), *(edition_problem(place, **SAMPLES) for place in (10, 11))]
    first = small(whole, [alice([1] * 6 + [0] * 4 + [1, 1])])
    # Tests were made for both: one of the two answers fails by them.
    made = edited(whole, p10=with_facts(**MADE), p11=with_facts(**MADE))
    second = small(made, [alice([1] * 6 + [0] * 4 + [1, 0])])
    found = difference(first, second)
    (score,) = found.scores
    assert (score.found.n_before, score.found.n_after, score.found.n_common) == (10, 12, 10)
    assert [score.found.before, score.found.after] == pytest.approx([6 / 10, 7 / 12])
    # All are easy ones of one platform: the mix is what it was, and no result that counted before is another one.
    assert value(score.found.results) == 0
    assert value(score.found.composition) == pytest.approx(0)
    assert value(score.found.behaviour) == pytest.approx(7 / 12 - 6 / 10)
    assert [(one.cause, one.n_came, one.n_gone) for one in score.moves] == [(Cause.TESTS, 2, 0)]
    assert score.moves[0].value == pytest.approx((1 - 0.6) / 12 + (0 - 0.6) / 12)
    (results,) = found.results
    assert (results.same_tests, results.other_tests) == ((), ("atcoder:p11",))


def test_with_another_difficulty_it_changes_the_composition() -> None:
    easy, hard = problems_of(10, **OFFICIAL), [edition_problem(10, difficulty="hard", **OFFICIAL)]
    waiting = edition_problem(11, difficulty="hard", **SAMPLES)
    results = [1] * 8 + [0] * 2 + [0]
    first = small([*easy, *hard, waiting], [alice([*results, 1])])
    second = small(edited([*easy, *hard, waiting], p11=with_facts(**MADE)), [alice([*results, 0])])
    (score,) = difference(first, second).scores
    # Easy 8/10 and hard 0/1 before; hard 0/2 after: nothing is solved otherwise, only the hard share has grown.
    assert [score.found.before, score.found.after] == pytest.approx([8 / 11, 8 / 12])
    assert value(score.found.composition) == pytest.approx(8 / 12 - 8 / 11)
    assert value(score.found.behaviour) == pytest.approx(0)


def table(sheet: Any, title: str) -> list[tuple[Cell, ...]]:
    return next(list(one.rows) for one in sheet.tables if one.title == title)


def test_it_is_told_in_tables_and_as_json() -> None:
    first = small([*one_problem(**SAMPLES), edition_problem(1, **MADE)], [alice([1, 1])])
    anew = edition_problem(1, **{**MADE, "strength": MadeStrength(n_wrong=4, n_wrong_killed=4)})
    sheet = difference_sheet(difference(first, small([*one_problem(**MADE), anew], [alice([0, 1])])))
    assert table(sheet, "Problems") == [
        ("other tests: sample tests only -> made tests", 1, "atcoder:p0"),
        ("strength of made tests measured anew", 1, "atcoder:p1"),
    ]
    rejudged, measured = table(sheet, "Tests")
    assert rejudged == ("atcoder:p0", "sample tests only -> made tests", "3 sample tests only", MADE_TEXT, 1, 1, 0)
    assert measured[:2] == ("atcoder:p1", "measured anew")
    assert measured[3:] == ("4 of 4 known-wrong programs (100.0 %, 95 % 51.0–100.0)", None, None, None)
    (told,) = sheet.data["problems"]["tests"]
    assert (told["problem"], told["n_rejudged"], told["n_other_results"]) == ("atcoder:p0", 1, 1)
    assert [one["problem"] for one in sheet.data["problems"]["strengths"]] == ["atcoder:p1"]
