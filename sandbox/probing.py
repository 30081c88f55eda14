"""Which languages a jail has, and in which versions: asked of the jail itself, since nothing outside it can know."""

from __future__ import annotations

import os
import shlex

from sandbox import languages, memory_files
from sandbox.agent import wire
from sandbox.agent_files import AGENT_ENVIRONMENT
from sandbox.compiling import RunRequest
from sandbox.languages import Language
from sandbox.programs import MIB, Limits

_LIMITS = Limits(cpu_s=10.0, memory_bytes=1024 * MIB, output_bytes=MIB)
_VERSION_BYTES = 200


def find_versions(run: RunRequest, python_version: str) -> dict[str, str]:
    """The version of each language that is there, by name; ``python_version`` is the agent's own.

    ``run`` has a request carried out in a jail; what it raises is raised.
    """
    found = {}
    said: dict[tuple[str, ...], str] = {(): python_version}
    for name in languages.names():
        language = languages.find(name)
        if language.version not in said:
            said[language.version] = _ask(run, language)
        if said[language.version]:
            found[name] = said[language.version]
    return found


def _ask(run: RunRequest, language: Language) -> str:
    """The first line that the version command prints; empty when the command is not there or fails."""
    assert language.build is not None
    command, reads = language.version, set(language.build.reads)
    if language.run is not None:
        reads |= set(language.run.reads)
    request = wire.Request(
        operation=wire.EXEC,
        has_compiled=False,
        cpu_kill_s=_LIMITS.cpu_s,
        wall_kill_s=_LIMITS.wall_kill_s,
        memory_bytes=_LIMITS.memory_bytes,
        output_bytes=_LIMITS.output_bytes,
        details={
            "command": ("/bin/sh", "-c", f"test -x {shlex.quote(command[0])} && exec {shlex.join(command)}"),
            "variables": {**AGENT_ENVIRONMENT, **language.build.variables},
            "reads": tuple(sorted(reads)),
            "may_fork": True,
        },
    )
    stdin_fd, answer_fd = memory_files.sealed(b""), memory_files.empty()
    try:
        reply = run(request, [stdin_fd, answer_fd, answer_fd])
        said = memory_files.content(answer_fd, _VERSION_BYTES).decode(errors="replace")
    finally:
        os.close(stdin_fd)
        os.close(answer_fd)
    return said.strip().partition("\n")[0] if reply.wait_status == 0 else ""
