"""Inputs of typical shapes: they keep what a plain look at them asks for, and reach the ends of their bounds."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval.made_tests.drawing import (
    CannotDraw,
    DrawnInput,
    Size,
    all_strategies,
    draw_inputs,
    draw_with_reasons,
)
from eval.made_tests.grammar import Grammar, InputRefused, Values
from eval.made_tests.values import check
from tests.eval.made_tests.plain import PLAIN
from tests.eval.made_tests.shapes import SHAPES, cases, number, of, row, to, within


@cache
def drawn(shape: str) -> tuple[DrawnInput, ...]:
    return draw_inputs(SHAPES[shape](), 7, 25)


def amount(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(amount, value.values()))
    return sum(map(amount, value)) if isinstance(value, list) else len(value) if isinstance(value, str) else 1


@pytest.mark.parametrize("shape", SHAPES)
def test_inputs_of_each_shape(shape: str) -> None:
    inputs = drawn(shape)
    assert len(inputs) == 25
    for each in inputs:
        assert PLAIN[shape](each.values), each.strategy
        check(SHAPES[shape](), each.values)
    amounts = [amount(each.values) for each in inputs]
    assert amounts == sorted(amounts)
    texts = [json.dumps(each.values, sort_keys=True) for each in inputs]
    assert len(set(texts)) == 25


def everything(inputs: tuple[DrawnInput, ...], name: str) -> list[Any]:
    return [each.values[name] for each in inputs]


def flat(value: Any) -> list[Any]:
    return [one for each in value for one in flat(each)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    ("shape", "name", "least", "greatest"),
    [
        ("row", "N", 1, 200_000),
        ("row", "A", 1, 10**9),
        ("string with queries", "Q", 1, 300_000),
        ("string with queries", "N", 1, 300_000),
        ("string with queries", "r", 1, 300_000),
        ("grid", "H", 1, 1000),
        ("grid", "W", 1, 1000),
        ("tree", "N", 2, 200_000),
        ("tree", "w", 1, 10**9),
        ("simple graph", "M", 0, 20_000),
        ("forest", "M", 0, 19_999),
        ("cases", "T", 1, 100_000),
        ("cases", "N", 1, 200_000),
        ("cases of graphs", "N", 2, 100_000),
        ("cases of graphs", "M", 1, 200_000),
        ("permutation", "N", 1, 200_000),
        ("parents", "A", -(10**9), 10**9),
        ("ragged", "A", 0, 10**18),
        ("ragged", "K", 1, 100_000),
        ("call", "k", 1, 100_000),
        ("free lengths", "grid", 0, 9),
        ("mixed", "N", 2, 1000),
    ],
)
def test_bounds_are_reached(shape: str, name: str, least: int, greatest: int) -> None:
    found = flat(everything(drawn(shape), name))
    assert (min(found), max(found)) == (least, greatest)


def test_largest_input_has_the_greatest_of_everything() -> None:
    largest = next(each.values for each in drawn("row") if each.strategy == "maximal, greatest")
    assert largest == {"N": 200_000, "A": [10**9] * 200_000}
    smallest = next(each.values for each in drawn("row") if each.strategy == "minimal, least")
    assert smallest == {"N": 1, "A": [1]}


def test_a_sum_over_test_cases_is_used_up_by_one_case_and_by_many() -> None:
    by_strategy = {each.strategy: each.values for each in drawn("cases")}
    assert by_strategy["maximal, greatest"]["N"] == [200_000]
    assert by_strategy["many cases, greatest"]["T"] == 100_000
    many = by_strategy["many cases, greatest"]["N"]
    assert isinstance(many, list)
    assert max(map(int, flat(many))) == 2  # an even share of 2*10^5 for each of 10^5


def test_one_large_case_among_as_many_as_may_be() -> None:
    values = all_strategies()["one large case"].draw(cases(1000, 5000), np.random.default_rng(0), Size.GREATEST)
    assert values["T"] == 1000
    sizes = values["N"]
    assert isinstance(sizes, list)
    assert sorted(map(int, flat(sizes))) == [1] * 999 + [4001]


def test_small_inputs_are_small_and_collide() -> None:
    rng = np.random.default_rng(1)
    inputs = [all_strategies()["collisions"].draw(row(), rng, Size.SMALL) for _ in range(30)]
    assert all(values["N"] in range(1, 7) for values in inputs)
    repeated = [values for values in inputs if len(set(flat(values["A"]))) < len(flat(values["A"]))]
    assert len(repeated) > 10


# --- determinism -----------------------------------------------------------------------------------------------------

PROGRAM = """
import hashlib, json, sys
from eval.made_tests.drawing import draw_inputs
from tests.eval.made_tests.shapes import SHAPES
for name in ("mixed", "distinct pairs", "cases of graphs", "words"):
    drawn = draw_inputs(SHAPES[name](), 11, 9)
    text = json.dumps([[each.strategy, each.values] for each in drawn])
    print(name, hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_same_seed_gives_the_same_inputs_in_every_process(root: Path) -> None:
    outputs = set()
    for hash_seed in ("0", "1", "random"):
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(ran.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 4


def test_another_seed_gives_other_inputs() -> None:
    one, other = (draw_inputs(SHAPES["row"](), seed, 6) for seed in (1, 2))
    assert one != other
    assert draw_inputs(SHAPES["row"](), 1, 6) == one


def test_strategies_do_not_depend_on_how_many_are_wanted() -> None:
    few = {each.strategy: each.values for each in draw_inputs(SHAPES["mixed"](), 3, 8)}
    more = {each.strategy: each.values for each in reversed(draw_inputs(SHAPES["mixed"](), 3, 16))}
    assert few.items() <= more.items()


# --- what is broken is refused ---------------------------------------------------------------------------------------


def out_of_bounds(values: dict[str, Any]) -> None:
    values["A"][0] = 10**9 + 1


def double_edge(values: dict[str, Any]) -> None:
    values["u"][-1], values["v"][-1] = values["u"][0], values["v"][0]


def missing_edge(values: dict[str, Any]) -> None:
    for name in "uvw":
        values[name].pop()


def long_row(values: dict[str, Any]) -> None:
    values["S"][-1] += "."


def other_letter(values: dict[str, Any]) -> None:
    values["S"] = "A" + values["S"][1:]


def query_turned(values: dict[str, Any]) -> None:
    values["l"][0], values["r"][0] = values["N"], values["N"] - 1


def repeated_value(values: dict[str, Any]) -> None:
    values["P"][0] = values["P"][-1]


def repeated_pair(values: dict[str, Any]) -> None:
    values["X"][0], values["Y"][0] = values["X"][-1], values["Y"][-1]


def case_too_many(values: dict[str, Any]) -> None:
    values["T"] += 1


def k_too_great(values: dict[str, Any]) -> None:
    values["k"] = values["nums.length"] + 1


def odd_length(values: dict[str, Any]) -> None:
    values["N"] -= 1
    for name in "XCD":
        values[name].pop()


@pytest.mark.parametrize(
    ("shape", "broken"),
    [
        ("row", out_of_bounds),
        ("tree", double_edge),
        ("tree", missing_edge),
        ("simple graph", double_edge),
        ("grid", long_row),
        ("string with queries", other_letter),
        ("string with queries", query_turned),
        ("permutation", repeated_value),
        ("distinct pairs", repeated_pair),
        ("cases", case_too_many),
        ("call", k_too_great),
        ("mixed", odd_length),
    ],
)
def test_a_drawn_input_that_is_broken_is_refused(shape: str, broken: Callable[[dict[str, Any]], None]) -> None:
    large_enough = [each for each in drawn(shape) if 15 < amount(each.values) < 5000]
    assert len(large_enough) > 2
    for each in large_enough:
        values = copy.deepcopy(each.values)
        broken(values)
        if values == each.values:
            continue
        with pytest.raises(InputRefused):
            check(SHAPES[shape](), values)


# --- bounds of all kinds ---------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    least=st.integers(0, 5),
    more=st.integers(0, 30),
    low=st.integers(-(10**20), 10**20),
    span=st.one_of(st.integers(0, 3), st.integers(0, 10**20)),
    strategy=st.sampled_from(sorted(all_strategies())),
    seed=st.integers(0, 2**32),
)
def test_any_bounds_are_kept(least: int, more: int, low: int, span: int, strategy: str, seed: int) -> None:
    grammar = Grammar(
        (number("N"), number("A", "N"), number("x"), number("y")),
        (
            *within(least, of("N"), least + more),
            *within(low, of("A", "i"), low + span, to("N")),
            *within(low, of("x"), of("y")),
            *within(low, of("y"), low + span),
        ),
    )
    chosen = all_strategies()[strategy]
    if not chosen.applies(grammar):
        return
    for size in chosen.sizes:
        values: dict[str, Any] = chosen.draw(grammar, np.random.default_rng(seed), size)
        assert least <= values["N"] == len(values["A"]) <= least + more
        assert all(low <= each <= low + span for each in values["A"])
        assert low <= values["x"] <= values["y"] <= low + span


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(shape=st.sampled_from(sorted(SHAPES)), seed=st.integers(0, 2**32))
def test_small_inputs_of_each_shape_keep_it_for_any_seed(shape: str, seed: int) -> None:
    grammar = SHAPES[shape]()
    for strategy in all_strategies().values():
        if not strategy.applies(grammar):
            continue
        for size in {Size.LEAST, Size.SMALL, Size.MID} & set(strategy.sizes):
            values: Values = strategy.draw(grammar, np.random.default_rng([seed, 1]), size)
            assert PLAIN[shape](values), (strategy.name, size)


# --- time ------------------------------------------------------------------------------------------------------------


def test_fifty_inputs_of_a_typical_grammar_take_a_moment() -> None:
    draw_inputs(row(10), 0, 2)  # what is imported only once takes its time
    started = time.perf_counter()
    found = draw_with_reasons(row(), 5, 50)
    assert time.perf_counter() - started < 10  # about one second where nothing else runs
    assert len(found.inputs) == 50
    assert sum(each.values["N"] == 200_000 for each in found.inputs) >= 10
    assert not found.failures


def test_every_strategy_says_what_it_is() -> None:
    strategies = all_strategies()
    assert len(strategies) > 30
    for name, strategy in strategies.items():
        assert name == strategy.name
        assert strategy.sizes
        assert all(isinstance(size, Size) for size in strategy.sizes)
    assert [each.turn for each in strategies.values()] == sorted(each.turn for each in strategies.values())


def test_cannot_draw_has_a_message() -> None:
    with pytest.raises(CannotDraw) as error:
        draw_inputs(Grammar((number("N"),), ()), 0, 3)
    assert error.value.message == "nothing bounds N from below"
