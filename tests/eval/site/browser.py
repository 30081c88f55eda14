"""Pages in Chromium, as a reader opens them from a folder: without a network, and without an error.

``tests/conftest.py`` names this module as a plugin, so that every test with the marker ``browser`` has its fixtures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route

CHROMIUM = os.environ.get("LIVE_CHROMIUM", "/usr/bin/chromium")
_TIMEOUT_MS = 60_000.0


@dataclass
class Offline:
    """Opens pages, and keeps what went wrong in them.

    ``refused`` are addresses that were asked for and are no files; ``errors`` what the console or a script reported.
    The test fails at its end if there is any, unless it has looked at them and emptied the list.
    """

    browser: Browser
    errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)

    def page(self, **options: Any) -> Page:
        """An empty page in a profile of its own; ``options`` are those of Playwright's ``new_context``."""
        context = self.browser.new_context(**options)
        context.set_default_timeout(_TIMEOUT_MS)
        context.route("**/*", self._route)
        self._contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(f"{page.url}: {error}"))
        page.on("console", self._hear)
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.location['url']}: {message.text}")

    def _route(self, route: Route) -> None:
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            self.refused.append(route.request.url)
            route.abort()

    def close(self) -> None:
        """Close every page."""
        for context in self._contexts:
            context.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium without a window. For one module: while it runs, no other test of the thread can have an event loop."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def offline(chromium: Browser) -> Iterator[Offline]:
    """Pages for one test, which fails if one of them reported an error or asked for more than files."""
    opened = Offline(chromium)
    yield opened
    opened.close()
    assert opened.errors == []
    assert opened.refused == []
