"""What a file's results say before any is saved: whether they contradict each other, or those that are stored.

A site publishes its board again and again. A model with a fixed snapshot keeps nearly all its results between two
revisions of a board; where many differ, the name has come to stand for another model, or the harness was changed, and
two columns must not be made one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from db.importing import Refusal
from db.problems import problem_ids
from db.tallies import load_tallies

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.records import ProblemKey
    from eval.formats import ResultRow

MAX_CHANGED_SHARE = 0.05
"""Between revisions of LiveCodeBench's board models with fixed snapshots change in 3 to 18 of 400 to 880 results
(at most 4.5 %), an alias that was moved in 157 of 400."""

Run = tuple[str, str]
"""Whose results: model, origin."""

Place = tuple[str, str, "ProblemKey"]
"""What a result is of: model, origin, problem."""


@dataclass(frozen=True)
class Revision:
    """A run of a file beside what is stored under its name: ``n_changed`` of ``n_common`` results are others there.

    ``n_rows`` results of the run are in the file.
    """

    run: Run
    n_rows: int
    n_common: int
    n_changed: int

    @property
    def is_another(self) -> bool:
        """Whether so many differ that it is not the run that is stored."""
        return self.n_changed > MAX_CHANGED_SHARE * self.n_common

    def refusal(self) -> Refusal:
        """Why none of its results is taken, and what to do."""
        model, origin = self.run
        taken = f"none of its {self.n_rows:,} results was taken"
        reason = f"{self._in_words()} differ from those in the store: the model or the harness changed; {taken}"
        return Refusal(
            f"{model} ({origin})",
            reason,
            '--origin "NAME DAY" keeps this revision beside the stored one, --replace puts it in its place',
        )

    def note(self) -> str:
        """That the stored results gave way to those of the file."""
        model, origin = self.run
        why = ": the model or the harness changed" if self.is_another else ""
        return f"{model} ({origin}): {self._in_words()} changed, the former ones are gone{why}"

    def _in_words(self) -> str:
        return f"{self.n_changed:,} of {self.n_common:,} results"


class LookAhead:
    """The results of a file by what they are of, the first of each; and those that contradict each other."""

    def __init__(self) -> None:
        self.conflicts: dict[Place, list[str]] = {}
        """Where the results stand that contradict each other."""
        self._n_repeated = 0
        self._first: dict[Place, ResultRow] = {}

    def add(self, place: Place, row: ResultRow) -> None:
        """Take in one row."""
        first = self._first.setdefault(place, row)
        if (first.n_samples, first.n_correct) != (row.n_samples, row.n_correct):
            self.conflicts.setdefault(place, [first.where]).append(row.where)
        elif first is not row:
            self._n_repeated += 1

    def revisions(self, session: Session, scenario: str) -> dict[Run, Revision]:
        """The runs of which the store has other results, by model and origin."""
        by_run: dict[Run, dict[ProblemKey, ResultRow]] = {}
        for place, row in self._first.items():
            if place not in self.conflicts:
                model, origin, key = place
                by_run.setdefault((model, origin), {})[key] = row
        ids = problem_ids(session, {key for _, _, key in self._first})
        return {one.run: one for one in _compared(session, by_run, ids, scenario) if one.n_changed}

    def notes(self) -> Iterator[str]:
        """How many results stood twice in the file, and which contradict each other."""
        if self._n_repeated or self.conflicts:
            named = ", ".join(dict.fromkeys(str(key) for _, _, key in self.conflicts))
            which = f" ({named})" if named else ""
            yield f"{self._n_repeated} duplicate, {len(self.conflicts)} conflict{which}"


def _compared(
    session: Session, by_run: dict[Run, dict[ProblemKey, ResultRow]], ids: dict[ProblemKey, int], scenario: str
) -> Iterator[Revision]:
    """Each run of the file beside the stored results of the same name, read run by run: a board may be large."""
    for (model, origin), rows in sorted(by_run.items(), key=lambda item: item[0]):
        tallies = load_tallies(session, [model], origin, scenario=scenario)
        stored = {row.problem_id: (row.n_samples, row.n_correct) for row in tallies}
        common = [(stored[ids[key]], (row.n_samples, row.n_correct)) for key, row in rows.items() if ids[key] in stored]
        yield Revision((model, origin), len(rows), len(common), sum(before != after for before, after in common))
