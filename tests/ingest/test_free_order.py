"""What a statement's wording means for functions and classes: cases as data, and what holds for every text."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.comparison import read_comparison
from ingest.statements.free_order import for_class, for_function
from ingest.statements.wording import Wording, read_wording

CASES = tomllib.loads((Path(__file__).parent / "data" / "free_order.toml").read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_a_list_is_in_any_order_only_where_that_is_certain(case: dict[str, Any]) -> None:
    wording = for_function(read_wording(case["text"], is_call=True), case["text"], case["returned"])
    assert wording.comparison.get("unordered") == case.get("unordered")
    assert [name for name, _ in wording.flags] == ["multiple_answers"] * case.get("flagged", False)
    assert read_comparison(wording.comparison) == wording.comparison


def test_other_rules_and_flags_stay() -> None:
    text = (
        "This is an interactive problem. You can return the answer in any order. "
        "Answers within $10^{-5}$ of the actual answer will be accepted."
    )
    before = read_wording(text, is_call=True)
    after = for_function(before, text, "double[]")
    assert [name for name, _ in before.flags] == ["interactive", "multiple_answers"]
    assert [name for name, _ in after.flags] == ["interactive"]
    assert after.comparison == before.comparison | {"unordered": "list"}
    assert after.comparison["absolute_tolerance"] == 1e-5


@pytest.mark.parametrize(
    "text",
    [
        "`pick()` returns a random boat.",
        "Each boat must be equally likely to be returned.",
        "Every boat has the same probability of being drawn.",
    ],
)
def test_a_class_that_answers_at_random_has_several_answers(text: str) -> None:
    assert for_class(Wording(), f"Design a harbour.\n\n{text}").flags == (("multiple_answers", text),)


def test_a_class_without_chance_keeps_its_wording() -> None:
    known = Wording((("multiple_answers", "Return any boat."),))
    assert for_class(Wording(), "Design a harbour. A boat may have been named at will.") == Wording()
    assert for_class(known, "Return any boat. It is drawn at random.") == known


@given(
    st.text(alphabet=st.sampled_from("return answer in any order list each sorted does not matter . \n ` * É ")),
    st.sampled_from(["integer", "integer[]", "string[][]"]),
)
def test_any_text_is_read(text: str, returned: str) -> None:
    before = read_wording(text, is_call=True)
    after = for_function(before, text, returned)
    assert set(after.flags) <= set(before.flags)
    assert (after == before) == ("unordered" not in after.comparison)
