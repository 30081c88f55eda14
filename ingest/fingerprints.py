"""What two statements are compared by: their plain words, whatever markup they came in, and the MinHash of these. Pure.

Statements come as Markdown (most sources), as LaTeX (packages) and as plain text (data sets); the same task written in
each of them has the same words here. Words are lower case. Numbers stand as they are written, with sign and exponent
(``10^5`` is one word, and never 105). Of all signs only ``+ = < > <= >= != / ^`` remain: brackets, hyphens and
punctuation are written here and left out there. Code blocks are left out: they hold samples, which are compared apart.
Japanese and Chinese have no spaces: each of their characters is a word. A statement and its translation have no words
in common, so that a translation is not found.

datasketch and numpy take half a second to import, and are imported where they are first used.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHINGLE_CHARACTERS: Final = 5
PERMUTATIONS: Final = 128
BANDS: Final = (21, 6)
"""21 bands of 6 values: texts that share 80 % of their shingles meet in one of them with a chance of 99.8 %, those that
share 90 % with more than 99.999 %, and those that share 20 % with 0.1 %."""
MIN_WORDS: Final = 30
"""Below this a text is a stub ("see the PDF") or a single sentence, and likeness says nothing. Two characters of a
language without spaces count as one word."""
LEAST_ESTIMATE: Final = 0.65
"""Candidates whose MinHashes agree less are dropped unread: at 80 % this is more than four standard deviations away."""
KIND: Final = f"words2-char{SHINGLE_CHARACTERS}-minhash{PERMUTATIONS}-affine32-seed1"
"""Names everything that decides a fingerprint. A change of the rules for words takes another number behind "words"."""

_CJK = "\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_BETWEEN_CJK = re.compile(f"(?<=[{_CJK}]) (?=[{_CJK}])")
# Of the hyphens only the sign of a number remains: others are written, or left out, or mark the items of a list.
_WORD = re.compile(r"(?:(?<![\w)\]])-)?\d+(?:\.\d+)?(?:\^-?\d+)?|[^\W\d]\w*|<=|>=|!=|[+=<>/^]")
_NUMBER = re.compile(r"-?\d")

_LATEX = re.compile(
    r"\\(?:problemname|(?:sub)*section|begin\{(?:document|itemize|enumerate|figure|center|Input|Output)\})"
)
_LATEX_COMMENT = re.compile(r"(?<!\\)%.*")
_FENCE = re.compile(r"[ \t>*+-]*(`{3,}|~{3,})")
_BLOCKS_LEFT_OUT = (
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<pre\b[^<>]*>", re.IGNORECASE), re.compile(r"</pre\s*>", re.IGNORECASE)),
    (re.compile(r"\\begin\{verbatim\}"), re.compile(r"\\end\{verbatim\}")),
    (re.compile(r"\\begin\{lstlisting\}"), re.compile(r"\\end\{lstlisting\}")),
    (re.compile(r"\\begin\{tikzpicture\}"), re.compile(r"\\end\{tikzpicture\}")),
)
# No pattern here runs on past the next mark of its own kind: the time for a page is linear in its length.
_IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:https?:|mailto:|/|#)[^()]*\)")
_ADDRESS = re.compile(r"<?https?://[^\s<>(){}]*>?")
_INLINE = "a|abbr|b|big|code|em|font|i|kbd|small|span|strong|sub|sup|tt|u|var"
_BLOCK = "blockquote|br|center|dd|div|dl|dt|h[1-6]|hr|img|li|ol|p|section|table|tbody|td|th|thead|tr|ul"
_REST_OF_TAG = r"(?:\s+[a-z-]+\s*=[^<>]*|\s*/?)>"  # "a<b and c>d" is no tag
_SUPERSCRIPT_TAG = re.compile(f"<sup{_REST_OF_TAG}", re.IGNORECASE)
_INLINE_TAG = re.compile(f"</?(?:{_INLINE}){_REST_OF_TAG}", re.IGNORECASE)
_BLOCK_TAG = re.compile(f"</?(?:{_BLOCK}){_REST_OF_TAG}", re.IGNORECASE)
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_SUPERSCRIPT = re.compile(f"[{_SUPERSCRIPTS}]+")
_PLAIN_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789-")

_SPLIT_NUMBER = re.compile(r"(?<=\d)(?:\\,|\\ |~)(?=\d{3}(?!\d))")
_LATEX_ARGUMENT = re.compile(
    r"\\(?:begin|end|label|ref|url|includegraphics|problemname|vspace|hspace)\*?(?:\[[^\[\]]*\])?\{[^{}]*\}(?:\[[^\[\]]*\])?"
    r"|\\href\{[^{}]*\}"
    r"|\\illustration\{[^{}]*\}\{[^{}]*\}"
)
_LATEX_COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
_LATEX_SPACE = re.compile(r"\\[,;:!\\]")
_PRODUCT = re.compile(r"(?<=\w)\*(?=\w)|[×·⋅]")
_MEANINGS: Final = {
    **dict.fromkeys(("le", "leq", "leqslant"), " <= "),
    **dict.fromkeys(("ge", "geq", "geqslant"), " >= "),
    **dict.fromkeys(("ne", "neq"), " != "),
    "lt": " < ",
    "gt": " > ",
    **dict.fromkeys(
        ("times", "cdot", "quad", "qquad", "ldots", "dots", "dotsc", "dotsb", "cdots", "vdots", "ddots"), " "
    ),
    **dict.fromkeys(("item", "noindent", "section", "subsection", "subsubsection", "centering", "caption"), " "),
    **dict.fromkeys(("text", "texttt", "textbf", "textit", "textrm", "textsc", "textsf", "emph", "underline"), ""),
    **dict.fromkeys(("mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "operatorname", "displaystyle"), ""),
    **dict.fromkeys(("left", "right", "big", "Big", "bigl", "bigr", "rm", "bf", "it", "tt", "SI", "si", "num"), ""),
}
"""What LaTeX commands stand for: a sign, a gap or nothing. Any other one is the word that it is written with."""
_SIGNS = str.maketrans(
    {"≤": "<=", "≦": "<=", "⩽": "<=", "≥": ">=", "≧": ">=", "⩾": ">=", "≠": "!=", "−": "-", "–": "-", "—": "-"}
)


_FRAME = re.compile(
    r"(?<!\S)(?:(?:samples?|examples?)(?: (?:in|out)puts?)? \d+|(?:入|出) 力 例 \d+|配 点 \d+ 点|score \d+ points?"
    r"|(?:in|out)puts?|samples?|examples?|problem statement|constraints?|notes?"
    r"|入 力(?: 例)?|出 力(?: 例)?|問 題 文|制 約)(?!\S)"
)
"""Words that a platform puts around every task, as headings and points: a copy on another one has other ones."""


def plain_words(statement: str) -> tuple[str, ...]:
    """The words of a statement in Markdown, HTML, LaTeX or plain text."""
    text = statement.replace("\r\n", "\n")
    if _LATEX.search(text):
        text = _LATEX_COMMENT.sub("", text)
    text = _without_fences(text)
    for opening, closing in _BLOCKS_LEFT_OUT:
        text = _without_blocks(text, opening, closing)
    text = _without_tags(_LINK.sub(r"\1", _IMAGE.sub(" ", text)))
    text = _ADDRESS.sub(" ", text)  # after the tags that hold some
    text = _SUPERSCRIPT.sub(lambda match: "^" + match[0].translate(_PLAIN_DIGITS), text)
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS))  # after the powers: it makes 105 of 10⁵
    text = _without_latex(text).casefold()
    # An underscore is emphasis, an escape or a subscript that another form of the text writes without it.
    text = text.replace("$", "").replace("`", "").replace("_", "").replace("**", "")
    text = _CJK_CHARACTER.sub(r" \g<0> ", _PRODUCT.sub(" ", text))
    words = " ".join(_WORD.findall(text.replace("*", "")))
    return tuple(_FRAME.sub("", words).split())


def _without_fences(text: str) -> str:
    """Fenced code dropped; a fence that nothing closes fences nothing."""
    if "```" not in text and "~~~" not in text:
        return text
    kept: list[str] = []
    fence = ""
    opened_at = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" \t>").strip(fence[0]):
                fence = ""
        elif mark:
            fence, opened_at = mark[1], number
        else:
            kept.append(line)
    return "\n".join([*kept, *lines[opened_at:]] if fence else kept)


def _without_blocks(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    kept: list[str] = []
    place = 0
    while (start := opening.search(text, place)) and (end := closing.search(text, start.end())):
        kept.append(text[place : start.start()])
        place = end.end()
    return "\n".join([*kept, text[place:]])


def _without_tags(text: str) -> str:
    """Tags of HTML dropped, its entities read. Only tags that exist: ``a<b and c>d`` is mathematics."""
    if "<" in text:
        text = _BLOCK_TAG.sub(" ", _INLINE_TAG.sub("", _SUPERSCRIPT_TAG.sub("^", text)))
    return html.unescape(text) if "&" in text else text


def _without_latex(text: str) -> str:
    text = _SPLIT_NUMBER.sub("", text)
    if "\\" in text:
        text = _LATEX_ARGUMENT.sub(" ", text)
        text = _LATEX_SPACE.sub(" ", text)
        text = _LATEX_COMMAND.sub(lambda match: _MEANINGS.get(match[1], f" {match[1]} "), text)
    return text.replace("}{", " ").replace("{", "").replace("}", "").replace("\\", "")


def numbers(words: Iterable[str]) -> Counter[str]:
    """How often each number stands among the words, as it is written: bounds, exponents, moduli."""
    return Counter(word for word in words if _NUMBER.match(word))


def plain_text(words: Sequence[str]) -> str:
    """The words as one text: a space between two of them, and none between characters that are words of their own."""
    return _BETWEEN_CJK.sub("", " ".join(words))


def is_long_enough(words: Sequence[str]) -> bool:
    """Whether a text of these words can be compared by what it shares with others."""
    n_single = sum(len(word) == 1 and _CJK_CHARACTER.match(word) is not None for word in words)
    return len(words) - n_single + n_single // 2 >= MIN_WORDS


def character_shingles(words: Sequence[str]) -> frozenset[str]:
    """All runs of `SHINGLE_CHARACTERS` characters of the text."""
    text = plain_text(words)
    return frozenset(
        text[start : start + SHINGLE_CHARACTERS] for start in range(max(1, len(text) - SHINGLE_CHARACTERS + 1))
    )


def fingerprint(words: Sequence[str]) -> bytes:
    """The MinHash of the text's character shingles, 128 little-endian 32-bit numbers; b"" for one that is too short."""
    if not is_long_enough(words):
        return b""
    sketch = _empty_sketch().copy()
    sketch.update_batch(_shingle_hashes(plain_text(words)))
    values: NDArray[np.uint32] = sketch.hashvalues
    return values.astype("<u4").tobytes()


