"""Go as its own compiler and linker make one static file of a single source."""

from __future__ import annotations

from sandbox.languages import COMPILER_ADDRESS_SPACE_BYTES, Build, Language, Run
from sandbox.programs import MIB, Allowance, Limits

_GO = "/usr/bin/go"

# Measured: a program starts in 2 ms with 4 MiB. Three quarters of a limit in use, with much that is thrown away, fits
# into it since memory is collected ahead of the limit (see below); the rest is for what the collector keeps back.
_ALLOWANCE = Allowance(memory_extra_bytes=32 * MIB)

# The compiler and the linker themselves: `go build` takes six times as long and wants a cache. They find the standard
# library compiled, as Go up to 1.19 brings it; with other versions the language counts as absent.
_LIBRARY = "/usr/lib/go/pkg/linux_*/fmt.a"
# Threads of the tools would each reserve the stack that a program may have.
_BUILD = (
    f'ulimit -s 16384; {_GO} tool compile -p main -complete -o main.o "$1" && exec {_GO} tool link -s -w -o main main.o'
)


def _variables(limits: Limits) -> dict[str, str]:
    """Near the limit memory is collected before more is asked for, and on one processor, as CPU time is what counts."""
    return {"GOMEMLIMIT": str(limits.memory_bytes * 9 // 10), "GOMAXPROCS": "1"}


LANGUAGE = Language(
    name="go",
    self_test="""\
package main

import "fmt"

func main() {
	var n int
	fmt.Scan(&n)
	fmt.Println(n + 1)
}
""",
    profile="Go, a single file, the standard library, no cgo",
    version=("/bin/sh", "-c", f'for file in {_LIBRARY}; do test -e "$file"; done && sed q /usr/lib/go/VERSION'),
    suffixes=(".go",),
    allowance=_ALLOWANCE,
    build=Build(
        file_name=lambda source: "main.go",
        command=lambda file_name, source: ("/bin/sh", "-c", _BUILD, "sh", file_name),
        product=lambda source: "main",
        variables={"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "CGO_ENABLED": "0"},
        address_space_bytes=COMPILER_ADDRESS_SPACE_BYTES,
    ),
    run=Run(variables=_variables),
)
