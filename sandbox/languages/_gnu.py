"""What C and C++ share: GCC, one static file, found by nobody as a language of its own."""

from __future__ import annotations

from sandbox.languages import Build, Language, Run
from sandbox.programs import MIB

_COMPILER_ADDRESS_SPACE_BYTES = 3072 * MIB


def language(
    name: str, compiler: str, suffix: str, standard: str, self_test: str, libraries: tuple[str, ...]
) -> Language:
    """A language that GCC compiles; ``standard`` is its ``-std`` option's value."""
    options = (f"-std={standard}", "-O2", "-static", "-pipe", "-w")

    def command(file_name: str, _source: str) -> tuple[str, ...]:
        return (f"/usr/bin/{compiler}", *options, "-o", "main", file_name, *libraries)

    return Language(
        name=name,
        self_test=self_test,
        profile=f"GCC, {' '.join(options)} {' '.join(libraries)}".strip(),
        version=(f"/usr/bin/{compiler}", "-dumpfullversion"),
        build=Build(
            file_name=lambda source: f"main.{suffix}",
            command=command,
            product=lambda source: "main",
            variables={"PATH": "/usr/bin:/bin", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8"},
            address_space_bytes=_COMPILER_ADDRESS_SPACE_BYTES,
        ),
        run=Run(),
    )


C_SELF_TEST = """\
#include <stdio.h>
int main(void) { long n; if (scanf("%ld", &n) != 1) return 1; printf("%ld\\n", n + 1); return 0; }
"""

CPP_SELF_TEST = """\
#include <bits/stdc++.h>
int main() { long n; std::cin >> n; std::cout << n + 1 << '\\n'; }
"""
