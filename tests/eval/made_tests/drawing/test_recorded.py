"""Inputs drawn from the grammars of the recorded problems."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

from eval.made_tests import call_text, stdin_text
from eval.made_tests.drawing import CannotDraw, draw_with_reasons
from eval.made_tests.grammar import Grammar
from eval.made_tests.reading.calls import read_call
from eval.made_tests.reading.stdin import read_stdin
from eval.made_tests.values import check

WANTED = 6
EVERY = 8
"""One grammar of so many is drawn from: all of them take a quarter of an hour."""
MAX_RENDERED = 20_000
"""Larger inputs are not rendered here; their shapes are those of the smaller ones."""


def complete_grammars(shared: Path) -> Iterator[tuple[str, Grammar, ModuleType]]:
    texts: ModuleType
    with gzip.open(shared / "livecodebench" / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["platform"] == "leetcode":
                grammar, texts = read_call(row["statement"], [tuple(each) for each in row["args"]]), call_text
            else:
                grammar, texts = read_stdin(row["statement"]), stdin_text
            if grammar.is_complete:
                yield row["question_id"], grammar, texts


def amount(value: object) -> int:
    if isinstance(value, dict):
        return sum(map(amount, value.values()))
    return sum(map(amount, value)) if isinstance(value, list) else len(value) if isinstance(value, str) else 1


@pytest.mark.shared
@pytest.mark.slow
def test_inputs_are_drawn_from_almost_all_grammars(shared_data: Path) -> None:
    n_grammars, failed, short, n_failures = 0, {}, {}, 0
    for name, grammar, texts in islice(complete_grammars(shared_data), 0, None, EVERY):
        n_grammars += 1
        try:
            drawing = draw_with_reasons(grammar, 1, WANTED)
        except CannotDraw as error:
            failed[name] = error.message
            continue
        n_failures += len(drawing.failures)
        if len(drawing.inputs) < WANTED and not drawing.is_complete:
            short[name] = len(drawing.inputs)
        for each in drawing.inputs:
            if amount(each.values) <= MAX_RENDERED:
                assert texts.parse(grammar, texts.render(grammar, each.values)) == each.values, (name, each.strategy)
            check(grammar, each.values)
    assert n_grammars > 850 // EVERY
    assert len(failed) <= 0.02 * n_grammars, failed
    assert len(short) <= 0.02 * n_grammars, short  # those that have but few inputs
    assert n_failures < 0.05 * n_grammars
