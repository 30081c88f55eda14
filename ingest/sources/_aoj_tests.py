"""Samples and tests of Aizu Online Judge, from the API that gives them out.

Long texts are whole at the plain addresses only: in JSON they are cut off. A test that is not given out is a comment in
the answer, under status 200.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from db.records import TestCaseRecord, TestOrigin
from ingest.errors import Absent, BadRow, TooLarge
from ingest.pages import Fetch, Page, Request
from ingest.sources._samples_as_tests import sample_test
from ingest.text import encode_test_text, normalise_file

MAX_TESTS: Final = 100
MAX_TEST_BYTES: Final = 32 * 2**20
MAX_SUITE_BYTES: Final = 128 * 2**20
"""So many tests of a problem, so large each and in sum, are fetched: each is two requests."""
ERRORS: Final = (400, 404)
"""The statuses under which both APIs say in JSON what is wrong."""

_DATA: Final = "https://judgedat.u-aizu.ac.jp"
_TRIES: Final = 5
_BEYOND_ALL: Final = 2**50
_CUT = re.compile(rb"\(terminated because of the limitation\)\s*\Z")
_NO_TEST = re.compile(
    rb"\s*/\* (?:Test case #\d+\b[^*]*\bis not available\.|This is a single file for multiple testcases\.[^*]*) \*/\s*"
)


def samples_of(native_id: str) -> Request:
    """Where the samples of a problem are."""
    return Request(f"{_DATA}/testcases/samples/{native_id}", accept=ERRORS)


def headers_of(native_id: str) -> Request:
    """Where the list of a problem's tests is."""
    return Request(f"{_DATA}/testcases/{native_id}/header", accept=ERRORS)


def json_answer(page: Page) -> Any:
    """What an API answers; None where it says that it has no such thing: under 400 or 404, or as a list of codes."""
    if page.status in ERRORS:
        return None
    answer = page.json()
    is_error = isinstance(answer, list) and bool(answer) and isinstance(answer[0], dict) and "code" in answer[0]
    return None if is_error else answer


def positive(entry: dict[str, Any], name: str) -> float | None:
    """The number above zero under `name`; None for anything else, and for one that is beyond all limits and sizes."""
    value: object = entry.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _BEYOND_ALL:
        return None
    return float(value)


def read_samples(page: Page) -> tuple[TestCaseRecord, ...]:
    """The samples of ``testcases/samples``: none where none is registered. One that is cut off is left out."""
    answer = json_answer(page)
    if answer is None:
        return ()
    found = []
    for number, sample in enumerate(page.as_list(answer, "the answer"), start=1):
        given, expected = (sample.get(name) if isinstance(sample, dict) else None for name in ("in", "out"))
        if not isinstance(given, str) or not isinstance(expected, str):
            continue
        try:
            halves = [encode_test_text("a sample", text) for text in (given, expected)]
        except BadRow:
            continue
        if not any(_CUT.search(half) or _NO_TEST.fullmatch(half) for half in halves):
            found.append(sample_test(number, halves[0], halves[1]))
    return tuple(found)


@dataclass(frozen=True)
class Header:
    """A test as the header lists it. ``n_bytes`` is what it says of the size, which may be a little off."""

    serial: int
    name: str
    n_bytes: int


def read_headers(page: Page) -> tuple[Header, ...]:
    """The tests of ``testcases/{id}/header``, in the order of their serial numbers; none where none is given out."""
    answer = json_answer(page)
    if answer is None:
        return ()
    entries = answer.get("headers") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        raise page.changed("has no 'headers'")
    found: dict[int, Header] = {}
    for entry in entries:
        serial = entry.get("serial") if isinstance(entry, dict) else None
        if not isinstance(serial, int) or isinstance(serial, bool) or serial <= 0:
            raise page.changed("has an entry of 'headers' without 'serial'")
        name = entry.get("name")
        size = sum(int(positive(entry, half) or 0) for half in ("inputSize", "outputSize"))
        found.setdefault(serial, Header(serial, name if isinstance(name, str) and name else str(serial), size))
    return tuple(found[serial] for serial in sorted(found))


@dataclass(frozen=True)
class FullTests:
    """The tests that were taken, and how many there are. ``refused`` are lines for those that were not."""

    cases: tuple[TestCaseRecord, ...]
    n_listed: int
    refused: tuple[str, ...]

    @property
    def flags(self) -> tuple[tuple[str, str], ...]:
        """What the missing tests mean for a reader."""
        if not self.refused or not self.cases:
            return ()
        return (("partial_tests", f"{len(self.refused)} of {self.n_listed} tests were not taken: {self.refused[0]}"),)

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for a person."""
        if not self.n_listed:
            return ("no test is given out: samples only",)
        shown = self.refused[:3]
        more = f", and {len(self.refused) - len(shown)} more" if len(self.refused) > len(shown) else ""
        line = f"{len(self.refused)} of {self.n_listed} tests were not taken: {'; '.join(shown)}{more}"
        return (line,) if shown else ()


def fetch_tests(fetch: Fetch, native_id: str) -> FullTests:
    """All tests of a problem, each half from its plain address: the JSON one cuts long texts off.

    Where none of the first few is given out, the others are not asked for.
    """
    headers = read_headers(fetch(headers_of(native_id)))
    cases: list[TestCaseRecord] = []
    refused: list[str] = []
    total = 0
    for place, header in enumerate(headers):
        if place == MAX_TESTS or (place == _TRIES and not cases):
            refused += [f"test {one.serial} was not asked for" for one in headers[place:]]
            break
        try:
            if header.n_bytes > MAX_TEST_BYTES or total + header.n_bytes > MAX_SUITE_BYTES:
                raise BadRow(f"is too large ({header.n_bytes} bytes)")
            case = _test(fetch, native_id, header)
            size = len(case.input) + len(case.expected or b"")
            if total + size > MAX_SUITE_BYTES:
                raise BadRow(f"is too large ({size} bytes)")
        except BadRow as error:
            refused.append(f"test {header.serial} {error.reason}")
            continue
        cases.append(case)
        total += size
    return FullTests(tuple(cases), len(headers), tuple(refused))


def _test(fetch: Fetch, native_id: str, header: Header) -> TestCaseRecord:
    """One test. ``BadRow`` says why it is not taken; other errors of the network are the problem's."""
    halves = []
    for half in ("in", "out"):
        try:
            page = fetch(f"{_DATA}/testcases/{native_id}/{header.serial}/{half}")
        except (TooLarge, Absent) as error:
            raise BadRow(f"is not there: {error.message}") from None
        halves.append(read_half(page))
    return TestCaseRecord(header.name, halves[0], halves[1], TestOrigin.OFFICIAL)


def read_half(page: Page) -> bytes:
    """The input or the answer of a test. ``BadRow`` for one that is cut off, or a comment that says it is not there."""
    if _CUT.search(page.body[-200:]):
        raise BadRow("is cut off by the site (terminated because of the limitation)")
    if len(page.body) < 400 and _NO_TEST.fullmatch(page.body):
        raise BadRow("is not given out by the site")
    return normalise_file(page.body)[0]
