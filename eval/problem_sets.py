"""A set of problems in a few words: "platform=humaneval", or "platform=atcoder,platform=leetcode,since=2024-08". Pure.

Terms are joined by commas. The same word twice means either of the two; different words must all hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from eval.board import EPOCH
from eval.labels import check_labels
from eval.settings import Settings
from eval.window import ProblemFacts, Window, classify, date_reason, parse_since, parse_until, quality_reason

WORDS = ("platform", "difficulty", "since", "until")
_FORM = 'write it as "platform=humaneval" or "platform=leetcode,difficulty=hard,since=2024-08,until=2025-03"'


class ProblemSetError(ValueError):
    """A set of problems cannot be read; ``hint`` says what to write."""

    def __init__(self, message: str, hint: str = _FORM) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class ProblemSet:
    """The sound problems of some platforms and difficulties (empty: all), published in a half-open window.

    Without a bound a problem needs no date.
    """

    written: str
    platforms: tuple[str, ...] = ()
    difficulties: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def reason(self, problem: ProblemFacts, *, include_flagged: bool = False) -> str | None:
        """Why a problem of these platforms and difficulties is left out, None if it is in."""
        if not self._bounded:
            return quality_reason(problem, include_flagged=include_flagged)
        return classify(problem, self._window, include_flagged=include_flagged)

    def holds_date_of(self, problem: ProblemFacts) -> bool:
        """Whether its date is in the window; every problem's is where there is no bound."""
        return not self._bounded or date_reason(problem, self._window) is None

    @property
    def _bounded(self) -> bool:
        return self.since is not None or self.until is not None

    @property
    def _window(self) -> Window:
        return Window(None, self.since, self.until)

    def admits(self, problem: ProblemFacts) -> bool:
        """Whether it is of these platforms and difficulties."""
        settings = Settings(after_cutoff=False, since=EPOCH, platforms=self.platforms, difficulties=self.difficulties)
        return settings.admits(problem)


def check_problem_set(wanted: ProblemSet, problems: Iterable[ProblemFacts]) -> None:
    """Raises ``LabelUnknown`` for a platform or a difficulty of the set that no problem has."""
    check_labels(problems, wanted.platforms, wanted.difficulties, f'the set "{wanted.written}"')


def read_problem_set(text: str) -> ProblemSet:
    """Read a set. Raises ``ProblemSetError``, or ``CutoffUnreadable`` for a date."""
    terms: dict[str, list[str]] = defaultdict(list)
    for term in text.split(","):
        word, equals, value = (part.strip() for part in term.partition("="))
        if not equals or not value or word not in WORDS:
            raise ProblemSetError(f'cannot read "{term.strip()}" in the set "{text}"')
        terms[word].append(value)
    for word in ("since", "until"):
        if len(terms[word]) > 1:
            raise ProblemSetError(f'the set "{text}" has {word} twice', "keep one of them")
    since, until = (parse_since(terms["since"][0]) if terms["since"] else None), None
    if terms["until"]:
        until = parse_until(terms["until"][0])
    if since is not None and until is not None and since >= until:
        raise ProblemSetError(f'the set "{text}" ends before it begins', "the earlier date is since")
    return ProblemSet(text, tuple(terms["platform"]), tuple(terms["difficulty"]), since, until)
