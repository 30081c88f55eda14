"""Asking an OpenAI-compatible endpoint: one question, tried again while that may help, until an answer or a failure.

What is tried again: no connection, a broken connection or stream, a limit of time, 408, 409, 425, 429 and all from 500
on. Between two attempts the endpoint is left alone for as long as it asks (Retry-After), else for a time that doubles,
with jitter. When it says 429 to one worker all of them wait, since the limit holds for the key and not for a question.
The loop is our own and not a library's: waits are shared between workers, capped in their sum, and go by a clock that
is handed in.

At most two attempts at a question may end in a failure that is likely billed: one that comes after the answer had
begun, or after half a minute of work (a proxy that gives up waiting, a limit of time). The endpoint charges for the
tokens it made, whether they arrived or not, and what broke it off is likely there the next time.

The key goes into one header; texts of the endpoint are shown and kept without it.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol, Self

from eval.generate.addresses import BadEndpoint, read_address
from eval.generate.failures import Failure, FailureKind, Reach, Trouble, Troubled
from eval.generate.hearing import Hearing
from eval.generate.redaction import Secrets, whole_characters
from eval.generate.replies import BadReply, Reply, read_reply
from eval.generate.server_errors import (
    AGAIN,
    Asked,
    ServerError,
    asked_to_wait_s,
    error_in,
    is_refusal,
    is_web_page,
    refused,
    trouble_of,
)
from eval.generate.wire import LOCATION, Received, Wire, WireLimits

if TYPE_CHECKING:
    from httpx import AsyncBaseTransport

    from eval.generate.prompts import Message

__all__ = ["Answered", "BadEndpoint", "Clock", "Endpoint", "EndpointSettings", "Failure", "FailureKind", "SystemClock"]

_BASE_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_FIRST_ATTEMPTS = 3
"""Attempts at a connection as long as none was ever made: a wrong address should not take long to be told."""
_BILLED_ATTEMPTS = 2
_WORK_S = 30.0
"""Whoever fails after so many seconds had likely begun to generate."""
_UNBILLED = frozenset({FailureKind.UNREACHABLE, FailureKind.RATE_LIMITED})
_TEXTS = ("content", "reasoning", "refusal", "finish_reason", "served_model", "fingerprint", "response_id")


class Clock(Protocol):
    """``now`` is the aware UTC instant, ``monotonic`` counts seconds and never steps, ``sleep`` waits for seconds."""

    def now(self) -> datetime:
        """The aware UTC instant that it is."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Come back after so many seconds."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The aware UTC instant that it is."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some fixed instant."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Come back after so many seconds."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True)
class EndpointSettings:
    """Where and how to ask.

    `timeout_s` limits one request, from the connection to the answer's last byte; `idle_timeout_s` a silence in the
    middle of an answer; `max_wait_s` the sum of the waits between the attempts at one question. `max_body_bytes` is the
    most that an answer may have, on the wire and unpacked (a stream: sixteen times that, for what stands around its
    tokens). `stream`: whether to ask for a stream; None: only once the endpoint says that it does nothing else.
    `concurrency` is the number of workers that the caller lets ask at once: there are as many connections as requests
    under way. `key_variable` is where the key came from, for messages; in `key_header` it is sent
    (in Authorization after "Bearer").
    """

    base_url: str = field(repr=False)  # its query may hold a secret
    key: str | None = field(default=None, repr=False)
    timeout_s: float = 600.0
    idle_timeout_s: float = 120.0
    connect_timeout_s: float = 10.0
    max_body_bytes: int = 8 * 2**20
    stream: bool | None = None
    attempts: int = 6
    concurrency: int = 8
    max_wait_s: float = 600.0
    key_variable: str = "OPENAI_API_KEY"
    key_header: str = "Authorization"


@dataclass(frozen=True)
class Answered:
    """An answer. `requested_at` and `latency_s` are of the attempt that got it; `attempts` counts all requests."""

    reply: Reply
    requested_at: datetime
    latency_s: float
    attempts: int


@dataclass(frozen=True)
class _Manner:
    """How one model wants to be asked, as far as the endpoint has said so."""

    streams: bool
    with_options: bool = True

    def changed_by(self, error: ServerError) -> _Manner | None:
        """The manner that the endpoint's words on a request in this one ask for; None where they ask for none."""
        if self.streams and self.with_options and error.names("stream_options"):
            return replace(self, with_options=False)
        if not self.streams and error.wants_stream:
            return replace(self, streams=True)
        return None


class _AskDifferently(Troubled):
    """The endpoint refused the manner of the request, which has been changed."""


