"""What keeps a problem from getting made tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eval.made_tests.gate import (
    MIN_TESTS,
    CannotBuild,
    always_the_same,
    cannot_run,
    checked_sample_first,
    contradictory,
    explodes,
    generator_fails,
    never_ends,
    no_validator,
    not_deterministic,
    references_fail,
    require_enough,
    writes_nothing,
    writes_too_much,
)
from eval.made_tests.grammar import InputRefused, Values
from eval.made_tests.values import check
from tests.eval.made_tests.shapes import row


def refuses_odd(number: int) -> None:
    if number % 2:
        raise InputRefused(f"{number} is odd")


def test_refused_sample_is_named_by_its_number() -> None:
    seen: list[int] = []

    def look(number: int) -> None:
        seen.append(number)
        refuses_odd(number)

    with pytest.raises(CannotBuild) as caught:
        checked_sample_first([2, 5, 4, 7], look)
    assert caught.value.message == "the inferred shape refuses sample 2: 5 is odd"
    assert seen == [2, 5]
    with pytest.raises(CannotBuild) as caught:
        checked_sample_first([2, 5], refuses_odd, validator="check.py")
    assert caught.value.message == "validator check.py refuses sample 2: 5 is odd"
    assert "validator" in caught.value.hint


def test_shape_that_refuses_a_sample() -> None:
    grammar = row()
    samples: list[Values] = [{"N": 2, "A": [1, 2]}, {"N": 2, "A": [1, 2, 3]}]
    with pytest.raises(CannotBuild, match=r"^the inferred shape refuses sample 2: A has 3 elements, and N is 2"):
        checked_sample_first(samples, lambda values: check(grammar, values))


def test_samples_that_pass() -> None:
    checked_sample_first([2, 4], refuses_odd)
    checked_sample_first([], refuses_odd)


def test_faults_of_ours_are_not_the_samples() -> None:
    def breaks(_: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        checked_sample_first([1], breaks)


def test_too_few_tests() -> None:
    require_enough(MIN_TESTS)
    require_enough(1, has_every_input=True)
    with pytest.raises(CannotBuild) as caught:
        require_enough(MIN_TESTS - 1)
    assert caught.value.message == "too few tests: 9 of at least 10"
    with pytest.raises(CannotBuild, match=r"^too few tests: 2 of at least 10, 30 more were set aside$"):
        require_enough(2, 30)
    with pytest.raises(CannotBuild, match=r"^too few tests: 0 of at least 1$"):
        require_enough(0, has_every_input=True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: contradictory("1 <= N <= 0"), "contradictory constraints: 1 <= N <= 0"),
        (
            lambda: references_fail([("a.py", "wrong_answer"), ("b.py", "time_limit"), ("c.py", "wrong_answer")]),
            "no reference passes the samples: a.py gets wrong_answer and 2 more",
        ),
        (
            lambda: references_fail([("a.py", "wrong_answer")]),
            "no reference passes the samples: a.py gets wrong_answer",
        ),
        (lambda: never_ends("gen.py", 10.0), "generator gen.py does not end within 10 s"),
        (lambda: writes_too_much("gen.py", 16_000_000), "generator gen.py writes more than 16,000,000 bytes"),
        (lambda: writes_nothing("gen.py", 3), "generator gen.py writes nothing for number 3"),
        (lambda: always_the_same("gen.py", 20), "generator gen.py writes the same input for all 20 numbers"),
        (
            lambda: not_deterministic("gen.py", 19),
            "generator gen.py gives another input for the same seed (number 19)",
        ),
        (
            lambda: generator_fails("gen.py", 0, "KeyError: 'n'\n(exit code 1)"),
            "generator gen.py fails on number 0: KeyError: 'n' (exit code 1)",
        ),
        (
            lambda: no_validator("check.py", 2, "exit code 0"),
            "validator check.py ends with neither 42 nor 43 on input 2: exit code 0",
        ),
        (
            lambda: cannot_run("generator gen.py", "this needs java", "build the full image"),
            "generator gen.py cannot be run: this needs java",
        ),
        (lambda: explodes("A has N^M elements"), "the inferred shape explodes: A has N^M elements"),
    ],
)
def test_messages(make: Callable[[], CannotBuild], message: str) -> None:
    error = make()
    assert (error.message, str(error)) == (message, message)
    assert error.hint
    assert error.hint[0].islower()
    assert not error.hint.endswith(".")


def test_messages_are_one_line_whatever_is_in_them() -> None:
    hostile = "a\n\x1b[31mb\u202ec" + "x" * 500
    made = [contradictory(hostile), explodes(hostile), never_ends(hostile, 1), writes_too_much(hostile, 1)]
    made += [generator_fails(hostile, 1, hostile), no_validator(hostile, 1, hostile), cannot_run(hostile, hostile, "x")]
    for error in made:
        assert error.message.isprintable()
        assert len(error.message) < 300
    with pytest.raises(CannotBuild) as caught:
        checked_sample_first([1], lambda _: (_ for _ in ()).throw(InputRefused(hostile)))
    assert caught.value.message.isprintable()


def test_no_failing_reference() -> None:
    with pytest.raises(ValueError, match="no reference"):
        references_fail([])
