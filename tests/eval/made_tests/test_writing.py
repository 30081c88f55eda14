"""Test programs written by a model: what is asked, what is kept, and what is refused in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from db.asked import AskableProblem, AskedSample
from db.records import IoKind, ProgramRole
from eval.generate.endpoint import Answered, EndpointSettings
from eval.generate.failures import Failure, FailureKind
from eval.generate.prompts import Message, load_prompt
from eval.generate.questions import Form
from eval.generate.replies import Reply
from eval.generate.sampling import Sampling
from eval.made_tests.given_programs import LIMITS
from eval.made_tests.writing import (
    FIRST_INPUTS,
    SCENARIO,
    Author,
    CannotWrite,
    EndpointRefuses,
    asking,
    not_written,
    write,
)
from sandbox import Judge, Verdict
from sandbox.programs import MIB
from tests.eval.generate.asked import PROBLEMS, problem
from tests.eval.generate.server import EndpointServer
from tests.sandbox.fake_programs import Does, Exit, FakePrograms

AUTHOR = Author("nova-1")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
# What the runner does for them is said in each test.
VALIDATOR = "import sys\nsys.exit(check(sys.stdin.read()))\n"
SECOND_VALIDATOR = "import sys\nsys.exit(check_better(sys.stdin.read()))\n"
GENERATOR = "print(draw(*map(int, input().split())))\n"
SECOND_GENERATOR = "print(draw_better(*map(int, input().split())))\n"


def block(source: str) -> Reply:
    return Reply(content=f"Here it is.\n\n```python\n{source}```\n")


def accepts(text: bytes) -> Exit:
    return Exit(42) if len(text.split()) == 2 else Exit(43, "not two numbers")


def draws(line: bytes) -> bytes:
    seed, number, _ = line.split()
    return number + b" 2" + seed + b"\n"


@dataclass
class Model:
    """Answers in turn; ``prompts`` are what it was asked."""

    answers: list[Reply | Failure]
    prompts: list[str] = field(default_factory=list)

    def __call__(self, messages: Sequence[Message]) -> Answered | Failure:
        (message,) = messages
        self.prompts.append(message.content)
        said = self.answers[len(self.prompts) - 1]
        return said if isinstance(said, Failure) else Answered(said, NOW, 0.1, 1)


def runner(**programs: Does) -> FakePrograms:
    """Programs that hold, but for those that a test gives."""
    sources = {
        "validator": VALIDATOR,
        "second_validator": SECOND_VALIDATOR,
        "generator": GENERATOR,
        "second_generator": SECOND_GENERATOR,
    }
    holding: dict[str, Does] = {"validator": accepts, "generator": draws}
    return FakePrograms({sources[name]: does for name, does in (holding | programs).items()})


def refused(model: Model, running: FakePrograms, asked: AskableProblem = PROBLEMS[Form.STDIN]) -> CannotWrite:
    with pytest.raises(CannotWrite) as caught:
        write(asked, AUTHOR, model, running)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300
    assert caught.value.hint
    return caught.value


def test_both_programs_are_kept_with_their_roles_and_names() -> None:
    model = Model([block(VALIDATOR), block(GENERATOR)])
    written = write(PROBLEMS[Form.STDIN], AUTHOR, model, runner())
    assert [(one.name, one.role, one.language, one.code) for one in written.references] == [
        ("test_validator-1 by nova-1", ProgramRole.VALIDATOR, "python3", VALIDATOR),
        ("test_generator-1 by nova-1", ProgramRole.GENERATOR, "python3", GENERATOR),
    ]
    assert (written.n_answers, AUTHOR.source) == (2, "model:nova-1")


def test_the_validator_sees_the_samples_no_input_and_what_the_generator_writes() -> None:
    running = runner()
    asked = PROBLEMS[Form.STDIN]
    write(asked, AUTHOR, Model([block(VALIDATOR), block(GENERATOR)]), running)
    seen = [text for source, text in running.runs if source == VALIDATOR]
    samples = [sample.input.encode() for sample in asked.samples]
    drawn = [draws(f"0 {number} {FIRST_INPUTS}".encode()) for number in range(FIRST_INPUTS)]
    assert sorted(seen) == sorted([*samples, b"", *drawn])


@pytest.mark.parametrize("form", [Form.STDIN, Form.FUNCTION, Form.DESIGN])
def test_a_prompt_holds_statement_samples_protocol_and_limits(form: Form) -> None:
    asked = replace(PROBLEMS[form], statement=f"{PROBLEMS[form].statement}\n$a_i$ {{{{ x }}}} \\le 10^{{9}}")
    model = Model([block(VALIDATOR), block(GENERATOR)])
    write(asked, AUTHOR, model, runner(validator=lambda text: Exit(42) if text else Exit(43)))
    for prompt, protocol, limits in zip(
        model.prompts,
        (("exit code 42", "exit code 43"), ("`SEED NUMBER WANTED`",)),
        ("60 seconds of CPU time and 2048 MiB", "10 seconds of CPU time and 1024 MiB"),
        strict=True,
    ):
        assert f"## Problem\n\n{asked.statement}\n" in prompt
        for sample in asked.samples:
            assert f"```\n{sample.input.rstrip()}\n```" in prompt
        assert all(words in prompt for words in protocol)
        assert limits in prompt
        assert ("one line for each of its parameters, in their order" in prompt) == (form is Form.FUNCTION)
        assert ("a JSON list of names" in prompt) == (form is Form.DESIGN)
        assert asked.starter_code.rstrip() in prompt
    assert LIMITS.output_bytes == 8 * MIB
    assert "at most 8 MiB" in model.prompts[1]


@pytest.mark.parametrize(
    ("bad", "fault", "shown"),
    [
        (lambda text: Exit(42), "validator test_validator-1 accepts an empty input", None),
        (
            lambda text: Exit(43, "h is above 10") if text.startswith(b"3") else accepts(text),
            "validator test_validator-1 refuses sample 1: h is above 10 (exit code 43)",
            "3 20",
        ),
        (
            lambda text: Exit(1, "ValueError: no number") if not text else accepts(text),
            "validator test_validator-1 ends with neither 42 nor 43 on input 1: ValueError: no number (exit code 1)",
            None,
        ),
        (
            lambda text: Exit(0),
            "validator test_validator-1 ends with neither 42 nor 43 on input 1: exit code 0",
            None,
        ),
    ],
)
def test_a_bad_validator_is_told_its_fault_once_and_then_refused(bad: Does, fault: str, shown: str | None) -> None:
    answers = [block(VALIDATOR), block(SECOND_VALIDATOR), block(GENERATOR)]
    model = Model(list(answers))
    written = write(PROBLEMS[Form.STDIN], AUTHOR, model, runner(validator=bad, second_validator=accepts))
    assert (written.validator.code, written.n_answers) == (SECOND_VALIDATOR, 3)
    first, second, _ = model.prompts
    assert "What is wrong" not in first
    told = second.partition("## Your earlier program")[2]
    assert f"```python\n{VALIDATOR}```" in told
    assert f"\n{fault}\n" in told
    assert (f"The input:\n\n```\n{shown}\n```" in told) if shown else ("The input:" not in told)

    model = Model([block(VALIDATOR), block(SECOND_VALIDATOR)])
    error = refused(model, runner(validator=bad, second_validator=bad))
    assert error.message == f"no validator by nova-1: {fault}"
    assert len(model.prompts) == 2


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (lambda line: b"1\n" + line, "writes an input that the validator refuses: not two numbers (exit code 43)"),
        (lambda line: Verdict.TIME_LIMIT, "does not end within 10 s"),
        (lambda line: Verdict.OUTPUT_LIMIT, "writes more than 8,388,608 bytes"),
        (lambda line: b"1 1\n", "writes the same input for all 12 numbers"),
        (lambda line: Exit(1, "NameError"), "fails on number 0: NameError (exit code 1)"),
    ],
)
def test_a_bad_generator_is_told_its_fault_once_and_then_refused(bad: Does, fault: str) -> None:
    model = Model([block(VALIDATOR), block(GENERATOR), block(SECOND_GENERATOR)])
    written = write(PROBLEMS[Form.STDIN], AUTHOR, model, runner(generator=bad, second_generator=draws))
    assert (written.generator.code, written.n_answers) == (SECOND_GENERATOR, 3)
    assert f"\ngenerator test_generator-1 {fault}\n" in model.prompts[2]
    assert f"```python\n{GENERATOR}```" in model.prompts[2]

    model = Model([block(VALIDATOR), block(GENERATOR), block(SECOND_GENERATOR)])
    error = refused(model, runner(generator=bad, second_generator=bad))
    assert error.message == f"no generator by nova-1: generator test_generator-1 {fault}"


def test_an_input_that_was_refused_is_shown() -> None:
    model = Model([block(VALIDATOR), block(GENERATOR), block(SECOND_GENERATOR)])
    write(PROBLEMS[Form.STDIN], AUTHOR, model, runner(generator=lambda line: b"7 7 " + line, second_generator=draws))
    assert "The input:\n\n```\n7 7 0 0 12\n```" in model.prompts[2]
    model = Model([block(VALIDATOR), block(GENERATOR), block(SECOND_GENERATOR)])
    long = b"1 " * 100_000
    write(PROBLEMS[Form.STDIN], AUTHOR, model, runner(generator=lambda line: long + line, second_generator=draws))
    assert len(model.prompts[2]) < 10_000


def test_a_validator_that_breaks_on_generated_inputs_is_not_the_generators_fault() -> None:
    def breaks(text: bytes) -> Exit:
        return Exit(1, "RecursionError") if b" 20" in text and text != b"3 20\n" else accepts(text)

    model = Model([block(VALIDATOR), block(GENERATOR)])
    error = refused(model, runner(validator=breaks))
    assert error.message == (
        "no validator by nova-1: validator test_validator-1 ends with neither 42 nor 43 on input 1: "
        "RecursionError (exit code 1)"
    )
    assert len(model.prompts) == 2


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(content="I cannot do that."), "the answer has no program: no block"),
        (Reply(content="", reasoning="Let me think."), "the answer has thinking and nothing else"),
        (Reply(content="```python\nimport sys\n", finish_reason="length"), "the answer has no program: "),
        (Reply(content="```cpp\nint main() { return 42; }\n```"), "the answer has no program: the blocks name other"),
        (Reply(content="", refusal="No."), "the answer has no program: the endpoint says that the model refused"),
        (block("print('\0')\n"), "the answer has no program that can be kept: "),
    ],
)
def test_an_answer_without_a_program(reply: Reply, says: str) -> None:
    model = Model([reply, block(VALIDATOR), block(GENERATOR)])
    assert write(PROBLEMS[Form.STDIN], AUTHOR, model, runner()).n_answers == 3
    assert f"## What is wrong with your earlier answer\n\n{says}" in model.prompts[1]
    assert "Your earlier program" not in model.prompts[1]
    assert says in refused(Model([reply, reply]), runner()).message


@pytest.mark.parametrize(("is_fatal", "kind"), [(True, EndpointRefuses), (False, CannotWrite)])
def test_an_endpoint_that_gives_no_answer(is_fatal: bool, kind: type[CannotWrite]) -> None:
    failure = Failure(FailureKind.UNAUTHORISED, "it wants a key", "set one", is_fatal, 1, NOW)
    for before in ([], [block(VALIDATOR)]):
        error = refused(Model([*before, failure]), runner())
        assert type(error) is kind
        assert (error.message, error.hint) == ("it wants a key", "set one")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (problem(statement=" \n"), "no statement"),
        (PROBLEMS[Form.INTERACTIVE], "interactive: it has no input that could be written beforehand"),
        (problem(samples=()), "it has no sample, which a validator could be checked on"),
        (problem(flags=(("needs_image", "all in the picture"),)), "needs a picture"),
    ],
)
def test_problems_for_which_nothing_is_asked(asked: AskableProblem, why: str) -> None:
    model = Model([])
    assert refused(model, runner(), asked).message == why
    assert model.prompts == []


def test_a_statement_in_any_language_will_do() -> None:
    assert not_written(problem(statement_language="ja")) is None
    assert not_written(replace(PROBLEMS[Form.STDIN], io_kind=IoKind.STDIN)) is None


def test_a_model_whose_name_cannot_be_kept() -> None:
    for name in ("", "a\0b"):
        with pytest.raises(ValueError, match=r"^the name of the model "):
            Author(name)


def test_the_prompts_of_test_programs_are_versioned() -> None:
    assert {str(load_prompt(name, SCENARIO)) for name in ("test_validator", "test_generator")} == {
        "test_validator-1",
        "test_generator-1",
    }


REAL_VALIDATOR = """
import sys
words = sys.stdin.read().split()
if len(words) != 2 or not all(word.isdigit() for word in words):
    print("not two numbers", file=sys.stderr)
    sys.exit(43)
sys.exit(42)
"""
REAL_GENERATOR = """
import random
seed, number, wanted = map(int, input().split())
dice = random.Random(f"{seed} {number}")
print(number + 1, dice.randint(1, 10**9))
"""


@pytest.mark.bubblewrap
def test_from_an_endpoint_through_a_jail() -> None:
    programs = {"Write an input validator": REAL_VALIDATOR, "Write a generator": REAL_GENERATOR}
    asked = problem(samples=(AskedSample("3 20\n", "60\n"),))
    with (
        EndpointServer(programs=programs) as server,
        Judge("bubblewrap", jobs=1) as judge,
        asking(
            EndpointSettings(server.base_url), "good", Sampling(temperature=0.5), transport=server.transport()
        ) as ask,
    ):
        written = write(asked, Author("good"), ask, judge)
        assert [arrival.document["temperature"] for arrival in server.arrivals] == [0.5, 0.5]
    # The endpoint ends each program with a line break of its own.
    assert [one.code for one in written.references] == [f"{REAL_VALIDATOR}\n", f"{REAL_GENERATOR}\n"]
