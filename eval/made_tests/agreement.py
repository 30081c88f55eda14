"""Expected outputs from programs that agree, and what their disagreement says of the problem. Pure.

Who decides: official and given references alone where there are any, and all of them that answer must agree. Without
references completions vote: by at least three models, of at least two families, whose answers agree, who have more
than half of the votes of the families that answered, and of whom no family of a model under evaluation is the one that
makes the majority. A family has one vote, in equal parts for each of its models that answered, and a model's part in
equal parts for each of its completions, so that none decides alone. Only those vote that pass all samples; which
completions are strong enough to be asked is the caller's choice (`eval.made_tests.voters`).

Who fails on an input (time, memory, output, crash) abstains from it. The input is set aside all the same where more
than a third of the voters that otherwise agree fail on it, and where a reference crashes.

Groups: equality by a problem's comparison is not transitive (tolerances) nor symmetric ("1" is right where "1.0" is
expected, "1.0" is wrong where "1" is). A group is therefore a representative's: all outputs that are right where the
representative's is expected. The representative of the first group is the output that gathers the most (families, then
voters, then the voters' order: official, given, completion, each by name); the next groups are made of the rest in the
same way. Its bytes become the expected output, so that every vote for it passes its test. An output that is not even
right where it is itself expected (NaN) is no answer: for a reference that is as bad as a crash.

Two answers are a finding ("several answers") where references differ, a brute force differs, no answer has a majority,
or a second answer has three families. All programs that crash make the input itself suspect.

What is set aside is a finding on the problem, never a test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from sandbox.excerpts import excerpt
from sandbox.verdicts import Verdict

MIN_MODELS = 3
MIN_FAMILIES = 2
MANY_FAMILIES = 3
"""So many families that agree on a second answer are no accident."""
MAX_FAILING = (1, 3)
"""The share of otherwise agreeing voters that may fail on an input, as a fraction: an integer comparison is exact."""

Compare: TypeAlias = Callable[[bytes, bytes], bool]
"""Whether the second output is right where the first is expected."""

_NO_ANSWER = "an output that differs from itself"
_FAILURES = frozenset(Verdict) - {Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.INTERNAL_ERROR}
_CRASHES = frozenset({Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR})
_NAMED = 3
_QUORUM = f"{MIN_MODELS} models of {MIN_FAMILIES} families"


class VoterKind(StrEnum):
    """What a program is to its problem, in the order of its weight. A brute force checks, it does not vote."""

    OFFICIAL = "official"
    GIVEN = "given"
    COMPLETION = "completion"
    BRUTE_FORCE = "brute force"

    @property
    def is_reference(self) -> bool:
        """Whether programs of this kind decide alone."""
        return self in (VoterKind.OFFICIAL, VoterKind.GIVEN)


@dataclass(frozen=True)
class Voter:
    """A program that is asked. A completion has a ``model``; ``family`` None: the model is one by itself.

    ValueError for a completion without a model.
    """

    name: str
    kind: VoterKind
    model: str | None = None
    family: str | None = None
    passes_samples: bool = True
    is_under_evaluation: bool = False

    def __post_init__(self) -> None:
        if self.kind is VoterKind.COMPLETION and not self.model:
            raise ValueError(f"the completion {self.name} has no model")

    @property
    def bloc(self) -> str:
        """Who has one vote together: a family of models; a reference is one by itself."""
        if self.kind is not VoterKind.COMPLETION:
            return self.name
        return (self.family or f"{self.model}").casefold()


@dataclass(frozen=True)
class Answer:
    """What a voter did on an input: its output, or how it failed. ValueError for both, neither, or no failure."""

    output: bytes | None = None
    failure: Verdict | None = None

    def __post_init__(self) -> None:
        if (self.output is None) == (self.failure is None):
            raise ValueError("an answer is an output or a failure")
        if self.failure is not None and self.failure not in _FAILURES:
            raise ValueError(f"{self.failure} is no way to fail on an input without an expected output")


class FindingKind(StrEnum):
    """What the voters' answers say of the problem or of the input."""

    SEVERAL_ANSWERS = "several_answers"
    REFERENCE_FAILS = "reference_fails"
    NO_QUORUM = "no_quorum"
    INVALID_INPUT_SUSPECTED = "invalid_input_suspected"
    RIGHT_FAILS = "right_fails"
    """A program that other tests know to be right fails a test that was made."""


