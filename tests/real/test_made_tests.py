"""Made tests on real problems: how many statements give a grammar, what the tests catch, and that they kill nothing
right.

Small samples of what `benchmarks.made_tests` measures; what they came to is recorded in ``made_tests.json``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.made_tests_data import LiveCodeBench
from benchmarks.made_tests_livecodebench import Measured, measure
from eval.made_tests.building import BuildSettings
from eval.made_tests.calibration import calibrate
from eval.made_tests.gate import CannotBuild
from eval.made_tests.inputs import input_source
from sandbox import Judge, SandboxError

pytestmark = [pytest.mark.shared, pytest.mark.slow]

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("made_tests.json").read_text(encoding="utf-8"))
AIMS = {"atcoder": 0.6, "leetcode": 0.8}
"""The share of statements that has to give a grammar."""


@cache
def data(folder: Path) -> LiveCodeBench:
    return LiveCodeBench.read(folder / "livecodebench")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """A judge on the first executor that works here."""
    try:
        judge = Judge()
    except SandboxError as error:
        pytest.skip(f"{error.message} ({error.hint})")
    with judge:
        yield judge


def test_most_statements_give_a_grammar_that_takes_the_samples(shared_data: Path) -> None:
    recorded = RECORDED["grammars"]
    problems = data(shared_data).problems
    asked, given = Counter[str](), Counter[str]()
    for problem in list(problems)[:: recorded["every"]]:
        platform = problems[problem]["platform"]
        asked[platform] += 1
        try:
            given[platform] += input_source(data(shared_data).material(problem)).grammar is not None
        except CannotBuild:
            continue
    for platform, aim in AIMS.items():
        assert asked[platform] == recorded["asked"][platform]
        assert given[platform] >= recorded["given"][platform]
        assert given[platform] / asked[platform] >= aim


def measured(judge: Judge, folder: Path, problem: str) -> Measured:
    """The measurement of one problem of LiveCodeBench."""
    return measure(data(folder), problem, judge, calibrate(judge), BuildSettings())


@pytest.mark.parametrize("problem", sorted(RECORDED["caught"]))
def test_wrong_programs_that_pass_the_public_tests_are_caught(judge: Judge, shared_data: Path, problem: str) -> None:
    found = measured(judge, shared_data, problem)
    assert found.reason is None
    wrong = [one for one in found.programs if one.passes_samples and not one.is_right]
    assert {one.name: one.failed is not None for one in wrong} == RECORDED["caught"][problem]
    right = [one for one in found.programs if one.is_right]
    assert right
    assert found.false_kills == ()


@pytest.mark.parametrize("problem", sorted(RECORDED["cannot"]))
def test_what_gives_no_tests_says_why(judge: Judge, shared_data: Path, problem: str) -> None:
    assert measured(judge, shared_data, problem).reason == RECORDED["cannot"][problem]
