"""Our own form of problems: JSON lines, plain or ``.gz``, one problem an object.

=================== ================================================================================================
field               meaning
=================== ================================================================================================
platform, id        who published the problem and under which id; together they are its identity
title               its title
url                 its page (optional, like all that follow)
contest             ``{"id", "title"?, "starts_at"?}``; ``starts_at`` is an instant with its zone
index               its place in the contest ("A")
released            when it became public: ``"2024-05-04T12:00:00Z"``, ``"2024-05-04"``, ``"2024-05"``, ``"2024-Q2"``,
                    ``"2024"``, or ``{"value": ..., "source": ...}``, or a list of those. Left out: the start of its
                    contest; if that is not known either, the problem has no date and is never scored by cut-off
difficulty          as the platform gives it
statement           its text
io                  ``"stdin"`` (default), ``"function"``, ``"design"`` or ``"interactive"``
entry_point         for functions: the name of the method of ``class Solution``; for designs: that of the class
signature           types of what is called: ``{"parameters"?: [types], "returns"?: type, "answer"?: index,
                    "methods"?: {name: signature}}``, as ``sandbox.Signature`` explains them
starter_code        what a solver starts from
time_limit_s        CPU seconds for one test
memory_limit_bytes  memory for one test
comparison          ``{"absolute_tolerance"?, "relative_tolerance"?, "case_sensitive"?, "space_sensitive"?,
                    "assume_tolerance"?, "unordered"?}``, as ``sandbox.Comparison`` explains them
checker             the program that judges answers in place of the comparison, and with which interactive programs
                    talk: ``{"program": {"source", "language"?, "files"?: {name: text}}, "protocol"?, "flags"?,
                    "limits"?}``, as ``sandbox.Checker`` explains them
groups              how tests are graded in groups: ``{"rules": {folder: rules}, "scoring"?, "minimise"?,
                    "full_score"?}``, as ``sandbox.Groups`` explains them; a test's groups are its name's folders
flags               names, or ``{"name", "reason"}``: ``"interactive"``, ``"multiple_answers"``, ``"bad_tests"``, ...
tests               ``[{"input", "expected", "name"?, "origin"?, "comparison"?, "checker_flags"?}]``. ``origin`` is
                    ``sample``, ``official`` (default), ``generated`` or ``recovered``. For functions, ``input`` is
                    one JSON value a line for each argument, ``expected`` one JSON value; for designs, a list of
                    names and one of argument lists, and the list of results
references          all programs that come with it: ``[{"name", "language", "code", "role"?}]``. ``role`` is
                    ``accepted`` (default: known to be right), ``brute_force``, ``wrong``, ``too_slow``,
                    ``generator`` or ``validator``; ``[]`` takes back former ones
=================== ================================================================================================

A field that is not in this table is refused by its name, so that a typo does not pass for an absent field; so is a
platform that is one slip away from one of the sources' names, since it would be a platform of its own for ever. A row
that is refused is named by its line: the file itself keeps it as it was, to be mended and imported again. A test
without ``expected`` is refused alone, and so is a recovered one that its source cut off with "..."; the problem is
taken with the others and flagged ``partial_tests``. `as_row` writes this form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from db.importing import Refusal
from db.json_lines import json_kind
from db.records import (
    ContestRecord,
    DateClaim,
    IoKind,
    Precision,
    ProblemKey,
    ProblemRecord,
    ProgramRole,
    ReferenceRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from ingest.comparison import read_comparison
from ingest.dates import read_date
from ingest.errors import BadRow, UnreadableDate
from ingest.fields import long_text, optional_text, positive_number, refuse_unknown, required_text
from ingest.formats import Item
from ingest.formats._rows import read_problems
from ingest.rules import read_checker, read_groups, read_signature, require_judgeable
from ingest.sources import source_names
from ingest.text import encode_test_text, require_call_test, storable

NAME = "jsonl"
DESCRIPTION = "this project's own form: one problem with its tests a line, .jsonl or .jsonl.gz"

Choice = TypeVar("Choice", IoKind, ProgramRole, TestOrigin)

_FIELDS = frozenset(
    {"platform", "id", "title", "url", "contest", "index", "released", "difficulty", "statement", "io", "entry_point"}
    | {"starter_code", "time_limit_s", "memory_limit_bytes", "comparison", "flags", "tests"}
    | {"signature", "checker", "groups", "references"}
)
_TEST_FIELDS = frozenset({"name", "input", "expected", "origin", "comparison", "checker_flags"})
_REFERENCE_FIELDS = frozenset({"name", "language", "code", "role"})
_CALL_BASED = (IoKind.FUNCTION, IoKind.DESIGN)
_CONTEST_FIELDS = frozenset({"id", "title", "starts_at"})
_LONG_NAME = 5


def read(path: Path) -> Iterator[Item]:
    """Stream the problems of the file at `path`; a row or a single test that cannot be used becomes a refusal."""
    return read_problems(path, _problem, "id")


def _problem(where: str, row: dict[str, Any], refused: list[Refusal]) -> ProblemRecord:
    refuse_unknown(row, _FIELDS, "a problem")
    key = ProblemKey(_platform(row), required_text(row, "id"))
    contest = _contest(key.platform, row.get("contest"))
    call_based = row.get("io") in _CALL_BASED
    suite = _suite(row, _tests(where, row.get("tests", []), call_based, refused))
    flags = _flags(row.get("flags"))
    if refused and all(name != "partial_tests" for name, _ in flags):
        given = len(refused) + (len(suite.tests) if suite else 0)
        flags = (*flags, ("partial_tests", f"{len(refused)} of {given} tests were refused at import"))
    return ProblemRecord(
        key=key,
        title=required_text(row, "title"),
        dates=_dates(row, contest),
        source=NAME,
        url=optional_text(row, "url"),
        difficulty=optional_text(row, "difficulty"),
        contest=contest,
        contest_index=optional_text(row, "index"),
        statement=long_text(row, "statement"),
        starter_code=long_text(row, "starter_code"),
        suite=suite,
        flags=flags,
        references=None if row.get("references") is None else _references(row["references"]),
    )


def _platform(row: dict[str, Any]) -> str:
    """The platform, refused when it is a slip of the pen for a known one. Short names are all alike (AOJ, BOJ, POJ)."""
    written = required_text(row, "platform")
    known = source_names()
    for name in known:
        alike = written.casefold() == name or (len(name) >= _LONG_NAME and _is_one_slip(written.casefold(), name))
        if alike and written not in known:
            raise BadRow(
                f"platform is {written!r}, which is nearly {name!r}",
                f"write {name!r}, or call a platform of your own something less alike",
            )
    return written


def _is_one_slip(written: str, meant: str) -> bool:
    """Whether one letter is missing, too many or another one, or two neighbours have changed places."""
    same = _n_shared(written, meant)
    first, second = written[same:][::-1], meant[same:][::-1]
    same = _n_shared(first, second)
    first, second = first[same:], second[same:]
    return max(len(first), len(second)) <= 1 or (len(first) == 2 and first == second[::-1])


def _n_shared(first: str, second: str) -> int:
    """How many letters two words share from their beginning on."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(second)))


