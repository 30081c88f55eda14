"""What statements say about their answers: cases as data, and what holds for every text."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.comparison import read_comparison
from ingest.statements.wording import read_wording

_DATA = Path(__file__).parent / "data" / "wording"
_CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted(_DATA.glob("*.toml"))
    for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]
]


@pytest.mark.parametrize("case", _CASES)
def test_wording(case: dict[str, Any]) -> None:
    wording = read_wording(case["text"], is_call=case.get("is_call", False))
    assert [name for name, _ in wording.flags] == case.get("flags", [])
    assert wording.comparison == case.get("comparison", {})
    if "sentence" in case:
        assert [sentence for _, sentence in wording.flags] == [case["sentence"]]


@pytest.mark.parametrize("case", _CASES)
def test_comparison_is_one_that_the_store_takes(case: dict[str, Any]) -> None:
    comparison = read_wording(case["text"]).comparison
    assert read_comparison(comparison) == comparison


def test_long_sentence_is_cut_around_what_counts() -> None:
    story = "because the river was high and the ferry was late and nobody had brought a lamp, " * 6
    text = f"If there are several ways home, {story}print **any** of them, {story}and then stop."
    ((name, sentence),) = read_wording(text).flags
    assert name == "multiple_answers"
    assert len(sentence) <= 300
    assert "print **any** of them" in sentence
    assert sentence.startswith("…")
    assert sentence.endswith("…")


def test_sentence_is_on_one_line() -> None:
    text = "Print the plan. If there are several,\n  print   any\tof them. Thank you."
    assert read_wording(text).flags == (("multiple_answers", "If there are several, print any of them."),)


def test_each_flag_once_with_its_first_sentence() -> None:
    text = "This is an interactive problem.\n\n### Interaction\n\nThis is an interactive problem, as said."
    assert read_wording(text).flags == (("interactive", "This is an interactive problem."),)


def test_only_the_beginning_of_megabytes_is_read() -> None:
    said = "This is an interactive problem."
    data = "17 42 " * 33_000
    assert [name for name, _ in read_wording(f"{data}\n\n{said}").flags] == ["interactive"]
    assert read_wording(f"{data * 2}\n\n{said}").flags == ()


@given(st.text(alphabet=st.sampled_from("any print order . \n # ` * $ 10^{-6} error absolute 図 出力 ![](x) é İ ")))
def test_any_text_is_read(text: str) -> None:
    wording = read_wording(text)
    assert all(len(sentence) <= 300 and "\n" not in sentence for _, sentence in wording.flags)
    assert wording == read_wording(text)
