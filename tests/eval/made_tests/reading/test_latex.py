"""Statements in LaTeX: as Markdown, and the grammars that the wording of problem packages gives.

The statements are written for these tests.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from eval.made_tests.drawing import draw_inputs
from eval.made_tests.grammar import InputRefused
from eval.made_tests.reading.latex import as_markdown
from eval.made_tests.reading.stdin import read_stdin
from eval.made_tests.stdin_text import parse, render
from eval.made_tests.values import check

CASES = json.loads((Path(__file__).parent / "data" / "package_wording.json").read_text(encoding="utf-8"))


def statement(text: str) -> str:
    """A statement with this under "Input"."""
    return f"\\problemname{{Ducks}}\nCount the ducks.\n\n\\section*{{Input}}\n{text}\n\\section*{{Output}}\nA number.\n"


def takes(text: str, given: str) -> bool:
    """Whether the grammar of a statement, which must be complete, takes an input."""
    grammar = read_stdin(statement(text))
    assert grammar.not_understood == ()
    try:
        check(grammar, parse(grammar, given))
    except InputRefused:
        return False
    return True


def test_what_is_no_latex_stays() -> None:
    text = "A 50% chance.\n\n### Input\n\n$N$ `a` ``x'' $\\begin{cases} 1 % 2\\end{cases}$\n"
    assert as_markdown(text) == text


def test_headings_lists_and_literal_text_become_markdown() -> None:
    text = (
        "\\problemname{Ducks}\nThe \\emph{last} duck % the white one\nsays ``\\texttt{quack}'' 5\\% louder~now.\n\n"
        "\\begin{figure}[h]\n\\includegraphics{duck.png}\n\\end{figure}\n"
        "\\begin{itemize}\n\\item It is `\\verb+.+'\n or `X'.\n\\item Done.\n\\end{itemize}\n"
        "\\section*{Output}\nNone.\n"
    )
    assert as_markdown(text) == (
        'The last duck says "`quack`" 5% louder now.\n\n- It is `.` or `X`.\n\n- Done.\n\n## Output\n\nNone.\n'
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["input"][0][:50])
def test_a_package_gives_a_grammar(case: dict[str, Any]) -> None:
    text = "\n".join(case["input"])
    assert takes(text, case["right"])
    assert not takes(text, case["wrong"])
    grammar = read_stdin(statement(text))
    for one in draw_inputs(grammar, 0, 6):
        assert takes(text, render(grammar, one.values))


@pytest.mark.parametrize(
    "text",
    [
        "The first line contains an integer $n$ ($1 \\leq n \\leq 5$). $n$ lines with ducks follow.",
        "Input consists of a single real number $x$ ($0 \\le x \\le 1$).",
        "The input contains a single string $s$ ($3 \\leq |s| \\leq 9$).\nThe string is a duck written twice.",
        "Input consists of a single integer $X$ ($1 \\le X \\le 9$).\\footnote{It is even.}",
    ],
)
def test_what_is_not_understood_is_said(text: str) -> None:
    assert read_stdin(statement(text)).not_understood


@pytest.mark.parametrize(
    "text",
    [
        "\\section{a}" + "\\begin{figure}" * 7000,
        "\\section{a}" + "\\emph{" * 16000,
        "\\section{Input}" + "$" * 99000,
        "\\section{Input}" + "`" * 99000,
        "\\section{Input}\n" + "The ducks are sorted sorted " * 3500 + ".",
        "\\section{Input}\n" + "Then, $n$ descriptions of " * 3500,
    ],
)
def test_hostile_text_is_read_in_no_time(text: str) -> None:
    started = time.process_time()
    as_markdown(text)
    assert time.process_time() - started < 1
