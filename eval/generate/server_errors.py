"""What an endpoint's error means, read from its status, headers and body. Pure.

The forms read are those of OpenAI, Azure, OpenRouter, vLLM, LiteLLM, Gemini (a list), Ollama (a text) and FastAPI
(``detail``). OpenRouter sends the errors of others with status 200, so an error document counts by its own code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from eval.generate.failures import FailureKind, Reach, Trouble
from eval.generate.redaction import Secrets
from eval.generate.replies import Reply

AGAIN = "run the same command again later: it asks for what is missing"
PASSING = frozenset({408, 409, 425, 429})
"""Statuses below 500 of a trouble that may be gone the next time."""
_ADDRESS = "check --base-url: most end in /v1, and /chat/completions is added to it"
_NO_CREDIT = re.compile(
    # Not "exceeded your current quota": Gemini says so of a limit that is over in a minute.
    r"insufficient[_ ](?:quota|credits?|balance|funds)|credit balance is too low"
    r"|billing[_ ]hard[_ ]limit|out of credits?",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content_filter|content management policy|ContentPolicyViolation|content_policy_violation|ResponsibleAIPolicy"
    r"|requires moderation",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context_length|context (?:length|size|window)|maximum context|(?:prompt|input) is too long|too many tokens"
    r"|exceeds? (?:the )?(?:maximum|max)[^.]{0,40}(?:input|prompt) |max_tokens must be at least 1, got -",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"model[_ ]not[_ ](?:found|exist)|not a valid model|invalid model(?: name)?|unknown model|no endpoints found"
    r"|(?:model|deployment)\b.{0,120}(?:not found|does ?n[o']t exist|not exist|could not be found)",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(
    r"api[ _]key.{0,40}(?:not valid|invalid|expired)|(?:invalid|incorrect) api[ _]key"
    r"|no_db_connection",  # LiteLLM's proxy without a database, to any key but its own
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|invalid|extra (?:inputs|fields)|not permitted"
    r"|not allowed|must be|only|too (?:large|many)|deprecated",
    re.IGNORECASE,
)
_HINTS = {
    "max_tokens": "send the limit of length as max_completion_tokens, or lower it to what the model can do",
    "max_completion_tokens": "send the limit of length as max_tokens, or lower it to what the model can do",
    "temperature": "leave the temperature out, or give the one that this model takes",
    "top_p": "leave top-p out: this model does not take it",
    "reasoning_effort": "leave the effort out, or name one that this model knows",
    "stop": "leave the stop words out: this model does not take them",
    "seed": "leave the seed out: this endpoint does not take it",
    "stream_options": "ask without streaming",
    "stream": "ask the other way: with streaming, or without",
}
_FIELDS = re.compile(rf"\b({'|'.join(_HINTS)})\b")


@dataclass(frozen=True)
class Asked:
    """Who was asked, for what and with which variable's key: what messages tell of a request."""

    place: str
    model: str
    variable: str
    has_key: bool


@dataclass(frozen=True)
class ServerError:
    """An error as the endpoint words it; texts are empty where it says nothing. ``status`` is the code it gives."""

    message: str
    code: str = ""
    param: str = ""
    status: int | None = None

    @property
    def all_of_it(self) -> str:
        """What expressions look into."""
        return f"{self.message} {self.code}"

    @property
    def is_filtered(self) -> bool:
        """Whether the endpoint's filter refused the question, or what the model said to it."""
        return _FILTERED.search(self.all_of_it) is not None

    @property
    def wants_stream(self) -> bool:
        """Whether it speaks of streaming."""
        text = f"{self.all_of_it} {self.param}"
        return re.search(r"\bstream(?:s|ed|ing)?\b", text, re.IGNORECASE) is not None

    def names(self, field: str) -> bool:
        """Whether it is about a field of the request."""
        return field in (self.param, *_FIELDS.findall(self.message))


