"""Whether a generated run is fit to be scored, and whether going on with it makes sense. Pure.

What is wrong with the asking looks exactly like a weak model: answers cut off by a limit of length, programs cut in two
by a stop word, text that is looked for in the wrong field, requests that fail. None of it may pass in silence.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from db.records import AnswerStatus
from eval.generate.failures import FailureKind

MAX_SHARE: Final = 0.05
"""More than this share of answers cut off, or of samples without an answer, makes a run unhealthy."""
CUT: Final = (AnswerStatus.TRUNCATED, AnswerStatus.SUSPICIOUS_STOP)
MAX_BESIDE_SHARE: Final = 0.5
"""From this share of answers on that are something else than what was asked for, a run is unhealthy: a template that
does not fit, a base model, the wrong language. Fewer are a weak model's."""
BESIDE: Final = (AnswerStatus.NO_CODE, AnswerStatus.WRONG_LANGUAGE)

FIRST, LAST, MOST = 20, 50, 0.8
"""A run is stopped when of its first 20 replies, or later of its last 50, at least 80 % are of no use."""
_USELESS = frozenset(map(str, (*CUT, *BESIDE, *FailureKind)))
_ASK_AGAIN = "the same command asks again for what failed"
_HINTS: Mapping[str, str] = {
    AnswerStatus.TRUNCATED: "raise --max-tokens (thinking counts as well), or lower --effort",
    AnswerStatus.SUSPICIOUS_STOP: "leave --stop out: it cuts programs in two",
    AnswerStatus.NO_CODE: "look at an answer and at `live prompts MODEL --show`: the prompt may not fit, or the "
    "model lack its chat template",
    AnswerStatus.WRONG_LANGUAGE: "ask by --language for the language that it answers in, or by another --prompt",
    FailureKind.EMPTY_CONTENT: "raise --max-tokens, which thinking may have used up; where the endpoint puts answers "
    "into its reasoning field, --reasoning-is-answer looks there",
    FailureKind.TIMED_OUT: "raise --timeout, or lower --concurrency",
    FailureKind.RATE_LIMITED: "lower --concurrency",
    FailureKind.TOO_LARGE: "give --max-tokens",
}


@dataclass(frozen=True)
class RunHealth:
    """A run in numbers: its answers by status, and its samples without an answer by the reason of the last failure."""

    statuses: Mapping[str, int]
    failures: Mapping[str, int]

    @property
    def n_answers(self) -> int:
        """All answers, with and without a program."""
        return sum(self.statuses.values())

    @property
    def n_failed(self) -> int:
        """Samples that were asked for and have no answer."""
        return sum(self.failures.values())

    @property
    def n_cut(self) -> int:
        """Answers that broke off before the program was whole."""
        return sum(self.statuses.get(status, 0) for status in CUT)

    @property
    def is_failing(self) -> bool:
        """Whether too many samples have no answer for a score to be believed."""
        return is_failing(self.n_failed, self.n_answers)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the run is unhealthy, each a sentence; none for one that is fit to be scored."""
        found = []
        if self.n_cut > MAX_SHARE * self.n_answers:
            found.append(f"{self.n_cut} of {self.n_answers} answers are cut off")
        beside = {status.value: n for status in BESIDE if (n := self.statuses.get(status, 0))}
        if beside and sum(beside.values()) >= MAX_BESIDE_SHARE * self.n_answers:
            counted = ", ".join(f"{name} {n}" for name, n in beside.items())
            found.append(f"{sum(beside.values())} of {self.n_answers} answers are not what was asked for ({counted})")
        if self.is_failing:
            found.append(failed_text(self.n_failed, self.n_answers))
        return tuple(found)

    @property
    def is_unhealthy(self) -> bool:
        """Whether the run says more of how it was asked than of its model."""
        return bool(self.reasons)

    def shares(self) -> dict[str, float | None]:
        """The share of each status among the answers, and of failed samples among all; None of nothing."""
        n_all = self.n_answers + self.n_failed
        of_answers = {name: n / self.n_answers if self.n_answers else None for name, n in self.statuses.items()}
        return of_answers | {"failed": self.n_failed / n_all if n_all else None}

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "answers": dict(self.statuses),
            "failed_requests": dict(self.failures),
            "shares": self.shares(),
            "is_unhealthy": self.is_unhealthy,
            "reasons": list(self.reasons),
        }


def is_failing(n_failed: int, n_answers: int) -> bool:
    """Whether so many samples without an answer, beside so many with one, are too many for a score to be believed."""
    return n_failed > MAX_SHARE * (n_failed + n_answers)


def failed_text(n_failed: int, n_answers: int) -> str:
    """That samples are missing since their requests failed."""
    return f"{n_failed} of {n_failed + n_answers} samples have no answer (failed requests)"


def without_program(statuses: Mapping[str, int]) -> dict[str, int]:
    """The statuses that answers without a program have, most frequent first; what a newer version added among them."""
    has_program = {str(status) for status in AnswerStatus if status.has_program}
    found = {name: n for name, n in statuses.items() if n and name not in has_program}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True)
class Alarm:
    """Why a run should not go on: what, and what to do."""

    message: str
    hint: str


class Watch:
    """Looks at replies as they come, and tells when nearly all of them are of no use."""

    def __init__(self) -> None:
        self._last: deque[str] = deque(maxlen=LAST)

    def add(self, kind: str) -> None:
        """A reply: the status of an answer, or the reason of a failure."""
        self._last.append(kind)

    def alarm(self) -> Alarm | None:
        """Whether going on is no use; None while it may be."""
        useless = Counter(kind for kind in self._last if kind in _USELESS)
        n_useless = useless.total()
        if len(self._last) < FIRST or n_useless < MOST * len(self._last):
            return None
        counted = ", ".join(f"{kind} {n}" for kind, n in useless.most_common())
        message = f"{n_useless} of the last {len(self._last)} replies are of no use ({counted})"
        ((worst, _),) = useless.most_common(1)
        return Alarm(message, f"{_HINTS.get(worst, _ASK_AGAIN)}; --keep-going asks on all the same")
