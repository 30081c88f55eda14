"""Programs in, verdicts out: a sandbox that runs untrusted solutions against tests. A library on its own."""

from __future__ import annotations

from sandbox.environment import Environment
from sandbox.errors import JailFault, NotIsolated, SandboxError, SandboxUnavailable
from sandbox.judge import EXECUTORS, Job, Judge
from sandbox.languages import UnknownLanguage
from sandbox.programs import Comparison, Io, Limits, Program, Suite, Test
from sandbox.verdicts import Facts, Outcome, TestResult, Verdict

__all__ = [
    "EXECUTORS",
    "Comparison",
    "Environment",
    "Facts",
    "Io",
    "JailFault",
    "Job",
    "Judge",
    "Limits",
    "NotIsolated",
    "Outcome",
    "Program",
    "SandboxError",
    "SandboxUnavailable",
    "Suite",
    "Test",
    "TestResult",
    "UnknownLanguage",
    "Verdict",
]
