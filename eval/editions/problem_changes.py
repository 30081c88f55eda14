"""What became of the problems between two editions. Private ones are counted and never named. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from db.records import Precision
from eval.editions.document import EditionProblem
from eval.editions.edition_side import EditionSide
from eval.editions.private_names import PrivateNames
from eval.editions.run_matching import MatchedRuns
from eval.editions.suite_changes import (
    ChangedStrength,
    ChangedTests,
    changed_strengths,
    changed_tests,
    other_tests,
)
from eval.window import PRIVATE, flag_reason


class FlagChange(StrEnum):
    """What became of a flag."""

    SET = "set"
    TAKEN_OFF = "taken off"
    REWORDED = "other reason"


@dataclass(frozen=True)
class ChangedFlag:
    """A flag of a problem that is in both editions. It ``keeps_out`` of scores, or only informs."""

    problem: str
    flag: str
    change: FlagChange
    keeps_out: bool
    reason: str


@dataclass(frozen=True)
class MovedDate:
    """When a problem may first have been public (UTC; None: not known), as it was and as it is now."""

    problem: str
    before: datetime | None
    before_precision: Precision
    after: datetime | None
    after_precision: Precision


@dataclass(frozen=True)
class Relabelled:
    """A difficulty label, as it was and as it is now; None where the platform gives none."""

    problem: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class ChangedDetails:
    """What else is not as it was, by the names of the fields."""

    problem: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class PrivateCounts:
    """How many problems became private or public, and what became of those that are private on both sides."""

    came: int = 0
    gone: int = 0
    made_private: int = 0
    made_public: int = 0
    changed: int = 0


@dataclass(frozen=True)
class ProblemChanges:
    """What became of the public problems, by their written ids in order; ``private`` counts the others.

    ``n_before`` and ``n_after`` are public problems. ``reinstated`` are no longer withdrawn. ``tests`` have another
    suite, ``statements`` another text; ``strengths`` were measured anew with the tests as they were.
    """

    n_before: int
    n_after: int
    came: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    reinstated: tuple[str, ...] = ()
    flags: tuple[ChangedFlag, ...] = ()
    tests: tuple[ChangedTests, ...] = ()
    strengths: tuple[ChangedStrength, ...] = ()
    statements: tuple[str, ...] = ()
    dates: tuple[MovedDate, ...] = ()
    difficulties: tuple[Relabelled, ...] = ()
    details: tuple[ChangedDetails, ...] = ()
    private: PrivateCounts = PrivateCounts()

    @property
    def is_empty(self) -> bool:
        """Whether all problems are as they were."""
        return self == ProblemChanges(self.n_before, self.n_after)


def problem_changes(
    before: EditionSide, after: EditionSide, matched: MatchedRuns, private: PrivateNames
) -> ProblemChanges:
    """What became of the problems; none that is among the ``private`` ones is named."""
    old = {name: one for name, one in before.problems.items() if name not in private}
    new = {name: one for name, one in after.problems.items() if name not in private}
    both = [(old[name], new[name]) for name in sorted(old.keys() & new.keys())]
    return ProblemChanges(
        n_before=len(before.edition.problems) - before.edition.n_private,
        n_after=len(after.edition.problems) - after.edition.n_private,
        came=tuple(sorted(new.keys() - old.keys())),
        gone=tuple(sorted(old.keys() - new.keys())),
        withdrawn=_named(both, lambda a, b: b.facts.withdrawn and not a.facts.withdrawn),
        reinstated=_named(both, lambda a, b: a.facts.withdrawn and not b.facts.withdrawn),
        flags=tuple(flag for a, b in both for flag in _flags(a, b, before, after, private)),
        tests=tuple(changed_tests(before, after, matched, private)),
        strengths=tuple(changed_strengths(before, after, private)),
        statements=_named(both, other_statement),
        dates=tuple(_moved(a, b) for a, b in both if _dated(a) != _dated(b)),
        difficulties=tuple(
            Relabelled(b.written_id, a.facts.difficulty, b.facts.difficulty)
            for a, b in both
            if a.facts.difficulty != b.facts.difficulty
        ),
        details=tuple(
            ChangedDetails(b.written_id, fields) for a, b in both if (fields := _details(a, b, _records(before, after)))
        ),
        private=_private_counts(before, after),
    )


def other_statement(before: EditionProblem, after: EditionProblem) -> bool:
    """Whether the statement has been changed."""
    return before.revision != after.revision


def _dated(one: EditionProblem) -> tuple[datetime | None, Precision]:
    return one.facts.exposed_at, one.facts.exposed_precision


def _moved(before: EditionProblem, after: EditionProblem) -> MovedDate:
    return MovedDate(after.written_id, *_dated(before), *_dated(after))


def _named(
    both: list[tuple[EditionProblem, EditionProblem]], is_so: Callable[[EditionProblem, EditionProblem], bool]
) -> tuple[str, ...]:
    return tuple(b.written_id for a, b in both if is_so(a, b))


def _flags(
    old: EditionProblem, new: EditionProblem, before: EditionSide, after: EditionSide, private: PrivateNames
) -> Iterator[ChangedFlag]:
    """What became of its flags, by name; a flag that keeps nothing out since flagged problems are scored informs."""
    was, now = _reasons(old), _reasons(new)
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) == now.get(name):
            continue
        if name in now:
            change, reasons = FlagChange.REWORDED if name in was else FlagChange.SET, now[name]
            keeps_out = _keeps_out(name, new, after)
        else:
            change, reasons, keeps_out = FlagChange.TAKEN_OFF, was[name], _keeps_out(name, old, before)
        yield ChangedFlag(new.written_id, name, change, keeps_out, private.hidden_in("; ".join(reasons)))


def _reasons(one: EditionProblem) -> dict[str, list[str]]:
    """The reasons of each flag; that of being private is counted elsewhere."""
    found: dict[str, list[str]] = {}
    for name, reason in sorted(set(one.facts.flags)):
        if name != PRIVATE:
            found.setdefault(name, []).append(reason)
    return found


def _keeps_out(flag: str, problem: EditionProblem, side: EditionSide) -> bool:
    facts = problem.facts
    reason = flag_reason(flag, has_checker=facts.has_checker, has_made_tests=facts.has_made_tests)
    return not side.settings.include_flagged and reason is not None


def _records(*sides: EditionSide) -> bool:
    """Whether all editions say where tests come from."""
    return not any(side.edition.counts_samples for side in sides)


def _details(before: EditionProblem, after: EditionProblem, records_tests: bool) -> tuple[str, ...]:
    """Fields that differ and that no list of their own has; the number and origin of tests go with the tests."""
    pairs = {
        "title": (before.title, after.title),
        "link": (before.url, after.url),
        "status": (before.status, after.status),
        "contest": (before.facts.contest, after.facts.contest),
        "number of tests": (_size(before), _size(after)),
        "origin of tests": (before.facts.hidden_origins, after.facts.hidden_origins),
        "release": (_released(before), _released(after)),
        "evidence of the date": (before.evidence, after.evidence),
    }
    known = set()
    if before.facts.withdrawn != after.facts.withdrawn:
        known.add("status")
    if other_tests(before, after):
        known.add("number of tests")
    if other_tests(before, after) or not records_tests:
        known.add("origin of tests")
    return tuple(name for name, (old, new) in pairs.items() if old != new and name not in known)


def _size(one: EditionProblem) -> tuple[int, bool]:
    return one.facts.n_tests, one.facts.samples_only


def _released(one: EditionProblem) -> tuple[datetime | None, Precision | None]:
    return one.released_at, one.released_precision


def _private_counts(before: EditionSide, after: EditionSide) -> PrivateCounts:
    was = {name for name, one in before.problems.items() if one.facts.is_private}
    now = {name for name, one in after.problems.items() if one.facts.is_private}
    records_tests = _records(before, after)
    return PrivateCounts(
        came=len(now - before.problems.keys()),
        gone=len(was - after.problems.keys()),
        made_private=len(now & (before.problems.keys() - was)),
        made_public=len(was & (after.problems.keys() - now)),
        changed=sum(
            _compared(before.problems[name], records_tests) != _compared(after.problems[name], records_tests)
            for name in was & now
        ),
    )


def _compared(one: EditionProblem, records_tests: bool) -> tuple[object, ...]:
    """All of a problem but its place in the edition, and what an edition may have no record of."""
    left = {"problem_id"} if records_tests else {"problem_id", "hidden_origins", "strength"}
    facts = {name: value for name, value in vars(one.facts).items() if name not in left}
    return facts, {name: value for name, value in vars(one).items() if name != "facts"}
