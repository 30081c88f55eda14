"""Formulas in the trees of statements, in whatever way a site writes them, as TeX. Pure.

Known ways: TeX between dollar signs in the text (Codeforces, Kattis, yukicoder), ``<var>`` (AtCoder, AOJ), HTML with
``<sub>`` and ``<sup>`` (old Codeforces, LeetCode), and what MathJax and KaTeX leave in a page that a browser saved: the
same formula as a preview, as drawn spans, as MathML and as TeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement, PreformattedString

_DROPPED_TAGS = frozenset({"script", "style", "button", "noscript", "template", "head", "title"})
_DROPPED_CLASSES = frozenset(
    {"input-output-copier", "btn-copy", "div-btn-copy", "MathJax_Preview", "MathJax_Processing"}
)
_DRAWN_CLASSES = frozenset(
    {"MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML", "MathJax_MathML"}
)
_DELIMITED = re.compile(
    r"\${6}(?P<six>.{1,9999}?)\${6}|\${3}(?P<three>.{1,9999}?)\${3}"
    r"|\\\[(?P<square>.{1,999}?)\\\]|\\\((?P<round>.{1,999}?)\\\)",
    re.DOTALL,
)
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_WHITE = re.compile(r"[ \t\r\n\u00a0]+")
_BARE_SCRIPT = re.compile(r"-?[0-9]+|[A-Za-z0-9]+")
_INVISIBLE = str.maketrans("", "", "\u2061\u2062\u2063\u2064\u200b")


@dataclass(frozen=True)
class Formula:
    """TeX without its delimiters; an empty one is a second copy of a formula that stands beside it."""

    tex: str
    is_display: bool = False

    @property
    def markdown(self) -> str:
        """The formula between the delimiters of Markdown."""
        if not self.tex:
            return ""
        return f"$${self.tex}$$" if self.is_display else f"${self.tex}$"


def classes_of(tag: Tag) -> frozenset[str]:
    """The class names of an element."""
    return frozenset(tag.get_attribute_list("class")) - {None} if tag.has_attr("class") else frozenset()


def is_furniture(tag: Tag) -> bool:
    """Whether the element is no part of the text: scripts, styles, buttons, copiers, previews of formulas."""
    return tag.name in _DROPPED_TAGS or not _DROPPED_CLASSES.isdisjoint(classes_of(tag))


def text_parts(text: str) -> Iterator[str | Formula]:
    r"""The text cut at formulas between ``$$$``, ``$$$$$$``, ``\(`` or ``\[``; those in single dollars stay text."""
    end = 0
    for match in _DELIMITED.finditer(text):
        yield text[end : match.start()]
        tex = match["six"] or match["three"] or match["square"] or match["round"]
        yield Formula(_one_line(tex), is_display=bool(match["six"] or match["square"]))
        end = match.end()
    yield text[end:]


def formula_of(tag: Tag) -> Formula | None:
    """The formula that the element is; None when it is none."""
    classes = classes_of(tag)
    if tag.name == "script":
        formula = _script_formula(tag)
    elif tag.name == "math":
        formula = Formula(_one_line(_mathml(tag)), is_display=tag.get("display") == "block")
    elif tag.name == "mjx-container" or not _DRAWN_CLASSES.isdisjoint(classes):
        formula = _drawn_formula(tag)
    elif "katex" in classes:
        formula = _katex_formula(tag)
    elif (tag.name == "var" or "tex-span" in classes) and tag.find("img") is None:
        formula = Formula(_one_line(line_of(tag, tex=True)))
    else:
        formula = None
    return formula


def line_of(element: Tag, *, tex: bool) -> str:
    """The text of an element with its formulas, ``<sub>`` and ``<sup>`` written out in it, without delimiters.

    White space is as in the source. ``tex`` says that the text is TeX, where ``10^18`` would mean something else.
    """
    return "".join(_piece(child, tex=tex) for child in element.children)


def script_of(tag: Tag, *, tex: bool = False) -> str:
    """A ``<sub>`` or ``<sup>`` as ``_i`` or ``^5``; in braces where it would not be clear where it ends.

    Ordinals are no exponents: ``i<sup>th</sup>`` becomes ``i-th`` and ``1<sup>st</sup>`` becomes ``1st``.
    """
    inner = _one_line(line_of(tag, tex=tex)).replace("\u2212", "-")
    if not inner:
        return ""
    if tag.name == "sup" and inner in _ORDINALS:
        return inner if _neighbour(tag, before=True).isdigit() else f"-{inner}"
    mark = "^" if tag.name == "sup" else "_"
    bare = len(inner) == 1 if tex else _BARE_SCRIPT.fullmatch(inner) or len(inner) == 1
    if bare and not _neighbour(tag, before=False).isalnum():
        return mark + inner
    return f"{mark}{{{inner}}}"


def _piece(node: PageElement, *, tex: bool) -> str:
    if isinstance(node, NavigableString):
        return "" if isinstance(node, PreformattedString) else str(node)
    if not isinstance(node, Tag):
        return ""
    formula = formula_of(node)
    if formula is not None:
        return formula.tex
    if is_furniture(node):
        return ""
    if node.name == "br":
        return "\n"
    return script_of(node, tex=tex) if node.name in ("sub", "sup") else line_of(node, tex=tex)


def _neighbour(tag: Tag, *, before: bool) -> str:
    """The character next to an element among its siblings; an empty one where a script or nothing stands there."""
    sibling = tag.previous_sibling if before else tag.next_sibling
    if sibling is None or (isinstance(sibling, Tag) and sibling.name in ("sub", "sup")):
        return ""
    text = sibling.get_text()
    return text[-1:] if before else text[:1]


def _script_formula(tag: Tag) -> Formula | None:
    """The TeX that MathJax read."""
    kind = str(tag.get("type", ""))
    if not kind.startswith("math/tex"):
        return None
    return Formula(_one_line(tag.get_text()), is_display="mode=display" in kind)


def _drawn_formula(tag: Tag) -> Formula:
    """What MathJax drew: nothing where its TeX follows in a script, else its MathML, else its letters, once."""
    follower = tag.find_next_sibling()
    if follower is not None and follower.name == "script" and _script_formula(follower) is not None:
        return Formula("")
    is_display = tag.get("display") == "true" or any(name.endswith("_Display") for name in classes_of(tag))
    tree = tag.find("math")
    source = tag if tag.has_attr("data-mathml") else tag.select_one("[data-mathml]")
    if tree is None and source is not None:
        tree = BeautifulSoup(str(source["data-mathml"]), "lxml").find("math")
    return Formula(_one_line(tag.get_text() if tree is None else _mathml(tree)), is_display=is_display)


def _katex_formula(tag: Tag) -> Formula:
    """KaTeX keeps the TeX as an annotation of its MathML."""
    source = tag.select_one('annotation[encoding="application/x-tex"]')
    tex = line_of(tag, tex=True) if source is None else source.get_text()
    is_display = tag.parent is not None and "katex-display" in classes_of(tag.parent)
    return Formula(_one_line(tex), is_display=is_display)


def _one_line(text: str) -> str:
    return _WHITE.sub(" ", text).strip()


def _mathml(node: PageElement) -> str:
    """MathML as TeX."""
    if not isinstance(node, Tag):
        return str(node).strip().translate(_INVISIBLE)
    if node.name in ("annotation", "annotation-xml"):
        return ""
    if node.name == "mspace":
        return " "
    parts = [_mathml(child) for child in node.children if isinstance(child, Tag) or str(child).strip()]
    rule = _MATHML.get(node.name)
    needed = _MATHML_PARTS.get(node.name)
    if rule is None or (needed is not None and len(parts) != needed):
        return _joined(parts)
    return rule(parts)


def _joined(parts: list[str]) -> str:
    """The parts beside each other, with a space where two words would become one."""
    text = ""
    for part in parts:
        glued = text[-1:].isalnum() and part[:1].isalnum()
        text += f" {part}" if glued else part
    return text


def _group(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


_MATHML_PARTS = {"msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3, "mfrac": 2, "mroot": 2}
_MATHML: dict[str, Callable[[list[str]], str]] = {
    "msub": lambda parts: f"{parts[0]}_{_group(parts[1])}",
    "munder": lambda parts: f"{parts[0]}_{_group(parts[1])}",
    "msup": lambda parts: f"{parts[0]}^{_group(parts[1])}",
    "mover": lambda parts: f"{parts[0]}^{_group(parts[1])}",
    "msubsup": lambda parts: f"{parts[0]}_{_group(parts[1])}^{_group(parts[2])}",
    "munderover": lambda parts: f"{parts[0]}_{_group(parts[1])}^{_group(parts[2])}",
    "mfrac": lambda parts: f"\\frac{{{parts[0]}}}{{{parts[1]}}}",
    "mroot": lambda parts: f"\\sqrt[{parts[1]}]{{{parts[0]}}}",
    "msqrt": lambda parts: f"\\sqrt{{{_joined(parts)}}}",
    "mtr": " & ".join,
    "mtable": " \\\\ ".join,
}
