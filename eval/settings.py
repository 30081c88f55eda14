"""What a report is asked to look at: a window of time, filters of problems, values of k. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from db.records import CODE_GENERATION
from eval.report import utc_text
from eval.scoring import UNKNOWN
from eval.window import PRIVATE, ProblemFacts, window_for

ALL = "all"
SPLITS = (ALL, "public", PRIVATE)
"""Which problems a report looks at: all, or one side of the split into public and private ones."""


@dataclass(frozen=True)
class Settings:
    """What to report. Without ``after_cutoff`` a bound must be given: no default mixes old problems in.

    ``since`` and ``until`` bound a half-open window; ``platforms`` and ``difficulties`` (empty: all) say which problems
    are looked at in the first place. pass@1 is always reported. ``include_flagged`` scores flagged problems too.
    ``split`` looks at "public" or "private" problems alone. ``scenario`` is what the models were asked to do; it is
    stated, the runs are chosen where they are loaded.
    """

    after_cutoff: bool = True
    since: datetime | None = None
    until: datetime | None = None
    margin: timedelta = timedelta(0)
    platforms: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()
    ks: tuple[int, ...] = (1,)
    include_flagged: bool = False
    scenario: str = CODE_GENERATION
    split: str = ALL

    def __post_init__(self) -> None:
        if not self.after_cutoff and self.since is None and self.until is None:
            raise ValueError("a report needs a window: after the cut-off, or explicit bounds")
        if not self.after_cutoff and self.margin:
            raise ValueError("a margin goes with the cut-off; an explicit window has none")
        if self.split not in SPLITS:
            raise ValueError(f'the split is one of {", ".join(SPLITS)}, not "{self.split}"')
        if any(k < 1 for k in self.ks):
            raise ValueError("pass@k needs k of at least 1")
        window_for(None, since=self.since, until=self.until, margin=self.margin)

    @property
    def all_ks(self) -> tuple[int, ...]:
        """The values of k in ascending order, 1 among them."""
        return tuple(sorted({1, *self.ks}))

    def admits(self, problem: ProblemFacts) -> bool:
        """Whether the filters leave the problem in the universe of this report."""
        platforms = {name.casefold() for name in self.platforms}
        difficulties = {name.casefold() for name in self.difficulties}
        return (
            (not platforms or problem.platform.casefold() in platforms)
            and (not difficulties or (problem.difficulty or UNKNOWN).casefold() in difficulties)
            and (self.split == ALL or problem.is_private == (self.split == PRIVATE))
        )

    def as_dict(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return {
            "after_cutoff": self.after_cutoff,
            "since": utc_text(self.since),
            "until": utc_text(self.until),
            "margin_hours": self.margin.total_seconds() / 3600,
            "platforms": list(self.platforms),
            "difficulties": list(self.difficulties),
            "k": list(self.all_ks),
            "include_flagged": self.include_flagged,
            "scenario": self.scenario,
            "split": self.split,
        }
