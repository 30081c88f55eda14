"""Python 3 as PyPy runs it; one that does not parse is a compile error."""

from __future__ import annotations

from sandbox.languages import SCRATCH, Build, Language, Run
from sandbox.programs import MIB, Allowance

_PYPY = "/usr/bin/pypy3"
_ALLOWANCE = Allowance(cpu_extra_s=0.2, memory_extra_bytes=96 * MIB)
# It would look for the size of a processor's cache in /proc, which is closed, say so on standard error, and guess.
_VARIABLES = {"PYPY_GC_NURSERY": "4M"}
_FILE = "main.py"
_CHECK = f'compile(open("{_FILE}", "rb").read(), "{_FILE}", "exec")'

LANGUAGE = Language(
    name="pypy3",
    self_test="print(int(input()) + 1)\n",
    profile="PyPy, standard library only; PYTHONHASHSEED=0",
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
