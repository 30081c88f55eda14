"""The inputs that tests are made of: from the statement's grammar, or from a generator program, all of them valid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final, TypeAlias

from db.digests import digest_of, sha256_hex
from db.records import WRITTEN_BY_MODEL, IoKind, ProgramRole, TestCaseRecord
from eval.made_tests import call_text, design_text, stdin_text
from eval.made_tests.coverage import BoundReached, extremes
from eval.made_tests.design_checks import check_calls
from eval.made_tests.design_grammar import DesignGrammar
from eval.made_tests.designs import draw_designs, extremes_of_calls
from eval.made_tests.drawing import CannotDraw, amount, draw_with_reasons
from eval.made_tests.gate import CannotBuild, checked_sample_first, contradictory, explodes
from eval.made_tests.given_programs import generated, refusals
from eval.made_tests.grammar import Grammar, InputRefused, Values
from eval.made_tests.material import KnownProgram, Material
from eval.made_tests.reading.calls import read_call
from eval.made_tests.reading.designs import read_design
from eval.made_tests.reading.stdin import read_stdin
from eval.made_tests.values import check
from sandbox.excerpts import excerpt
from sandbox.validation import Runner

GENERATED: Final = "generator"
MOST_HELD: Final = 3_000_000
"""So many numbers and letters all inputs of a problem hold together: programs have to read them all."""
SMALL: Final = 20_000
"""Inputs that hold no more are always kept."""
_EXPLODES = re.compile(r"more vertices than can be drawn|pairs of vertices to choose from|bytes|values in all")


@dataclass(frozen=True)
class Input:
    """One valid input as a program reads it, what it was drawn by ("rising, greatest"), and the bounds it reaches."""

    text: bytes
    strategy: str
    reaches: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Inputs:
    """Valid inputs, smallest first, and where they come from.

    ``refused`` says why of each that a validator refused, ``not_drawn`` of strategies why they drew none; ``bounds``
    are those of the statement. ``has_every_input``: there are no others. ``is_capped``: the statement allows larger
    ones.
    """

    inputs: tuple[Input, ...]
    not_drawn: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    has_every_input: bool = False
    is_capped: bool = False


Shape: TypeAlias = Grammar | DesignGrammar
"""What a statement says of its inputs: values, or the calls of a class."""


@dataclass(frozen=True)
class InputSource:
    """Where inputs come from: the grammar of the statement, or a generator program with a validator.

    ``grammar`` is None where the statement was not understood; then there are both programs. A validator also checks
    what a grammar draws.
    """

    grammar: Shape | None
    generator: KnownProgram | None = None
    validator: KnownProgram | None = None

    @property
    def name(self) -> str:
        """Where its inputs come from, in words."""
        if self.grammar is not None:
            return "the statement's constraints and input format"
        return f"the generator {self.generator.name if self.generator else '?'}"

    @property
    def digest(self) -> str:
        """The digest of what inputs are drawn from, in hex."""
        programs = [
            None if one is None else sha256_hex(one.program.source.encode("utf-8", "surrogatepass"))
            for one in (self.generator, self.validator)
        ]
        return digest_of([_plain(self.grammar), *programs])


def input_source(material: Material) -> InputSource:
    """Where the inputs of a problem come from; CannotBuild, with the sentence of the statement that defeats it.

    Every sample must pass: the grammar's shape and constraints here, a validator program when it is run.
    """
    generator, validator = _programs(material)
    grammar = read_grammar(material)
    if not grammar.is_complete:
        if generator is None or validator is None:
            raise not_understood(grammar)
        return InputSource(None, generator, validator)
    try:
        checked_sample_first(material.samples, lambda sample: check_sample(grammar, sample))
    except CannotBuild:
        if generator is None or validator is None:
            raise
        return InputSource(None, generator, validator)
    return InputSource(grammar, generator, validator)


def _programs(material: Material) -> tuple[KnownProgram | None, KnownProgram | None]:
    """The generator and the validator that are used: a user's before a model's, and of models' those of one model."""
    generators, validators = (
        sorted(material.having(role), key=_by_author) for role in (ProgramRole.GENERATOR, ProgramRole.VALIDATOR)
    )
    generator = generators[0] if generators else None
    if generator is not None and validators and _by_author(validators[0])[0]:
        validators.sort(key=lambda one: (one.source != generator.source, *_by_author(one)))
    return generator, validators[0] if validators else None


def _by_author(one: KnownProgram) -> tuple[bool, str, str]:
    """In the order of trust: programs that a model wrote come last."""
    return one.source.startswith(WRITTEN_BY_MODEL), one.source, one.name


def read_grammar(material: Material) -> Shape:
    """The grammar of a problem's statement, complete or not."""
    if material.suite.io_kind is IoKind.DESIGN:
        name = material.suite.entry_point or ""
        return read_design(material.statement, name, material.parameters, dict(material.methods))
    if material.suite.io_kind is IoKind.FUNCTION:
        return read_call(material.statement, material.parameters)
    return read_stdin(material.statement)


def not_understood(grammar: Shape) -> CannotBuild:
    """Why a statement gives no inputs."""
    sentence = excerpt(" ".join(grammar.not_understood[0].split()), 120)
    others = len(grammar.not_understood) - 1
    more = f" and {others} more {'sentence' if others == 1 else 'sentences'}" if others else ""
    return CannotBuild(
        f"the statement's input was not understood: {sentence}{more}",
        "give a generator and a validator program (live import references, or live tests write)",
    )


