"""What a grammar has that a strategy needs. Pure but for the generator."""

from __future__ import annotations

import numpy as np

from eval.made_tests.drawing._problem import problem_of
from eval.made_tests.drawing._style import Size
from eval.made_tests.grammar import (
    Characters,
    Comparison,
    Grammar,
    Graph,
    GraphKind,
    Kind,
    LevelOrder,
    OneOf,
    Permutation,
    SumAtMost,
)
from eval.made_tests.mentions import names_in, number_of_cases


def cases_for(size: Size, rng: np.random.Generator) -> Size:
    """How many test cases an input of this size has: few large ones as often as many."""
    if size is Size.LARGE or size is Size.GREATEST:
        return (Size.LEAST, Size.SMALL, Size.MID, Size.LARGE)[int(rng.integers(4))]
    return size


def has_cases(grammar: Grammar) -> bool:
    """There are test cases, and there may be more than one."""
    count = number_of_cases(grammar)
    return count is not None and int(problem_of(grammar).domains.high[count.name][0]) > 1


def shares_among_cases(grammar: Grammar) -> bool:
    """Something may be only so large in all test cases together."""
    sums = (each for each in grammar.constraints if isinstance(each, SumAtMost))
    return has_cases(grammar) and any(
        names_in([each.expression]) & grammar.per_case and not names_in([each.limit]) & grammar.per_case
        for each in sums
    )


def has_integers(grammar: Grammar) -> bool:
    """There are integers that no extents depend on."""
    problem = problem_of(grammar)
    return any(variable.kind is Kind.INTEGER and variable.name not in problem.extents for variable in grammar.variables)


def has_rows(grammar: Grammar) -> bool:
    """There are rows of integers."""
    return any(variable.kind is Kind.INTEGER and variable.dimensions for variable in grammar.variables)


def has_letters(grammar: Grammar) -> bool:
    """There are strings of letters that can be chosen."""
    return any(isinstance(each, Characters) and len(each.characters) > 1 for each in grammar.constraints)


def has_rows_or_strings(grammar: Grammar) -> bool:
    """There is something with more than one element."""
    return has_rows(grammar) or has_letters(grammar) or any(isinstance(each, OneOf) for each in grammar.constraints)


def has_grids(grammar: Grammar) -> bool:
    """There are rows of strings."""
    return has_letters(grammar) and any(
        variable.kind is Kind.STRING and variable.dimensions for variable in grammar.variables
    )


def has_extents(grammar: Grammar) -> bool:
    """There are two extents or more that are no number of test cases."""
    problem = problem_of(grammar)
    scalars = [name for name in problem.extents if not problem.variables[name].dimensions and name != problem.count]
    return len(scalars) > 1


def has_tables(grammar: Grammar) -> bool:
    """There is something with two extents."""
    lengths = {variable.name for variable in grammar.variables if variable.kind is Kind.STRING}
    return any(len(variable.dimensions) + (variable.name in lengths) > 1 for variable in grammar.variables)


def has_permutations(grammar: Grammar) -> bool:
    """There are permutations."""
    return any(isinstance(each, Permutation) for each in grammar.constraints)


def has_edges(grammar: Grammar) -> bool:
    """There are graphs or trees."""
    return any(isinstance(each, Graph) for each in grammar.constraints)


def has_binary_trees(grammar: Grammar) -> bool:
    """There are binary trees of any shape."""
    places = {each.places for each in grammar.columns if isinstance(each, LevelOrder)}
    fixed = {
        name
        for each in grammar.constraints
        if isinstance(each, Comparison) and each.operator == "=="
        for name in names_in((each.left, each.right))
    }
    return bool(places - fixed)


def has_graphs(grammar: Grammar) -> bool:
    """There are graphs that may have more edges than a tree."""
    graphs = (each for each in grammar.constraints if isinstance(each, Graph))
    return any(not each.is_parents and GraphKind.TREE not in each.kinds for each in graphs)


def has_large_numbers(grammar: Grammar) -> bool:
    """Some integer may be close to 10^9 or greater."""
    return _greatest(grammar) >= 998244352


def has_large_sums(grammar: Grammar) -> bool:
    """The sum of a row may pass 2^31."""
    domains = problem_of(grammar).domains
    return any(
        variable.kind is Kind.INTEGER
        and len(variable.dimensions) == 1
        and int(domains.high[variable.name].max(initial=0)) * domains.most(variable.dimensions[0]) >= 2**31
        for variable in grammar.variables
    )


def _greatest(grammar: Grammar) -> int:
    domains = problem_of(grammar).domains
    return max(
        (
            int(domains.high[variable.name].max(initial=0))
            for variable in grammar.variables
            if variable.kind is Kind.INTEGER
        ),
        default=0,
    )
