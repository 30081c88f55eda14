"""Inputs drawn from the grammars of lists and trees that are read elsewhere: all keep what their statements say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eval.made_tests.call_text import parse, render
from eval.made_tests.drawing import Size, all_strategies, draw_with_reasons
from eval.made_tests.grammar import Grammar, InputRefused, Sorted
from eval.made_tests.values import check
from tests.eval.made_tests.reading.test_nodes import UNDERSTOOD, read
from tests.eval.made_tests.shapes import number, of


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in UNDERSTOOD])
def test_every_drawn_input_keeps_what_its_statement_says(case: dict[str, Any]) -> None:
    grammar = read(case)
    drawing = draw_with_reasons(grammar, 2, 40)
    assert len(drawing.inputs) == 40 or drawing.is_complete
    assert not drawing.failures
    for drawn in drawing.inputs:
        check(grammar, drawn.values)
        assert parse(grammar, render(grammar, drawn.values)) == drawn.values


@pytest.mark.parametrize("size", [Size.LEAST, Size.GREATEST])
def test_of_no_lists_at_all_nothing_is_below_a_bound(size: Size) -> None:
    case = next(case for case in UNDERSTOOD if case["name"] == "several lists")
    large = ["k == lists.length", "0 <= k <= 10^4", "0 <= lists[i].length <= 500", *case["constraints"][3:5]]
    grammar = read({**case, "constraints": [*large, "The sum of lists[i].length will not exceed 10^4."]})
    values: Any = all_strategies()["minimal"].draw(grammar, np.random.default_rng(0), size)
    check(grammar, values)
    if size is Size.LEAST:
        assert values["lists"] == []


def test_rows_in_order_may_end_with_empty_ones() -> None:
    """Where the last rows have no elements, nothing comes after their ends."""
    grammar = Grammar((number("N"), number("K", "N"), number("A", "N", of("K", "i"))), (Sorted("A"),))
    check(grammar, {"N": 4, "K": [0, 2, 0, 0], "A": [[], [1, 2], [], []]})
    with pytest.raises(InputRefused, match="A is ascending"):
        check(grammar, {"N": 4, "K": [0, 2, 0, 0], "A": [[], [2, 1], [], []]})
