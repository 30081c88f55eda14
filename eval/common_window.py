"""One window for several runs: after the latest cut-off among them, so that no problem of it was seen by any. Pure.

Here, and only here, models may be compared and ranked: on problems that all of them have answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from eval.audits.refusals import grouped
from eval.basis import Basis
from eval.board import Board, build_board, on_samples_alone
from eval.cautions import (
    BUILD_HINT,
    CEILING,
    FEW_PROBLEMS,
    FLOOR,
    MAX_MISSING,
    age_cautions,
    cutoff_cautions,
    differing_fields,
    split_lines,
)
from eval.comparable import comparable_runs
from eval.eligibility import CutoffStatus, NotScored, UsedCutoff
from eval.evaluation import RunOutcomes, digest_of_problems, outcomes_apart, samples_apart
from eval.models import Registry
from eval.report import SamplesApart, cutoff_fields, samples_only_fields, utc_text
from eval.settings import Settings
from eval.test_basis import TestBasis, basis_of_tests, basis_text, basis_to_dict
from eval.window import ProblemFacts, Reason, Window, classify

Group = tuple[tuple[str, str], ...]
"""What the runs of a group share: names and values of settings."""

NO_SETTINGS = frozenset({"asked_as", "ran_on"})
"""Conditions that are no setting of the model: when it ran, and what an endpoint calls it, change no answer."""


@dataclass(frozen=True)
class CommonWindow:
    """The runs that can be compared, their problems, and what was left out.

    ``board`` holds the sound problems of the window that any run has a result on; ``n_eligible`` lie in it with or
    without. ``cutoffs`` are the runs' (None: not known, which an explicit window allows). ``left_out`` counts problems
    by their reason, among them eligible ones that no program can be scored on; ``conditions`` are the fields in which
    the runs differ. ``samples_only`` is of each run: its results on problems whose tests are the samples alone, which
    do not count (None: it has none); there are ``n_samples_only`` such problems. ``suggestion`` says whom to leave out
    where the window holds no result.
    """

    board: Board
    window: Window
    cutoffs: tuple[UsedCutoff | None, ...]
    n_eligible: int
    not_scored: tuple[NotScored, ...]
    left_out: Mapping[str, int]
    conditions: tuple[str, ...]
    problem_set_digest: str
    environment_digest: str | None
    settings: Settings
    made_at: datetime
    samples_only: tuple[SamplesApart | None, ...] = ()
    n_samples_only: int = 0
    suggestion: str | None = None

    @property
    def tests(self) -> TestBasis | None:
        """What the tests of the problems are on which programs were judged here; None where none were."""
        judged = [place for place, run in enumerate(self.board.runs) if run.rests_on_tests]
        if not judged:
            return None
        return basis_of_tests(self.board.take(np.asarray(self.board.seen[judged].any(axis=0))).problems)

    @property
    def latest(self) -> tuple[str, UsedCutoff] | None:
        """The run whose cut-off sets the window's start, and that cut-off."""
        known = [(name, used) for name, used in zip(self.board.names, self.cutoffs, strict=True) if used is not None]
        # Of equal ones the first by name, whatever the order of the runs.
        return max(sorted(known, key=lambda pair: pair[0]), key=lambda pair: pair[1].cutoff.after, default=None)

    def n_exposed(self, run: int, problems: Sequence[ProblemFacts] | None = None) -> int | None:
        """How many of the problems (of all, by default) may have been public before a run's cut-off; None: not known.

        After the cut-offs there is none; an explicit window may hold many.
        """
        used = self.cutoffs[run]
        if used is None:
            return None
        chosen = self.board.problems if problems is None else problems
        return sum(one.exposed_at is not None and one.exposed_at < used.cutoff.after for one in chosen)

    def described(self) -> tuple[str, ...]:
        """What was measured, as lines for a reader."""
        start, end = utc_text(self.window.start), utc_text(self.window.end)
        latest = self.latest if self.settings.after_cutoff else None
        why = f", after the latest cut-off: {cutoff_text(latest[1])} ({latest[0]})" if latest else ""
        lines = [
            f"window [{start or '...'}, {end or '...'}){why}",
            f"{len(self.board.problems)} problems with results of {self.n_eligible} in the window; "
            f"problem set {self.problem_set_digest[:12]}; made {self.made_at:%Y-%m-%dT%H:%MZ}",
            *split_lines(self.settings.split),
        ]
        lines += [text] if (text := basis_text(self.tests)) else []
        if self.n_samples_only:
            problems = "1 problem" if self.n_samples_only == 1 else f"{self.n_samples_only} problems"
            lines.append(f"on sample tests alone, in no score, rank or comparison: {problems}; {BUILD_HINT}")
        if self.left_out:
            lines.append("left out: " + ", ".join(f"{count} {reason}" for reason, count in self.left_out.items()))
        lines += [f"the runs differ in {line}" for line in self.conditions]
        return (*lines, *self._exposures())

    def _exposures(self) -> Iterator[str]:
        unknown = []
        for place, name in enumerate(self.board.names):
            n_exposed = self.n_exposed(place)
            if n_exposed is None:
                unknown.append(name)
            elif n_exposed:
                yield f"{name}: {n_exposed} of these problems may have been public before its cut-off"
        if unknown:
            yield f"no cut-off is known, so nobody can tell what was seen: {', '.join(unknown)}"

    def as_dict(self) -> dict[str, Any]:
        """What was measured, as plain values: the window, the problems, and each run with its cut-off and settings."""
        return {
            "window_from": self.window.start,
            "window_to": self.window.end,
            "n_problems": len(self.board.problems),
            "n_eligible": self.n_eligible,
            "problem_set_digest": self.problem_set_digest,
            "environment_digest": self.environment_digest,
            "made_at": self.made_at,
            "settings": self.settings.as_dict(),
            "left_out": self.left_out,
            "n_samples_only": self.n_samples_only,
            "tests": basis_to_dict(self.tests),
            "runs": [
                {
                    "name": name,
                    "model": run.model,
                    "settings": settings_of(run),
                    "n_problems": int(seen.sum()),
                    "n_samples": int(samples.sum()),
                    "n_exposed": self.n_exposed(place),
                    **samples_only_fields(self.samples_only[place] if self.samples_only else None),
                    **cutoff_fields(self.cutoffs[place]),
                }
                for place, (name, run, seen, samples) in enumerate(
                    zip(self.board.names, self.board.runs, self.board.seen, self.board.n_samples, strict=True)
                )
            ],
            "not_compared": [{"model": one.model, "reason": one.reason} for one in self.not_scored],
        }

    def not_compared(self) -> tuple[str, ...]:
        """Who is not in it, a line each."""
        return tuple(f"not compared: {model.model}: {model.reason}" for model in self.not_scored)

    def cautions(self) -> Iterator[str]:
        """What is weak about the cut-offs and about the problems as a whole."""
        yield from cutoffs_cautions(self.board.names, self.cutoffs, self.window)
        yield from age_cautions(self.board.problems, self.made_at)
        if self.suggestion is not None:
            yield self.suggestion
        n_problems = len(self.board.problems)
        reachable = self.n_eligible - self.left_out.get(str(Reason.SAMPLES_ONLY), 0)
        if 0 < n_problems < (1 - MAX_MISSING) * reachable:
            yield f"only {n_problems} of {reachable} eligible problems have a result"


