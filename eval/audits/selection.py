"""Which problems and runs an audit looks at: sound and dated, whatever the cut-offs, within the user's filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from numpy.typing import NDArray

from eval.audits.refusals import named
from eval.basis import basis_of
from eval.board import EPOCH, Board, build_board, on_samples_alone
from eval.eligibility import NotScored, UsedCutoff
from eval.evaluation import RunOutcomes, digest_of_problems
from eval.models import ModelEntry, Registry
from eval.report import utc_text
from eval.settings import Settings
from eval.window import ProblemFacts, Window, classify


@dataclass(frozen=True)
class Selection:
    """The board of an audit, with each run's model and cut-off where they are known, and what was left out.

    ``wanted`` are the rows of the models that were asked for (None: all): they are shown, all of them take part.
    """

    board: Board
    entries: tuple[ModelEntry | None, ...]
    cutoffs: tuple[UsedCutoff | None, ...]
    window: Window
    left_out: Mapping[str, int]
    made_at: datetime
    wanted: tuple[int, ...] | None = None

    @property
    def shown(self) -> tuple[int, ...]:
        """The rows to show."""
        return tuple(range(len(self.board.runs))) if self.wanted is None else self.wanted

    def showing(self, names: Collection[str]) -> Selection:
        """The same with the runs of these models to show: by their names in the registry, or in the store."""
        sought = {name.casefold() for name in names}
        return replace(self, wanted=tuple(row for row, name in enumerate(self.models) if name.casefold() in sought))

    def narrowed(self, used: NDArray[Any], start: float | None, reason: str) -> Selection:
        """The same with the problems of a mask alone, which start at this day (since 1970); the rest for a reason."""
        left = len(self.board.problems) - int(used.sum())
        begins = self.window.start if start is None else EPOCH + timedelta(days=start)
        return replace(
            self,
            board=self.board.take(used),
            window=Window(None, begins, self.window.end),
            left_out={**self.left_out, reason: left} if left else self.left_out,
        )

    @property
    def digest(self) -> str:
        """The digest of the problems with their tests, in hex."""
        return digest_of_problems(self.board.problems, imported=all(run.imported for run in self.board.runs))

    @property
    def models(self) -> tuple[str, ...]:
        """The model of each run, by the name that the registry has for it."""
        pairs = zip(self.board.runs, self.entries, strict=True)
        return tuple(run.model if entry is None else entry.name for run, entry in pairs)

    def described(self) -> tuple[str, ...]:
        """What was looked at, as lines for a reader."""
        board = self.board
        lines = [
            f"{len(board.runs)} runs on {len(board.problems)} problems published {published(self.window)}",
            f"problem set {self.digest[:12]}; made {self.made_at:%Y-%m-%dT%H:%MZ}",
        ]
        if self.wanted is not None:
            names = named([board.names[row] for row in self.wanted]) or "none, as none has results"
            lines.append(f"shown: {names}; all {len(board.runs)} runs take part in what is computed")
        if self.left_out:
            lines.append("left out: " + ", ".join(f"{count} {reason}" for reason, count in self.left_out.items()))
        return tuple(lines)


def published(window: Window) -> str:
    """When the problems of a window were published, as words to follow "published"."""
    if window.start is None and window.end is None:
        return "at any date"
    return f"in [{utc_text(window.start) or '...'}, {utc_text(window.end) or '...'})"


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
    sound = [one for one, reason in zip(admitted, reasons, strict=True) if reason is None]
    board = build_board(sound, runs)
    left_out = Counter(str(reason) for reason in reasons if reason is not None)
    left_out.update(on_samples_alone(sound, board.runs))
    bases = [basis_of(run, registry, settings, now) for run in board.runs]
    known = [None if isinstance(basis, NotScored) else basis for basis in bases]
    return Selection(
        board=board,
        entries=tuple(basis.entry if basis is not None else None for basis in known),
        cutoffs=tuple(basis.known if basis is not None else None for basis in known),
        window=window,
        left_out=dict(left_out.most_common()),
        made_at=now,
    )
