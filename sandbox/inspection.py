"""What this machine has for running programs: the machine, Docker, bubblewrap, each executor, and its languages."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import Any

from sandbox import languages
from sandbox.errors import SandboxError, SandboxUnavailable
from sandbox.judge import EXECUTORS, Judge
from sandbox.programs import Limits, Program, Suite, Test
from sandbox.verdicts import Verdict

# What a self-test is given and must print; compilers and virtual machines take their time on a busy machine.
_SELF_TEST = Suite((Test("self-test", b"41\n", b"42\n"),), limits=Limits(cpu_s=10.0))
_ALWAYS_TRIED = "python3"


@dataclass(frozen=True)
class Machine:
    """The machine. ``usable_cores`` are those that this process may use, ``load`` is the last minute's average."""

    cores: int
    usable_cores: int
    memory_bytes: int
    kernel: str
    architecture: str
    load: float


@dataclass(frozen=True)
class Image:
    """An image by its short name; ``id`` is None where the daemon does not have it."""

    name: str
    reference: str
    id: str | None


@dataclass(frozen=True)
class Docker:
    """The Docker daemon that the environment names. ``problem`` and ``hint`` say why it cannot be used, and what to
    do."""

    address: str
    version: str | None = None
    runtimes: tuple[str, ...] = ()
    images: tuple[Image, ...] = ()
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True)
class LanguageState:
    """A language that a jail has. ``works`` is None where its self-test was not run; ``wall_s`` is the time from its
    source to its verdict."""

    version: str
    works: bool | None = None
    wall_s: float | None = None
    problem: str = ""


@dataclass(frozen=True)
class ExecutorState:
    """An executor as it was found. ``isolation`` is its level and layers, ``start_s`` the time to its first jail."""

    name: str
    problem: str = ""
    hint: str = ""
    start_s: float | None = None
    isolation: dict[str, Any] | None = None
    python: str = ""
    packages: dict[str, str] | None = None
    languages: dict[str, LanguageState] | None = None

    @property
    def works(self) -> bool:
        """Whether programs are judged rightly by it."""
        return not self.problem


@dataclass(frozen=True)
class Lack:
    """Something that is not here, and what brings it."""

    what: str
    remedy: str


def inspect_machine() -> Machine:
    """The machine that this runs on."""
    system = os.uname()
    return Machine(
        cores=os.cpu_count() or 1,
        usable_cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=f"{system.sysname} {system.release}",
        architecture=system.machine,
        load=os.getloadavg()[0],
    )


def inspect_docker() -> Docker:
    """The daemon, its runtimes, and which of the sandbox's images it has."""
    from sandbox.docker_jail import IMAGES, connect_daemon, daemon_address, image_id, said_plainly

    address = daemon_address()
    try:
        client = connect_daemon()
        try:
            with said_plainly():
                information = client.info()
            images = tuple(Image(name, reference, image_id(client, reference)) for name, reference in IMAGES.items())
        finally:
            client.close()
    except SandboxUnavailable as error:
        return Docker(address, problem=error.message, hint=error.hint)
    runtimes = tuple(sorted(information.get("Runtimes") or {}))
    return Docker(address, str(information.get("ServerVersion")), runtimes, images)


def inspect_bubblewrap() -> str | None:
    """The version of bubblewrap as it says it; None where it is not installed."""
    path = shutil.which("bwrap")
    if path is None:
        return None
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return f"does not run: {error}"
    return said.strip().removeprefix("bubblewrap ")


def inspect_executor(name: str, *, every_language: bool) -> ExecutorState:
    """Start a jail, and run the self-tests of all its languages or of Python alone in it."""
    started = time.monotonic()
    try:
        judge = Judge(name, jobs=1)
    except SandboxError as error:
        return ExecutorState(name, error.message, error.hint)
    start_s = time.monotonic() - started
    with judge:
        details = judge.environment.details
        found = {}
        for language in judge.languages:
            version = str(details["languages"][language]["version"])
            is_tried = every_language or language == _ALWAYS_TRIED
            found[language] = _self_test(judge, language, version) if is_tried else LanguageState(version)
    python = found[_ALWAYS_TRIED]
    return ExecutorState(
        name=name,
        problem=f"Python's self-test fails: {python.problem}" if not python.works else "",
        hint="see the image or the system's Python" if not python.works else "",
        start_s=start_s,
        isolation=details["isolation"],
        python=str(details["python"]),
        packages=details["packages"],
        languages=found,
    )


def _self_test(judge: Judge, language: str, version: str) -> LanguageState:
    program = Program(languages.find(language).self_test, language)
    started = time.monotonic()
    try:
        outcome = judge.judge(program, _SELF_TEST)
    except SandboxError as error:
        return LanguageState(version, False, time.monotonic() - started, error.message)
    works = outcome.verdict is Verdict.ACCEPTED
    problem = "" if works else f"{outcome.verdict}: {outcome.detail}"
    return LanguageState(version, works, time.monotonic() - started, problem)


def find_lacks(docker: Docker, bubblewrap: str | None, executors: tuple[ExecutorState, ...]) -> tuple[Lack, ...]:
    """What is not here, each with the one command or step that brings it."""
    lacks = []
    if docker.problem:
        lacks.append(Lack(docker.problem, docker.hint))
    remedies = {"slim": "make image", "full": "make full-image"}
    lacks += [
        Lack(f"the image {image.reference} ({image.name})", remedies[image.name])
        for image in docker.images
        if image.id is None
    ]
    if bubblewrap is None:
        lacks.append(Lack("bubblewrap", "apt-get install bubblewrap"))
    said = {lack.what for lack in lacks}
    for state in executors:
        is_explained = state.problem in said or (state.name == "bubblewrap" and bubblewrap is None)
        if not state.works and not is_explained:
            lacks.append(Lack(f"executor {state.name}: {state.problem}", state.hint))
            said.add(state.problem)
    here = {language for state in executors if state.works for language in state.languages or ()}
    missing = [name for name in languages.names() if name not in here]
    if here and missing:
        lacks.append(Lack(f"languages that no executor has: {', '.join(missing)}", "make full-image"))
    return tuple(lacks)


def inspect_executors(*, every_language: bool) -> tuple[ExecutorState, ...]:
    """All executors, in the order of :data:`sandbox.EXECUTORS`."""
    return tuple(inspect_executor(name, every_language=every_language) for name in EXECUTORS)