def cutoffs_cautions(names: Iterable[str], cutoffs: Iterable[UsedCutoff | None], window: Window) -> Iterator[str]:
    """What is weak about the cut-offs of some runs, said once for all runs of which it holds."""
    yield from grouped(
        (name, line)
        for name, used in zip(names, cutoffs, strict=True)
        for line in cutoff_cautions(cutoff_fields(used), window)
    )


def cautions_of(board: Board) -> Iterator[str]:
    """What a reader must know of the problems that a table rests on, the weightiest first."""
    n_problems = len(board.problems)
    if not n_problems:
        return
    if n_problems < FEW_PROBLEMS:
        yield f"fewer than {FEW_PROBLEMS} problems ({n_problems})"
    if (board.n_samples <= 1).all():
        yield "one sample per problem"
    counts = board.seen.sum(axis=1)
    means = np.where(board.seen, board.scores, 0.0).sum(axis=1) / np.maximum(counts, 1)
    for limit, beyond in (("over 90 %", means > CEILING), ("under 5 %", means < FLOOR)):
        names = [name for name, is_so in zip(board.names, (beyond & (counts > 0)).tolist(), strict=True) if is_so]
        if names:
            yield f"{limit} solved, so that these problems hardly tell them apart: {', '.join(names)}"


def cutoff_text(used: UsedCutoff) -> str:
    """A cut-off as it is written, with a question mark where the release date stands in."""
    return used.cutoff.as_written + ("?" if used.status is CutoffStatus.ASSUMED else "")


