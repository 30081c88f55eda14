"""Codeforces statements out of HTML: complete problem sets and single pages, raw or saved from a browser. Pure.

Elements are found by class tokens, never by a literal attribute: the site adds tokens (``input-file input-standard``).
What a statement must have and has not is an error that names the selector and the problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bs4 import Tag
from bs4.element import Comment, NavigableString

from db.digests import sha256_hex
from db.records import MAX_INTEGER
from ingest.errors import PageChanged
from ingest.pages import Page
from ingest.statements.markdown import pre_text, to_markdown

_HOLDER: Final = ".problemindexholder"
_STATEMENT: Final = ".problem-statement"
_SAMPLES: Final = ".sample-tests"
_INPUT: Final = ".sample-test .input > pre"
_OUTPUT: Final = ".sample-test .output > pre"
_PROPERTIES: Final = ("time-limit", "memory-limit", "input-file", "output-file")
_EMBEDDED_PDF: Final = "embed[type='application/pdf'], object[type='application/pdf'], iframe[src$='.pdf']"

_STANDARD: Final = frozenset(
    {"standard input", "standard output", "stdin", "stdout", "стандартный ввод", "стандартный вывод"}
)
_EXAMPLES: Final = frozenset({"example", "examples", "пример", "примеры"})
_INTERACTION = re.compile(r"interact|(?:протокол )?взаимодействи", re.IGNORECASE)
_INDEX_BEFORE_TITLE = re.compile(r"\A\w+\.\s+")
_AMOUNT = re.compile(r"(\d+(?:[.,]\d+)?)\s*([^\W\d_]+)")
# By how the unit's name begins: Russian words have many endings. A megabyte means 2**20 bytes there.
_SECONDS: Final = {"ms": 0.001, "milli": 0.001, "мс": 0.001, "милли": 0.001, "s": 1, "сек": 1}
_BYTES: Final = {
    "k": 2**10,
    "кило": 2**10,
    "кб": 2**10,
    "m": 2**20,
    "мега": 2**20,
    "мб": 2**20,
    "g": 2**30,
    "гига": 2**30,
    "гб": 2**30,
}
_UNAVAILABLE = re.compile(r"statement is not available(?: on \w+ language)?", re.IGNORECASE)
_NO_PROSE = re.compile(r"```.*?```|`[^`\n]*`|\$[^$]*\$|\]\([^)\]]*\)|https?://\S+", re.DOTALL)
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_BACKTICKS = re.compile(r"`+")
_SHOWN_CHARACTERS: Final = 80


@dataclass(frozen=True)
class Statement:
    """What a problem's page says. ``samples`` are (input, output) texts; transcripts of an interactive one are none.

    A limit is None where the page states none, a file name None for the standard streams. ``language`` is en, ru or
    None (another one). ``page_sha256`` is that of the page it was read from. ``flags`` are (name, reason) pairs that
    the page's structure gives, not its wording.
    """

    title: str
    markdown: str
    language: str | None
    page_sha256: str
    samples: tuple[tuple[str, str], ...] = ()
    time_limit_s: float | None = None
    memory_limit_bytes: int | None = None
    input_file: str | None = None
    output_file: str | None = None
    flags: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Place:
    """A problem on a page, for errors that name both."""

    page: Page
    index: str

    def one(self, root: Tag, selector: str) -> Tag:
        found = root.select_one(selector)
        if found is None:
            raise self.changed(f"has no {selector!r}")
        return found

    def changed(self, what: str) -> PageChanged:
        return self.page.changed(f"{what} in problem {self.index}")


def problem_set(page: Page) -> dict[str, Tag]:
    """The parts of a complete problem set by the problems' indices; a part may lack its statement. ``PageChanged``."""
    parts: dict[str, Tag] = {}
    for part in page.one(page.whole_soup(), ".problem-frames").select(_HOLDER):
        index = part.get("problemindex")
        if not index:
            raise page.changed(f"has a {_HOLDER!r} without 'problemindex'")
        parts[str(index)] = part
    if not parts:
        raise page.changed(f"has no {_HOLDER!r} in its '.problem-frames'")
    return parts


