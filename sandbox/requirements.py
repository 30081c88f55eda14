"""Which packages beyond the standard library a Python program imports, of those that a full sandbox image has. Pure."""

from __future__ import annotations

import re

PACKAGES = ("mpmath", "numpy", "scipy", "sortedcontainers", "sympy")
"""What the full image has (and contest sites have, too)."""

# A line that begins an import statement: `import a, b.c as d`, `from a.b import c`. Text in a string may look like one;
# then a program waits for the full image that would have done without.
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([^\n;#]+))", re.MULTILINE)

# Names that LeetCode gives call-based programs without an import.
_SORTED = re.compile(r"\bSorted(?:List|Dict|Set)\b")


def packages_of(source: str, *, called: bool = False) -> tuple[str, ...]:
    """The packages among :data:`PACKAGES` that the source imports, in the order of their names; those of ``called``
    programs include what they find without an import."""
    found = {"sortedcontainers"} if called and _SORTED.search(source) else set()
    for match in _IMPORT.finditer(source):
        names = [match[1]] if match[1] else [part.strip().split()[0] for part in match[2].split(",") if part.strip()]
        found |= {name.partition(".")[0] for name in names}
    return tuple(name for name in PACKAGES if name in found)
