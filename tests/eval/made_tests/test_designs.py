"""Inputs drawn for design classes: each keeps what the statement says, and together they are worth having."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.made_tests.design_checks import check_calls
from eval.made_tests.design_grammar import DesignGrammar
from eval.made_tests.design_text import parse, render
from eval.made_tests.designs import MAX_CALLS, DesignDrawing, draw_designs, extremes_of_calls
from eval.made_tests.drawing import MAX_BYTES, CannotDraw
from eval.made_tests.reading.designs import read_design
from sandbox import signatures
from sandbox.programs import Io, Signature
from tests.eval.made_tests.reading.test_designs import cases, read

UNDERSTOOD = cases("designs.toml")


def design(*sentences: str, constructor: Any = (), **methods: Any) -> DesignGrammar:
    lines = "\n".join(sentences)
    pairs = {name: list(given.items()) for name, given in methods.items()}
    grammar = read_design(f"Do it.\n\nConstraints:\n{lines}", "It", list(dict(constructor).items()), pairs)
    assert grammar.not_understood == ()
    return grammar


def cache(limit: str = "300") -> DesignGrammar:
    return design(
        *("1 <= capacity <= 3000", "0 <= key <= 10^4", "0 <= value <= 10^5"),
        f"At most {limit} calls will be made to get and put.",
        constructor={"capacity": "int"},
        get={"key": "int"},
        put={"key": "int", "value": "int"},
    )


def lines_of(text: str) -> tuple[list[str], list[list[Any]]]:
    names, arguments = map(json.loads, text.split("\n"))
    return names, arguments


def require_sound(grammar: DesignGrammar, drawing: DesignDrawing) -> None:
    texts = [each.text for each in drawing.inputs]
    assert len(set(texts)) == len(texts)
    for drawn in drawing.inputs:
        assert render(grammar, drawn.calls) == drawn.text
        assert parse(grammar, drawn.text) == drawn.calls
        check_calls(grammar, drawn.calls)
        names, arguments = lines_of(drawn.text)
        assert len(names) == len(arguments)
        assert names[0] == grammar.name
        assert set(names[1:]) <= {method.name for method in grammar.methods}


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_every_drawn_input_keeps_what_its_statement_says(case: dict[str, Any]) -> None:
    grammar = read(case)
    drawing = draw_designs(grammar, 1, 40)
    require_sound(grammar, drawing)
    assert len(drawing.inputs) >= 20
    assert not drawing.failures
    called = Counter(name for each in drawing.inputs for name in lines_of(each.text)[0][1:])
    assert set(called) == set(case["methods"])


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_the_sandbox_takes_what_is_drawn(case: dict[str, Any]) -> None:
    grammar = read(case)
    types = [tuple(signatures.read_type(kind) for _, kind in given) for given in case["methods"].values()]
    methods = tuple((name, Signature(kinds, "void")) for name, kinds in zip(case["methods"], types, strict=True))
    made_with = tuple(signatures.read_type(kind) for _, kind in case["constructor"])
    details = signatures.details_of(Io.DESIGN, grammar.name, Signature(made_with, methods=methods))
    for drawn in draw_designs(grammar, 0, 12).inputs:
        signatures.check_input(details, drawn.text.encode())


@st.composite
def bounded_designs(draw: st.DrawFn) -> tuple[DesignGrammar, dict[str, tuple[int, int]], int]:
    """Classes with numbers as arguments, the bounds of these, and how many calls are allowed."""
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True))
    methods = {
        name: dict.fromkeys(draw(st.lists(st.sampled_from(names), max_size=3, unique=True)), "int")
        for name in draw(st.lists(st.sampled_from(["add", "drop", "look"]), min_size=1, max_size=3, unique=True))
    }
    used = sorted({name for given in methods.values() for name in given})
    bounds = {}
    for name in used:
        low = draw(st.integers(-(10**9), 10**9))
        bounds[name] = (low, low + draw(st.integers(0, 10**9)))
    most = draw(st.integers(1, 50))
    sentences = [f"{low} <= {name} <= {high}" for name, (low, high) in bounds.items()]
    limit = f"At most {most} calls will be made to {', '.join(methods)}."
    return design(*sentences, limit, **methods), bounds, most


@given(bounded_designs(), st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_whatever_the_bounds_they_are_kept(
    drawn: tuple[DesignGrammar, dict[str, tuple[int, int]], int], seed: int
) -> None:
    grammar, bounds, most = drawn
    drawing = draw_designs(grammar, seed, 10)
    require_sound(grammar, drawing)
    for each in drawing.inputs:
        names, arguments = lines_of(each.text)
        assert 1 <= len(names) - 1 <= most
        for name, values in zip(names[1:], arguments[1:], strict=True):
            parameters = grammar.by_name[name].parameters
            assert all(bounds[of][0] <= value <= bounds[of][1] for of, value in zip(parameters, values, strict=True))


def test_the_same_seed_draws_the_same_inputs() -> None:
    one, other, another = (draw_designs(cache(), seed, 25) for seed in (5, 5, 6))
    assert one == other
    assert one != another


def test_few_inputs_have_all_methods_collisions_and_the_greatest_number_of_calls() -> None:
    texts = [each.text for each in draw_designs(cache(), 0, 5).inputs]
    assert len(texts) == 5
    counts = [len(lines_of(text)[0]) - 1 for text in texts]
    assert counts == sorted(counts)
    assert counts[0] <= 6
    assert counts[-1] == 300
    assert any(set(lines_of(text)[0][1:]) == {"get", "put"} for text in texts)


def test_keys_that_were_put_are_got_again() -> None:
    known = 0
    asked = 0
    for each in draw_designs(cache(), 2, 40).inputs:
        put = set()
        for name, values in zip(*lines_of(each.text), strict=True):
            if name == "put":
                put.add(values[0])
            elif name == "get":
                asked += 1
                known += values[0] in put
    assert 0.2 < known / asked < 0.9


def test_a_cache_is_full_sometimes() -> None:
    """More different keys than it has places: only then anything is thrown out."""
    full = 0
    for each in draw_designs(cache(), 2, 40).inputs:
        names, arguments = lines_of(each.text)
        keys = {given[0] for name, given in zip(names, arguments, strict=True) if name == "put"}
        full += len(keys) > arguments[0][0]
    assert full >= 5


def test_numbers_of_calls_are_capped_and_said_to_be() -> None:
    drawing = draw_designs(cache("10^6"), 0, 6)
    assert drawing.is_capped
    assert max(len(each.calls.calls) for each in drawing.inputs) == MAX_CALLS
    assert not draw_designs(cache(), 0, 6).is_capped


def test_long_arguments_are_called_less_often() -> None:
    grammar = design(
        *("1 <= word.length, prefix.length <= 2000", "word and prefix consist of lowercase English letters."),
        "At most 30000 calls will be made to insert and find.",
        insert={"word": "str"},
        find={"prefix": "str"},
    )
    drawing = draw_designs(grammar, 0, 6)
    assert all(len(each.text) <= MAX_BYTES for each in drawing.inputs)
    assert max(len(each.text) for each in drawing.inputs) > MAX_BYTES // 8
    words = {
        given[0]
        for each in drawing.inputs
        for name, given in zip(*lines_of(each.text), strict=True)
        if name == "insert"
    }
    asked = [
        given[0] for each in drawing.inputs for name, given in zip(*lines_of(each.text), strict=True) if name == "find"
    ]
    assert any(each in words for each in asked)
    assert any(each not in words and any(word.startswith(each) for word in words) for each in asked[:2000])


def test_times_that_rise_are_different_and_end_with_their_range() -> None:
    grammar = design(
        *("1 <= t <= 40", "All the values of t are strictly increasing.", "At most 10^4 calls will be made to ping."),
        ping={"t": "int"},
    )
    drawing = draw_designs(grammar, 0, 30)
    times = [[given[0] for given in lines_of(each.text)[1][1:]] for each in drawing.inputs]
    assert all(each == sorted(set(each)) for each in times)
    assert max(map(len, times)) == 40


def test_the_range_of_a_call_follows_what_the_class_was_made_with() -> None:
    grammar = design(
        *("1 <= nums.length <= 50", "0 <= nums[i] <= 9", "0 <= left <= right < nums.length"),
        "At most 500 calls will be made to sum.",
        constructor={"nums": "List[int]"},
        sum={"left": "int", "right": "int"},
    )
    reached = 0
    for each in draw_designs(grammar, 3, 30).inputs:
        _, (made_with, *calls) = lines_of(each.text)
        size = len(made_with[0])
        assert all(0 <= left <= right < size for left, right in calls)
        reached += any((left, right) == (0, size - 1) for left, right in calls)
    assert reached >= 5


def test_extremes_say_which_bounds_are_reached() -> None:
    drawing = draw_designs(cache(), 0, 30)
    reached = {each.bound: each.n_inputs for each in extremes_of_calls(cache(), [one.calls for one in drawing.inputs])}
    assert set(reached) == {
        *("It: 1 <= capacity", "It: capacity <= 3000", "get: 0 <= key", "get: key <= 10^4"),
        *("put: 0 <= key", "put: key <= 10^4", "put: 0 <= value", "put: value <= 10^5", "300 calls of get, put"),
    }
    assert min(reached.values()) > 0


def test_from_what_is_not_understood_nothing_is_drawn() -> None:
    grammar = read_design("Do it.\n\nConstraints:\n1 <= x <= 9", "It", [], {"add": [("x", "int")]})
    with pytest.raises(CannotDraw, match="nothing says how often add is called"):
        draw_designs(grammar, 0, 5)


def test_bounds_that_contradict_each_other_are_said_with_the_method() -> None:
    grammar = design(
        *("1 <= n <= 3", "5 <= x <= n", "At most 5 calls will be made to add."),
        constructor={"n": "int"},
        add={"x": "int"},
    )
    with pytest.raises(CannotDraw, match=r"^add: "):
        draw_designs(grammar, 0, 5)
