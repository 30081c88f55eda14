"""Finding near-duplicates among problems, and keeping the store's pairs up to date through edits and interruptions."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from db.duplicates import HAND, TWIN, DuplicatePair, DuplicateVerdict, list_pairs, save_pair
from db.engine import Store, open_store
from db.leases import find_lease, take_lease
from db.problems import list_problems, save_problem
from db.records import (
    ContestRecord,
    DateClaim,
    Precision,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from ingest import duplicates
from ingest.duplicates import LEASE, LEASE_TTL, DuplicateReport, update_duplicates, update_in_turn
from tests.ingest.reading import DATA

STATEMENTS = DATA / "duplicates"
SAME, RELATED, DIFFERENT = DuplicateVerdict.SAME, DuplicateVerdict.RELATED, DuplicateVerdict.DIFFERENT
NOW = datetime(2026, 6, 1, 3, 17, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
ORCHARD = ("orchard", "orchard-least", "orchard-ring", "orchard-wrapped")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "store.db")) as opened:
        yield opened


def statement(name: str) -> str:
    return next(STATEMENTS.glob(f"{name}.*")).read_text(encoding="utf-8")


def unlike(number: int) -> str:
    """A statement of its own: fifty words drawn by its number."""
    draw = random.Random(number)
    return " ".join(draw.choice("abcdefghij") * 2 + str(draw.randrange(1000)) for _ in range(50))


def record(
    native_id: str,
    text: str,
    *,
    day: int = 1,
    contest: str | None = None,
    samples: tuple[tuple[str, str], ...] = (("1\n", "2\n"),),
    platform: str = "judge",
) -> ProblemRecord:
    """A problem that came out on that day of May 2026, in a round of its own unless one is named."""
    start = datetime(2026, 5, day, 12, tzinfo=UTC)
    round_id = contest or f"round-of-{native_id}"
    tests = tuple(
        TestCaseRecord(str(number), given.encode(), expected.encode(), TestOrigin.SAMPLE)
        for number, (given, expected) in enumerate(samples)
    )
    return ProblemRecord(
        key=ProblemKey(platform, native_id),
        title=f"Title of {native_id}",
        dates=(DateClaim(start.isoformat(), start, Precision.INSTANT, "list", round_id),),
        source="list",
        contest=ContestRecord(platform, round_id, starts_at=start),
        statement=text,
        suite=SuiteRecord(tests) if tests else None,
    )


def save(store: Store, *records: ProblemRecord, now: datetime = NOW) -> None:
    with store.write() as session:
        for one in records:
            save_problem(session, one, now=now)


def stored(store: Store) -> list[DuplicatePair]:
    with store.read() as session:
        return list_pairs(session)


def verdicts(store: Store) -> dict[tuple[str, str], DuplicateVerdict]:
    return {(pair.first.native_id, pair.second.native_id): pair.verdict for pair in stored(store)}


def exposed(store: Store) -> dict[str, datetime | None]:
    with store.read() as session:
        return {problem.key.native_id: problem.exposed_at for problem in list_problems(session)}


def counts(report: DuplicateReport) -> tuple[int, int, int, int]:
    return report.n_compared, report.pairs[SAME], report.pairs[RELATED], report.pairs[DIFFERENT]


def test_only_the_statement_with_other_white_space_is_merged(store: Store) -> None:
    save(store, *(record(name, statement(name), day=day) for day, name in enumerate(ORCHARD, start=1)))
    update_duplicates(store, now=NOW)
    assert verdicts(store) == {
        ("orchard", "orchard-least"): RELATED,
        ("orchard", "orchard-ring"): RELATED,
        ("orchard", "orchard-wrapped"): SAME,
        ("orchard-least", "orchard-ring"): RELATED,
        ("orchard-least", "orchard-wrapped"): RELATED,
        ("orchard-ring", "orchard-wrapped"): RELATED,
    }


def test_a_new_statement_is_compared_with_all_that_are_known(store: Store) -> None:
    save(store, *(record(f"p{number}", unlike(number), day=number % 28 + 1) for number in range(50)))
    assert counts(update_duplicates(store, now=NOW)) == (50, 0, 0, 0)
    save(store, record("copy", unlike(30), day=29), record("own", unlike(62), day=30))
    assert counts(update_duplicates(store, now=LATER)) == (2, 1, 0, 0)
    assert verdicts(store) == {("p30", "copy"): SAME}


def test_a_copy_on_another_platform_lowers_the_date_of_the_later_problem(store: Store) -> None:
    save(store, record("new", statement("lanterns"), day=9), record("unlike", unlike(1)))
    assert counts(update_duplicates(store, now=NOW)) == (2, 0, 0, 0)
    save(store, record("old", (STATEMENTS / "lanterns.tex").read_text(), day=2, platform="packages"))
    report = update_duplicates(store, now=LATER)
    assert counts(report) == (1, 1, 0, 0)
    reason = "The statements are the same word for word (116 words), and their samples are equal."
    assert report.lines == (f"judge:new and packages:old: same. {reason}",)
    (pair,) = stored(store)
    assert (pair.verdict, pair.similarity, pair.reason, pair.found_at) == (SAME, 1.0, reason, LATER)
    assert exposed(store) == {
        "new": datetime(2026, 5, 2, 12, tzinfo=UTC),
        "old": datetime(2026, 5, 2, 12, tzinfo=UTC),
        "unlike": datetime(2026, 5, 1, 12, tzinfo=UTC),
    }


def test_a_second_run_changes_nothing(store: Store, tmp_path: Path) -> None:
    save(store, *(record(name, statement(name), day=day) for day, name in enumerate(ORCHARD, start=1)))
    assert counts(update_duplicates(store, now=NOW)) == (4, 1, 5, 0)
    before = stored(store)
    assert counts(update_duplicates(store, now=LATER)) == (0, 0, 0, 0)
    with open_store(str(tmp_path / "store.db")) as reopened:
        assert update_duplicates(reopened, now=LATER).lines == ()
        assert stored(reopened) == before


def test_problems_of_one_round_are_never_merged(store: Store) -> None:
    save(store, *(record(name, statement("orchard"), contest="round-1") for name in ("d1", "d2")))
    assert counts(update_duplicates(store, now=NOW)) == (2, 0, 1, 0)
    assert stored(store)[0].reason == "100% of the text is shared, but both belong to one contest."


def test_an_edited_statement_is_compared_anew(store: Store) -> None:
    save(store, record("one", statement("orchard"), day=1), record("two", statement("orchard"), day=5))
    update_duplicates(store, now=NOW)
    assert verdicts(store) == {("one", "two"): SAME}
    assert exposed(store)["two"] == datetime(2026, 5, 1, 12, tzinfo=UTC)
    save(store, record("two", unlike(2), day=5), record("three", unlike(2), day=4), now=LATER)
    assert counts(update_duplicates(store, now=LATER)) == (2, 1, 0, 0)
    assert verdicts(store) == {("one", "two"): SAME, ("two", "three"): SAME}
    assert exposed(store)["two"] == datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("edited", ["one", "two"])
def test_problems_that_were_the_same_remain_it_when_one_is_translated(store: Store, edited: str) -> None:
    japanese, english = statement("ferry.ja"), statement("ferry.en")
    save(store, record("one", japanese, day=1), record("two", japanese, day=5))
    update_duplicates(store, now=NOW)
    before = stored(store)
    assert [pair.verdict for pair in before] == [SAME]
    save(store, record(edited, english, day=1 if edited == "one" else 5), now=LATER)
    for _ in range(2):
        report = update_duplicates(store, now=LATER)
        assert (report.lines, stored(store)) == ((), before)
    assert exposed(store)["two"] == datetime(2026, 5, 1, 12, tzinfo=UTC)
    with store.write() as session:
        save_pair(session, 1, 2, DIFFERENT, 0.0, HAND, "two tasks", LATER)
    assert update_duplicates(store, now=LATER).lines == ()
    assert verdicts(store) == {("one", "two"): DIFFERENT}


def test_what_is_not_the_same_is_judged_anew_either_way(store: Store) -> None:
    words = unlike(1).split()
    save(store, record("one", unlike(1), day=1), record("two", " ".join([*words[:-1], "changed"]), day=5, samples=()))
    update_duplicates(store, now=NOW)
    assert verdicts(store) == {("one", "two"): RELATED}
    save(store, record("two", unlike(2), day=5, samples=()), now=LATER)
    assert counts(update_duplicates(store, now=LATER)) == (1, 0, 0, 1)
    assert verdicts(store) == {("one", "two"): DIFFERENT}
    save(store, record("two", unlike(1), day=5, samples=()), now=LATER)
    assert counts(update_duplicates(store, now=LATER))[1:] == (1, 0, 0)
    assert exposed(store)["two"] == datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_twins_stay_as_the_collector_saved_them(store: Store) -> None:
    save(store, record("div1-a", statement("orchard"), day=1), record("div2-c", statement("orchard"), day=1))
    with store.write() as session:
        save_pair(session, 1, 2, SAME, 1.0, TWIN, "one task of two divisions", NOW)
    before = stored(store)
    for text in (statement("orchard-wrapped"), unlike(1)):
        save(store, record("div2-c", text, day=1), now=LATER)
        assert counts(update_duplicates(store, now=LATER))[1:] == (0, 0, 0)
        assert stored(store) == before


def test_samples_that_come_later_change_the_verdict(store: Store) -> None:
    one = record("one", unlike(1), day=1)
    reworded = " ".join([*unlike(1).split()[:-1], "changed"])
    save(store, one, record("two", reworded, day=5, samples=()))
    update_duplicates(store, now=NOW)
    assert verdicts(store) == {("one", "two"): RELATED}
    save(store, record("two", reworded, day=5))
    assert counts(update_duplicates(store, now=LATER)) == (0, 1, 0, 0)
    assert exposed(store)["two"] == datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_what_a_person_judged_stays(store: Store) -> None:
    save(store, *(record(name, statement("orchard"), day=day) for day, name in enumerate(("a", "b", "c"), start=1)))
    with store.write() as session:
        save_pair(session, 1, 2, DIFFERENT, 1.0, HAND, "two tasks with one story", NOW)
    assert counts(update_duplicates(store, now=NOW)) == (3, 2, 0, 0)
    with store.write() as session:
        save_pair(session, 2, 3, RELATED, 1.0, HAND, "not sure", NOW)
    assert counts(update_duplicates(store, now=LATER)) == (0, 0, 0, 0)
    assert verdicts(store) == {("a", "b"): DIFFERENT, ("a", "c"): SAME, ("b", "c"): RELATED}


def test_an_interrupted_run_is_taken_up_where_it_stopped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{name}-{copy}" for copy in "xy" for name in ORCHARD]
    save(store, *(record(one, statement(one[:-2]), day=day) for day, one in enumerate(names, start=1)))
    monkeypatch.setattr(duplicates, "BATCH", 3)
    calls = 0

    def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 8:  # 3 pairs in the first batch of three, 12 in the second
            raise KeyboardInterrupt
        return save_pair(*arguments)

    monkeypatch.setattr(duplicates, "save_pair", interrupted)
    with pytest.raises(KeyboardInterrupt):
        update_duplicates(store, now=NOW)
    assert len(stored(store)) == 3
    monkeypatch.setattr(duplicates, "save_pair", save_pair)
    report = update_duplicates(store, now=NOW)
    # wrapped or not, the orchard is there four times, which makes 6 of the 28 pairs; the others have a copy each
    assert report.n_compared == 5
    assert sorted(verdicts(store).values()).count(SAME) == 8
    assert len(stored(store)) == 28
    assert counts(update_duplicates(store, now=LATER)) == (0, 0, 0, 0)


def test_two_runs_at_once_find_what_one_finds(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "BATCH", 2)
    names = [f"{name}-{copy}" for copy in "wxyz" for name in ORCHARD]
    save(store, *(record(one, statement(one[:-2]), day=day) for day, one in enumerate(names, start=1)))
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda now: update_duplicates(store, now=now), [NOW, LATER]))
    assert sum(report.n_compared for report in reports) == 16
    assert len(stored(store)) == 16 * 15 // 2


class StopAfter(threading.Event):
    """An event that is set when it has been looked at so many times."""

    def __init__(self, n_looks: int) -> None:
        super().__init__()
        self.n_left = n_looks

    def is_set(self) -> bool:
        self.n_left -= 1
        return self.n_left < 0


def test_a_run_that_is_told_to_stop_ends_before_the_next_batch(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "BATCH", 2)
    save(store, *(record(name, statement(name), day=day) for day, name in enumerate(ORCHARD, start=1)))
    report = update_duplicates(store, now=NOW, stop=StopAfter(1))
    assert (counts(report), len(stored(store))) == ((2, 0, 1, 0), 1)
    save(store, record("orchard", unlike(1)), now=LATER)
    # Nothing is judged anew either.
    assert counts(update_duplicates(store, now=LATER, stop=StopAfter(0))) == (0, 0, 0, 0)
    assert verdicts(store) == {("orchard", "orchard-least"): RELATED}
    assert counts(update_duplicates(store, now=LATER))[:1] == (3,)


def test_a_run_in_turn_is_left_to_who_is_at_it(store: Store) -> None:
    save(store, record("one", statement("orchard"), day=1), record("two", statement("orchard"), day=5))
    with store.write() as session:
        take_lease(session, LEASE, "elsewhere:7:ff", NOW, LEASE_TTL)
    assert update_in_turn(store, clock=lambda: NOW) is None
    assert stored(store) == []
    report = update_in_turn(store, clock=lambda: NOW + LEASE_TTL)  # whoever it was shows no sign of life
    assert report is not None
    assert counts(report) == (2, 1, 0, 0)
    with store.read() as session:
        assert find_lease(session, LEASE) is None


def test_what_is_saved_by_one_who_was_sent_away_is_compared_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(store, record("one", statement("orchard"), day=1))
    update = duplicates._update
    refused: list[DuplicateReport | None] = []

    def overtaken(*arguments: Any) -> None:
        update(*arguments)
        if not refused:
            save(store, record("two", statement("orchard"), day=5))
            refused.append(update_in_turn(store, clock=lambda: NOW))

    monkeypatch.setattr(duplicates, "_update", overtaken)
    report = update_in_turn(store, clock=lambda: NOW)
    assert refused == [None]
    assert report is not None
    assert counts(report) == (2, 1, 0, 0)


def test_a_turn_that_fails_or_is_stopped_gives_the_lease_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    save(store, record("one", statement("orchard")))
    stopped = update_in_turn(store, clock=lambda: NOW, stop=StopAfter(1))
    assert stopped is not None
    assert stopped.n_compared == 0

    def fail(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(duplicates, "save_fingerprints", fail)
        with pytest.raises(KeyboardInterrupt):
            update_in_turn(store, clock=lambda: NOW)
    report = update_in_turn(store, clock=lambda: NOW)
    assert report is not None
    assert report.n_compared == 1


def test_another_kind_of_fingerprint_makes_all_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    save(store, record("one", statement("orchard")), record("two", unlike(1)))
    assert update_duplicates(store, now=NOW).n_compared == 2
    monkeypatch.setattr(duplicates, "KIND", "words2")
    assert update_duplicates(store, now=NOW).n_compared == 2
    assert update_duplicates(store, now=NOW).n_compared == 0


def test_statements_that_say_too_little_are_counted_and_not_compared(store: Store) -> None:
    save(store, *(record(name, "See the PDF.", day=day) for day, name in enumerate(("a", "b"), start=1)))
    save(store, record("empty", ""))
    report = update_duplicates(store, now=NOW)
    assert (counts(report), report.n_too_short) == ((0, 0, 0, 0), 2)


def test_a_notice_that_many_problems_share_is_no_statement(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "MAX_ALIKE", 3)
    save(store, *(record(f"p{number}", statement("orchard"), day=number) for number in range(1, 7)))
    report = update_duplicates(store, now=NOW)
    assert counts(report) == (6, 6, 0, 0)
    assert report.lines[-2:] == (
        "judge:p5: not compared, for 4 problems have such a statement",
        "judge:p6: not compared, for 5 problems have such a statement",
    )


def test_a_naive_now_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="now must be an aware UTC datetime"):
        update_duplicates(store, now=datetime(2026, 6, 1))
