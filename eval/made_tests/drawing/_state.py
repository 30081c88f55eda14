"""An input that is being drawn: what is ready to be drawn, what was chosen so far, and where to go on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eval.made_tests import exact
from eval.made_tests.drawing._domains import Domains
from eval.made_tests.drawing._problem import Problem
from eval.made_tests.drawing._relations import Scope
from eval.made_tests.drawing._style import Style
from eval.made_tests.exact import Numbers
from eval.made_tests.flat import Flat, Layout, no_indices
from eval.made_tests.grammar import Expression, Kind, Value, Values


@dataclass
class State:
    """The integers that are settled are in ``domains``; strings and decimals, laid flat, in ``texts``."""

    problem: Problem
    domains: Domains
    rng: np.random.Generator
    style: Style
    texts: dict[str, list[str]] = field(default_factory=dict)

    def layout(self, name: str) -> Layout:
        """Where the elements of a variable stand; its extents are settled when it is drawn."""
        return self.domains.layouts[name]

    def of_cases(self, expression: Expression) -> Numbers:
        """An expression for each test case (one where there are none); what is not settled counts at its least."""
        n_cases = self.domains.n_cases or 0
        low, _ = self.domains.interval(expression, Scope(no_indices(n_cases)))
        return np.broadcast_to(low, (n_cases,))

    def groups(self, name: str, *, within_row: bool = False) -> Numbers:
        """Where the elements of each row begin, or those of each test case; with the end."""
        layout = self.layout(name)
        is_per_case = name in self.problem.grammar.per_case
        if within_row and len(layout.offsets) > is_per_case:
            return layout.rows
        if not self.problem.variables[name].dimensions:
            return np.arange(layout.size + 1)
        bounds = np.arange(int(layout.offsets[0][-1]) + 1) if is_per_case else np.array([0, 1])
        for offsets in layout.offsets[int(is_per_case) :]:
            bounds = offsets[bounds]
        return bounds

    def case_of(self, name: str) -> Numbers:
        """The test case of each element."""
        layout = self.layout(name)
        if name not in self.problem.grammar.per_case:
            return np.zeros(layout.size, dtype=np.int64)
        groups = self.groups(name) if self.problem.variables[name].dimensions else np.arange(layout.size + 1)
        return np.repeat(np.arange(len(groups) - 1), np.diff(groups))

    def flats(self) -> dict[str, Flat]:
        """The variables that are settled, laid flat."""
        flats = {}
        for name, variable in self.problem.variables.items():
            is_per_case = name in self.problem.grammar.per_case
            if variable.kind is Kind.INTEGER and self.domains.is_settled(name):
                flats[name] = Flat(variable, self.layout(name), is_per_case, self.domains.low[name])
            elif name in self.texts:
                flats[name] = Flat(variable, self.layout(name), is_per_case, None, self.texts[name])
        return flats

    def values(self) -> Values:
        """What was drawn, as the values of an input."""
        found: Values = {}
        for name in self.problem.variables:
            if name in self.problem.helpers:
                continue
            elements: list[object] = list(self.texts[name]) if name in self.texts else self.domains.low[name].tolist()
            value: Value = self.layout(name).nested(elements)  # type: ignore[assignment] # nested rows of values
            found[name] = value
        return found

    def settle(self, name: str, values: Numbers) -> None:
        """Choose the values of an integer variable; CannotDraw where others have none left."""
        self.domains.assign(name, exact.narrowed(values))
