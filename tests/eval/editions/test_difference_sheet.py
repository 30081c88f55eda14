"""What moved as a sheet: it says all, names no private problem in any form, and is safe with any text of the store."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from eval.editions.difference import Difference, difference
from eval.editions.difference_lines import N_SHOWN
from eval.editions.difference_sheet import difference_sheet
from eval.editions.document import EditionSettings, FrozenEdition, RareOutcome
from eval.editions.private_names import HIDDEN
from eval.sheets import Sheet, print_sheet, sheet_to_csv, sheet_to_json, sheet_to_markdown
from tests.eval.editions.built import HOSTILE, edition_problem, invented
from tests.eval.editions.moved import alice, changed, edited, problems_of, small, with_facts
from tests.eval.editions.random_editions import private_in_either, random_pair
from tests.eval.facts import model, registry


def as_text(sheet: Sheet, width: int = 150) -> str:
    out = io.StringIO()
    print_sheet(sheet, Console(file=out, width=width))
    return out.getvalue()


def all_forms(found: Difference) -> dict[str, str]:
    sheet = difference_sheet(found)
    return {
        "text": as_text(sheet),
        "md": sheet_to_markdown(sheet),
        "csv": sheet_to_csv(sheet),
        "json": sheet_to_json(sheet),
    }


def rows_of(found: Difference, title: str) -> list[tuple[Any, ...]]:
    return [row for table in difference_sheet(found).tables if table.title == title for row in table.rows]


def test_two_that_are_the_same() -> None:
    first = invented("one")
    sheet = difference_sheet(difference(first, replace(first, name="another")))
    assert sheet.tables == ()
    assert sheet.notes == ("both hold the same, to the byte",)
    assert sheet.title == "What moved from one to another"
    assert sheet.conditions[0].startswith("before: one, frozen 2025-05-03T09:00:30Z, data as of 2025-05-02T03:17:00Z")
    assert sheet.conditions[0].endswith("7 runs, 58 public problems and 2 private ones")


PLAIN = problems_of(12)
TWELVE = [1, 0, 1] * 4


def everything_moved() -> Difference:
    """Something of each kind."""
    models = (registry(model("alice", "2023-08"), model("zoe")), registry(model("alice", "2023-10")))
    zoe = replace(alice(TWELVE), name="zoe", model="zoe", entry="zoe")
    first = small([*PLAIN, edition_problem(12, native_id="gone")], [alice([*TWELVE, 1]), zoe], models[0], name="first")
    problems = edited(
        PLAIN,
        p1=with_facts(suite_digest="another"),
        p3=with_facts(exposed_at=None, difficulty="hard"),
        p4=with_facts(withdrawn=True),
        p5=with_facts(flags=(("bad_tests", "test 3"),)),
        p6=with_facts(flags=(("has_image", "a drawing"),)),
        p7=with_facts(flags=(("private", "held back"),)),
    )
    return difference(
        first,
        small(
            [*problems, edition_problem(12, native_id="new")],
            [alice([0, 1, *TWELVE[2:], 1], conditions={"temperature": 1.0})],
            models[1],
            name="second",
            settings=EditionSettings(margin_hours=24),
            note="a note",
        ),
    )


def test_every_kind_has_its_place() -> None:
    found = everything_moved()
    sheet = difference_sheet(found)
    assert [table.title for table in sheet.tables] == [
        "Scores in each run's own window",
        "Why the problems of a run changed",
        "Runs",
        "Conditions of runs",
        "Cut-offs",
        "Results",
        "Problems",
        "Tests",
        "Flags",
        "Dates from which problems may have been public",
        "Labels of difficulty",
        "What the tables were made with",
    ]
    assert rows_of(found, "Runs") == [("zoe", "gone without a word")]
    assert sheet.notes == ("gone without a word: zoe",)
    assert rows_of(found, "Cut-offs") == [
        (
            "alice",
            "2023-08 (stated, training data)",
            "2023-10 (stated, training data)",
            "2 months later",
            0,
            0,
            "https://example.org/cutoffs",
        )
    ]
    assert rows_of(found, "Flags") == [
        ("atcoder:p5", "bad_tests", "set", "keeps it out of scores", "test 3"),
        ("atcoder:p6", "has_image", "set", "only informs", "a drawing"),
    ]
    assert rows_of(found, "Dates from which problems may have been public") == [
        ("atcoder:p3", "2024-06-01T12:00:00Z (instant)", None)
    ]
    assert rows_of(found, "Problems") == [
        ("new", 1, "atcoder:new"),
        ("no longer there", 1, "atcoder:gone"),
        ("withdrawn", 1, "atcoder:p4"),
        ("flagged, or a flag taken off or reworded", 2, "atcoder:p5, atcoder:p6"),
        ("other tests: other tests of origin not recorded", 1, "atcoder:p1"),
        ("date moved", 1, "atcoder:p3"),
        ("other difficulty", 1, "atcoder:p3"),
        ("made private", 1, "not named"),
    ]
    # p0 on the same tests, p1 on others; p3 to p5 and p7 keep their results.
    assert rows_of(found, "Results") == [("alice", 11, 1, 1, 0, 0, 0, 0, 0)]
    assert ("settings", "margin_hours", "0.0", "24") in rows_of(found, "What the tables were made with")


def test_a_score_is_shown_with_its_parts_and_their_errors() -> None:
    first = small(PLAIN, [alice(TWELVE)])
    found = difference(first, small(PLAIN, [alice([0, 0, 0, 0, 0, 0, *TWELVE[6:]])]))
    (row,) = rows_of(found, "Scores in each run's own window")
    assert row[:6] == ("alice", 12, 12, pytest.approx(8 / 12), pytest.approx(4 / 12), pytest.approx(-4 / 12))
    # Twelve differences of which four are -1: the variance of their mean is (4/12 * 8/12) / 11.
    se = (4 / 12 * 8 / 12 / 11) ** 0.5
    assert row[7:13] == (0, None, pytest.approx(-4 / 12), pytest.approx(se), pytest.approx(-4 / 12), pytest.approx(se))
    # Four contests moved: Student's t with three degrees of freedom has 3.182 at 97.5 %.
    assert row[6] == (pytest.approx(-4 / 12 - 3.1824463 * se), pytest.approx(-4 / 12 + 3.1824463 * se))
    text = as_text(difference_sheet(found))
    assert "-33.3" in text
    assert "66.7" in text
    assert "a change whose interval holds 0 is not to be read as one" in text


def test_no_rate_is_shown_of_few_problems_while_json_has_them() -> None:
    first = small(PLAIN[:9], [alice(TWELVE[:9])])
    found = difference(first, small(PLAIN, [alice(TWELVE)]))
    (row,) = rows_of(found, "Scores in each run's own window")
    assert row == ("alice", 9, 12, *[None] * 13)
    assert "alice: fewer than 10 problems (9): read it as a list, not as a rate" in as_text(difference_sheet(found))
    (one,) = json.loads(sheet_to_json(difference_sheet(found)))["scores"]
    assert (one["n_before"], one["n_after"], one["change"]["value"]) == (9, 12, pytest.approx(8 / 12 - 6 / 9))
    assert one["too_few"] is not None


def test_the_json_form_has_it_all() -> None:
    found = everything_moved()
    document = json.loads(sheet_to_json(difference_sheet(found)))
    assert (document["is_same"], document["silent_removals"]) == (False, ["zoe"])
    assert document["before"]["name"] == "first"
    assert document["problems"]["private"]["made_private"] == 1
    assert document["cutoffs"][0]["after"]["cutoff"]["as_written"] == "2023-10"
    assert [move["cause"] for move in document["scores"][0]["moves"]][:2] == [
        "new problems, or no longer there",
        "made public or private",
    ]


def test_long_lists_are_cut_where_they_are_shown_alone() -> None:
    many = [edition_problem(place, native_id=f"p{place:03d}") for place in range(130)]
    flagged = [replace(one, facts=replace(one.facts, flags=(("bad_tests", "x"),))) for one in many]
    first, second = small(many[:12], [alice(TWELVE)]), small(many, [alice(TWELVE)])
    found = difference(first, second)
    assert rows_of(found, "Problems") == [
        ("new", 118, ", ".join(f"atcoder:p{place:03d}" for place in range(12, 24)) + " and 106 more")
    ]
    assert len(json.loads(sheet_to_json(difference_sheet(found)))["problems"]["came"]) == 118
    found = difference(second, small(flagged, [alice(TWELVE)]))
    assert len(rows_of(found, "Flags")) == N_SHOWN
    assert "and 118 more, which the JSON form has" in as_text(difference_sheet(found))
    assert len(json.loads(sheet_to_json(difference_sheet(found)))["problems"]["flags"]) == 130


def test_many_changed_results_raise_the_alarm() -> None:
    problems = problems_of(100)
    first = small(problems, [alice([1] * 100)])
    five, six = (small(problems, [alice([0] * n + [1] * (100 - n))]) for n in (5, 6))
    alarm = "more than 5 % of the results on the same tests changed"
    assert alarm not in as_text(difference_sheet(difference(first, five)))
    assert alarm in as_text(difference_sheet(difference(first, six)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_no_form_names_a_private_problem(seed: int) -> None:
    first, second = random_pair(np.random.default_rng(seed))
    forms = all_forms(difference(first, second))
    for name, body in forms.items():
        for native in private_in_either(first, second):
            assert native not in body, (name, native)


def test_a_private_problem_is_hidden_where_reasons_name_it_and_others_are_not() -> None:
    held = with_facts(flags=(("private", "held back"),))
    problems = edited(PLAIN, p1=lambda one: held(with_facts(native_id="secret_1")(one)), p2=held)
    reason = "the same as ATCODER:Secret_1 (secret_1); secret_10, atcoder:p2, p2 and atcoder:p22 are others"
    flagged = edited(problems, p3=with_facts(flags=(("exposed_earlier", reason),)))
    found = difference(small(problems, [alice(TWELVE)]), small(flagged, [alice(TWELVE)]))
    (flag,) = found.problems.flags
    # A short id is told from other words only behind its platform.
    assert flag.reason == (f"the same as {HIDDEN} ({HIDDEN}); secret_10, {HIDDEN}, p2 and atcoder:p22 are others")


def hostile_pair() -> tuple[FrozenEdition, FrozenEdition]:
    bad = HOSTILE + "\x1b[31m\r\n=cmd()\u202e" + "x" * 2000
    problems = [edition_problem(place, native_id=f"{bad}{place}", difficulty=bad, platform=bad) for place in range(12)]
    first = small(problems[:11], [replace(alice(TWELVE[:11]), name=bad, label=bad)], note=bad, name=bad)
    flagged = [replace(one, facts=replace(one.facts, flags=((bad, bad),), difficulty=None)) for one in problems]
    run = alice(TWELVE, label=bad, conditions={bad: bad}, rare=(RareOutcome(1, n_waiting=1),))
    run = replace(run, name=bad + "2")
    return first, small(flagged, [run], software=bad, name=bad, withdrawn={bad: bad})


def test_hostile_text_stays_text() -> None:
    forms = all_forms(difference(*hostile_pair()))
    assert "\x1b" not in forms["text"] + forms["md"]
    assert "\u202e" not in forms["text"] + forms["md"] + forms["csv"]
    assert "<script>" not in forms["md"]
    rows = list(csv.reader(io.StringIO(forms["csv"])))
    width = 0
    for row in rows:
        width = len(row) if row[0] == "table" else width
        assert len(row) == width
    json.loads(forms["json"])


def test_the_same_two_editions_give_the_same_bytes() -> None:
    pair = [changed(one) for one in random_pair(np.random.default_rng(3))]
    assert all_forms(difference(pair[0], pair[1])) == all_forms(difference(pair[0], pair[1]))


def test_nothing_that_is_compared_moved() -> None:
    first = small(PLAIN, [alice(TWELVE)])
    sheet = difference_sheet(difference(first, replace(first, digest="0" * 64)))
    assert (sheet.tables, sheet.notes) == ((), ("nothing that is compared here moved",))
