"""Generator and validator programs of a problem, whoever wrote them: run in the sandbox, and not believed.

A generator reads one line, "SEED NUMBER WANTED", writes the input with this number (from 0 to WANTED - 1; small ones
for small numbers) and ends. A validator is one as `sandbox.validation` has it. What a generator writes is kept within
its limits by the sandbox, and what all its inputs have together by this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eval.made_tests import gate
from eval.made_tests.gate import CannotBuild
from eval.made_tests.material import KnownProgram
from sandbox import Job, Limits, NotInSandbox, Output, Suite, Test, UnknownLanguage, Verdict, validation
from sandbox.programs import MIB
from sandbox.validation import Runner

LIMITS: Final = Limits(cpu_s=10.0, memory_bytes=1024 * MIB, output_bytes=8 * MIB)
"""What a generator may use for one input."""
MOST_BYTES: Final = 256 * MIB
"""What all inputs of one generator may have together."""
_AT_ONCE = 8


def generated(runner: Runner, generator: KnownProgram, seed: int, wanted: int) -> tuple[bytes, ...]:
    """The inputs of a generator for a seed, in the order of their numbers, each once.

    Raises CannotBuild for a generator that fails on a number, after which it is asked for no further one; that writes
    nothing, too much or always the same; or that does not write the first and the last input again when it is asked
    again. ValueError where no input is wanted.
    """
    if wanted < 1:
        raise ValueError(f"{wanted} inputs are wanted of a generator")
    lines = [f"{seed} {number} {wanted}\n".encode() for number in range(wanted)]
    written: list[bytes] = []
    n_bytes = 0
    for first in range(0, wanted, _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, wanted))
        some = _written(runner, generator, {number: lines[number] for number in numbers})
        n_bytes += sum(map(len, some))
        if n_bytes > MOST_BYTES:
            raise gate.writes_too_much(generator.name, MOST_BYTES)
        written += some
    ends = sorted({0, wanted - 1})
    for number, again in zip(ends, _written(runner, generator, {one: lines[one] for one in ends}), strict=True):
        if again != written[number]:
            raise gate.not_deterministic(generator.name, number)
    inputs = tuple(dict.fromkeys(written))
    if len(inputs) == 1 < wanted:
        raise gate.always_the_same(generator.name, wanted)
    return inputs


def refusals(runner: Runner, validator: KnownProgram, inputs: Sequence[bytes]) -> list[str | None]:
    """Why a validator refuses each input, None: it is valid. CannotBuild for a program that is no validator."""
    try:
        return validation.refusals(runner, validator.program, inputs)
    except validation.NotAValidator as error:
        if error.is_ours:
            raise _sandbox_failed(f"validator {validator.name}", error.how) from error
        raise gate.no_validator(validator.name, error.position + 1, error.how) from error
    except (NotInSandbox, UnknownLanguage) as error:
        raise _not_here(f"validator {validator.name}", error) from error


def _written(runner: Runner, generator: KnownProgram, lines: dict[int, bytes]) -> list[bytes]:
    """What a generator writes for these numbers. CannotBuild for the first on which it fails, or writes nothing."""
    suite = Suite(tuple(Test(str(number), line, b"") for number, line in lines.items()), limits=LIMITS)
    try:
        ((_, outputs),) = runner.outputs([Job(0, generator.program, suite)], most_failures=1)
    except (NotInSandbox, UnknownLanguage) as error:
        raise _not_here(f"generator {generator.name}", error) from error
    written = []
    for number, output in zip(lines, outputs, strict=False):  # shorter after a failure
        if output.content is None:
            raise _failure(generator.name, number, output)
        if not output.content.strip():
            raise gate.writes_nothing(generator.name, number)
        written.append(output.content)
    return written


def _failure(name: str, number: int, output: Output) -> CannotBuild:
    match output.failure:
        case Verdict.TIME_LIMIT:
            return gate.never_ends(name, LIMITS.cpu_s)
        case Verdict.OUTPUT_LIMIT:
            return gate.writes_too_much(name, LIMITS.output_bytes)
        case Verdict.MEMORY_LIMIT:
            how = f"it takes more than {LIMITS.memory_bytes // MIB:,} MiB of memory"
            return gate.generator_fails(name, number, how)
        case Verdict.INTERNAL_ERROR:
            return _sandbox_failed(f"generator {name}", output.detail)
    return gate.generator_fails(name, number, output.detail or str(output.failure))


def _sandbox_failed(what: str, how: str) -> CannotBuild:
    return gate.cannot_run(what, f"the sandbox failed: {how}", "try again; live doctor says what works here")


def _not_here(what: str, error: NotInSandbox | UnknownLanguage) -> CannotBuild:
    hint = error.hint if isinstance(error, NotInSandbox) else "name the program's language as live doctor does"
    return gate.cannot_run(what, str(error), hint)
