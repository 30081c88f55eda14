"""Workloads: how much of a user's work is of which kind, as weights by platform and difficulty.

A file names weights of any scale, for platforms, for difficulties or for both::

    [platform]
    atcoder = 2
    leetcode = 1

    [difficulty]
    easy = 1
    medium = 1
    hard = 2

With both, the weight of "atcoder hard" is 2 * 2. Kinds without a weight are left out of the score. Reading is pure.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from eval.labels import check_labels
from eval.window import ProblemFacts

_TABLES = ("platform", "difficulty")
_FORM = "write [platform] or [difficulty], and under it lines such as easy = 2"
UNKNOWN = "unknown"
_LEAST, _MOST = 1e-100, 1e100
"""What weights may be, so that products and sums of them are numbers too."""
_LONGEST = 40


class WorkloadError(ValueError):
    """A file of weights cannot be used; ``hint`` says what to write."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Workload:
    """Weights by platform and by difficulty (lower case); an empty table does not tell its kinds apart."""

    platform: Mapping[str, float] = field(default_factory=dict)
    difficulty: Mapping[str, float] = field(default_factory=dict)

    def strata(self, problems: Iterable[ProblemFacts]) -> list[str]:
        """The kind of each problem, of as many words as the workload tells apart: "atcoder hard"."""
        return [self._name(one.platform.casefold(), (one.difficulty or UNKNOWN).casefold()) for one in problems]

    def weights(self) -> dict[str, float]:
        """The weight of each kind that has one, on the scale of the file."""
        pairs = {
            self._name(platform, difficulty): first * second
            for platform, first in (self.platform or {"": 1.0}).items()
            for difficulty, second in (self.difficulty or {"": 1.0}).items()
        }
        return {name: weight for name, weight in pairs.items() if weight > 0}

    def described(self) -> str:
        """The weights as shares of 1, for a reader."""
        weights = self.weights()
        total = math.fsum(weights.values())
        return ", ".join(f"{name} {100 * weight / total:.3g} %" for name, weight in weights.items())

    def _name(self, platform: str, difficulty: str) -> str:
        parts = [platform if self.platform else "", difficulty if self.difficulty else ""]
        return " ".join(part for part in parts if part)


def read_workload(text: str, origin: str) -> Workload:
    """The weights of a file's text; ``origin`` names the file. Raises ``WorkloadError``."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WorkloadError(f"{origin}: not valid TOML: {error}", _FORM) from error
    for name in content:
        if name not in _TABLES:
            close = difflib.get_close_matches(name, _TABLES, n=1)
            raise WorkloadError(f'{origin}: unknown "{name}"', f"did you mean [{close[0]}]?" if close else _FORM)
    workload = Workload(*(_table(content.get(name, {}), f"{origin}, [{name}]") for name in _TABLES))
    if not (workload.platform or workload.difficulty):
        raise WorkloadError(f"{origin}: holds no weight", _FORM)
    return workload


def check_workload(workload: Workload, problems: Iterable[ProblemFacts], origin: str) -> None:
    """Raises ``LabelUnknown`` for a weight of a platform or a difficulty that no problem has."""
    check_labels(problems, workload.platform, workload.difficulty, origin)


def _is_usable(weight: float) -> bool:
    return _LEAST <= weight <= _MOST


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _table(table: object, where: str) -> dict[str, float]:
    if not isinstance(table, dict):
        raise WorkloadError(f"{where}: is no table", _FORM)
    weights: dict[str, float] = {}
    for name, value in table.items():
        key = name.strip().casefold()
        if isinstance(value, bool) or not isinstance(value, int | float) or not (value == 0 or _is_usable(value)):
            raise WorkloadError(
                f'{where}: the weight of "{name}" cannot be {_shown(value)}',
                f"write a number, 0 or from {_LEAST:g} to {_MOST:g}",
            )
        if key in weights:
            raise WorkloadError(f'{where}: "{name}" is there twice, in upper and lower case', "keep one of them")
        weights[key] = float(value)
    if weights and not any(weights.values()):
        raise WorkloadError(f"{where}: all weights are 0", "give at least one of them a weight above 0")
    return weights
