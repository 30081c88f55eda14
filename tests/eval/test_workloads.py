"""Weights as a user writes them."""

from __future__ import annotations

import pytest

from eval.workloads import Workload, WorkloadError, read_workload
from tests.eval.facts import problem

BOTH = """
[platform]
AtCoder = 2
leetcode = 1

[difficulty]
easy = 1
hard = 3.0
medium = 0
"""


def test_with_both_tables_weights_are_products() -> None:
    found = read_workload(BOTH, "w.toml")
    assert found.weights() == {"atcoder easy": 2, "atcoder hard": 6, "leetcode easy": 1, "leetcode hard": 3}
    assert found.described() == "atcoder easy 16.7 %, atcoder hard 50 %, leetcode easy 8.33 %, leetcode hard 25 %"
    kinds = found.strata([problem(1), problem(2, platform="LeetCode", difficulty=None)])
    assert kinds == ["atcoder easy", "leetcode unknown"]


def test_one_table_does_not_tell_the_other_apart() -> None:
    found = read_workload("[difficulty]\nunknown = 1\n", "w.toml")
    assert found == Workload(difficulty={"unknown": 1.0})
    assert found.strata([problem(1), problem(2, difficulty=None)]) == ["easy", "unknown"]
    assert read_workload("[platform]\natcoder = 5\n", "w").weights() == {"atcoder": 5.0}


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("", "w.toml: holds no weight", "write [platform] or [difficulty]"),
        ("[platform", "w.toml: not valid TOML", "write [platform] or [difficulty]"),
        ("[platforms]\na = 1", 'w.toml: unknown "platforms"', "did you mean [platform]?"),
        ("[tag]\na = 1", 'w.toml: unknown "tag"', "write [platform]"),
        ("platform = 1", "w.toml, [platform]: is no table", "write [platform]"),
        ("[platform]\na = -1", 'the weight of "a" cannot be -1', "write a number"),
        ("[platform]\na = true", 'the weight of "a" cannot be True', "write a number"),
        ("[platform]\na = inf", 'the weight of "a" cannot be inf', "write a number"),
        ("[platform]\na = nan", 'the weight of "a" cannot be nan', "write a number"),
        ("[difficulty]\neasy = 1e308\nhard = 1e308", 'the weight of "easy" cannot be 1e+308', "from 1e-100 to 1e+100"),
        ("[platform]\na = 1e-320", 'the weight of "a" cannot be 1e-320', "from 1e-100 to 1e+100"),
        (f"[platform]\na = 1{'0' * 400}", "0000... (401 characters)", "from 1e-100 to 1e+100"),
        ("[platform]\na = '2'", "the weight of \"a\" cannot be '2'", "write a number"),
        ("[difficulty]\neasy = 0", "w.toml, [difficulty]: all weights are 0", "above 0"),
        ("[platform]\na = 1\nA = 1", '"A" is there twice', "keep one"),
    ],
)
def test_what_cannot_be_used_is_told_in_two_lines(text: str, said: str, hint: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        read_workload(text, "w.toml")
    assert said in caught.value.message
    assert hint in caught.value.hint
