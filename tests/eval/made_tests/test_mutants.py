"""Mutants of accepted programs: each operator by hand, and what holds of all."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.mutants import Mutant, mutants
from eval.made_tests.mutation_operators import OPERATORS

ALL = 10_000
PROGRAM = '''\
import sys
MOD = 10**9 + 7


def solve(n, a):
    """The sum of products."""
    best = float("inf")
    total = 0
    for i in range(n):
        if a[i] < best and i >= 0:
            best = min(best, a[i])
        else:
            total += a[i] * (n - i)
        total %= MOD
    for x in sorted(a):
        if x > total:
            return x
    return total % MOD


n, *a = map(int, sys.stdin.read().split())
print(solve(n, a))  # at last
'''


def made(source: str, operator: str) -> set[str]:
    """What an operator makes of a source, without blanks at the ends."""
    found = mutants(source, ALL, np.random.default_rng(1))
    return {mutant.source.strip() for mutant in found if mutant.operator == operator}


@pytest.mark.parametrize(
    ("operator", "source", "wanted"),
    [
        ("range off by one", "range(n)", {"range(n + 1)", "range(n - 1)"}),
        ("range off by one", "range(a, n)", {"range(a, n + 1)", "range(a, n - 1)", "range(a + 1, n)"}),
        ("range off by one", "range(10)", set()),  # the constant's own operator does that
        ("range off by one", "r(n)", set()),
        ("boundary", "a < b <= c", {"a <= b <= c", "a < b < c"}),
        ("boundary", "a > b", {"a >= b"}),
        ("boundary", "a >= b", {"a > b"}),
        ("boundary", "a == b", set()),
        ("plus and minus", "a + b", {"a - b"}),
        ("plus and minus", "a -= b", {"a += b"}),
        ("plus and minus", "'x' + a", set()),
        ("plus and minus", "a + [0]", set()),
        ("plus and minus", "a += str(b)", set()),
        ("constant", "f(7)", {"f(8)", "f(6)"}),
        ("constant", "f(0)", {"f(1)", "f(-1)"}),
        ("constant", "f(True, 'a', 1.5)", set()),
        ("min and max", "min(a, b)", {"max(a, b)"}),
        ("min and max", "reduce(max, a)", {"reduce(min, a)"}),
        ("min and max", "min = 3", set()),
        ("and and or", "a and b", {"a or b"}),
        ("and and or", "a or b or c", {"a and b and c"}),
        ("no else", "if a:\n    b\nelse:\n    c", {"if a:\n    b"}),
        ("no else", "for x in a:\n    b\nelse:\n    c", set()),
        ("initial value", "x = -1", {"x = 0"}),
        ("initial value", "x = float('inf')", {"x = 1000000000"}),
        ("initial value", "x = 5", {"x = 0"}),
        ("initial value", "f(5)", set()),
        ("no modulus", "a % m", {"a"}),
        ("no modulus", "a %= m", {"pass"}),
        ("no modulus", "'%d' % m", set()),
        ("sort order", "sorted(a, key=f)", {"sorted(a, key=f, reverse=True)"}),
        ("sort order", "a.sort(reverse=True)", {"a.sort()"}),
        ("early end", "for x in a:\n    f(x)", {"for x in a:\n    f(x)\n    break"}),
        ("early end", "while a:\n    f()\n    break", set()),
        ("overflow", "a * b", {"(a * b + 2147483648) % 4294967296 - 2147483648"}),
        ("overflow", "s += a", {"s = (s + a + 2147483648) % 4294967296 - 2147483648"}),
        ("overflow", "[0] * n", set()),
        ("overflow", "10 ** 9", set()),
    ],
)
def test_what_an_operator_makes(operator: str, source: str, wanted: set[str]) -> None:
    assert made(source, operator) == wanted


def test_return_that_lost_its_condition() -> None:
    source = "def f(a):\n    for x in a:\n        y = g(x)\n        if y:\n            return y\n        h(x)"
    assert "def f(a):\n    for x in a:\n        y = g(x)\n        return y" in made(source, "early end")


def test_overflow_is_that_of_an_int() -> None:
    (source,) = made("x = a * b", "overflow")
    for one, other, wanted in [(2, 3, 6), (2**16, 2**15, -(2**31)), (2**31 - 1, 1, 2**31 - 1), (-(2**20), 2**12, 0)]:
        names = {"a": one, "b": other}
        exec(source, names)
        assert names["x"] == wanted


def test_at_most_as_many_as_wanted_and_spread_over_the_operators() -> None:
    everything = mutants(PROGRAM, ALL, np.random.default_rng(3))
    assert {mutant.operator for mutant in everything} == set(OPERATORS)
    few = mutants(PROGRAM, len(OPERATORS), np.random.default_rng(3))
    assert Counter(mutant.operator for mutant in few) == Counter(list(OPERATORS))
    assert set(few) <= set(everything)
    assert mutants(PROGRAM, 0, np.random.default_rng(3)) == ()
    assert len(mutants(PROGRAM, 1, np.random.default_rng(3))) == 1


def test_same_seed_same_mutants() -> None:
    def drawn(seed: int) -> tuple[Mutant, ...]:
        return mutants(PROGRAM, 8, np.random.default_rng(seed))

    assert drawn(3) == drawn(3)
    assert len({drawn(seed) for seed in range(5)}) > 1


def test_every_mutant_is_another_program() -> None:
    everything = mutants(PROGRAM, ALL, np.random.default_rng(3))
    dumps = [ast.dump(ast.parse(mutant.source)) for mutant in everything]
    assert len({*dumps, ast.dump(ast.parse(PROGRAM))}) == len(dumps) + 1
    assert len(everything) >= 2 * len(OPERATORS)
    for mutant in everything:
        compile(mutant.source, "mutant", "exec")


def test_line_is_that_of_the_original() -> None:
    lines = {(mutant.operator, mutant.line) for mutant in mutants(PROGRAM, ALL, np.random.default_rng(3))}
    assert {("boundary", 10), ("min and max", 11), ("no else", 13), ("sort order", 15), ("initial value", 7)} <= lines


def test_most_mutants_of_a_program_give_other_outputs() -> None:
    source = "def f(a):\n    best = 0\n    for i in range(1, len(a)):\n        if a[i] > a[i - 1] and a[i] % 3 > 0:\n"
    source += "            best = max(best, a[i] * a[i - 1])\n    return best"
    rng = random.Random(7)
    rows = [[rng.randrange(10 ** rng.randrange(1, 7)) for _ in range(rng.randrange(1, 8))] for _ in range(300)]

    def outputs(text: str) -> list[object]:
        names: dict[str, Callable[[list[int]], int]] = {}
        exec(text, {"__builtins__": {"range": range, "len": len, "max": max, "min": min}}, names)
        found: list[object] = []
        for row in rows:
            try:
                found.append(names["f"](row))
            except IndexError:
                found.append("crash")
        return found

    everything = mutants(source, ALL, np.random.default_rng(1))
    killed = [mutant for mutant in everything if outputs(mutant.source) != outputs(source)]
    assert len(killed) >= 0.8 * len(everything)


@pytest.mark.parametrize(
    "source", ["def f(:", "x = '\0'", "x = " + "(" * 300 + ")" * 300, "x = " + "1 + " * 20_000 + "1", "x" * 200_000, ""]
)
def test_source_that_cannot_be_read_has_none(source: str) -> None:
    assert mutants(source, 5, np.random.default_rng(1)) == ()


def test_program_with_odd_escapes_is_read_quietly() -> None:
    assert made("f('\\d', 7)", "constant")


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", "1", "0", "'t'", "[1]", "min", "float('inf')", "f'{a:>{b}}'"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "%", "**", "<", ">=", "and", "or"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map(lambda text: f"range({text})"),
        inner.map(lambda text: f"sorted({text})"),
    ),
    max_leaves=6,
)
STATEMENTS = st.recursive(
    st.one_of(EXPRESSIONS.map(lambda text: f"x = {text}"), EXPRESSIONS.map(lambda text: f"x += {text}"), EXPRESSIONS),
    lambda inner: st.one_of(
        st.tuples(EXPRESSIONS, inner, inner).map(
            lambda parts: f"if {parts[0]}:\n{_indented(parts[1])}\nelse:\n{_indented(parts[2])}"
        ),
        st.tuples(EXPRESSIONS, inner).map(lambda parts: f"for x in {parts[0]}:\n{_indented(parts[1])}"),
    ),
    max_leaves=4,
)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


@given(STATEMENTS, st.integers(0, 5))
@settings(max_examples=60)
def test_mutants_of_any_program_are_programs(source: str, seed: int) -> None:
    found = mutants(source, 12, np.random.default_rng(seed))
    assert found == mutants(source, 12, np.random.default_rng(seed))
    assert len(found) <= 12
    dumps = {ast.dump(ast.parse(mutant.source)) for mutant in found}
    assert len(dumps) == len(found)
    assert ast.dump(ast.parse(source)) not in dumps
    assert all(1 <= mutant.line <= source.count("\n") + 1 for mutant in found)
