"""A stored suite becomes the sandbox's with all that judges it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from db.records import IoKind, SuiteRecord, TestCaseRecord, TestOrigin
from eval.judging import to_suite
from sandbox import Io
from sandbox.plain import checker_as_plain, groups_as_plain, signature_as_plain
from sandbox.programs import Checker, Group, Groups, Program, Protocol, Signature

CHECKER = Checker(Program("int main() {}", "cpp17", (("a.h", ""),)), Protocol.TESTLIB, ("fast",))
GROUPS = Groups((("", Group()), ("secret", Group(accept_score=2.0))), scoring=True)
SIGNATURE = Signature(("integer",), "integer")
RECORD = SuiteRecord(
    (
        TestCaseRecord("secret/1", b"1\n", b"1\n", TestOrigin.OFFICIAL, checker_flags=("slow",)),
        TestCaseRecord("secret/2", b"2\n", b"2\n", TestOrigin.OFFICIAL),
        TestCaseRecord("secret/3", b"3\n", None, TestOrigin.OFFICIAL),
    )
)


def test_checkers_and_groups() -> None:
    suite = to_suite(replace(RECORD, checker=checker_as_plain(CHECKER), groups=groups_as_plain(GROUPS)))
    assert (suite.checker, suite.groups, suite.signature) == (CHECKER, GROUPS, None)
    assert [(test.name, test.checker_flags) for test in suite.tests] == [("secret/1", ("slow",)), ("secret/2", None)]


def test_signatures() -> None:
    plain = signature_as_plain(SIGNATURE)
    suite = to_suite(replace(RECORD, io_kind=IoKind.FUNCTION, entry_point="double", signature=plain))
    assert (suite.io, suite.entry_point, suite.signature) == (Io.FUNCTION, "double", SIGNATURE)


def test_interactive_suites() -> None:
    suite = to_suite(replace(RECORD, io_kind=IoKind.INTERACTIVE, checker=checker_as_plain(CHECKER)))
    assert suite.io is Io.INTERACTIVE


@pytest.mark.parametrize(
    "rules",
    [
        {"checker": {"source": "x"}},
        {"groups": {"rules": {"": {"on_reject": "wait"}}}},
        {"signature": {"of": "a newer version"}},
        {"io_kind": IoKind.INTERACTIVE},
        {"io_kind": IoKind.DESIGN},
    ],
)
def test_rules_that_this_version_cannot_read_are_no_suite(rules: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"field|must be|needs"):
        to_suite(replace(RECORD, **rules))
