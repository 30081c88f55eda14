"""Pages that a host sends in place of the one asked for: challenges, captchas, notices that it blocks us. Pure.

They are told by how they are built and never by loose words, which a problem about captchas may use as well: by a
header that only such answers carry, by a script or a form that only such pages hold, or by a page that says nothing
else. Nothing here helps to get past one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bs4 import BeautifulSoup, Tag
from bs4.element import CData, NavigableString, PageElement

_HEADERS = {"cf-mitigated": ("challenge", "block"), "x-amzn-waf-action": ("challenge", "captcha")}
_TRACES = (
    b"Just a moment...",
    b"Attention Required!",
    b"_cf_chl_",
    b"jschl",
    b"challenge-form",
    b"turnstile",
    b"captcha",
    b"RCPC",
    b"Incapsula",
    b"ddos-guard",
    b"DDoS-Guard",
    b"Please, wait.",
    b"temporarily blocked by administrator",
)
"""Cheap to look for: a page without any of them is none of these, and is not parsed."""
_SCRIPTS = (
    # Each expression on its own: one that spans two of them takes quadratic time on a page made for it.
    ((re.compile(r"\b_cf_chl_opt\s*="),), "a Cloudflare challenge"),
    ((re.compile(r"document\.cookie\s*=\s*[\"']RCPC="),), "the Codeforces cookie page"),
    ((re.compile(r"\bRCPC\b"), re.compile(r"\btoNumbers\(")), "the Codeforces cookie page"),
)
_ELEMENTS = {
    "form#challenge-form, #challenge-running, #challenge-stage, #cf-challenge-running": "a Cloudflare challenge",
    "input[name=jschl_vc], input[name=jschl_answer], input[name=jschl-answer]": "a Cloudflare challenge",
    "iframe[src*=_Incapsula_Resource], script[src*=_Incapsula_Resource]": "an Incapsula challenge",
    "script[src*='/.well-known/ddos-guard/']": "a DDoS-Guard challenge",
}
_WIDGETS = ".g-recaptcha, .h-captcha, .cf-turnstile, [name=cf-turnstile-response], #px-captcha"
_PICTURES = "[id^=captcha]"
_MOST_PICTURES = 10
_TITLES = {
    "Just a moment...": "a Cloudflare challenge",
    "Attention Required! | Cloudflare": "a Cloudflare notice",
    "DDoS-Guard": "a DDoS-Guard challenge",
}
_NOTICES = ("Redirecting... Please, wait.", "The page is temporarily blocked by administrator")
_HIDDEN = frozenset({"head", "script", "style", "noscript", "template"})
_BARE = 600
"""A page with so few characters of text holds no statement and no list."""
_MAX_BYTES = 256 * 1024  # no such page is larger


def find_challenge(headers: Mapping[str, str], body: bytes) -> str | None:
    """What was sent in place of the page, in a few words ("a Cloudflare challenge"); None when this is a page.

    `headers` have lower-case names. Only HTML is looked into: a statement inside JSON is data, whatever it says.
    """
    for name, values in _HEADERS.items():
        if headers.get(name, "").strip().lower() in values:
            return f"a challenge (header {name})"
    start = body[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith(b"<") and start:
        return _notice(body.decode("utf-8", "replace")) if len(body) < _BARE else None
    if len(body) > _MAX_BYTES or not any(trace in body for trace in _TRACES):
        return None
    return _in_page(BeautifulSoup(body, "lxml"))


def _in_page(soup: BeautifulSoup) -> str | None:
    # A script of another type is data: a statement may be in it.
    scripts = "\n".join(script.get_text() for script in soup.select("script:not([type*=json], [type*=tex])"))
    for patterns, what in _SCRIPTS:
        if all(pattern.search(scripts) for pattern in patterns):
            return what
    for selector, what in _ELEMENTS.items():
        if soup.select_one(selector):
            return what
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    text = _bare_text(soup)
    if text is None:
        return None
    if title in _TITLES or _has_widget(soup):
        return _TITLES.get(title, "a captcha")
    return _notice(text)


def _has_widget(soup: BeautifulSoup) -> bool:
    if soup.select_one(_WIDGETS) is not None:
        return True
    # Not as one selector: it would go up from each picture to the root.
    return any(element.find("img") for element in soup.select(_PICTURES, limit=_MOST_PICTURES))


def _bare_text(soup: BeautifulSoup) -> str | None:
    """The text that a page shows; None when it is more than a bare page has."""
    words: list[str] = []
    n_chars = 0
    left: list[PageElement] = [soup]
    while left:
        element = left.pop()
        if isinstance(element, Tag):
            if element.name not in _HIDDEN:
                left.extend(reversed(element.contents))
        elif type(element) in (NavigableString, CData):  # their other kinds are comments and the like
            new = str(element).split()
            words += new
            n_chars += sum(len(word) + 1 for word in new)
            if n_chars - 1 > _BARE:
                return None
    return " ".join(words)


def _notice(text: str) -> str | None:
    """A page that says nothing but that it is not the page."""
    words = " ".join(text.split())
    for notice in _NOTICES:
        if len(words) <= _BARE and words.startswith(notice):
            return f"the notice {notice!r}"
    return None
