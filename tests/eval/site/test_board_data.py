"""The data of the start page: what is written is what the edition holds, in the form that is documented."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from db.records import TestOrigin
from eval.editions.document import Edition, EditionSettings, RankedWindow, RankRange
from eval.editions.parts import public_part
from eval.site.board_data import ALPHABET, COMMON_REASONS, board_script, filter_values, settings_groups
from eval.statistics.intervals import t_quantile
from eval.window import ProblemFacts
from tests.eval.editions.built import HOSTILE, PRIVATE_ID, edition_problem, edition_run, invented, published
from tests.eval.facts import model, registry, utc
from tests.eval.site.odd_boards import SCRIPT, Shape, edition_of, odd_edition, published_of

PREFIX = b"window.LIVE_BOARD="


def data_of(edition: Edition) -> dict[str, Any]:
    script = board_script(published_of(edition))
    assert script.startswith(PREFIX)
    assert script.endswith(b";\n")
    data: dict[str, Any] = json.loads(script[len(PREFIX) : -2])
    return data


def column(data: dict[str, Any], text: str, n: int) -> list[int]:
    """A column as the module's docstring describes it, read anew."""
    if n == 0:
        assert text == ""
        return []
    width = len(text) // n
    assert len(text) == width * n
    numbers = []
    for place in range(n):
        number = 0
        for mark in text[place * width : (place + 1) * width]:
            number = number * 88 + data["alphabet"].index(mark)
        numbers.append(number)
    return numbers


def written_origin(data: dict[str, Any], number: int) -> str | None:
    return data["origins"][number - 1] if number else None


def origin_of(facts: ProblemFacts) -> str | None:
    """Where the tests under a score come from, by the facts."""
    if facts.samples_only or not facts.n_tests:
        return None
    words = {TestOrigin.OFFICIAL: "official", TestOrigin.GENERATED: "made", TestOrigin.RECOVERED: "recovered"}
    return {0: "not recorded", 1: words.get(next(iter(facts.hidden_origins), TestOrigin.SAMPLE))}.get(
        len(facts.hidden_origins), "of several origins"
    )


def as_ms(instant: datetime) -> float:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1)


@pytest.mark.parametrize("seed", range(3))
def test_everything_can_be_read_back(seed: int) -> None:
    edition = odd_edition(Shape(seed, 150, 2))
    data = data_of(edition)
    n = data["n_problems"]
    assert n == len(edition.problems)
    names = ("time", "platform", "difficulty", "contest", "tests")
    columns = {name: column(data, data["problems"][name], n) for name in names}
    ends = dict(data["ends"])
    clusters: dict[str, int] = {}
    for place, one in enumerate(edition.problems):
        facts = one.facts
        assert data["platforms"][columns["platform"][place]].casefold() == facts.platform.casefold()
        named = data["difficulties"][columns["difficulty"][place]]
        assert named.casefold() == (facts.difficulty or "unknown").casefold()
        assert columns["contest"][place] == clusters.setdefault(facts.cluster, len(clusters))
        time = columns["time"][place] - 1
        if facts.exposed_at is None or facts.exposed_before is None:
            assert time == -1
        else:
            assert data["times"][time] == as_ms(facts.exposed_at)
            assert ends.get(time, data["times"][time]) == as_ms(facts.exposed_before)
        assert (place in data["problems"]["untested"]) == (facts.n_tests == 0)
        assert (place in data["problems"]["samples_only"]) == facts.samples_only
        assert written_origin(data, columns["tests"][place]) == origin_of(facts)
        strength = facts.strength
        made = None if strength is None or not strength.n_wrong else [strength.n_wrong, strength.n_wrong_killed]
        assert {at: counts for at, *counts in data["problems"]["made"]}.get(place) == made
    for run, written in zip(edition.runs, data["runs"], strict=True):
        codes = column(data, written["results"], n)
        found = {place: tuple(data["codes"][code - 1]) for place, code in enumerate(codes) if code}
        assert found == dict(zip(run.problems, zip(run.n_samples, run.n_correct, strict=True), strict=True))
        rare = {one.problem: [one.n_waiting, one.n_internal, one.n_older, one.n_failed] for one in run.rare}
        assert dict(written["rare"]) == {place: counts for place, counts in rare.items() if any(counts)}
        assert written["name"] == run.name
    assert data["t"] == [None, *(t_quantile(df) for df in range(1, len(clusters)))]


