"""Expressions and chains of comparisons: their values, worked out by hand, and what is no expression."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.grammar import Constant, Expression, Kind, Operation, Reference, Variable
from eval.made_tests.reading.expressions import parse_expression, parse_list
from eval.made_tests.reading.relations import Link, Ordered, relations
from eval.made_tests.reading.terms import NotUnderstood, difference, simplified
from eval.made_tests.reading.tex import plain_line
from eval.made_tests.values import evaluate

VALUES = {"N": 5, "M": 3, "K": 7, "A": [2, 4, 6], "T": [[1, 2], [3, 4]], "S": "abcd", "H_A": 9, "W": ["xy", "x"]}
VARIABLES = {
    name: Variable(
        name,
        Kind.STRING if name in ("S", "W") else Kind.INTEGER,
        (Constant(2), Constant(2)) if name == "T" else (Constant(3),) if name in ("A", "W") else (),
    )
    for name in VALUES
}


def _value(expression: Expression, **indices: int) -> int:
    return evaluate(expression, dict(VALUES), indices, VARIABLES)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"2 \times 10^5", 200_000),
        ("10^{18}", 10**18),
        ("10 ** 9", 10**9),
        ("1.5 \\cdot 10^5", 150_000),
        ("-10^9", -(10**9)),
        ("2^{60} - 1", 2**60 - 1),
        (r"3 \times 7^3", 1029),
        ("26^2", 676),
        ("N-1", 4),
        ("N - M - 1", 1),
        ("N - (M - 1)", 3),
        ("2N", 10),
        ("10N - 9", 41),
        ("NM", 15),
        ("NMK", 105),
        ("NM - 1", 14),
        ("3^N", 243),
        ("N^2+1", 26),
        ("N(N-1)/2", 10),
        (r"\frac{N(N+1)}{2}", 15),
        (r"\dfrac{N(N-1)}2", 10),
        (r"\min(N^3, 5\times 10^5)", 125),
        (r"\max\lbrace N, M \rbrace", 5),
        (r"\min\left(\frac{N(N-1)}{2},\ 2 \times 10^5 \right)", 10),
        (r"\text{min}(N,10)", 5),
        (r"\lfloor \frac{N}{2}\rfloor", 2),
        (r"\lceil \frac{N}{2}\rceil", 3),
        ("|S|", 4),
        (r"\lvert S\rvert + 1", 5),
        ("|W_1| + |W_2|", 3),
        ("A_2", 4),
        ("A_{N-2}", 6),
        ("A_{A_1}", 4),
        ("T_{2,1}", 3),
        ("T[2][1]", 3),
        ("H_A", 9),
        ("2H_A", 18),
        (r"\sum_{i=1}^{M} A_i", 12),
        (r"\sum_{i=1}^2 \sum_{j=1}^2 T_{i,j}", 10),
        ("A_1 + A_2 + \\ldots + A_M", 12),
        ("|W_1|+|W_2|", 3),
        ("(N+M)(N-M)", 16),
        ("{N}", 5),
    ],
)
def test_value(text: str, value: int) -> None:
    assert _value(parse_expression(plain_line(text), VALUES.keys())) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "N +",
        "(N",
        "N)",
        "N M N2",
        "2.5",
        "1.5N",
        "150 000",
        "N!",
        r"\binom{N}{K}",
        r"\sqrt{N}",
        "N mod 3",
        "XY",
        "|N + 1|",
        "A_",
        "A_{",
        "N/2",
        "10^{10^{10}}",
        "2^{2^{2^{2^{2}}}}",
        "10^{-1}",
        "1/0",
        "9" * 50,
        "(" * 100 + "N" + ")" * 100,
        "+".join("N" * 1000),
        "A_1 + ... + B_N",
        "floor(N)",
        "ceil(N + 1)",
        "min",
        "sum A_i",
        "#",
        "²",
    ],
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(NotUnderstood):
        parse_expression(plain_line(text), VALUES.keys())


def test_list_keeps_ellipses() -> None:
    assert parse_list("A_1, A_2, ..., A_N", {"A", "N"}) == (
        Reference("A", (Constant(1),)),
        Reference("A", (Constant(2),)),
        "...",
        Reference("A", (Reference("N"),)),
    )


def _links(text: str) -> list[str]:
    return [
        f"{_text(each.left)} {each.operator} {_text(each.right)}"
        if isinstance(each, Link)
        else f"{each.of.name} {'falls' if each.descending else 'rises'}{' strictly' if each.strict else ''}"
        for each in relations(plain_line(text), set("ABCDNMSTXYabcx"))
    ]


def _text(expression: Expression) -> str:
    if isinstance(expression, Constant):
        return str(expression.value)
    if isinstance(expression, Reference):
        return expression.name + "".join(f"[{_text(index)}]" for index in expression.indices)
    return "?"


@pytest.mark.parametrize(
    ("text", "links"),
    [
        (r"1 \leq N", ["1 <= N"]),
        ("N > M", ["M < N"]),
        ("N >= 3", ["3 <= N"]),
        ("N = 3", ["N == 3"]),
        (r"0 \leq A_i < B_i \leq N", ["0 <= A[i]", "A[i] < B[i]", "B[i] <= N"]),
        (r"1 \leq A_i, B_i \leq N", ["1 <= A[i]", "1 <= B[i]", "A[i] <= N", "B[i] <= N"]),
        (r"A_i, B_i \leq N", ["A[i] <= N", "B[i] <= N"]),
        (r"0 \leq A, B", ["0 <= A", "0 <= B"]),
        (r"2 \leq M, A \leq N \leq 4", ["2 <= M", "2 <= A", "M <= N", "A <= N", "N <= 4"]),
        (r"1\leq a\leq N,1\leq b\leq M", ["1 <= a", "a <= N", "1 <= b", "b <= M"]),
        (r"1 \leq a, b \leq N, a \neq b", ["1 <= a", "1 <= b", "a <= N", "b <= N", "a != b"]),
        (r"1 \leq a \leq N, b \leq M", ["1 <= a", "a <= N", "b <= M"]),
        (r"1 \leq T_1 \leq T_2 \leq \dots \leq T_N \leq 9", ["T rises", "1 <= T[#]", "T[#] <= 9"]),
        (r"9 > T_1 > \dots > T_N", ["T falls strictly", "T[#] < 9"]),
        (r"0 = T_1 < T_2 < \cdots < T_N \leq M", ["T rises strictly", "0 == T[1]", "0 <= T[#]", "T[#] <= M"]),
        (r"0 < T_1 < T_2 < \dots < T_M = N", ["T rises strictly", "0 < T[#]", "T[M] == N", "T[#] <= N"]),
    ],
)
def test_chain(text: str, links: list[str]) -> None:
    assert _links(text) == links


@pytest.mark.parametrize(
    "text",
    [
        "N",
        "N, M",
        "1 <= ",
        "a < b, c < x",
        "a <= b, c <= x",
        "1 <= a, b <= c, x <= 5",
        "1 <= A_1, A_2, ..., B_N <= 5",
        "1 < A_1 < ... ",
        "A_1 < A_2 <= ... <= A_N",
        "A_1 != A_2 != ... != A_N",
        "N/2 <= M",
        "M < N/2",
        "1 <= N ! 5",
        "N => M",
    ],
)
def test_what_is_no_chain(text: str) -> None:
    with pytest.raises(NotUnderstood):
        relations(text, set("ABCDNMSTXYabcx"))


def test_run_knows_its_ends() -> None:
    (ordered, _, _) = relations("1 <= A_2 < A_3 < ... < A_{N-1} <= 5", {"A", "N"})
    assert isinstance(ordered, Ordered)
    assert (ordered.start, ordered.end) == (Constant(2), Operation("-", Reference("N"), Constant(1)))


SUMS = st.recursive(
    st.integers(-9, 9).map(Constant) | st.sampled_from("NMK").map(Reference),
    lambda inner: st.builds(Operation, st.sampled_from("+-*"), inner, inner),
    max_leaves=8,
)


@given(SUMS, SUMS)
@settings(max_examples=200, deadline=None)
def test_simplified_has_the_same_value(left: Expression, right: Expression) -> None:
    assert _value(simplified(left)) == _value(left)
    apart = difference(left, right)
    if apart is not None:
        assert _value(left) - _value(right) == apart
    assert difference(left, left) == 0
