"""Made tests from end to end: a problem and the programs known for it in, a suite with its strength out.

``prepare`` looks at what is there without running anything and gives the plan with its digest (``recipe``): the same
recipe makes the same tests. ``build`` runs: inputs are drawn and validated, voters answer them (`eval.made_tests.
voters`, `agreement`), a time limit is derived where none is stated (`time_limit`), and what the tests are worth is
measured (`proving`). The store is not touched: where tests cannot be made, CannotBuild leaves the problem as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from db.digests import digest_of, sha256_hex, suite_digest
from db.records import IoKind, MadeStrength, ProgramRole, SuiteRecord, TestCaseRecord, TestOrigin
from eval.judging import DEFAULT_LIMITS
from eval.made_tests.account import account_of
from eval.made_tests.agreement import MIN_MODELS, Agreement, Finding, Voter, VoterKind, agree
from eval.made_tests.gate import CannotBuild, references_fail, require_enough
from eval.made_tests.inputs import Inputs, InputSource, draw, input_source
from eval.made_tests.material import KnownProgram, Material
from eval.made_tests.proving import Candidate, name_of, prove
from eval.made_tests.time_limit import Calibration, TimeLimit, time_limit
from eval.made_tests.trials import Trials, as_answer
from eval.made_tests.voters import as_voter, chosen_voters, is_quorum
from sandbox import Output, Verdict, languages
from sandbox.validation import Runner

VERSION: Final = 1
"""Part of every recipe: a change of what the same material gives makes another one."""
WANTED: Final = 48
GENEROUS_S: Final = 10.0
"""CPU seconds that a reference gets where no limit is stated, until one is derived. Nobody vouches for completions:
they get what programs get where no limit is known."""
SAMPLE_S: Final = 2.0
"""CPU seconds that a completion gets for a sample where no limit is stated: samples are small, and who needs more for
one would be asked in vain."""
MOST_FAILURES: Final = 2
"""After so many failures a voter is not asked further: what fails on smaller inputs fails on larger ones."""
SMALL_BYTES: Final = 400
"""Inputs up to this size are small enough for a brute force."""


@dataclass(frozen=True)
class BuildSettings:
    """How tests are made: the seed, how many inputs are drawn, and whether only the tests are kept that the strength
    needs (``minimal``)."""

    seed: int = 0
    wanted: int = WANTED
    minimal: bool = False


@dataclass(frozen=True)
class Plan:
    """What is to be done for a problem. ``recipe`` is a digest in hex of all that it rests on."""

    material: Material
    settings: BuildSettings
    source: InputSource
    recipe: str


@dataclass(frozen=True)
class MadeSuite:
    """Tests that were made: the samples, then made tests, smaller inputs first.

    ``details`` are JSON values that say how they came to be; ``findings`` are reasons to look at the problem.
    """

    suite: SuiteRecord
    strength: MadeStrength
    recipe: str
    details: Mapping[str, Any]
    findings: tuple[Finding, ...]

    @property
    def n_made(self) -> int:
        """How many tests are made."""
        return sum(test.origin is TestOrigin.GENERATED for test in self.suite.tests)


def prepare(material: Material, settings: BuildSettings) -> Plan:
    """What is to be done, or CannotBuild: why this problem can have no made tests."""
    _require_kind(material)
    source = input_source(material)
    return Plan(material, settings, source, _recipe(material, settings, source))


def build(plan: Plan, runner: Runner, calibration: Calibration) -> MadeSuite:
    """The tests of a plan. Raises CannotBuild, or the ``SandboxError`` that stopped the runner."""
    material = plan.material
    has_references = bool(material.having(ProgramRole.ACCEPTED))
    trials = Trials.of(material, runner, GENEROUS_S if has_references else DEFAULT_LIMITS.cpu_s)
    programs, voters = _voters(material, trials)
    inputs = draw(plan.source, material, runner, seed=plan.settings.seed, wanted=plan.settings.wanted)
    election = _elect(trials, inputs, programs, voters)
    findings = election.agreement.all_findings
    n_drawn = len(inputs.inputs) + len(inputs.refused)
    require_enough(
        len(election.tests),
        n_drawn - len(election.tests),
        has_every_input=inputs.has_every_input,
        findings=findings,
    )
    limit = None if material.suite.time_limit_s is not None else _limit(election, calibration, trials.limits.cpu_s)
    final = trials if limit is None else trials.with_limit(limit.cpu_s)
    proof = prove(material, final, election.tests, election.references, plan.settings.seed)
    findings += proof.findings
    require_enough(
        len(proof.tests), n_drawn - len(proof.tests), has_every_input=inputs.has_every_input, findings=findings
    )
    kept = proof.minimal if plan.settings.minimal else tuple(range(len(proof.tests)))
    suite = _suite(material, [proof.tests[place] for place in kept], limit)
    return MadeSuite(
        suite=suite,
        strength=proof.counts,
        recipe=plan.recipe,
        details=account_of(
            plan.source, inputs, election.agreement, election.voters, election.slowest, proof, limit, kept
        )
        | {"seed": plan.settings.seed, "wanted": plan.settings.wanted, "version": VERSION},
        findings=findings,
    )


@dataclass(frozen=True)
class _Election:
    """What the voters made of the inputs. ``references`` are the programs that were never found wrong in it, and
    ``slowest`` has their CPU seconds on the test that takes each longest."""

    agreement: Agreement
    voters: tuple[Voter, ...]
    tests: tuple[Candidate, ...]
    references: tuple[KnownProgram, ...]
    slowest: Mapping[str, float]


def _require_kind(material: Material) -> None:
    suite, hint = material.suite, "its tests have to come from its platform or its package"
    if not material.statement.strip():
        raise CannotBuild("no statement is in the store", "fetch or import the problem with its statement")
    if not material.samples:
        raise CannotBuild("no sample is in the store", "fetch or import the problem with its samples")
    if suite.io_kind is IoKind.INTERACTIVE:
        raise CannotBuild("the problem is interactive: no input alone is a test", hint)
    if suite.checker is not None:
        raise CannotBuild("its answers are judged by a checker program: no answer is the expected one", hint)
    if suite.groups is not None and suite.groups.get("scoring"):
        raise CannotBuild("its tests give parts of a score", hint)
    if len(material.comparisons) > 1:
        raise CannotBuild("its samples are compared in different ways", hint)


def _recipe(material: Material, settings: BuildSettings, source: InputSource) -> str:
    programs = sorted(
        [
            one.name,
            f"{one.role}",
            one.program.language,
            _sha(one),
            f"{one.model}",
            f"{one.family}",
            f"{one.known}",
            one.is_official,
            one.is_under_evaluation,
        ]
        for one in material.programs
    )
    return digest_of(
        [
            VERSION,
            material.key,
            sha256_hex(material.statement.encode("utf-8", "surrogatepass")),
            suite_digest(replace(material.suite, tests=material.samples)),
            material.parameters,
            material.methods,
            source.digest,
            [settings.seed, settings.wanted, settings.minimal],
            programs,
            [] if material.having(ProgramRole.ACCEPTED) else _ranks(material.programs),
        ]
    )


def _ranks(programs: Iterable[KnownProgram]) -> list[str]:
    """The models of completions, the strongest first: who is asked depends on nothing else of how strong they are."""
    standings = {f"{one.model}": one.standing for one in programs if one.model is not None}
    return sorted(standings, key=lambda model: (-standings[model], model))


def _sha(one: KnownProgram) -> str:
    return sha256_hex(one.program.source.encode("utf-8", "surrogatepass"))


def _voters(material: Material, trials: Trials) -> tuple[tuple[KnownProgram, ...], tuple[Voter, ...]]:
    """Who is asked, with what they are in the election; CannotBuild where nobody can decide."""
    references = material.having(ProgramRole.ACCEPTED)
    brute = material.having(ProgramRole.BRUTE_FORCE)
    # Who is known to be wrong has no say.
    completions = () if references else [one for one in material.having(None) if one.known in (None, Verdict.ACCEPTED)]
    passing = trials.pass_samples([*references, *brute])
    quick = trials if material.suite.time_limit_s is not None else trials.with_limit(SAMPLE_S)
    passing |= quick.pass_samples(completions)
    if references:
        if not any(one.name in passing and passing[one.name] is None for one in references):
            raise references_fail([(one.name, passing.get(one.name) or "no verdict") for one in references])
        deciding = references
    else:
        right = [one for one in completions if one.name in passing and passing[one.name] is None]
        deciding = chosen_voters(right)
        if not deciding:
            raise _no_quorum(completions, right)
    programs = tuple(one for one in (*deciding, *brute) if one.name in passing)
    return programs, tuple(
        replace(
            as_voter(one, passes_samples=passing[one.name] is None),
            **({"kind": VoterKind.BRUTE_FORCE} if one.role is ProgramRole.BRUTE_FORCE else {}),  # type: ignore[arg-type]
        )
        for one in programs
    )


def _no_quorum(completions: Sequence[KnownProgram], right: Sequence[KnownProgram]) -> CannotBuild:
    if not completions:
        said = "no reference and no completion is known"
    else:
        models = {f"{one.model}".casefold() for one in right}
        said = f"no reference is known, and completions of {len(models)} models pass the samples"
        if len(models) >= 3 and not is_quorum(right):
            said += ", all of one family"
    return CannotBuild(
        f"nobody can say what is right: {said}",
        "import a reference (live import references), or completions of three models of two families",
    )


def _elect(trials: Trials, inputs: Inputs, programs: Sequence[KnownProgram], voters: tuple[Voter, ...]) -> _Election:
    texts = [one.text for one in inputs.inputs]
    brute = {voter.name for voter in voters if voter.kind is VoterKind.BRUTE_FORCE}
    n_small = sum(len(text) <= SMALL_BYTES for text in texts)
    deciding = [one for one in programs if one.name not in brute]
    answers = dict(trials.answers(deciding, texts, most_failures=MOST_FAILURES))
    brute_forces = [one for one in programs if one.name in brute]
    answers |= trials.answers(brute_forces, texts[:n_small], most_failures=MOST_FAILURES)
    outputs = [
        [_at(answers[voter.name], place, is_given_up=voter.name not in brute) for voter in voters]
        for place in range(len(texts))
    ]
    agreement = agree(voters, [list(map(as_answer, row)) for row in outputs], trials.is_right)
    differed = {name for each in agreement.expected for name in each.differing}
    sound = {name for each in agreement.expected for name in each.voters} - differed
    references = tuple(one for one in programs if one.name in sound)
    seconds = {one.name: [_cpu_s(answers[one.name], each.input) for each in agreement.expected] for one in references}
    return _Election(
        agreement=agreement,
        voters=voters,
        tests=tuple(
            Candidate(
                number=each.input,
                text=texts[each.input],
                strategy=inputs.inputs[each.input].strategy,
                expected=each.output.replace(b"\r\n", b"\n"),  # as expected outputs from elsewhere are kept
                voters=each.voters,
                cpu_s=max((_cpu_s(answers[name], each.input) for name in each.voters), default=None),
            )
            for each in agreement.expected
        ),
        references=references,
        slowest={name: max(times, default=0.0) for name, times in seconds.items()},
    )


def _at(outputs: Sequence[Output], place: int, *, is_given_up: bool = False) -> Output | None:
    """The output on an input. Who was given up after too many failures fails on the rest in the same way; a brute force
    says nothing of them."""
    if place < len(outputs):
        return outputs[place]
    return outputs[-1] if is_given_up and outputs else None


def _cpu_s(outputs: Sequence[Output], place: int) -> float:
    """The CPU seconds of an output that ended well; 0 of another."""
    output = _at(outputs, place)
    return 0.0 if output is None or output.facts is None or output.content is None else output.facts.cpu_s


def _limit(election: _Election, calibration: Calibration, most_s: float) -> TimeLimit | None:
    """The limit from the programs that decided, without what their languages get beyond any limit; at most what they
    were given. Nobody vouches for how fast completions are: of them the fastest that make a quorum count."""
    failing = {name for each in election.agreement.expected for name in each.failing}
    accepted: dict[str, float] = {}
    models: set[str | None] = set()
    for one in sorted(election.references, key=lambda one: (election.slowest[one.name], one.name)):
        if one.name in failing or (one.model is not None and len(models) >= MIN_MODELS):
            continue
        models.add(one.model)
        extra_s = languages.find(one.program.language).allowance.cpu_extra_s
        accepted[one.name] = max(0.0, election.slowest[one.name] - extra_s)
    return time_limit(accepted, calibration, most_s=most_s) if accepted else None


def _suite(material: Material, tests: Sequence[Candidate], limit: TimeLimit | None) -> SuiteRecord:
    (comparison,) = material.comparisons
    made = tuple(
        TestCaseRecord(name_of(one), one.text, one.expected, TestOrigin.GENERATED, comparison) for one in tests
    )
    record = replace(material.suite, tests=(*material.samples, *made), groups=None)
    return record if limit is None else replace(record, time_limit_s=limit.cpu_s)
