"""One exchange with an endpoint: httpx, with limits of time and size that hold whatever the server does.

A read timeout alone starts anew with each byte, so a slow drip would never end, and neither would comments in a
stream: the total limit stands around the whole exchange. The limit of silence holds from the headers on, since a model
may think for minutes before a server sends the first byte. Bodies are asked for uncompressed; one that comes compressed
all the same is unpacked here in small steps, since a decompressor that is handed a chunk whole may make gigabytes of
it. No redirect is followed and no cookie kept; proxies and certificates are taken from the environment as httpx does.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from enum import Enum, auto
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NoReturn, cast

import httpx
from httpx_sse import EventSource

from eval.generate.addresses import Address, BadEndpoint
from eval.generate.failures import FailureKind, Reach, Trouble, Troubled
from eval.generate.server_errors import AGAIN

STREAM_FACTOR = 16
"""A stream may be so many times larger than a body: around each token of four characters stand about 250 bytes."""
_CLOSING_S = {"last": 5.0, "done": 1.0}
"""How long a stream may stay open after the finish reason (the usage may still come), and after its [DONE]."""
_STEP_BYTES = 256 * 1024
LOCATION = "x-redirects-to"
"""The header that holds where a redirect leads."""
_GZIP = ("gzip", "x-gzip")


@dataclass(frozen=True)
class WireLimits:
    """Seconds for the connection, for a silence in the middle of an answer and for the whole exchange; bytes for the
    body, on the wire and unpacked."""

    connect_s: float
    idle_s: float
    total_s: float
    max_bytes: int


class Taken(Enum):
    """What was heard of a stream so far."""

    PART = auto()
    LAST = auto()  # the answer is whole with it, as far as the server says; its usage may still come
    AFTER = auto()  # stands behind the answer, and says nothing more of it
    DONE = auto()


@dataclass(frozen=True)
class Received:
    """What a server sent. ``headers`` have lower-case names; ``body`` is None when it came as a stream of events."""

    status: int
    headers: dict[str, str]
    body: bytes | None


class _Key(httpx.Auth):
    """Puts the key into its header: not into the default headers, which would show one that is not Authorization."""

    def __init__(self, header: str, value: str) -> None:
        self._header, self._value = header, value

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers[self._header] = self._value
        yield request


class Wire:
    """Sends requests to one address, any number at once. `key` is a header's name and what it holds."""

    def __init__(
        self,
        address: Address,
        headers: Mapping[str, str],
        limits: WireLimits,
        transport: httpx.AsyncBaseTransport | None = None,
        key: tuple[str, str] | None = None,
    ) -> None:
        # They write out whole addresses with their queries, and the headers of answers.
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._address = address
        ours = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        self._headers = dict(headers) | ours
        self._auth = None if key is None else _Key(*key)
        self._limits = limits
        self._transport = transport
        # One client for each request under way, since the pool of one looks through all its connections at each: that
        # makes 64 workers slower than 8. Idle ones wait here.
        self._idle: list[httpx.AsyncClient] = []
        try:
            self._certificates = httpx.create_ssl_context() if transport is None else True
            self._idle.append(self._client())
        except (ValueError, ImportError, OSError, httpx.InvalidURL):
            message = "the proxy or the certificates that the environment names cannot be used"
            raise BadEndpoint(message, "look at HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and SSL_CERT_FILE") from None

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=self._transport,
            verify=self._certificates,
            headers=self._headers,
            auth=self._auth,
            timeout=httpx.Timeout(None, connect=self._limits.connect_s),
            event_hooks={"response": [_hide_location]},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def aclose(self) -> None:
        """Close all connections."""
        while self._idle:
            await self._idle.pop().aclose()

    async def post(self, content: bytes, take: Callable[[str], Taken]) -> Received:
        """Send one request. The data of each event of a stream goes to `take`, whatever else comes is the body.

        Raises ``Troubled``; what `take` raises goes through.
        """
        whole, has_begun = asyncio.timeout(self._limits.total_s), False
        client = self._idle.pop() if self._idle else self._client()
        try:
            async with whole, client.stream("POST", self._address.url, content=content) as response:
                has_begun = response.is_success
                return await self._read(response, take)
        except TimeoutError:
            if not whole.expired():
                raise
            said = f"no whole answer within {self._limits.total_s:g} s"
            self._fail(FailureKind.TIMED_OUT, said, "raise the limit of time", may_be_billed=True)
        except httpx.ConnectTimeout:
            self._unreachable(f"no connection within {self._limits.connect_s:g} s")
        except httpx.ConnectError as error:
            self._unreachable(*_why(error))
        except httpx.ProxyError as error:
            self._unreachable(f"the proxy refused: {error}")
        except (httpx.LocalProtocolError, httpx.InvalidURL, httpx.UnsupportedProtocol):
            # Their words quote what cannot be sent, which may be the key.
            message = f"{self._address.place} cannot be asked with these headers, or at this address"
            hint = "check the key's characters and --base-url"
            raise Troubled(Trouble(FailureKind.BAD_REQUEST, message, hint, reach=Reach.RUN)) from None
        except httpx.TransportError as error:
            said = f"the connection broke off ({type(error).__name__})"
            self._fail(FailureKind.BROKEN_OFF, said, AGAIN, may_be_billed=has_begun)
        finally:
            self._idle.append(client)

    async def _read(self, response: httpx.Response, take: Callable[[str], Taken]) -> Received:
        headers = {name.lower(): value for name, value in response.headers.items()}
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.is_success and kind == "text/event-stream":
            await self._read_events(_Body(self, response, self._limits.max_bytes * STREAM_FACTOR), take)
            return Received(response.status_code, headers, None)
        announced = headers.get("content-length", "")
        # As a float: an int of thousands of digits is refused with an error.
        if announced.isascii() and announced.isdigit() and float(announced) > self._limits.max_bytes:
            self.too_large(self._limits.max_bytes)
        body = bytearray()
        async with aclosing(_Body(self, response, self._limits.max_bytes).pieces()) as pieces:
            async for piece in pieces:
                body += piece
        return Received(response.status_code, headers, bytes(body))

    async def _read_events(self, body: _Body, take: Callable[[str], Taken]) -> None:
        async with aclosing(body.pieces(ending=b"\n\n")) as pieces:
            # The body once more as a response, since that is what the reader of events takes.
            plain = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=pieces)
            async with aclosing(EventSource(plain).aiter_sse()) as events:
                async for event in events:
                    if event.data:
                        body.heard(take(event.data))

    def _unreachable(self, reason: str, is_tls: bool = False) -> NoReturn:
        kind = FailureKind.UNREACHABLE
        if is_tls:
            hint = "check http or https in --base-url; SSL_CERT_FILE names certificates of your own"
            trouble = Trouble(kind, f"{self._address.place}: no secure connection: {reason}", hint, Reach.UNPROVEN)
        else:
            hint = "check --base-url, and that the server runs"
            message = f"{self._address.place} cannot be reached: {reason}"
            trouble = Trouble(kind, message, hint, Reach.UNPROVEN, is_passing=True)
        raise Troubled(trouble) from None

    def _fail(self, kind: FailureKind, said: str, hint: str, *, may_be_billed: bool) -> NoReturn:
        message = f"{self._address.place}: {said}"
        raise Troubled(Trouble(kind, message, hint, is_passing=True, may_be_billed=may_be_billed)) from None

    def silent(self) -> NoReturn:
        """The server fell silent in the middle of its answer."""
        said = f"silent for {self._limits.idle_s:g} s in the middle of an answer"
        self._fail(FailureKind.TIMED_OUT, said, AGAIN, may_be_billed=True)

    def damaged(self, how: str) -> NoReturn:
        """The bytes cannot be read."""
        self._fail(FailureKind.BROKEN_OFF, how, AGAIN, may_be_billed=True)

    def unreadable(self, encoding: str) -> NoReturn:
        """The server compresses in a way that nobody asked for."""
        message = f"{self._address.place}: the answer comes as {encoding[:20]!r}, which was not asked for"
        hint = "the endpoint, or a proxy before it, is at fault"
        raise Troubled(Trouble(FailureKind.ODD_FORM, message, hint, reach=Reach.UNPROVEN)) from None

    def too_large(self, max_bytes: int) -> NoReturn:
        """More came than an answer may have; it is not read to its end."""
        message = f"{self._address.place}: the answer is larger than {max_bytes / 2**20:.3g} MiB"
        hint = "check that it is the right address, and set a limit of length"
        raise Troubled(Trouble(FailureKind.TOO_LARGE, message, hint, may_be_billed=True)) from None

    @property
    def idle_s(self) -> float:
        """Seconds of silence that are borne."""
        return self._limits.idle_s


