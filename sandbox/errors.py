"""The faults of the sandbox itself, never of a program.

SandboxError
├── SandboxUnavailable   no executor here: no daemon, no image, no bubblewrap (says what to do)
├── NotInSandbox         a program needs a language or a package that this executor does not have
├── JailFault            one jail broke or broke the protocol; it is replaced and the test repeated
└── NotIsolated          the jail has too few layers of isolation; nothing runs in it
"""

from __future__ import annotations


class SandboxError(Exception):
    """A fault of the sandbox: ``message`` says what, ``hint`` what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SandboxUnavailable(SandboxError):
    """Nothing can be judged here: something needed is not installed or does not answer."""


class NotInSandbox(SandboxError):
    """A program needs what this executor does not have."""


class JailFault(SandboxError):
    """A jail ended, hung or spoke nonsense."""


class NotIsolated(SandboxError):
    """A jail came up without the layers that keep programs in."""
