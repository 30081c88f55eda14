"""What problem sites, packages and completions call languages, as a table. Pure data and one function."""

from __future__ import annotations

import re

# Patterns for a whole name, in lower case, white space as single blanks; the first one that fits says the language.
# Compilers, their versions and widths do not matter where they make no other language of it.
_BRACKETS = r"(?: ?\([^()]*\))?"
_VERSION = r"(?: ?v?\d+(?:[._]\d+)*[a-z]?)?"
_WIDTH = r"(?: ?-?(?:32|64)(?:[ -]?bit)?)?"
_TAIL = rf"{_WIDTH}{_VERSION}{_WIDTH}{_BRACKETS}"
_CPP = r"(?:(?:gnu|clang|gcc) )?(?:c\+\+|g\+\+|gnu\+\+|clang\+\+|cpp|cxx|cc)"
_CPP_TAIL = rf"{_TAIL}(?: diagnostics)?"
_NAMES = (
    (rf"{_CPP}[ -]?(?:98|03|0x|11|1y|14|1z|17){_CPP_TAIL}", "cpp17"),
    (rf"{_CPP}[ -]?(?:2a|20){_CPP_TAIL}", "cpp20"),
    (rf"{_CPP}[ -]?(?:2b|23|2c|26){_CPP_TAIL}", "cpp23"),
    (rf"{_CPP}{_BRACKETS}", "cpp20"),
    (rf"(?:(?:gnu|clang|gcc) )*c ?(?:89|90|99|11|17|18|23)?{_TAIL}", "c"),
    (rf"gcc{_BRACKETS}", "c"),
    (r"python ?3? ?\((?:with )?pypy ?3?(?:[ .-].*)?\)", "pypy3"),
    (rf"pypy ?-?(?:3(?:\.\d+)*)?{_TAIL}", "pypy3"),
    (r"python ?\((?:cpython|mambaforge).*\)", "python3"),
    (rf"(?:c?python|py) ?-?(?:3(?:\.\d+)*)?{_WIDTH}(?: ?\(3[^()]*\))?", "python3"),
    (rf"java{_TAIL}", "java"),
    (rf"(?:javascript|js)(?: v8)?{_VERSION}(?: ?\((?:v8|node)[^()]*\))?", "javascript"),
    (rf"node(?: ?\.?js)?{_TAIL}", "javascript"),
    (rf"go(?:lang)?{_TAIL}", "go"),
    (rf"(?:rust|rs){_TAIL}", "rust"),
)
_PATTERNS = tuple((re.compile(pattern), language) for pattern, language in _NAMES)
_OLD_PYTHON = re.compile(r"py(?:thon|py)? ?-?2|\(2\.")
_LONGEST = 100


def canonical(name: str) -> str | None:
    """The name here of a language that is called so elsewhere ("GNU C++20 (64)", "py", "node"); None for what is not
    known or is something else.

    Plain C++ is C++20: of 145 programs by juries of contests between 2013 and 2023 all compile as that, and all but one
    as C++17.
    """
    plain = " ".join(name.lower().split())
    if len(plain) > _LONGEST or _OLD_PYTHON.search(plain):
        return None
    return next((language for pattern, language in _PATTERNS if pattern.fullmatch(plain)), None)
