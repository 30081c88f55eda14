"""Problems that may be broken, each with the signal, its evidence in numbers, and the command that sets it aside. Pure.

A finding is a reason to look, never a verdict. Strong signals come first; weak ones have harmless explanations more
often than not. Weak are: disagreement on a sample, whose expected output stands in the statement for all to see;
disagreement with an answer that an independent solution reproduces; what chance explains once all problems that were
looked at are counted (Benjamini and Hochberg, 5 %); a negative item-rest correlation; samples for the only tests; more
solutions accepted here than were published, since they may be other solutions; completions that differ on made inputs.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.audits.problem_evidence import (
    ACCEPTED,
    COMPARISON,
    Evidence,
    Groups,
    Solution,
    commonest_difference,
    in_order,
    outputs_of,
)
from eval.audits.refusals import named
from eval.audits.selection import Selection
from eval.board import Board, numbered
from eval.statistics import problem_health as health
from eval.statistics.multiplicity import benjamini_hochberg
from eval.statistics.problem_health import FlagKind, JudgedSolutions, ProblemFlag
from eval.window import ANSWERS_DIFFER, REFERENCES_DISAGREE, ProblemFacts

EASY = frozenset({"easy", "medium"})
LONGEST_REASON = 160
LEVEL = 0.05
MIN_RESULTS = 30
"""With fewer results nobody knows how strong a model is."""


class Signal(StrEnum):
    """What may be wrong, in the order in which findings are listed."""

    SEVERAL_ANSWERS = "statement allows several answers"
    INTERACTIVE = "statement speaks of a dialogue"
    COMPARISON = "statement allows what the comparison does not"
    OTHER_ANSWER = "solutions agree on another answer"
    REFERENCES_DISAGREE = "references disagree"
    UNSOLVED = "no strong model solves it"
    MANY_ANSWERS = "many different answers"
    WEAK_TESTS = "tests let wrong solutions pass"
    ALIKE = "reads like another problem"
    ANSWERS_DIFFER = "programs differ on made inputs"
    REVERSED = "weaker models do better"
    SAMPLES_ONLY = "no tests but the samples"


_OF_WORDING = {
    "multiple_answers": Signal.SEVERAL_ANSWERS,
    "interactive": Signal.INTERACTIVE,
    COMPARISON: Signal.COMPARISON,
}
_OF_KIND = {
    FlagKind.OTHER_ANSWER: Signal.OTHER_ANSWER,
    FlagKind.MANY_ANSWERS: Signal.MANY_ANSWERS,
    FlagKind.UNSOLVED: Signal.UNSOLVED,
    FlagKind.WEAK_TESTS: Signal.WEAK_TESTS,
    FlagKind.REVERSED: Signal.REVERSED,
}
_OF_FLAG = {REFERENCES_DISAGREE: Signal.REFERENCES_DISAGREE, ANSWERS_DIFFER: Signal.ANSWERS_DIFFER}
_FLAG_NAMES = {
    Signal.SEVERAL_ANSWERS: "multiple_answers",
    Signal.INTERACTIVE: "interactive",
    Signal.COMPARISON: "bad_tests",
    Signal.OTHER_ANSWER: "bad_tests",
    Signal.REFERENCES_DISAGREE: REFERENCES_DISAGREE,
    Signal.UNSOLVED: "bad_tests",
    Signal.MANY_ANSWERS: "multiple_answers",
    Signal.WEAK_TESTS: "weak_tests",
    Signal.ANSWERS_DIFFER: "multiple_answers",
    Signal.REVERSED: "bad_tests",
    Signal.SAMPLES_ONLY: "weak_tests",
}


@dataclass(frozen=True)
class Finding:
    """One signal about one problem. ``flags`` are those that it has already, ``test`` the test that it is about.

    ``sentence`` says the whole, ``brief`` the numbers alone, for a table whose legend says the rest.

    ``command`` is what a maintainer types to set the problem aside; None where a flag of that name stands already.
    """

    problem: str
    signal: Signal
    sentence: str
    evidence: Mapping[str, Any]
    command: str | None
    weak: bool = False
    test: str | None = None
    flags: tuple[str, ...] = ()
    brief: str | None = None


@dataclass(frozen=True)
class ProblemAudit:
    """What was found, strong signals first, and what was looked at. ``unseen`` says what could not be looked at."""

    selection: Selection
    findings: tuple[Finding, ...]
    n_problems: int
    n_statements: int
    n_solutions: int
    groups: Groups
    unseen: tuple[str, ...]

    @property
    def strong(self) -> tuple[Finding, ...]:
        """The findings that are no weak signals."""
        return tuple(finding for finding in self.findings if not finding.weak)


def audit_problems(
    selection: Selection, problems: Sequence[ProblemFacts], evidence: Evidence, groups: Groups
) -> ProblemAudit:
    """Look at these problems: at all of them by their statements and tests, at those of the selection by results."""
    found = [
        *_by_wording(problems, evidence),
        *_by_scores(_one_row_a_model(selection)),
        *_by_answers(problems, evidence, groups),
        *_by_samples(problems, evidence),
        *_by_other_grades(selection),
        *_alike(problems, evidence),
        *_by_made_inputs(problems),
        *_samples_only(problems),
    ]
    order = {signal: place for place, signal in enumerate(Signal)}
    found.sort(key=lambda one: (one.weak, order[one.signal], one.evidence.get("chance", 0.0), one.problem))
    return ProblemAudit(
        selection,
        tuple(found),
        len(problems),
        len(evidence.wordings),
        sum(map(len, evidence.solutions.values())),
        groups,
        tuple(_unseen(_one_row_a_model(selection), evidence, groups)),
    )


def _one_row_a_model(selection: Selection) -> Board:
    """The results with all runs of a model in one row: runs of one model fail the same problems."""
    board, names = selection.board, selection.models
    rows = {name: [place for place, other in enumerate(names) if other == name] for name in dict.fromkeys(names)}
    firsts = board.take_runs([places[0] for places in rows.values()])
    shape = firsts.n_samples.shape
    return replace(
        firsts,
        names=tuple(rows),
        n_samples=np.array([board.n_samples[places].sum(axis=0) for places in rows.values()]).reshape(shape),
        n_correct=np.array([board.n_correct[places].sum(axis=0) for places in rows.values()]).reshape(shape),
    )


def _unseen(board: Board, evidence: Evidence, groups: Groups) -> Iterator[str]:
    models = int((board.seen.sum(axis=1) >= MIN_RESULTS).sum())
    if models < health.MIN_MODELS:
        yield (
            f"not looked at: what strong models fail; that needs {health.MIN_MODELS} models with {MIN_RESULTS} results "
            f"each, there are {models}"
        )
    if groups.count < health.MIN_GROUPS:
        yield (
            "not looked at: answers on which solutions agree; that needs programs judged here of "
            f"{health.MIN_GROUPS} {groups.unit}, there are {groups.count}"
        )
    if not evidence.wordings:
        yield "not looked at: statements; the store has none of these problems"


def _by_wording(problems: Iterable[ProblemFacts], evidence: Evidence) -> Iterator[Finding]:
    for problem in problems:
        for name, sentence in evidence.wordings.get(problem.problem_id, ()):
            signal = _OF_WORDING.get(name)
            if signal is Signal.COMPARISON and not problem.has_checker:
                said = f"the statement sets {sentence}, which the comparison of the tests does not"
                yield _finding(problem, signal, said, {"stated": sentence}, said)
            elif signal is not None and not problem.has_checker:
                said = f'the statement says "{sentence}", and answers are compared with one'
                yield _finding(problem, signal, said, {"sentence": sentence}, f"the statement says: {sentence}")


def _by_scores(board: Board) -> Iterator[Finding]:
    """What no strong model solves, and (weak) what weaker models do better; one row of the board is one model."""
    not_hard = np.array([label.casefold() in EASY for label in board.difficulties], dtype=np.bool_)
    strengths, top = _solving(board), health.strongest(board.scores, least=MIN_RESULTS)
    flags = health.unsolved_by_strong(board.scores, not_hard, least=MIN_RESULTS)
    tried = [top[board.seen[top, flag.problem]] for flag in flags]
    chances = [
        health.chance_of_so_few(strengths[rows, flag.problem].tolist(), 0)
        for flag, rows in zip(flags, tried, strict=True)
    ]
    looked_at = int((not_hard & (board.seen[top].sum(axis=0) >= health.MIN_GROUPS)).sum())
    adjusted = _adjusted(chances, looked_at)
    for flag, rows, chance, p in zip(flags, tried, chances, adjusted, strict=True):
        evidence = flag.evidence | {"chance": chance, "chance_adjusted": p, "problems_looked_at": looked_at}
        sentence = f"{flag.sentence}; models like these fail all together with a chance of {chance:.2g}"
        reason = f"none of the {len(rows)} strongest models solves it"
        solving, models = int(flag.evidence["models_solving"]), int(flag.evidence["models"])
        brief = f"0 of {len(rows)} strongest, {solving} of {models}; chance {chance:.2g}"
        found = _finding(board.problems[flag.problem], Signal.UNSOLVED, sentence, evidence, reason, weak=p > LEVEL)
        yield replace(found, brief=brief)
    for flag in health.solved_by_the_weaker(board.scores):
        brief = f"r {flag.evidence['item_rest_r']:.2f}, {int(flag.evidence['models'])} models"
        yield replace(_of(flag, board.problems[flag.problem], flag.sentence), brief=brief)


def _adjusted(chances: Sequence[float], looked_at: int) -> list[float]:
    """The chances, adjusted for all that was looked at: what raised no flag counts with 1."""
    rest = [1.0] * (looked_at - len(chances))
    return benjamini_hochberg([*chances, *rest])[: len(chances)].tolist() if chances else []


def _solving(board: Board) -> NDArray[np.float64]:
    """Models x problems: the share of the other problems of the same platform and difficulty that a model solves at
    least once, half a success and half a failure added."""
    kinds = numbered(zip(board.platforms, board.difficulties, strict=True))
    shares = np.full(board.scores.shape, np.nan)
    for kind in np.unique(kinds):
        places = np.flatnonzero(kinds == kind)
        solved, seen = board.n_correct[:, places] > 0, board.seen[:, places]
        n_solved, n_seen = solved.sum(axis=1, keepdims=True), seen.sum(axis=1, keepdims=True)
        shares[:, places] = (n_solved - solved + 0.5) / (n_seen - seen + 1)
    return shares


def _by_answers(problems: Sequence[ProblemFacts], evidence: Evidence, groups: Groups) -> Iterator[Finding]:
    """Tests on which independent solutions agree against the expected answer, or give many answers."""
    judged = [one for one in problems if evidence.solutions.get(one.problem_id) and evidence.suites.get(one.problem_id)]
    outputs = [
        outputs_of(evidence.suites[one.problem_id], evidence.solutions[one.problem_id], groups) for one in judged
    ]
    kinds = numbered((one.platform, one.difficulty) for one in judged)
    flags = health.doubtful_answers(outputs, health.group_strengths(outputs, kinds))
    looked_at = sum(len(one.expected) for one in outputs)
    adjusted = _adjusted([flag.evidence["chance"] for flag in flags], looked_at)
    for flag, p in zip(flags, adjusted, strict=True):
        problem = judged[flag.problem]
        assert flag.test is not None
        test = in_order(evidence.suites[problem.problem_id])[flag.test]
        passing, asked = int(flag.evidence["passing"]), int(flag.evidence["groups"])
        difference = commonest_difference(evidence.solutions[problem.problem_id], test.name)
        if flag.kind is FlagKind.OTHER_ANSWER:
            counted = f"{int(flag.evidence['agreeing'])} of {asked} {groups.unit}"
            what = f"{counted} differ alike from the expected answer to"
        else:
            counted = f"{int(flag.evidence['different_answers'])} answers of {asked} {groups.unit}"
            what = f"{int(flag.evidence['different_answers'])} different answers of {asked} {groups.unit} to"
        sentence = (
            f"{what} test {test.name} (mostly: {difference}), {passing} give it; so few would with a chance of "
            f"{flag.evidence['chance']:.2g}"
        )
        shown = {
            "is_sample": test.is_sample,
            "difference": difference,
            "chance_adjusted": p,
            "tests_looked_at": looked_at,
        }
        found = _of(
            flag,
            problem,
            sentence,
            weak=test.is_sample or passing > 0 or p > LEVEL,
            more=shown,
            test=test.name,
            reason=f"{what} test {test.name}",
        )
        chance = f"chance {flag.evidence['chance']:.2g}"
        yield replace(found, brief=f"test {test.name}: {counted}, {passing} give it; {chance}; mostly: {difference}")


def _by_other_grades(selection: Selection) -> Iterator[Finding]:
    """Problems on which tests here accept more of a model's solutions than were published of as many. Weak: nothing
    says that they are the same solutions."""
    board, models = selection.board, selection.models
    judged = [row for row, run in enumerate(board.runs) if not run.imported]
    published = [row for row, run in enumerate(board.runs) if run.imported]
    pairs = [(here, there) for here in judged for there in published if models[here] == models[there]]
    more: defaultdict[int, list[str]] = defaultdict(list)
    for here, there in pairs:
        same = (board.n_samples[here] == board.n_samples[there]) & board.seen[here]
        for place in np.flatnonzero(same & (board.n_correct[here] > board.n_correct[there])).tolist():
            counts = f"{board.n_correct[here, place]} against {board.n_correct[there, place]}"
            more[place].append(f"{board.names[here]}: {counts} of {board.n_samples[here, place]}")
    for place, cases in sorted(more.items()):
        sentence = f"more solutions are accepted here than were published: {named(cases)}"
        shown = {"cases": cases}
        brief = f"here against published: {named(cases)}"
        found = _finding(board.problems[place], Signal.WEAK_TESTS, sentence, shown, sentence, weak=True)
        yield replace(found, brief=brief)


def _by_samples(problems: Sequence[ProblemFacts], evidence: Evidence) -> Iterator[Finding]:
    """Problems whose hidden tests pass what fails a sample; known of programs that were run on every test."""
    shown: list[tuple[ProblemFacts, JudgedSolutions]] = []
    for problem in problems:
        samples = {test.name: test.is_sample for test in evidence.suites.get(problem.problem_id, ())}
        whole = [one for one in evidence.solutions.get(problem.problem_id, ()) if len(one.tests) == len(samples)]
        if whole and not all(samples.values()):
            shown.append((problem, _by_kind_of_test(whole, samples)))
    for flag in health.weak_tests([solutions for _, solutions in shown]):
        yield _of(flag, shown[flag.problem][0], flag.sentence)


def _by_kind_of_test(solutions: Sequence[Solution], samples: Mapping[str, bool]) -> JudgedSolutions:
    failed = [{samples.get(fact.name, False) for fact in one.tests if fact.verdict != ACCEPTED} for one in solutions]
    return JudgedSolutions(
        np.array([one.run_id for one in solutions], dtype=np.int64),
        np.array([False not in kinds for kinds in failed], dtype=np.bool_),
        np.array([True not in kinds for kinds in failed], dtype=np.bool_),
        np.zeros(len(solutions), dtype=np.bool_),
    )


def _alike(problems: Iterable[ProblemFacts], evidence: Evidence) -> Iterator[Finding]:
    names = {f"{one.platform}:{one.native_id}": one for one in problems}
    for pair in evidence.alike:
        problem = names.get(pair.first) or names.get(pair.second)
        if problem is not None:
            command = shlex.join(["live", "duplicates", "same", pair.first, pair.second, "--reason", pair.reason])
            sentence = f"{pair.first} and {pair.second} are {100 * pair.similarity:.0f} % alike: {pair.reason}"
            shown = {"first": pair.first, "second": pair.second, "similarity": pair.similarity}
            name = pair.first if pair.first in names else pair.second
            yield Finding(name, Signal.ALIKE, sentence, shown, command, flags=_names(problem))


def _by_made_inputs(problems: Iterable[ProblemFacts]) -> Iterator[Finding]:
    """What was found where tests were made (`eval.made_tests.making`), by the flags that it left. Models that are wrong
    in different ways are the most frequent reason for answers that differ, so that these alone are weak."""
    for problem in problems:
        for name, reason in problem.flags:
            signal = _OF_FLAG.get(name)
            if signal is not None:
                yield _finding(problem, signal, reason, {}, reason, weak=signal is Signal.ANSWERS_DIFFER)


def _samples_only(problems: Iterable[ProblemFacts]) -> Iterator[Finding]:
    for problem in problems:
        if problem.samples_only:
            sentence = f"all of its {problem.n_tests} tests are shown in the statement: a table of them passes"
            shown = {"tests": problem.n_tests}
            found = _finding(problem, Signal.SAMPLES_ONLY, sentence, shown, "no tests but the samples", weak=True)
            yield replace(found, brief=f"{problem.n_tests} tests")


def _of(
    flag: ProblemFlag,
    problem: ProblemFacts,
    sentence: str,
    *,
    weak: bool = False,
    more: Mapping[str, Any] | None = None,
    test: str | None = None,
    reason: str | None = None,
) -> Finding:
    shown = {**flag.evidence, **(more or {})}
    signal = _OF_KIND[flag.kind]
    return _finding(problem, signal, sentence, shown, reason or sentence, weak=weak or flag.weak, test=test)


def _finding(
    problem: ProblemFacts,
    signal: Signal,
    sentence: str,
    evidence: Mapping[str, Any],
    reason: str,
    *,
    weak: bool = False,
    test: str | None = None,
) -> Finding:
    name, key = _FLAG_NAMES[signal], f"{problem.platform}:{problem.native_id}"
    short = reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"
    command = shlex.join(["live", "problems", "flag", key, name, "--reason", short])
    flags = _names(problem)
    return Finding(key, signal, sentence, evidence, None if name in flags else command, weak, test, flags)


def _names(problem: ProblemFacts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, _ in problem.flags))
