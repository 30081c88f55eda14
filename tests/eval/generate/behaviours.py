"""What the local endpoint of the tests can do, by the names that ``tests.eval.generate.server`` takes."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tests.eval.generate.error_documents import ERRORS


@dataclass(frozen=True)
class Arrival:
    """A request as it came. ``program`` is the one that a good answer holds; ``at`` is on the monotonic clock."""

    model: str
    prompt: str = field(repr=False)
    prompt_digest: str
    seed: str
    target: str
    headers: dict[str, str] = field(repr=False)
    document: dict[str, Any] = field(repr=False)
    program: str = field(repr=False)
    at: float

    @property
    def streams(self) -> bool:
        return bool(self.document.get("stream"))


class Wire:
    """What a behaviour writes to."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.is_closed = False

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, *headers: str) -> None:
        lines = (f"HTTP/1.1 {status} Reason", "Server: tests", *headers)
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def body(self, status: int, body: bytes, kind: str = "application/json", *headers: str) -> None:
        await self.head(status, f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers)
        await self.send(body)

    async def json(self, status: int, document: object, *headers: str) -> None:
        await self.body(status, json.dumps(document).encode(), "application/json", *headers)

    async def chunk(self, data: bytes) -> None:
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def events(self, pieces: Iterable[bytes], *, is_whole: bool = True) -> None:
        """A stream whose pieces come one by one; one that is not whole breaks off."""
        await self.head(200, "Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked")
        for piece in pieces:
            await self.chunk(piece)
        if is_whole:
            await self.send(b"0\r\n\r\n")
        else:
            self.hang_up()

    def hang_up(self) -> None:
        self.is_closed = True


Behaviour = Callable[[Wire, Arrival, str], Awaitable[None]]