def check_sample(grammar: Shape, sample: TestCaseRecord) -> None:
    """InputRefused where a sample has not the shape that a grammar gives, or breaks a constraint of it."""
    try:
        text = sample.input.decode()
    except UnicodeDecodeError as error:
        raise InputRefused(f"it is not UTF-8: {error.reason}") from None
    if isinstance(grammar, DesignGrammar):
        check_calls(grammar, design_text.parse(grammar, text))
    else:
        check(grammar, _parser(grammar)(grammar, text))


def draw(source: InputSource, material: Material, runner: Runner, *, seed: int, wanted: int) -> Inputs:
    """Valid inputs, other than the samples', the same for the same seed; CannotBuild where there are none.

    With a validator program, samples are run through it first and what it refuses is left out.
    """
    if source.validator is not None:
        _validate_samples(material, source.validator, runner)
    if source.grammar is None:
        assert source.generator is not None  # input_source sees to it
        texts = generated(runner, source.generator, seed, wanted)
        drawn = Inputs(tuple(Input(text, GENERATED) for text in texts))
    else:
        drawn = _drawn(source.grammar, seed, wanted)
    samples = {_canonical(sample.input) for sample in material.samples}
    others = [one for one in drawn.inputs if _canonical(one.text) not in samples]
    refused: tuple[str, ...] = ()
    if source.validator is not None and others:
        reasons = refusals(runner, source.validator, [one.text for one in others])
        refused = tuple(reason for reason in reasons if reason is not None)
        others = [one for one, reason in zip(others, reasons, strict=True) if reason is None]
    if drawn.inputs and not others and not refused:
        raise CannotBuild("the samples are all inputs that there are", "nothing is left to be made")
    others.sort(key=lambda one: len(one.text))
    return Inputs(tuple(others), drawn.not_drawn, refused, drawn.bounds, drawn.has_every_input, drawn.is_capped)


def _drawn(grammar: Shape, seed: int, wanted: int) -> Inputs:
    if isinstance(grammar, DesignGrammar):
        return _drawn_calls(grammar, seed, wanted)
    try:
        drawing = draw_with_reasons(grammar, seed, wanted)
    except CannotDraw as error:
        raise _undrawable(error.message) from None
    render = call_text.render if grammar.parameters else stdin_text.render
    kept = [drawing.inputs[place] for place in _within_budget([amount(one.values) for one in drawing.inputs])]
    return Inputs(
        tuple(
            Input(render(grammar, one.values).encode(), one.strategy, _reached(extremes(grammar, [one.values])))
            for one in kept
        ),
        not_drawn=drawing.failures,
        bounds=tuple(one.bound for one in extremes(grammar, [])),
        has_every_input=drawing.is_complete,
        is_capped=drawing.is_capped,
    )


def _reached(bounds: Iterable[BoundReached]) -> frozenset[str]:
    return frozenset(one.bound for one in bounds if one.is_reached)


def _drawn_calls(grammar: DesignGrammar, seed: int, wanted: int) -> Inputs:
    try:
        drawing = draw_designs(grammar, seed, wanted)
    except CannotDraw as error:
        raise _undrawable(error.message) from None
    kept = [drawing.inputs[place] for place in _within_budget([len(one.text) for one in drawing.inputs])]
    return Inputs(
        tuple(
            Input(one.text.encode(), one.strategy, _reached(extremes_of_calls(grammar, [one.calls]))) for one in kept
        ),
        not_drawn=drawing.failures,
        bounds=tuple(one.bound for one in extremes_of_calls(grammar, [])),
        is_capped=drawing.is_capped,
    )


def _within_budget(amounts: Sequence[int]) -> list[int]:
    """The places of inputs, smallest first, that together hold no more than ``MOST_HELD``: all that are small, then of
    the others the greatest (one at least) and the smallest by turns."""
    small = [place for place, held in enumerate(amounts) if held <= SMALL]
    large = [place for place, held in enumerate(amounts) if held > SMALL]
    kept, left = set(small), MOST_HELD - sum(amounts[place] for place in small)
    is_first = True
    while large:
        place = large.pop(-1 if is_first or len(large) % 2 else 0)
        if is_first or amounts[place] <= left:
            kept.add(place)
            left -= amounts[place]
        is_first = False
    return sorted(kept)


def _undrawable(message: str) -> CannotBuild:
    return explodes(message) if _EXPLODES.search(message) else contradictory(message)


def _parser(grammar: Grammar) -> Callable[[Grammar, str], Values]:
    return call_text.parse if grammar.parameters else stdin_text.parse


def _validate_samples(material: Material, validator: KnownProgram, runner: Runner) -> None:
    def refuse(reason: str | None) -> None:
        if reason is not None:
            raise InputRefused(reason)

    checked_sample_first(
        refusals(runner, validator, [sample.input for sample in material.samples]), refuse, validator.name
    )


def _canonical(text: bytes) -> bytes:
    """An input without what makes no difference to who reads it."""
    return b" ".join(text.split())


def _plain(value: object) -> Any:
    """A grammar as JSON values, the same in every process: the order in which sets are shown is not."""
    if is_dataclass(value):
        return [type(value).__name__, *(_plain(getattr(value, entry.name)) for entry in fields(value))]
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, Mapping):
        return [[_plain(name), _plain(each)] for name, each in sorted(value.items())]
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool) else str(value)
