"""Asking the local endpoint in tests: a clock on which nobody waits, and one question as a plain function."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from eval.generate.endpoint import Answered, Endpoint, EndpointSettings, Failure
from eval.generate.prompts import Message
from tests.eval.generate.server import EndpointServer

KEY = "sk-proj-Zq3+x/9Yw0123456789abcdefghij"
START = datetime(2026, 3, 1, tzinfo=UTC)


class SkippingClock:
    """Sleeping moves it on at once. Real time passes on it as well, unless it is `frozen`."""

    def __init__(self, *, frozen: bool = False) -> None:
        self._frozen = frozen
        self._skipped = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return START + timedelta(seconds=self._skipped)

    def monotonic(self) -> float:
        return self._skipped + (0.0 if self._frozen else time.monotonic())

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._skipped += seconds
        await asyncio.sleep(0)


def endpoint(server: EndpointServer, clock: SkippingClock | None = None, **settings: Any) -> Endpoint:
    """An endpoint that reaches a server; `settings` are those of ``EndpointSettings``."""
    given: dict[str, Any] = {"base_url": server.base_url, "key": KEY} | settings
    return Endpoint(
        EndpointSettings(**given),
        clock=clock or SkippingClock(),
        dice=random.Random(7),
        transport=server.transport(),
    )


def ask(
    server: EndpointServer,
    model: str,
    *,
    prompt: str = "Add two numbers.",
    body: Mapping[str, Any] | None = None,
    clock: SkippingClock | None = None,
    **settings: Any,
) -> Answered | Failure:
    """One question to a model, with an endpoint of its own."""

    async def asking() -> Answered | Failure:
        async with endpoint(server, clock, **settings) as one:
            return await one.ask(model, [Message("user", prompt)], body or {})

    return asyncio.run(asking())


def answered(*args: Any, **more: Any) -> Answered:
    """As ``ask``, where an answer is meant to come."""
    found = ask(*args, **more)
    assert isinstance(found, Answered), found
    return found


def failed(*args: Any, **more: Any) -> Failure:
    """As ``ask``, where none is meant to come. Messages are lines that a terminal shows as they are."""
    found = ask(*args, **more)
    assert isinstance(found, Failure), found
    assert found.message.isprintable()
    assert found.hint.isprintable()
    assert len(found.message) <= 300
    assert found.hint
    return found
