"""Whether an edition still holds: what came later does not count, what moved is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from db.completions import RunRecord, save_run
from db.engine import Store, open_store
from db.judgements import EnvironmentRecord
from db.problems import flag_problem
from eval.editions.document import EditionSettings, FrozenEdition, digest_of, to_bytes
from eval.editions.freezing import Chosen, freeze
from eval.editions.parts import public_part
from eval.editions.verifying import other_numbers, verify
from tests.eval.editions.built import invented
from tests.eval.editions.test_freezing import KEYS, LEETCODE, MODELS, frozen_of, judge, save, tally
from tests.eval.facts import NOW

NEWER = EnvironmentRecord("f" * 64, "docker", {"python": "3.12.0"})
LATER = NOW + timedelta(days=1)
SAMPLES = [(KEYS[0], "print(1)", "accepted"), (KEYS[1], "print(2)", "wrong_answer")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as opened:
        save(opened, KEYS)
        yield opened


def frozen(store: Store, **choices: Any) -> FrozenEdition:
    edition = frozen_of(store, **choices)
    return FrozenEdition("a", NOW, digest_of(to_bytes(edition)), edition)


def test_a_second_run_without_answers_changes_nothing(store: Store) -> None:
    judge(store, SAMPLES)
    before = frozen(store)
    with store.write() as session:
        save_run(session, RunRecord("m", "", {"temperature": 0.9}), now=NOW)
    assert verify(before, store).holds
    assert frozen(store).digest == before.digest
    assert [run.name for run in before.edition.runs] == ["m"]


def test_a_second_run_with_answers_is_named_apart_and_both_editions_hold(store: Store) -> None:
    judge(store, SAMPLES)
    before = frozen(store)
    judge(store, SAMPLES, temperature=0.9)
    after = frozen(store)
    assert [run.name for run in after.edition.runs] == ["m (temperature 0.2)", "m (temperature 0.9)"]
    assert verify(before, store).holds
    assert verify(after, store).holds
    judge(store, SAMPLES[:1], temperature=0.5)
    assert verify(before, store).holds
    assert verify(after, store).holds


@pytest.mark.parametrize("verdict", ["accepted", "wrong_answer"])
def test_an_edition_is_verified_in_its_own_environment(store: Store, verdict: str) -> None:
    judge(store, SAMPLES)
    before = frozen(store)
    judge(store, [(KEYS[0], "print(1)", verdict), SAMPLES[1]], environment=NEWER, now=LATER)
    after = frozen(store)
    assert [one.edition.environment and one.edition.environment.digest for one in (before, after)] == [
        "e" * 64,
        "f" * 64,
    ]
    assert verify(before, store).holds
    assert verify(after, store).holds


def test_an_edition_without_verdicts_is_verified_without(store: Store) -> None:
    tally(store, "other", KEYS)
    before = frozen(store)
    judge(store, SAMPLES)
    assert before.edition.environment is None
    assert verify(before, store).holds


def test_a_store_that_has_nothing_of_an_edition(store: Store, tmp_path: Path) -> None:
    tally(store, "m", KEYS)
    before = frozen(store)
    with open_store(f"sqlite:///{tmp_path / 'empty.db'}") as other:
        found = verify(before, other)
        assert (found.nothing_left, found.moved, found.other_numbers, found.holds) == (True, None, (), False)
        save(other, KEYS)
        assert verify(before, other).nothing_left


def test_an_edition_of_some_models_and_problems_holds_and_rests_on_all(store: Store) -> None:
    save(store, LEETCODE)
    tally(store, "m", [*KEYS, *LEETCODE])
    tally(store, "other", KEYS[:2])
    chosen = Chosen(EditionSettings(platforms=("leetcode",)), models=frozenset({"m"}))
    edition = freeze(store, MODELS, chosen, software="x")
    before = FrozenEdition("a", NOW, digest_of(to_bytes(edition)), edition)
    assert verify(before, store).holds
    tally(store, "other", KEYS[2:])
    found = verify(before, store)
    assert found.moved is not None
    assert found.moved.elsewhere == (
        "runs that are not shown, or problems that the filters leave out: months are judged by all of them",
    )
    assert (found.moved.results, found.moved.runs.came, found.moved.runs.gone) == ((), (), ())
    assert (found.moved.before.n_problems, found.moved.before.n_runs) == (2, 1)


def test_what_is_published_of_an_edition_gives_its_numbers(store: Store) -> None:
    save(store, LEETCODE)
    tally(store, "m", [*KEYS, *LEETCODE])
    tally(store, "other", KEYS)
    chosen = Chosen(EditionSettings(platforms=("leetcode",)), models=frozenset({"m"}))
    public = public_part(freeze(store, MODELS, chosen, software="x"))
    assert public.unshown_count == 5  # four problems and a run
    assert other_numbers(public) == ()


def test_a_last_digit_of_another_machine_is_no_other_number() -> None:
    edition = invented().edition
    assert other_numbers(edition) == ()
    for factor, expected in ((1 + 2e-9, ()), (1 + 1e-6, ("months",))):
        run = next(one for one in edition.numbers.months if one.run == "steady")
        months = tuple(replace(one, n_solved=one.n_solved * factor) for one in run.months)
        numbers = replace(
            edition.numbers,
            months=tuple(replace(run, months=months) if one is run else one for one in edition.numbers.months),
        )
        assert other_numbers(replace(edition, numbers=numbers)) == expected


def test_an_edition_holds_until_what_it_rests_on_moves(store: Store) -> None:
    tally(store, "m", KEYS[:3])
    before = frozen(store)
    assert verify(before, store).holds
    # What comes later is not its business: a problem, a model, a result on the new problem.
    save(store, LEETCODE)
    tally(store, "m", LEETCODE)
    tally(store, "other", KEYS)
    assert verify(before, store).holds
    with store.write() as session:
        flag_problem(session, KEYS[0], "bad_tests", "two right programs fail", by="a test", now=NOW)
    found = verify(before, store)
    assert not found.holds
    assert found.other_numbers == ()
    assert found.moved is not None


def test_numbers_that_were_tampered_with_are_found(store: Store) -> None:
    tally(store, "m", KEYS)
    edition = frozen_of(store)
    own = edition.numbers.own
    row = replace(own.rows[0], n_judged=7)
    false = replace(edition, numbers=replace(edition.numbers, own=replace(own, rows=(row,))))
    found = verify(FrozenEdition("a", NOW, digest_of(to_bytes(false)), false), store)
    assert found.other_numbers == ("own",)
    assert not found.holds
