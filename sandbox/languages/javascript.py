"""JavaScript as Node.js runs it; one that does not parse is a compile error."""

from __future__ import annotations

import re

from sandbox.languages import SCRATCH, Build, Language, OutOfMemory, Run
from sandbox.programs import MIB, Allowance, Limits

_NODE = "/usr/bin/node"
# Debian's looks for OpenSSL's settings in /etc when it starts and ends where it may not read them.
_VARIABLES = {"OPENSSL_CONF": "/dev/null"}

# Measured: a program that reads an integer takes 0.09 s and 47 MiB in the full image, and what is young is kept in
# another 48 MiB beside the heap that is asked for (three spaces of 16).
_ALLOWANCE = Allowance(cpu_extra_s=0.2, memory_extra_bytes=96 * MIB)

# Short of the 512 MiB that the process has: past its end there is no error but a crash.
_STACK_BYTES = 448 * MIB
_LEAST_HEAP_BYTES = 16 * MIB
_OUT_OF_MEMORY = OutOfMemory(6, b"JavaScript heap out of memory")  # SIGABRT: how V8 ends a program whose heap is full

# Only a module may say these at the start of a line.
_MODULE = re.compile(r"^(?:import\s*[\w{*$\"']|export\s+[\w{*])", re.MULTILINE)


_REQUIRE = re.compile(r"\brequire\s*\(")

# Comments and texts, to the end of the source where they have none: nothing is read twice, whatever the source.
_NO_CODE = re.compile(
    r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|`(?:[^`\\]++|\\.)*+`?"
    r"|\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?",
    re.DOTALL,
)


def _file_name(source: str) -> str:
    """A module only where that is certain: most programs are none."""
    code = _NO_CODE.sub('""', source)
    return "main.mjs" if _MODULE.search(code) and not _REQUIRE.search(code) else "main.js"


def _run_command(product: str, limits: Limits) -> tuple[str, ...]:
    heap_bytes = max(limits.memory_bytes - _ALLOWANCE.memory_extra_bytes, _LEAST_HEAP_BYTES)
    sizes = (f"--max-old-space-size={heap_bytes // MIB}", f"--stack-size={min(heap_bytes, _STACK_BYTES) // 1024}")
    return (_NODE, *sizes, f"{SCRATCH}/{product}")


LANGUAGE = Language(
    name="javascript",
    self_test='console.log(parseInt(require("fs").readFileSync(0, "utf8")) + 1);\n',
    profile="Node.js without further packages; heap and stack as large as the memory limit, the stack at most 448 MiB",
    version=(_NODE, "--version"),
    suffixes=(".js", ".mjs", ".cjs"),
    allowance=_ALLOWANCE,
    build=Build(
        file_name=_file_name,
        command=lambda file_name, source: (_NODE, "--check", file_name),
        product=_file_name,
        variables={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **_VARIABLES},
    ),
    run=Run(command=_run_command, variables=lambda limits: _VARIABLES, out_of_memory=_OUT_OF_MEMORY),
)
