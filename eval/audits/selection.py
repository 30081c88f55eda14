"""Which problems and runs an audit looks at: sound and dated, whatever the cut-offs, within the user's filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from eval.board import EPOCH, Board, build_board
from eval.eligibility import NotScored, UsedCutoff
from eval.evaluation import RunOutcomes, Settings, basis_of, digest_of_problems
from eval.models import ModelEntry, Registry
from eval.report import utc_text
from eval.window import ProblemFacts, Window, classify


@dataclass(frozen=True)
class Selection:
    """The board of an audit, with each run's model and cut-off where they are known, and what was left out."""

    board: Board
    entries: tuple[ModelEntry | None, ...]
    cutoffs: tuple[UsedCutoff | None, ...]
    window: Window
    left_out: Mapping[str, int]
    made_at: datetime

    def described(self) -> tuple[str, ...]:
        """What was looked at, as lines for a reader."""
        board = self.board
        digest = digest_of_problems(board.problems, imported=all(run.imported for run in board.runs))
        lines = [
            f"{len(board.runs)} runs on {len(board.problems)} problems published in "
            f"[{utc_text(self.window.start) or '...'}, {utc_text(self.window.end) or '...'})",
            f"problem set {digest[:12]}; made {self.made_at:%Y-%m-%dT%H:%MZ}",
        ]
        if self.left_out:
            lines.append("left out: " + ", ".join(f"{count} {reason}" for reason, count in self.left_out.items()))
        return tuple(lines)


def select(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    settings: Settings,
    *,
    now: datetime,
) -> Selection:
    """The results on dated, sound problems that the settings admit, before and after the cut-offs alike.

    A ``since`` of 1970 is no bound.
    """
    window = Window(None, None if settings.since == EPOCH else settings.since, settings.until)
    admitted = [problem for problem in problems if settings.admits(problem)]
    reasons = [classify(problem, window, include_flagged=settings.include_flagged) for problem in admitted]
    board = build_board([one for one, reason in zip(admitted, reasons, strict=True) if reason is None], runs)
    bases = [basis_of(run, registry, settings, now) for run in board.runs]
    known = [None if isinstance(basis, NotScored) else basis for basis in bases]
    return Selection(
        board=board,
        entries=tuple(basis.entry if basis is not None else None for basis in known),
        cutoffs=tuple(basis.known if basis is not None else None for basis in known),
        window=window,
        left_out=dict(Counter(str(reason) for reason in reasons if reason is not None).most_common()),
        made_at=now,
    )
