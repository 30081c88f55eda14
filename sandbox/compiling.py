"""Compile a program in a jail; keep what comes out, by (language, source), for all workers of a judge."""

from __future__ import annotations

import hashlib
import os
import re
import resource
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from sandbox import memory_files
from sandbox.agent import wire
from sandbox.excerpts import excerpt
from sandbox.languages import Build, Language
from sandbox.programs import MIB, Limits, Program
from sandbox.verdicts import Facts

# Each process of a compiler is held to the CPU time by the kernel. Wall time is there for what sleeps, which compilers
# do not: on a busy machine one may take many times what it takes alone, and that is no error of the program.
COMPILE_LIMITS = Limits(cpu_s=30.0, memory_bytes=2048 * MIB, output_bytes=256 * MIB, wall_s=240.0)

# The scratch folder has 64 MiB for the source and all that comes of it. What people write has some kilobytes.
_SOURCE_BYTES = 16 * MIB
_MESSAGE_BYTES = 64 * 1024
_MOST_PRODUCTS = 4096
_LINE_CHARACTERS = 200

# Lines about where an error is or that there was one, beside those that say which.
_SAYS_LITTLE = re.compile(r"^collect2: error|: in function `|^error: aborting due to|^\d+ errors?$")

RunRequest = Callable[[wire.Request, list[int]], wire.Reply]


class CompileFailure(Exception):
    """A program does not compile: ``facts`` of the compiler's process, ``message`` a line of what it said."""

    def __init__(self, facts: Facts, message: str) -> None:
        super().__init__(message)
        self.facts = facts
        self.message = message


class ProductCache:
    """Compiled programs as sealed memory files, the least recently used let go beyond ``limit_bytes`` or
    ``limit_count``: each takes a descriptor, of which there are no more than a share by default.

    The image and the compilers' options are those of the one judge that it belongs to.
    """

    def __init__(self, limit_bytes: int = 512 * MIB, limit_count: int | None = None) -> None:
        self._limit_bytes = limit_bytes
        self._limit_count = _share_of_descriptors() if limit_count is None else limit_count
        self._fds: OrderedDict[bytes, int] = OrderedDict()
        self._size_bytes = 0
        self._lock = threading.Lock()

    def get(self, key: bytes) -> int | None:
        """A descriptor of one's own of the product, None where there is none."""
        with self._lock:
            if key not in self._fds:
                return None
            self._fds.move_to_end(key)
            return memory_files.duplicate(self._fds[key])

    def put(self, key: bytes, fd: int) -> None:
        """Keep a product; the caller keeps ``fd``, too."""
        with self._lock:
            if key in self._fds:
                return
            self._fds[key] = memory_files.duplicate(fd)
            self._size_bytes += memory_files.size(fd)
            while self._size_bytes > self._limit_bytes or len(self._fds) > self._limit_count:
                _, oldest = self._fds.popitem(last=False)
                self._size_bytes -= memory_files.size(oldest)
                os.close(oldest)

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            for fd in self._fds.values():
                os.close(fd)
            self._fds.clear()
            self._size_bytes = 0


def _share_of_descriptors() -> int:
    """An eighth of those that this process may have open; half are for inputs."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_PRODUCTS if soft == resource.RLIM_INFINITY else min(_MOST_PRODUCTS, soft // 8)


def program_key(program: Program) -> bytes:
    """What a compiled program depends on beside the judge's own compilers."""
    digest = hashlib.sha256()
    for part in (program.language, program.source, *(text for file in program.files for text in file)):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


