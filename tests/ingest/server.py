"""A local server for tests of fetching: pages by host, answers in turn, a log of arrivals, and faults on order.

It listens on a Unix socket, which tests may use, and serves every host over it: `SiteServer.transport` gives what a
``Fetcher`` needs to reach it, https addresses included (nothing is encrypted). With ``tcp=True`` it listens on a port
of 127.0.0.1 instead, for tests of other processes (pytest needs ``enable_socket`` then). For a host 127.0.0.1 the first
part of the path names the host that is meant, as with a mirror
``https://site.example = http://127.0.0.1:PORT/site.example``.
"""

from __future__ import annotations

import gzip
import hashlib
import queue
import shutil
import socket
import socketserver
import ssl
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpcore

from db.engine import Store
from ingest.sources import Host
from ingest.web.clock import Clock, SystemClock
from ingest.web.exchange import Transport
from ingest.web.fetch import Fetcher, FetchSettings, Limits

Act = Callable[["Wire"], None]


@dataclass(frozen=True)
class Reply:
    """One answer. ``etag`` gives it an entity tag of its body and answers 304 to whoever has that already.

    ``gzipped`` sends it compressed. ``act`` writes raw bytes to the connection instead, and the connection is closed.
    """

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    etag: bool = False
    gzipped: bool = False
    act: Act | None = None


@dataclass(frozen=True)
class Arrival:
    """A request as it came. ``headers`` have lower-case names, ``at`` is the instant on the server's clock."""

    method: str
    host: str
    target: str
    headers: dict[str, str]
    body: bytes
    at: datetime


class SkippingClock:
    """A clock on which nobody waits: sleeping moves it on at once. Real time passes on it as well."""

    def __init__(self, start: datetime = datetime(2026, 3, 1, 3, 17, tzinfo=UTC)) -> None:
        self._start = start
        self._began = time.monotonic()
        self._skipped = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic() - self._began)

    def monotonic(self) -> float:
        return time.monotonic() + self._skipped

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._skipped += seconds


class Wire:
    """What an ``act`` writes to. ``closing`` is set when the server ends."""

    def __init__(self, file: Any, closing: threading.Event) -> None:
        self._file = file
        self.closing = closing
        self.n_sent = 0

    def send(self, data: bytes) -> None:
        self._file.write(data)
        self.n_sent += len(data)


