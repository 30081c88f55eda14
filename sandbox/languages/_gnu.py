"""What C and C++ share: GCC, one static file, found by nobody as a language of its own."""

from __future__ import annotations

from sandbox.languages import COMPILER_ADDRESS_SPACE_BYTES, Build, Language, Run


def language(
    name: str,
    compiler: str,
    standard: str,
    suffix: str,
    self_test: str,
    libraries: tuple[str, ...] = (),
    suffixes: tuple[str, ...] = (),
) -> Language:
    """A language that GCC compiles; ``standard`` is its ``-std`` option's value.

    Neither time nor memory is added: a static program starts in a millisecond. With these options the compiler finds
    the precompiled ``bits/stdc++.h`` of the full image by itself (``-std`` and ``-O2`` must be what that was made
    with; the others may differ).
    """
    options = (f"-std={standard}", "-O2", "-static", "-pipe", "-w")

    def command(file_name: str, _source: str) -> tuple[str, ...]:
        return (f"/usr/bin/{compiler}", *options, "-o", "main", file_name, *libraries)

    return Language(
        name=name,
        self_test=self_test,
        profile=f"GCC, {' '.join((*options, *libraries))}; 512 MiB of stack",
        version=version(compiler, f"/usr/bin/{compiler} -dumpfullversion"),
        suffixes=suffixes,
        build=Build(
            file_name=lambda source: f"main.{suffix}",
            command=command,
            product=lambda source: "main",
            variables={"PATH": "/usr/bin:/bin", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8"},
            address_space_bytes=COMPILER_ADDRESS_SPACE_BYTES,
        ),
        run=Run(),
    )


def version(compiler: str, command: str) -> tuple[str, ...]:
    """A command that does what ``command`` does where this compiler of GCC's and libraries to link in statically are
    there: not every system brings them together."""
    library = {"gcc": "libc.a", "g++": "libstdc++.a"}[compiler]
    found = f"/usr/bin/{compiler} -print-file-name={library}"  # a path, or the name alone
    return ("/bin/sh", "-c", f'test -f "$({found} 2>/dev/null)" && exec {command}')


C_SELF_TEST = """\
#include <stdio.h>
int main(void) { long n; if (scanf("%ld", &n) != 1) return 1; printf("%ld\\n", n + 1); return 0; }
"""

CPP_SELF_TEST = """\
#include <bits/stdc++.h>
int main() { long n; std::cin >> n; std::cout << n + 1 << '\\n'; }
"""
