"""What is known of problems beyond scores: wording, what became of each test, suspected duplicates. Pure.

Outputs are not kept, only how each differs first from the expected one ("token 3: expected '5', got '7'"). Equal
outputs have equal first differences; outputs with equal first differences may differ further on. So agreement is
somewhat overstated, most of all where an answer is yes or no. An output of another length is left out: its detail says
nothing of what it holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eval.audits.selection import Selection
from eval.models import ModelEntry, Registry
from eval.statistics.problem_health import ProblemOutputs

ACCEPTED, WRONG_ANSWER = "accepted", "wrong_answer"
COMPARISON = "comparison"
"""The name, among wordings, of a rule for comparing answers that the tests do not have; its sentence is the rule."""
MIN_FAMILIES = 5
_DIFFERENCE = re.compile(r"(?:(?:token|line) \d+: )?expected (?!\d+ (?:tokens|lines)\b).+, got .+", re.DOTALL)


class KnownTest(Protocol):
    """A test of a suite."""

    @property
    def name(self) -> str: ...
    @property
    def is_sample(self) -> bool: ...


class Fact(Protocol):
    """What became of one test."""

    @property
    def name(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def detail(self) -> str: ...


@dataclass(frozen=True)
class Solution:
    """One judged program: the run that it belongs to, and the tests that were run."""

    run_id: int
    tests: Sequence[Fact]


@dataclass(frozen=True)
class Likeness:
    """Two problems by name that read alike, and whose likeness nobody has decided on."""

    first: str
    second: str
    similarity: float
    reason: str


@dataclass(frozen=True)
class Evidence:
    """By problem id: what the reader of statements found (flag, sentence), the tests, and the judged programs.

    ``wordings`` has an entry for each statement that was read, empty where nothing was found.
    """

    wordings: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)
    suites: Mapping[int, Sequence[KnownTest]] = field(default_factory=dict)
    solutions: Mapping[int, Sequence[Solution]] = field(default_factory=dict)
    alike: Sequence[Likeness] = ()


@dataclass(frozen=True)
class Groups:
    """Which runs count as one source of answers, as a number for each run id, and what such a source is."""

    numbers: Mapping[int, int]
    unit: str

    @property
    def count(self) -> int:
        """How many sources there are."""
        return len(set(self.numbers.values()))


def independent_groups(selection: Selection, registry: Registry) -> Groups:
    """Runs of one provider are one source: its models learn from the same data. With fewer than five known providers
    every model is a source of its own, which overstates independence. A model without a provider always is."""
    runs = [(run.run_id, run.model, entry) for run, entry in zip(selection.board.runs, selection.entries, strict=True)]
    judged = [(run_id, model, entry) for run_id, model, entry in runs if run_id is not None]
    providers = {run_id: _provider(entry, registry) for run_id, _, entry in judged}
    models = {run_id: ("model", model.casefold()) for run_id, model, _ in judged}
    if len(set(providers.values()) - {None}) < MIN_FAMILIES:
        return Groups(_numbered(models), "models")
    families = {run_id: ("provider", name) if name else models[run_id] for run_id, name in providers.items()}
    return Groups(_numbered(families), "families")


def _provider(entry: ModelEntry | None, registry: Registry) -> str | None:
    """The provider of a model, else of the nearest model whose data it inherits."""
    known = () if entry is None else (entry, *registry.ancestors(entry))
    return next((one.provider.casefold() for one in known if one.provider), None)


def _numbered(names: Mapping[int, Hashable]) -> dict[int, int]:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names.values()))}
    return {run_id: numbers[name] for run_id, name in names.items()}


def in_order(tests: Sequence[KnownTest]) -> list[KnownTest]:
    """The tests of a suite with the samples first."""
    return sorted(tests, key=lambda test: not test.is_sample)


def outputs_of(tests: Sequence[KnownTest], solutions: Iterable[Solution], groups: Groups) -> ProblemOutputs:
    """What the solutions of one problem answer on its tests, which come in the order of `in_order`."""
    used = [solution for solution in solutions if solution.run_id in groups.numbers]
    facts = [{fact.name: fact for fact in solution.tests} for solution in used]
    ordered = in_order(tests)
    return ProblemOutputs.of_digests(
        [groups.numbers[solution.run_id] for solution in used],
        [[_answer(one.get(test.name)) for test in ordered] for one in facts],
        [ACCEPTED] * len(ordered),
        sum(test.is_sample for test in ordered),
        [[test.name in one and one[test.name].verdict == ACCEPTED for test in ordered] for one in facts],
        [[test.name in one for test in ordered] for one in facts],
    )


def _answer(fact: Fact | None) -> str | None:
    """What stands for an output: that it is the expected one, or its first difference; None where neither is known."""
    if fact is None:
        return None
    if fact.verdict == ACCEPTED:
        return ACCEPTED
    return fact.detail if fact.verdict == WRONG_ANSWER and _DIFFERENCE.fullmatch(fact.detail) else None


def commonest_difference(solutions: Iterable[Solution], test: str) -> str | None:
    """The first difference that most solutions have on a test."""
    found = Counter(
        answer
        for solution in solutions
        for fact in solution.tests
        if fact.name == test and (answer := _answer(fact)) not in {None, ACCEPTED}
    )
    return found.most_common(1)[0][0] if found else None
