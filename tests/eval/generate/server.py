"""A local OpenAI-compatible endpoint for tests: answers as the model's name says, and keeps count of what it was asked.

In a test it listens on a Unix socket (``transport()`` reaches it), with ``tcp=True`` on a port of 127.0.0.1 for tests
of whole commands and of other processes (pytest needs the mark ``enable_socket`` then)::

    with EndpointServer(programs={"Sum of Two": "print(sum(map(int, input().split())))"}) as server:
        Endpoint(EndpointSettings(server.base_url), transport=server.transport())
        server.arrivals, server.asked()

As a process of its own, from the project's root; it prints its base URL as its first line, and ends when it is killed::

    python -m tests.eval.generate.server --programs FILE.json --key KEY     # GET BASE_URL/asked: what it was asked

What it does is the model's name, or what a prompt says in ``[[behave: NAME]]``, which goes before it: one of
``behaviours.BEHAVIOURS`` with its argument ("good", "slow:0.5", "429:2", "error:context"), or several with "+" between
them: "503+429:0+good" gives each question (prompt and seed) these in turn, and then the last one for ever. Any other
name is that of a good model. Good answers hold the program whose phrase stands in the prompt, else ``PROGRAM``.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.eval.generate.behaviours import BEHAVIOURS, Arrival, Wire, refuse

if TYPE_CHECKING:
    from httpx import AsyncHTTPTransport

PROGRAM = "print(sum(map(int, input().split())))"
_MARK = re.compile(r"\[\[behave: ([^\]]+)\]\]")


class EndpointServer:
    """Serves while its block runs. With `key` it refuses requests without it."""

    def __init__(self, *, programs: Mapping[str, str] | None = None, key: str | None = None, tcp: bool = False) -> None:
        self.arrivals: list[Arrival] = []
        self._programs = dict(programs or {})
        self._key = key
        self._tcp = tcp
        self._turns: Counter[tuple[str, str]] = Counter()
        # Short: the path of a Unix socket may have about 100 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="ai"))
        self.path = str(self._folder / "socket")
        self.port = 0
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def base_url(self) -> str:
        """What to give as the base URL."""
        return f"http://127.0.0.1:{self.port}/v1" if self._tcp else "http://endpoint.example/v1"

    def transport(self) -> AsyncHTTPTransport:
        """What reaches this server over its Unix socket, whatever the host."""
        from httpx import AsyncHTTPTransport

        return AsyncHTTPTransport(uds=self.path, verify=False)

    def asked(self) -> Counter[tuple[str, str, str]]:
        """How often each question was asked: model, the first digits of the prompt's sha256, and seed ("" for none)."""
        return Counter((one.model, one.prompt_digest, one.seed) for one in list(self.arrivals))

    def forget(self) -> None:
        """Forget what was asked so far."""
        self.arrivals.clear()
        self._turns.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._closing is not None
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()
        shutil.rmtree(self._folder)

    async def _serve(self) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        if self._tcp:
            server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, backlog=1000)
            self.port = server.sockets[0].getsockname()[1]
        else:
            server = await asyncio.start_unix_server(self._connected, self.path, backlog=1000)
        self._ready.set()
        try:
            await self._closing.wait()
        finally:
            server.close()
            for task in self._connections:
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            wire = Wire(writer)
            while not wire.is_closed:
                await self._answer(reader, wire)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side had enough, or the test is over
        finally:
            self._connections.discard(task)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, wire: Wire) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        target = re.sub(r"^http://[^/]+", "", target)  # as a proxy is asked
        path = target.partition("?")[0]
        if method == "GET" and path == "/v1/asked":
            asked = [
                {"model": model, "prompt": prompt, "seed": seed, "n": n}
                for (model, prompt, seed), n in self.asked().items()
            ]
            await wire.json(200, asked)
        elif method != "POST" or not path.endswith("/chat/completions") or not path.startswith("/v1"):
            await wire.json(404, {"detail": "Not Found"})
        else:
            await self._complete(self._arrival(target, headers, json.loads(body)), wire)

    def _arrival(self, target: str, headers: dict[str, str], document: dict[str, Any]) -> Arrival:
        prompt = "\n".join(str(one["content"]) for one in document["messages"])
        program = next((program for phrase, program in self._programs.items() if phrase in prompt), PROGRAM)
        digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        seed = str(document.get("seed", ""))
        arrival = Arrival(document["model"], prompt, digest, seed, target, headers, document, program, time.monotonic())
        self.arrivals.append(arrival)
        return arrival

    async def _complete(self, arrival: Arrival, wire: Wire) -> None:
        if self._key is not None and arrival.headers.get("authorization") != f"Bearer {self._key}":
            await refuse(wire, 401, "Incorrect API key provided.", code="invalid_api_key")
            return
        marked = _MARK.search(arrival.prompt)
        chain = (marked[1] if marked else arrival.model).split("+")
        turn = self._turns[(arrival.prompt_digest, arrival.seed)]
        self._turns[(arrival.prompt_digest, arrival.seed)] += 1
        name, _, argument = chain[min(turn, len(chain) - 1)].strip().partition(":")
        if name.isdigit():
            name, argument = "status", f"{name}:{argument}"
        await BEHAVIOURS.get(name, BEHAVIOURS["good"])(wire, arrival, argument)


def main() -> None:
    """Serve as a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--programs", type=Path, help="JSON: phrase of a prompt -> program")
    parser.add_argument("--key")
    given = parser.parse_args()
    programs = json.loads(given.programs.read_text(encoding="utf-8")) if given.programs else None
    server = EndpointServer(programs=programs, key=given.key, tcp=True)
    server.port = given.port
    with server:
        print(server.base_url, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
