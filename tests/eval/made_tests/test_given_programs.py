"""Generator and validator programs: what they write is kept, and what is wrong with them is said in one line."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterator

import pytest

from db.records import ProgramRole
from eval.made_tests.gate import CannotBuild
from eval.made_tests.given_programs import LIMITS, MOST_BYTES, generated, refusals
from eval.made_tests.material import KnownProgram
from sandbox import Judge, Program, Verdict
from sandbox.programs import MIB
from tests.sandbox.fake_programs import Does, Exit, FakePrograms

GENERATOR = KnownProgram("gen.py", Program("gen"), ProgramRole.GENERATOR)
VALIDATOR = KnownProgram("check.py", Program("check"), ProgramRole.VALIDATOR)
EXECUTORS = [
    pytest.param("docker", marks=pytest.mark.docker, id="docker"),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap, id="bubblewrap"),
]
REAL = """
import random
seed, number, wanted = map(int, input().split())
random.seed(f"{seed} {number}")
print(number + 1, random.randrange(10**9))
"""


@pytest.fixture(scope="module", params=EXECUTORS)
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    with Judge(request.param, jobs=2) as judge:
        yield judge


def program(source: str, name: str = "gen.py") -> KnownProgram:
    return KnownProgram(name, Program(source), ProgramRole.GENERATOR)


def message_of(does: Does, wanted: int = 20) -> str:
    with pytest.raises(CannotBuild) as caught:
        generated(FakePrograms({"gen": does}), GENERATOR, 0, wanted)
    assert caught.value.hint
    assert caught.value.message.isprintable()
    return caught.value.message


def test_inputs_come_in_the_order_of_their_numbers_each_once() -> None:
    runner = FakePrograms({"gen": lambda line: b"%d\n" % (int(line.split()[1]) // 2)})
    assert generated(runner, GENERATOR, 7, 20) == tuple(b"%d\n" % number for number in range(10))
    asked = [line for _, line in runner.runs]
    assert asked[:20] == [f"7 {number} 20\n".encode() for number in range(20)]
    assert asked[20:] == [b"7 0 20\n", b"7 19 20\n"]  # once more, to see that they are the same


def test_one_input_is_enough_where_one_is_wanted() -> None:
    assert generated(FakePrograms({"gen": lambda _: b"5\n"}), GENERATOR, 0, 1) == (b"5\n",)
    with pytest.raises(ValueError, match="0 inputs are wanted"):
        generated(FakePrograms({}), GENERATOR, 0, 0)


@pytest.mark.parametrize(
    ("did", "message"),
    [
        (Verdict.TIME_LIMIT, "generator gen.py does not end within 10 s"),
        (Verdict.OUTPUT_LIMIT, "generator gen.py writes more than 8,388,608 bytes"),
        (Verdict.MEMORY_LIMIT, "generator gen.py fails on number 3: it takes more than 1,024 MiB of memory"),
        (Exit(1, "IndexError: list"), "generator gen.py fails on number 3: IndexError: list (exit code 1)"),
        (Verdict.INTERNAL_ERROR, "generator gen.py cannot be run: the sandbox failed: signal 9"),
        (Exit(0), "generator gen.py writes nothing for number 3"),
        (b" \n\n", "generator gen.py writes nothing for number 3"),
    ],
)
def test_a_failure_ends_the_asking(did: bytes | Exit | Verdict, message: str) -> None:
    runner = FakePrograms({"gen": lambda line: did if line.split()[1] == b"3" else line})
    with pytest.raises(CannotBuild) as caught:
        generated(runner, GENERATOR, 0, 20)
    assert (caught.value.message, str(caught.value)) == (message, message)
    ends_there = isinstance(did, Verdict) or did == Exit(1, "IndexError: list")
    assert len(runner.runs) == (4 if ends_there else 8)


def test_always_the_same() -> None:
    assert message_of(lambda _: b"1 1\n") == "generator gen.py writes the same input for all 20 numbers"


@pytest.mark.parametrize(("changing", "wanted"), [(b"0", 20), (b"19", 20), (b"0", 1)])
def test_another_input_for_the_same_seed(changing: bytes, wanted: int) -> None:
    ticks = itertools.count()
    message = message_of(lambda line: line + (b"%d" % next(ticks) if line.split()[1] == changing else b""), wanted)
    assert message == f"generator gen.py gives another input for the same seed (number {changing.decode()})"


def test_all_inputs_together_are_limited() -> None:
    block = b"1" * LIMITS.output_bytes
    runner = FakePrograms({"gen": lambda _: block})
    with pytest.raises(CannotBuild, match=rf"gen\.py writes more than {MOST_BYTES:,} bytes"):
        generated(runner, GENERATOR, 0, 1000)
    assert len(runner.runs) * len(block) <= MOST_BYTES + 8 * len(block)


def test_refusals_are_those_of_the_validator() -> None:
    runner = FakePrograms({"check": lambda text: Exit(42) if text < b"5" else Exit(43, "too large")})
    assert refusals(runner, VALIDATOR, [b"1", b"7", b"4"]) == [None, "too large (exit code 43)", None]


@pytest.mark.parametrize(
    ("did", "message"),
    [
        (Exit(0), "validator check.py ends with neither 42 nor 43 on input 2: exit code 0"),
        (Verdict.TIME_LIMIT, "validator check.py ends with neither 42 nor 43 on input 2: signal 9"),
        (Verdict.INTERNAL_ERROR, "validator check.py cannot be run: the sandbox failed: signal 9"),
    ],
)
def test_what_is_no_validator(did: Exit | Verdict, message: str) -> None:
    runner = FakePrograms({"check": lambda text: Exit(42) if text == b"1" else did})
    with pytest.raises(CannotBuild) as caught:
        refusals(runner, VALIDATOR, [b"1", b"2", b"3"])
    assert caught.value.message == message


def test_inputs_of_a_judge_are_the_same_each_time(judge: Judge) -> None:
    first = generated(judge, program(REAL), 3, 12)
    assert [text.split()[0] for text in first] == [b"%d" % number for number in range(1, 13)]
    assert generated(judge, program(REAL), 3, 12) == first
    assert generated(judge, program(REAL), 4, 12) != first
    check = "import sys\nsys.exit(42 if int(input().split()[0]) < 12 else 43)"
    assert refusals(judge, program(check), first) == [None] * 11 + ["exit code 43"]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import sys\nfor _ in range(1000): sys.stdout.write('1' * 10**6)", "writes more than 8,388,608 bytes"),
        ("raise SystemExit('no seed')", "fails on number 0: no seed (exit code 1)"),
        ("print(", "fails on number 0: SyntaxError"),
        ("x = bytearray(2 * 10**9)", "fails on number 0: it takes more than 1,024 MiB of memory"),
        ("import time\nprint(time.time_ns())", "gives another input for the same seed (number 0)"),
        ("import os\nprint(os.urandom(8).hex())", "gives another input for the same seed (number 0)"),
        ("import random\nprint(random.random())", "gives another input for the same seed (number 0)"),
        ("print(1)", "writes the same input for all 3 numbers"),
        ("pass", "writes nothing for number 0"),
        ("import not_there_at_all", "fails on number 0: ModuleNotFoundError"),
    ],
)
def test_a_bad_generator_in_a_jail(judge: Judge, source: str, says: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(CannotBuild) as caught:
            generated(judge, program(source), 0, 3)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert says in caught.value.message
    assert most < 4 * MIB


@pytest.mark.slow
def test_a_generator_that_never_ends(judge: Judge) -> None:
    with pytest.raises(CannotBuild, match=r"^generator gen\.py does not end within 10 s$"):
        generated(judge, program("while True: pass"), 0, 20)


def test_a_language_that_is_not_there(judge: Judge) -> None:
    for language in ("cobol", "fortran77"):
        generator = KnownProgram("gen", Program("x", language), ProgramRole.GENERATOR)
        with pytest.raises(CannotBuild, match=r"^generator gen cannot be run: no language"):
            generated(judge, generator, 0, 3)
