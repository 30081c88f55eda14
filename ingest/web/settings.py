"""What a user has configured about fetching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version

from ingest.errors import NotConfigured
from ingest.web.robots import PRODUCT


@dataclass(frozen=True)
class Limits:
    """What one run may take. Times are in seconds.

    ``total_s`` is for one request with all its tries, the waiting for turns left out; ``run_s`` for all of the run;
    ``pause_s`` is the longest wait for one turn. ``max_bytes`` caps an answer, decompressed.
    """

    connect_s: float = 10
    read_s: float = 30
    total_s: float = 120
    run_s: float = 4 * 3600
    pause_s: float = 900
    max_bytes: int = 128 * 2**20
    tries: int = 4
    backoff_s: float = 2
    longest_backoff_s: float = 60


@dataclass(frozen=True)
class FetchSettings:
    """How to fetch.

    ``contact`` is where a site's owner reaches the user; without one nothing is fetched. ``mirrors`` are prefixes of
    addresses that are asked elsewhere. ``intervals_s`` are seconds by host: they make a source's own interval longer,
    and take its place where the host is asked at a mirror. ``blocked_s`` is how long a circuit stays open.
    """

    contact: str | None = None
    mirrors: Mapping[str, str] = field(default_factory=dict)
    intervals_s: Mapping[str, float] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    blocked_s: float = 6 * 3600

    def user_agent(self) -> str:
        """Who asks. ``NotConfigured`` when nobody has said so."""
        contact = (self.contact or "").strip()
        hint = "set contact in live.toml, or LIVE_CONTACT, to an address where a site's owner reaches you"
        if not contact:
            raise NotConfigured("no contact is configured, so nothing is fetched", hint)
        if not (contact.isascii() and contact.isprintable()):
            raise NotConfigured(f"the contact {contact!r} holds characters that no header can hold", hint)
        return f"{PRODUCT}/{version(PRODUCT)} (+{contact})"