def _contest(platform: str, given: object) -> ContestRecord | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise BadRow(f"contest is {json_kind(given)}, not an object", 'write {"id": ..., "title": ...}')
    refuse_unknown(given, _CONTEST_FIELDS, "a contest")
    written = optional_text(given, "starts_at")
    start = read_date(written, NAME) if written else None
    if start and start.precision is not Precision.INSTANT:
        raise UnreadableDate(
            f"contest: starts_at is the {start.precision} {written!r}, not an instant",
            "write it as 2024-05-04T12:00:00Z, or put the coarse date into the problem's field released",
        )
    return ContestRecord(
        platform, required_text(given, "id"), optional_text(given, "title"), start.earliest if start else None
    )


def _dates(row: dict[str, Any], contest: ContestRecord | None) -> tuple[DateClaim, ...]:
    given = row.get("released")
    if given not in (None, []):
        return tuple(_date(one) for one in (given if isinstance(given, list) else [given]))
    if contest and contest.starts_at:
        written = optional_text(row["contest"], "starts_at") or ""
        return (DateClaim(written, contest.starts_at, Precision.INSTANT, f"{NAME}: start of the contest"),)
    return ()


def _date(given: object) -> DateClaim:
    source = NAME
    if isinstance(given, dict):
        refuse_unknown(given, ("value", "source"), "released")
        source = optional_text(given, "source") or NAME
        given = given.get("value")
    if not isinstance(given, str):
        raise UnreadableDate(f"released is {json_kind(given)}, not a date", 'write a date in quotes, like "2024-05-04"')
    try:
        return read_date(given, source)
    except UnreadableDate as error:
        raise UnreadableDate(f"released: {error.reason}", error.hint) from None