def _shingle_hashes(text: str) -> NDArray[np.uint32]:
    """A 32-bit hash of each character shingle: a polynomial of its code points, mixed.

    The hash function that datasketch comes with is called for each shingle and takes longer than all the rest.
    """
    import numpy as np

    points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.uint64)
    n = len(points) - SHINGLE_CHARACTERS + 1
    hashes = np.zeros(n, dtype=np.uint64)
    for place in range(SHINGLE_CHARACTERS):  # unsigned arrays of numpy wrap around
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + points[place : place + n]
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    return np.unique((hashes >> np.uint64(32)).astype(np.uint32))


@cache
def _empty_sketch() -> Any:
    """A MinHash to be copied: its permutations are made once."""
    from datasketch.minhash import MinHash  # type: ignore[import-untyped]

    return MinHash(num_perm=PERMUTATIONS, seed=1, scheme="affine32", hashfunc=int)


class FingerprintIndex:
    """Fingerprints by the number that each belongs to, in memory alone: it is made anew for each run."""

    def __init__(self) -> None:
        from datasketch.lsh import MinHashLSH  # type: ignore[import-untyped]

        self._index = MinHashLSH(num_perm=PERMUTATIONS, params=BANDS)
        self._values: dict[int, bytes] = {}

    def add(self, number: int, data: bytes) -> None:
        """Keep a fingerprint; a number that is there already stays as it is. Empty ones are kept and never found."""
        if number in self._values:
            return
        self._values[number] = data
        if data:
            self._index.insert(number, _sketch(data), check_duplication=False)

    def near(self, data: bytes) -> list[tuple[int, float]]:
        """The numbers whose fingerprints are like this one, each with the share that agrees, the likest first."""
        import numpy as np

        if not data:
            return []
        here = np.frombuffer(data, dtype="<u4")
        shares = (
            (number, float(np.count_nonzero(np.frombuffer(self._values[number], dtype="<u4") == here)) / PERMUTATIONS)
            for number in self._index.query(_sketch(data))
        )
        return sorted(
            ((number, share) for number, share in shares if share >= LEAST_ESTIMATE), key=lambda one: (-one[1], one[0])
        )


def _sketch(data: bytes) -> Any:
    import numpy as np

    sketch = _empty_sketch().copy()
    sketch.hashvalues = np.frombuffer(data, dtype="<u4").astype(np.uint32)
    return sketch
