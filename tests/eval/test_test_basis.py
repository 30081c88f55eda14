"""What the tests of a score are: origins counted, made ones summed up, nothing claimed of what is not recorded."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import MadeStrength, TestOrigin
from eval.test_basis import TestBasis, basis_of_tests, basis_text, basis_to_dict
from eval.window import ProblemFacts
from tests.eval.facts import problem

OFFICIAL, MADE, RECOVERED = (TestOrigin.OFFICIAL,), (TestOrigin.GENERATED,), (TestOrigin.RECOVERED,)
PRIVATE = (("private", "held back"),)


def made(number: int, killed: int, wrong: int, **changes: Any) -> ProblemFacts:
    strength = MadeStrength(n_wrong=wrong, n_wrong_killed=killed)
    return problem(number, hidden_origins=MADE, strength=strength, **changes)


def test_problems_are_counted_by_where_their_hidden_tests_come_from() -> None:
    basis = basis_of_tests(
        [
            *(problem(number, hidden_origins=OFFICIAL) for number in range(4)),
            *(problem(number, hidden_origins=MADE) for number in range(4, 7)),
            problem(7, hidden_origins=RECOVERED),
            problem(8, hidden_origins=(TestOrigin.OFFICIAL, TestOrigin.RECOVERED)),
            problem(9, hidden_origins=(TestOrigin.GENERATED, TestOrigin.SAMPLE)),
            problem(10),
        ]
    )
    assert basis == TestBasis(11, n_official=4, n_made=4, n_recovered=1, n_mixed=1, n_not_recorded=1)
    assert basis_text(basis) == (
        "tests beyond the samples of 11 problems: 4 official, 4 made, 1 recovered, 1 of several origins, "
        "1 of origin not recorded; strength not recorded of 4 made ones"
    )


def test_a_kill_rate_pools_all_problems_with_wilsons_interval() -> None:
    """81 of 263 is Newcombe's first example (Statistics in Medicine 17, 1998, table I): 0.2553 to 0.3662."""
    basis = basis_of_tests([made(0, 61, 163), made(1, 20, 100), problem(2, hidden_origins=OFFICIAL)])
    assert basis.strength is not None
    assert (basis.n_measured, basis.strength.n_wrong, basis.strength.n_wrong_killed) == (2, 263, 81)
    assert basis.kill_rate == pytest.approx((81 / 263, 0.2553, 0.3662), abs=5e-5)
    document = basis_to_dict(basis)
    assert document is not None
    assert (document["kill_rate_low"], document["kill_rate_high"]) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert document["weakest"] == {"problem": "atcoder:p1", "n_wrong": 100, "n_wrong_killed": 20}
    assert "made ones fail 81 of 263 known-wrong programs (30.8 %, 95 % 25.5–36.6)" in basis_text(basis)


def test_what_made_tests_do_to_other_programs_is_said_too() -> None:
    one = MadeStrength(3, 3, 2, 1, 10, 7, 6, 1)
    text = basis_text(basis_of_tests([problem(0, hidden_origins=MADE, strength=one)]))
    assert "7 of 10 mutants of right ones, 1 of 2 too slow ones, " in text
    assert "none of 6 right ones (what 1 of them failed was set aside)" in text


def test_tests_that_nothing_is_known_of_claim_no_strength() -> None:
    without = basis_of_tests([problem(0, hidden_origins=MADE, strength=MadeStrength())])
    assert (without.kill_rate, without.weakest, without.n_measured) == (None, None, 1)
    assert basis_text(without).endswith("1 made; made ones fail none: no program is known to measure them by")
    document = basis_to_dict(without)
    assert document is not None
    assert [document[name] for name in ("kill_rate", "kill_rate_low", "kill_rate_high")] == [None] * 3
    old = basis_of_tests([problem(number) for number in range(3)])
    assert basis_text(old) == "tests beyond the samples of 3 problems: 3 of origin not recorded"
    assert (old.strength, old.n_made) == (None, 0)


def test_results_from_elsewhere_have_no_tests_here() -> None:
    assert basis_text(None) == "tests: not run here"
    assert basis_to_dict(None) is None
    assert basis_text(basis_of_tests([])) == ""


@pytest.mark.parametrize(
    ("problems", "name"),
    [
        ([made(0, 9, 10), made(1, 1, 2), made(2, 3, 6)], "atcoder:p2"),  # the share decides, then how many there were
        ([made(3, 1, 2), made(1, 1, 2), made(2, 1, 2)], "atcoder:p1"),
        ([made(0, 9, 10), made(1, 0, 0)], "atcoder:p0"),  # without a wrong program nothing is weak
        ([made(0, 9, 10), made(1, 1, 10, flags=PRIVATE)], None),
    ],
)
def test_the_weakest_tests_are_named_but_for_private_ones(problems: list[ProblemFacts], name: str | None) -> None:
    for order in (problems, problems[::-1]):
        basis = basis_of_tests(order)
        assert basis.weakest is not None
        assert basis.weakest.problem == name
        assert f"weakest: {name or 'a private problem'}, " in basis_text(basis)
        assert "p1" not in basis_text(basis) or name == "atcoder:p1"


counts = st.integers(0, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
strengths = st.tuples(counts, counts, counts, counts).map(
    lambda pairs: MadeStrength(*(number for pair in pairs for number in pair))
)
origins = st.sets(st.sampled_from(list(TestOrigin))).map(lambda found: tuple(sorted(found)))


@given(st.lists(st.tuples(origins, st.none() | strengths), max_size=12))
def test_every_problem_is_of_one_kind_and_every_program_counts_once(
    drawn: list[tuple[tuple[TestOrigin, ...], MadeStrength | None]],
) -> None:
    basis = basis_of_tests(problem(n, hidden_origins=one, strength=strong) for n, (one, strong) in enumerate(drawn))
    kinds = (basis.n_official, basis.n_made, basis.n_recovered, basis.n_mixed, basis.n_not_recorded)
    assert sum(kinds) == basis.n_problems == len(drawn)
    measured = [strong for _, strong in drawn if strong is not None]
    assert basis.n_measured == len(measured)
    for one in fields(MadeStrength):
        total = sum(getattr(strong, one.name) for strong in measured)
        assert total == (0 if basis.strength is None else getattr(basis.strength, one.name))
    if basis.kill_rate is not None:
        share, low, high = basis.kill_rate
        assert 0 <= low <= share <= high <= 1
