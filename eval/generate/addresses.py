"""Where an endpoint is: the address that is asked, and what of it may be shown and kept. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit, urlunsplit

_PATH = "/chat/completions"
_EXAMPLE = "write it as https://api.example.com/v1"


class BadEndpoint(ValueError):
    """Settings of an endpoint that cannot be used. ``message`` says what, ``hint`` what to do; no key stands in it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Address:
    """`url` is what is asked; `place` is host and path of the base URL, without query, for messages and the store.

    `in_query` are the values of the query that are long enough to be a secret.
    """

    url: str
    place: str
    in_query: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Address({self.place})"


_KEYS_OWN = "api.openai.com"


def is_meant_for_openai_key(base_url: str) -> bool:
    """Whether the key of ``OPENAI_API_KEY`` may go to a base URL although nobody named that variable: to OpenAI itself
    (its regional hosts among them) and to this machine. Any other host would be handed somebody else's key."""
    host = (urlsplit(base_url.strip()).hostname or "").rstrip(".")
    return host == _KEYS_OWN or host.endswith(f".{_KEYS_OWN}") or is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read_address(base_url: str) -> Address:
    """The address of chat completions below a base URL. Raises ``BadEndpoint``.

    A base URL without a path gets ``/v1``, any other path is taken as it is; an address that already ends in
    ``/chat/completions`` is asked itself. A query goes along.
    """
    written = base_url.strip()
    try:
        parts = urlsplit(written)
        port = parts.port
    except ValueError:
        raise BadEndpoint("the base URL cannot be read", _EXAMPLE) from None
    if parts.scheme not in ("http", "https"):
        raise BadEndpoint("the base URL does not begin with http:// or https://", _EXAMPLE)
    if parts.username is not None or parts.password is not None:
        raise BadEndpoint("the base URL holds a user name or a password", "leave it out: the key goes into a variable")
    if not parts.hostname or not (written.isascii() and written.isprintable()) or " " in written:
        raise BadEndpoint("the base URL names no host, or holds characters that no address has", _EXAMPLE)
    if parts.fragment:
        raise BadEndpoint("the base URL holds a fragment (#…)", _EXAMPLE)
    path = parts.path.rstrip("/")
    path = path.removesuffix(_PATH) if path.endswith(_PATH) else path or "/v1"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if port is None else f"{host}:{port}"
    url = urlunsplit((parts.scheme, place, path + _PATH, parts.query, ""))
    in_query = tuple(value for _, value in parse_qsl(parts.query))
    return Address(url, place + path, in_query)
