"""A statement in LaTeX, as problem packages have it, as the Markdown that the other readers take. Pure.

Headings, lists, quotation marks and literal text become Markdown, a paragraph becomes one line, and comments and
pictures go. Formulas stay as they are. A command that is not known here stays too, so that no reader takes a sentence
with it for understood. A text that is no LaTeX is given back as it is.
"""

from __future__ import annotations

import re

from eval.made_tests.reading.package_wording import reworded

_IS_LATEX = re.compile(r"\\(?:(?:sub)*section\*?\s*\{|problemname\s*\{|begin\{(?:Input|Output|itemize|enumerate)\})")
_COMMENT = re.compile(r"(?<!\\)%.*")
_VERBATIM = re.compile(r"\\verb\*?([^A-Za-z\s])(.+?)\1")
_PICTURE = re.compile(r"\\begin\{((?:wrap)?figure\*?)\}")
_ARGUMENT = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_DROPPED = re.compile(
    rf"\\(?:illustration{_ARGUMENT}{_ARGUMENT}{_ARGUMENT}|includegraphics(?:\[[^\]]*\])?{_ARGUMENT}"
    rf"|(?:problemname|label|vspace|caption){_ARGUMENT}|noindent\b|centering\b|raggedright\b|raggedleft\b)"
)
_HEADING = re.compile(rf"\\(?:sub)*section\*?\s*{_ARGUMENT}")
_PART = re.compile(r"\\begin\{(Input|Output)\}")
_FRAME = re.compile(r"\\(?:begin|end)\{(?:itemize|enumerate|center|Input|Output)\}(?:\[[^\]]*\])?")
_ITEM = re.compile(r"\\item\b\s*")
_LITERAL = re.compile(rf"\\texttt\s*{_ARGUMENT}")
_PLAIN = re.compile(rf"\\(?:emph|textbf|textit|textsl)\s*{_ARGUMENT}")
_QUOTED = re.compile(rf"(?<![`\w])`(?:\\texttt\s*{_ARGUMENT}|([^`'\n]{{1,40}}))'(?!')")
_INPUT = re.compile(r"(?ms)(^## Input\n\n)(.*?)(?=^## |\Z)")
_FORMULA = re.compile(r"(\$[^$]*\$|`[^`]*`)")


def as_markdown(text: str) -> str:
    """The statement in Markdown; the same text where it is no LaTeX."""
    if not _IS_LATEX.search(text):
        return text
    text = _without_pictures(_COMMENT.sub("", text.replace("\r\n", "\n")))
    text = _VERBATIM.sub(r"\\texttt{\2}", text)
    text = _QUOTED.sub(lambda match: f"`{match[1] or match[2]}`", text.replace("``", '"').replace("''", '"'))
    text = _LITERAL.sub(_as_code, _DROPPED.sub("", text))
    for _ in range(3):
        text = _PLAIN.sub(r"\1", text)
    text = _PART.sub(r"\n\n## \1\n\n", _HEADING.sub(r"\n\n## \1\n\n", text))
    text = _ITEM.sub("\n\n- ", _FRAME.sub("\n\n", text))
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n[ \t]*\n", text))
    text = "\n\n".join(_unescaped(paragraph) for paragraph in paragraphs if paragraph) + "\n"
    return _INPUT.sub(lambda match: f"{match[1]}{reworded(match[2].strip())}\n\n", text)


def _without_pictures(text: str) -> str:
    kept: list[str] = []
    while match := _PICTURE.search(text):
        inside, end, after = text[match.end() :].partition(f"\\end{{{match[1]}}}")
        kept.append(text[: match.start()])
        if not end:
            return "".join((*kept, inside))
        text = after
    return "".join((*kept, text))


def _as_code(match: re.Match[str]) -> str:
    """Literal text between backticks, where it has none and is no formula."""
    inside = match[1].strip("`")
    return inside if "$" in inside else f"`{inside}`"


def _unescaped(paragraph: str) -> str:
    """What TeX writes otherwise outside of formulas and literal text."""
    parts = _FORMULA.split(paragraph)
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(r"\\([%&#_])", r"\1", parts[place].replace("~", " ").replace("---", "—"))
    return "".join(part.replace("\\not=", "\\neq ") for part in parts)
