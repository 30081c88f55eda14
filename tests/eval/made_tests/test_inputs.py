"""Where inputs come from, and what is refused, with programs that are functions of this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from db.records import ProgramRole, SuiteRecord, TestCaseRecord, TestOrigin
from eval.made_tests.gate import CannotBuild
from eval.made_tests.inputs import Inputs, draw, input_source
from eval.made_tests.material import KnownProgram, Material
from sandbox import Program, Verdict
from tests.eval.made_tests.fake_runner import Answer, Exit, FakeRunner

UNDERSTOOD = """\
## Constraints

- $1 \\leq N \\leq 50$

## Input

```
$N$
```
"""
CASES = """\
## Constraints

- $1 \\leq T \\leq 10$
- $1 \\leq N \\leq 50$
- $1 \\leq K \\leq 50$
- $1 \\leq X \\leq 50$

## Input

```
$T$
$\\mathrm{case}_1$
$\\mathrm{case}_2$
$\\vdots$
$\\mathrm{case}_T$
```

Each test case is given in the following format:

```
$N$ $K$ $X$
```
"""
ODD = UNDERSTOOD.replace("50$", "50$\n- $N$ is beautiful.")
SAMPLES = (
    TestCaseRecord("sample 1", b"3\n", b"1\n", TestOrigin.SAMPLE),
    TestCaseRecord("sample 2", b"5\n", b"0\n", TestOrigin.SAMPLE),
)


def odd_numbers(line: bytes) -> Answer:
    return b"%d\n" % (2 * int(line.split()[1]) + 1)


def accept_odd(text: bytes) -> Answer:
    return Exit(42) if int(text) % 2 else Exit(43, "N is even")


FUNCTIONS: dict[str, Callable[[bytes], Answer]] = {
    "odd numbers": odd_numbers,
    "accept odd": accept_odd,
    "refuse all": lambda text: Exit(43, "no"),
    "hangs": lambda line: Verdict.TIME_LIMIT,
    "writes a gigabyte": lambda line: Verdict.OUTPUT_LIMIT,
}


def program(source: str, role: ProgramRole) -> KnownProgram:
    return KnownProgram(source, Program(source), role)


def material(statement: str, generator: str | None = None, validator: str | None = None) -> Material:
    given = ((generator, ProgramRole.GENERATOR), (validator, ProgramRole.VALIDATOR))
    programs = tuple(program(source, role) for source, role in given if source is not None)
    return Material("our:n", statement, SuiteRecord(SAMPLES), programs)


def drawn(given: Material, wanted: int = 48) -> Inputs:
    return draw(input_source(given), given, FakeRunner(FUNCTIONS), seed=0, wanted=wanted)


def numbers(found: Inputs) -> list[int]:
    return [int(one.text) for one in found.inputs]


def test_a_statement_that_is_understood_needs_no_program() -> None:
    found = drawn(material(UNDERSTOOD), wanted=60)
    assert sorted(numbers(found)) == [n for n in range(1, 51) if n not in (3, 5)]
    assert found.has_every_input
    assert found.bounds == ("1 <= N", "N <= 50")
    assert {one.text: one.reaches for one in found.inputs if one.reaches} == {b"1\n": {"1 <= N"}, b"50\n": {"N <= 50"}}
    few = drawn(material(UNDERSTOOD), wanted=20)
    assert not few.has_every_input
    assert {1, 50} <= set(numbers(few))


def test_a_validator_also_looks_at_what_a_grammar_draws() -> None:
    found = drawn(material(UNDERSTOOD, validator="accept odd"), wanted=60)
    assert sorted(numbers(found)) == [n for n in range(1, 51, 2) if n not in (3, 5)]
    assert len(found.refused) == 25
    assert set(found.refused) == {"N is even (exit code 43)"}


def test_programs_stand_in_for_a_statement_that_is_not_understood() -> None:
    given = material(ODD, "odd numbers", "accept odd")
    assert input_source(given).name == "the generator odd numbers"
    assert numbers(drawn(given, wanted=10)) == [1, 7, 9, 11, 13, 15, 17, 19]  # 3 and 5 are the samples
    with pytest.raises(CannotBuild) as refused:
        input_source(material(ODD, "odd numbers"))
    assert refused.value.message == "the statement's input was not understood: $N$ is beautiful."


def test_programs_stand_in_for_a_shape_that_refuses_a_sample() -> None:
    tight = UNDERSTOOD.replace("N \\leq 50", "N \\leq 4")
    with pytest.raises(CannotBuild, match="the inferred shape refuses sample 2: N <= 4 does not hold"):
        input_source(material(tight))
    assert input_source(material(tight, "odd numbers", "accept odd")).grammar is None


@pytest.mark.parametrize(
    ("generator", "validator", "message"),
    [
        ("odd numbers", "refuse all", "validator refuse all refuses sample 1: no (exit code 43)"),
        ("hangs", "accept odd", "generator hangs does not end within 10 s"),
        ("writes a gigabyte", "accept odd", "generator writes a gigabyte writes more than 8,388,608 bytes"),
    ],
)
def test_programs_that_are_of_no_use(generator: str, validator: str, message: str) -> None:
    with pytest.raises(CannotBuild) as refused:
        drawn(material(ODD, generator, validator))
    assert refused.value.message == message
    assert refused.value.hint


def test_a_users_programs_come_before_a_models() -> None:
    def of(name: str, role: ProgramRole, source: str) -> KnownProgram:
        return KnownProgram(name, Program(name), role, source=source)

    generator, validator = ProgramRole.GENERATOR, ProgramRole.VALIDATOR
    written = (of("a", generator, "model:m"), of("b", validator, "model:m"))
    given = (of("y", generator, "user"), of("z", validator, "user"))

    def names(*programs: KnownProgram) -> tuple[str, ...]:
        found = input_source(replace(material(ODD), programs=programs))
        return tuple(one.name for one in (found.generator, found.validator) if one is not None)

    assert names(*written, *given) == ("y", "z")
    assert names(*written, given[1]) == ("a", "z")
    others = (of("c", generator, "model:n"), of("0", validator, "model:n"))
    assert names(*written, *others) == ("a", "b")


def test_another_program_or_statement_is_another_source() -> None:
    digests = {
        input_source(one).digest
        for one in (
            material(UNDERSTOOD),
            material(UNDERSTOOD.replace("50", "51")),
            material(UNDERSTOOD, validator="accept odd"),
            material(ODD, "odd numbers", "accept odd"),
            material(ODD, "odd numbers", "refuse all"),
        )
    }
    assert len(digests) == 5


def test_the_digest_is_the_same_in_every_process() -> None:
    """A case of several variables and a graph of several kinds: sets, which are shown in another order each time."""
    program = (
        "from tests.eval.made_tests.test_inputs import CASES, Material, SuiteRecord, input_source\n"
        "print(input_source(Material('our:x', CASES, SuiteRecord(()))).digest)\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[3],
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1


def test_large_inputs_leave_room_for_small_ones() -> None:
    statement = """\
## Constraints

- $1 \\leq N \\leq 10^6$
- $1 \\leq A_i \\leq 10^9$

## Input

```
$N$
$A_1$ $A_2$ $\\ldots$ $A_N$
```
"""
    sample = TestCaseRecord("sample 1", b"1\n7\n", b"7\n", TestOrigin.SAMPLE)
    sizes = [
        int(one.text.split()[0]) for one in drawn(replace(material(statement), suite=SuiteRecord((sample,)))).inputs
    ]
    assert sum(size <= 20_000 for size in sizes) >= 20
    assert max(sizes) >= 500_000
    assert sum(sizes) <= 3_000_000


def test_a_sample_that_is_no_text_is_refused() -> None:
    given = material(UNDERSTOOD)
    bad = replace(SAMPLES[0], input=b"\xff\n")
    with pytest.raises(CannotBuild, match="refuses sample 1: it is not UTF-8"):
        input_source(replace(given, suite=SuiteRecord((bad,))))
