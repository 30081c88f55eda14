"""What a request that got no answer came to.

A failed request says nothing of the model: it is counted by its kind, asked again by the next run, and never scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum, auto


class FailureKind(StrEnum):
    """Why there is no answer."""

    UNREACHABLE = "unreachable"  # no connection
    TIMED_OUT = "timed_out"  # a limit of time: no whole answer, or a silence in the middle of one
    BROKEN_OFF = "broken_off"  # the connection or the stream ended before the answer did
    UNAUTHORISED = "unauthorised"  # the key is refused
    NO_CREDIT = "no_credit"  # the account has nothing left
    NOT_FOUND = "not_found"  # nothing of the kind at this address
    UNKNOWN_MODEL = "unknown_model"
    REDIRECTED = "redirected"
    BAD_REQUEST = "bad_request"  # the endpoint refuses what the request says
    TOO_LONG = "too_long"  # the question does not fit into the model's context
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    NOT_JSON = "not_json"
    NO_CHOICES = "no_choices"
    ODD_FORM = "odd_form"
    ERROR_BODY = "error_body"  # an error in the place of an answer
    TOO_LARGE = "too_large"
    EMPTY_CONTENT = "empty_content"
    ERROR_TEXT = "error_text"


@dataclass(frozen=True)
class Failure:
    """The end of all attempts at one question. ``message`` is one line that names the endpoint, ``hint`` what to do.

    ``is_fatal``: every other question would end alike, so the run stops. ``attempts`` counts the requests that were
    sent, ``at`` is the instant at which it was given up. ``may_be_billed`` is about the last attempt.
    """

    kind: FailureKind
    message: str
    hint: str
    is_fatal: bool
    attempts: int
    at: datetime
    may_be_billed: bool = False


class Reach(Enum):
    """Whom a trouble concerns."""

    QUESTION = auto()
    UNPROVEN = auto()  # the run, as long as the endpoint has answered nothing yet: the address is likely wrong
    RUN = auto()


@dataclass(frozen=True)
class Trouble:
    """What was wrong with one attempt.

    ``is_passing``: it may be gone the next time. ``wait_s`` is what the server asks to wait, None where it says
    nothing. ``may_be_billed``: the endpoint had worked on an answer, so that it likely charges for it.
    """

    kind: FailureKind
    message: str
    hint: str
    reach: Reach = Reach.QUESTION
    is_passing: bool = False
    wait_s: float | None = None
    may_be_billed: bool = False


class Troubled(Exception):
    """Carries a trouble up from where it was met."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble
