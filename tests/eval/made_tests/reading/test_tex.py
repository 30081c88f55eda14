"""TeX, Markdown and other signs as plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.made_tests.reading.tex import plain_line


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"1 \leq N \le 2\times 10^5", "1 <= N <= 2* 10^5"),
        (r"0\lt x_i\lt W", "0< x_i< W"),
        (r"$A_i \neq A_j$ ($i \ne j$)", "A_i != A_j (i != j)"),
        (r"A _ {i, j} \in \lbrace 0,1 \rbrace", "A_{i, j} in ⦃ 0,1 ⦄"),
        (r"X_i \in \{0,1\}", "X_i in ⦃0,1⦄"),
        (r"p \not \in \lbrace a_1, \ldots \rbrace", "p not in ⦃ a_1, ... ⦄"),
        (r"\frac{N(N-1)}{2}", "((N(N-1))/(2))"),
        (r"\dfrac{N(N-1)}2", "((N(N-1))/(2))"),
        (r"\min\left(\frac{N}{2},\ 5\right)", "min(((N)/(2)), 5)"),
        (r"\lfloor \frac N2 \rfloor", "floor( ((N)/(2)) )"),
        (r"\lvert S\rvert = 3", "| S| = 3"),
        (r"\mathrm{case}_1", "case_1"),
        (r"\text{query}_i", "query_i"),
        (r"A_1 A_2 \ldots A_N", "A_1 A_2 ... A_N"),
        (r"S_{1,1}S_{1,2}\ldotsS_{1,W}", "S_{1,1}S_{1,2} ... S_{1,W}"),
        (r"\vdots", "⋮"),
        (r"\color{red}{K=1}", "K=1"),
        (r"\displaystyle\sum _ {i=1}^N", "sum_{i=1}^N"),
        (r"i \neq j \implies a", "i != j => a"),
        ("1 ≤ N ≤ 2 × 10⁵", "1 <= N <= 2 * 10⁵"),
        ("10<sup>5</sup> <var>N</var> a<sub>i</sub>", "10^{5} N a_{i}"),
        ("10 ** 5 and **bold**", "10^5 and bold"),
        (r"150\,000 \le 1{,}000", "150000 <= 1000"),
        (r"`$`, `\leq` and `**`", r"`$`, `\leq` and `**`"),
        (r"$ and #", "$ and #"),
        (r"\unknown{x}", r"\unknown{x}"),
        (r"\binom{N}{K}", r"\binom{N}{K}"),
    ],
)
def test_plain_line(text: str, plain: str) -> None:
    assert plain_line(text) == plain


@given(st.text(alphabet=" \\{}$^_<>|`abN12(),.", max_size=60))
def test_any_text_is_taken(text: str) -> None:
    assert isinstance(plain_line(text), str)


@given(st.text(alphabet=" abN12(),.<=", max_size=60))
def test_plain_text_stays_as_it_is_but_for_white_space(text: str) -> None:
    assert plain_line(text) == " ".join(text.split())
