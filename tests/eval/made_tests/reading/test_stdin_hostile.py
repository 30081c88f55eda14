"""Statements that nobody would write: the reader answers, soon, and says that it does not understand."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.grammar import InputRefused
from eval.made_tests.reading.stdin import read_stdin
from eval.made_tests.stdin_text import parse
from eval.made_tests.values import check

LINES = [
    *("N", "N M", "A_1 A_2 \\ldots A_N", "A_1 B_1", "\\vdots", "A_M B_M", "S", "S_{1,1}S_{1,2}\\dots S_{1,N}", "1 x"),
    *("\\mathrm{case}_1", "\\mathrm{case}_N", "Each test case is given in the following format:", "..."),
    *("A_{1,1} \\ldots A_{1,N}", "A_{M,1} \\ldots A_{M,N}", "A_{i,j}", "A_N", "A_0 A_1 \\ldots A_{N-1}", "2^N"),
    "The input is given from Standard Input in the following format:",
    "The first line contains two integers $n$ and $m$ ($1 \\le n, m \\le 9$).",
    "The second line of each test case contains $n$ integers $a_1, a_2, \\ldots, a_n$ ($1 \\le a_i \\le n$).",
]
FRAGMENTS = [
    *(
        "1",
        "9",
        "10^5",
        "N",
        "M",
        "A_i",
        "B_i",
        "A_{i,j}",
        "A_{i+1}",
        "S",
        "|S|",
        "i",
        "j",
        "A",
        "(A_i, B_i)",
        "(A_j, B_j)",
    ),
    *(
        "\\leq",
        "<",
        "=",
        "\\neq",
        ">",
        ",",
        "and",
        "or",
        "+",
        "-",
        "\\times",
        "^",
        "{",
        "}",
        "(",
        ")",
        "/",
        "...",
        "\\ldots",
    ),
    *("is", "are", "integers", "a string", "of length", "consisting of", "lowercase English letters", "distinct", "."),
    *(
        "a permutation of",
        "(1,2,\\ldots,N)",
        "between 1 and",
        "inclusive",
        "if i \\neq j",
        "(1 \\leq i \\leq N)",
        "even",
    ),
    *(
        "contains",
        "exactly",
        "at least one",
        "The given graph is",
        "a tree",
        "simple",
        "The sum of",
        "over all test cases",
    ),
    *(
        "is at most",
        "There is an i such that",
        "for each i=1,2,\\ldots,N",
        "\\sum_{i=1}^{N}",
        "\\frac{",
        "\\min(",
        "#",
        "or .",
    ),
    *(
        "each of",
        "exactly once",
        "All",
        "It is guaranteed that",
        "T_1 < T_2 < \\dots < T_N",
        "\\in \\{0,1\\}",
        "'",
        "`",
        "$",
    ),
]


def _statement(lines: list[str], sentences: list[str], task: str = "") -> str:
    constraints = "\n".join(f"- {sentence}" for sentence in sentences)
    return "\n".join([task, "", "Input", "", *lines, "", "Output", "", "Constraints", "", constraints, ""])


def _rubbish() -> dict[str, str]:
    chance = random.Random(7)
    signs = "\\{}$^_<>=|`()[].,:;#*-+/ \n\tabiNMS019"
    return {
        "signs": "".join(chance.choice(signs) for _ in range(99_000)),
        "signs in constraints": _statement(["N"], ["".join(chance.choice(signs) for _ in range(99_000))]),
        "braces": _statement(["N"], ["1 \\leq " + "{" * 90_000]),
        "fractions": _statement(["N"], ["\\frac{" * 15_000]),
        "brackets in the format": _statement(["A_{" * 30_000], ["1 \\leq N \\leq 9"]),
        "blanks": _statement(["N" + " " * 90_000 + "M"], ["1 \\leq" + " " * 5_000 + "N"]),
        "many sentences": _statement(["N"], ["1 \\leq N \\leq 9"] * 5_000),
        "many lines": _statement([f"A_{place}" for place in range(9_000)], ["1 \\leq A_i \\leq 9"]),
        "many ellipses": _statement(["\\vdots"] * 9_000, ["1 \\leq N"]),
        "a long row": _statement(["A_1 " * 20_000], ["1 \\leq A_i \\leq 9"]),
        "promises": _statement(["N X"], ["1 \\leq N \\leq 9"], "constraints guarantee " * 4_000),
        "graphs": _statement(["N X"], ["1 \\leq N \\leq 9"], "You are given a connected simple graph " * 2_000),
        "headings": "Input\n" * 15_000,
        "fences": "### Input\n" + "```\nN\n" * 9_000,
        "one name": _statement(["A AA AAA"], ["1 \\leq " + "A" * 580 + " \\leq 9"]),
        "sums": _statement(["N"], ["1 \\leq " + "+".join("N" * 280) + " \\leq 9"]),
        "commas": _statement(["N M"], ["1 \\leq " + ",".join("NM" * 100) + " \\leq 9"]),
        "and": _statement(["N M"], ["N is odd" + " and M is odd" * 40]),
        "too long": "N" * 1_000_000,
    }


RUBBISH = _rubbish()


@pytest.mark.parametrize("name", RUBBISH)
def test_rubbish_is_answered_soon(name: str) -> None:
    started = time.perf_counter()
    grammar = read_stdin(RUBBISH[name])
    assert time.perf_counter() - started < 10  # a slow machine may take ten times what this one does
    assert not grammar.is_complete
    assert grammar.not_understood


@pytest.mark.parametrize(
    "sentence",
    [
        "1 \\leq N \\leq 10^{10^9}",
        "1 \\leq N \\leq 9^{9^{9^9}}",
        "1 \\leq N \\leq 2^{4097}",
        "1 \\leq N \\leq " + "9" * 500,
        "1 \\leq N \\leq " + "(" * 200 + "9" + ")" * 200,
        "1 \\leq N \\leq " + "\\min(" * 100 + "9" + ")" * 100,
        "1 \\leq N \\leq A" + "_{A" * 90 + "}" * 90,
        "1 \\leq N \\leq 2" + "^2" * 150,
        "1 \\leq N \\leq 1/0",
        "N is divisible by 0",
        "N is between 1 and 10^{10^{10}}",
    ],
)
def test_numbers_beyond_reason(sentence: str) -> None:
    grammar = read_stdin(_statement(["N"], [sentence]))
    assert sentence in grammar.not_understood


@given(
    st.lists(st.sampled_from(LINES), max_size=8),
    st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=12), max_size=4),
)
@settings(max_examples=300, deadline=None)
def test_any_fragments_give_a_grammar(lines: list[str], sentences: list[list[str]]) -> None:
    """Whatever comes out can be used: a text is read and checked, or refused, and nothing else happens."""
    said = [" ".join(sentence) for sentence in sentences]
    grammar = read_stdin(_statement(lines, said))
    assert grammar.is_complete == (grammar.not_understood == ())
    for text in ("", "1\n1\n", "2 2\n1 2\n2 1\n", "1\n2 1\n1\n1\n", "2\n..\n.#\n"):
        try:
            check(grammar, parse(grammar, text))
        except InputRefused as error:
            assert str(error)


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_taken(text: str) -> None:
    assert read_stdin(text).not_understood
    assert not read_stdin(_statement([text], [text])).per_case
