"""What a text looks like: a program in a language, sample data, commands of a shell, a change to a file. Pure.

Python is parsed where a decision rests on it (`eval.generate.python_programs`); for other languages, and for what does
not parse, tokens decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from eval.generate import python_programs
from eval.generate.python_programs import MAX_PARSED, is_python_program, parsed

PYTHON = frozenset({"python3", "pypy3"})


@dataclass(frozen=True)
class _Tokens:
    """How programs of a language are known. ``start``: a line that only this language begins a program with.
    ``whole``: without it a program writes nothing. ``line``: a line of code. ``reads``: without it, outside comments, a
    program reads nothing."""

    start: re.Pattern[str]
    whole: re.Pattern[str]
    line: re.Pattern[str]
    reads: re.Pattern[str]


def _tokens(start: str, whole: str, line: str, reads: str) -> _Tokens:
    return _Tokens(*(re.compile(pattern, re.MULTILINE) for pattern in (start, whole, line, reads)))


_STATEMENT_ENDS = r"[;{}][ \t]*$"
_PYTHON_LINE = (
    r"^[ \t]*+(?:(?:async +)?def +\w+ *[(\[]|class +\w+ *[:(]|import +\w|from +[\w.]+ +import\b|@\w"
    r"|(?:for|while|if|elif|else|with|try|except|finally)\b[^\n]*:[ \t]*(?:#[^\n]*)?$|(?:return|print)\b"
    r"|[\w.]+(?:\[[^\n\]]*\])? *[-+*/|&^%]?=[^=])"
)
_C = _tokens(
    r"^[ \t]*# *include\b|^using namespace\b",
    r"\bmain\s*\(",
    rf"^[ \t]*# *include\b|{_STATEMENT_ENDS}",
    r"\b(?:cin|w?scanf\w*|getline|getc(?:har)?\w*|f?gets|fread|read|stdin|istream\w*|ifstream|mmap)\b|\bSTDIN_FILENO\b",
)
_FAMILIES = {
    "python": _tokens(
        r"^(?:import +\w+ *$|from +\w+ +import\b|def +\w+ *\(.*:)",
        r"\bprint\b|\bstdout\b|\bos\.write\b",
        _PYTHON_LINE,
        r"\binput\b|\braw_input\b|\bstdin\b|\bopen *\( *0\b|\bos\.read\b|\bfileinput\b|/dev/stdin",
    ),
    "c": _C,
    "java": _tokens(
        r"^import +java|^public +(?:final +)?class\b",
        r"\bmain\s*\(",
        _STATEMENT_ENDS,
        r"\bSystem\.in\b|\bScanner\b|\bSystem\.console\b|\bFileDescriptor\.in\b|/dev/stdin|\bIO\.readln\b",
    ),
    "go": _tokens(
        r"^package +main\b",
        r"\bfunc\s+main\s*\(",
        rf"^package +\w+|^func\b|:=|{_STATEMENT_ENDS}",
        r"\bos\.Stdin\b|\bfmt\.Scan|/dev/stdin|\bsyscall\.Read\b",
    ),
    "rust": _tokens(
        r"^use +std\b|^(?:pub +)?fn +main\b",
        r"\bfn\s+main\s*\(",
        _STATEMENT_ENDS,
        r"\bstdin\b|\bproconio\b|\binput!|/dev/stdin|\bread_to_string\b|\bread_line\b",
    ),
    "javascript": _tokens(
        r"^(?:const|let|var)\b[^\n]*\brequire *\(|^['\"]use strict['\"]",
        r"\bconsole\.|\bprocess\.stdout\b|\bwrite(?:File)?(?:Sync)? *\(",
        rf"^[ \t]*(?:const|let|var|function)\b|=>|{_STATEMENT_ENDS}",
        r"\bread(?:File|Sync|line|Line)\w*\b|\bstdin\b|\bprompt *\(|\bgets *\(",
    ),
}
# A program that writes and does nothing of this is the use of another one: print(solve(3)).
_PYTHON_STRUCTURE = re.compile(
    r"^(?:import|from|(?:async +)?def|class|for|while|if|with|try|@)\b|\binput *\(|\bstdin\b|\bopen *\(", re.MULTILINE
)


def family(language: str) -> str:
    """Languages whose programs are taken for one another: C++ of all standards and C, CPython and PyPy."""
    if language in PYTHON:
        return "python"
    return "c" if language == "c" or language.startswith("cpp") else language


def writes(text: str, language: str) -> bool:
    """Whether a program could do something by itself: it has a ``main``, or writes output and does more than calls."""
    tokens = _FAMILIES.get(family(language))
    if tokens is None:
        return True
    return bool(tokens.whole.search(text)) and (language not in PYTHON or bool(_PYTHON_STRUCTURE.search(text)))


_LINE_COMMENT = re.compile(r"//[^\n]*")


def reads(text: str, language: str) -> bool:
    """Whether a program reads input."""
    tokens = _FAMILIES.get(family(language))
    if tokens is None:
        return True
    if language in PYTHON:
        return tokens.reads.search(text) is not None and python_programs.reads(text)
    return tokens.reads.search(_LINE_COMMENT.sub("", text)) is not None


def is_harness(text: str, language: str) -> bool:
    """Whether a program tests or calls another one."""
    return language in PYTHON and python_programs.is_harness(text)


def defines(text: str, name: str, language: str) -> bool:
    """Whether a program defines a function, method or class of that name. In Python, with more than the outline of a
    body; one that does not parse counts, unless the body is left out."""
    escaped = re.escape(name)
    if language not in PYTHON:
        return re.search(rf"\b{escaped}\s*[({{<]", text) is not None
    pattern = rf"^[ \t]*+(?:async +)?def +{escaped} *[(\[]|^class +{escaped}\b|^{escaped} *="
    if re.search(pattern, text, re.MULTILINE) is None:
        return False
    tree = parsed(text)
    return not python_programs.is_stub(text) if tree is None else python_programs.defines_whole(tree, name)


def has_code(text: str, language: str) -> bool:
    """Whether some line reads like the language's code."""
    tokens = _FAMILIES.get(family(language))
    return tokens is None or tokens.line.search(text) is not None


