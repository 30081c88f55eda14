"""Each kind of constraint that bounds alone do not keep: every strategy keeps it, whatever the seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from eval.made_tests.drawing import Size, all_strategies, draw_with_reasons
from eval.made_tests.grammar import (
    AtLeastOne,
    Characters,
    Comparison,
    Constant,
    Distinct,
    Extreme,
    Grammar,
    Index,
    Occurrences,
    OneOf,
    Operation,
    Remainder,
    Sorted,
    Sum,
    SumAtMost,
)
from tests.eval.made_tests.shapes import length, minus, number, of, plus, product, text, to, within

SMALL_N = within(2, of("N"), 40)
N_AND_A = (number("N"), number("A", "N"))
SUM = Sum(of("A", "i"), to("N"))


def rows(*constraints: Any) -> Grammar:
    return Grammar(N_AND_A, (*SMALL_N, *within(1, of("A", "i"), 100, to("N")), *constraints))


Holds = Callable[[dict[str, Any]], bool]
CASES: dict[str, tuple[Grammar, Holds]] = {
    "a sum that is given": (
        Grammar(
            (*N_AND_A, number("K")),
            (
                *SMALL_N,
                *within(1, of("A", "i"), 100, to("N")),
                *within(0, of("K"), 500),
                Comparison(of("K"), "<=", SUM),
            ),
        ),
        lambda v: v["K"] <= sum(v["A"]),
    ),
    "a sum that is exact": (rows(Comparison(SUM, "==", product("N", 7))), lambda v: sum(v["A"]) == 7 * v["N"]),
    "a sum that is odd": (rows(Remainder(SUM, 2, 1)), lambda v: sum(v["A"]) % 2 == 1),
    "a sum over a table": (
        Grammar(
            (number("A", 3, 3),),
            (
                *within(-5, of("A", "i", "j"), 5, to(3), to(3, "j")),
                Comparison(Sum(Sum(of("A", "i", "j"), to(3, "j")), to(3)), "==", Constant(4)),
            ),
        ),
        lambda v: sum(map(sum, v["A"])) == 4,
    ),
    "a sum at most of a variable": (
        Grammar(
            (*N_AND_A, number("K")),
            (
                *SMALL_N,
                *within(0, of("A", "i"), 100, to("N")),
                *within(0, of("K"), 500),
                SumAtMost(of("A", "i"), of("K"), (to("N"),)),
            ),
        ),
        lambda v: sum(v["A"]) <= v["K"],
    ),
    "an even number": (
        Grammar(
            (number("N"), number("S", "N")), (*SMALL_N, Remainder(of("N"), 2, 0), *within(0, of("S", "i"), 1, to("N")))
        ),
        lambda v: v["N"] % 2 == 0,
    ),
    "odd elements": (rows(Remainder(of("A", "i"), 2, 1, (to("N"),))), lambda v: all(each % 2 for each in v["A"])),
    "a divisor": (
        Grammar(
            (number("N"), number("K")),
            (*within(1, of("N"), 1000), *within(1, of("K"), of("N")), Remainder(of("N"), of("K"), 0)),
        ),
        lambda v: v["N"] % v["K"] == 0,
    ),
    "last digits": (
        rows(
            Comparison(
                minus(of("A", "i"), product(Operation("/", of("A", "i"), Constant(10)), 10)),
                "!=",
                Constant(0),
                (to("N"),),
            )
        ),
        lambda v: all(each % 10 for each in v["A"]),
    ),
    "an element that is there": (
        rows(AtLeastOne(Comparison(of("A", "i"), "==", Constant(50), (to("N"),)))),
        lambda v: 50 in v["A"],
    ),
    "an element that is as large as a variable": (
        Grammar(
            (*N_AND_A, number("K")),
            (
                *SMALL_N,
                *within(1, of("A", "i"), 100, to("N")),
                *within(1, of("K"), 100),
                AtLeastOne(Comparison(of("K"), "<=", of("A", "i"), (to("N"),))),
            ),
        ),
        lambda v: max(v["A"]) >= v["K"],
    ),
    "a counted value": (
        rows(Occurrences("A", ("7", "9"), Constant(1), Constant(1))),
        lambda v: v["A"].count(7) == v["A"].count(9) == 1,
    ),
    "each value twice": (
        Grammar(
            (number("N"), number("A", product(2, "N"))),
            (
                *within(1, of("N"), 30),
                *within(1, of("A", "i"), "N", to(product(2, "N"))),
                Occurrences("A", (), Constant(2), Constant(2)),
            ),
        ),
        lambda v: Counter(v["A"]) == dict.fromkeys(range(1, v["N"] + 1), 2),
    ),
    "a grid with a start and an end": (
        Grammar(
            (number("H"), number("W"), text("G", "H")),
            (
                *within(1, of("H"), 20),
                *within(1, of("W"), 20),
                Comparison(length("G", "i"), "==", of("W"), (to("H"),)),
                Characters("G", ".#SE"),
                Occurrences("G", ("S", "E"), Constant(1), Constant(1), whole=True),
            ),
        ),
        lambda v: "".join(v["G"]).count("S") == "".join(v["G"]).count("E") == 1,
    ),
    "a place that is free": (
        Grammar(
            (number("H"), number("W"), number("X"), number("Y"), text("G", "H")),
            (
                *within(1, of("H"), 20),
                *within(1, of("W"), 20),
                *within(1, of("X"), "H"),
                *within(1, of("Y"), "W"),
                Comparison(length("G", "i"), "==", of("W"), (to("H"),)),
                Characters("G", "#."),
                Comparison(of("G", "X", "Y"), "==", Constant(ord("."))),
            ),
        ),
        lambda v: v["G"][v["X"] - 1][v["Y"] - 1] == ".",
    ),
    "each letter at least once": (
        Grammar((text("s"),), (*within(1, length("s"), 50), Characters("s", "abcd", each="ad"))),
        lambda v: {"a", "d"} <= set(v["s"]),
    ),
    "unlike neighbours in a string": (
        Grammar(
            (text("s"),),
            (
                *within(1, length("s"), 50),
                Characters("s", "ab"),
                Comparison(of("s", "i"), "!=", of("s", plus("i", 1)), (to(minus(length("s"), 1)),)),
            ),
        ),
        lambda v: all(one != other for one, other in pairwise(v["s"])),
    ),
    "words that differ": (
        Grammar(
            (text("p"), text("q")),
            (OneOf("p", ("A", "B")), OneOf("q", ("A", "B")), Comparison(of("p"), "!=", of("q"))),
        ),
        lambda v: v["p"] != v["q"],
    ),
    "different words": (
        Grammar(
            (number("N"), text("S", "N")),
            (
                *within(1, of("N"), 20),
                *within(1, length("S", "i"), 3, to("N")),
                Characters("S", "ab"),
                Distinct(("S",)),
            ),
        ),
        lambda v: len(set(v["S"])) == v["N"],
    ),
    "pairs that lie apart": (
        Grammar(
            (number("N"), number("M"), number("u", "M"), number("v", "M")),
            (
                *within(3, of("N"), 12),
                *within(1, of("M"), 20),
                *within(0, of("u", "i"), "N", to("M")),
                Comparison(of("v", "i"), "<", of("N"), (to("M"),)),
                Comparison(Constant(1), "<", minus(of("v", "i"), of("u", "i")), (to("M"),)),
                Distinct(("u", "v"), unordered=True),
            ),
        ),
        lambda v: (
            all(b - a > 1 and b < v["N"] for a, b in zip(v["u"], v["v"], strict=True))
            and len(set(zip(v["u"], v["v"], strict=True))) == v["M"]
        ),
    ),
    "intervals in order": (
        Grammar(
            (number("N"), number("L", "N"), number("R", "N")),
            (
                *within(1, of("N"), 20),
                Comparison(Constant(1), "<=", of("L", "i"), (to("N"),)),
                Comparison(of("L", "i"), "<=", of("R", "i"), (to("N"),)),
                Comparison(of("R", "i"), "<", of("L", plus("i", 1)), (to(minus("N", 1)),)),
                Comparison(of("R", "i"), "<=", Constant(60), (to("N"),)),
            ),
        ),
        lambda v: (
            all(a <= b for a, b in zip(v["L"], v["R"], strict=True))
            and all(b < a for b, a in zip(v["R"], v["L"][1:], strict=False))
        ),
    ),
    "a table that is its own mirror": (
        Grammar(
            (number("N"), number("A", "N", "N")),
            (
                *within(1, of("N"), 20),
                *within(0, of("A", "i", "j"), 1, to("N"), to("N", "j")),
                Comparison(of("A", "i", "i"), "==", Constant(0), (to("N"),)),
                Comparison(of("A", "i", "j"), "==", of("A", "j", "i"), (to("N"), to("N", "j"))),
            ),
        ),
        lambda v: (
            [list(column) for column in zip(*v["A"], strict=True)] == v["A"]
            and not any(v["A"][i][i] for i in range(v["N"]))
        ),
    ),
    "rows with nothing in common": (
        Grammar(
            (number("N"), number("A", "N"), number("B", "N")),
            (
                *SMALL_N,
                *within(1, of("A", "i"), 90, to("N")),
                *within(1, of("B", "i"), 90, to("N")),
                Comparison(of("A", "i"), "!=", of("B", "j"), (to("N"), to("N", "j"))),
            ),
        ),
        lambda v: not set(v["A"]) & set(v["B"]),
    ),
    "sorted, and never the same": (
        rows(Sorted("A", descending=True), Distinct(("A",))),
        lambda v: v["A"] == sorted(set(v["A"]), reverse=True),
    ),
    "different in each row": (
        Grammar(
            (number("N"), number("M"), number("K", "N"), number("A", "N", of("K", "i"))),
            (
                *within(1, of("N"), 10),
                *within(1, of("M"), 10),
                *within(1, of("K", "i"), 20, to("N")),
                *within(1, of("A", "i", "j"), "M", to("N"), Index("j", Constant(1), of("K", "i"))),
                Distinct(("A",), within_row=True),
            ),
        ),
        lambda v: all(len(set(row)) == len(row) for row in v["A"]) and max(map(max, v["A"])) <= v["M"],
    ),
    "the least of two": (
        Grammar(
            (number("N"), number("M"), number("K")),
            (
                *within(1, of("N"), 10**6),
                *within(1, of("M"), 10**6),
                *within(1, of("K"), Extreme("min", (of("N"), of("M")))),
            ),
        ),
        lambda v: 1 <= v["K"] <= min(v["N"], v["M"]),
    ),
    "powers": (
        Grammar(
            (number("N"), number("K")),
            (*within(0, of("N"), 60), *within(1, of("K"), Operation("^", Constant(2), of("N")))),
        ),
        lambda v: 1 <= v["K"] <= 2 ** v["N"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_inputs_keep_a_constraint(name: str) -> None:
    grammar, holds = CASES[name]
    for seed in range(3):
        drawing = draw_with_reasons(grammar, seed, 25)
        assert not drawing.failures
        assert all(holds(each.values) for each in drawing.inputs)
        assert drawing.is_complete or len(drawing.inputs) == 25


@pytest.mark.parametrize("strategy", sorted(all_strategies()))
def test_each_strategy_keeps_them(strategy: str) -> None:
    chosen = all_strategies()[strategy]
    for grammar, holds in CASES.values():
        if chosen.applies(grammar):
            for size in chosen.sizes:
                assert holds(chosen.draw(grammar, np.random.default_rng(5), size))


def test_largest_powers_are_exact() -> None:
    grammar, _ = CASES["powers"]
    values = all_strategies()["maximal"].draw(grammar, np.random.default_rng(0), Size.GREATEST)
    assert values == {"N": 60, "K": 2**60}
