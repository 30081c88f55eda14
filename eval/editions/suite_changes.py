"""By what other tests programs are judged in a later edition, and what was measured anew of made ones. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eval.editions.document import EditionProblem
from eval.editions.edition_side import EditionSide
from eval.editions.private_names import PrivateNames
from eval.editions.run_matching import MatchedRuns
from eval.editions.tests_in_words import kind_of_tests, suite_text
from eval.test_basis import strength_text

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class ChangedTests:
    """A problem in both editions whose programs are judged by other tests, or by another checker.

    ``kind`` says what kind of tests became which: "sample tests only -> made tests". Of the runs judged here that had a
    result, ``n_rejudged`` have one by the tests of now, ``n_other_results`` of them another one; ``n_unjudged`` wait.
    """

    problem: str
    kind: str
    before: str
    after: str
    n_rejudged: int
    n_other_results: int
    n_unjudged: int


@dataclass(frozen=True)
class ChangedStrength:
    """A problem in both editions with the same made tests, of which something else was measured, in words."""

    problem: str
    before: str
    after: str


def other_tests(before: EditionProblem, after: EditionProblem) -> bool:
    """Whether programs are judged on other tests, or by another checker."""
    return _tests(before) != _tests(after)


def changed_tests(
    before: EditionSide, after: EditionSide, matched: MatchedRuns, private: PrivateNames
) -> Iterator[ChangedTests]:
    """Each problem in both editions with other tests, by its written id; none of the ``private`` ones."""
    names = [name for name in sorted(before.problems.keys() & after.problems.keys()) if name not in private]
    moved = {
        name: (before.problems[name], after.problems[name])
        for name in names
        if other_tests(before.problems[name], after.problems[name])
    }
    judged = [(old, new) for old, new in matched.pairs if not (old.imported or new.imported)] if moved else []
    results = [(before.results_of(old), after.results_of(new)) for old, new in judged]
    for name, (old, new) in moved.items():
        pairs = [(was[name], now.get(name)) for was, now in results if name in was]
        rejudged = [(one, other) for one, other in pairs if other is not None]
        yield ChangedTests(
            problem=name,
            kind=_kind(old, new),
            before=suite_text(old.facts),
            after=suite_text(new.facts),
            n_rejudged=len(rejudged),
            n_other_results=sum(one != other for one, other in rejudged),
            n_unjudged=len(pairs) - len(rejudged),
        )


def changed_strengths(before: EditionSide, after: EditionSide, private: PrivateNames) -> Iterator[ChangedStrength]:
    """Each problem in both editions whose made tests are the same and were measured anew, by its written id.

    Nothing is said where an edition has no record of it.
    """
    if before.edition.counts_samples or after.edition.counts_samples:
        return
    for name in sorted(before.problems.keys() & after.problems.keys()):
        old, new = before.problems[name], after.problems[name]
        if name not in private and not other_tests(old, new) and old.facts.strength != new.facts.strength:
            yield ChangedStrength(name, _measured(old), _measured(new))


def _tests(one: EditionProblem) -> tuple[str | None, bool]:
    return one.facts.suite_digest, one.facts.has_checker


def _kind(before: EditionProblem, after: EditionProblem) -> str:
    if before.facts.suite_digest == after.facts.suite_digest:
        return "the same tests with a checker" if after.facts.has_checker else "the same tests without a checker"
    was, now = kind_of_tests(before.facts), kind_of_tests(after.facts)
    return f"{was} -> {now}" if was != now else f"other {now}" if after.facts.n_tests else "other tests, none of use"


def _measured(one: EditionProblem) -> str:
    return NOT_MEASURED if one.facts.strength is None else strength_text(one.facts.strength)
