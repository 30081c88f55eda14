"""What a host's robots.txt says to us (RFC 9309). Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from protego import Protego

PRODUCT = "livecut"
"""The name that groups of robots.txt are matched against, and the first word of our User-Agent."""
LONGEST_DELAY_S = 60.0
"""A host that asks for more between two requests is not one that a run can read."""
_MAX_BYTES = 500 * 1024  # RFC 9309 asks to read at least so much; rules beyond it are not looked at
_AGENT = re.compile(r"user(?:-|\s+)?agent(?:\s*:|\s)([^#]*)", re.IGNORECASE)


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
        delay_s = (self.parsed.crawl_delay(PRODUCT) if self.parsed else None) or 0.0
        return 0.0 if math.isnan(delay_s) else max(0.0, delay_s)


def read_robots(status: int, body: bytes) -> RobotRules:
    """The rules in an answer to the request for robots.txt: a status from 400 to 499 means that there are none."""
    if not 200 <= status < 300:
        return RobotRules()
    lines = body[:_MAX_BYTES].decode("utf-8-sig", "replace").splitlines()
    return RobotRules(Protego.parse("\n".join(map(_for_us, lines))))


def _for_us(line: str) -> str:
    """A line with one name for all who are not us.

    Each rule of a group is kept once for each of its agents: thousands of both would fill the memory.
    """
    match = _AGENT.match(line.strip())
    name = match[1].strip().lower() if match else ""
    return line if not match or not name or name.replace("*", "") in PRODUCT else "User-agent: somebody-else"
