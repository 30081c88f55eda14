"""Generator and validator programs written by a model: asked for by versioned prompts, run in the sandbox, kept only as
a pair that holds.

The validator comes first: it must accept all samples and refuse an empty input. Then the generator: it must keep its
protocol (`given_programs`), and the validator must accept what it writes. Where a program does not hold, the model is
told what is wrong and asked once more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from db.asked import AskableProblem
from db.records import WRITTEN_BY_MODEL, IoKind, ProgramRole, ReferenceRecord, require_text
from eval.generate.extraction import EmptyContent, explain, extract_program
from eval.generate.failures import Failure
from eval.generate.prompts import Message, Prompt, load_prompt
from eval.generate.questions import FailedTest, Question, not_asked, shortened
from eval.generate.replies import Reply
from eval.generate.sampling import Sampling
from eval.made_tests import given_programs
from eval.made_tests.gate import CannotBuild, checked_sample_first
from eval.made_tests.given_programs import generated, refusals
from eval.made_tests.grammar import InputRefused
from eval.made_tests.material import KnownProgram
from sandbox import Limits, Program, validation
from sandbox.excerpts import excerpt
from sandbox.validation import Runner

if TYPE_CHECKING:
    from httpx import AsyncBaseTransport

    from eval.generate.endpoint import Answered, EndpointSettings

SCENARIO: Final = "test_programs"
"""The folder of the prompts. It is no scenario of a run: nobody is scored by it."""
PROMPTS: Final = {ProgramRole.VALIDATOR: "test_validator", ProgramRole.GENERATOR: "test_generator"}
FIRST_INPUTS: Final = 12
"""So many inputs of a generator are looked at before it is kept, the smallest and the largest among them."""
MOST_ANSWERS: Final = 2
"""So often a model is asked for one program."""

_SEED = 0
_LIMITS = {ProgramRole.VALIDATOR: validation.LIMITS, ProgramRole.GENERATOR: given_programs.LIMITS}
_SHOWN = 200
_OTHERS = "ask another model, or give both programs by live import references"

Ask = Callable[[Sequence[Message]], "Answered | Failure"]
"""Puts one question to a model, and waits for what comes of it."""


class CannotWrite(Exception):
    """No programs are kept for a problem; ``message`` is one line that says why, ``hint`` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class EndpointRefuses(CannotWrite):
    """The endpoint cannot be used: no other problem would fare better."""


@dataclass(frozen=True)
class Author:
    """Who writes, and how: the model as the endpoint calls it, and the language of its programs (the sandbox's name).

    ``reasoning_is_answer`` looks for the program in the reasoning where an answer has no text. ``ValueError`` for a
    name that cannot be stored.
    """

    model: str
    language: str = "python3"
    reasoning_is_answer: bool = False

    def __post_init__(self) -> None:
        require_text("the name of the model", self.model, allow_empty=False)

    @property
    def source(self) -> str:
        """The source that the store has its programs of."""
        return f"{WRITTEN_BY_MODEL}{self.model}"

    def name(self, role: ProgramRole) -> str:
        """What its program of this role is called: the prompt with its version, and the model."""
        return f"{_prompt(role)} by {self.model}"


@dataclass(frozen=True)
class Written:
    """A validator and a generator that hold together. ``n_answers`` counts what the model was asked for them."""

    validator: ReferenceRecord
    generator: ReferenceRecord
    n_answers: int

    @property
    def references(self) -> tuple[ReferenceRecord, ReferenceRecord]:
        """Both, as the store takes them."""
        return self.validator, self.generator


def not_written(problem: AskableProblem) -> str | None:
    """Why no programs can be asked for; None where they can. Statements in any language can be read."""
    if problem.io_kind is IoKind.INTERACTIVE:
        return "interactive: it has no input that could be written beforehand"
    reason = not_asked(replace(problem, statement_language=None))
    if reason is None and not problem.samples:
        return "it has no sample, which a validator could be checked on"
    return reason


def write(problem: AskableProblem, author: Author, ask: Ask, runner: Runner) -> Written:
    """Have a model write both programs for a problem.

    Raises CannotWrite where it has none in the end, EndpointRefuses where no model can be asked, and what the runner
    raises.
    """
    reason = not_written(problem)
    if reason is not None:
        raise CannotWrite(reason, "give both programs by live import references")
    return _Writing(problem, author, ask, runner).written()


@contextmanager
def asking(
    settings: EndpointSettings, model: str, sampling: Sampling, *, transport: AsyncBaseTransport | None = None
) -> Iterator[Ask]:
    """What asks a model of an endpoint, while the block runs. Raises ``BadEndpoint`` for settings of no use."""
    from eval.generate.endpoint import Endpoint

    with asyncio.Runner() as loop:
        endpoint = Endpoint(settings, transport=transport)
        body = sampling.body(0)
        try:
            yield lambda messages: loop.run(endpoint.ask(model, messages, body))
        finally:
            loop.run(endpoint.__aexit__())


