"""The cases of the folder ``cases``, read strictly: a key that nothing reads is an error, not a comment.

A text may be given as a string, in hex under ``NAME_hex``, as a list of strings and of [string, how many times], or as
``{text, times, end, end_text, end_times}``: ``text`` repeated, then ``end``, then ``end_text`` repeated.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox import Comparison, Io, Limits, Program, Suite, Test, Verdict, plain
from sandbox.programs import MIB

CASES = Path(__file__).parent / "cases"

# The files of call-based programs, with what is called unless a case says otherwise.
_CALLED = dict.fromkeys(("calls", "hostile_calls", "nodes"), (Io.FUNCTION, "f")) | {"design": (Io.DESIGN, "Design")}
_DEFAULT_INPUT, _DEFAULT_EXPECTED = "1 2\n", "3\n"

# "SANDBOX 8 row 5", "section 8 rows 7, 8": rows of the table of hostile programs.
_ROWS = re.compile(r"\b8 rows? (\d+(?:, \d+)*)")


@dataclass(frozen=True)
class JudgeCase:
    """A program, its suite, and the verdicts that are right for it (more than one where the system may choose).

    ``rows`` are those of the table of hostile programs (SANDBOX.md, section 8) that its source names; ``idle`` is what
    its last result must say, where the case says so.
    """

    name: str
    program: Program
    suite: Suite
    verdicts: frozenset[Verdict]
    detail_contains: str
    rows: frozenset[int]
    idle: bool | None
    file: str

    @property
    def is_hostile(self) -> bool:
        """Whether the program is out to spoil something."""
        return bool(self.rows) or self.file.startswith("hostile")


@dataclass(frozen=True)
class ComparisonCase:
    """An expected and a given output or value, and whether the one is taken for the other."""

    name: str
    expected: bytes
    got: bytes
    comparison: Comparison
    values: bool
    right: bool


def judge_cases(*names: str) -> list[Any]:
    """The cases of these files as parameters of a test, each called ``FILE: NAME``."""
    return _params(names, _judge_case)


def hostile_cases(*names: str) -> list[Any]:
    """Those of these files that are hostile: all of a file of such, and what is a row of the table in others."""
    return [param for param in judge_cases(*names) if param.values[0].is_hostile]


def comparison_cases(*names: str) -> list[Any]:
    """The same for cases that nothing runs for."""
    return _params(names, _comparison_case)


def _params(names: Iterable[str], make: Any) -> list[Any]:
    params = []
    for name in names:
        for table in tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))["case"]:
            label = f"{name}: {table['name']}"
            case = make(name, table)
            if table:
                raise ValueError(f"{label}: unknown keys {sorted(table)}")
            params.append(pytest.param(case, id=label))
    return params


def _judge_case(file: str, table: dict[str, Any]) -> JudgeCase:
    io, entry_point = _CALLED.get(file, (Io.STDIN, None))
    source = _bytes(table, "program_repeated" if "program_repeated" in table else "program").decode()
    suite = Suite(
        tests=_tests(table),
        io=io,
        entry_point=table.pop("entry_point", entry_point),
        comparison=Comparison(**table.pop("comparison", {})),
        limits=_limits(table.pop("limits", {})),
        signature=plain.read_signature(table.pop("signature")) if "signature" in table else None,
    )
    language = table.pop("language", "python3")
    verdict = table.pop("verdict")
    return JudgeCase(
        name=table.pop("name"),
        program=Program(source, language),
        suite=suite,
        verdicts=frozenset(map(Verdict, [verdict] if isinstance(verdict, str) else verdict)),
        detail_contains=table.pop("detail_contains", ""),
        rows=_rows(table.pop("source", "")),
        idle=table.pop("idle", None),
        file=file,
    )


def _rows(source: str) -> frozenset[int]:
    return frozenset(int(number) for found in _ROWS.findall(source) for number in found.split(", "))


def _tests(table: dict[str, Any]) -> tuple[Test, ...]:
    """The tests of a case, which may be its only one."""
    if "tests" not in table:
        return (_test(1, table),)
    tables = table.pop("tests")
    tests = tuple(_test(number, test) for number, test in enumerate(tables, start=1))
    if any(tables):
        raise ValueError(f"unknown keys of a test: {[sorted(test) for test in tables if test]}")
    return tests


def _test(number: int, table: dict[str, Any]) -> Test:
    return Test(str(number), _bytes(table, "input", _DEFAULT_INPUT), _bytes(table, "expected", _DEFAULT_EXPECTED))


def _limits(table: dict[str, Any]) -> Limits:
    limits = Limits(
        cpu_s=table.pop("cpu_s", 1.0),
        memory_bytes=table.pop("memory_mib", 256) * MIB,
        output_bytes=table.pop("output_kib", 8192) * 1024,
        wall_s=table.pop("wall_s", None),
    )
    if table:
        raise ValueError(f"unknown limits {sorted(table)}")
    return limits


def _comparison_case(_file: str, table: dict[str, Any]) -> ComparisonCase:
    table.pop("source", None)
    return ComparisonCase(
        name=table.pop("name"),
        expected=_bytes(table, "expected"),
        got=_bytes(table, "got"),
        comparison=Comparison(**table.pop("comparison", {})),
        values=table.pop("values", False),
        right=table.pop("right"),
    )


def _bytes(table: dict[str, Any], key: str, default: str | None = None) -> bytes:
    if f"{key}_hex" in table:
        return bytes.fromhex(table.pop(f"{key}_hex"))
    value = table.pop(key, default)
    if isinstance(value, dict):
        parts = (
            value["text"] * value["times"],
            value.get("end", ""),
            value.get("end_text", "") * value.get("end_times", 0),
        )
        value = "".join(parts)
    if isinstance(value, list):
        value = "".join(part if isinstance(part, str) else part[0] * part[1] for part in value)
    if not isinstance(value, str):
        raise ValueError(f"no text under {key!r}")
    return value.encode()
