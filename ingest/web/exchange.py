"""One exchange with a server: httpx, with a deadline and a size cap that hold whatever the server does.

A read timeout alone starts anew with each byte, so a slow drip would never end: below httpx, every connect, read and
write is given only what is left of the exchange's time, that of the headers included. Bodies are decompressed here, in
small steps: a decompressor that is handed a chunk whole may make gigabytes of it.
"""

from __future__ import annotations

import logging
import ssl
import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore
import httpx

from ingest.errors import FetchError, SourceError, TimedOut, TooLarge, Unreachable
from ingest.web.clock import Clock

CONNECTIONS = 20
"""More than the hosts that one source has: a fetcher asks each for one thing at a time, so none waits for another's."""
_LOOK_UP_S = 0.5
_KEPT_ALIVE_S = 30.0
_STEP_BYTES = 256 * 1024
_GZIP = ("gzip", "x-gzip")
_GZIP_START = b"\x1f\x8b"


@dataclass(frozen=True)
class Answer:
    """What a server sent. ``headers`` have lower-case names.

    ``n_received`` counts the bytes of the body as they came over the wire, ``body`` is decompressed.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    n_received: int


@dataclass(frozen=True)
class Timeouts:
    """Seconds for making a connection, and for each read."""

    connect_s: float
    read_s: float


class Deadline(threading.local):
    """The instant of the monotonic clock at which the exchange of this thread has to be over."""

    at: float | None = None


class DeadlineBackend(httpcore.NetworkBackend):
    """Connections that keep to a deadline, made by another backend."""

    def __init__(self, inner: httpcore.NetworkBackend, deadline: Deadline, clock: Clock) -> None:
        self._inner = inner
        self._deadline = deadline
        self.clock = clock
        self._looked_up_at = clock.monotonic()

    def look_up(self) -> None:
        """Give a run that was told to stop the chance to end while it waits: ``clock.sleep`` raises then."""
        now = self.clock.monotonic()
        if now - self._looked_up_at >= _LOOK_UP_S:
            self._looked_up_at = now
            self.clock.sleep(0)

    def left_s(self, timeout_s: float | None) -> float | None:
        """What is left of `timeout_s`: not above zero when the deadline has passed."""
        if self._deadline.at is None:
            return timeout_s
        left = self._deadline.at - self.clock.monotonic()
        return left if timeout_s is None else min(left, timeout_s)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to a port of a host."""
        left = self._left_or(httpcore.ConnectTimeout, timeout)
        return _DeadlineStream(self._inner.connect_tcp(host, port, left, local_address, socket_options), self)

    def _left_or(self, error: type[Exception], timeout_s: float | None) -> float | None:
        left = self.left_s(timeout_s)
        if left is not None and left <= 0:
            raise error("no time is left")
        return left


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, backend: DeadlineBackend) -> None:
        self._inner = inner
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        began = self._backend.clock.monotonic()
        while True:
            self._backend.look_up()
            waited = self._backend.clock.monotonic() - began
            left = self._backend._left_or(httpcore.ReadTimeout, None if timeout is None else timeout - waited)
            step_s = _LOOK_UP_S if left is None else min(left, _LOOK_UP_S)
            try:
                return self._inner.read(max_bytes, step_s)
            except httpcore.ReadTimeout:
                if left is not None and left <= step_s:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._backend._left_or(httpcore.WriteTimeout, timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._backend._left_or(httpcore.ConnectTimeout, timeout)
        return _DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, left), self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class Transport(httpx.BaseTransport):
    """httpx's own transport has no place for a network backend: this is the same over one that keeps to a deadline.

    `backend` makes the connections, plain TCP by default.
    """

    def __init__(self, clock: Clock, backend: httpcore.NetworkBackend | None = None) -> None:
        # At DEBUG it writes out the headers of answers, session cookies among them.
        logging.getLogger("httpcore").setLevel(logging.INFO)
        self.deadline = Deadline()
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=CONNECTIONS,
            keepalive_expiry=_KEPT_ALIVE_S,
            network_backend=DeadlineBackend(backend or httpcore.SyncBackend(), self.deadline, clock),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the answer's body comes as it is read."""
        assert isinstance(request.stream, httpx.SyncByteStream)
        url = request.url
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_httpx():
            answer = self._pool.handle_request(sent)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Stream(answer), extensions=answer.extensions
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Stream(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


@contextmanager
def _as_httpx() -> Iterator[None]:
    """The errors of the layer below under the same names of httpx, as its own transport gives them."""
    try:
        yield
    except Exception as error:
        kind = getattr(httpx, type(error).__name__, None)
        if type(error).__module__.partition(".")[0] == "httpcore" and kind is not None:
            raise kind(str(error)) from error
        raise


class Client:
    """Sends requests one by one. Keeps no cookies and follows no redirects: each request stands for itself."""

    def __init__(
        self, timeouts: Timeouts, max_bytes: int, clock: Clock, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._transport = transport or Transport(clock)
        self._http = httpx.Client(
            transport=self._transport,
            timeout=httpx.Timeout(timeouts.read_s, connect=timeouts.connect_s, pool=None),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            trust_env=False,
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def send(self, method: str, url: str, headers: dict[str, str], body: bytes, deadline: float) -> Answer:
        """The answer to one request, complete by the instant `deadline` of the monotonic clock.

        ``TimedOut`` when it is not, ``Unreachable`` when there was no answer or only a part of one, ``TooLarge`` when
        it is larger than the cap: what is too large is not read to its end.
        """
        if isinstance(self._transport, Transport):
            self._transport.deadline.at = deadline
        try:
            with self._http.stream(method, url, headers=headers, content=body or None) as response:
                return self._read(url, response, deadline)
        except httpx.PoolTimeout as error:
            raise SourceError("a request had to wait for another one's connection", "report this fault") from error
        except (httpx.ReadTimeout, httpx.WriteTimeout):
            raise TimedOut(f"{url} did not answer in time", "run it again later") from None
        except httpx.LocalProtocolError:
            # Its words quote the header that cannot be sent, which may be a credential.
            raise FetchError(f"{url} cannot be asked with these headers", "check the source's headers") from None
        except (httpx.TransportError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise Unreachable(f"{url} cannot be reached: {reason}", "check the network, or run it later") from None

    def _read(self, url: str, response: httpx.Response, deadline: float) -> Answer:
        headers = {name.lower(): value for name, value in response.headers.items()}
        announced = headers.get("content-length", "")
        # As a float: an int of thousands of digits is refused with an error.
        if announced.isascii() and announced.isdigit() and float(announced) > self._max_bytes:
            raise _too_large(url, self._max_bytes)
        body = _Body(url, headers.get("content-encoding", ""), self._max_bytes)
        for chunk in response.iter_raw():
            if self._clock.monotonic() > deadline:
                raise TimedOut(f"{url} did not end its answer in time", "run it again later")
            if response.num_bytes_downloaded > self._max_bytes:  # compressed bytes may become none at all
                raise _too_large(url, self._max_bytes)
            body.add(chunk)
        return Answer(response.status_code, headers, body.whole(), response.num_bytes_downloaded)


def _too_large(url: str, max_bytes: int) -> TooLarge:
    return TooLarge(f"{url} is larger than {max_bytes / 2**20:.0f} MiB", "check that it is the right address")


class _Body:
    """A body that is put together, and decompressed, up to a size."""

    def __init__(self, url: str, encoding: str, max_bytes: int) -> None:
        self._url = url
        self._max_bytes = max_bytes
        # In one piece: a body that comes byte by byte would be a list of millions.
        self._bytes = bytearray()
        self._unzip = self._new_unzip() if encoding.strip().lower() in _GZIP else None
        if self._unzip is None and encoding.strip().lower() not in ("", "identity"):
            raise FetchError(f"{url} comes as {encoding!r}, which was not asked for", "the server is at fault")

    @staticmethod
    def _new_unzip() -> Any:
        return zlib.decompressobj(zlib.MAX_WBITS | 16)

    def add(self, chunk: bytes) -> None:
        if self._unzip is None:
            self._take(chunk)
            return
        while chunk:
            if self._unzip.eof:
                if not _GZIP_START.startswith(chunk[:2]):  # padding behind the end
                    return
                self._unzip = self._new_unzip()
            try:
                self._take(self._unzip.decompress(chunk, _STEP_BYTES))
            except zlib.error as error:
                raise Unreachable(f"{self._url} sent damaged bytes ({error})", "run it again later") from None
            chunk = self._unzip.unused_data if self._unzip.eof else self._unzip.unconsumed_tail

    def whole(self) -> bytes:
        if self._unzip is not None and self._bytes:
            self._take(self._unzip.flush())
            if not self._unzip.eof:
                raise Unreachable(f"{self._url} ended in the middle of its answer", "run it again later")
        return bytes(self._bytes)

    def _take(self, part: bytes) -> None:
        if len(self._bytes) + len(part) > self._max_bytes:
            raise _too_large(self._url, self._max_bytes)
        self._bytes += part