class _Fault(Exception):
    """What is wrong with an answer, in a line; ``input`` shows it, "" where none does; ``program`` is at fault, "": the
    answer has none."""

    def __init__(self, line: str, shown: str = "", program: str = "") -> None:
        super().__init__(line)
        self.line = line
        self.input = shown
        self.program = program


@dataclass
class _Writing:
    """The programs of one problem on their way."""

    problem: AskableProblem
    author: Author
    ask: Ask
    runner: Runner
    n_answers: int = field(default=0, init=False)

    def written(self) -> Written:
        validator = self._program(ProgramRole.VALIDATOR, self._check_validator)
        generator = self._program(ProgramRole.GENERATOR, lambda program: self._check_generator(program, validator))
        return Written(self._record(validator), self._record(generator), self.n_answers)

    def _record(self, program: KnownProgram) -> ReferenceRecord:
        assert program.role is not None
        name, code = self.author.name(program.role), program.program
        return ReferenceRecord(name, code.language, code.source, program.role)

    def _program(self, role: ProgramRole, check: Callable[[KnownProgram], None]) -> KnownProgram:
        fault: _Fault | None = None
        for _ in range(MOST_ANSWERS):
            reply = self._asked(role, fault)
            try:
                program = self._read(role, reply)
                check(program)
            except _Fault as error:
                fault = error
            else:
                return program
        assert fault is not None
        raise CannotWrite(f"no {role} by {self.author.model}: {fault.line}", _OTHERS)

    def _asked(self, role: ProgramRole, fault: _Fault | None) -> Reply:
        said = self.ask(_prompt(role).messages(_question(self.problem, self.author, role, fault), self.author.language))
        if isinstance(said, Failure):
            raise (EndpointRefuses if said.is_fatal else CannotWrite)(said.message, said.hint)
        self.n_answers += 1
        return said.reply

    def _read(self, role: ProgramRole, reply: Reply) -> KnownProgram:
        """The program of an answer. Raises _Fault where it has none that can be kept."""
        found = extract_program(
            reply, language=self.author.language, reasoning_is_answer=self.author.reasoning_is_answer
        )
        if isinstance(found, EmptyContent):
            raise _Fault(found.message)
        if not found.code:
            raise _Fault(f"the answer has no program: {explain(found.rule)}")
        try:
            require_text("its program", found.code, allow_empty=False)
        except ValueError as error:
            raise _Fault(f"the answer has no program that can be kept: {error}") from None
        return KnownProgram(str(_prompt(role)), Program(found.code, self.author.language), role)

    def _check_validator(self, program: KnownProgram) -> None:
        """Raises _Fault for a validator that does not tell the samples from no input at all."""
        samples = [sample.input for sample in self.problem.samples]
        try:
            reasons = refusals(self.runner, program, [sample.encode() for sample in samples])
            at_empty = refusals(self.runner, program, [b""])
        except CannotBuild as error:
            raise _fault(error.message, program) from error
        try:
            checked_sample_first(reasons, _refuse, program.name)
        except CannotBuild as error:
            first = next(number for number, reason in enumerate(reasons) if reason is not None)
            raise _fault(error.message, program, samples[first]) from error
        if at_empty == [None]:
            raise _fault(f"validator {program.name} accepts an empty input", program)

    def _check_generator(self, program: KnownProgram, validator: KnownProgram) -> None:
        """Raises _Fault for a generator whose first inputs are none, or not valid; CannotWrite where the validator says
        nothing of them."""
        try:
            inputs = generated(self.runner, program, _SEED, FIRST_INPUTS)
        except CannotBuild as error:
            raise _fault(error.message, program) from error
        try:
            reasons = refusals(self.runner, validator, inputs)
        except CannotBuild as error:
            raise CannotWrite(f"no validator by {self.author.model}: {error.message}", _OTHERS) from error
        for text, reason in zip(inputs, reasons, strict=True):
            if reason is not None:
                line = f"generator {program.name} writes an input that the validator refuses: {reason}"
                raise _fault(line, program, text.decode(errors="replace"))


def _fault(line: str, program: KnownProgram, shown: str = "") -> _Fault:
    return _Fault(excerpt(line, _SHOWN), shown, program.program.source)


def _prompt(role: ProgramRole) -> Prompt:
    return load_prompt(PROMPTS[role], SCENARIO)


def _question(problem: AskableProblem, author: Author, role: ProgramRole, fault: _Fault | None) -> Question:
    """What is asked; the limits in it are those of the program that is asked for."""
    limits: Limits = _LIMITS[role]
    limited = replace(problem, time_limit_s=limits.cpu_s, memory_limit_bytes=limits.memory_bytes)
    asked = Question(limited, SCENARIO, language=author.language)
    if fault is None:
        return asked
    failed = FailedTest("wrong_answer", input=shortened(fault.input), error=fault.line)
    return replace(asked, program=fault.program, feedback=failed.as_text())


def _refuse(reason: str | None) -> None:
    if reason is not None:
        raise InputRefused(reason)