def error_in(document: object) -> ServerError | None:
    """The error that a document tells of; None when it is none."""
    if isinstance(document, list) and document:
        return error_in(document[0])
    if not isinstance(document, dict):
        return None
    error = document.get("error")
    if error:
        return _error(error)
    if document.get("object") == "error" or document.get("type") == "error":
        return _error(document)
    if "choices" not in document:
        for name in ("detail", "errors", "message", "error_msg"):
            if document.get(name) and (name != "message" or isinstance(document[name], str)):
                return _error(document | {"message": _words(document[name])})
    return None


def _error(error: object) -> ServerError:
    if not isinstance(error, dict):
        return ServerError(_words(error))
    code = error.get("code")
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None  # what a router heard from its provider
    words = _words(error.get("message") or error.get("detail") or error.get("type") or error)
    flagged = isinstance(metadata, dict) and bool(metadata.get("reasons") or metadata.get("flagged_input"))
    inner = error.get("innererror")
    codes = (code, error.get("type"), error.get("status"), inner.get("code") if isinstance(inner, dict) else None)
    return ServerError(
        message=f"{words}: {_words(raw)}" if raw else words,
        code=" ".join([str(one) for one in codes if one] + (["content_filter"] if flagged else [])),
        param=str(error.get("param") or ""),
        status=_status(code),
    )


def _status(code: object) -> int | None:
    text = str(code)
    return int(text) if text.isascii() and text.isdigit() and len(text) == 3 and text >= "400" else None


