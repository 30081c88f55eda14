"""What made tests are worth: programs of which is known what they are, and mutants of right ones, run on them.

Programs that fail a sample already say nothing of made tests and are not counted. A test that a program fails which
other tests know to be right is set aside: it, its expected output or the comparison is wrong, or the program is; a
person has to look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from db.records import MadeStrength, ProgramRole
from eval.made_tests.agreement import Finding, FindingKind
from eval.made_tests.material import KnownProgram, Material
from eval.made_tests.mutants import mutants
from eval.made_tests.strength import (
    BoolArray,
    MadeTest,
    Programs,
    Strength,
    largest,
    minimal_subset,
    strength,
)
from eval.made_tests.trials import Trials
from sandbox import Program, Verdict

MOST_FAILURES: Final = 4
"""After so many failures a program is caught, and not run on: those that hang would take minutes."""
MOST_PROGRAMS: Final = 40
"""So many programs of a kind are run."""
MOST_RIGHT: Final = 12
"""So many right ones: they are run on every test, since none is to fail one."""
N_MUTANTS: Final = 16
MUTANT_BYTES: Final = 64 * 1024
"""Mutants are run on tests up to this size: what tells them from their originals is seldom how much there is to do."""
_ORIGINALS: Final = 2
_MUTABLE: Final = "python3"
_WRONG = frozenset({Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.OUTPUT_LIMIT})
_SLOW = frozenset({Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT})


@dataclass(frozen=True)
class Candidate:
    """A test that was made: its input (``number`` in the order of drawing) and what drew it, its expected output, who
    agreed on it, and the CPU seconds of the slowest of them."""

    number: int
    text: bytes
    strategy: str
    expected: bytes
    voters: tuple[str, ...]
    cpu_s: float | None


@dataclass(frozen=True)
class Proof:
    """What is left of the candidates, and what it is worth. ``minimal`` are places of the tests that are enough.

    ``n_fail_samples`` known-wrong programs fail a sample already; ``n_contradicting`` right ones failed candidates,
    which were set aside for it.
    """

    tests: tuple[Candidate, ...]
    strength: Strength
    minimal: tuple[int, ...]
    findings: tuple[Finding, ...]
    n_fail_samples: int
    n_contradicting: int

    @property
    def counts(self) -> MadeStrength:
        """The strength as counts."""
        found = self.strength
        return MadeStrength(
            n_wrong=found.wrong.n,
            n_wrong_killed=found.wrong.n_killed,
            n_slow=found.slow.n,
            n_slow_killed=found.slow.n_killed,
            n_mutants=found.mutants.n,
            n_mutants_killed=found.mutants.n_killed,
            n_right=found.n_right,
            n_right_killed=self.n_contradicting,
        )


def prove(
    material: Material, trials: Trials, candidates: Sequence[Candidate], references: Sequence[KnownProgram], seed: int
) -> Proof:
    """Run what is known of a problem on the candidates. ``references`` decided them and were never found wrong."""
    right = _passing_samples(trials, _distinct(one for one in material.programs if _is_right(one))[:MOST_RIGHT])
    rows = _failed(trials, right, candidates, most_failures=None)
    is_aside = np.any([fails for _, fails in rows], axis=0) if rows else np.zeros(len(candidates), dtype=np.bool_)
    findings = tuple(_findings(rows, candidates))
    tests = tuple(one for one, aside in zip(candidates, is_aside.tolist(), strict=True) if not aside)
    culprits = {
        "wrong": _distinct(one for one in material.programs if _is_wrong(one)),
        "slow": _distinct(one for one in material.programs if _is_slow(one)),
        "mutants": _mutants_of(references, seed),
    }
    passing = {kind: _passing_samples(trials, programs) for kind, programs in culprits.items()}
    found = {
        "wrong": Programs.of(_failed(trials, passing["wrong"], tests), len(tests)),
        "slow": Programs.of(_failed(trials, passing["slow"], tests), len(tests)),
        "mutants": Programs.of(
            _failed(trials, passing["mutants"], tests, most_failures=1, most_bytes=MUTANT_BYTES), len(tests)
        ),
    }
    kills = np.vstack([found[kind].fails for kind in culprits])
    made = [MadeTest(name_of(one), one.strategy, len(one.text), one.cpu_s) for one in tests]
    return Proof(
        tests=tests,
        strength=strength(
            made,
            right=Programs.of([(name, fails[~is_aside]) for name, fails in rows], len(tests)),
            **found,
        ),
        minimal=minimal_subset(kills, largest(made), [one.input_bytes for one in made]) if tests else (),
        findings=findings,
        n_fail_samples=sum(len(culprits[kind]) - len(passing[kind]) for kind in ("wrong", "slow")),
        n_contradicting=sum(bool(fails.any()) for _, fails in rows),
    )


def name_of(one: Candidate) -> str:
    """The name of a made test: its number, and what drew its input."""
    return f"made-{one.number + 1:03d}-{one.strategy.replace(', ', '-').replace(' ', '_')}"


def _is_right(one: KnownProgram) -> bool:
    return one.role is ProgramRole.ACCEPTED or one.known is Verdict.ACCEPTED


def _is_wrong(one: KnownProgram) -> bool:
    return one.role is ProgramRole.WRONG or one.known in _WRONG


def _is_slow(one: KnownProgram) -> bool:
    return one.role is ProgramRole.TOO_SLOW or one.known in _SLOW


def _distinct(programs: Iterable[KnownProgram]) -> tuple[KnownProgram, ...]:
    """Programs of different sources, by name: at most ``MOST_PROGRAMS``."""
    by_source: dict[Program, KnownProgram] = {}
    for one in sorted(programs, key=lambda one: one.name):
        by_source.setdefault(one.program, one)
    return tuple(by_source.values())[:MOST_PROGRAMS]


def _passing_samples(trials: Trials, programs: Sequence[KnownProgram]) -> tuple[KnownProgram, ...]:
    passing = trials.pass_samples(programs)
    return tuple(one for one in programs if one.name in passing and passing[one.name] is None)


def _failed(
    trials: Trials,
    programs: Sequence[KnownProgram],
    tests: Sequence[Candidate],
    *,
    most_failures: int | None = MOST_FAILURES,
    most_bytes: int | None = None,
) -> list[tuple[str, BoolArray]]:
    """(name, which tests it fails) of each program, by name; on tests of more than ``most_bytes`` none is run."""
    is_run = np.array([most_bytes is None or len(one.text) <= most_bytes for one in tests], dtype=np.bool_)
    pairs = [(one.text, one.expected) for one, runs in zip(tests, is_run.tolist(), strict=True) if runs]
    rows = []
    for name, fails in sorted(trials.failed_tests(programs, pairs, most_failures=most_failures).items()):
        row = np.zeros(len(tests), dtype=np.bool_)
        row[is_run] = fails
        rows.append((name, row))
    return rows


def _findings(rows: Sequence[tuple[str, BoolArray]], candidates: Sequence[Candidate]) -> Iterable[Finding]:
    for place, one in enumerate(candidates):
        names = tuple(name for name, fails in rows if fails[place])
        if names:
            others = f" and {len(names) - 1} more" if len(names) > 1 else ""
            sentence = f"{names[0]}{others}, known to be right, fails where {', '.join(one.voters[:3])} agree"
            yield Finding(FindingKind.RIGHT_FAILS, sentence, names, one.number)


def _mutants_of(references: Sequence[KnownProgram], seed: int) -> tuple[KnownProgram, ...]:
    """Mutants of some references in Python, as many of each."""
    originals = [one for one in _distinct(references) if one.program.language == _MUTABLE][:_ORIGINALS]
    return tuple(
        KnownProgram(
            f"mutant {number} of {one.name}: {mutant.operator} in line {mutant.line}",
            Program(mutant.source, _MUTABLE),
            ProgramRole.WRONG,
        )
        for place, one in enumerate(originals)
        for number, mutant in enumerate(
            mutants(one.program.source, N_MUTANTS // len(originals), np.random.default_rng([seed, place])), 1
        )
    )
