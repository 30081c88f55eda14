"""What the Java compiler wants to know of a source before it reads it: the file's name, and which class to start.

Pure. Comments, strings, text blocks and characters are skipped; anything else that is no Java is left to the compiler.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT_NAME = "Main"

# A source is read this far: a hostile one must not keep the judge busy.
_READ_CHARACTERS = 1 << 20

# A file's name may have 255 bytes; what is longer than this is left to fail in the compiler.
_NAME_BYTES = 120

# What is not closed reaches to the end (of the line, for a string), so that nothing is ever read twice.
_TOKEN = re.compile(
    r"""
    //[^\n]* | /\*.*?(?:\*/|\Z)
    | \"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z) | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?
    | (?P<word>[^\W\d][\w$]*|\$[\w$]*) | (?P<sign>[{}();.@])
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = frozenset({"class", "interface", "enum", "record"})
_MODIFIERS = frozenset({"public", "static"})


@dataclass(frozen=True)
class JavaSource:
    """``file_name`` is what the source must be called, ``main_class`` the full name of the class to start."""

    file_name: str
    main_class: str


@dataclass
class _Type:
    name: str
    is_public: bool
    has_main: bool = False


def read(source: str) -> JavaSource:
    """Read a source: its package, its top-level types, which is public and which has ``static void main(``."""
    package, types = _outline(source[:_READ_CHARACTERS])
    public = next((one.name for one in types if one.is_public), None)
    # With several main methods, the public class's is meant, else that of a class called Main, else the first.
    candidates = sorted(
        (one for one in types if one.has_main), key=lambda one: (one.name != public, one.name != "Main")
    )
    main = candidates[0].name if candidates else public or (types[0].name if types else DEFAULT_NAME)
    file_name = f"{public or main}.java"
    main_class = f"{package}.{main}" if package else main
    if max(len(name.encode("utf-8", "replace")) for name in (file_name, main_class)) > _NAME_BYTES:
        return JavaSource(f"{DEFAULT_NAME}.java", DEFAULT_NAME)
    return JavaSource(file_name, main_class)


def _outline(source: str) -> tuple[str, list[_Type]]:
    """The package's name ("" for none) and the types at the top level, in their order."""
    package: list[str] = []
    types: list[_Type] = []
    depth = 0
    modifiers: set[str] = set()  # of these words, those that came since the last brace or semicolon
    previous, before = ";", ";"
    in_package = False
    for match in _TOKEN.finditer(source):
        token = match["word"] or match["sign"]
        if not token:
            continue
        if token in "{};":
            depth = max(0, depth + {"{": 1, "}": -1}.get(token, 0))
            modifiers.clear()
            in_package = False
        elif in_package:
            package.append(token)
        elif token == "package" and depth == 0 and not package:
            in_package = True
        elif depth == 0 and previous in _KINDS and before != "." and match["word"]:
            types.append(_Type(token, "public" in modifiers))
        elif depth == 1 and types and (before, previous, token) == ("void", "main", "("):
            types[-1].has_main |= "static" in modifiers
        elif token in _MODIFIERS:
            modifiers.add(token)
        before, previous = previous, token
    return "".join(package), types
