"""Measures of memorisation, read from a file."""

from __future__ import annotations

import pytest

from eval.measures import Measured, MeasuresError, read_measures


def test_columns_by_default_and_by_name() -> None:
    text = "model,measure,gap,origin\na,1.5,0.02,us\nb,,-0.1,\n"
    found = read_measures(text, "f")
    assert found.rows == (Measured("a", 1.5, 0.02, "us"), Measured("b", None, -0.1, ""))
    assert (found.measure, found.gap) == ("measure", "gap")
    other = read_measures("model,loglik,d\na,-1,0.5\n", "f", "loglik", "d")
    assert other.rows == (Measured("a", -1.0, 0.5, ""),)
    assert read_measures("model,loglik\na,-1\n", "f", "loglik").gap is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "f: has no column model, measure"),
        ("model,loglik\na,1\n", "f: has no column measure"),
        ("model,measure\n,1\n", "f, line 2: names no model"),
        ("model,measure\na,1\nA,2\n", "f, line 3: A is on line 2 already"),
        ("model,measure\na,x\n", "f, line 2, measure: 'x' is no number"),
        ("model,measure\na,nan\n", "'nan' is no number"),
        ("model,measure,gap\na,1,inf\n", "f, line 2, gap: 'inf' is no number"),
    ],
)
def test_what_cannot_be_used(text: str, said: str) -> None:
    with pytest.raises(MeasuresError) as caught:
        read_measures(text, "f")
    assert said in caught.value.message
    assert caught.value.hint