@dataclass(frozen=True)
class Finding:
    """Why an input (``input``, counted from 0) gets no test, or what is wrong beyond any input (None).

    ``voters`` are those that it is about. A finding is a reason to look at the problem.
    """

    kind: FindingKind
    sentence: str
    voters: tuple[str, ...]
    input: int | None = None


@dataclass(frozen=True)
class Expected:
    """The expected output of an input. ``voters`` agree on it (``blocs``: they count as so many), ``failing`` abstain,
    ``differing`` answer otherwise (completions only)."""

    input: int
    output: bytes
    voters: tuple[str, ...]
    blocs: tuple[str, ...]
    failing: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agreement:
    """What came out for each input, in their order; ``findings`` are those that belong to no input."""

    inputs: tuple[Expected | Finding, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def expected(self) -> tuple[Expected, ...]:
        """The inputs that make tests."""
        return tuple(each for each in self.inputs if isinstance(each, Expected))

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Those of the problem, then those of inputs set aside."""
        return self.findings + tuple(each for each in self.inputs if isinstance(each, Finding))


def agree(voters: Sequence[Voter], outcomes: Sequence[Sequence[Answer | None]], compare: Compare) -> Agreement:
    """Let the voters decide each input. ``outcomes`` is inputs x voters; None: not run there (a brute force on a large
    input, a fault of the sandbox).

    The result does not depend on the order of the voters. ValueError for two voters of one name, or another number of
    answers.
    """
    if any(len(row) != len(voters) for row in outcomes):
        raise ValueError(f"{len(voters)} voters have another number of answers")
    if len({voter.name for voter in voters}) != len(voters):
        raise ValueError("two voters have the same name")
    order = sorted(range(len(voters)), key=lambda at: (list(VoterKind).index(voters[at].kind), voters[at].name))
    asked = [voters[at] for at in order]
    election = _Election.of(asked, compare)
    first = [
        election.decide(number, _ballot({voters[at]: row[at] for at in order}, compare))
        for number, row in enumerate(outcomes)
    ]
    reliable = _reliable(each for each in first if isinstance(each, Expected))
    inputs = [_unless_many_fail(each, reliable) if isinstance(each, Expected) else each for each in first]
    return Agreement(tuple(inputs), tuple(_of_problem(asked)))


@dataclass(frozen=True)
class _Ballot:
    """One input: the outputs of those that pass the samples and answered, and how the others of them failed."""

    outputs: Mapping[Voter, bytes]
    failures: Mapping[Voter, str]
    crashed: tuple[Voter, ...]


def _ballot(answers: Mapping[Voter, Answer | None], compare: Compare) -> _Ballot:
    outputs, failures, crashed = {}, {}, []
    for voter, answer in answers.items():
        if answer is None or not voter.passes_samples:
            continue
        if answer.output is None:
            failures[voter] = f"{answer.failure}"
            if answer.failure in _CRASHES:
                crashed.append(voter)
        elif compare(answer.output, answer.output):
            outputs[voter] = answer.output
        else:
            failures[voter] = _NO_ANSWER
    return _Ballot(outputs, failures, tuple(crashed))


@dataclass(frozen=True)
class _Group:
    """A representative's output, and who gave one that is right where it is expected."""

    output: bytes
    voters: tuple[Voter, ...]


@dataclass(frozen=True)
class _Refusal:
    """Why an input gets no expected output, and of whom it speaks."""

    kind: FindingKind
    sentence: str
    about: Iterable[Voter]


@dataclass(frozen=True)
class _Election:
    """Who decides, and by which rule."""

    deciding: Sequence[Voter]
    by_references: bool
    brute_forces: Sequence[Voter]
    compare: Compare

    @classmethod
    def of(cls, asked: Sequence[Voter], compare: Compare) -> _Election:
        """References that fail the samples leave the decision to the other references, never to completions."""
        references = [voter for voter in asked if voter.kind.is_reference]
        completions = [voter for voter in asked if voter.kind is VoterKind.COMPLETION]
        deciding = [voter for voter in references or completions if voter.passes_samples]
        brute_forces = [voter for voter in asked if voter.kind is VoterKind.BRUTE_FORCE]
        return cls(deciding, bool(references), brute_forces, compare)

    def decide(self, number: int, ballot: _Ballot) -> Expected | Finding:
        """What one input comes to, without a look at the others."""
        groups = _groups({voter: out for voter, out in ballot.outputs.items() if voter in self.deciding}, self.compare)
        if self.by_references:
            winner, refusal = groups[:1], _all_crash(ballot) or self._references_refuse(groups, ballot)
        else:
            votes = _votes(groups)
            winner = sorted(groups, key=lambda group: -votes[group])[:1]
            refusal = _all_crash(ballot) or self._completions_refuse(votes)
        refusal = refusal or self._brute_force_refuses(winner[0].output, ballot)
        if refusal is not None:
            return Finding(refusal.kind, refusal.sentence, _names(refusal.about), number)
        return Expected(
            input=number,
            output=winner[0].output,
            voters=_names(winner[0].voters),
            blocs=tuple(sorted({voter.bloc for voter in winner[0].voters})),
            failing=_names(voter for voter in self.deciding if voter in ballot.failures),
            differing=_names(voter for group in groups if group != winner[0] for voter in group.voters),
        )

    def _references_refuse(self, groups: Sequence[_Group], ballot: _Ballot) -> _Refusal | None:
        broken = [v for v in self.deciding if v in ballot.crashed or ballot.failures.get(v) == _NO_ANSWER]
        if broken:
            how = ballot.failures[broken[0]]
            return _Refusal(FindingKind.REFERENCE_FAILS, f"of the references {_listed(broken)} gets {how}", broken)
        if len(groups) > 1:
            sides = " against ".join(_listed(group.voters) for group in groups)
            about = [voter for group in groups for voter in group.voters]
            return _Refusal(
                FindingKind.SEVERAL_ANSWERS, f"the references give {len(groups)} different answers: {sides}", about
            )
        if groups:
            return None
        failing = [voter for voter in self.deciding if voter in ballot.failures]
        if failing:
            how = ballot.failures[failing[0]]
            return _Refusal(
                FindingKind.REFERENCE_FAILS, f"no reference answers: {_listed(failing)} gets {how}", failing
            )
        return _Refusal(FindingKind.NO_QUORUM, "no reference that passes the samples was run", ())

    def _completions_refuse(self, votes: Mapping[_Group, Fraction]) -> _Refusal | None:
        answering = [voter for group in votes for voter in group.voters]
        n_blocs = len({voter.bloc for voter in answering})
        if (too_few := _too_few(answering)) is not None:
            return _Refusal(FindingKind.NO_QUORUM, f"{too_few} answered, {_QUORUM} must agree", answering)
        winner = max(votes, key=lambda group: votes[group])
        most, second = sorted([*votes.values(), Fraction()], reverse=True)[:2]
        if 2 * most <= n_blocs or second >= MANY_FAMILIES:
            sentence = (
                f"{_families(n_blocs)} give {len(votes)} different answers; the most frequent has {_decimal(most)}"
            )
            return _Refusal(FindingKind.SEVERAL_ANSWERS, sentence, answering)
        if (too_few := _too_few(winner.voters)) is not None:
            return _Refusal(FindingKind.NO_QUORUM, f"only {too_few} agree, {_QUORUM} must", answering)
        shares = _shares(answering)
        for bloc in sorted({voter.bloc for voter in winner.voters if voter.is_under_evaluation}):
            others = most - sum(shares[voter] for voter in winner.voters if voter.bloc == bloc)
            if 2 * others <= n_blocs - 1:
                sentence = (
                    f"{_shown(bloc)}, which is under evaluation, decides: without it {_decimal(others)} of "
                    f"{n_blocs - 1} agree"
                )
                return _Refusal(FindingKind.NO_QUORUM, sentence, [v for v in answering if v.bloc == bloc])
        return None

    def _brute_force_refuses(self, expected: bytes, ballot: _Ballot) -> _Refusal | None:
        for voter in self.brute_forces:
            if voter in ballot.crashed or ballot.failures.get(voter) == _NO_ANSWER:
                sentence = f"the brute force {_shown(voter.name)} gets {ballot.failures[voter]}"
                return _Refusal(FindingKind.REFERENCE_FAILS, sentence, [voter])
            if voter in ballot.outputs and not self.compare(expected, ballot.outputs[voter]):
                sentence = f"the brute force {_shown(voter.name)} gives another answer than the others agree on"
                return _Refusal(FindingKind.SEVERAL_ANSWERS, sentence, [voter])
        return None


def _all_crash(ballot: _Ballot) -> _Refusal | None:
    if ballot.outputs or len(ballot.crashed) < 2 or len(ballot.crashed) < len(ballot.failures):
        return None
    sentence = f"all {len(ballot.crashed)} programs crash: the input may not be valid"
    return _Refusal(FindingKind.INVALID_INPUT_SUSPECTED, sentence, ballot.crashed)


def _groups(outputs: Mapping[Voter, bytes], compare: Compare) -> list[_Group]:
    """The groups, each that of the representative that gathers the most of what is left; see the module's docstring."""
    by_output: dict[bytes, list[Voter]] = {}
    for voter, output in outputs.items():
        by_output.setdefault(output, []).append(voter)
    near = {one: [other for other in by_output if one == other or compare(one, other)] for one in by_output}
    left, groups = list(by_output), []
    while left:
        gathered = {one: [voter for other in near[one] if other in left for voter in by_output[other]] for one in left}
        # max takes the first of those that gather as many: outputs stand in the order of their first voters.
        best = max(left, key=lambda one: (len({voter.bloc for voter in gathered[one]}), len(gathered[one])))
        groups.append(_Group(best, tuple(gathered[best])))
        left = [one for one in left if one not in near[best]]
    return groups


def _votes(groups: Sequence[_Group]) -> dict[_Group, Fraction]:
    """How many families' votes each group has."""
    shares = _shares([voter for group in groups for voter in group.voters])
    return {group: sum((shares[voter] for voter in group.voters), Fraction()) for group in groups}


def _shares(answering: Sequence[Voter]) -> dict[Voter, Fraction]:
    """The part of its family's vote that each voter has: equal parts for its models, and of a model's for its own."""
    models: dict[str, set[str | None]] = {}
    for voter in answering:
        models.setdefault(voter.bloc, set()).add(_model(voter))
    of_model = Counter((voter.bloc, _model(voter)) for voter in answering)
    return {voter: Fraction(1, len(models[voter.bloc]) * of_model[voter.bloc, _model(voter)]) for voter in answering}


def _reliable(decided: Iterable[Expected]) -> frozenset[str]:
    """The voters that agree where something was decided: at least once, and never otherwise."""
    agreeing: set[str] = set()
    differing: set[str] = set()
    for each in decided:
        agreeing.update(each.voters)
        differing.update(each.differing)
    return frozenset(agreeing - differing)


def _unless_many_fail(expected: Expected, reliable: Collection[str]) -> Expected | Finding:
    failing = tuple(name for name in expected.failing if name in reliable)
    n_asked = len(failing) + sum(name in reliable for name in expected.voters)
    part, whole = MAX_FAILING
    if whole * len(failing) <= part * n_asked:
        return expected
    sentence = f"{len(failing)} of {n_asked} programs that otherwise agree fail on this input"
    return Finding(FindingKind.NO_QUORUM, sentence, failing, expected.input)


def _of_problem(asked: Iterable[Voter]) -> Iterator[Finding]:
    for voter in asked:
        if not voter.passes_samples and voter.kind is not VoterKind.COMPLETION:
            sentence = f"the {voter.kind} {'' if voter.kind is VoterKind.BRUTE_FORCE else 'reference '}"
            sentence += f"{_shown(voter.name)} does not pass the samples"
            yield Finding(FindingKind.REFERENCE_FAILS, sentence, (voter.name,))


def _names(voters: Iterable[Voter]) -> tuple[str, ...]:
    return tuple(sorted(voter.name for voter in voters))


def _listed(voters: Sequence[Voter]) -> str:
    """ "a.py, b.py and 2 more"."""
    more = f" and {len(voters) - _NAMED} more" if len(voters) > _NAMED else ""
    return ", ".join(_shown(voter.name) for voter in voters[:_NAMED]) + more


def is_quorum(voters: Iterable[Voter]) -> bool:
    """Whether completions could decide if they all agree."""
    return _too_few(voters) is None


def _too_few(voters: Iterable[Voter]) -> str | None:
    """How many models of how many families, where that is no quorum."""
    found = list(voters)
    n_models, n_blocs = len({_model(voter) for voter in found}), len({voter.bloc for voter in found})
    if n_models >= MIN_MODELS and n_blocs >= MIN_FAMILIES:
        return None
    return f"{n_models} {'model' if n_models == 1 else 'models'} of {_families(n_blocs).removesuffix(' of models')}"


def _model(voter: Voter) -> str:
    """A model by its name in whatever letters."""
    return f"{voter.model}".casefold()


def _decimal(votes: Fraction) -> str:
    return f"{float(votes):.3g}"


def _families(n: int) -> str:
    return f"{n} {'family' if n == 1 else 'families'} of models"


def _shown(name: str) -> str:
    return excerpt(name, 60)