def single_problem(page: Page, index: str) -> Tag:
    """The part of a single problem page with the statement. ``PageChanged``, also when it shows another problem."""
    soup = page.whole_soup()
    statement = page.one(soup, _STATEMENT)
    part = statement.find_parent(class_="problemindexholder")
    shown = part.get("problemindex") if part else None
    if shown and shown != index:
        raise page.changed(f"shows problem {shown}, not {index}")
    return part or statement


def why_no_statement(page: Page) -> tuple[str, str] | None:
    """The (flag, reason) of a page that honestly has no statement to read; None when it has one, or should have."""
    if page.body.startswith(b"%PDF") or "application/pdf" in page.headers.get("content-type", ""):
        return "pdf_statement", "the statement is a PDF file"
    if "/attachments" in page.final_url:
        return "pdf_statement", "the statement is among the attachments of its contest"
    soup = page.soup()
    if soup.select_one(_STATEMENT):
        return None
    if soup.select_one(_EMBEDDED_PDF):
        return "pdf_statement", "the statement is a PDF file in the page"
    said = _UNAVAILABLE.search(" ".join(soup.get_text(" ").split()))
    return ("statement_unavailable", said[0]) if said else None


def read_statement(page: Page, part: Tag, index: str) -> Statement:
    """The statement of problem `index`, which `part` of the page holds; the part is used up. ``PageChanged``."""
    place = _Place(page, index)
    statement = part if "problem-statement" in _classes(part) else place.one(part, _STATEMENT)
    header = place.one(statement, ".header")
    title = _title(place, header, is_known=part.get("problemindex") == index)
    properties = _properties(place, header)
    flags = _section_flags(statement)
    samples = _samples(place, statement, is_interactive="interactive" in dict(flags))
    markdown = _markdown(page, statement)
    if not markdown:
        raise place.changed("has no text")
    language = _language(markdown, " ".join(f"{label} {value}" for label, value in properties.values()))
    notes = [f"no {name.replace('-', ' ')}" for name in _PROPERTIES[:2] if name not in properties]
    notes += [] if samples or "interactive" in dict(flags) else ["no samples"]
    notes += [] if language else ["neither in English nor in Russian"]
    memory = _amount(place, properties, "memory-limit", _BYTES)
    return Statement(
        title=title,
        markdown=markdown,
        language=language,
        page_sha256=sha256_hex(page.body),
        samples=samples,
        time_limit_s=_amount(place, properties, "time-limit", _SECONDS),
        memory_limit_bytes=int(memory) if memory else None,
        input_file=_file_name(header, properties, "input"),
        output_file=_file_name(header, properties, "output"),
        flags=flags,
        notes=tuple(notes),
    )


def _classes(element: Tag) -> tuple[str, ...]:
    given = element.get("class") or ()
    return (given,) if isinstance(given, str) else tuple(given)


def _words(element: Tag) -> str:
    return " ".join(element.get_text().split())


def _title(place: _Place, header: Tag, *, is_known: bool) -> str:
    """The title without its index. ``is_known``: the page says elsewhere that this is the problem asked for."""
    words = _words(place.one(header, ".title"))
    prefix = f"{place.index}."
    if not words.startswith(prefix) and not is_known:
        raise place.changed(f"shows {words!r}")
    title = words.removeprefix(prefix) if words.startswith(prefix) else _INDEX_BEFORE_TITLE.sub("", words, count=1)
    if not title.strip():
        raise place.changed("has an empty '.title'")
    return title.strip()


def _properties(place: _Place, header: Tag) -> dict[str, tuple[str, str]]:
    """(label, value) of each limit and stream in the header, by class. One is missed when an unknown one is there."""
    found: dict[str, tuple[str, str]] = {}
    unknown = []
    for label in header.select(".property-title"):
        element = label.parent
        name = next((name for name in _PROPERTIES if element and name in _classes(element)), None)
        if name is None or element is None:
            unknown.append(_words(label))
            continue
        found[name] = (_words(label.extract()), _words(element))
    for name in _PROPERTIES:
        if name not in found and (unknown or header.select_one(f".{name}")):
            raise place.changed(f"has no '.{name} > .property-title'")
    return found