def test_more_pairs_than_marks_take_two_marks_each() -> None:
    results = [(place, 100 + place, place) for place in range(200)]
    problems = [edition_problem(place) for place in range(200)]
    data = data_of(edition_of(problems, [edition_run("m", results)], registry(model("m"))))
    codes = column(data, data["runs"][0]["results"], 200)
    assert [data["codes"][code - 1] for code in codes] == [[n, c] for _, n, c in results]


def test_ranks_are_written_run_by_run() -> None:
    runs = [edition_run(name, [(0, 1, 1)]) for name in ("a", "b")]
    ranks = (RankRange("b", 1, 1, 1, 2, 1),)
    windows = (RankedWindow(utc("2024-01-01"), utc("2024-03-01"), ranks), RankedWindow(utc("2024-02-01"), None, ranks))
    data = data_of(edition_of([edition_problem(0)], runs, registry(model("a"), model("b")), ranked=windows))
    assert [one[:2] for one in data["ranked"]] == [[1704067200000, 1709251200000], [1706745600000, None]]
    assert column(data, data["ranked"][0][2], 10) == [0, 0, 0, 0, 0, 1, 1, 1, 2, 1]


def test_reasons_begin_with_those_that_the_script_counts_on() -> None:
    flags = (("bad_tests", "two right programs fail"), ("own", "mine"))
    problems = [edition_problem(0, flags=flags[:1]), edition_problem(1, flags=flags[1:]), edition_problem(2)]
    edition = edition_of(problems, [], registry(model("m")))
    data = data_of(edition)
    assert data["reasons"] == [*map(str, COMMON_REASONS), "bad tests", "flagged: own"]
    assert data["problems"]["kept_out"] == [[0, 11], [1, 12]]
    flagged = replace(edition, settings=EditionSettings(include_flagged=True))
    assert data_of(flagged)["problems"]["kept_out"] == []


def test_an_edition_that_counts_samples_marks_none_of_them() -> None:
    problems = [edition_problem(0, samples_only=True), edition_problem(1)]
    edition = edition_of(problems, [edition_run("m", [(0, 1, 1)])], registry(model("m")))
    now, old = data_of(edition), data_of(replace(edition, format=1))
    assert [one["problems"]["samples_only"] for one in (now, old)] == [[0], []]
    told = [[written_origin(one, at) for at in column(one, one["problems"]["tests"], 2)] for one in (now, old)]
    assert told == [[None, "not recorded"], ["samples alone", "not recorded"]]
    assert "sample tests alone count" in old["commands"]["basis"]
    assert "sample" not in now["commands"]["basis"]


def test_cut_offs_come_with_the_margin_and_with_why_there_is_none() -> None:
    models = registry(model("known", "2023-10"), model("unknown", None))
    runs = [edition_run(name, [(0, 1, 1)]) for name in ("known", "unknown")]
    edition = edition_of([edition_problem(0)], runs, models, EditionSettings(margin_hours=12))
    known, unknown = data_of(edition)["runs"]
    # 2023-10 ends at UTC-12: the first instant after it is 2023-11-01T12:00Z.
    assert (known["after"], known["start"]) == (as_ms(utc("2023-11-01T12:00")), as_ms(utc("2023-11-02")))
    assert (unknown["after"], unknown["start"]) == (None, None)
    assert known["refused"] is None
    assert "no cut-off" in unknown["refused"]


def test_commands_carry_what_the_edition_was_frozen_with() -> None:
    settings = EditionSettings(48, ("at coder",), ("hard",), include_flagged=True, across=("top p",), seed=7)
    commands = data_of(edition_of([], [], registry(model("m")), settings))["commands"]
    assert commands["own"] == "live eval --after-cutoff --margin 2d"
    assert commands["common"] == "live eval --table common --after-cutoff --margin 2d"
    assert commands["explicit"] == "live eval --table common"
    assert commands["tail"] == " --include-flagged --split public"
    assert commands["common_tail"] == " --across 'top p' --seed 7"
    assert (commands["platform"], commands["difficulty"]) == (["at coder"], ["hard"])
    hours = data_of(edition_of([], [], registry(model("m")), EditionSettings(36)))["commands"]
    assert hours["own"] == "live eval --after-cutoff --margin 36h"


