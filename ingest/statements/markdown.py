"""Statements from HTML to Markdown, with the mathematics kept. Pure.

The readers are programs and people who read the text as it stands: nothing is escaped, so that ``a_i * b_j`` and
``x < y`` come out as they went in.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from bs4 import Tag
from bs4.element import NavigableString, PageElement, PreformattedString
from markdownify import MarkdownConverter

from ingest.statements.mathematics import Formula, classes_of, formula_of, is_furniture, script_of, text_parts

# Characters that no text may hold stand for what the conversion must not touch: formulas in a line, and code.
_INLINE, _BLOCK, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_CLEANED = str.maketrans(
    dict.fromkeys("\u00a0\u2007\u2009\u202f", " ") | dict.fromkeys(f"\u00ad\u200b\ufeff{_INLINE}{_BLOCK}{_END}")
)
_KEPT_INLINE = re.compile(f"{_INLINE}([0-9]+){_END}")
_KEPT_BLOCK = re.compile(f"(.*){_BLOCK}([0-9]+){_END}")
_WHITE = " \t\r\n"
_TOO_DEEP = "the statement is nested too deeply to be read"
_BLANK_LINES = re.compile(r"\n{3,}")
_ONE_BLANK = re.compile(r"^ (?! )", re.MULTILINE)
_EMPTY_HEADING = re.compile(r"\s*#+\s*")
_IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()\s]*\)")
_NOT_IN_CELLS = ["pre", "table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6"]
_BLOCKS = ["p", "div", "pre", "ul", "ol", "table", "blockquote", "img", "br", "h1", "h2", "h3", "h4", "h5", "h6"]
_LINES = frozenset({"div", "p", "li"})
_LISTS = frozenset({"ul", "ol"})
_BOLD, _ITALIC, _STRUCK, _CODE = "**", "*", "~~", "`"
_TAG_STYLES = (
    dict.fromkeys(("b", "strong"), _BOLD)
    | dict.fromkeys(("i", "em"), _ITALIC)
    | dict.fromkeys(("s", "del"), _STRUCK)
    | dict.fromkeys(("code", "tt", "kbd", "samp"), _CODE)
)
# Codeforces' own classes for text.
_CLASS_STYLES = {
    "tex-font-style-tt": _CODE,
    "tex-font-style-bf": _BOLD,
    "tex-font-style-it": _ITALIC,
    "tex-font-style-sl": _ITALIC,
    "tex-font-style-striked": _STRUCK,
}


def to_markdown(element: Tag, *, base_url: str = "") -> str:
    """The element's content as Markdown; ``base_url`` makes addresses of images and links absolute.

    Formulas are ``$x$`` or ``$$x$$`` with their TeX untouched; ``<sup>`` and ``<sub>`` outside of formulas are ``^5``
    and ``_i``. The text has LF only, no blanks at the ends of lines, at most one blank line in a row outside of code,
    and ends with one newline; it is empty where there is nothing. The element is left as it is.
    ``RecursionError`` for a tree that is nested deeper than any statement is.
    """
    try:
        return _Converter(base_url).markdown(element)
    except RecursionError:
        raise RecursionError(_TOO_DEEP) from None


def pre_text(element: Tag) -> str:
    """The text of a sample's ``<pre>``, byte for byte as a browser shows it, with exactly one newline at its end.

    ``<br>`` and the ends of line divs are newlines, CRLF is LF, no-break spaces are spaces, and a newline right after
    ``<pre>`` is not there. Blank lines at the start stay: transcripts begin with them. No text at all is an empty one:
    a program then gets an empty input, and not an empty line. ``RecursionError`` as for `to_markdown`.
    """
    try:
        return _preformatted(element, with_scripts=False)
    except RecursionError:
        raise RecursionError(_TOO_DEEP) from None


class _Converter(MarkdownConverter):
    """markdownify's rules for blocks, lists and tables, with own ones for what statements hold.

    markdownify finds the rule of a tag by its name: ``convert_div`` gets the element, its children's Markdown and the
    names of the tags around it, with ``_inline`` in headings and cells and ``_noformat`` in code.
    """

    # These are converted by `_styled`, which also knows classes.
    convert_b = convert_strong = convert_i = convert_em = convert_s = convert_del = None
    convert_code = convert_kbd = convert_samp = None

    def __init__(self, base_url: str) -> None:
        # wrap without a width: line breaks of the source are blanks, as in a browser
        super().__init__(
            heading_style="ATX", escape_asterisks=False, escape_underscores=False, wrap=True, wrap_width=None
        )
        self._base_url = base_url
        self._kept: list[str] = []
        self._layouts: dict[int, bool] = {}

    def markdown(self, element: Tag) -> str:
        """The element as Markdown."""
        lines = self.process_tag(element, set()).split("\n")
        text = _ONE_BLANK.sub("", "\n".join(line.rstrip() for line in lines))
        text = _BLANK_LINES.sub("\n\n", text).strip("\n")
        text = "\n".join(self._restored(line) for line in text.split("\n"))
        return f"{text}\n" if text else ""

    def process_tag(self, node: Tag, parent_tags: set[str]) -> str:
        """The Markdown of an element and of all that is in it."""
        formula = formula_of(node)
        style = _style_of(node)
        if formula is not None:
            text = self._formula(formula, parent_tags)
        elif is_furniture(node):
            text = ""
        elif node.name in ("sub", "sup"):
            text = script_of(node)
        elif node.name == "pre":
            text = self._code_block(node, parent_tags)
        elif node.name in ("td", "th") and self._is_layout(node):
            text = f"\n\n{self._children(node, parent_tags)}\n\n"
        elif style and style not in parent_tags:
            text = self._styled(node, style, parent_tags)
        else:
            text = self._converted(node, parent_tags)
        return text

    def process_text(self, el: NavigableString, parent_tags: set[str]) -> str:
        """The Markdown of text between tags."""
        if isinstance(el, PreformattedString):
            return ""
        whole: str = super().process_text(el, parent_tags)  # type: ignore[misc]
        if isinstance(el.previous_sibling, Tag) and el.previous_sibling.name == "br":
            whole = whole.lstrip(_WHITE)
        text = ""
        for part in text_parts(whole):
            if isinstance(part, Formula):
                text += self._formula(part, parent_tags)
            else:
                text += re.sub(" {2,}", " ", part.translate(_CLEANED))
        return text

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A line break, which needs no blanks before it for readers of plain text."""
        return " " if "_inline" in parent_tags else "\n"

    def convert_div(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A block; Codeforces writes its headings as divs."""
        text = text.strip(_WHITE)
        if "_inline" in parent_tags:
            return f" {text} "
        if not text:
            return "\n\n"
        classes = classes_of(el)
        if "section-title" in classes:
            text = f"### {text}"
        elif "title" in classes:
            text = f"{_BOLD}{text}{_BOLD}"
        return f"\n\n{text}\n\n"

    convert_center = convert_figure = convert_details = convert_summary = convert_fieldset = convert_div

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An image, also within headings and cells. Old Codeforces draws formulas: those are said to be ones."""
        source = str(el.get("src", "")).strip()
        if source.startswith("data:"):
            source = source.partition(",")[0]
        alt = " ".join(str(el.get("alt", "")).split()).replace("[", "(").replace("]", ")")
        if not alt and "tex-formula" in classes_of(el):
            alt = "formula"
        return f"![{alt}]({self._address(source)})"

    def convert_svg(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A drawing in the page itself, which has no address."""
        return "![drawing]()"

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A link; one that leads nowhere outside of the page's own scripts is its text."""
        address = str(el.get("href", "")).strip()
        body = text.strip(_WHITE)
        if not body or not address or address.lower().startswith(("javascript:", "#")) or "_noformat" in parent_tags:
            return text
        if _is_block(body):
            return text
        address = self._address(address)
        link = f"<{address}>" if body == address else f"[{body}]({address})"
        return _around(text, link)

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A cell. The one character that is escaped is the one that would end it."""
        text = text.strip(_WHITE).replace("\n", " ").replace("|", "\\|")
        span = str(el.get("colspan", "1"))
        return f" {text}" + " |" * (min(int(span), 100) if span.isdecimal() and int(span) else 1)

    convert_th = convert_td

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A row; those of a table that only places things on the page are none."""
        if self._is_layout(el):
            return text
        row: str = super().convert_tr(el, text, parent_tags)  # type: ignore[misc]
        return row

    def _converted(self, node: Tag, parent_tags: set[str]) -> str:
        """The element by markdownify's rules and those above."""
        text: str = super().process_tag(node, parent_tags)  # type: ignore[misc]
        if node.name in _LISTS and node.parent is not None and node.parent.name in _LISTS:
            # in old pages a list stands between the items of another one and not in one of them
            return "\n" + re.sub(r"^(?=.)", "   ", text.strip("\n"), flags=re.MULTILINE) + "\n"
        return "" if _EMPTY_HEADING.fullmatch(text) else text

    def _children(self, node: Tag, parent_tags: set[str]) -> str:
        """What is in the element, as it stands."""
        parts = []
        for child in node.children:
            if isinstance(child, Tag):
                parts.append(self.process_tag(child, parent_tags))
            elif isinstance(child, NavigableString):
                parts.append(self.process_text(child, parent_tags))
        return "".join(parts)

    def _formula(self, formula: Formula, parent_tags: set[str]) -> str:
        if not formula.tex or "_noformat" in parent_tags:
            return formula.tex
        token = self._keep(_INLINE, formula.markdown)
        return f"\n\n{token}\n\n" if formula.is_display and "_inline" not in parent_tags else token

    def _code_block(self, node: Tag, parent_tags: set[str]) -> str:
        text = _preformatted(node, with_scripts=True)
        if not text.strip():
            return ""
        if "_inline" in parent_tags:
            return _coded(" ".join(text.split()))
        fence = "`" * max(3, 1 + _longest_run(text))
        token = self._keep(_BLOCK, f"{fence}\n{text}{fence}")
        return f"\n\n{token}\n\n"

    def _styled(self, node: Tag, style: str, parent_tags: set[str]) -> str:
        """The element's text between the marks of its style, without them where they would be in the way."""
        if style == _CODE and _has_partly_bold(node):
            return self._children(node, parent_tags)
        around = parent_tags | {style} | ({"_noformat"} if style == _CODE else set())
        text: str = super().process_tag(node, around)  # type: ignore[misc]
        body = text.strip(_WHITE)
        if not body or "_noformat" in parent_tags or _is_block(body) or _IMAGE.fullmatch(body):
            return text
        if style == _CODE and "`" in body:
            return _around(text, _coded(body))
        if style == _ITALIC and _is_beside_script(node):
            return text
        joins = _joins(node, style)
        opening = "" if joins and _joins(node.previous_sibling, style) else style
        closing = "" if joins and _joins(node.next_sibling, style) else style
        return _around(text, f"{opening}{body}{closing}")

    def _is_layout(self, node: Tag) -> bool:
        """Whether the row or cell is of a table that holds what no cell of Markdown can hold."""
        table = node.find_parent("table")
        if table is None:
            return False
        if id(table) not in self._layouts:
            self._layouts[id(table)] = table.find(_NOT_IN_CELLS) is not None
        return self._layouts[id(table)]

    def _address(self, address: str) -> str:
        """An address made absolute, with no character that would end it in Markdown."""
        try:
            whole = urljoin(self._base_url, address)
        except ValueError:  # no address at all: it stays as it is written
            whole = address
        return re.sub(r"[\s()<>]", lambda match: f"%{ord(match[0]):02X}", whole)

    def _keep(self, mark: str, text: str) -> str:
        self._kept.append(text)
        return f"{mark}{len(self._kept) - 1}{_END}"

    def _restored(self, line: str) -> str:
        """The line with what was kept; the lines of code that stands in a list are all as far to the right."""
        if match := _KEPT_BLOCK.fullmatch(line):
            first, *others = self._kept[int(match[2])].split("\n")
            indent = re.sub(r"[^\s>]", " ", match[1])
            return "\n".join([match[1] + first, *(indent + other if other else indent.rstrip() for other in others)])
        return _KEPT_INLINE.sub(lambda match: self._kept[int(match[1])], line)


def _style_of(node: PageElement | None) -> str:
    """The marks that set off the element's text; an empty string for none."""
    if not isinstance(node, Tag):
        return ""
    classes = classes_of(node)
    return _TAG_STYLES.get(node.name) or next((style for name, style in _CLASS_STYLES.items() if name in classes), "")


def _joins(node: PageElement | None, style: str) -> bool:
    """Whether the element becomes one with neighbours of the same style, since ``**a****b**`` is neither."""
    if not isinstance(node, Tag) or _style_of(node) != style or not node.get_text().strip(_WHITE):
        return False
    return node.find(_BLOCKS) is None and not _is_beside_script(node) and "`" not in node.get_text()


def _is_beside_script(node: Tag) -> bool:
    """Whether the element is a letter with an index, which needs no italics."""
    beside = (node.previous_sibling, node.next_sibling)
    return any(isinstance(other, Tag) and other.name in ("sub", "sup") for other in beside)


def _has_partly_bold(node: Tag) -> bool:
    """Whether some of the text in the element is bold: as code it would look all the same."""
    return any(_style_of(inner) == _BOLD and inner.get_text() != node.get_text() for inner in node.find_all(True))


def _is_block(text: str) -> bool:
    return "\n\n" in text or _BLOCK in text


def _around(text: str, marked: str) -> str:
    """What was marked, with a blank or a line break where the text began or ended with one."""
    before, after = text[: -len(text.lstrip(_WHITE))], text[len(text.rstrip(_WHITE)) :]
    return f"{_one_white(before)}{marked}{_one_white(after)}"


def _one_white(text: str) -> str:
    return "\n" if "\n" in text else text[:1]


def _coded(text: str) -> str:
    """Text as code in a line."""
    run = _longest_run(text)
    return f"{'`' * (run + 1)} {text} {'`' * (run + 1)}" if run else f"`{text}`"


def _longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def _preformatted(element: Tag, *, with_scripts: bool) -> str:
    first = next(iter(element.children), None)
    text = _lines(element, with_scripts=with_scripts).replace("\u00a0", " ")
    if isinstance(first, NavigableString) and first.startswith(("\n", "\r\n")):
        text = text.removeprefix("\n")
    text = text.rstrip("\n")
    return f"{text}\n" if text else ""


def _lines(element: Tag, *, with_scripts: bool) -> str:
    """The text of a ``<pre>``. Where its lines are elements, white space between them is the source's indentation."""
    children = list(element.children)
    of_lines = any(isinstance(child, Tag) and child.name in _LINES for child in children)
    text = ""
    for child in children:
        if isinstance(child, Tag):
            piece = _element_lines(child, with_scripts=with_scripts)
            starts_line = child.name in _LINES and piece and text and not text.endswith("\n")
            text += f"\n{piece}" if starts_line else piece
        elif not isinstance(child, PreformattedString):
            piece = str(child).replace("\r\n", "\n").replace("\r", "\n")
            text += "" if of_lines and not piece.strip(_WHITE) else piece
    return text


def _element_lines(tag: Tag, *, with_scripts: bool) -> str:
    formula = None if tag.name == "var" else formula_of(tag)
    if formula is not None:
        text = formula.tex
    elif is_furniture(tag):
        text = ""
    elif tag.name == "br":
        text = "\n"
    elif tag.name in ("sub", "sup") and with_scripts:
        text = script_of(tag)
    else:
        text = _lines(tag, with_scripts=with_scripts)
    return text.removesuffix("\n") + "\n" if tag.name in _LINES and not is_furniture(tag) else text
