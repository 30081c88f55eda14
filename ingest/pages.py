"""A request, and the page that came back: its bytes as text, JSON or a tree. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

from bs4 import BeautifulSoup, Tag

from db.json_lines import json_kind
from ingest.errors import PageChanged

_META_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"""^\s*<\?xml[^>]+encoding\s*=\s*["']([A-Za-z0-9_:.-]+)""")
_HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")
_CONTROLS = re.compile("[\x00\x80-\x9f]")
_READ_AS = {
    # What pages mean by these names, and browsers read: the sets that grew out of them.
    "cp932": ("shift_jis", "sjis", "x_sjis", "ms_kanji", "windows_31j"),
    "cp949": ("euc_kr", "ks_c_5601_1987", "ksc5601"),
    "gb18030": ("gb2312", "gbk", "x_gbk"),
    "euc_jp": ("x_euc_jp",),
}
_ENCODINGS = {name: encoding for encoding, names in _READ_AS.items() for name in names}
_NOT_FOR_PAGES = {"punycode", "idna", "unicode_escape", "raw_unicode_escape", "utf_7", "undefined"}
"""Encodings that Python knows and no page is in; some of them take quadratic time."""
MAX_PAGE_CHARACTERS = 16 * 2**20
"""A tree takes a hundred times the memory of its text; real pages reach half a million characters."""
_HEAD_BYTES = 4096
_END_CHARACTERS = 4096
Read = TypeVar("Read")


@dataclass(frozen=True)
class Request:
    """What to ask a host for. ``accept`` are statuses beside 2xx whose answers the caller reads itself.

    ``headers`` never hold credentials: those come from the environment, by the host's ``Secret``.
    """

    url: str
    method: str = "GET"
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    accept: tuple[int, ...] = ()


def json_request(url: str, value: Any, *, headers: tuple[tuple[str, str], ...] = ()) -> Request:
    """A POST of `value` as JSON, always in the same spelling, so that its snapshot is found again."""
    body = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return Request(url, "POST", body, (("Content-Type", "application/json"), *headers))


@dataclass(frozen=True)
class Page:
    """One response. ``headers`` have lower-case names; ``snapshot_id`` is the store's, None outside of it."""

    url: str
    body: bytes
    fetched_at: datetime
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    final_url: str = ""
    snapshot_id: int | None = None

    def text(self) -> str:
        """The body as text. ``PageChanged`` when no decoding of it is certain."""
        try:
            return decode(self.body, self.headers.get("content-type", ""))
        except UnicodeError as error:
            raise self.changed(f"cannot be read as text: {error}") from None

    def json(self) -> Any:
        """The body as JSON. ``PageChanged`` when it is none, an HTML page for example."""
        text = self.text()
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            what = "is an HTML page, not JSON" if text.lstrip()[:1] == "<" else f"is not JSON ({error})"
            raise self.changed(what) from None

    def soup(self) -> BeautifulSoup:
        """The body as a tree of HTML. ``PageChanged`` when it is larger than a page can be."""
        return self._tree(self.text())

    def whole_soup(self) -> BeautifulSoup:
        """The body as a tree, once it is certain that it came whole: a cut-off page parses, without its end.

        ``PageChanged`` when the end of the document is not there.
        """
        text = self.text()
        if "</html" not in text[-_END_CHARACTERS:].lower():
            raise self.changed("is cut off: it has no '</html>' at its end")
        return self._tree(text)

    def _tree(self, text: str) -> BeautifulSoup:
        if len(text) > MAX_PAGE_CHARACTERS:
            raise self.changed(f"is too large to be a page: {len(text):,} characters")
        return BeautifulSoup(text, "lxml")

    def one(self, root: Tag, selector: str) -> Tag:
        """The first element below `root` that fits the CSS selector. ``PageChanged`` when there is none."""
        found = root.select_one(selector)
        if found is None:
            raise self.changed(f"has no {selector!r}")
        return found

    def as_object(self, value: Any, where: str) -> dict[str, Any]:
        """`value` out of the page's JSON, which has to be an object. ``PageChanged`` names `where` it stands."""
        if not isinstance(value, dict):
            raise self.changed(f"has {json_kind(value)} for {where!r}, not an object")
        return value

    def as_list(self, value: Any, where: str) -> list[Any]:
        """`value` out of the page's JSON, which has to be a list. ``PageChanged`` names `where` it stands."""
        if not isinstance(value, list):
            raise self.changed(f"has {json_kind(value)} for {where!r}, not a list")
        return value

    def each(
        self, entries: Sequence[Any], read: Callable[[Any], Read], where: str
    ) -> tuple[tuple[Read, ...], tuple[str, ...]]:
        """What `read` makes of each entry of the list at `where`, and a line for each that it refuses.

        It refuses with a ``BadRow``, and the records that it builds with a ``ValueError``.

        ``PageChanged`` when it refuses all that are there.
        """
        found: list[Read] = []
        unread: list[str] = []
        for place, entry in enumerate(entries):
            try:
                found.append(read(entry))
            except ValueError as error:
                unread.append(f"{self.url} has {where}[{place}]: {error}")
        if unread and not found:
            raise self.changed(f"has no entry of {where!r} that can be read; {unread[0]}")
        return tuple(found), tuple(unread)

    def changed(self, what: str) -> PageChanged:
        """The error that says what is wrong with this page."""
        return PageChanged(
            f"{self.url} {what}",
            "look at the page: the site may have changed, or shows something else (live sources check)",
            snapshot_id=self.snapshot_id,
        )


class Fetch(Protocol):
    """What a source is given to ask with. Asking for the same again within one run gives the same page."""

    def __call__(self, request: Request | str) -> Page:
        """The page at an address. Raises ``FetchError``."""
        ...


def decode(body: bytes, content_type: str = "") -> str:
    """Bytes as text: by their mark, as UTF-8, else as the page itself or the header names it. ``UnicodeError``.

    The header comes last: servers that declare Latin-1 for everything are common, and Latin-1 fits any bytes. So a
    decoding that gives control characters is none.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding)
    if _ISO_2022_JP.search(body):  # looks like UTF-8: all of its bytes are ASCII
        return body.decode("iso2022_jp")
    try:
        text = body.decode()
        reason = "it holds a NUL"
        if "\0" not in text:
            return text
    except UnicodeDecodeError as error:
        reason = f"it is not UTF-8 (byte {error.start})"
    declared = _declared(body, content_type)
    for name in declared:
        if name.lower().replace("-", "_") in _NOT_FOR_PAGES:
            continue
        try:
            text = body.decode(_ENCODINGS.get(name.lower().replace("-", "_"), name))
        except (UnicodeError, LookupError):
            continue
        if not _CONTROLS.search(text):
            return text
    said = f", nor {' or '.join(declared)}" if declared else ", and nothing says what else it is"
    raise UnicodeError(f"{reason}{said}")


def _declared(body: bytes, content_type: str) -> list[str]:
    """The names of encodings that a page and its header declare, the page's own first."""
    head = body[:_HEAD_BYTES]
    own = [match[1].decode("ascii") for pattern in (_XML_CHARSET, _META_CHARSET) if (match := pattern.search(head))]
    return own + [match[1] for match in [_HEADER_CHARSET.search(content_type)] if match]
