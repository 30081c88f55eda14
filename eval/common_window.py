"""One window for several runs: after the latest cut-off among them, so that no problem of it was seen by any. Pure.

Here, and only here, models may be compared and ranked: on problems that all of them have answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from eval.board import Board, build_board
from eval.cautions import differing_fields
from eval.comparable import comparable_runs
from eval.eligibility import NotScored, UsedCutoff
from eval.evaluation import RunOutcomes, Settings, digest_of_problems
from eval.models import Registry
from eval.report import utc_text
from eval.window import ProblemFacts, Window, classify


@dataclass(frozen=True)
class CommonWindow:
    """The runs that can be compared, their problems, and what was left out.

    ``board`` holds the sound problems of the window that any run has a result on; ``n_eligible`` lie in it with or
    without. ``cutoffs`` are the runs' (None: not known, which an explicit window allows). ``left_out`` counts problems
    by their reason; ``conditions`` are the fields in which the runs differ.
    """

    board: Board
    window: Window
    cutoffs: tuple[UsedCutoff | None, ...]
    n_eligible: int
    not_scored: tuple[NotScored, ...]
    left_out: Mapping[str, int]
    conditions: tuple[str, ...]
    problem_set_digest: str
    settings: Settings
    made_at: datetime

    @property
    def latest(self) -> tuple[str, UsedCutoff] | None:
        """The run whose cut-off sets the window's start, and that cut-off."""
        known = [(name, used) for name, used in zip(self.board.names, self.cutoffs, strict=True) if used is not None]
        return max(known, key=lambda pair: pair[1].cutoff.after) if known else None

    def described(self) -> tuple[str, ...]:
        """What was measured, as lines for a reader."""
        window = f"[{utc_text(self.window.start) or '...'}, {utc_text(self.window.end) or '...'})"
        latest = self.latest if self.settings.after_cutoff else None
        why = f", after the latest cut-off: {latest[1].cutoff.as_written} ({latest[0]})" if latest else ""
        lines = [
            f"window {window}{why}",
            f"{len(self.board.problems)} problems with results of {self.n_eligible} in the window; "
            f"problem set {self.problem_set_digest[:12]}; made {self.made_at:%Y-%m-%dT%H:%MZ}",
        ]
        samples_only = sum(one.samples_only for one in self.board.problems)
        if samples_only and not all(run.imported for run in self.board.runs):
            lines.append(f"judged on sample tests only: {samples_only} of them")
        if self.left_out:
            lines.append("left out: " + ", ".join(f"{count} {reason}" for reason, count in self.left_out.items()))
        lines += [f"not compared: {model.model}: {model.reason}" for model in self.not_scored]
        lines += [f"the runs differ in {line}" for line in self.conditions]
        return tuple(lines)


def common_window(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    settings: Settings,
    *,
    now: datetime,
) -> CommonWindow:
    """The window that follows the latest cut-off of these runs (or an explicit one), with their results in it.

    A run whose model has no usable cut-off is not compared, unless the settings give the window themselves.
    """
    kept, refused = comparable_runs(runs, registry, settings, now=now)
    window = _latest([basis.window for _, basis in kept], settings)
    admitted = [problem for problem in problems if settings.admits(problem)]
    reasons = [classify(problem, window, include_flagged=settings.include_flagged) for problem in admitted]
    eligible = [problem for problem, reason in zip(admitted, reasons, strict=True) if reason is None]
    board = build_board(eligible, [run for run, _ in kept])
    judged_here = any(not run.imported for run, _ in kept)
    return CommonWindow(
        board=board,
        window=window,
        cutoffs=tuple(basis.known for _, basis in kept),
        n_eligible=len(eligible),
        not_scored=refused,
        left_out=dict(Counter(str(reason) for reason in reasons if reason is not None).most_common()),
        conditions=tuple(differing_fields([run.conditions for run, _ in kept])),
        problem_set_digest=digest_of_problems(board.problems, imported=not judged_here),
        settings=settings,
        made_at=now,
    )


def _latest(windows: Sequence[Window], settings: Settings) -> Window:
    starts = [window.after_cutoff for window in windows if window.after_cutoff is not None]
    return Window(max(starts) if starts else None, settings.since, settings.until)
