"""Which test to run next, and what the results come to: verdict and score of a suite whose tests are graded in groups.

The rules are those of the Kattis problem package format: its legacy form as the format's own default grader follows
it, and the form of 2025-09, written in the same terms. Pure: whoever runs the tests asks and records.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

from sandbox.programs import Group, Groups, OnReject, ScoreRule, VerdictRule
from sandbox.verdicts import GroupResult, Verdict

SAMPLE: Final = "sample"
_DIGITS: Final = 6  # The default grader writes scores with six decimals: thirds of a hundred add up to a hundred.
_WORST_FIRST: Final = (
    Verdict.RUNTIME_ERROR,
    Verdict.MEMORY_LIMIT,
    Verdict.TIME_LIMIT,
    Verdict.OUTPUT_LIMIT,
    Verdict.WRONG_ANSWER,
)
_AGGREGATES: Final[dict[ScoreRule, Callable[[list[float]], float]]] = {
    ScoreRule.SUM: sum,
    ScoreRule.AVERAGE: fmean,
    ScoreRule.MIN: min,
    ScoreRule.MAX: max,
}
_ENDS_ALL: Final = (Verdict.INTERNAL_ERROR, Verdict.COMPILE_ERROR)


@dataclass(frozen=True)
class Grade:
    """What a program's results come to.

    ``verdict`` is accepted where the program solves the problem, in a suite with scores with the full score only.
    ``aggregate`` is what the groups' rules make of the results, where accepted may mean a part of the score.
    ``score`` is None where there are no scores or ``aggregate`` is not accepted. ``decided_by`` is the index of the
    test that a verdict other than accepted comes from, None where it comes from a score alone.
    """

    verdict: Verdict
    aggregate: Verdict
    score: float | None
    full_score: float | None
    groups: tuple[GroupResult, ...]
    decided_by: int | None

    @property
    def is_partial(self) -> bool:
        """Whether the groups' rules accept the program with less than the full score."""
        return self.aggregate is Verdict.ACCEPTED and self.verdict is not Verdict.ACCEPTED


@dataclass(frozen=True)
class _Recorded:
    verdict: Verdict
    score: float | None
    multiplier: float | None


@dataclass(frozen=True)
class _Result:
    """What a test or group came to. ``failed_at`` is its first test that was not accepted, ``decided_by`` the one that
    its verdict comes from."""

    verdict: Verdict
    score: float
    all_accepted: bool
    failed_at: int | None
    decided_by: int | None


@dataclass
class _Node:
    name: str
    rules: Group
    children: list[int | _Node] = field(default_factory=list)


_Walk = Generator[int, _Recorded, _Result]


class Grading:
    """The grading of one program: run ``next_test``, ``record`` what became of it, until there is none; then ``grade``.

    Without groups the tests are run in their order up to the first that is not accepted.
    """

    def __init__(self, names: Sequence[str], groups: Groups | None = None) -> None:
        self._names = names
        self._groups = groups or Groups()
        self._verdicts: dict[int, Verdict] = {}
        self._done: dict[str, _Result] = {}
        self._group_results: list[GroupResult] = []
        self._result: _Result | None = None
        self._walk = self._run_group(_tree(names, self._groups))
        self.next_test: int | None = None
        self._go_on(None)

    def record(self, verdict: Verdict, score: float | None = None, multiplier: float | None = None) -> None:
        """What became of ``next_test``, with the score, or part of its score, that its checker gave it when accepted.

        Raises ``ValueError`` when no test is waited for.
        """
        if self.next_test is None:
            raise ValueError("no test is left to record")
        self._verdicts[self.next_test] = verdict
        self._go_on(_Recorded(verdict, score, multiplier))

    @property
    def grade(self) -> Grade:
        """What the results come to. Raises ``ValueError`` while there is a test to run."""
        result = self._result
        if result is None:
            raise ValueError(f"test {self._names[self.next_test or 0]} is not judged yet")
        groups = tuple(self._group_results)
        if not self._groups.scoring:
            return Grade(result.verdict, result.verdict, None, None, groups, result.decided_by)
        full = self._groups.full_score if self._groups.full_score is not None else full_score(self._names, self._groups)
        if result.verdict is not Verdict.ACCEPTED:
            return Grade(result.verdict, result.verdict, None, full, groups, result.decided_by)
        if self._is_full(result, full):
            return Grade(Verdict.ACCEPTED, Verdict.ACCEPTED, result.score, full, groups, None)
        failed_at = result.failed_at
        verdict = Verdict.WRONG_ANSWER if failed_at is None else self._verdicts[failed_at]
        return Grade(verdict, Verdict.ACCEPTED, result.score, full, groups, failed_at)

    def _is_full(self, result: _Result, full: float | None) -> bool:
        if full is None:
            return result.all_accepted
        over = round(result.score - full, _DIGITS)
        return over <= 0 if self._groups.minimise else over >= 0

    def _go_on(self, recorded: _Recorded | None) -> None:
        try:
            self.next_test = next(self._walk) if recorded is None else self._walk.send(recorded)
        except StopIteration as finished:
            self.next_test = None
            self._result = finished.value

    def _run_group(self, node: _Node) -> _Walk:
        results: list[tuple[str, _Result]] = []
        for child in node.children:
            if isinstance(child, int):
                name, result = self._names[child], _of_test(child, (yield child), node.rules)
            else:
                name, result = child.name, (yield from self._run_if_allowed(child))
            self._done[name] = result
            results.append((name, result))
            if result.verdict in _ENDS_ALL:
                return self._finish(node.name, result)
            if result.verdict is not Verdict.ACCEPTED and node.rules.on_reject is OnReject.BREAK:
                break
        return self._finish(node.name, _aggregate(node, results))

    def _run_if_allowed(self, node: _Node) -> _Walk:
        for name in node.rules.require_pass:
            required = self._done.get(name)  # None: it has no tests, so that there is nothing to fail
            if required is not None and not required.all_accepted:
                failed_at = required.failed_at
                verdict = Verdict.WRONG_ANSWER if failed_at is None else self._verdicts[failed_at]
                result = _Result(verdict, 0.0, False, failed_at, failed_at)
                return self._finish(node.name, result, was_run=False)
        return (yield from self._run_group(node))

    def _finish(self, name: str, result: _Result, *, was_run: bool = True) -> _Result:
        score = result.score if self._groups.scoring else None
        self._group_results.append(GroupResult(name, result.verdict, score, was_run))
        return result


