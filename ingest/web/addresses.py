"""Addresses: one spelling of each, the mirrors that stand in for a site, and the paths of logins. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, quote, urljoin, urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}
_KEPT = "%/:=&?~#+!$,;'@()*[]"
_LANGUAGES = frozenset({"lang", "locale"})
_LOGINS = frozenset({"auth", "enter", "log-in", "login", "oauth", "sign-in", "sign_in", "signin", "sso"})


def normal_url(url: str) -> str:
    """The one spelling of an address: no fragment, host in lower case, no usual port, what is not ASCII as ``%XX``.
    ``ValueError`` when it is none.

    An address with a user's name or password in it is refused: it would end up in snapshots and messages.
    """
    parts = urlsplit(quote(url.strip(), safe=_KEPT))
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no address that starts with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError(f"the address of {parts.hostname} holds a user's name or password")
    return urlunsplit((parts.scheme, _place(parts), parts.path or "/", parts.query, ""))


def _place(parts: SplitResult) -> str:
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return shown if parts.port in (None, _PORTS.get(parts.scheme)) else f"{shown}:{parts.port}"


def place_of(url: str) -> str:
    """The host of a normal address, with its port where that is no usual one."""
    return urlsplit(url).netloc


def without_language(url: str) -> str | None:
    """A normal address without its query, where that says nothing but a language; None for every other address."""
    parts = urlsplit(url)
    names = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    return urlunsplit(parts._replace(query="")) if names and names <= _LANGUAGES else None


def origin_of(url: str) -> str:
    """Scheme, host and port of a normal address."""
    return "://".join(urlsplit(url)[:2])


def is_loopback(url: str) -> bool:
    """Whether an address is on this very machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def leads_to_login(url: str, target: str) -> bool:
    """Whether a redirect from `url` to `target` leads to a login: a part of its path is called so, and of `url`'s none.

    ``/login``, ``/enter``, ``/accounts/login/`` and ``/user/sign-in`` are such; ``/contests/login-fest/tasks`` is not.
    """
    return bool(_path_words(target) & _LOGINS - _path_words(url))


def _path_words(url: str) -> frozenset[str]:
    return frozenset(word.lower() for word in urlsplit(url).path.split("/"))


class Mirrors:
    """Prefixes of addresses that are asked elsewhere. Everything but the wire keeps to the site's own addresses."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        pairs = ((normal_url(site), normal_url(mirror)) for site, mirror in prefixes.items())
        # The longest prefix first, so that a part of a site may have a mirror of its own.
        self._pairs = sorted(((s.rstrip("/"), m.rstrip("/")) for s, m in pairs), key=lambda pair: -len(pair[0]))

    def asked(self, url: str) -> str:
        """The address to ask in place of `url`: itself where it has no mirror."""
        for site, mirror in self._pairs:
            if _below(url, site):
                return normal_url(mirror + url[len(site) :])
        return url

    def redirected(self, url: str, location: str) -> str:
        """The site's own address that a redirect from `url` names. ``ValueError`` when it names none.

        A mirror that replays a site's answers sends paths of the site, one that knows where it stands sends its own.
        """
        asked = self.asked(url)
        target = normal_url(urljoin(asked, location))
        if asked == url:
            return target
        for site, mirror in self._pairs:
            if _below(target, mirror):
                return normal_url(site + target[len(mirror) :])
        if origin_of(target) == origin_of(asked):
            return origin_of(url) + target[len(origin_of(target)) :]
        return target


def _below(url: str, prefix: str) -> bool:
    return url == prefix or url.startswith((f"{prefix}/", f"{prefix}?"))