def common_window(
    problems: Iterable[ProblemFacts],
    runs: Iterable[RunOutcomes],
    registry: Registry,
    settings: Settings,
    *,
    now: datetime,
    environment_digest: str | None = None,
) -> CommonWindow:
    """The window that follows the latest cut-off of these runs (or an explicit one), with their results in it.

    A run whose model has no usable cut-off is not compared, unless the settings give the window themselves.
    """
    kept, refused = comparable_runs(runs, registry, settings, now=now)
    admitted = [problem for problem in problems if settings.admits(problem)]
    while True:
        window = _latest([basis.window for _, basis in kept], settings)
        reasons = [classify(problem, window, include_flagged=settings.include_flagged) for problem in admitted]
        eligible = [problem for problem, reason in zip(admitted, reasons, strict=True) if reason is None]
        board = build_board(eligible, [run for run, _ in kept])
        silent = np.flatnonzero(~board.seen.any(axis=1)).tolist()
        if not silent or len(silent) == len(kept):
            break
        # A run without a result here has nothing to compare, and its cut-off must not narrow the window of the others.
        refused += tuple(NotScored(board.names[place], _silence(eligible, board.runs[place])) for place in silent)
        kept = tuple(one for place, one in enumerate(kept) if place not in silent)
    rows = [run for run, _ in kept]
    left_out = Counter(str(reason) for reason in reasons if reason is not None)
    left_out.update(on_samples_alone(eligible, rows))
    return CommonWindow(
        board=board,
        window=window,
        cutoffs=tuple(basis.known for _, basis in kept),
        n_eligible=len(eligible),
        not_scored=tuple(dict.fromkeys(refused)),
        left_out=dict(left_out.most_common()),
        conditions=tuple(differing_fields([settings_of(run) for run in rows])),
        problem_set_digest=digest_of_problems(board.problems, imported=all(run.imported for run, _ in kept)),
        environment_digest=None if all(run.imported for run, _ in kept) else environment_digest,
        settings=settings,
        made_at=now,
        samples_only=tuple(samples_apart(eligible, run) for run in rows),
        n_samples_only=len({one.problem_id for run in rows for one in outcomes_apart(eligible, run)}),
        suggestion=None if board.problems else _suggestion(admitted, kept, settings),
    )


def _silence(eligible: Sequence[ProblemFacts], run: RunOutcomes) -> str:
    """Why a run has no result that counts in the window."""
    if samples_apart(eligible, run) is None:
        return "no result in the window"
    return f"it has results in the window on sample tests only, which count in no comparison: {BUILD_HINT}"


def _suggestion(
    admitted: Sequence[ProblemFacts], kept: Sequence[tuple[RunOutcomes, Basis]], settings: Settings
) -> str | None:
    """Whose cut-offs to leave out, the latest first, so that the others have results in their window."""
    rest = list(kept)
    while len({run.model.casefold() for run, _ in rest}) > 2:
        starts = [basis.window.after_cutoff for _, basis in rest]
        latest = max((start for start in starts if start is not None), default=None)
        if latest is None:
            return None
        rest = [one for one, start in zip(rest, starts, strict=True) if start != latest]
        window = _latest([basis.window for _, basis in rest], settings)
        sound = [one for one in admitted if classify(one, window, include_flagged=settings.include_flagged) is None]
        board = build_board(sound, [run for run, _ in rest])
        if board.n_models >= 2 and board.seen.any(axis=1).sum() >= 2:
            names = {run.model for run, _ in kept} - {run.model for run, _ in rest}
            return (
                f"without {', '.join(sorted(names))} the other {len(rest)} runs have results on {len(board.problems)} "
                f"problems of the window from {utc_text(window.start)} on"
            )
    return None


def settings_of(run: RunOutcomes) -> dict[str, Any]:
    """The conditions of a run that may change what it solves, and by whom its answers were judged."""
    conditions = {key: value for key, value in run.conditions.items() if key not in NO_SETTINGS}
    return conditions | {"results": f"imported ({run.origin})" if run.imported else "judged here"}


def by_settings(
    runs: Sequence[RunOutcomes], ignoring: Collection[str] = ()
) -> dict[tuple[tuple[str, str], ...], list[int]]:
    """The places of runs under equal settings, by these; ``ignoring`` names settings whose differences are meant.

    Results of a run here and imported ones are never in one group, nor are imports of two origins: they were not judged
    alike.
    """
    groups: dict[Group, list[int]] = {}
    for place, run in enumerate(runs):
        settings = {key: str(value) for key, value in settings_of(run).items() if key not in ignoring}
        groups.setdefault(tuple(sorted(settings.items())), []).append(place)
    return groups


def _latest(windows: Sequence[Window], settings: Settings) -> Window:
    starts = [window.after_cutoff for window in windows if window.after_cutoff is not None]
    return Window(max(starts) if starts else None, settings.since, settings.until)