def _amount(
    place: _Place, properties: Mapping[str, tuple[str, str]], name: str, units: Mapping[str, float]
) -> float | None:
    """A limit in seconds or bytes; None where the page states none."""
    if name not in properties:
        return None
    words = properties[name][1]
    match = _AMOUNT.match(words)
    factor = next((units[unit] for unit in units if match and match[2].lower().startswith(unit)), None)
    value = float(match[1].replace(",", ".")) * factor if match and factor else 0
    if not 0 < value <= MAX_INTEGER:
        raise place.changed(f"has {words[:_SHOWN_CHARACTERS]!r} for a limit in '.{name}'")
    return value


def _file_name(header: Tag, properties: Mapping[str, tuple[str, str]], stream: str) -> str | None:
    """The file that a program reads or writes; None for the standard stream."""
    _, value = properties.get(f"{stream}-file", ("", ""))
    is_standard = value.lower() in _STANDARD or header.select_one(f".{stream}-file.{stream}-standard") is not None
    return None if is_standard or not value else value


def _section_flags(statement: Tag) -> tuple[tuple[str, str], ...]:
    titles = [_words(title) for title in statement.select(":scope > div > .section-title")]
    found = next((title for title in titles if _INTERACTION.match(title)), None)
    return (("interactive", f"the statement has a section {found!r}"),) if found else ()


def _samples(place: _Place, statement: Tag, *, is_interactive: bool) -> tuple[tuple[str, str], ...]:
    """The samples, which come in pairs; transcripts need not."""
    section = statement.select_one(_SAMPLES)
    if section is None:
        titles = [_words(title).lower() for title in statement.select(".section-title")]
        if _EXAMPLES.intersection(titles) or statement.select(".input pre, .output pre"):
            raise place.changed(f"has no {_SAMPLES!r}")
        return ()
    place.one(section, ".section-title")
    place.one(section, _INPUT)
    place.one(section, _OUTPUT)
    inputs, outputs = section.select(_INPUT), section.select(_OUTPUT)
    if is_interactive:
        return ()
    if not len(inputs) == len(section.select(".sample-test .input")) == len(outputs):
        raise place.changed(f"has {len(inputs)} {_INPUT!r} for {len(outputs)} {_OUTPUT!r}")
    return tuple((pre_text(given), pre_text(expected)) for given, expected in zip(inputs, outputs, strict=True))


def _markdown(page: Page, statement: Tag) -> str:
    """The statement without title and limits: the legend, then each section under its title."""
    return "\n\n".join(chunk for chunk in _chunks(page, statement) if chunk)


def _chunks(page: Page, statement: Tag) -> Iterator[str]:
    for quotation in statement.select(".epigraph"):
        quotation.decompose()
    for child in list(statement.children):
        if not isinstance(child, Tag):
            if isinstance(child, NavigableString) and not isinstance(child, Comment):
                yield child.strip()
            continue
        if "header" in _classes(child):
            continue
        title = child.select_one(":scope > .section-title")
        if title is not None:
            yield f"## {_words(title.extract())}"
        if "sample-tests" in _classes(child):
            yield from _sample_chunks(child)
        else:
            yield to_markdown(child, base_url=page.url).strip()


def _sample_chunks(section: Tag) -> Iterator[str]:
    for block in section.select(".sample-test .input, .sample-test .output"):
        title, pre = block.select_one(":scope > .title"), block.select_one(":scope > pre")
        # The title may hold a button: only its own text counts.
        label = "".join(title.find_all(string=True, recursive=False)).strip() if title else ""
        yield f"### {label}" if label else ""
        yield _fenced(pre_text(pre)) if pre else ""


def _fenced(text: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    return f"{fence}\n{text}{fence}"


def _language(markdown: str, labels: str) -> str | None:
    """By the header's words, and by the letters of the prose: a page may have English words around a Russian text."""
    prose = _NO_PROSE.sub(" ", markdown)
    n_letters = sum(letter.isalpha() for letter in prose)
    if _CYRILLIC.search(labels) or 3 * len(_CYRILLIC.findall(prose)) > n_letters:
        return "ru"
    return "en" if 2 * len(_LATIN.findall(prose)) >= n_letters else None