class Endpoint:
    """Asks one endpoint. An async context manager; any number of workers may use it at once.

    Raises ``BadEndpoint`` for settings that cannot be used. `dice` spreads the waits; `transport` stands in for the
    network.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        *,
        clock: Clock | None = None,
        dice: random.Random | None = None,
        transport: AsyncBaseTransport | None = None,
    ) -> None:
        address = read_address(settings.base_url)
        key = (settings.key or "").strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise BadEndpoint(f"{settings.key_variable} holds characters that no header can hold", "copy the key anew")
        headers = {"User-Agent": f"livecut/{version('livecut')}", "Accept": "application/json, text/event-stream"}
        if not re.fullmatch(r"[A-Za-z0-9-]+", settings.key_header):
            raise BadEndpoint(f"{settings.key_header!r} is no name of a header", "write it as api-key")
        is_bearer = settings.key_header.lower() == "authorization"
        sent = (settings.key_header, f"Bearer {key}" if is_bearer else key) if key else None
        limits = WireLimits(
            connect_s=settings.connect_timeout_s,
            idle_s=settings.idle_timeout_s,
            total_s=settings.timeout_s,
            max_bytes=settings.max_body_bytes,
        )
        self.place = address.place
        """Host and path of the base URL, without its query."""
        self._settings = replace(settings, base_url=address.place, key=None)
        self._has_key = bool(key)
        self._secrets = Secrets((key, *address.in_query))
        self._wire = Wire(address, headers, limits, transport, key=sent)
        self._clock = clock or SystemClock()
        self._dice = dice or random.Random()
        self._manners: dict[str, _Manner] = {}
        self._not_before = self._clock.monotonic()
        self._has_connected = self._has_answered = False

    def __repr__(self) -> str:
        return f"Endpoint({self.place})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._wire.aclose()

    async def ask(
        self,
        model: str,
        messages: Sequence[Message],
        body: Mapping[str, Any],
        *,
        may_send: Callable[[bool], bool] | None = None,
    ) -> Answered | Failure:
        """The answer of a model to messages; `body` is what else the request carries (see `Sampling.body`).

        `may_send` is asked before each attempt but the first, just before it is sent, and told whether the one before
        may be billed; where it says no, the failure so far is what comes back. Whatever the endpoint does comes back as
        a value: nothing is raised but what ends the program.
        """
        attempts, n_billed, waited_s = 0, 0, 0.0
        while True:
            await self._wait_turn()
            attempts += 1
            requested_at, began = self._clock.now(), self._clock.monotonic()
            try:
                reply = await self._try(model, messages, body)
                return Answered(reply, requested_at, self._clock.monotonic() - began, attempts)
            except _AskDifferently as error:
                if may_send is None or may_send(False):
                    continue
                return self._failure(error.trouble, attempts, waited_s)
            except Troubled as error:
                trouble = _billed_if_late(error.trouble, self._clock.monotonic() - began)
            self._has_connected |= trouble.kind is not FailureKind.UNREACHABLE
            n_billed += trouble.may_be_billed
            wait_s = self._wait_s(trouble, attempts) if n_billed < _BILLED_ATTEMPTS else None
            if wait_s is None or waited_s + wait_s > self._settings.max_wait_s:
                return self._failure(trouble, attempts, waited_s + (wait_s or 0.0))
            waited_s += wait_s
            if trouble.kind is FailureKind.RATE_LIMITED:
                self._not_before = max(self._not_before, self._clock.monotonic() + wait_s)
            await self._clock.sleep(wait_s)
            if may_send is not None and not may_send(trouble.may_be_billed):
                return self._failure(trouble, attempts, waited_s)

    async def _wait_turn(self) -> None:
        """Wait while the endpoint wants to be left alone; the workers then begin one after the other."""
        while (left_s := self._not_before - self._clock.monotonic()) > 0:
            await self._clock.sleep(left_s + self._dice.uniform(0, min(1.0, left_s)))

    def _wait_s(self, trouble: Trouble, attempts: int) -> float | None:
        """Seconds until the next attempt; None when there is none."""
        most = self._settings.attempts
        if trouble.kind is FailureKind.UNREACHABLE and not self._has_connected:
            most = min(most, _FIRST_ATTEMPTS)
        if not trouble.is_passing or attempts >= most:
            return None
        own_s = min(_LONGEST_WAIT_S, _BASE_WAIT_S * 2.0 ** min(attempts - 1, 60)) * self._dice.uniform(0.5, 1.0)
        return max(own_s, (trouble.wait_s or 0.0) + own_s / 10)

    def _failure(self, trouble: Trouble, attempts: int, would_wait_s: float) -> Failure:
        ending, is_fatal = "", trouble.reach is Reach.RUN
        is_fatal |= trouble.reach is Reach.UNPROVEN and not self._has_answered
        if trouble.wait_s is not None and would_wait_s > self._settings.max_wait_s:
            ending = f" (it asks to wait {trouble.wait_s:.0f} s)"
            is_fatal = True
        elif attempts > 1:
            ending = f" (after {attempts} attempts)"
        return Failure(
            kind=trouble.kind,
            message=self._secrets.line(trouble.message, ending),
            hint=self._secrets.line(trouble.hint),
            is_fatal=is_fatal,
            attempts=attempts,
            at=self._clock.now(),
            may_be_billed=trouble.may_be_billed,
        )

    async def _try(self, model: str, messages: Sequence[Message], body: Mapping[str, Any]) -> Reply:
        """One request. Raises ``Troubled`` or ``_AskDifferently``."""
        manner = self._manners.setdefault(model, _Manner(streams=bool(self._settings.stream)))
        asked = Asked(self.place, model, self._settings.key_variable, self._has_key)
        document = {
            "model": model,
            "messages": [{"role": one.role, "content": one.content} for one in messages],
            **body,
            "stream": manner.streams,
        }
        if manner.streams and manner.with_options:
            document["stream_options"] = {"include_usage": True}
        hearing = Hearing()
        try:
            received = await self._wire.post(json.dumps(document).encode(), hearing.take)
            reply = hearing.reply() if received.body is None else self._read(received, asked, manner)
        except BadReply as error:
            if hearing.error is None or not is_refusal(hearing.error):
                raise Troubled(self._trouble_of_reply(error, hearing, asked)) from None
            reply = refused(hearing.error, hearing.so_far())
        self._has_connected = self._has_answered = True
        return self._cleaned(reply)

    def _read(self, received: Received, asked: Asked, manner: _Manner) -> Reply:
        """The answer in a body that came whole. Raises ``Troubled``, ``BadReply`` or ``_AskDifferently``."""
        assert received.body is not None
        is_page = is_web_page(received.headers, received.body)
        if 300 <= received.status < 400:
            raise Troubled(self._redirected(received))
        try:
            document = None if is_page else json.loads(received.body)
        except (ValueError, RecursionError):
            document = None
        error = error_in(document)
        if received.status >= 400 or error is not None:
            status = received.status if received.status >= 400 else (error and error.status) or received.status
            if error is not None and is_refusal(error, status):
                return refused(error)
            wait_s = asked_to_wait_s(received.headers, self._clock.now())
            trouble = trouble_of(status, error, asked, self._secrets, is_page=is_page, wait_s=wait_s)
            changed = manner.changed_by(error) if error is not None and status in (400, 422) else None
            if changed is not None and self._settings.stream is not False:
                self._manners[asked.model] = changed
                raise _AskDifferently(trouble)
            raise Troubled(trouble)
        if document is None:
            raise Troubled(self._not_json(received.body, is_page=is_page))
        return read_reply(document)

    def _trouble_of_reply(self, bad: BadReply, hearing: Hearing, asked: Asked) -> Trouble:
        if hearing.error is not None:
            trouble = trouble_of(hearing.error.status or 200, hearing.error, asked, self._secrets)
            return replace(trouble, may_be_billed=hearing.has_begun)
        kind = FailureKind(bad.kind)
        is_passing = kind in (FailureKind.BROKEN_OFF, FailureKind.ERROR_BODY)
        reach = Reach.UNPROVEN if kind is FailureKind.ODD_FORM else Reach.QUESTION
        message = self._secrets.line(f"{self.place}: {bad.message}")
        may_be_billed = hearing.has_begun or kind is FailureKind.BROKEN_OFF
        return Trouble(kind, message, bad.hint or AGAIN, reach, is_passing, may_be_billed=may_be_billed)

    def _redirected(self, received: Received) -> Trouble:
        try:
            target = read_address(received.headers.get(LOCATION, "")).place.partition("/")[0]
        except BadEndpoint:
            target = "another address"
        message = f"{self.place} answered {received.status}: it sends to {target}, and redirects are not followed"
        hint = "give the address where the endpoint is now as --base-url"
        return Trouble(FailureKind.REDIRECTED, message, hint, reach=Reach.RUN)

    def _not_json(self, body: bytes, *, is_page: bool) -> Trouble:
        hint = "check --base-url: most end in /v1, and /chat/completions is added to it"
        if is_page:
            message = f"{self.place} answered with a web page, not with an answer of an API"
        elif not body.strip():
            message = f"{self.place} answered with nothing at all"
        else:
            start = self._secrets.line(body[:2000].decode("utf-8", "replace"))[:60]
            message = f'{self.place}: the answer is no JSON; it begins with "{start}"'
        return Trouble(FailureKind.NOT_JSON, message, hint, reach=Reach.UNPROVEN)

    def _cleaned(self, reply: Reply) -> Reply:
        """A reply with whole characters and without the key."""
        texts = {name: getattr(reply, name) for name in _TEXTS}
        size = sum(len(text) for text in texts.values() if text)
        if size > self._settings.max_body_bytes:
            limit = f"{self._settings.max_body_bytes / 2**20:.3g} MiB"
            message = f"{self.place}: the answer is larger than {limit}"
            raise Troubled(Trouble(FailureKind.TOO_LARGE, message, "set a limit of length", may_be_billed=True))
        clean = {name: self._secrets.without(whole_characters(text)) for name, text in texts.items() if text}
        changed: dict[str, Any] = {name: text for name, text in clean.items() if text != texts[name]}
        return replace(reply, **changed) if changed else reply


def _billed_if_late(trouble: Trouble, took_s: float) -> Trouble:
    is_late = took_s >= _WORK_S and trouble.kind not in _UNBILLED
    return replace(trouble, may_be_billed=True) if is_late else trouble