def full_score(names: Sequence[str], groups: Groups) -> float | None:
    """What a program gets with every test accepted and no score from a checker; None where a test must have one."""
    grading = Grading(names, groups)
    while grading.next_test is not None:
        grading.record(Verdict.ACCEPTED)
    result = grading._result
    return result.score if result is not None and result.verdict is Verdict.ACCEPTED else None


def _tree(names: Sequence[str], groups: Groups) -> _Node:
    """The groups that have tests, each with its tests and subgroups in the order in which they first appear."""
    rules = dict(groups.rules)
    nodes = {"": _Node("", rules.get("", Group()))}
    for index, name in enumerate(names):
        node = nodes[""]
        for folder in _folders(name):
            if folder in rules and folder not in nodes:
                nodes[folder] = _Node(folder, rules[folder])
                node.children.append(nodes[folder])
            node = nodes.get(folder, node)
        node.children.append(index)
    return nodes[""]


def _folders(name: str) -> Iterator[str]:
    """``a`` and ``a/b`` for ``a/b/test``."""
    parts = name.split("/")
    return ("/".join(parts[:length]) for length in range(1, len(parts)))


def _of_test(index: int, recorded: _Recorded, rules: Group) -> _Result:
    if recorded.verdict is not Verdict.ACCEPTED:
        return _Result(recorded.verdict, rules.reject_score, False, index, index)
    score = recorded.score
    if score is None and rules.accept_score is not None:
        score = rules.accept_score * (1.0 if recorded.multiplier is None else recorded.multiplier)
    if score is None:
        # The suite promises a score with each accepted test: its checker is at fault, not the program.
        return _Result(Verdict.INTERNAL_ERROR, 0.0, False, index, index)
    return _Result(Verdict.ACCEPTED, score, True, None, None)


def _aggregate(node: _Node, named: list[tuple[str, _Result]]) -> _Result:
    rules = node.rules
    results = [result for _, result in named]
    if rules.ignore_sample:
        # Where the sample is all that was run, there is nothing else to go by.
        results = [result for name, result in named if name != SAMPLE] or results
    failed = [result for result in results if result.verdict is not Verdict.ACCEPTED]
    failed_at = next((result.failed_at for result in results if result.failed_at is not None), None)
    all_accepted = all(result.all_accepted for result in results)
    score = _score(rules, [result.score for result in results], passed=not failed)
    if rules.max_score is not None and round(score - rules.max_score, _DIGITS) > 0:
        return _Result(Verdict.INTERNAL_ERROR, score, False, failed_at, None)
    is_enough = rules.accept_if_any_accepted and len(failed) < len(results)
    if not failed or is_enough or rules.verdict is VerdictRule.ALWAYS_ACCEPT:
        return _Result(Verdict.ACCEPTED, score, all_accepted, failed_at, None)
    chosen = failed[0] if rules.verdict is VerdictRule.FIRST_ERROR else min(failed, key=_rank)
    return _Result(chosen.verdict, score, False, failed_at, chosen.decided_by)


def _rank(result: _Result) -> int:
    return _WORST_FIRST.index(result.verdict)


def _score(rules: Group, scores: list[float], *, passed: bool) -> float:
    if rules.score is ScoreRule.PASS_FAIL:
        return (rules.accept_score or 0.0) if passed else rules.reject_score
    return float(_AGGREGATES[rules.score](scores)) if scores else 0.0