async def refuse(wire: Wire, status: int, message: str, *headers: str, code: str | None = None) -> None:
    """An error in OpenAI's form."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    await wire.json(status, {"error": error}, *headers)


def answer_to(arrival: Arrival) -> str:
    """The text of a good answer."""
    return f"Zwei Zahlen, é 💡:\n\n```python\n{arrival.program}\n```\n"


def completion(arrival: Arrival, message: dict[str, Any] | None = None, finish: str = "stop") -> dict[str, Any]:
    """A whole chat completion."""
    said = message or {"content": answer_to(arrival)}
    return {
        "id": f"chatcmpl-{arrival.prompt_digest}",
        "object": "chat.completion",
        "created": 1770000000,
        "model": f"{arrival.model}-0613",
        "system_fingerprint": "fp_44709d6fcb",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant"} | said}],
        "usage": _USAGE,
    }


_USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 80,
    "total_tokens": 200,
    "prompt_tokens_details": {"cached_tokens": 20},
    "completion_tokens_details": {"reasoning_tokens": 50},
}


def chunk_of(arrival: Arrival, delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One piece of a stream."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    whole = completion(arrival) | {"object": "chat.completion.chunk", "choices": choices} | more
    return {name: value for name, value in whole.items() if name != "usage" or delta is None}


def event(document: object, end: str = "\n\n") -> bytes:
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    return f"data: {text}{end}".encode()


def deltas(arrival: Arrival, *, end: str = "\n\n") -> list[bytes]:
    """The pieces of a good answer, without its finish reason."""
    text = answer_to(arrival)
    parts = [text[start : start + 7] for start in range(0, len(text), 7)]
    first = event(chunk_of(arrival, {"role": "assistant", "content": ""}), end)
    return [first, *(event(chunk_of(arrival, {"content": part}), end) for part in parts)]


def stream(arrival: Arrival, *, end: str = "\n\n") -> list[bytes]:
    """The pieces of a good answer with all that belongs to it."""
    finish = [event(chunk_of(arrival, {}, "stop"), end), event(chunk_of(arrival, None), end), event("[DONE]", end)]
    return deltas(arrival, end=end) + finish


async def good(wire: Wire, arrival: Arrival, _: str) -> None:
    if arrival.streams:
        await wire.events([b"".join(stream(arrival))])
    else:
        await wire.json(200, completion(arrival))


async def slow(wire: Wire, arrival: Arrival, seconds: str) -> None:
    await asyncio.sleep(float(seconds or "0.5"))
    await good(wire, arrival, "")


async def status(wire: Wire, arrival: Arrival, argument: str) -> None:
    """NNN:RETRY-AFTER, in seconds; "ms=1500" for retry-after-ms, "date=30" for an HTTP date so many seconds ahead."""
    code, _, wait = argument.partition(":")
    form, _, amount = wait.partition("=")
    headers = [f"Retry-After: {wait}"] if wait else []
    if form == "ms":
        headers = [f"Retry-After-Ms: {amount}"]
    elif form == "date":
        now = datetime(2026, 3, 1, tzinfo=UTC)
        until = now + timedelta(seconds=int(amount))
        headers = [f"Date: {format_datetime(now, True)}", f"Retry-After: {format_datetime(until, True)}"]
    await refuse(wire, int(code), "Some words of the server.", *headers)


async def error(wire: Wire, arrival: Arrival, name: str) -> None:
    """One of ``error_documents.ERRORS``."""
    code, document = ERRORS[name]
    await wire.json(code, document)


async def echo(wire: Wire, arrival: Arrival, argument: str) -> None:
    """Send back the Authorization header: in an error of a status, in an "answer", or in a "stream"."""
    sent = arrival.headers.get("authorization", "nothing")
    if argument == "answer":
        await wire.json(200, completion(arrival, {"content": f"You sent {sent}", "reasoning_content": sent}))
    elif argument == "stream":
        await wire.events([event(chunk_of(arrival, {"content": char})) for char in sent] + stream(arrival))
    elif argument == "broken":
        await wire.body(200, f"{sent} is no JSON".encode())
    elif argument == "event":
        await wire.events([event({"error": {"message": f"you sent {sent}", "code": 400}})])
    elif argument == "page":
        await wire.body(404, f"<html>{sent}</html>".encode(), "text/html", f"X-Echo: {sent}")
    else:
        await refuse(wire, int(argument or "401"), f"Invalid header: 'Authorization: {sent}' ({sent[:30]}…)")


def saying(message: dict[str, Any], finish: str = "stop") -> Behaviour:
    async def act(wire: Wire, arrival: Arrival, _: str) -> None:
        await wire.json(200, completion(arrival, message, finish))

    return act


def answering(code: int, body: bytes, kind: str = "application/json", *headers: str) -> Behaviour:
    async def act(wire: Wire, arrival: Arrival, _: str) -> None:
        await wire.body(code, body, kind, *headers)

    return act


async def cut_off(wire: Wire, arrival: Arrival, _: str) -> None:
    text = answer_to(arrival).split("print")[0]
    await wire.json(200, completion(arrival, {"content": text}, "length"))


async def web_page(wire: Wire, arrival: Arrival, code: str) -> None:
    await wire.body(int(code or "200"), b"\n<!DOCTYPE html><html><title>Welcome</title></html>", "text/html")


async def redirect(wire: Wire, arrival: Arrival, target: str) -> None:
    await wire.body(307, b"", "text/plain", f"Location: {target or 'https://elsewhere.example/secret/path?token=1'}")


async def silent(wire: Wire, arrival: Arrival, _: str) -> None:
    await asyncio.Event().wait()


async def half(wire: Wire, arrival: Arrival, argument: str) -> None:
    """Half of the body: then silence, or ("cut") the end of the connection."""
    body = json.dumps(completion(arrival)).encode()
    await wire.head(200, "Content-Type: application/json", f"Content-Length: {len(body)}")
    await wire.send(body[: len(body) // 2])
    if argument == "cut":
        wire.hang_up()
    else:
        await silent(wire, arrival, "")


async def hang_up(wire: Wire, arrival: Arrival, _: str) -> None:
    wire.hang_up()


async def drip(wire: Wire, arrival: Arrival, where: str) -> None:
    """A byte every hundredth of a second, for ever: of the "headers", of the body, or comments of a stream ("ping")."""
    if where == "headers":
        await wire.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    else:
        kind = "text/event-stream" if where else "application/json"
        await wire.head(200, f"Content-Type: {kind}", "Transfer-Encoding: chunked")
    piece = {"ping": b": ping\n\n", "events": event(chunk_of(arrival, {"content": "a"}))}.get(where, b" ")
    while True:
        await (wire.send(b".") if where == "headers" else wire.chunk(piece))
        await asyncio.sleep(0.01)


async def large(wire: Wire, arrival: Arrival, how: str) -> None:
    """Ten megabytes: announced, in "chunks", in a "stream" of one event or of "many"."""
    text = "x" * 10_000_000
    if how in ("stream", "many"):
        size = 10_000_000 if how == "stream" else 4_000
        parts = [event(chunk_of(arrival, {"content": text[:size]}))] * (10_000_000 // size)
        await wire.events(parts + stream(arrival))
        return
    body = json.dumps(completion(arrival, {"content": text})).encode()
    if how == "chunks":
        await wire.head(200, "Content-Type: application/json", "Transfer-Encoding: chunked")
        for start in range(0, len(body), 2**16):
            await wire.chunk(body[start : start + 2**16])
        await wire.send(b"0\r\n\r\n")
    else:
        await wire.body(200, body)


async def packed(wire: Wire, arrival: Arrival, how: str) -> None:
    """A compressed answer: a good one, a "bomb", a "cut" one, or in a form that nobody asked for ("br")."""
    body = gzip.compress(json.dumps(completion(arrival)).encode())
    if how == "bomb":
        press = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        body = b"".join(press.compress(b" " * 2**20) for _ in range(200)) + press.flush()
    elif how == "cut":
        body = body[:-20]
    await wire.body(200, body, "application/json", f"Content-Encoding: {'br' if how == 'br' else 'gzip'}")


async def only_streams(wire: Wire, arrival: Arrival, _: str) -> None:
    await (good(wire, arrival, "") if arrival.streams else error(wire, arrival, "only-streams"))


async def no_options(wire: Wire, arrival: Arrival, _: str) -> None:
    known = "stream_options" not in arrival.document
    await (only_streams(wire, arrival, "") if known else error(wire, arrival, "no-stream-options"))


async def ignores_stream(wire: Wire, arrival: Arrival, _: str) -> None:
    await wire.json(200, completion(arrival))


async def each_finishes(wire: Wire, arrival: Arrival, how: str) -> None:
    """Each piece has a finish reason, and there is a while between them; then the end, silence or a cut."""
    await wire.head(200, "Content-Type: text/event-stream", "Transfer-Encoding: chunked")
    text = answer_to(arrival)
    for start in range(0, len(text), 20):
        await wire.chunk(event(chunk_of(arrival, {"content": text[start : start + 20]}, "stop")))
        await asyncio.sleep(0.15)
    if how.endswith("cut"):
        wire.hang_up()
    elif how.endswith("open"):
        await silent(wire, arrival, "")
    else:
        await wire.send(b"0\r\n\r\n")


async def streamed(wire: Wire, arrival: Arrival, how: str) -> None:
    """A stream in one of its many forms, whether it was asked for or not."""
    pieces = stream(arrival)
    whole = b"".join(pieces)
    said, usage = deltas(arrival), event(chunk_of(arrival, None))
    forms: dict[str, list[bytes]] = {
        "": pieces,
        "split": [whole[start : start + 1] for start in range(len(whole))],
        "crlf": stream(arrival, end="\r\n\r\n"),
        "cr": stream(arrival, end="\r\r"),
        "comments": [b": ping\n\n: OPENROUTER PROCESSING\n\nretry: 10\n\nevent: message\nid: 7\n"]
        + [piece for one in pieces for piece in (one, b": ping\n\n")],
        "no-done": pieces[:-1],
        "no-finish": [*said, usage, event("[DONE]")],
        "no-newline": [*pieces[:-1], b"data:[DONE]"],
        "ends-early": said,
        "broken-event": [*said, b'data: {"choices": [{"delta": {"cont\n\n'],
        "error": [*said, event({"error": {"message": "Overloaded", "code": 502}})],
        "lasting-error": [*said, event({"error": {"message": "The prompt is too long.", "code": 400}})],
        "null-finish": [event(chunk_of(arrival, {"content": "a"}, "null"))],
        "other-choice": [event(chunk_of(arrival, None, choices=[{"index": 1, "delta": {}, "finish_reason": "stop"}]))],
        "filter": [
            *said,
            event({"error": {"message": "The response was filtered by the content management policy."}}),
        ],
        "surrogates": [
            event('{"choices":[{"delta":{"content":"\\ud83d"}}]}'),
            event('{"choices":[{"delta":{"content":"\\udca1\\udca1"}}]}'),
            event(chunk_of(arrival, {}, "stop")),
        ],
        "empty": [event("[DONE]")],
    }  # fmt: skip
    if how.startswith("each-finishes"):
        await each_finishes(wire, arrival, how)
        return
    if how in ("cut", "silent", "open", "done-open", "cut-after-finish"):
        await wire.head(200, "Content-Type: text/event-stream", "Transfer-Encoding: chunked")
        ends = {
            "open": [*said, event(chunk_of(arrival, {}, "stop"))],
            "done-open": pieces,
            "cut-after-finish": pieces[:-2],
        }
        await wire.chunk(b"".join(ends.get(how, said)))
        if how.startswith("cut"):
            wire.hang_up()
        else:
            await silent(wire, arrival, "")
        return
    await wire.events(forms[how])


BEHAVIOURS: dict[str, Behaviour] = {
    "good": good,
    "slow": slow,
    "status": status,
    "error": error,
    "echo": echo,
    "length": cut_off,
    "parts": saying({"content": [{"type": "text", "text": "```python\n"}, {"type": "text", "text": "print(1)\n```"}]}),
    "null": saying({"content": None}),
    "reasoning-only": saying({"content": "", "reasoning_content": "```python\nprint(1)\n```"}),
    "tagged": saying({"content": "<think>\n```python\nprint(2)\n```\n</think>\n```python\nprint(1)\n```"}),
    "refusal": saying({"content": None, "refusal": "I cannot help with that."}),
    "filtered": saying({"content": ""}, "content_filter"),
    "words": saying({"content": "I do not know how to solve this."}),
    "error-text": saying({"content": "$ERROR$: upstream failed"}),
    "empty-choices": answering(200, b'{"id": "x", "object": "chat.completion", "choices": [], "usage": {}}'),
    "not-json": answering(200, b"upstream connect error \x1b[31mor disconnect\x00"),
    "nothing": answering(200, b""),
    "nested": answering(200, b"[" * 100_000),
    "digits": answering(200, b'{"choices": ' + b"9" * 10_000 + b"}"),
    "other-form": answering(200, b'{"model": "m", "message": {"content": "hi"}, "done": true}'),
    "html": web_page,
    "redirect": redirect,
    "silent": silent,
    "half": half,
    "hang-up": hang_up,
    "drip": drip,
    "large": large,
    "packed": packed,
    "only-streams": only_streams,
    "no-stream-options": no_options,
    "ignores-stream": ignores_stream,
    "stream": streamed,
}  # fmt: skip
