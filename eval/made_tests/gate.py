"""What keeps a problem from getting made tests, each as one line with a hint; the problem stays as it was. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from eval.made_tests.agreement import Finding
from eval.made_tests.grammar import InputRefused
from sandbox.excerpts import excerpt

MIN_TESTS = 10
"""A suite of fewer made tests says too little of a program to be judged by."""

INFERRED = "the inferred shape"
"""What refuses an input where no validator program is given."""

_GENERATOR_PROTOCOL = (
    'a generator reads one line "SEED NUMBER WANTED", writes the input of that number and ends with exit code 0'
)
_SHOWN = 160
_Sample = TypeVar("_Sample")


class CannotBuild(Exception):
    """No tests are made for a problem; ``message`` is one line that says why, ``hint`` what to do.

    ``findings`` are what was found on ``n_inputs`` inputs that is a reason to look at the problem.
    """

    def __init__(self, message: str, hint: str, findings: tuple[Finding, ...] = (), n_inputs: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.findings = findings
        self.n_inputs = n_inputs


def checked_sample_first(
    samples: Sequence[_Sample], check: Callable[[_Sample], None], validator: str | None = None
) -> None:
    """Refuse to go on where a sample of the statement is refused: what refuses it is wrong, whatever it would draw.

    ``check`` raises InputRefused for a sample; ``validator`` names the program that it runs, None: it is the inferred
    shape. CannotBuild names the first refused sample, counted from 1.
    """
    for number, sample in enumerate(samples, start=1):
        try:
            check(sample)
        except InputRefused as error:
            raise _sample_refused(number, str(error), validator) from None


def require_enough(
    n_tests: int,
    n_set_aside: int = 0,
    *,
    has_every_input: bool = False,
    least: int = MIN_TESTS,
    findings: tuple[Finding, ...] = (),
) -> None:
    """CannotBuild for too few tests; ``has_every_input``: the problem has no other inputs, then one is enough."""
    if n_tests >= (1 if has_every_input else least):
        return
    aside = f", {n_set_aside} more were set aside" if n_set_aside else ""
    raise CannotBuild(
        f"too few tests: {n_tests} of at least {1 if has_every_input else least}{aside}",
        "import a reference solution, or look at why inputs were set aside"
        if n_set_aside
        else "draw more inputs, or give a generator program",
        findings,
        n_tests + n_set_aside,
    )


def contradictory(what: str) -> CannotBuild:
    """No input keeps all constraints: ``what`` names the one that defeats the others."""
    return CannotBuild(
        f"contradictory constraints: {_line(what)}",
        "compare the statement with its source; a constraint may have lost a sign or an exponent",
    )


def references_fail(failures: Sequence[tuple[str, str]]) -> CannotBuild:
    """Not one reference passes the samples; ``failures`` are (name, how it failed). ValueError for none."""
    if not failures:
        raise ValueError("no reference that fails")
    name, how = failures[0]
    others = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
    return CannotBuild(
        f"no reference passes the samples: {_line(name, 60)} gets {_line(how, 80)}{others}",
        "check that the references are of this problem, and that their language is installed in the sandbox",
    )


def never_ends(generator: str, limit_s: float) -> CannotBuild:
    """A generator program that is still running at its limit of CPU or wall time."""
    return CannotBuild(
        f"generator {_line(generator, 60)} does not end within {limit_s:g} s",
        "give a generator that ends by itself; one input a call is enough",
    )


def writes_too_much(generator: str, limit_bytes: int) -> CannotBuild:
    """A generator program that writes more than one input may have."""
    return CannotBuild(
        f"generator {_line(generator, 60)} writes more than {limit_bytes:,} bytes",
        "give a generator that writes one input and keeps to the statement's limits",
    )


def writes_nothing(generator: str, number: int) -> CannotBuild:
    """A generator program that writes no input, or a blank one, for this number."""
    return CannotBuild(f"generator {_line(generator, 60)} writes nothing for number {number}", _GENERATOR_PROTOCOL)


def always_the_same(generator: str, n_inputs: int) -> CannotBuild:
    """A generator program that writes one input whatever it is asked for."""
    return CannotBuild(
        f"generator {_line(generator, 60)} writes the same input for all {n_inputs} numbers", _GENERATOR_PROTOCOL
    )


def not_deterministic(generator: str, number: int) -> CannotBuild:
    """A generator program that does not write the same bytes for the same line twice."""
    return CannotBuild(
        f"generator {_line(generator, 60)} gives another input for the same seed (number {number})",
        "draw all randomness from the seed that it reads; take none from the clock or the system",
    )


def generator_fails(generator: str, number: int, how: str) -> CannotBuild:
    """A generator program that ends with an error, or takes too much memory; ``how`` is said of it in words."""
    return CannotBuild(f"generator {_line(generator, 60)} fails on number {number}: {_line(how)}", _GENERATOR_PROTOCOL)


def no_validator(validator: str, number: int, how: str) -> CannotBuild:
    """A validator program that says neither yes nor no to an input, counted from 1."""
    return CannotBuild(
        f"validator {_line(validator, 60)} ends with neither 42 nor 43 on input {number}: {_line(how)}",
        "a validator reads an input and ends with exit code 42 where it is valid, 43 where it is not",
    )


def cannot_run(what: str, why: str, hint: str) -> CannotBuild:
    """A program (``what`` says which) that the sandbox does not run, or failed to."""
    return CannotBuild(f"{_line(what, 80)} cannot be run: {_line(why)}", hint)


def explodes(what: str) -> CannotBuild:
    """A shape whose inputs cannot be held or counted: ``what`` names the part and how large it may become."""
    return CannotBuild(
        f"the inferred shape explodes: {_line(what)}",
        "give a generator and a validator program for this problem",
    )


def _sample_refused(number: int, why: str, validator: str | None) -> CannotBuild:
    if validator is None:
        return CannotBuild(
            f"{INFERRED} refuses sample {number}: {_line(why)}",
            "the statement was misread, or its sample breaks it; give a validator program",
        )
    return CannotBuild(
        f"validator {_line(validator, 60)} refuses sample {number}: {_line(why)}",
        "correct the validator: every sample of a statement is a valid input",
    )


def _line(text: str, width: int = _SHOWN) -> str:
    """Text from outside on one line of ours."""
    return excerpt(" ".join(text.split()), width)