def build(run: RunRequest, language: Language, program: Program, cache: ProductCache) -> int:
    """A descriptor of the compiled program: a sealed memory file.

    ``run`` has a request carried out in a jail. Raises :class:`CompileFailure`, or what ``run`` raises.
    """
    assert language.build is not None
    key = program_key(program)
    kept = cache.get(key)
    if kept is not None:
        return kept
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in (program.source, *dict(program.files).values()))
    if size > _SOURCE_BYTES:
        raise CompileFailure(_NOTHING_RUN, f"the source has {size} bytes, more than {_SOURCE_BYTES}")
    product_fd = memory_files.empty()
    try:
        _compile(run, language.build, program, product_fd)
        memory_files.seal(product_fd)
        # What is only checked is checked again as quickly as it is kept.
        if language.build.product(program.source) != language.build.file_name(program.source):
            cache.put(key, product_fd)
    except BaseException:
        os.close(product_fd)
        raise
    return product_fd


def _compile(run: RunRequest, build: Build, program: Program, product_fd: int) -> None:
    name = build.file_name(program.source)
    if name in dict(program.files):
        raise CompileFailure(_NOTHING_RUN, f"a file beside the source is called as it is itself, {name}")
    texts = {name: program.source, **dict(program.files)}
    files = {path: memory_files.sealed(text.encode("utf-8", "surrogatepass")) for path, text in texts.items()}
    stdin_fd, messages_fd = memory_files.sealed(b""), memory_files.empty()
    fds = [stdin_fd, messages_fd, messages_fd, product_fd, *files.values()]
    details = {
        "command": build.command(name, program.source),
        "place": {path: index for index, path in enumerate(files, start=4)},
        "fetch": {build.product(program.source): 3},
        "variables": build.variables,
        "reads": build.reads,
        "may_fork": True,
        "address_space_bytes": build.address_space_bytes,
    }
    limits = COMPILE_LIMITS
    request = wire.Request(
        operation=wire.EXEC,
        has_compiled=False,
        cpu_kill_s=limits.cpu_s,
        wall_kill_s=limits.wall_kill_s,
        memory_bytes=limits.memory_bytes,
        output_bytes=limits.output_bytes,
        details=details,
    )
    try:
        reply = run(request, fds)
        if reply.wait_status != 0 or memory_files.size(product_fd) == 0:
            said = memory_files.content(messages_fd, _MESSAGE_BYTES).decode(errors="replace")
            facts = _facts(reply, memory_files.size(messages_fd))
            raise CompileFailure(facts, ending_of_compiler(facts) or _named_error(facts, said))
    finally:
        for fd in (stdin_fd, messages_fd, *files.values()):
            os.close(fd)


_NOTHING_RUN = Facts(
    stage=wire.ISOLATED,
    killed_by=wire.KILLED_BY_NOBODY,
    wait_status=0,
    cpu_s=0.0,
    wall_s=0.0,
    peak_memory_bytes=0,
    output_bytes=0,
    limits=COMPILE_LIMITS,
)


def _facts(reply: wire.Reply, output_bytes: int) -> Facts:
    """The compiler's facts as those of a test that did not come to run."""
    return replace(Facts.from_reply(reply, COMPILE_LIMITS, output_bytes), stage=wire.ISOLATED)


def is_repeatable(facts: Facts) -> bool:
    """Whether the compiler would end so again, whatever else the machine is doing: what ends it for wall time or for
    want of memory may have been short for once."""
    return facts.killed_by not in (wire.KILLED_BY_WALL, wire.KILLED_BY_KERNEL)


def ending_of_compiler(facts: Facts) -> str:
    """How a compiler that was ended was; empty for one that ended by itself."""
    if facts.killed_by in (wire.KILLED_BY_CPU, wire.KILLED_BY_WALL):
        return f"the compiler was ended after {facts.wall_s:.3g} s"
    if facts.killed_by in (wire.KILLED_BY_MEMORY, wire.KILLED_BY_KERNEL):
        return "the compiler took too much memory"
    return ""


def _named_error(facts: Facts, said: str) -> str:
    """The line that names the error: compilers say it first and what follows from it after."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if not _SAYS_LITTLE.search(line)]
    named = next((line for line in telling if "error" in line.lower()), telling[0] if telling else "")
    return excerpt(named, _LINE_CHARACTERS) or f"the compiler ended with status {facts.wait_status}"