def test_commands_name_the_models_of_the_edition_where_they_are_few() -> None:
    runs = [edition_run(name, [], model=name.split()[0], entry=name.split()[0]) for name in ("b", "a 1", "a 2")]
    runs += [edition_run("odd one", [], model="odd one's", entry=None)]
    commands = data_of(edition_of([], runs, registry(model("a"), model("b"))))["commands"]
    assert commands["models"] == """ a b 'odd one'"'"'s'"""
    assert commands["basis"] == "on the store as it was frozen"
    dashed = data_of(edition_of([], [edition_run("-x", [])], registry(model("-x"))))["commands"]
    assert dashed["models"] == " -- -x"
    for n, is_named in ((12, True), (13, False)):
        many = [edition_run(f"m{number:02}", []) for number in range(n)]
        commands = data_of(edition_of([], many, registry(*(model(one.name) for one in many))))["commands"]
        assert (commands["models"] != "") == is_named
        assert commands["basis"].endswith("as it was frozen" if is_named else "for the models of this edition alone")


def test_thresholds_and_their_sentences_are_those_of_the_command_line() -> None:
    data = data_of(edition_of([], [], registry(model("m"))))
    assert data["limits"] == {"models": 5, "common": 30, "failed": 0.05}
    assert data["few"][0] == "no problem of the window has a result of every run"
    assert data["few"][1:] == [f"fewer than 10 problems ({n}): read it as a list, not as a rate" for n in range(1, 10)]


def test_private_problems_leave_no_trace() -> None:
    frozen = invented()
    assert PRIVATE_ID.encode() not in board_script(published(frozen))
    whole = board_script(replace(published(frozen), edition=frozen.edition))
    assert whole == board_script(published(frozen))
    assert public_part(frozen.edition).problems != frozen.edition.problems


def test_problems_that_the_edition_leaves_out_are_not_there() -> None:
    problems = [edition_problem(place, platform=("atcoder", "leetcode")[place % 2]) for place in range(4)]
    runs = [edition_run("m", [(place, 10, place) for place in range(4)])]
    data = data_of(edition_of(problems, runs, registry(model("m")), EditionSettings(platforms=("leetcode",))))
    assert data["platforms"] == ["leetcode"]
    assert [data["codes"][code - 1] for code in column(data, data["runs"][0]["results"], 2)] == [[10, 1], [10, 3]]


@pytest.mark.parametrize("site", [published_of(odd_edition(Shape(0, 60, 2))), published(invented())])
def test_hostile_text_cannot_leave_its_string(site: Any) -> None:
    script = board_script(site)
    assert script.isascii()
    assert not set(b"<>&\x7f") & set(script)
    assert script.count(b"\n") == 1
    names = {one["name"] for one in json.loads(script[len(PREFIX) : -2])["runs"]}
    assert names & {SCRIPT, HOSTILE}
    assert len(ALPHABET) == 88
    assert not set(ALPHABET) & set("\"'\\<>& \x7f")


def test_the_same_edition_gives_the_same_bytes(root: Path) -> None:
    code = (
        "from tests.eval.site.odd_boards import *\nfrom eval.site.board_data import board_script\n"
        "import sys\nsys.stdout.buffer.write(board_script(published_of(odd_edition(Shape(1, 80, 2)))))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert outputs == {board_script(published_of(odd_edition(Shape(1, 80, 2))))}


def test_filters_are_in_the_order_in_which_people_read_them() -> None:
    labels = ["1600", "hard", None, "Easy", "easy", "900", "brutal", "medium"]
    problems = [
        edition_problem(place, difficulty=label, platform="bB"[place % 2]) for place, label in enumerate(labels)
    ]
    values = filter_values(edition_of(problems, [], registry(model("m"))))
    assert values.platforms == ("B",)
    assert values.difficulties == ("Easy", "medium", "hard", "900", "1600", "brutal", "unknown")


def test_runs_under_equal_settings_belong_together() -> None:
    runs = [
        edition_run("a", [(0, 1, 1)], conditions={"temperature": 0}),
        edition_run("b", [(0, 1, 1)], conditions={"temperature": 1}),
        edition_run("c", [(0, 1, 1)], conditions={"temperature": 0, "asked_as": "c-latest"}),
    ]
    models = registry(*(model(name) for name in "abc"))
    groups = settings_groups(edition_of([edition_problem(0)], runs, models))
    assert [(group.label, group.runs) for group in groups] == [("temperature 0", ("a", "c")), ("temperature 1", ("b",))]
    together = settings_groups(edition_of([edition_problem(0)], runs, models, EditionSettings(across=("temperature",))))
    assert [(group.label, group.runs) for group in together] == [("", ("a", "b", "c"))]


def test_a_board_without_problems_or_runs_has_data() -> None:
    data = data_of(edition_of([], [], registry(model("m"))))
    assert (data["n_problems"], data["runs"], data["times"], data["t"]) == (0, [], [], [None])
