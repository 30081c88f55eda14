"""What verdicts depend on beside program and tests, as one digest: verdicts of two environments are never pooled."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from sandbox import languages
from sandbox.agent_files import AGENT_ENVIRONMENT, AGENT_SOURCE
from sandbox.jail import Jail, Launcher
from sandbox.programs import Grader
from sandbox.verdicts import CPU_GRACE


@dataclass(frozen=True)
class Environment:
    """An executor with all that can change a verdict; ``details`` are plain JSON values."""

    executor: str
    details: dict[str, Any]

    @property
    def digest(self) -> str:
        """sha256 over executor and details, in hex."""
        text = json.dumps([self.executor, self.details], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def describe(launcher: Launcher, jail: Jail, versions: dict[str, str], grader: Grader) -> Environment:
    """The environment that programs meet in this jail; ``versions`` are those of the languages that it has."""
    hello = jail.hello
    return Environment(
        executor=launcher.name,
        details={
            **launcher.details(),
            "python": hello.python_version,
            "machine": hello.machine,
            "isolation": {
                **jail.level.as_dict(),
                "user_switch": hello.user_switch,
                "landlock_abi": hello.landlock_abi,
                "seccomp": hello.seccomp,
            },
            "code": _code_digest(),
            "packages": hello.packages,
            "variables": AGENT_ENVIRONMENT,
            "cpu_grace": CPU_GRACE,
            "languages": {name: _language(name, version) for name, version in versions.items()},
            **({} if grader is Grader.LIVE else {"grader": grader.value}),
        },
    )


def _language(name: str, version: str) -> dict[str, Any]:
    language = languages.find(name)
    return {"version": version, "profile": language.profile, "allowance": asdict(language.allowance)}


def _code_digest() -> str:
    """Of this package's own code: how outputs are compared and facts read decides verdicts as much as the jail does."""
    digest = hashlib.sha256()
    for path in sorted(AGENT_SOURCE.parent.rglob("*.py")):
        digest.update(path.relative_to(AGENT_SOURCE.parent).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
