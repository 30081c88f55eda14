"""How to cite an edition: as text, as BibTeX and as CFF.

Formats: BibTeX's @misc (http://www.bibtex.org/Format); Citation File Format 1.2.0
(https://citation-file-format.github.io). All name the edition, its digest, as of when its data stand and when it was
frozen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from eval.exports._naming import SOFTWARE, edition_urn, lines_file, one_line, software_version
from eval.publishing.publication import File, Published, slugs
from eval.report import utc_text

NAME = "citation"
DESCRIPTION = "citation.txt, citation.bib, CITATION.cff: how to cite the edition"

SOFTWARE_AUTHORS = "The livecut contributors"

_BIBTEX = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "$&#%_"},
}
"""Braces are never only escaped: BibTeX counts them all the same, and an entry would not end."""


def files(published: Published) -> Iterator[File]:
    """The three forms."""
    yield lines_file("citation.txt", _text(published))
    yield lines_file("citation.bib", _bibtex(published))
    yield lines_file("CITATION.cff", _cff(published))


def title_of(published: Published) -> str:
    """The title under which an edition is cited."""
    return one_line(f"{published.title}: edition {published.name}")


def bibtex(published: Published) -> str:
    """The BibTeX entry of an edition, in one piece."""
    return "\n".join(_bibtex(published))


def _facts(published: Published) -> list[tuple[str, str]]:
    """What identifies an edition, as pairs of a word and a value."""
    return [
        ("digest", f"sha256:{published.digest}"),
        ("data as of", str(utc_text(published.edition.as_of))),
        ("frozen", str(utc_text(published.frozen_at))),
    ]


def _text(published: Published) -> Iterator[str]:
    facts = "; ".join(f"{word} {value}" for word, value in _facts(published))
    made_with = f"Made with {one_line(published.edition.software)}."
    where = f" {one_line(published.base_url)}" if published.base_url is not None else ""
    yield f"{title_of(published)}. {published.frozen_at.year}. {facts}. {made_with}{where}"
    yield ""
    yield "Cite a score with its model, the model's cut-off, the window, the number of problems and the interval."


def _bibtex(published: Published) -> Iterator[str]:
    facts = "; ".join(f"{word} {value}" for word, value in _facts(published))
    fields = {
        "title": f"{{{_escaped(title_of(published))}}}",
        "author": f"{{{_escaped(one_line(published.title) or SOFTWARE)}}}",
        "year": str(published.frozen_at.year),
        "version": _escaped(one_line(published.name)),
        "note": _escaped(f"{facts}; made with {one_line(published.edition.software)}"),
    }
    if published.base_url is not None:
        fields["url"] = _url(published.base_url)
    yield f"@misc{{{_key(published)},"
    yield from (f"  {name} = {{{value}}}," for name, value in fields.items())
    yield "}"


def _key(published: Published) -> str:
    (slug,) = slugs([published.name]).values()
    return f"{SOFTWARE}-{slug}-{published.build_id}"


def _escaped(text: str) -> str:
    return "".join(_BIBTEX.get(char, char) for char in text)


def _url(text: str) -> str:
    """An address as it may stand in braces: signs that would end the entry are percent-encoded."""
    encoded = {"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20", '"': "%22", "<": "%3C", ">": "%3E"}
    return "".join(encoded.get(char, char) for char in one_line(text))


def _cff(published: Published) -> Iterator[str]:
    found: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use numbers of this edition, please cite it as below, with its digest.",
        "type": "dataset",
        "title": title_of(published),
        "abstract": "; ".join(f"{word} {value}" for word, value in _facts(published)),
        "version": one_line(published.name),
        "date-released": published.frozen_at.date(),
        "authors": [{"name": one_line(published.title) or SOFTWARE}],
        "identifiers": [
            {"type": "other", "value": f"sha256:{published.digest}", "description": "digest of the frozen edition"},
            {
                "type": "other",
                "value": edition_urn(published.name, published.digest),
                "description": "name that never changes",
            },
        ],
        **({} if published.base_url is None else {"url": _url(published.base_url)}),
        "references": [
            {
                "type": "software",
                "title": SOFTWARE,
                "authors": [{"name": SOFTWARE_AUTHORS}],
                "version": software_version(published),
            }
        ],
    }
    yield yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=10**6).rstrip("\n")