class _Body:
    """The bytes of one answer as they come, unpacked, up to a size and with a limit of silence."""

    def __init__(self, wire: Wire, response: httpx.Response, max_bytes: int) -> None:
        self._wire = wire
        self._response = response
        self._max_bytes = max_bytes
        self._closing_at: float | None = None
        self._went_on = False
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in (*_GZIP, "", "identity"):
            wire.unreadable(encoding)
        self._unzip: Any = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding in _GZIP else None

    def heard(self, taken: Taken) -> None:
        """Told what the reader made of the last event: an answer that is whole need not be waited for much longer.

        Some servers put a finish reason on every piece. Once an answer went on after its end, only [DONE], the end of
        the stream or a silence ends it, and a connection that breaks has cut it.
        """
        now = asyncio.get_running_loop().time()
        if taken is Taken.DONE:
            self._closing_at, self._went_on = min(self._closing_at or float("inf"), now + _CLOSING_S["done"]), False
        elif taken is Taken.LAST:
            self._went_on = self._closing_at is not None
            self._closing_at = now + (self._wire.idle_s if self._went_on else _CLOSING_S["last"])

    async def pieces(self, ending: bytes = b"") -> AsyncGenerator[bytes, None]:
        """The bytes; `ending` is added where they end."""
        n_unpacked = 0
        async with aclosing(cast(AsyncGenerator[bytes, None], self._response.aiter_raw())) as chunks:
            while (chunk := await self._next(chunks)) is not None:
                if self._response.num_bytes_downloaded > self._max_bytes:  # compressed bytes may become none at all
                    self._wire.too_large(self._max_bytes)
                for piece in self._unpacked(chunk):
                    n_unpacked += len(piece)
                    if n_unpacked > self._max_bytes:
                        self._wire.too_large(self._max_bytes)
                    yield piece
        if self._unzip is not None and not self._unzip.eof and self._closing_at is None:
            self._wire.damaged("the answer ended in the middle")
        if ending:
            yield ending

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """The next bytes as they came over the wire; None at their end, and when nothing more is waited for."""
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(min(now + self._wire.idle_s, self._closing_at or float("inf"))) as limit:
                return await anext(chunks, None)
        except TimeoutError:
            if not limit.expired():
                raise
            if self._closing_at is None:
                self._wire.silent()
        except httpx.TransportError:
            if self._closing_at is None or self._went_on:
                raise
        return None

    def _unpacked(self, chunk: bytes) -> Iterator[bytes]:
        if self._unzip is None:
            yield chunk
            return
        while chunk and not self._unzip.eof:  # what stands behind the end is padding
            try:
                yield self._unzip.decompress(chunk, _STEP_BYTES)
            except zlib.error as error:
                self._wire.damaged(f"damaged bytes ({error})")
            chunk = self._unzip.unconsumed_tail


async def _hide_location(response: httpx.Response) -> None:
    """httpx reads where a redirect leads although it does not follow it, and fails where that cannot be read."""
    if "location" in response.headers:
        response.headers[LOCATION] = response.headers.pop("location")


def _why(error: BaseException) -> tuple[str, bool]:
    """Why there is no connection, and whether it could not be made secure; the layers between put it into causes."""
    inner: BaseException | None = error
    for _ in range(10):
        if isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        if isinstance(inner, ssl.SSLError):
            return getattr(inner, "verify_message", "") or inner.strerror or type(inner).__name__, True
        if isinstance(inner, socket.gaierror):
            return "there is no host of this name", False
        if isinstance(inner, ConnectionRefusedError):
            return "nothing listens at this port", False
        if inner is None:
            break
        inner = inner.__cause__ or inner.__context__
    return str(error) or type(error).__name__, False
