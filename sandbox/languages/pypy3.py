"""Python 3 as PyPy runs it; one that does not parse is a compile error."""

from __future__ import annotations

from sandbox.languages import SCRATCH, Build, Language, Run
from sandbox.programs import MIB, Allowance

_PYPY = "/usr/bin/pypy3"

# Measured: a program that reads an integer takes 0.03 s and 50 MiB; what runs for some tenths of a second spends up to
# 0.1 s of them on compiling, and the heap grows by a part of itself before it is collected.
_ALLOWANCE = Allowance(cpu_extra_s=0.2, memory_extra_bytes=96 * MIB)

# It would look for the size of a processor's cache in /proc, which is closed, say so on standard error, and guess.
# This is what it takes by its own documentation where it cannot know.
_VARIABLES = {"PYPY_GC_NURSERY": "4M"}
_FILE = "main.py"
_CHECK = f'compile(open("{_FILE}", "rb").read(), "{_FILE}", "exec")'

LANGUAGE = Language(
    name="pypy3",
    self_test="print(int(input()) + 1)\n",
    profile="PyPy, standard library only; PYTHONHASHSEED=0; 512 MiB of stack",
    version=(_PYPY, "-S", "-c", "import sys; print('%d.%d.%d' % sys.pypy_version_info[:3])"),
    allowance=_ALLOWANCE,
    build=Build(
        file_name=lambda source: _FILE,
        command=lambda file_name, source: (_PYPY, "-I", "-S", "-B", "-c", _CHECK),
        product=lambda source: _FILE,
        variables={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **_VARIABLES},
    ),
    run=Run(
        command=lambda product, limits: (_PYPY, "-s", "-B", f"{SCRATCH}/{product}"), variables=lambda limits: _VARIABLES
    ),
)