def other_family(text: str, language: str) -> str | None:
    """The family that a program plainly belongs to where that is another one than the language's."""
    own = family(language)
    if own in _FAMILIES and _FAMILIES[own].start.search(text):
        return None
    found = (name for name, tokens in _FAMILIES.items() if name != own and tokens.start.search(text))
    return next(found, None)


_PROMPT = re.compile(r"(?:\$|%|>>>|C:\\>|In \[\d+\]:) ")
_COMMAND = re.compile(
    r"(?:sudo +)?(?:python[\d.]*|pypy3?|pip3?|g\+\+|gcc|clang\+\+|javac?|go +(?:run|build)|rustc|cargo|node|npm|cat"
    r"|echo|cd|chmod|make|bash|\./\S+)(?: +[^=(\s]\S*)+ *"
)
_DIFF = re.compile(r"diff --git |--- \S|\+\+\+ \S|@@ ")
_LABEL = re.compile(
    r"(?:(?:sample|example|expected) *)?(?:input|output|explanation|result|sample|example)(?: *#?\d+)? *(?::.*)?",
    re.IGNORECASE,
)
_SIGN_OF_CODE = re.compile(r"[({=;#]|//|^(?:import|from|use|package)\b")


def is_no_program(text: str) -> bool:
    """Whether a text is blank, sample input and output, a session of a shell or interpreter, or a change to a file.

    Data are lines without brackets of calls or blocks, assignments, semicolons and comments; lines that begin with
    "Input", "Output", "Example" and the like count as labels.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        return True
    if _PROMPT.match(lines[0]) or _COMMAND.fullmatch(lines[0]) or _DIFF.match(lines[0]):
        return True
    if all(line[0] in "+-" for line in lines):
        return True
    return not any(_SIGN_OF_CODE.search(line) for line in lines if not _LABEL.fullmatch(line))


def whole_program(text: str, language: str) -> bool:
    """Whether a text is a program and nothing else."""
    if language in PYTHON:
        tree = parsed(text)
        return tree is not None and is_python_program(tree)
    tokens = _FAMILIES.get(family(language))
    if tokens is None:
        return False
    first_line = text.lstrip().partition("\n")[0]
    begins = any(pattern.search(first_line) for pattern in (tokens.start, tokens.line, _COMMENT))
    return begins and _is_complete(text, tokens)


def last_program(text: str, language: str) -> str | None:
    """The longest run of whole lines at the end of a text that is a program; None where there is none.

    Python must parse. At most MAX_STARTS lines that look like the start of a statement are tried, over at most
    MAX_PARSED characters in all. Other languages start at the first line that only they have, and end with a brace or
    semicolon and as many closing as opening braces.
    """
    if language in PYTHON:
        return _last_that_parses(text)
    tokens = _FAMILIES.get(family(language))
    start = None if tokens is None else tokens.start.search(text)
    if tokens is None or start is None:
        return None
    rest = text[start.start() :]
    return rest if _is_complete(rest, tokens) else None


_COMMENT = re.compile(r"^(?://|/\*)")
MAX_STARTS = 64
_STATEMENT_START = re.compile(
    r"^(?:(?:import|from|def|class|for|while|if|with|try|async|print)\b|[@#]|[A-Za-z_][\w.]*[ \[(,=])", re.MULTILINE
)


def _last_that_parses(text: str) -> str | None:
    budget = MAX_PARSED
    for n_tried, start in enumerate(_STATEMENT_START.finditer(text), start=1):
        rest = text[start.start() :]
        budget -= len(rest)
        if budget < 0 or n_tried > MAX_STARTS:
            return None
        tree = parsed(rest)
        if tree is not None and is_python_program(tree):
            return rest
    return None


def _is_complete(text: str, tokens: _Tokens) -> bool:
    ends = text.rstrip().endswith(("}", ";", ")"))
    return ends and text.count("{") == text.count("}") and tokens.whole.search(text) is not None
