"""The rows of the LiveCodeBench data set (``code_generation_lite`` and its like), as JSON lines, plain or ``.gz``.

One object a line with ``question_title, question_content, platform, question_id, contest_id, contest_date,
starter_code, difficulty, public_test_cases, private_test_cases, metadata``. Tests are JSON text (or already a list) of
``{"input", "output", "testtype": "stdin" | "functional"}``; the private ones may instead be base64 of zlib of a pickled
JSON text (see ``ingest/wire.py``). Other fields are passed over: the data set gains some from release to release.

``contest_date`` has no time zone and mixes midnights with wall-clocks of the US Pacific coast, so that only its day is
believed. A row without a date is taken too; its problem is then never eligible for a score by cut-off.
The data set states no tolerance and no limits; a tolerance or a free letter case is taken from the words of the
statement, lists that may come in any order are compared so where the type of the starter code is a list, and what
cannot be compared (several right answers, interaction) is flagged with the statement's words. Problems of
Codeforces get the id that the platform writes, "1873A"; the data set's "1873_A" is another id of theirs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from db.importing import Refusal
from db.json_lines import json_kind
from db.records import (
    ContestRecord,
    DateClaim,
    IoKind,
    ProblemKey,
    ProblemRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from ingest.dates import read_zoneless_date
from ingest.errors import BadRow
from ingest.fields import long_text, optional_text, required_text
from ingest.formats import Item
from ingest.formats._rows import read_problems
from ingest.hidden_tests import weak_tests
from ingest.starter_code import read_functions
from ingest.statements.free_order import for_function
from ingest.statements.wording import Wording, read_wording
from ingest.text import encode_test_text, require_call_test
from ingest.wire import decode_wire_tests

NAME = "livecodebench"
DESCRIPTION = "rows of the LiveCodeBench data set, .jsonl or .jsonl.gz"

_IO_KINDS = {"stdin": IoKind.STDIN, "functional": IoKind.FUNCTION}
_CODEFORCES_ID = re.compile(r"(\d+)_([A-Z]\d?)", re.ASCII)
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def read(path: Path) -> Iterator[Item]:
    """Stream the problems of the file at `path`; a row or a single test that cannot be used becomes a refusal."""
    return read_problems(path, _problem, "question_id")


def _problem(where: str, row: dict[str, Any], refused: list[Refusal]) -> ProblemRecord:
    """The problem of one row. Consumes the row's tests; tests without an answer go to `refused`."""
    platform = required_text(row, "platform")
    native_id = required_text(row, "question_id")
    title = required_text(row, "question_title")
    contest_id = optional_text(row, "contest_id")
    dates = _dates(row)
    tests, kinds = _tests(where, row, refused)
    weak = weak_tests(tests)
    tests = _once(tests)
    suite = _suite(row, tests, kinds)
    wording = _wording(row, suite)
    flags = (*wording.flags, *weak)
    if refused:
        given = len(tests) + len(refused)
        flags = (*flags, ("partial_tests", f"{len(refused)} of {given} tests were refused at import"))
    own_id = _own_id(platform, native_id)
    return ProblemRecord(
        key=ProblemKey(platform, own_id),
        title=title,
        dates=dates,
        source=NAME,
        url=_url(platform, contest_id, native_id),
        difficulty=optional_text(row, "difficulty"),
        contest=ContestRecord(platform, contest_id) if contest_id else None,
        contest_index=_index(contest_id, native_id),
        statement=long_text(row, "question_content"),
        starter_code=long_text(row, "starter_code"),
        suite=replace(suite, comparison=wording.comparison) if suite else None,
        flags=flags,
        other_ids=(native_id,) if own_id != native_id else (),
    )


def _wording(row: dict[str, Any], suite: SuiteRecord | None) -> Wording:
    """What the statement says of the answers; a list in any order is compared so, and no reason for a flag."""
    statement = long_text(row, "question_content")
    if suite is None or suite.entry_point is None:
        return read_wording(statement)
    wording = read_wording(statement, is_call=True)
    function = read_functions(long_text(row, "starter_code")).get(suite.entry_point)
    return for_function(wording, statement, function.returns) if function else wording


def _own_id(platform: str, native_id: str) -> str:
    """The id that the platform itself uses: what its live source would give."""
    match = _CODEFORCES_ID.fullmatch(native_id) if platform == "codeforces" else None
    return f"{match[1]}{match[2]}" if match else native_id


def _dates(row: dict[str, Any]) -> tuple[DateClaim, ...]:
    written = optional_text(row, "contest_date")
    return (read_zoneless_date(written, NAME),) if written else ()


def _suite(row: dict[str, Any], tests: tuple[TestCaseRecord, ...], kinds: set[IoKind]) -> SuiteRecord | None:
    if not tests:
        return None
    entry_point = _entry_point(row)
    if not kinds:
        kinds = {IoKind.FUNCTION if entry_point else IoKind.STDIN}
    if len(kinds) > 1:
        raise BadRow("mixes tests for stdin with functional ones", "give all tests of a problem the same testtype")
    (kind,) = kinds
    if kind is IoKind.STDIN:
        return SuiteRecord(tests)
    if entry_point is None:
        raise BadRow("has functional tests, but its metadata names no function", 'put {"func_name": "..."} in metadata')
    return SuiteRecord(tests, IoKind.FUNCTION, entry_point)


