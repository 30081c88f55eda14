"""Signs that a problem, its tests or its expected answers are broken, each as a flag with its evidence in numbers.

A flag is a reason to look, never a verdict: a hard problem and a broken one can leave the same traces. From scores:
problems labelled easy or medium that no strong model solves, and (weak) problems that weaker models do better. From the
answers of many solutions: an answer other than the expected one on which independent models agree; many different
answers to one test from models that do well otherwise; tests that let wrong solutions through.

Samples of one model are not independent, nor are models of one family: solutions come in groups, and a group has one
answer to a test, the one that most of its solutions give.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eval.statistics.irt import Kind, fit
from eval.statistics.item_rest import centred, rest_correlations

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

TOP = 5
MIN_MODELS = 5
MIN_GROUPS = 3
MIN_DIFFERENT = 3
SURPRISE = 0.01
STRONG = 0.4
OTHERS_PASSED = 0.5
NONE = -1


class FlagKind(StrEnum):
    """What is wrong, perhaps."""

    UNSOLVED = "no strong model solves it"
    REVERSED = "weaker models do better"
    OTHER_ANSWER = "independent solutions agree on another answer"
    MANY_ANSWERS = "many different answers"
    WEAK_TESTS = "tests let wrong solutions through"


@dataclass(frozen=True)
class ProblemFlag:
    """A sign that problem number ``problem`` needs a look; ``test`` is the number of the test, None for the whole.

    ``evidence`` has the numbers behind ``sentence``. A ``weak`` flag alone is no reason to set a problem aside.
    """

    problem: int
    kind: FlagKind
    sentence: str
    evidence: dict[str, float] = field(default_factory=dict)
    test: int | None = None
    weak: bool = False


@dataclass(frozen=True)
class ProblemOutputs:
    """What solutions of one problem print on its tests, as numbers that are equal where outputs are.

    ``groups`` (one for each solution) numbers independent sources: a model or a family. ``outputs`` is solutions x
    tests, -1 for no output (crash, time-out, not run); ``expected`` has one number for each test. The first
    ``n_samples`` tests are those that the statement shows. ``accepted`` (solutions x tests) are a checker's verdicts,
    where something else than equality decides. ``ran`` (solutions x tests) says which tests were run; None: all.
    """

    groups: IntArray
    outputs: IntArray
    expected: IntArray
    n_samples: int = 0
    accepted: BoolArray | None = None
    ran: BoolArray | None = None

    @staticmethod
    def of_digests(
        groups: Sequence[int],
        digests: Sequence[Sequence[Hashable | None]],
        expected: Sequence[Hashable],
        n_samples: int = 0,
        accepted: ArrayLike | None = None,
        ran: ArrayLike | None = None,
    ) -> ProblemOutputs:
        """From digests (or texts) of the outputs, one row for each solution; None for no output."""
        if len(digests) != len(groups) or any(len(row) != len(expected) for row in digests):
            raise ValueError(f"digests need {len(groups)} rows of {len(expected)} tests")
        numbers: dict[Hashable, int] = {}
        answers = [numbers.setdefault(digest, len(numbers)) for digest in expected]
        rows = [[NONE if cell is None else numbers.setdefault(cell, len(numbers)) for cell in row] for row in digests]
        outputs = np.array(rows, dtype=np.int64).reshape(len(groups), len(expected))
        masks = [None if mask is None else np.asarray(mask, dtype=bool) for mask in (accepted, ran)]
        for mask in masks:
            if mask is not None and mask.shape != outputs.shape:
                raise ValueError(f"verdicts of shape {mask.shape} for outputs of shape {outputs.shape}")
        sources, right = np.asarray(groups, dtype=np.int64), np.array(answers, dtype=np.int64)
        return ProblemOutputs(sources, outputs, right, n_samples, *masks)


@dataclass(frozen=True)
class Strength:
    """How well a group does on problems like one: the share it passes of the samples that it answers, and of problems
    it solves whole."""

    samples: float
    whole: float


@dataclass(frozen=True)
class JudgedSolutions:
    """How solutions of one problem fare, one entry each: group, whether all of its tests, and all samples, are passed.

    ``known_wrong`` says that a solution is wrong by other evidence than these tests (a failed test elsewhere, a proof).
    """

    groups: IntArray
    passed_tests: BoolArray
    passed_samples: BoolArray
    known_wrong: BoolArray


def strongest(scores: ArrayLike, top: int = TOP, least: int = 1) -> IntArray:
    """The places of the ``top`` ablest models, of equals the first given.

    Abilities are of a one-parameter item response model, since models may have answered other problems: a high mean on
    easy ones is no strength. A model with fewer than ``least`` results is none of them.
    """
    matrix = _matrix(scores)
    counts = (~np.isnan(matrix)).sum(axis=1)
    if not counts.any():
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(-np.round(fit(matrix, Kind.ONE_PL).theta, 6), kind="stable")
    return np.asarray(order[counts[order] >= max(1, least)][:top], dtype=np.int64)


def unsolved_by_strong(scores: ArrayLike, not_hard: ArrayLike, top: int = TOP, least: int = 1) -> list[ProblemFlag]:
    """Problems labelled easy or medium (``not_hard``, a mask) on which none of the ``top`` models has a single success.

    ``scores`` is models x problems, one row for each model, NaN for no result. At least five models are needed, and
    three of the strong ones with a result on the problem; ``least`` as for `strongest`.
    """
    matrix, labelled = _matrix(scores), np.asarray(not_hard, dtype=bool)
    if labelled.shape != matrix.shape[1:]:
        raise ValueError(f"{labelled.size} labels for {matrix.shape[1]} problems")
    chosen = matrix[strongest(matrix, top, least)]
    if len(matrix) < MIN_MODELS:
        return []
    tried = (~np.isnan(chosen)).sum(axis=0)
    best = np.where(np.isnan(chosen), 0.0, chosen).sum(axis=0)
    flags = []
    for problem in np.flatnonzero(labelled & (tried >= MIN_GROUPS) & (best == 0)):
        column = matrix[:, problem]
        solving, models = int((column > 0).sum()), int((~np.isnan(column)).sum())
        sentence = (
            f"labelled easy or medium, but none of the {tried[problem]} strongest models solves it"
            f" ({solving} of all {models} do)"
        )
        evidence = {"strong_models": float(tried[problem]), "models": float(models), "models_solving": float(solving)}
        flags.append(ProblemFlag(int(problem), FlagKind.UNSOLVED, sentence, evidence))
    return flags


def solved_by_the_weaker(scores: ArrayLike) -> list[ProblemFlag]:
    """Problems with a negative item-rest correlation. Weak: with few models chance gives many of them."""
    matrix = _matrix(scores)
    flags = []
    for problem, value in enumerate(rest_correlations(centred(matrix))):
        if value < -1e-12:
            models = int((~np.isnan(matrix[:, problem])).sum())
            sentence = (
                f"models that do worse elsewhere do better here (item-rest correlation {value:.2f}, {models} models)"
            )
            evidence = {"item_rest_r": float(value), "models": float(models)}
            flags.append(ProblemFlag(problem, FlagKind.REVERSED, sentence, evidence, weak=True))
    return flags


def group_strengths(problems: Sequence[ProblemOutputs], like: ArrayLike) -> list[dict[int, Strength]]:
    """For each problem and each of its groups: how well the group does on the other problems of the same kind.

    ``like`` numbers kinds of problems (a difficulty label, a platform and a label). A problem is solved whole if the
    group's answer to every test that was run is accepted: no output is no success. Half a success and half a failure
    are added to each share, so that a group seen nowhere else has 1/2.
    """
    kinds = np.asarray(like)
    if kinds.shape != (len(problems),):
        raise ValueError(f"{kinds.size} kinds for {len(problems)} problems")
    results = [_answers(outputs).results() for outputs in problems]
    totals: dict[tuple[object, int], FloatArray] = {}
    for kind, own in zip(kinds.tolist(), results, strict=True):
        for group, result in own.items():
            totals[kind, group] = totals.get((kind, group), np.zeros(4)) + result
    found = []
    for kind, own in zip(kinds.tolist(), results, strict=True):
        strengths = {}
        for group, result in own.items():
            shown, passed, tried, solved = totals[kind, group] - result
            strengths[group] = Strength(float((passed + 0.5) / (shown + 1)), float((solved + 0.5) / (tried + 1)))
        found.append(strengths)
    return found


def chance_of_so_few(strengths: Sequence[float], passing: int) -> float:
    """The chance that at most ``passing`` groups pass, each with its own strength (Poisson-binomial distribution)."""
    chances = np.ones(1)
    for strength in strengths:
        chances = np.convolve(chances, [1 - strength, strength])
    return float(min(1.0, chances[: passing + 1].sum()))


def doubtful_answers(
    problems: Sequence[ProblemOutputs], strengths: Sequence[dict[int, Strength]], surprise: float = SURPRISE
) -> list[ProblemFlag]:
    """Tests that surprisingly few groups pass, told apart by what the failing groups answer.

    ``strengths`` as ``group_strengths`` gives them: over samples for a sample, over whole problems for another test.
    Groups weaker than 0.4 are not asked: weak models share their mistakes. A test is looked at if at least three groups
    answer it otherwise than expected, and if groups of these strengths would give so few expected answers with a chance
    of ``surprise`` at most. Then:

    * at least three groups give the same other answer, and more than give the expected one: the expected one is in
      doubt;
    * else three or more different answers, from groups that pass most of their other tests (or have no other): several
      answers may be right.

    A problem has one flag: for the test with the most agreement, of those the one with the smallest chance.
    """
    if len(strengths) != len(problems):
        raise ValueError(f"strengths for {len(strengths)} of {len(problems)} problems")
    flags = []
    for place, (outputs, strength) in enumerate(zip(problems, strengths, strict=True)):
        answers = _answers(outputs)
        found = [_doubt(place, answers, test, strength, surprise) for test in range(len(outputs.expected))]
        known = [flag for flag in found if flag is not None]
        if known:
            flags.append(min(known, key=lambda flag: (-flag.evidence["agreeing"], flag.evidence["chance"])))
    return flags


def weak_tests(problems: Sequence[JudgedSolutions]) -> list[ProblemFlag]:
    """Problems whose tests pass solutions that fail a sample or are known to be wrong; counted over groups too."""
    flags = []
    for place, solutions in enumerate(problems):
        passing = solutions.passed_tests
        fails_sample, wrong = passing & ~solutions.passed_samples, passing & solutions.known_wrong
        either = fails_sample | wrong
        if not either.any():
            continue
        groups = len(np.unique(solutions.groups[either]))
        parts = [
            f"{int(chosen.sum())} {words}"
            for chosen, words in ((fails_sample, "fail a sample"), (wrong, "are known to be wrong"))
            if chosen.any()
        ]
        sentence = (
            f"of {int(passing.sum())} solutions that pass all tests, {' and '.join(parts)} (from {groups} sources)"
        )
        evidence = {
            "passing": float(passing.sum()),
            "failing_a_sample": float(fails_sample.sum()),
            "known_wrong": float(wrong.sum()),
            "groups": float(groups),
        }
        flags.append(ProblemFlag(place, FlagKind.WEAK_TESTS, sentence, evidence))
    return flags


@dataclass(frozen=True)
class _Answers:
    """Groups x tests: the answer that most solutions of a group give (-1: none), whether it is accepted, and whether
    the test was run."""

    groups: tuple[int, ...]
    answers: IntArray
    accepted: BoolArray
    ran: BoolArray
    n_samples: int

    def results(self) -> dict[int, FloatArray]:
        """For each group: samples answered, samples passed, 1 if anything was run, 1 if the problem is solved."""
        given = self.answers != NONE
        samples = slice(0, self.n_samples)
        found = {}
        for row, group in enumerate(self.groups):
            tried = float(self.ran[row].any())
            solved = tried * float((self.accepted[row] | ~self.ran[row]).all())
            shown, passed = given[row, samples].sum(), self.accepted[row, samples].sum()
            found[group] = np.array([shown, passed, tried, solved], dtype=np.float64)
        return found


def _answers(outputs: ProblemOutputs) -> _Answers:
    groups = np.unique(outputs.groups)
    tests = len(outputs.expected)
    answers = np.full((len(groups), tests), NONE, dtype=np.int64)
    accepted = np.zeros((len(groups), tests), dtype=bool)
    ran = np.ones((len(groups), tests), dtype=bool)
    for row, group in enumerate(groups):
        mine = outputs.groups == group
        if outputs.ran is not None:
            ran[row] = outputs.ran[mine].any(axis=0)
        for test in range(tests):
            given = outputs.outputs[mine, test]
            codes, counts = np.unique(given[given != NONE], return_counts=True)
            if not codes.size:
                continue
            # Among answers given equally often the expected one, if it is there, else the first.
            best = max(zip(codes, counts, strict=True), key=lambda one: (one[1], one[0] == outputs.expected[test]))[0]
            answers[row, test] = best
            if outputs.accepted is None:
                accepted[row, test] = best == outputs.expected[test]
            else:
                accepted[row, test] = outputs.accepted[mine, test][given == best].any()
    return _Answers(tuple(int(group) for group in groups), answers, accepted, ran, outputs.n_samples)


def _doubt(
    problem: int, found: _Answers, test: int, strength: dict[int, Strength], surprise: float
) -> ProblemFlag | None:
    strengths = [strength[group] for group in found.groups]
    chances = np.array([one.samples if test < found.n_samples else one.whole for one in strengths])
    answering = (found.answers[:, test] != NONE) & (chances >= STRONG)
    failing = answering & ~found.accepted[:, test]
    passing = int((answering & ~failing).sum())
    if int(failing.sum()) < MIN_GROUPS:
        return None
    chance = chance_of_so_few(chances[answering].tolist(), passing)
    if chance > surprise:
        return None
    codes, counts = np.unique(found.answers[failing, test], return_counts=True)
    agreeing = int(counts.max())
    evidence = {
        "groups": float(answering.sum()),
        "passing": float(passing),
        "agreeing": float(agreeing),
        "different_answers": float(codes.size),
        "chance": chance,
    }
    so_few = f"so few of models like these would pass with a chance of {chance:.2g}"
    if agreeing >= MIN_GROUPS and agreeing > passing:
        sentence = (
            f"{agreeing} of {int(answering.sum())} independent sources give the same answer to test {test}, and not the"
            f" expected one, which {passing} give; {so_few}"
        )
        return ProblemFlag(problem, FlagKind.OTHER_ANSWER, sentence, evidence, test)
    different = len(np.unique(found.answers[failing & _do_well_elsewhere(found, test), test]))
    if different < MIN_DIFFERENT:
        return None
    sentence = (
        f"{different} different answers to test {test} from models that pass most other tests, {passing} of"
        f" {int(answering.sum())} give the expected one; {so_few}"
    )
    return ProblemFlag(problem, FlagKind.MANY_ANSWERS, sentence, evidence, test)


def _do_well_elsewhere(found: _Answers, test: int) -> BoolArray:
    """Groups that pass at least half of the other tests that they answer, and those without another test."""
    others = np.arange(found.answers.shape[1]) != test
    given = (found.answers[:, others] != NONE).sum(axis=1)
    return np.asarray(found.accepted[:, others].sum(axis=1) >= OTHERS_PASSED * given)


def _matrix(scores: ArrayLike) -> FloatArray:
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores are models x problems, not of shape {matrix.shape}")
    return matrix
