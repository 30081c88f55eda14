"""Joining the rows of a file to problems by id, never by position, and what is left over on either side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

from db.answered import find_gaps
from db.errors import AmbiguousProblem
from db.importing import Refusal
from db.problems import find_problem
from eval.formats import ResultRow, SolutionRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.records import ProblemKey

MAX_SHOWN = 10


class Problems:
    """Finds the problems of rows. Samples of one problem, and models over the same problems, ask again and again.

    Ids are texts, and letter case counts: "0123" is not "123". Only blanks around them are removed, and noted.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str | None, str], ProblemKey] = {}
        self._trimmed: dict[str, None] = {}

    def find(self, session: Session, row: SolutionRow | ResultRow) -> ProblemKey | Refusal:
        """The key of the row's problem, or why there is none."""
        native_id = row.native_id.strip()
        if native_id != row.native_id:
            self._trimmed[row.native_id] = None
        asked = (row.platform, native_id)
        if asked in self._found:
            return self._found[asked]
        try:
            key = find_problem(session, native_id, row.platform)
        except AmbiguousProblem as error:
            return Refusal(row.where, str(error), "name the platform in the row")
        if key is None:
            named = f"{row.platform}:{native_id}" if row.platform else native_id
            return Refusal(row.where, f"no problem {named} in the store", "import the problems first")
        self._found[asked] = key
        return key

    def notes(self) -> list[str]:
        """What was done to ids."""
        if not self._trimmed:
            return []
        return [f"blanks around ids were removed: {_listed([repr(native_id) for native_id in self._trimmed])}"]


def unanswered_notes(session: Session, answered: Mapping[str, Set[int]]) -> Iterator[str]:
    """For each run by name, with the problems that it has answered: what it leaves out between the first and the last.

    Of more than a few runs that leave something out only their number is told.
    """
    found = zip(answered, find_gaps(session, answered.values()), strict=True)
    incomplete = [(name, gaps) for name, gaps in found if gaps.unanswered]
    for name, gaps in incomplete[:MAX_SHOWN]:
        keys = _listed([str(key) for key in gaps.unanswered])
        yield (
            f"{name}: no answer to {len(gaps.unanswered)} of the {gaps.n_within} problems between the first and the "
            f"last that it answers: {keys}"
        )
    if len(incomplete) > MAX_SHOWN:
        yield f"and {len(incomplete) - MAX_SHOWN} more that leave problems out"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
    return ", ".join(names[:MAX_SHOWN]) + more
