"""What a text looks like: a program in a language, sample data, commands of a shell, a change to a file. Pure.

Python is parsed where a decision rests on it; for other languages, and for what does not parse, tokens decide.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

MAX_PARSED = 1 << 17
"""Characters: a longer text is not parsed as Python, and counts as one that does not parse."""

PYTHON = frozenset({"python3", "pypy3"})


@dataclass(frozen=True)
class _Tokens:
    """How programs of a language are known. ``start``: a line that only this language begins a program with.
    ``whole``: without it a program reads and writes nothing. ``line``: a line of code."""

    start: re.Pattern[str]
    whole: re.Pattern[str]
    line: re.Pattern[str]


def _tokens(start: str, whole: str, line: str) -> _Tokens:
    return _Tokens(*(re.compile(pattern, re.MULTILINE) for pattern in (start, whole, line)))


_STATEMENT_ENDS = r"[;{}][ \t]*$"
_PYTHON_LINE = (
    r"^[ \t]*+(?:(?:async +)?def +\w+ *[(\[]|class +\w+ *[:(]|import +\w|from +[\w.]+ +import\b|@\w"
    r"|(?:for|while|if|elif|else|with|try|except|finally)\b[^\n]*:[ \t]*(?:#[^\n]*)?$|(?:return|print)\b"
    r"|[\w.]+(?:\[[^\n\]]*\])? *[-+*/|&^%]?=[^=])"
)
_C = _tokens(r"^[ \t]*# *include\b|^using namespace\b", r"\bmain\s*\(", rf"^[ \t]*# *include\b|{_STATEMENT_ENDS}")
_FAMILIES = {
    "python": _tokens(
        r"^(?:import +\w+ *$|from +\w+ +import\b|def +\w+ *\(.*:)", r"\bprint\b|\bstdout\b|\bos\.write\b", _PYTHON_LINE
    ),
    "c": _C,
    "java": _tokens(r"^import +java|^public +(?:final +)?class\b", r"\bmain\s*\(", _STATEMENT_ENDS),
    "go": _tokens(r"^package +main\b", r"\bfunc\s+main\s*\(", rf"^package +\w+|^func\b|:=|{_STATEMENT_ENDS}"),
    "rust": _tokens(r"^use +std\b|^(?:pub +)?fn +main\b", r"\bfn\s+main\s*\(", _STATEMENT_ENDS),
    "javascript": _tokens(
        r"^(?:const|let|var)\b[^\n]*\brequire *\(|^['\"]use strict['\"]",
        r"\bconsole\.|\bprocess\.stdout\b|\bwrite(?:File)?(?:Sync)? *\(",
        rf"^[ \t]*(?:const|let|var|function)\b|=>|{_STATEMENT_ENDS}",
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


def is_whole(text: str, language: str) -> bool:
    """Whether a program could solve a task by itself: it has a ``main``, or writes output and does more than calls."""
    tokens = _FAMILIES.get(family(language))
    if tokens is None:
        return True
    return bool(tokens.whole.search(text)) and (language not in PYTHON or bool(_PYTHON_STRUCTURE.search(text)))


def defines(text: str, name: str, language: str) -> bool:
    """Whether a program defines a function, method or class of that name."""
    name = re.escape(name)
    if language not in PYTHON:
        return re.search(rf"\b{name}\s*[({{<]", text) is not None
    pattern = rf"^[ \t]*+(?:async +)?def +{name} *[(\[]|^class +{name}\b|^{name} *="
    return re.search(pattern, text, re.MULTILINE) is not None


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


def parsed(text: str) -> ast.Module | None:
    """The text as Python; None where it is none, or too long or too deep to be looked at."""
    if len(text) > MAX_PARSED:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a text is the model's affair
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def is_python_program(tree: ast.Module) -> bool:
    """Whether something is done or defined: more than names, texts, numbers, and annotations ("Answer: 42")."""
    return any(_does_something(statement) for statement in tree.body)


_PLAIN = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass, ast.Delete, ast.Raise, ast.Assert)


def _does_something(statement: ast.stmt) -> bool:
    return not isinstance(statement, _PLAIN) or any(isinstance(node, ast.Call) for node in ast.walk(statement))


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
