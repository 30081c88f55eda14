"""Validators: exit code 42 is yes, 43 is no, and anything else is no answer."""

from __future__ import annotations

import pytest

from sandbox import Judge, Program
from sandbox.validation import NotAValidator, refusals
from tests.sandbox.fake_programs import Exit, FakePrograms

SMALL = """
import sys
number = int(sys.stdin.read())
print("looked at", number)
if number > 9:
    print(f"{number} is above 9", file=sys.stderr)
    sys.exit(43)
sys.exit(42)
"""


def up_to_nine(text: bytes) -> Exit:
    return Exit(42) if int(text) <= 9 else Exit(43, "too large")


def test_each_input_has_its_own_answer_in_its_place() -> None:
    runner = FakePrograms({"check": up_to_nine})
    numbers = list(range(25))
    wanted = [None if number <= 9 else "too large (exit code 43)" for number in numbers]
    assert refusals(runner, Program("check"), [str(number).encode() for number in numbers]) == wanted
    assert sorted(int(text) for _, text in runner.runs) == numbers
    assert refusals(runner, Program("check"), []) == []


@pytest.mark.parametrize(
    ("ends", "how"), [(Exit(0), "exit code 0"), (Exit(1, "ValueError"), "ValueError (exit code 1)")]
)
def test_what_is_no_validator_is_known_by_its_first_input(ends: Exit, how: str) -> None:
    runner = FakePrograms({"check": lambda _: ends})
    with pytest.raises(NotAValidator) as caught:
        refusals(runner, Program("check"), [b"1"] * 30)
    assert (caught.value.position, caught.value.how, caught.value.is_ours) == (0, how, False)
    assert len(runner.runs) == 1


def test_the_first_input_in_order_is_named_whichever_comes_back_first() -> None:
    runner = FakePrograms({"check": lambda text: Exit(42) if int(text) < 5 else Exit(7)})
    with pytest.raises(NotAValidator, match="on input 6: exit code 7"):
        refusals(runner, Program("check"), [str(number).encode() for number in range(30)])


def test_on_a_judge(judge: Judge) -> None:
    inputs = [b"3\n", b"10", *[str(number).encode() for number in range(12)]]
    found = refusals(judge, Program(SMALL), inputs)
    assert found == [None if int(text) <= 9 else f"{int(text)} is above 9 (exit code 43)" for text in inputs]
    with pytest.raises(NotAValidator, match="on input 3: ValueError"):
        refusals(judge, Program(SMALL), [b"1", b"2", b"x", b"4"])
    with pytest.raises(NotAValidator, match="on input 1: SyntaxError"):
        refusals(judge, Program("def"), [b"1", b"2"])
