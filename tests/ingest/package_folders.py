"""Packages that tests make up, and the small ones on disk that have all that judges a program."""

from __future__ import annotations

from pathlib import Path

from db.records import ProblemRecord, SuiteRecord
from tests.ingest.reading import DATA, read

JUDGED = DATA / "judged" / "second-cup-2025"


def package(folder: Path, yaml: str = "name: Small\n", **files: bytes | str) -> Path:
    """A package called "small" in `folder`, beside a folder that is none; `files` by path, with "__" for "/"."""
    root = folder / "small"
    (folder / "other").mkdir(exist_ok=True)
    defaults: dict[str, bytes | str] = {"data__secret__1.in": "1\n", "data__secret__1.ans": "2\n"}
    for name, content in (defaults | {"problem.yaml": yaml} | files).items():
        file = root / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def judged_problems() -> dict[str, ProblemRecord]:
    """The packages of ``JUDGED`` by name; nothing in them is refused or flagged."""
    found = read("kattis", JUDGED)
    assert found.refusals == []
    assert [problem.flags for problem in found.problems] == [()] * 4
    return {problem.key.native_id.rpartition("/")[2]: problem for problem in found.problems}


def suite_of(problem: ProblemRecord) -> SuiteRecord:
    """The problem's suite, which it must have."""
    assert problem.suite is not None
    return problem.suite


def flags_of(folder: Path) -> dict[str, str]:
    """The flags of the one package in `folder`, with their reasons."""
    return dict(read("kattis", folder).one.flags)
