"""In which order the places of a run are asked, and how far a budget reaches. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import TypeVar

from db.records import Place

T = TypeVar("T")
_MOST_UNPRICED_FAILURES = 3


def in_rounds(places: Iterable[Place]) -> list[Place]:
    """The places (oldest problem first, each once) in the order in which they are asked, which leaves a run balanced
    wherever it is interrupted: the first sample of every problem, then the second one of every problem, and so on.

    Within a round the problems come so that every beginning of it is spread over the whole window (by the reversed bits
    of their positions, van der Corput's sequence): half a round is no run of old problems. The same places give the
    same order.
    """
    rounds: defaultdict[int, list[Place]] = defaultdict(list)
    for place in places:
        rounds[place.sample_index].append(place)
    return [place for sample in sorted(rounds) for place in _spread(rounds[sample])]


def _spread(values: Sequence[T]) -> list[T]:
    n_bits = max(len(values) - 1, 0).bit_length()
    reversed_bits = (int(f"{number:0{n_bits}b}"[::-1], 2) for number in range(2**n_bits))
    return [values[position] for position in reversed_bits if position < len(values)]


class Turn(Enum):
    """Whether one more question may be put now."""

    ASK = auto()
    WAIT = auto()  # until one that is under way has ended: it may leave enough
    STOP = auto()


class Budget:
    """What may be spent on requests, and what is: told of each request before it is sent, and of each question's end.

    ``max_requests`` counts requests as they go out, further attempts at the same question among them. ``max_cost`` is
    in the currency of the prices. No request is sent whose most cost, with that of all under way, would pass it. The
    most cost of a question is what the caller foresees (``at_most``), else that of the dearest answer so far. As long
    as that alone is known, the number of questions under way begins at one and doubles at most with each answer: a dear
    one is seen before many of its kind are under way. A failure that may be billed counts as the most cost.
    """

    def __init__(self, max_requests: int | None = None, max_cost: float | None = None) -> None:
        self._max_requests = max_requests
        self._max_cost = max_cost
        self._n_requests = self._n_under_way = self._n_unforeseen = 0
        self._most_at_once = 1
        self._spent = self._foreseen = 0.0
        self._dearest: float | None = None
        self._is_passed_over = False
        self._unpriced = ""
        self._n_unpriced_failures = 0

    def turn(self, at_most: float | None = None) -> Turn:
        """Whether one more question may be put, which costs ``at_most`` so much; None: nobody knows."""
        if self._has_no_requests_left:
            return Turn.STOP
        if self._max_cost is None:
            return Turn.ASK
        if self._unpriced:
            return Turn.STOP
        later = Turn.WAIT if self._n_under_way else Turn.STOP
        most = self._most(at_most)
        if at_most is None and self._n_under_way >= (1 if most is None else self._most_at_once):
            return Turn.WAIT
        if most is None:
            return Turn.ASK
        return Turn.ASK if self._spent + self._reserved + most <= self._max_cost else later

    def begin(self, at_most: float | None = None) -> None:
        """A question goes out, with its first request."""
        self._n_requests += 1
        self._n_under_way += 1
        if at_most is None:
            self._n_unforeseen += 1
        else:
            self._foreseen += at_most

    def may_send(self, may_be_billed: bool, at_most: float | None = None) -> bool:
        """Whether a question that is under way may be sent once more; ``may_be_billed`` is about its last attempt.

        What is allowed counts as sent.
        """
        if self._has_no_requests_left:
            return False
        if may_be_billed and self._max_cost is not None:
            most = self._most(at_most) or 0.0
            if self._unpriced or self._spent + self._reserved + most > self._max_cost:
                return False
            self._charge(at_most)
        self._n_requests += 1
        return True

    def end(
        self, at_most: float | None = None, *, is_answered: bool, cost: float | None = None, may_be_billed: bool = False
    ) -> None:
        """A question has ended. ``cost`` is that of its answer, None where it is not known; ``may_be_billed`` is about
        its last attempt, where that failed."""
        self._n_under_way -= 1
        if at_most is None:
            self._n_unforeseen -= 1
        else:
            self._foreseen -= at_most
        if cost is not None:
            self._add_cost(cost, at_most)
        elif is_answered:
            self._unpriced = "the endpoint does not say how many tokens an answer took"
        elif may_be_billed:
            self._charge(at_most)

    @property
    def reason(self) -> str:
        """Why no more is asked, for a budget that says STOP."""
        if self._has_no_requests_left:
            return f"--max-requests {self._max_requests} is reached"
        if self._unpriced:
            return f"{self._unpriced}, so that --max-cost cannot be kept"
        return f"--max-cost {self._max_cost:g} would be passed by one more request"

    @property
    def _has_no_requests_left(self) -> bool:
        return self._max_requests is not None and self._n_requests >= self._max_requests

    @property
    def _reserved(self) -> float:
        """The most cost of all that is under way."""
        return self._foreseen + self._n_unforeseen * (self._dearest or 0.0)

    def _most(self, at_most: float | None) -> float | None:
        """The most cost of a question. An endpoint that has passed over what was foreseen is not believed again."""
        if at_most is None or self._is_passed_over:
            return max(at_most or 0.0, self._dearest) if self._dearest is not None else at_most
        return at_most

    def _add_cost(self, cost: float, at_most: float | None) -> None:
        self._spent += cost
        self._is_passed_over |= at_most is not None and cost > at_most
        self._dearest = max(cost, self._dearest or 0.0)
        self._most_at_once *= 2
        self._spent += self._n_unpriced_failures * self._dearest
        self._n_unpriced_failures = 0

    def _charge(self, at_most: float | None) -> None:
        """A failure may be billed; before any price is known, some of them end it as no price at all does."""
        most = self._most(at_most)
        if most is not None:
            self._spent += most
            return
        self._n_unpriced_failures += 1
        if self._n_unpriced_failures >= _MOST_UNPRICED_FAILURES:
            self._unpriced = (
                f"{self._n_unpriced_failures} requests that may be billed failed before any price was known"
            )
