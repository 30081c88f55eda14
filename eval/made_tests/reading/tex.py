"""The TeX of statements as plain text: ``1 \\leq N \\leq 2\\times 10^5`` becomes ``1 <= N <= 2* 10^5``. Pure.

Braces that group stay braces; those of sets become ``⦃`` and ``⦄``. What stands in backticks is literal and stays as it
is, with its backticks. Commands that nobody knows stay, so that no reader takes them for something else.
"""

from __future__ import annotations

import re

SET_OPEN, SET_CLOSE = "⦃", "⦄"

_CODE = re.compile(r"(`[^`]*`)")
_ELLIPSES = r"\\(?:ldots|cdots|dotsc|dotsb|dotsm|dots)|…|⋯"
_WORDS = {
    "leq": "<=", "leqq": "<=", "leqslant": "<=", "le": "<=", "geq": ">=", "geqq": ">=", "geqslant": ">=", "ge": ">=",
    "lt": "<", "gt": ">", "neq": "!=", "ne": "!=", "times": "*", "cdot": "*", "ast": "*", "implies": "=>",
    "Rightarrow": "=>", "Longrightarrow": "=>", "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "in": " in ",
    "lbrace": SET_OPEN, "rbrace": SET_CLOSE, "min": "min", "max": "max", "sum": "sum", "lfloor": " floor(",
    "rfloor": ")", "lceil": " ceil(", "rceil": ")", "dfrac": "\\frac", "tfrac": "\\frac", "cfrac": "\\frac",
    "displaystyle": " ", "limits": "", "quad": " ", "qquad": " ", "left": "", "right": "", "bigl": "", "bigr": "",
    "Bigl": "", "Bigr": "", "big": "", "Big": "", "ell": "ℓ", "prime": "'", "lbrack": "[", "rbrack": "]",
    "lparen": "(", "rparen": ")", "backslash": "\\backslash",
}  # fmt: skip
# Longest first: a variable may follow without a blank ("\ldotsS"), but never one that makes a longer command.
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_KNOWN_START = re.compile("|".join(sorted(_WORDS, key=len, reverse=True)))
_SIGNS = str.maketrans(
    {
        "≤": "<=", "≦": "<=", "⩽": "<=", "≥": ">=", "≧": ">=", "⩾": ">=", "≠": "!=", "×": "*", "⋅": "*", "·": "*",
        "−": "-", "–": "-", "∈": " in ", "⌊": " floor(", "⌋": ")", "⌈": " ceil(", "⌉": ")", "′": "'", "’": "'",
        "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u200b": "", "∑": "sum",
    }
)  # fmt: skip
# Commands whose argument is shown as it is.
_TRANSPARENT = re.compile(
    r"\\(?:mathrm|mathit|mathbf|mathtt|mathsf|textrm|texttt|textbf|textit|text|operatorname|mbox|displaystyle)\s*"
    r"\{([^{}]*)\}"
)
_COLOURED = re.compile(r"\\(?:color|textcolor)\s*\{[a-zA-Z]*\}\s*\{([^{}]*)\}")
_FRACTION = re.compile(r"\\frac\s*(\{[^{}]*\}|[0-9A-Za-z])\s*(\{[^{}]*\}|[0-9A-Za-z])")
_SPACES = re.compile(r"\\[,;:! ]|\\quad\b|~")
# The gap in "200\\,000".
_THOUSANDS = re.compile(r"(?<=\d)(?:\\[,;:! ]|\{,\})(?=\d{3}(?!\d))")
_MARKS = (
    (re.compile(r"\\[()\[\]]"), " "),
    (re.compile(r"<(/?)(?:var|b|strong|i|em)>"), ""),
    (re.compile(r"<sup>([^<>]*)</sup>"), r"^{\1}"),
    (re.compile(r"<sub>([^<>]*)</sub>"), r"_{\1}"),
    (re.compile(r"(?<=[0-9A-Za-z)}])\*\*(?=[0-9A-Za-z({])|(?<=[0-9)}]) \*\* (?=[0-9({])"), "^"),
    (re.compile(r"\*\*"), ""),
)
_MAX_NESTED_FRACTIONS = 8


def plain_line(line: str) -> str:
    """One line or sentence of a statement as plain text: see the module. Any text is taken."""
    return "".join(part if index % 2 else _plain(part) for index, part in enumerate(_CODE.split(line))).strip()


def _plain(text: str) -> str:
    text = _THOUSANDS.sub("", re.sub(r"\s+", " ", text))
    if text.count("$") % 2 == 0:
        text = text.replace("$", "")
    text = text.replace("\\{", SET_OPEN).replace("\\}", SET_CLOSE).replace("\\#", "#").replace("\\_", "_")
    text = re.sub(r"\\not\s*\\in\b", " not in ", text.replace("\\lvert", "|").replace("\\rvert", "|"))
    text = re.sub(r"\\vdots|⋮", " ⋮ ", re.sub(_ELLIPSES, " ... ", text))
    for pattern, sign in _MARKS:
        text = pattern.sub(sign, text)
    text = _COLOURED.sub(r"\1", _SPACES.sub(" ", text))
    for _ in range(3):
        text = _TRANSPARENT.sub(r"\1", text)
    text = _COMMAND.sub(_word, text).translate(_SIGNS)
    text = _without_fractions(text)
    return re.sub(r" ?([_^]) ?", r"\1", re.sub(r" +", " ", text))


def _word(command: re.Match[str]) -> str:
    name = command.group(1)
    if name in _WORDS:
        return _WORDS[name]
    if name in ("frac", "pmod", "bmod", "mod", "binom", "dbinom", "oplus", "sqrt"):
        return command.group(0)
    start = _KNOWN_START.match(name)
    # A single letter after a known command is a variable that lost its blank.
    if start and len(name) - start.end() == 1:
        return f"{_WORDS[start.group(0)]} {name[start.end() :]}"
    return command.group(0)


def _without_fractions(text: str) -> str:
    for _ in range(_MAX_NESTED_FRACTIONS):
        changed = _FRACTION.sub(_quotient, text)
        if changed == text:
            break
        text = changed
    return text


def _quotient(fraction: re.Match[str]) -> str:
    over, under = (part.removeprefix("{").removesuffix("}") for part in fraction.groups())
    return f"(({over})/({under}))"
