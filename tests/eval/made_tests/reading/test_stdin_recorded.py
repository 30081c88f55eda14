"""The recorded statements of AtCoder and Codeforces: how many are understood, and that their samples are allowed.

The figures are those that were measured; they may rise, and a reader that understands less fails here.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval.made_tests.grammar import Grammar, Graph, InputRefused, Permutation, Values
from eval.made_tests.reading.stdin import read_stdin
from eval.made_tests.stdin_text import parse, render
from eval.made_tests.values import check

pytestmark = pytest.mark.shared

ATCODER, ATCODER_COMPLETE = 602, 493
CODEFORCES, CODEFORCES_COMPLETE = 9, 8


@pytest.fixture(scope="module")
def problems(shared_data: Path) -> list[dict[str, Any]]:
    with gzip.open(shared_data / "livecodebench" / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["platform"] != "leetcode"]


@pytest.fixture(scope="module")
def grammars(problems: list[dict[str, Any]]) -> dict[str, Grammar]:
    return {row["question_id"]: read_stdin(row["statement"]) for row in problems}


def test_how_many_are_understood(problems: list[dict[str, Any]], grammars: dict[str, Grammar]) -> None:
    of = Counter(row["platform"] for row in problems)
    complete = Counter(row["platform"] for row in problems if grammars[row["question_id"]].is_complete)
    assert (of["atcoder"], of["codeforces"]) == (ATCODER, CODEFORCES)
    assert complete["atcoder"] >= ATCODER_COMPLETE
    assert complete["codeforces"] >= CODEFORCES_COMPLETE


def test_every_sample_is_allowed_and_written_back(problems: list[dict[str, Any]], grammars: dict[str, Grammar]) -> None:
    n_samples = 0
    for row in problems:
        grammar = grammars[row["question_id"]]
        if not grammar.is_complete:
            continue
        for test in row["public_tests"]:
            values = parse(grammar, test["input"])
            check(grammar, values)
            assert render(grammar, values).split() == test["input"].split(), row["question_id"]
            n_samples += 1
    assert n_samples >= 1381


def test_samples_that_are_changed_are_refused(problems: list[dict[str, Any]], grammars: dict[str, Grammar]) -> None:
    """One token away, or one more, is another shape; the few that are allowed end with a row of no known length."""
    allowed = []
    for row in problems:
        grammar = grammars[row["question_id"]]
        if not grammar.is_complete or not row["public_tests"]:
            continue
        text = row["public_tests"][0]["input"].rstrip()
        allowed += [
            row["question_id"] for changed in (f"{text} 1", f"{text}\n1\n", f"7 {text}") if _is_read(grammar, changed)
        ]
    assert allowed == []


def test_numbers_out_of_bounds_are_refused(problems: list[dict[str, Any]], grammars: dict[str, Grammar]) -> None:
    """No integer of a sample may be 10^30 or below -10^30: each variable has bounds that hold."""
    for row in problems:
        grammar = grammars[row["question_id"]]
        if not grammar.is_complete or not row["public_tests"]:
            continue
        values = parse(grammar, row["public_tests"][0]["input"])
        for name in values:
            for wrong in (10**30, -(10**30)):
                changed = _with_first(values, name, wrong)
                if changed is not None:
                    with pytest.raises(InputRefused):
                        check(grammar, changed)


def test_known_grammars(grammars: dict[str, Grammar]) -> None:
    """A few by hand: what the statement says, seen by a person."""
    tree = grammars["abc333_d"]
    assert any(isinstance(each, Graph) and (each.first, each.second) == ("u", "v") for each in tree.constraints)
    assert any(isinstance(each, Permutation) and each.name == "P" for each in grammars["abc380_g"].constraints)
    assert grammars["abc372_g"].per_case == {"N", "A", "B", "C"}
    assert "It is guaranteed that there is at least one arrangement that satisfies the conditions." in (
        grammars["abc335_d"].not_understood
    )
    assert "There is a path from vertex 1 to vertex N." in grammars["abc324_f"].not_understood
    assert grammars["abc337_e"].not_understood[0] == "(no format of the input is given)"


def _is_read(grammar: Grammar, text: str) -> bool:
    try:
        check(grammar, parse(grammar, text))
    except InputRefused:
        return False
    return True


def _with_first(values: Values, name: str, wrong: int) -> Values | None:
    """The values with the first integer of a variable replaced; None where it has none."""
    copied: Values = json.loads(json.dumps(values))
    place: Any = copied[name]
    if isinstance(place, int):
        return {**copied, name: wrong}
    while isinstance(place, list) and place:
        if isinstance(place[0], int):
            place[0] = wrong
            return copied
        place = next((each for each in place if each), None)
    return None