def _entry_point(row: dict[str, Any]) -> str | None:
    metadata = row.get("metadata")
    if isinstance(metadata, str) and metadata.strip():
        metadata = _parse_json("metadata", metadata)
    if not metadata:
        return None
    if not isinstance(metadata, dict):
        raise BadRow(
            f"metadata is {json_kind(metadata)}, not an object", "write metadata as a JSON object or leave it out"
        )
    return optional_text(metadata, "func_name")


def _tests(where: str, row: dict[str, Any], refused: list[Refusal]) -> tuple[tuple[TestCaseRecord, ...], set[IoKind]]:
    """All tests, public ones first, and the kinds they state."""
    kinds: set[IoKind] = set()
    public = _cases(f"{where}, public test", _public(row), TestOrigin.SAMPLE, refused, kinds)
    private = _cases(f"{where}, private test", _private(row), TestOrigin.OFFICIAL, refused, kinds)
    return (*public, *private), kinds


def _once(tests: tuple[TestCaseRecord, ...]) -> tuple[TestCaseRecord, ...]:
    """The tests without the public ones that are repeated among the private."""
    public = {(test.input, test.expected) for test in tests if test.origin is TestOrigin.SAMPLE}
    return tuple(
        test for test in tests if test.origin is TestOrigin.SAMPLE or (test.input, test.expected) not in public
    )


def _public(row: dict[str, Any]) -> list[Any]:
    return _as_list("public_test_cases", row.pop("public_test_cases", None))


def _private(row: dict[str, Any]) -> list[Any]:
    """The private tests, taken out of `row` so that the encoded form is gone before the decoded one has grown."""
    name = "private_test_cases"
    value = row.get(name)
    if isinstance(value, str) and value.strip() and value.lstrip()[0] not in "[{":
        del value
        return _as_list(name, decode_wire_tests(row.pop(name)))
    return _as_list(name, row.pop(name, None))


def _as_list(name: str, value: object) -> list[Any]:
    if isinstance(value, str) and value.strip():
        value = _parse_json(name, value)
    if value is None or value == "":
        return []
    if not isinstance(value, list):
        raise BadRow(f"{name} holds {json_kind(value)}, not a list of tests", f"write {name} as a JSON list of tests")
    return value


def _parse_json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRow(f"{name} is not JSON ({error})", "fetch the row again: it may be cut off") from None


def _cases(
    where: str, given: list[Any], origin: TestOrigin, refused: list[Refusal], kinds: set[IoKind]
) -> list[TestCaseRecord]:
    """The tests of one list, named "sample-1" and so on. Empties `given`: a text goes when its bytes come."""
    given.reverse()
    cases: list[TestCaseRecord] = []
    number = 0
    while given:
        number += 1
        try:
            cases.append(_case(given.pop(), f"{origin.value}-{number}", origin, kinds))
        except BadRow as error:
            refused.append(Refusal(f"{where} {number}", error.reason, error.hint))
    return cases


def _case(test: object, name: str, origin: TestOrigin, kinds: set[IoKind]) -> TestCaseRecord:
    if not isinstance(test, dict):
        raise BadRow(
            f"is {json_kind(test)}, not a test", 'write a test as {"input": ..., "output": ..., "testtype": ...}'
        )
    texts = []
    for key, what in (("input", "input"), ("output", "expected output")):
        text = test.get(key)
        if text is None:
            raise BadRow(f"has no {what}", f'give "{key}"; an empty text is allowed, a missing one is not')
        if not isinstance(text, str):
            raise BadRow(f"has {json_kind(text)} as its {what}, not a text", f'write "{key}" in quotes')
        texts.append(encode_test_text(key, text))
    kind = test.get("testtype")
    if kind is not None:
        if not isinstance(kind, str) or kind not in _IO_KINDS:
            raise BadRow(f"has the unknown testtype {kind!r}", "use stdin or functional")
        kinds.add(_IO_KINDS[kind])
        if _IO_KINDS[kind] is IoKind.FUNCTION:
            require_call_test(texts[0], texts[1])
    return TestCaseRecord(name, texts[0], texts[1], origin)


def _index(contest_id: str | None, native_id: str) -> str | None:
    """The letter in ids like "1873_A" or "abc309_e"."""
    if contest_id and native_id.startswith(f"{contest_id}_"):
        return native_id.removeprefix(f"{contest_id}_").upper() or None
    return None


def _url(platform: str, contest_id: str | None, native_id: str) -> str | None:
    """The problem's page where the ids determine it. LeetCode's pages need a slug that the rows do not have."""
    if not contest_id or not _PLAIN_ID.fullmatch(contest_id) or not _PLAIN_ID.fullmatch(native_id):
        return None
    if platform == "atcoder":
        return f"https://atcoder.jp/contests/{contest_id}/tasks/{native_id}"
    if platform == "codeforces" and (index := _index(contest_id, native_id)):
        return f"https://codeforces.com/contest/{contest_id}/problem/{index}"
    return None
