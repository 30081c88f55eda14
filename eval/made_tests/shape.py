"""The shape of an input: every variable is there, of its kind, with its extents. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from eval.made_tests import exact
from eval.made_tests.flat import Flat, Tuples, evaluate_all, laid_flat, no_indices
from eval.made_tests.grammar import Grammar, InputRefused, Kind, Value, Values, Variable
from eval.made_tests.mentions import number_of_cases
from eval.made_tests.wording import KIND_NOUNS, expression_text, extent_text, shown

INDEX_NAMES = ("i", "j", "k")
"""What the index of a variable's first, second and third dimension is called in the extents of the later ones."""

_DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def flatten(grammar: Grammar, values: Values) -> tuple[dict[str, Flat], int]:
    """The variables laid flat, and the number of test cases (1 where there are none); InputRefused."""
    _refuse_other_names(grammar, values)
    n_cases = _count_cases(grammar, values)
    flats = {}
    for variable in grammar.variables:
        flat = _flat(variable, values[variable.name], variable.name in grammar.per_case)
        if flat.is_per_case and (there := int(flat.layout.offsets[0][-1])) != n_cases:
            raise InputRefused(f"{variable.name} is there for {there} test cases, not {n_cases}")
        flats[variable.name] = flat
    for flat in flats.values():
        _check_extents(flat, flats, n_cases)
    return flats, n_cases


def _refuse_other_names(grammar: Grammar, values: Values) -> None:
    names = [variable.name for variable in grammar.variables]
    if missing := [name for name in names if name not in values]:
        raise InputRefused(f"{missing[0]} is missing")
    if other := sorted(values.keys() - set(names)):
        raise InputRefused(f"{other[0]} is no variable of this input")


def _count_cases(grammar: Grammar, values: Values) -> int:
    count = number_of_cases(grammar)
    if count is not None:
        value = values[count.name]
        if type(value) is not int or value < 0:
            raise InputRefused(f"{count.name} is no number of test cases: {shown(value)}")
        return value
    lengths = {len(row) for name in grammar.per_case if isinstance(row := values[name], list)}
    if len(lengths) > 1:
        raise InputRefused("the variables are there for different numbers of test cases")
    return lengths.pop() if lengths else 1


def _flat(variable: Variable, value: Value, is_per_case: bool) -> Flat:
    wanted = int if variable.kind is Kind.INTEGER else str
    try:
        layout, elements = laid_flat(variable, value, is_per_case)
    except TypeError:
        raise InputRefused(f"{variable.name} is no {_noun(variable, is_per_case)}") from None
    if set(map(type, elements)) - {wanted}:
        wrong = next(element for element in elements if type(element) is not wanted)
        raise InputRefused(f"{variable.name} has {shown(wrong)}, which is not {KIND_NOUNS[variable.kind]}")
    if variable.kind is Kind.STRING:
        return Flat(variable, layout, is_per_case, None, elements)  # type: ignore[arg-type] # all are strings
    if variable.kind is Kind.INTEGER:
        return Flat(variable, layout, is_per_case, exact.numbers(elements))
    return Flat(variable, layout, is_per_case, exact.objects([_fraction(variable, str(each)) for each in elements]))


def _noun(variable: Variable, is_per_case: bool) -> str:
    rows = f"nested rows ({extent_text(variable)})" if variable.dimensions else "value"
    return f"{rows} for each test case" if is_per_case else rows


def _fraction(variable: Variable, text: str) -> Fraction:
    if not _DECIMAL.fullmatch(text):
        raise InputRefused(f"{variable.name} has {shown(text)}, which is not {KIND_NOUNS[Kind.DECIMAL]}")
    return Fraction(text)


def _check_extents(flat: Flat, flats: Mapping[str, Flat], n_cases: int) -> None:
    tuples: Tuples = no_indices(n_cases if flat.is_per_case else None)
    levels = flat.layout.offsets[1:] if flat.is_per_case else flat.layout.offsets
    first = exact.constant(flat.variable.first_index)
    for name, offsets, extent in zip(INDEX_NAMES, levels, flat.variable.dimensions, strict=False):
        there = np.diff(offsets)
        wanted = np.broadcast_to(evaluate_all(extent, flats, tuples), there.shape)
        if (wanted != there).any():
            place = int(np.argmax(wanted != there))
            raise InputRefused(
                f"{flat.variable.name} has {there[place]} elements, and {expression_text(extent)} is "
                f"{wanted[place]}{where(tuples, place)}"
            )
        tuples, _ = tuples.with_index(name, first, exact.add(there, first) - 1)


def where(tuples: Tuples, place: int) -> str:
    """ " for i = 3 in test case 2": which of the tuples it is."""
    indices = ", ".join(f"{name} = {values[place]}" for name, values in tuples.indices.items())
    case = "" if tuples.case is None else f" in test case {int(tuples.case[place]) + 1}"
    return f"{f' for {indices}' if indices else ''}{case}"
