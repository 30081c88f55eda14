"""The report cases of the shared folder: their programs, tests and limits as the sandbox takes them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sandbox import Judge, Limits, Program, Suite, Test, Verdict
from sandbox.programs import MIB

CODES = {
    "AC": {Verdict.ACCEPTED},
    "WA": {Verdict.WRONG_ANSWER},
    "RE": {Verdict.RUNTIME_ERROR},
    "CE": {Verdict.COMPILE_ERROR},
    "TLE": {Verdict.TIME_LIMIT},
    "MLE": {Verdict.MEMORY_LIMIT},
    "OLE": {Verdict.OUTPUT_LIMIT},
    "RE or TLE": {Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT},
    "JUDGE_ERROR": {Verdict.INTERNAL_ERROR},
}


def read(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def program(folder: Path, name: str, language: str = "python3") -> Program:
    """A program of a case."""
    return Program((folder / name).read_text(encoding="utf-8"), language)


def limits(case: dict[str, Any], **changes: float) -> Limits:
    """The limits that a case states."""
    stated: dict[str, Any] = {
        "cpu_s": case.get("time_limit_ms", 2000) / 1000,
        "memory_bytes": case.get("memory_limit_mb", 256) * MIB,
        "output_bytes": case.get("output_limit_mb", 16) * MIB,
    }
    return Limits(**stated | changes)


def suite(tests: Iterable[dict[str, str]], limits: Limits) -> Suite:
    """The tests of a case's file."""
    return Suite(
        tuple(Test(str(index), test["in"].encode(), test["out"].encode()) for index, test in enumerate(tests, start=1)),
        limits=limits,
    )


def arguments(values: list[Any]) -> bytes:
    """The arguments of a call, one JSON value a line."""
    return "\n".join(map(json.dumps, values)).encode()


def value(returned: Any) -> bytes:
    """What a call returns, as JSON."""
    return json.dumps(returned).encode()


def memory_kib(name: str) -> int:
    """A figure of this process's memory."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name))


def judge_all(judge: Judge, folder: Path, submissions: list[dict[str, str]], suite: Suite) -> None:
    """See that each submission gets the verdict that the case expects."""
    for submission in submissions:
        outcome = judge.judge(program(folder, submission["file"], submission.get("language", "python3")), suite)
        assert outcome.verdict in CODES[submission["expected"]], f"{submission['file']}: {outcome}"
