"""What a host's robots.txt says to us (RFC 9309). Pure."""

from __future__ import annotations

from dataclasses import dataclass

from protego import Protego

PRODUCT = "livecut"
"""The name that groups of robots.txt are matched against, and the first word of our User-Agent."""
_MAX_BYTES = 500 * 1024  # RFC 9309 asks to read at least so much; rules beyond it are not looked at


@dataclass(frozen=True)
class RobotRules:
    """The rules of one host. Without a file, everything is allowed."""

    parsed: Protego | None = None

    def allows(self, url: str) -> bool:
        """Whether an address may be asked."""
        return self.parsed is None or self.parsed.can_fetch(url, PRODUCT)

    @property
    def delay_s(self) -> float:
        """The least number of seconds between two requests (Crawl-delay); 0 when it asks for none."""
        return (self.parsed.crawl_delay(PRODUCT) if self.parsed else None) or 0.0


def read_robots(status: int, body: bytes) -> RobotRules:
    """The rules in an answer to the request for robots.txt: a status from 400 to 499 means that there are none."""
    if not 200 <= status < 300:
        return RobotRules()
    return RobotRules(Protego.parse(body[:_MAX_BYTES].decode("utf-8-sig", "replace")))
