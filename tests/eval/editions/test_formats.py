"""Editions of format 1, which count results on sample tests alone: read, written and computed as they were frozen.

``data/format_1.json`` was written by the last version of that format: five runs, of which "frugal" is imported, on 24
problems; every fourth has sample tests alone, one of eight has none, and one is private.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from db.engine import open_store
from db.records import MadeStrength, TestOrigin
from eval.editions.difference import difference
from eval.editions.document import Edition, EditionSettings, FrozenEdition, digest_of, from_bytes, to_bytes
from eval.editions.formats import FORMAT
from eval.editions.freezing import Chosen, freeze
from eval.editions.parts import public_part
from eval.editions.score_changes import Cause
from eval.editions.verifying import other_numbers, verify
from eval.report import SamplesApart
from tests.eval.editions.built import FROZEN_AT, edition_problem
from tests.eval.editions.moved import alice, changed, small
from tests.eval.editions.test_freezing import HIDDEN, KEYS, MODELS, SAMPLE, judge, save
from tests.eval.facts import NOW

BODY = (Path(__file__).parent / "data" / "format_1.json").read_bytes()
DIGEST = "6d91144f0a49e07eab8e2195e528ded6cac222df9b4ab37b569b082370ec4cbe"
ROWS = {"eager": (19, 5), "steady": (20, 6), "brisk": (20, 6), "frugal": (18, 0), "late": (9, 3)}
"""By run: the problems of its row, and those of them with sample tests alone, as that version counted them."""


def test_the_bytes_stay_what_they_were() -> None:
    edition = from_bytes(BODY)
    assert to_bytes(edition) == BODY
    assert digest_of(to_bytes(edition)) == hashlib.sha256(BODY).hexdigest() == DIGEST
    public = public_part(edition)
    assert from_bytes(to_bytes(public)) == public
    assert len(public.problems) == 23


def test_where_tests_come_from_is_not_recorded() -> None:
    edition = from_bytes(BODY)
    assert edition.counts_samples
    assert {(one.facts.hidden_origins, one.facts.strength) for one in edition.problems} == {((), None)}
    for row in edition.numbers.own.rows:
        n_judged, n_samples_only = ROWS[row.run]
        assert row.n_judged == n_judged
        assert edition.numbers.counted_on_samples.get(row.run, 0) == n_samples_only
        assert row.samples_only is None
        if row.run == "frugal":
            assert row.tests is None
        else:
            assert row.tests is not None
            assert (row.tests.n_problems, row.tests.n_not_recorded) == (n_judged - n_samples_only,) * 2
            assert (row.tests.n_official, row.tests.n_made, row.tests.strength) == (0, 0, None)


def test_its_numbers_come_out_of_itself_by_the_rules_of_its_time() -> None:
    edition = from_bytes(BODY)
    assert other_numbers(edition) == ()
    # By the rules of now they would not: every run that was judged here loses problems.
    assert "own" in other_numbers(replace(edition, format=FORMAT))


@pytest.mark.parametrize("part", ["own", "common", "months"])
def test_other_numbers_are_found_in_it(part: str) -> None:
    edition = from_bytes(BODY)
    numbers = edition.numbers
    if part == "own":
        first = replace(numbers.own.rows[0], n_judged=18)
        numbers = replace(numbers, own=replace(numbers.own, rows=(first, *numbers.own.rows[1:])))
    elif part == "common":
        numbers = replace(numbers, common=replace(numbers.common, conditions=numbers.common.conditions[:1]))
    else:
        numbers = replace(numbers, months=numbers.months[1:])
    assert other_numbers(replace(edition, numbers=numbers)) == (part,)


def test_it_is_verified_against_a_store_by_the_same_rules(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as store:
        save(store, KEYS[:3], (SAMPLE,))
        save(store, KEYS[3:], (SAMPLE, HIDDEN))
        judge(store, [(key, f"print({key})", "accepted") for key in KEYS])
        old, new = (
            freeze(store, MODELS, Chosen(EditionSettings(), format=number), software="livecut 0.1.0")
            for number in (1, FORMAT)
        )
        frozen = [_kept(one) for one in (old, new)]
        assert [verify(one, store).holds for one in frozen] == [True, True]
    assert [one.edition.numbers.own.rows[0].n_judged for one in frozen] == [4, 1]
    assert new.numbers.own.rows[0].samples_only == SamplesApart(3, 3, 3)
    assert [one.facts.hidden_origins for one in old.problems] == [()] * 4
    assert [one.facts.hidden_origins for one in new.problems] == [(), (), (), (TestOrigin.OFFICIAL,)]
    # What failed on samples alone is drawn and counted no more: it is in no score.
    assert [dict(one.failures[0].verdicts) for one in (old, new)] == [{"accepted": 4}, {"accepted": 1}]


def _kept(edition: Edition) -> FrozenEdition:
    """As it comes out of a store."""
    body = to_bytes(edition)
    return FrozenEdition("a", NOW, digest_of(body), from_bytes(body))


def test_what_moved_to_the_format_of_now_is_the_rule_and_what_it_takes_out() -> None:
    problems = [edition_problem(place, samples_only=place in {2, 3}) for place in range(12)]
    run = alice([1, 0, 1, 1, *[1, 0] * 4])
    new = small(problems, [run])
    first = changed(replace(new, edition=replace(new.edition, format=1)), "first")
    found = difference(first, new)
    assert [(one.part, one.name, one.before, one.after) for one in found.made_with] == [
        ("rules", "origin and strength of tests", "not recorded", "recorded"),
        ("rules", "results on sample tests alone", "count in scores", "reported apart"),
    ]
    assert found.problems.is_empty
    assert found.results == ()
    (score,) = found.scores
    # Seven of twelve, of which two are solved on their samples alone: five of ten.
    assert [score.found.before, score.found.after] == pytest.approx([7 / 12, 5 / 10])
    assert [(one.cause, one.n_came, one.n_gone) for one in score.moves] == [(Cause.RULES, 0, 2)]
    assert score.found.behaviour is not None
    assert score.found.results is not None
    assert score.found.results.value == 0


def test_what_it_has_no_record_of_is_no_change() -> None:
    strength = MadeStrength(n_wrong=4, n_wrong_killed=3)
    made = {"hidden_origins": (TestOrigin.GENERATED,), "strength": strength}
    private = {**made, "flags": (("private", "held back"),)}
    problems = [edition_problem(0, **made), edition_problem(1, **private)]
    plain = [edition_problem(0), edition_problem(1, flags=(("private", "held back"),))]
    old = small(plain, [alice([1, 1])])
    first = FrozenEdition("first", FROZEN_AT, old.digest, replace(old.edition, format=1))
    found = difference(first, small(problems, [alice([1, 1])]))
    assert found.problems.is_empty
