"""Editions: what is frozen comes back as it was and never changes, and when what it rests on changed last."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from db.completions import RunRecord, save_completions, save_run
from db.contests import note_listing, save_contest
from db.duplicates import DuplicateVerdict, save_pair
from db.editions import (
    EditionDamaged,
    EditionExists,
    EditionRow,
    EditionUnknown,
    last_change,
    list_editions,
    load_edition,
    save_edition,
)
from db.engine import Store, StoreError
from db.exposure import refresh_exposure, save_sightings
from db.flags import clear_flags
from db.ingest_runs import start_run
from db.judgements import EnvironmentRecord, JudgementRecord, iter_pending, save_environment, save_judgements
from db.made_suites import MadeSuiteRecord, base_suite_id, save_made_suite
from db.older_answers import OLDER
from db.problems import flag_problem, save_problem
from db.records import ContestKind, ContestRecord, MadeStrength, Place, ReferenceRecord, SightingRecord, TestOrigin
from db.references import ReferenceVerdictRecord, pending_references, save_reference_verdicts
from db.responses import FailureRecord, save_failures, save_responses
from db.tables import Base
from tests.db.builders import LATER, NOW, case, claim, completion, key_of, problem, response, row_counts, suite_of

BODY = b'{"as_of":"2026-01-02"}\n'
START = datetime(2024, 5, 4, tzinfo=UTC)
AFTER = LATER + timedelta(days=1)


def digest_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def freeze(store: Store, name: str, body: bytes = BODY, now: datetime = NOW) -> bool:
    with store.write() as session:
        return save_edition(session, name, digest_of(body), body, now=now)


def test_an_edition_comes_back_as_it_was_frozen(store: Store) -> None:
    long = b"0123456789" * 100_000
    assert freeze(store, "2026-01", long)
    with store.read() as session:
        row, body = load_edition(session, "2026-01")
        packed = session.execute(text("SELECT length(zstd) FROM blob")).scalar_one()
    assert (row, body) == (EditionRow("2026-01", digest_of(long), NOW, 1_000_000), long)
    assert packed < 10_000


def test_the_same_again_changes_nothing(store: Store) -> None:
    assert freeze(store, "2026-01")
    with store.read() as session:
        before = row_counts(session)
    assert not freeze(store, "2026-01", now=LATER)
    with store.read() as session:
        assert row_counts(session) == before
        assert list_editions(session) == [EditionRow("2026-01", digest_of(BODY), NOW, len(BODY))]


@pytest.mark.parametrize("name", ["Winter", "winter", "WINTER"])
def test_what_is_frozen_is_never_changed(store: Store, name: str) -> None:
    freeze(store, "Winter")
    with pytest.raises(EditionExists, match=r'"Winter" already, frozen at 2026-01-02T03:04Z') as refused:
        freeze(store, name, b"other", LATER)
    assert refused.value.hint
    assert not freeze(store, name, BODY, LATER)
    with store.read() as session:
        assert row_counts(session)["edition"] == row_counts(session)["blob"] == 1
        assert load_edition(session, name) == (EditionRow("Winter", digest_of(BODY), NOW, len(BODY)), BODY)


@pytest.mark.parametrize(("name", "other"), [("Зима", "ЗИМА"), ("Größe", "GRÖSSE")])
def test_names_are_one_in_any_script_whatever_their_case(store: Store, name: str, other: str) -> None:
    freeze(store, name)
    with pytest.raises(EditionExists):
        freeze(store, other, b"other")


@pytest.mark.parametrize(
    ("name", "digest", "now"),
    [
        ("a", digest_of(b"other"), NOW),
        ("a", digest_of(BODY).upper(), NOW),
        ("", digest_of(BODY), NOW),
        ("a\0", digest_of(BODY), NOW),
        ("a", digest_of(BODY), NOW.replace(tzinfo=None)),
    ],
)
def test_what_is_no_edition_is_refused(store: Store, name: str, digest: str, now: datetime) -> None:
    with store.write() as session:
        with pytest.raises(ValueError, match=r"sha256|name|now"):
            save_edition(session, name, digest, BODY, now=now)
        assert not any(row_counts(session).values())


def test_editions_are_listed_oldest_first_and_equal_ones_as_they_came(store: Store) -> None:
    for name, now in (("d", LATER), ("c", NOW), ("b", LATER), ("a", NOW)):
        assert freeze(store, name, now=now)
    with store.read() as session:
        assert [row.name for row in list_editions(session)] == ["c", "a", "d", "b"]
        assert row_counts(session)["blob"] == 1


def test_an_unknown_name_gets_the_names_that_are_near(store: Store) -> None:
    with store.read() as session, pytest.raises(EditionUnknown, match='no edition "2025-12"') as none_yet:
        load_edition(session, "2025-12")
    assert none_yet.value.hint == "live edition freeze makes one"
    for name in ("Winter 2025", "Winter 2026", "spring"):
        freeze(store, name)
    with store.read() as session, pytest.raises(EditionUnknown) as near:
        load_edition(session, "wintr 2026")
    assert near.value.hint == "did you mean Winter 2026 or Winter 2025?"
    with store.read() as session, pytest.raises(EditionUnknown) as far:
        load_edition(session, "x")
    assert far.value.hint == "the last one is spring"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE blob SET zstd = (SELECT zstd FROM blob WHERE size = 5) WHERE size <> 5",
        "UPDATE blob SET zstd = substr(zstd, 1, 9) WHERE size <> 5",
        "UPDATE edition SET digest = '00' WHERE name = 'mine'",
        "UPDATE edition SET body_sha256 = (SELECT sha256 FROM blob WHERE size = 5) WHERE name = 'mine'",
    ],
)
def test_damaged_bytes_are_not_given_out(store: Store, damage: str) -> None:
    freeze(store, "mine")
    freeze(store, "other", b"other")
    with store.write() as session:
        session.execute(text(damage))
    with store.read() as session, pytest.raises(EditionDamaged, match=r'edition "mine"') as found:
        load_edition(session, "mine")
    assert isinstance(found.value, StoreError)
    assert found.value.hint
    with store.read() as session:
        assert load_edition(session, "other")[1] == b"other"


class World(NamedTuple):
    """A store with two problems of a round, an answer to the first with a verdict, and a reference solution of it."""

    session: Session
    environment: int
    run: int
    first: int
    second: int


def round_(kind: ContestKind = ContestKind.ROUND, start: datetime = START) -> ContestRecord:
    return ContestRecord("judge", "c1", "Round 1", start, start + timedelta(hours=2), kind)


FIRST = replace(
    problem("p1", dates=[replace(claim(source="judge"), contest="c1")]),
    contest=round_(),
    references=(ReferenceRecord("ref.py", "python3", "print(5)"),),
)
SECOND = replace(problem("p2", statement="Subtract."), contest=round_())


def world_of(session: Session) -> World:
    first, second = (save_problem(session, record, now=NOW).problem_id for record in (FIRST, SECOND))
    run = save_run(session, RunRecord("model"), now=NOW)
    save_completions(session, run, [completion()])
    world = World(session, save_environment(session, EnvironmentRecord("sha", "docker"), now=NOW), run, first, second)
    judge(world, world.environment, "accepted", LATER)
    return world


def judge(world: World, environment: int, verdict: str, at: datetime) -> None:
    """Give every answer that waits in an environment this verdict; there must be one."""
    waiting = iter_pending(world.session, environment)
    assert waiting
    records = [JudgementRecord(one.completion_id, one.suite_id, verdict, [], at) for one in waiting]
    save_judgements(world.session, environment, records)


def check_reference(world: World, verdict: str, at: datetime) -> None:
    (waiting,) = pending_references(world.session, world.environment)
    record = ReferenceVerdictRecord(waiting.reference_id, waiting.suite_id, verdict, "test 1", at)
    save_reference_verdicts(world.session, world.environment, [record])


def answer_again(world: World, verdict: str, at: datetime, conditions: dict[str, str] | None = None) -> None:
    run = world.run if conditions is None else save_run(world.session, RunRecord("other", "", conditions), now=at)
    save_completions(world.session, run, [completion(sample=1, code="print(6)")])
    judge(world, world.environment, verdict, at)


def list_without_the_round(world: World, at: datetime) -> None:
    for now in (NOW, at):
        note_listing(world.session, "judge", ["c0"], since=START, until=LATER, now=now)


def flag_and_clear(world: World, at: datetime) -> None:
    flag_problem(world.session, key_of(), "private", "kept back", by="maintainer", now=NOW)
    assert clear_flags(world.session, world.first, "private", now=at)


def compare(world: World, verdict: DuplicateVerdict, at: datetime) -> None:
    """The second problem came out a day later: the same as the first, it was public before."""
    save_problem(world.session, replace(SECOND, dates=(claim("2024-05-05"),)), now=NOW)
    save_pair(world.session, world.first, world.second, verdict, 0.9, "text", "alike", at)
    refresh_exposure(world.session, [world.first, world.second], now=at)


def sight(world: World, seen_at: datetime, at: datetime) -> None:
    save_sightings(world.session, [SightingRecord(key_of(), seen_at, "people", "on a forum")], now=at)


def measure_again(world: World, at: datetime) -> None:
    """Made tests that are the same, and turn out to be worth more."""
    sample = case("s", "1\n", "1\n", TestOrigin.SAMPLE)
    third = save_problem(world.session, problem("p3", suite=suite_of(sample)), now=NOW).problem_id
    base = base_suite_id(world.session, third)
    assert base is not None
    suite = suite_of(sample, case("made", "2\n", "2\n", TestOrigin.GENERATED))
    for strength, now in ((MadeStrength(n_wrong=1), NOW), (MadeStrength(n_wrong=1, n_wrong_killed=1), at)):
        save_made_suite(world.session, third, MadeSuiteRecord(suite, base, None, "r", 0, strength, {}), now=now)


Step = Callable[[World, datetime], object]
MOVES: dict[str, Step] = {
    "a problem": lambda w, at: save_problem(w.session, problem("p3"), now=at),
    "another statement": lambda w, at: save_problem(w.session, replace(FIRST, statement="Add them."), now=at),
    "other tests": lambda w, at: save_problem(w.session, replace(FIRST, suite=suite_of(case("1", "1", "1"))), now=at),
    "a date of another source": lambda w, at: save_problem(
        w.session, replace(FIRST, source="b", dates=(claim(source="b"),)), now=at
    ),
    "a round that dates no more": lambda w, at: save_contest(
        w.session, round_(ContestKind.VIRTUAL), source="judge", now=at
    ),
    "a start that moved": lambda w, at: save_contest(
        w.session, round_(start=START + timedelta(hours=1)), source="judge", now=at
    ),
    "a flag": lambda w, at: flag_problem(w.session, key_of(), "private", "kept back", by="maintainer", now=at),
    "a flag that is taken off": flag_and_clear,
    "a round that is listed no more": list_without_the_round,
    "the same problem, public before": lambda w, at: compare(w, DuplicateVerdict.SAME, at),
    "a sighting before the release": lambda w, at: sight(w, START - timedelta(days=1), at),
    "a run": lambda w, at: save_run(w.session, RunRecord("other"), now=at),
    "an answer": lambda w, at: save_responses(
        w.session, w.run, [replace(response(w.first, sample=1), requested_at=at)]
    ),
    "a verdict": lambda w, at: answer_again(w, "wrong_answer", at),
    "a reference that fails": lambda w, at: check_reference(w, "wrong_answer", at),
    "made tests measured anew": measure_again,
}
STANDS: dict[str, Step] = {
    "the same problem again": lambda w, at: save_problem(w.session, FIRST, now=at),
    "a translation": lambda w, at: save_problem(w.session, replace(FIRST, translations=(("ja", "足す"),)), now=at),
    "fewer tests than there are": lambda w, at: save_problem(
        w.session, replace(FIRST, suite=suite_of(case("1", "1", "1", TestOrigin.SAMPLE))), now=at
    ),
    "a round without problems": lambda w, at: save_contest(
        w.session, replace(round_(), native_id="c9"), source="judge", now=at
    ),
    "the same start from another source": lambda w, at: save_contest(w.session, round_(), source="page", now=at),
    "a round that one listing lacks": lambda w, at: note_listing(
        w.session, "judge", ["c0"], since=START, until=LATER, now=at
    ),
    "problems that read alike": lambda w, at: compare(w, DuplicateVerdict.RELATED, at),
    "a sighting after the release": lambda w, at: sight(w, START + timedelta(days=9), at),
    "a run of another scenario": lambda w, at: answer_again(w, "accepted", at, {"scenario": "self_repair"}),
    "answers that were set aside": lambda w, at: answer_again(w, "accepted", at, {OLDER: "1"}),
    "an internal error": lambda w, at: answer_again(w, "internal_error", at),
    "a request that failed": lambda w, at: save_failures(
        w.session, w.run, [FailureRecord(Place(w.second), at, "timeout", "no answer")]
    ),
    "a reference that is accepted": lambda w, at: check_reference(w, "accepted", at),
    "an environment": lambda w, at: save_environment(w.session, EnvironmentRecord("new", "docker"), now=at),
    "verdicts of another grader": lambda w, at: judge(
        w,
        save_environment(w.session, EnvironmentRecord("lcb", "docker", {"grader": "lcb"}), now=at),
        "wrong_answer",
        at,
    ),
    "a night of collecting": lambda w, at: start_run(w.session, "judge", "me", at, at),
    "an edition": lambda w, at: save_edition(w.session, "a", digest_of(BODY), BODY, now=at),
}


def test_an_empty_store_has_no_last_change(store: Store) -> None:
    with store.read() as session:
        assert last_change(session) is None


@pytest.mark.parametrize("step", MOVES.values(), ids=MOVES)
def test_what_an_edition_can_show_moves_its_instant(store: Store, step: Step) -> None:
    with store.write() as session:
        world = world_of(session)
        assert last_change(session) == LATER
        step(world, AFTER)
        assert last_change(session) == AFTER


@pytest.mark.parametrize("step", STANDS.values(), ids=STANDS)
def test_what_no_edition_shows_leaves_its_instant(store: Store, step: Step) -> None:
    with store.write() as session:
        world = world_of(session)
        before = everything(session)
        step(world, AFTER)
        assert everything(session) != before
        assert last_change(session) == LATER


def everything(session: Session) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables."""
    tables = Base.metadata.tables.items()
    return {name: [tuple(row) for row in session.execute(select(table))] for name, table in tables}


def test_tests_that_hold_again_bring_their_instant_back(store: Store) -> None:
    other = replace(FIRST, suite=suite_of(case("1", "1", "1")))
    with store.write() as session:
        save_problem(session, FIRST, now=NOW)
        save_problem(session, other, now=LATER)
        assert last_change(session) == LATER
        save_problem(session, FIRST, now=AFTER)
        assert last_change(session) == NOW


def test_verdicts_count_in_the_environment_that_is_asked_for(store: Store) -> None:
    with store.write() as session:
        world = world_of(session)
        newer = save_environment(session, EnvironmentRecord("new", "docker"), now=NOW)
        judge(world, newer, "accepted", AFTER)
        assert last_change(session) == AFTER
        assert last_change(session, environment_id=newer) == AFTER
        assert last_change(session, environment_id=world.environment) == LATER