def _words(value: object) -> str:
    """A message in whatever form: a text, or what FastAPI says of each field."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, dict) and "msg" in one for one in value):
        return "; ".join(f"{'.'.join(map(str, one.get('loc', ())))}: {one['msg']}" for one in value)
    return json.dumps(value, ensure_ascii=False, default=str)[:2000]


def is_web_page(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether an answer is HTML."""
    start = body[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "html" in headers.get("content-type", "").lower() or start.startswith((b"<!doctype", b"<html"))


def asked_to_wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds for which the endpoint wants to be left alone: ``retry-after-ms``, or ``retry-after`` in seconds or as
    an HTTP date, which is taken by the endpoint's own clock where it tells that. None: it says nothing readable."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", headers.get(name, "").strip()):
            return float(headers[name]) / scale
    until = _instant(headers.get("retry-after", ""))
    if until is None:
        return None
    return max(0.0, (until - (_instant(headers.get("date", "")) or now)).total_seconds())


def _instant(written: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(written)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def trouble_of(status: int, error: ServerError | None, asked: Asked, secrets: Secrets, **more: Any) -> Trouble:
    """What an error status, or an error document in place of an answer, means.

    `more`: ``is_page`` (the body is HTML) and ``wait_s`` (what the server asks to wait).
    """
    return _Reading(status, error, asked, secrets, **more).trouble()


@dataclass(frozen=True)
class _Reading:
    status: int
    error: ServerError | None
    asked: Asked
    secrets: Secrets
    is_page: bool = False
    wait_s: float | None = None

    def trouble(self) -> Trouble:
        """The first meaning that fits."""
        text = self.error.all_of_it if self.error else ""
        has_nothing_left = self.status == HTTPStatus.PAYMENT_REQUIRED and self.wait_s is None
        if has_nothing_left or _NO_CREDIT.search(text):
            return self._run(FailureKind.NO_CREDIT, self._said("the account has nothing left"), "add credit to it")
        if self.status == HTTPStatus.UNAUTHORIZED or (self.status < 500 and _BAD_KEY.search(text)):
            return self._key_refused()
        if self.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.PAYMENT_REQUIRED):
            hint = f"ask with fewer workers at once, or wait; {AGAIN}"
            return self._passing(FailureKind.RATE_LIMITED, self._said("too many requests"), hint)
        if self.status in PASSING or (self.status >= 500 and self.status != HTTPStatus.NOT_IMPLEMENTED):
            return self._passing(FailureKind.SERVER_ERROR, self._said(), AGAIN)
        return self._lasting(text)

    def _lasting(self, text: str) -> Trouble:
        if self.status < 400:
            return self._error_in_place_of_an_answer(text)
        if self.status == HTTPStatus.FORBIDDEN:
            hint = f"the key in {self.asked.variable} may lack the right to this model, or this network is blocked"
            return self._run(FailureKind.UNAUTHORISED, self._said("refused"), hint)
        if self.is_page or self.status in (404, 405, 410, 501):
            return self._not_found(text)
        return self._bad_request(text)

    def _key_refused(self) -> Trouble:
        asked = self.asked
        if not asked.has_key:
            message = f"{asked.place} wants a key, and {asked.variable} is not set"
            return self._run(FailureKind.UNAUTHORISED, message, f"set {asked.variable} to a key for this endpoint")
        message = f"{asked.place}: the key in {asked.variable} was refused ({self.status})"
        return self._run(FailureKind.UNAUTHORISED, message, "check that the key is whole, and meant for this endpoint")

    def _error_in_place_of_an_answer(self, text: str) -> Trouble:
        is_elsewhere = re.search(r"unexpected endpoint", text, re.IGNORECASE)  # LM Studio's way to say 404
        if is_elsewhere or self._is_unknown_model(text):
            return self._not_found(text)
        return self._passing(FailureKind.ERROR_BODY, self._said("an error in place of an answer"), AGAIN)

    def _not_found(self, text: str) -> Trouble:
        if self._is_unknown_model(text):
            message = self._said(f'the model "{self.asked.model}" is not known')
            return self._run(FailureKind.UNKNOWN_MODEL, message, "give the name by which this endpoint knows it")
        shown = "a web page" if self.is_page else "" if self.error else "no error of an API"
        return self._run(FailureKind.NOT_FOUND, self._said(shown), _ADDRESS)

    def _is_unknown_model(self, text: str) -> bool:
        if self.error is None:
            return False
        is_named = self.error.param == "model" or (self.status == 404 and self.asked.model in text)
        return is_named or _UNKNOWN_MODEL.search(text) is not None

    def _bad_request(self, text: str) -> Trouble:
        if _TOO_LONG.search(text):
            hint = "this question is left out; a lower limit of length may make room for it"
            return Trouble(FailureKind.TOO_LONG, self._said(), hint)
        if self._is_unknown_model(text):
            return self._not_found(text)
        field = next((name for name in _HINTS if self.error and self.error.names(name)), None)
        if field is not None and _REFUSES.search(text):
            return self._run(FailureKind.BAD_REQUEST, self._said(), _HINTS[field])
        return Trouble(FailureKind.BAD_REQUEST, self._said(), "the words are the endpoint's own; check the options")

    def _said(self, what: str = "") -> str:
        words = self.secrets.line(self.error.message) if self.error else ""
        told = ": ".join(part for part in (what, words) if part)
        if self.is_page and not told:
            told = "a web page"
        status = f"{self.asked.place} answered {self.status}"
        return f"{status}: {told}" if told else status

    def _run(self, kind: FailureKind, message: str, hint: str) -> Trouble:
        return Trouble(kind, message, hint, reach=Reach.RUN)

    def _passing(self, kind: FailureKind, message: str, hint: str) -> Trouble:
        return Trouble(kind, message, hint, is_passing=True, wait_s=self.wait_s)


def is_refusal(error: ServerError, status: int | None = None) -> bool:
    """Whether it tells of a filter, and of no trouble of the server's own."""
    return error.is_filtered and (status or error.status or 200) < 500


def refused(error: ServerError, said: Reply | None = None) -> Reply:
    """An endpoint's filter that refuses a question is an answer, as its finish reason "content_filter" is, whether it
    comes in place of an answer or in the middle of one."""
    return replace(said or Reply(""), refusal=error.message or "content filter", finish_reason="content_filter")
