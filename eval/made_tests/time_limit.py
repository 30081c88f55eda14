"""A time limit for a problem that states none, from how long its accepted references take. Pure.

The rule is that of Kattis' problem package format (https://www.kattis.com/problem-package-format/spec/2025-09, "Problem
timing"): with the slowest accepted program T_ac and the fastest one that is meant to be too slow T_tle, the limit is
the smallest multiple of a resolution, 1 s, with

    T_ac x ac_to_time_limit <= limit    and    limit x time_limit_to_tle <= T_tle

and an error where there is none. Its multipliers are 2 and 1.5 (``CURRENT``); those of the format before it
(https://www.kattis.com/problem-package-format/spec/legacy, ``time_multiplier`` and ``time_safety_margin``) are 5 and 2
(``LEGACY``), the default here: few references are known, and none was written to be the slowest that should pass. The
legacy text has no rule for rounding; here both round up (problemtools rounds a legacy limit to the nearest second).

Times are CPU seconds of the slowest test, in microseconds so that nothing depends on how floats round. What a language
gets beyond the limit is the sandbox's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite


@dataclass(frozen=True)
class TimeRule:
    """How far the limit is from the programs on both sides; ``resolution_s`` is the step of limits, and the least."""

    ac_to_time_limit: Fraction
    time_limit_to_tle: Fraction
    resolution_s: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if min(self.ac_to_time_limit, self.time_limit_to_tle) < 1 or self.resolution_s <= 0:
            raise ValueError("the multipliers of a time rule are at least 1, its resolution is more than 0")


LEGACY = TimeRule(Fraction(5), Fraction(2))
CURRENT = TimeRule(Fraction(2), Fraction(3, 2))


@dataclass(frozen=True)
class Calibration:
    """How fast the machine was: CPU seconds of a fixed piece of work, ``workload`` its name with its version."""

    workload: str
    cpu_s: float

    def __post_init__(self) -> None:
        _micros(self.workload, self.cpu_s)
        if not self.cpu_s > 0:
            raise ValueError(f"{self.workload}: a calibration takes more than 0 s")


@dataclass(frozen=True)
class TimeLimit:
    """A limit of CPU time with all that it follows from.

    ``is_capped``: the rule alone would give a longer one. ``caught`` are the programs meant to be too slow that are
    over it by the rule's margin, ``near`` those over it by less: they may pass elsewhere. ``missed`` are within it.
    """

    cpu_s: float
    slowest: str
    slowest_cpu_s: float
    rule: TimeRule
    calibration: Calibration
    caught: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    is_capped: bool = False

    @property
    def holds_rule(self) -> bool:
        """Whether both sides of the rule hold; without programs meant to be too slow the second one does."""
        return not self.near and not self.missed

    @property
    def sentence(self) -> str:
        """What the limit follows from, on one line."""
        factor, slowest = f"{float(self.rule.ac_to_time_limit):g}", f"{self.slowest_cpu_s:.3f}"
        ending = "and no more" if self.is_capped else f"rounded up to {float(self.rule.resolution_s):g} s"
        return (
            f"time limit {self.cpu_s:g} s: {factor} x {slowest} s of {self.slowest}, {ending} "
            f"({self.calibration.workload}: {self.calibration.cpu_s:.3f} s)"
        )

    def on(self, now: Calibration) -> float:
        """The CPU seconds on a machine of another speed that are worth as much as the limit; never rounded.

        ValueError where the other calibration is of another workload.
        """
        if now.workload != self.calibration.workload:
            raise ValueError(f"{now.workload} cannot be compared with {self.calibration.workload}")
        return self.cpu_s * now.cpu_s / self.calibration.cpu_s


def time_limit(
    accepted: Mapping[str, float],
    calibration: Calibration,
    too_slow: Mapping[str, float] | None = None,
    rule: TimeRule = LEGACY,
    most_s: float | None = None,
) -> TimeLimit:
    """The limit from the CPU seconds of the accepted references by name, each on the test that takes it longest.

    ``too_slow`` are programs that are meant to fail; they never change the limit, which is the smallest that the
    accepted ones allow: one that breaks the second inequality is no error but stands in ``near`` or ``missed``. A
    limit is at most ``most_s``: the programs were given no more, so that longer times say nothing. ValueError without
    an accepted reference, or for a time that is none.
    """
    if not accepted:
        raise ValueError("no accepted reference to take a time limit from")
    micros = {name: _micros(name, cpu_s) for name, cpu_s in accepted.items()}
    slowest = min(micros, key=lambda name: (-micros[name], name))
    wanted = rule.ac_to_time_limit * Fraction(micros[slowest], 1_000_000)
    by_rule = max(1, ceil(wanted / rule.resolution_s)) * rule.resolution_s
    limit = by_rule if most_s is None else min(by_rule, Fraction(_micros("the longest limit", most_s), 1_000_000))
    slow = {name: Fraction(_micros(name, cpu_s), 1_000_000) for name, cpu_s in sorted((too_slow or {}).items())}
    over = limit * rule.time_limit_to_tle
    return TimeLimit(
        cpu_s=float(limit),
        slowest=slowest,
        slowest_cpu_s=micros[slowest] / 1e6,
        rule=rule,
        calibration=calibration,
        caught=tuple(name for name, cpu_s in slow.items() if cpu_s >= over),
        near=tuple(name for name, cpu_s in slow.items() if limit < cpu_s < over),
        missed=tuple(name for name, cpu_s in slow.items() if cpu_s <= limit),
        is_capped=limit < by_rule,
    )


def _micros(name: str, cpu_s: float) -> int:
    if not (isfinite(cpu_s) and cpu_s >= 0):
        raise ValueError(f"{name}: {cpu_s} is no CPU time")
    return round(cpu_s * 1_000_000)