class SiteServer:
    """Serves while its block runs. What nobody has laid down is 404."""

    def __init__(self, clock: Clock | None = None, *, tcp: bool = False) -> None:
        self.clock = clock or SystemClock()
        self.arrivals: list[Arrival] = []
        self.sent_by_acts: queue.Queue[int] = queue.Queue()
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._replies: dict[tuple[str, str, str, bytes | None], list[Reply]] = {}
        self._faults: dict[str, list[Reply]] = {}
        self._served: Counter[object] = Counter()
        # Short: the path of a Unix socket may have about 100 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="site"))
        self.path = self._folder / "socket"
        self._listener = _TcpListener(self) if tcp else _UnixListener(self, str(self.path))
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        """The port, with ``tcp``."""
        return int(self._listener.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._listener.shutdown()
        self._listener.drop_all()
        self._listener.server_close()
        self._thread.join()
        shutil.rmtree(self._folder)

    def page(self, url: str, *replies: Reply | bytes | str, method: str = "GET", body: bytes | None = None) -> None:
        """Lay down what an address answers: the replies in turn, the last one for ever. `body` None is any body."""
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        key = (method, parts.netloc, target, body)
        with self._lock:
            self._replies[key] = [_reply(one) for one in replies]
            self._served[key] = 0

    def fault(self, host: str, *replies: Reply) -> None:
        """Let a whole host answer with these in turn, the last one for ever; ``mend`` ends it, and so does none."""
        with self._lock:
            self._faults[host] = list(replies)
            self._served[host] = 0

    def mend(self, host: str) -> None:
        """Let a host answer with its pages again."""
        with self._lock:
            self._faults.pop(host, None)

    def asked(self, host: str | None = None, *, robots: bool = False) -> list[str]:
        """The targets that were asked for, in their order; robots.txt only on request."""
        with self._lock:
            found = [one.target for one in self.arrivals if host in (None, one.host)]
        return [target for target in found if robots or target != "/robots.txt"]

    def gaps_s(self, host: str) -> list[float]:
        """Seconds between neighbouring arrivals at a host."""
        times = [one.at for one in self.arrivals if one.host == host]
        return [(after - before).total_seconds() for before, after in pairwise(times)]

    def transport(self) -> Transport:
        """What reaches this server, whatever the host."""
        return unix_transport(str(self.path), self.clock)

    def answer(self, arrival: Arrival) -> Reply:
        """The next reply to a request."""
        with self._lock:
            self.arrivals.append(arrival)
            key: object = arrival.host
            replies = self._faults.get(arrival.host)
            if not replies:
                bodies = (arrival.body, None)
                keys = [(arrival.method, arrival.host, arrival.target, body) for body in bodies]
                found = next((one for one in keys if one in self._replies), None)
                if found is None:
                    return Reply(b"not found", 404)
                key, replies = found, self._replies[found]
            number = self._served[key]
            self._served[key] += 1
            return replies[min(number, len(replies) - 1)]


def _reply(given: Reply | bytes | str) -> Reply:
    if isinstance(given, Reply):
        return given
    return Reply(given.encode() if isinstance(given, str) else given)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read the arrivals."""

    def _serve(self) -> None:
        site = self.server.site
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", "0")))
        host, target = headers.get("host", ""), self.path
        if host.startswith("127.0.0.1"):
            host, _, rest = target[1:].partition("/")
            target = f"/{rest}"
        reply = site.answer(Arrival(self.command, host, target, headers, body, site.clock.now()))
        if reply.act is not None:
            self._act(site, reply.act)
            return
        tag = f'"{hashlib.sha256(reply.body).hexdigest()[:16]}"'
        if reply.etag and headers.get("if-none-match") == tag:
            self.send_response(304)
            self.send_header("ETag", tag)
            self.end_headers()
            return
        sent = gzip.compress(reply.body) if reply.gzipped else reply.body
        self.send_response(reply.status)
        extra = [("ETag", tag)] if reply.etag else []
        extra += [("Content-Encoding", "gzip")] if reply.gzipped else []
        for name, value in (*reply.headers, *extra, ("Content-Length", str(len(sent)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = _serve  # noqa: N815

    def _act(self, site: SiteServer, act: Act) -> None:
        self.close_connection = True
        wire = Wire(self.wfile, site.closing)
        try:
            act(wire)
        finally:
            site.sent_by_acts.put(wire.n_sent)

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # the other side had enough
            self.close_connection = True


class _Listener(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    request_queue_size = 50
    site: SiteServer

    def __init__(self, site: SiteServer, address: Any) -> None:
        self.site = site
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def drop_all(self) -> None:
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # closed already


class _UnixListener(_Listener):
    address_family = socket.AF_UNIX
    allow_reuse_address = False


class _TcpListener(_Listener):
    def __init__(self, site: SiteServer) -> None:
        super().__init__(site, ("127.0.0.1", 0))


class _UnixStream(httpcore.NetworkStream):
    """A connection that says yes to encryption and does none."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self.read = inner.read  # type: ignore[method-assign]
        self.write = inner.write  # type: ignore[method-assign]
        self.close = inner.close  # type: ignore[method-assign]

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return self

    def get_extra_info(self, info: str) -> Any:
        return None if info == "ssl_object" else self._inner.get_extra_info(info)


class _UnixBackend(httpcore.SyncBackend):
    """Makes every connection to one Unix socket."""

    def __init__(self, path: str) -> None:
        self._path = path

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        return _UnixStream(self.connect_unix_socket(self._path, timeout))


def unix_transport(path: str, clock: Clock) -> Transport:
    """What reaches a server by the path of its socket; processes of a test share it so."""
    return Transport(clock, _UnixBackend(path))


def silence(wire: Wire) -> None:
    """Never answer."""
    wire.closing.wait()


def cut(wire: Wire) -> None:
    """End in the middle of the body."""
    wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it")


def hang_up(wire: Wire) -> None:
    """Close the connection without an answer."""


def drip(wire: Wire) -> None:
    """A body that comes byte by byte and never ends."""
    wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    _trickle(wire, b"1\r\n.\r\n")


def drip_headers(wire: Wire) -> None:
    """Headers that come byte by byte and never end."""
    wire.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    _trickle(wire, b".")


def _trickle(wire: Wire, piece: bytes) -> None:
    while not wire.closing.wait(0.01):
        wire.send(piece)


def no_length(wire: Wire) -> None:
    """A length of more digits than a number may have."""
    wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n")


def empty_members(n_bytes: int) -> Act:
    """A compressed body of so many bytes that becomes none."""

    def act(wire: Wire) -> None:
        member = gzip.compress(b"")
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
        _send_all(wire, (member for _ in range(n_bytes // len(member))))

    return act


def crumbs(n_bytes: int) -> Act:
    """A body that comes in chunks of one byte each."""

    def act(wire: Wire) -> None:
        wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        wire.send(b"1\r\n.\r\n" * n_bytes + b"0\r\n\r\n")

    return act


def huge(n_bytes: int, *, announced: bool) -> Act:
    """A body of so many bytes, made as it is sent."""

    def act(wire: Wire) -> None:
        length = f"Content-Length: {n_bytes}\r\n" if announced else ""
        wire.send(f"HTTP/1.1 200 OK\r\n{length}Connection: close\r\n\r\n".encode())
        _send_all(wire, (b"\0" * 2**16 for _ in range(n_bytes // 2**16)))

    return act


def gzip_bomb(n_bytes: int) -> Act:
    """A compressed body that becomes so many bytes."""

    def act(wire: Wire) -> None:
        press = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        packed = b"".join([press.compress(b"\0" * 2**20) for _ in range(n_bytes // 2**20)])
        # In one piece, so that much of it is there at the first read.
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + packed + press.flush())

    return act


def _send_all(wire: Wire, pieces: Iterator[bytes]) -> None:
    for piece in pieces:
        if wire.closing.is_set():
            return
        wire.send(piece)


def fetcher(
    store: Store,
    server: SiteServer,
    *,
    hosts: Sequence[Host] = (Host("site.example", 2.0),),
    limits: Limits | None = None,
    environ: Mapping[str, str] | None = None,
    **settings: Any,
) -> Fetcher:
    """A fetcher of the source "site" that reaches a server; `settings` are those of ``FetchSettings``."""
    given: dict[str, Any] = {"contact": "https://our.example/bot", "limits": limits or Limits()} | settings
    return Fetcher(
        store,
        "site",
        hosts,
        FetchSettings(**given),
        environ=environ or {},
        clock=server.clock,
        transport=server.transport(),
    )
