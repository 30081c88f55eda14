"""The cases of ``checkers.toml`` and ``interaction.toml``: programs that are judged by checkers, read strictly.

A file names its checkers once, under ``checkers``; a case says which one judges it, and may change its flags.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

import pytest

from sandbox import Io, Limits, Program, Suite, Test, Verdict
from sandbox.programs import MIB, Checker, Group, Groups, Protocol
from tests.sandbox.case_files import CASES


@dataclass(frozen=True)
class CheckerCase:
    """A program, a suite with a checker, and what is right: the verdict, the score, parts of the detail and of the
    transcript."""

    name: str
    program: Program
    suite: Suite
    verdict: Verdict
    detail_contains: str
    score: float | None
    transcript_contains: str
    languages: frozenset[str]


def checker_cases(file: str) -> list[Any]:
    """The cases of a file as parameters of a test."""
    tables = tomllib.loads((CASES / f"{file}.toml").read_text(encoding="utf-8"))
    checkers = tables["checkers"]
    used = set()
    params = []
    for table in tables["case"]:
        used.add(table["checker"])
        label = f"{file}: {table['name']}"
        case = _case(file, table, dict(checkers[table.pop("checker")]))
        if table:
            raise ValueError(f"{label}: unknown keys {sorted(table)}")
        params.append(pytest.param(case, id=label))
    if used != set(checkers):
        raise ValueError(f"{file}: checkers that no case uses: {sorted(set(checkers) - used)}")
    return params


def _case(file: str, table: dict[str, Any], checker_table: dict[str, Any]) -> CheckerCase:
    checker = _checker(checker_table, table)
    program = Program(_text(table.pop("program")), table.pop("language", "python3"))
    scoring = table.pop("scoring", None)
    tests = table.pop("tests", None) or [{key: table.pop(key) for key in ("input", "expected") if key in table}]
    suite = Suite(
        tuple(_test(number, test) for number, test in enumerate(tests, start=1)),
        io=Io.INTERACTIVE if file == "interaction" else Io.STDIN,
        limits=_limits(table.pop("limits", {}), Limits(cpu_s=1.0, memory_bytes=256 * MIB, output_bytes=MIB)),
        checker=checker,
        groups=None if scoring is None else Groups((("", Group(accept_score=scoring.get("accept"))),), scoring=True),
    )
    return CheckerCase(
        name=table.pop("name"),
        program=program,
        suite=suite,
        verdict=Verdict(table.pop("verdict")),
        detail_contains=table.pop("detail_contains", ""),
        score=table.pop("score", None),
        transcript_contains=table.pop("transcript_contains", ""),
        languages=frozenset((program.language, checker.program.language)),
    )


def _checker(table: dict[str, Any], case: dict[str, Any]) -> Checker:
    files = tuple((name, text) for name, text in table.pop("files", {}).items())
    checker = Checker(
        Program(_text(table.pop("source")), table.pop("language", "python3"), files),
        Protocol(table.pop("protocol", "kattis")),
        tuple(case.pop("flags", ())),
        _limits(case.pop("checker_limits", {}), Limits(cpu_s=5.0, memory_bytes=512 * MIB, output_bytes=MIB)),
    )
    if table:
        raise ValueError(f"unknown keys of a checker: {sorted(table)}")
    return checker


def _test(number: int, table: dict[str, Any]) -> Test:
    flags = table.pop("flags", None)
    test = Test(
        table.pop("name", str(number)),
        _text(table.pop("input", "")).encode(),
        _text(table.pop("expected", "")).encode(),
        checker_flags=None if flags is None else tuple(flags),
    )
    if table:
        raise ValueError(f"unknown keys of a test: {sorted(table)}")
    return test


def _limits(table: dict[str, Any], usual: Limits) -> Limits:
    limits = Limits(
        cpu_s=table.pop("cpu_s", usual.cpu_s),
        memory_bytes=table.pop("memory_mib", usual.memory_bytes // MIB) * MIB,
        output_bytes=table.pop("output_kib", usual.output_bytes // 1024) * 1024,
        wall_s=table.pop("wall_s", None),
    )
    if table:
        raise ValueError(f"unknown limits {sorted(table)}")
    return limits


def _text(given: str | list[Any]) -> str:
    """A text, or a list of texts and of [text, how many times]."""
    if isinstance(given, str):
        return given
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in given)
