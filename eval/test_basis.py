"""What the tests are that a score rests on: where they come from, and how strong those are that were made. Pure.

A kill rate pools the programs of all problems: a problem with many known-wrong programs weighs more. Its interval is
Wilson's, as if each program were drawn by itself; programs of one problem are alike, so that it is rather too narrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from db.records import MadeStrength, TestOrigin
from eval.statistics.intervals import wilson
from eval.window import ProblemFacts

NOT_RUN_HERE: Final = "not run here"
PRIVATE_PROBLEM: Final = "a private problem"
_MIXED: Final = "mixed"
_NOT_RECORDED: Final = "not recorded"
_WORDS: Final = {
    "n_official": "official",
    "n_made": "made",
    "n_recovered": "recovered",
    "n_mixed": "of several origins",
    "n_not_recorded": "of origin not recorded",
}


@dataclass(frozen=True)
class WeakestTests:
    """The made tests that fail the smallest share of known-wrong programs. ``problem`` is None for a private one."""

    problem: str | None
    n_wrong: int
    n_wrong_killed: int


@dataclass(frozen=True)
class TestBasis:
    """How many problems have hidden tests of which origin, and what those do that were made.

    Mixed are those with hidden tests of several origins; of ``n_not_recorded`` it is not known where theirs come from.
    ``strength`` sums up the ``n_measured`` problems with made tests of which it is known (None: there are none);
    ``weakest`` are the tests of the one that does worst among those with known-wrong programs.
    """

    __test__ = False

    n_problems: int
    n_official: int
    n_made: int
    n_recovered: int
    n_mixed: int
    n_not_recorded: int
    strength: MadeStrength | None = None
    n_measured: int = 0
    weakest: WeakestTests | None = None

    @property
    def kill_rate(self) -> tuple[float, float, float] | None:
        """The share of known-wrong programs that made tests fail, with the ends of its interval; None without such."""
        if self.strength is None or not self.strength.n_wrong:
            return None
        share = self.strength.n_wrong_killed / self.strength.n_wrong
        return (share, *wilson(share, self.strength.n_wrong))


def basis_of_tests(problems: Iterable[ProblemFacts]) -> TestBasis:
    """What the tests of these problems are."""
    given = tuple(problems)
    counts = Counter(_origin(one) for one in given)
    measured = [(one, one.strength) for one in given if one.strength is not None]
    return TestBasis(
        n_problems=len(given),
        n_official=counts[TestOrigin.OFFICIAL],
        n_made=counts[TestOrigin.GENERATED],
        n_recovered=counts[TestOrigin.RECOVERED],
        n_mixed=counts[_MIXED],
        n_not_recorded=counts[_NOT_RECORDED],
        strength=_pooled(strength for _, strength in measured) if measured else None,
        n_measured=len(measured),
        weakest=_weakest(measured),
    )


def _origin(problem: ProblemFacts) -> str:
    origins = set(problem.hidden_origins) - {TestOrigin.SAMPLE}
    if not origins:
        return _NOT_RECORDED
    return _MIXED if len(origins) > 1 else origins.pop()


def _pooled(strengths: Iterable[MadeStrength]) -> MadeStrength:
    rows = list(strengths)
    return MadeStrength(**{one.name: sum(getattr(row, one.name) for row in rows) for one in fields(MadeStrength)})


def _weakest(measured: Iterable[tuple[ProblemFacts, MadeStrength]]) -> WeakestTests | None:
    """Of equal ones that with most known-wrong programs, then the first by name."""
    rows = [
        (
            strength.n_wrong_killed / strength.n_wrong,
            -strength.n_wrong,
            f"{one.platform}:{one.native_id}",
            one,
            strength,
        )
        for one, strength in measured
        if strength.n_wrong
    ]
    if not rows:
        return None
    _, _, name, problem, strength = min(rows, key=lambda row: row[:3])
    return WeakestTests(None if problem.is_private else name, strength.n_wrong, strength.n_wrong_killed)


def basis_text(basis: TestBasis | None) -> str:
    """The basis in one line; "" where no problem was judged. None: no program was run on tests here."""
    if basis is None:
        return f"tests: {NOT_RUN_HERE}"
    if not basis.n_problems:
        return ""
    return "; ".join((_origins_text(basis), *_strength_texts(basis)))


def _origins_text(basis: TestBasis) -> str:
    counts = [f"{n} {word}" for name, word in _WORDS.items() if (n := getattr(basis, name))]
    return f"tests beyond the samples of {_problems(basis.n_problems)}: {', '.join(counts)}"


def _strength_texts(basis: TestBasis) -> Iterator[str]:
    if basis.strength is not None:
        yield f"made ones fail {strength_text(basis.strength)}"
    if basis.weakest is not None:
        one = basis.weakest
        yield f"weakest: {one.problem or PRIVATE_PROBLEM}, {one.n_wrong_killed} of {one.n_wrong}"
    if basis.n_measured < basis.n_made:
        yield f"strength not recorded of {basis.n_made - basis.n_measured} made ones"


def strength_text(strength: MadeStrength) -> str:
    """How many programs of each kind made tests fail: "18 of 20 known-wrong programs (90.0 %, 95 % 69.9–97.2)"."""
    return ", ".join(_failed(strength)) or "none: no program is known to measure them by"


def _failed(strength: MadeStrength) -> Iterator[str]:
    if strength.n_wrong:
        share = strength.n_wrong_killed / strength.n_wrong
        low, high = wilson(share, strength.n_wrong)
        rate = f"{100 * share:.1f} %, 95 % {100 * low:.1f}–{100 * high:.1f}"
        yield f"{strength.n_wrong_killed} of {strength.n_wrong} known-wrong programs ({rate})"
    if strength.n_mutants:
        yield f"{strength.n_mutants_killed} of {strength.n_mutants} mutants of right ones"
    if strength.n_slow:
        yield f"{strength.n_slow_killed} of {strength.n_slow} too slow ones"
    if strength.n_right:
        # Of these the tests that remain fail none: what they failed was set aside.
        aside = f" (what {strength.n_right_killed} of them failed was set aside)" if strength.n_right_killed else ""
        yield f"none of {strength.n_right} right ones{aside}"


def _problems(n: int) -> str:
    return "1 problem" if n == 1 else f"{n} problems"


def basis_to_dict(basis: TestBasis | None) -> dict[str, Any] | None:
    """The basis as JSON values; None where no program was run on tests here. Shares lie in [0, 1]."""
    if basis is None:
        return None
    rate = basis.kill_rate or (None, None, None)
    return {**asdict(basis), **dict(zip(("kill_rate", "kill_rate_low", "kill_rate_high"), rate, strict=True))}
