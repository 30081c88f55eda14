"""Codeforces over its API's answers: contests, their dates and problems, and what is said of answers that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from db.records import ContestKind, ContestRecord
from ingest.errors import Absent, FetchError, PageChanged, SourceError, Unreachable
from ingest.pages import Page
from ingest.sources import ProblemRef
from tests.ingest.codeforces_site import (
    LIST,
    NOW,
    RATINGS,
    ROOT,
    ROUND,
    SOURCE,
    STANDINGS,
    START,
    WANTED,
    WHOLE,
    Site,
    data,
    edited,
)

# The list of contests


def test_the_window_is_half_open_and_twins_start_together() -> None:
    listing = SOURCE.discover(Site({LIST: "contest_list.json", RATINGS: "ratings.json"}), WANTED)
    assert [contest.native_id for contest in listing.contests] == ["9007", "9006", "9005", "9001", "9002", "190301"]
    first, second = (contest for contest in listing.contests if contest.native_id in ("9001", "9002"))
    assert first.starts_at == second.starts_at == START
    assert first.url == f"{ROOT}/contest/9001"
    assert listing.is_complete
    until = SOURCE.discover(Site({LIST: "contest_list.json", RATINGS: "ratings.json"}), replace(WANTED, until=START))
    assert [contest.native_id for contest in until.contests] == ["9006", "190301"]
    since = SOURCE.discover(Site({LIST: "contest_list.json", RATINGS: "ratings.json"}), replace(WANTED, since=START))
    assert "9001" in [contest.native_id for contest in since.contests]


def test_a_contest_has_ended_when_the_api_calls_it_finished_and_not_when_its_time_is_over() -> None:
    listing = SOURCE.discover(Site({LIST: "contest_list.json", RATINGS: "ratings.json"}), WANTED)
    assert {contest.native_id: contest.ends_at for contest in listing.contests} == {
        "9007": None,
        "9006": None,
        "9005": None,  # over since 14:35 + 2 h of the day before, and its hacks or system tests are not
        "9001": START + timedelta(seconds=9000),
        "9002": START + timedelta(seconds=9000),
        "190301": datetime(2026, 3, 2, 11, 13, 20, tzinfo=UTC) + timedelta(hours=5),
    }


def test_names_stay_as_they_are_and_the_gym_dates_nothing() -> None:
    listing = SOURCE.discover(Site({LIST: "contest_list.json", RATINGS: "ratings.json"}), WANTED)
    contests = {contest.native_id: contest for contest in listing.contests}
    assert contests["9007"].title == "Codeforces Round (Div. 2)"
    assert contests["9007"].kind is ContestKind.ROUND
    assert contests["190301"].kind is ContestKind.TRAINING
    assert contests["190301"].url == f"{ROOT}/gym/190301"


def test_everything_is_counted_before_anything_is_left_out() -> None:
    listing = SOURCE.discover(Site({LIST: "contest_list.json", RATINGS: "ratings.json"}), WANTED)
    assert listing.seen == {
        "type CF": 5,
        "type ICPC": 2,
        "type IOI": 1,
        "phase FINISHED": 4,
        "phase BEFORE": 2,
        "phase CODING": 1,
        "phase PENDING_SYSTEM_TEST": 1,
    }
    assert listing.notes == ("left out, without a start: 9004 (Round Without a Date)",)


def test_ratings_are_by_problem_and_are_asked_for_once() -> None:
    site = Site({LIST: "contest_list.json", RATINGS: "ratings.json"})
    assert SOURCE.discover(site, WANTED).difficulties == {"9001A": "1800", "8000C1": "2400"}
    assert [request.url for request in site.asked] == [LIST, RATINGS]
    assert all(request.accept == (400,) for request in site.asked)


@pytest.mark.parametrize(
    "odd",
    [
        {"contestId": 9001, "index": ""},
        {"contestId": 9001, "index": "A\0"},
        {"contestId": 9001, "index": "A\ud800"},
        {"contestId": None, "index": "A"},
        {"contestId": 9001, "index": ["A"]},
        {"contestId": 9001, "index": "C", "rating": "1800\0"},
        7,
    ],
)
def test_an_odd_problem_costs_no_other_rating(odd: object) -> None:
    answer = json.loads(data("ratings.json"))
    problem = {"rating": 1500} | odd if isinstance(odd, dict) else odd
    answer["result"]["problems"].append(problem)
    found = SOURCE.discover(Site({LIST: "contest_list.json", RATINGS: json.dumps(answer).encode()}), WANTED)
    assert found.difficulties == {"9001A": "1800", "8000C1": "2400"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Unreachable("no connection"), "no connection"),
        (b"<html>busy</html>", "is an HTML page, not JSON"),
        (b'{"status": "OK", "result": {"problems": []}}', "has an empty 'result.problems'"),
        (b'{"status": "OK", "result": {"problems": [{"id": 1}]}}', "'contestId', 'index' and 'rating'"),
        (b'{"status": "OK", "result": []}', "has null for 'result.problems', not a list"),
    ],
)
def test_without_ratings_there_is_a_note_and_all_contests(answer: bytes | SourceError, said: str) -> None:
    listing = SOURCE.discover(Site({LIST: "contest_list.json", RATINGS: answer}), WANTED)
    assert len(listing.contests) == 6
    assert listing.difficulties == {}
    assert listing.notes[-1].startswith("no ratings: ")
    assert said in listing.notes[-1]


def contests(*entries: Any) -> bytes:
    return json.dumps({"status": "OK", "result": list(entries)}).encode()


def entry(**changes: Any) -> dict[str, Any]:
    usual = {"id": 9101, "name": "Round", "type": "CF", "phase": "BEFORE", "durationSeconds": 7200}
    return usual | {"startTimeSeconds": 1772548500} | changes


def discover(*entries: Any) -> tuple[list[ContestRecord], bool, tuple[str, ...]]:
    """The contests, whether the list is complete, and the notes after what cannot be read."""
    listing = SOURCE.discover(Site({LIST: contests(*entries), RATINGS: "ratings.json"}), WANTED)
    return list(listing.contests), listing.is_complete, (*listing.unread, *listing.notes)


def test_each_listing_gives_the_start_and_the_name_of_its_day() -> None:
    starts = []
    for minute, phase in [(35, "BEFORE"), (45, "BEFORE"), (50, "BEFORE"), (50, "FINISHED")]:
        moved = datetime(2026, 3, 5, 14, minute, tzinfo=UTC)
        (contest,), _, _ = discover(entry(startTimeSeconds=int(moved.timestamp()), phase=phase, name=f"Round {minute}"))
        starts.append((contest.starts_at, contest.title))
        assert contest.has_ended(moved + timedelta(hours=2)) == (phase == "FINISHED")
    assert [start.minute for start, _ in starts if start] == [35, 45, 50, 50]
    assert starts[-1][1] == "Round 50"


def test_a_stored_contest_that_moved_out_of_the_window_is_listed_with_its_new_start() -> None:
    later = datetime(2026, 5, 5, 14, 35, tzinfo=UTC)
    entries = contests(entry(startTimeSeconds=int(later.timestamp())), entry(id=9102, startTimeSeconds=1262304000))
    site = Site({LIST: entries, RATINGS: "ratings.json"})
    assert SOURCE.discover(site, WANTED).contests == ()
    listing = SOURCE.discover(site, replace(WANTED, stored=frozenset({"9101"})))
    assert [(contest.native_id, contest.starts_at) for contest in listing.contests] == [("9101", later)]
    assert listing.known == {"9101", "9102"}


@pytest.mark.parametrize("start", [None, 0, -1, ""])
def test_no_start_is_no_date(start: object) -> None:
    found, is_complete, notes = discover(entry(startTimeSeconds=start), entry(id=9102))
    assert [contest.native_id for contest in found] == ["9102"]
    assert is_complete
    assert notes == ("left out, without a start: 9101 (Round)",)


def test_what_is_wrong_with_a_contest_outside_the_window_is_of_no_matter() -> None:
    odd = entry(id=9103, startTimeSeconds=1262304000, phase="FINISHED", durationSeconds=-5)
    found, is_complete, notes = discover(odd, entry(id=9102))
    assert [contest.native_id for contest in found] == ["9102"]
    assert is_complete
    assert notes == ()


def test_a_contest_without_a_readable_start_spoils_no_quiet_window() -> None:
    found, is_complete, (note,) = discover(entry(startTimeSeconds="soon"), entry(id=9102, startTimeSeconds=1262304000))
    assert (found, is_complete) == ([], False)
    assert "result[0]: 'soon' is not an epoch" in note


def test_of_many_contests_that_cannot_be_read_twenty_are_named() -> None:
    bad = [entry(id=number, startTimeSeconds="soon") for number in range(1, 24)]
    listing = SOURCE.discover(Site({LIST: contests(*bad, entry()), RATINGS: "ratings.json"}), WANTED)
    assert len(listing.unread) == 21
    assert listing.unread[0].startswith("result[0]: 'soon' is not an epoch (")
    assert listing.unread[0].endswith(" (contest 1)")
    assert listing.unread[20] == "and 3 more"
    assert listing.notes == ()


@pytest.mark.parametrize("odd", ["x" * 36, "\u00e9", "a\nb", "\ud800", "\x1b[31m"])
def test_counts_and_notes_can_always_be_printed(odd: str) -> None:
    undated = entry(id=9102, type=odd, phase=odd, name=odd, startTimeSeconds=None)
    listing = SOURCE.discover(Site({LIST: contests(undated, entry(type="x" * 35)), RATINGS: "ratings.json"}), WANTED)
    assert listing.seen == {"type other": 1, "phase other": 1, f"type {'x' * 35}": 1, "phase BEFORE": 1}
    assert all(note.isprintable() and note.encode() for note in listing.notes)


def test_a_note_shows_five_and_counts_the_rest() -> None:
    _, _, (note,) = discover(*(entry(id=number, startTimeSeconds=None) for number in range(1, 9)), entry())
    assert note.endswith("1 (Round), 2 (Round), 3 (Round), 4 (Round), 5 (Round) and 3 more")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("text", "result[0]: a text, not a contest"),
        (entry(id=None), "result[0]: 'id' is null, not a positive number"),
        (entry(id=True), "result[0]: 'id' is true or false, not a positive number"),
        (entry(id=0), "result[0]: 'id' is a number, not a positive number"),
        (entry(startTimeSeconds=1772548500000), "result[0]: 1772548500000 is not an epoch"),
        (entry(name="a\0b"), "result[0]: ContestRecord.title holds a NUL character"),
        (entry(startTimeSeconds="soon"), "result[0]: 'soon' is not an epoch"),
        (entry(phase="FINISHED", durationSeconds=None), "result[0]: 'durationSeconds' of contest 9101 is None"),
        (entry(phase="FINISHED", durationSeconds=-1), "result[0]: 'durationSeconds' of contest 9101 is -1"),
    ],
)
def test_a_contest_that_cannot_be_read_is_named_and_makes_the_listing_incomplete(bad: object, said: str) -> None:
    found, is_complete, (note,) = discover(bad, entry(id=9102))
    assert [contest.native_id for contest in found] == ["9102"]
    assert not is_complete
    assert note.startswith(said)
    with pytest.raises(PageChanged) as caught:
        discover(bad)
    assert "has no contest that can be read" in caught.value.message
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        ("challenge.html", PageChanged, "is an HTML page, not JSON"),
        (b"", PageChanged, "is not JSON"),
        (b'{"status": "OK", "result": []}', PageChanged, "has an empty 'result'"),
        (b'{"status": "OK"}', PageChanged, "has null for 'result', not a list"),
        (b'{"status": "OK", "result": {}}', PageChanged, "has an object for 'result', not a list"),
        (b'{"result": []}', PageChanged, "has no 'status' of OK or FAILED"),
        (b"[]", PageChanged, "has no 'status' of OK or FAILED"),
        (b'{"status": "FAILED", "comment": "Call limit exceeded"}', Unreachable, "FAILED: Call limit exceeded"),
        (b'{"status": "FAILED", "comment": "Something else"}', FetchError, "FAILED: Something else"),
        (b'{"status": "FAILED"}', FetchError, "FAILED: no comment"),
    ],
)
def test_no_list_is_an_error_and_never_an_empty_night(answer: str | bytes, kind: type[SourceError], said: str) -> None:
    with pytest.raises(SourceError) as caught:
        SOURCE.discover(Site({LIST: answer, RATINGS: "ratings.json"}), WANTED)
    assert type(caught.value) is kind
    assert caught.value.message.startswith(LIST)
    assert said in caught.value.message
    assert caught.value.hint
    assert caught.value.snapshot_id == 7


# A contest's problems


def test_the_standings_give_problems_and_dates_and_questions_are_left_out() -> None:
    bare = ContestRecord("codeforces", "9001")
    found = SOURCE.list_problems(Site({STANDINGS: "standings_9001.json"}), bare, WANTED)
    assert found.contest == replace(ROUND, url=f"{ROOT}/contest/9001")
    assert found.problems == (
        ProblemRef("9001A", "Lanterns in a Row", "A"),
        ProblemRef("9001B", "Is It a Ladder?", "B"),
        ProblemRef("9001C1", "Hidden Weight (Easy Version)", "C1"),
        ProblemRef("9001D", "Ledger", "D"),
    )
    assert found.notes == ("left out, as no program answers them: 9001Q (QUESTION)",)


def test_dates_that_the_standings_lack_stay_those_of_the_listing() -> None:
    answer = json.loads(data("standings_9001.json"))
    del answer["result"]["contest"]["startTimeSeconds"]
    found = SOURCE.list_problems(Site({STANDINGS: json.dumps(answer).encode()}), ROUND, WANTED)
    assert (found.contest.starts_at, found.contest.ends_at) == (ROUND.starts_at, ROUND.ends_at)


def test_a_contest_that_is_not_finished_in_its_standings_has_no_end() -> None:
    body = edited("standings_9001.json", ('"FINISHED"', '"SYSTEM_TEST"'))
    found = SOURCE.list_problems(Site({STANDINGS: body}), ROUND, WANTED)
    assert not found.contest.has_ended(NOW)


def test_a_contest_that_is_gone_is_absent() -> None:
    answer = b'{"status": "FAILED", "comment": "contestId: Contest with id 9001 not found"}'
    site = Site({STANDINGS: answer})
    with pytest.raises(Absent) as caught:
        SOURCE.list_problems(site, ROUND, WANTED)
    assert caught.value.message == f"{STANDINGS} answers FAILED: contestId: Contest with id 9001 not found"
    assert site.asked[0].accept == (400,)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda result: result.update(problems=[]), "has an empty 'result.problems'"),
        (lambda result: result.pop("problems"), "has null for 'result.problems', not a list"),
        (lambda result: result["problems"][1].pop("index"), "has no 'index' and 'name' in 'result.problems[1]'"),
        (lambda result: result["problems"][1].update(name=" "), "has no 'index' and 'name' in 'result.problems[1]'"),
        (
            lambda result: result["problems"][1].update(index="B\ud800"),
            "has 'B\\ud800' for 'index' in 'result.problems[1]': it cannot be read",
        ),
        (lambda result: result["problems"].append(3), "has no 'index' and 'name' in 'result.problems[5]'"),
        (lambda result: result.pop("contest"), "has no contest in 'result.contest': null, not a contest"),
        (lambda result: result["contest"].update(id=9002), "is about contest 9002, not 9001"),
    ],
)
def test_standings_that_changed_name_the_field(change: Callable[[dict[str, Any]], object], said: str) -> None:
    answer = json.loads(data("standings_9001.json"))
    change(answer["result"])
    with pytest.raises(PageChanged) as caught:
        SOURCE.list_problems(Site({STANDINGS: json.dumps(answer).encode()}), ROUND, WANTED)
    assert said in caught.value.message


# The checks


def test_there_is_a_check_for_each_endpoint_that_takes_a_good_answer_and_no_bad_one() -> None:
    def renumbered(name: str) -> bytes:
        return data(name).replace(b"9001", b"1971").replace(b'problemindex="B"', b'problemindex="C"')

    answers = {
        "contest.list": data("contest_list.json"),
        "contest.standings": renumbered("standings_9001.json"),
        "problemset.problems": data("ratings.json"),
        "complete problem set": data("problems_9001.html"),
        "problem": renumbered(WHOLE).replace(b"B. Is", b"C. Is"),
    }
    assert [check.name for check in SOURCE.checks] == list(answers)
    for check in SOURCE.checks:
        assert check.request.url.startswith(f"{ROOT}/")
        check.read(Page(check.request.url, answers[check.name], NOW))
        with pytest.raises(PageChanged):
            check.read(Page(check.request.url, data("challenge.html"), NOW))


def test_the_source_says_what_it_is() -> None:
    assert SOURCE.twins
    (host,) = SOURCE.hosts
    assert (host.name, host.interval_s) == ("codeforces.com", 2.0)
    assert host.secret is not None
    assert host.secret.variable == "LIVE_CODEFORCES_COOKIE"