def _flags(given: object) -> tuple[tuple[str, str], ...]:
    flags = []
    for entry in _list("flags", given):
        flag = {"name": entry} if isinstance(entry, str) else entry
        if not isinstance(flag, dict):
            raise BadRow(f"flags holds {json_kind(flag)}", 'write a flag as "name" or {"name": ..., "reason": ...}')
        refuse_unknown(flag, ("name", "reason"), "a flag")
        flags.append((required_text(flag, "name"), optional_text(flag, "reason") or ""))
    return tuple(flags)


def _list(name: str, given: object) -> list[Any]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise BadRow(f"{name} is {json_kind(given)}, not a list", f"write {name} as a list: [...]")
    return given


def _suite(row: dict[str, Any], tests: tuple[TestCaseRecord, ...]) -> SuiteRecord | None:
    """The suite, with its contract checked even when there are no tests (then None)."""
    kind = _choice(IoKind, "io", row.get("io"), IoKind.STDIN)
    entry_point = optional_text(row, "entry_point")
    if kind in _CALL_BASED and entry_point is None:
        raise BadRow(f"io is {kind}, but entry_point is missing", "give the method's or class's name as entry_point")
    if kind not in _CALL_BASED and entry_point is not None:
        raise BadRow(f"entry_point is given, but io is {kind}", 'write "io": "function", or remove entry_point')
    memory = positive_number(row, "memory_limit_bytes")
    if memory is not None and not isinstance(memory, int):
        raise BadRow(f"memory_limit_bytes is {memory}", "write memory_limit_bytes as a whole number of bytes")
    suite = SuiteRecord(
        tests=tests,
        io_kind=kind,
        entry_point=entry_point,
        comparison=read_comparison(row.get("comparison")),
        time_limit_s=positive_number(row, "time_limit_s"),
        memory_limit_bytes=memory,
        signature=read_signature(row.get("signature")),
        checker=read_checker(row.get("checker")),
        groups=read_groups(row.get("groups")),
    )
    if not tests:
        return None
    require_judgeable(suite)
    return suite


def _references(given: object) -> tuple[ReferenceRecord, ...]:
    references: list[ReferenceRecord] = []
    for number, one in enumerate(_list("references", given), start=1):
        if not isinstance(one, dict):
            raise BadRow(f"reference {number} is {json_kind(one)}", 'write {"name": ..., "language": ..., "code": ...}')
        refuse_unknown(one, _REFERENCE_FIELDS, f"reference {number}")
        code = one.get("code")
        if not isinstance(code, str):
            raise BadRow(f"reference {number} has {json_kind(code)} as code", "write its program as one text")
        role = _choice(ProgramRole, f"role of reference {number}", one.get("role"), ProgramRole.ACCEPTED)
        reference = ReferenceRecord(required_text(one, "name"), required_text(one, "language"), code, role)
        if any(reference.name == other.name for other in references):
            raise BadRow(f"two references are called {reference.name!r}", "give each reference its own name")
        references.append(reference)
    return tuple(references)


def _choice(kinds: type[Choice], name: str, given: object, default: Choice) -> Choice:
    if given is None:
        return default
    for kind in kinds:
        if kind == given:
            return kind
    shown = repr(given) if isinstance(given, str) else json_kind(given)
    raise BadRow(f"{name} is {shown}", f"write {name} as one of: {', '.join(kinds)}")


def _tests(where: str, given: object, call_based: bool, refused: list[Refusal]) -> tuple[TestCaseRecord, ...]:
    if given is None:  # Who writes the field has lost its value: that is not the same as having no tests.
        raise BadRow("tests is null, not a list", "leave tests out where there are none")
    tests: list[TestCaseRecord] = []
    names: set[str] = set()
    counts: dict[TestOrigin, int] = {}
    for number, test in enumerate(_list("tests", given), start=1):
        if not isinstance(test, dict):
            raise BadRow(f"test {number} is {json_kind(test)}", 'write a test as {"input": ..., "expected": ...}')
        refuse_unknown(test, _TEST_FIELDS, f"test {number}")
        origin = _choice(TestOrigin, f"origin of test {number}", test.get("origin"), TestOrigin.OFFICIAL)
        counts[origin] = counts.get(origin, 0) + 1
        name = optional_text(test, "name") or f"{origin}-{counts[origin]}"
        if name in names:
            raise BadRow(f"two tests are called {name!r}", "give each test its own name, or leave the names out")
        names.add(name)
        try:
            tests.append(_test(test, name, origin, call_based))
        except BadRow as error:
            refused.append(Refusal(f"{where}, test {number}", error.reason, error.hint))
    return tuple(tests)


