"""A user's own credentials: which request may carry one, and that nothing that is kept holds it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ingest.errors import NotConfigured
from ingest.sources import Host
from ingest.web.addresses import is_loopback, place_of

_PRIVATE = re.compile(r"cookie|auth|token|csrf|session", re.IGNORECASE)
_SHORTEST = 8
"""A shorter text may stand in a page by chance."""
_INSTEAD = "[credential]"


@dataclass(frozen=True)
class Credential:
    """A header with a user's credential. It is not shown by ``repr``."""

    header: str
    value: str = field(repr=False)
    secret: str = field(repr=False)

    def scrubbed(self, text: str) -> str:
        """A text without the credential: some servers send back what they were sent."""
        return text.replace(self.secret, _INSTEAD) if len(self.secret) >= _SHORTEST else text

    def scrubbed_bytes(self, body: bytes) -> bytes:
        """Bytes without the credential."""
        secret = self.secret.encode()
        return body.replace(secret, _INSTEAD.encode()) if len(secret) >= _SHORTEST else body


def credential_for(host: Host, asked: str, environ: Mapping[str, str]) -> Credential | None:
    """The credential that goes with a request to the address `asked` on behalf of `host`; None when none does.

    It goes to that very host over https and to a mirror on this very machine, to nobody else.
    """
    if host.secret is None:
        return None
    secret = environ.get(host.secret.variable, "").strip()
    is_host = urlsplit(asked).scheme == "https" and place_of(asked) == host.name
    if not secret or not (is_host or is_loopback(asked)):
        return None
    if not (secret.isascii() and secret.isprintable()):
        raise NotConfigured(f"{host.secret.variable} holds characters that no header can hold", "copy it anew")
    return Credential(host.secret.header, host.secret.template.format(secret), secret)


def public_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers of an answer without cookies, tokens and what else belongs to one user."""
    return {name: value for name, value in headers.items() if not _PRIVATE.search(name)}
