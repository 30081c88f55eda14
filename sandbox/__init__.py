"""Programs in, verdicts out: a sandbox that runs untrusted solutions against tests. A library on its own."""

from __future__ import annotations

from sandbox.cells import Counters
from sandbox.environment import Environment
from sandbox.errors import JailFault, NotInSandbox, NotIsolated, SandboxError, SandboxUnavailable
from sandbox.judge import EXECUTORS, Job, Judge
from sandbox.languages import UnknownLanguage
from sandbox.outputs import Output
from sandbox.programs import (
    Allowance,
    Checker,
    Comparison,
    Grader,
    Io,
    Limits,
    Program,
    Protocol,
    Signature,
    Suite,
    Test,
)
from sandbox.verdicts import Facts, GroupResult, Outcome, TestResult, Verdict

__all__ = [
    "EXECUTORS",
    "Allowance",
    "Checker",
    "Comparison",
    "Counters",
    "Environment",
    "Facts",
    "Grader",
    "GroupResult",
    "Io",
    "JailFault",
    "Job",
    "Judge",
    "Limits",
    "NotInSandbox",
    "NotIsolated",
    "Outcome",
    "Output",
    "Program",
    "Protocol",
    "SandboxError",
    "SandboxUnavailable",
    "Signature",
    "Suite",
    "Test",
    "TestResult",
    "UnknownLanguage",
    "Verdict",
]