def _test(test: dict[str, Any], name: str, origin: TestOrigin, call_based: bool) -> TestCaseRecord:
    for key in ("input", "expected"):
        if test.get(key) is None:
            raise BadRow(f"has no {key}", f'give "{key}"; an empty text is allowed, a missing one is not')
        if not isinstance(test[key], str):
            raise BadRow(f"has {json_kind(test[key])} as {key}, not a text", f'write "{key}" in quotes')
        if origin is TestOrigin.RECOVERED and test[key].endswith("..."):
            raise BadRow(f"has its {key} cut off by its source", "use the whole test, or leave it out")
    comparison = read_comparison(test["comparison"]) if test.get("comparison") is not None else None
    given, expected = encode_test_text("input", test["input"]), encode_test_text("expected", test["expected"])
    if call_based:
        require_call_test(given, expected)
    return TestCaseRecord(name, given, expected, origin, comparison, _checker_flags(test.get("checker_flags")))


def _checker_flags(given: object) -> tuple[str, ...] | None:
    if given is None:
        return None
    flags = _list("checker_flags", given)
    if not all(isinstance(flag, str) for flag in flags):
        raise BadRow("checker_flags holds what is no text", 'write checker_flags as ["one", "two"]')
    return tuple(storable("checker_flags", flag) for flag in flags)


def as_row(record: ProblemRecord) -> dict[str, Any]:
    """The problem as a row of this form, without empty fields. Tests must be UTF-8 text, as all imported ones are."""
    suite = record.suite or SuiteRecord(())
    contest = record.contest
    row: dict[str, Any] = {
        "platform": record.key.platform,
        "id": record.key.native_id,
        "title": record.title,
        "url": record.url,
        "contest": contest
        and _present({"id": contest.native_id, "title": contest.title, "starts_at": _start(contest)}),
        "index": record.contest_index,
        "released": [{"value": _written(claim), "source": claim.source} for claim in record.dates],
        "difficulty": record.difficulty,
        "statement": record.statement,
        "io": suite.io_kind.value,
        "entry_point": suite.entry_point,
        "signature": suite.signature,
        "starter_code": record.starter_code,
        "time_limit_s": suite.time_limit_s,
        "memory_limit_bytes": suite.memory_limit_bytes,
        "comparison": suite.comparison,
        "checker": suite.checker,
        "groups": suite.groups,
        "flags": [{"name": name, "reason": reason} for name, reason in record.flags],
        "tests": [_test_row(test) for test in suite.tests],
    }
    # No references at all is something else than nothing said of them.
    references = None if record.references is None else [asdict(reference) for reference in record.references]
    return _present(row) | ({} if references is None else {"references": references})


def _written(claim: DateClaim) -> str:
    """The claim's own words where this form can read them back, else its earliest instant at its precision."""
    try:
        if read_date(claim.as_written, claim.source) == claim:
            return claim.as_written
    except UnreadableDate:
        pass
    day = claim.earliest.date().isoformat()
    quarter = (claim.earliest.month + 2) // 3
    return {
        Precision.INSTANT: claim.earliest.isoformat(),
        Precision.DAY: day,
        Precision.MONTH: day[:7],
        Precision.QUARTER: f"{day[:4]}-Q{quarter}",
        Precision.YEAR: day[:4],
    }[claim.precision]


def _start(contest: ContestRecord) -> str | None:
    return contest.starts_at.isoformat() if contest.starts_at else None


def _test_row(test: TestCaseRecord) -> dict[str, Any]:
    row: dict[str, Any] = {"name": test.name, "input": test.input.decode(), "origin": test.origin.value}
    if test.expected is not None:
        row["expected"] = test.expected.decode()
    if test.comparison is not None:
        row["comparison"] = test.comparison
    if test.checker_flags is not None:
        row["checker_flags"] = list(test.checker_flags)
    return row


def _present(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}
