"""Citations: all that identifies an edition in each form; hostile text ends no entry.

Sources: http://www.bibtex.org/Format (entries, braces); the schema of Citation File Format 1.2.0 (required:
cff-version, message, title, authors). bibtexparser 2.1.0 and cffconvert 2.0.0 read what is written.
"""

from __future__ import annotations

import re
from datetime import date

import pytest
import yaml

from eval.exports import citation
from eval.publishing.publication import Published
from tests.eval.editions.built import published
from tests.eval.exports.small_editions import SITE, by_path, duel, odd, odd_on_a_site


def _forms(edition: Published) -> dict[str, str]:
    return {path: body.decode() for path, body in by_path(citation.files(edition)).items()}


def _fields(bib: str) -> dict[str, str]:
    """The fields of the one entry, by counting braces as BibTeX does, where a backslash before one changes nothing."""
    match = re.match(r"@misc\{([^\s,{}]+),\n", bib)
    assert match is not None
    fields, place = {}, match.end()
    while bib[place] != "}":
        name, _, _ = bib[place:].partition(" = {")
        start = place + len(name) + len(" = {")
        depth, end = 1, start
        while depth:
            depth += {"{": 1, "}": -1}.get(bib[end], 0)
            end += 1
        fields[name.strip()] = bib[start : end - 1]
        assert bib[end : end + 2] == ",\n"
        place = end + 2
    assert bib[place:] == "}\n"
    return fields


@pytest.mark.parametrize("form", ["citation.txt", "citation.bib", "CITATION.cff"])
def test_every_form_identifies_the_edition(form: str) -> None:
    edition = odd_on_a_site()
    said = _forms(edition)[form]
    wanted = ("edition 2025-05", f"sha256:{edition.digest}", "2025-05-02T03:17:00Z", "2025-05-03T09:00:30Z", SITE)
    assert [one for one in wanted if one not in said] == []
    assert "0.1.0" in said  # of livecut


def test_without_an_address_none_is_made_up() -> None:
    forms = _forms(odd())
    assert set(forms) == {"citation.txt", "citation.bib", "CITATION.cff"}
    assert not any("http" in text for text in forms.values())


def test_bibtex_has_the_fields_of_an_entry() -> None:
    edition = odd_on_a_site()
    bib = _forms(edition)["citation.bib"]
    assert bib.startswith(f"@misc{{livecut-2025-05-{edition.digest[:12]},\n")
    fields = _fields(bib)
    assert fields["title"] == "{livecut: edition 2025-05}"
    assert fields["year"] == "2025"
    assert fields["version"] == "2025-05"
    assert fields["url"] == SITE


def test_hostile_text_cannot_end_a_bibtex_entry() -> None:
    title = 'A } @misc{x, \\input{y} {{ "q" 50% & #1 $x_1^2$ ~\n\\'
    fields = _fields(_forms(published(duel(), title=title, base_url="https://a.example/}b{%20/"))["citation.bib"])
    assert fields["author"] == (
        r"{A \textbraceright{} @misc\textbraceleft{}x, \textbackslash{}input\textbraceleft{}y\textbraceright{} "
        r'\textbraceleft{}\textbraceleft{} "q" 50\% \& \#1 \$x\_1\textasciicircum{}2\$ \textasciitilde{} '
        r"\textbackslash{}}"
    )
    assert fields["url"] == "https://a.example/%7Db%7B%20/"
    assert list(fields) == ["title", "author", "year", "version", "note", "url"]


def test_cff_has_what_its_schema_requires() -> None:
    found = yaml.safe_load(_forms(odd_on_a_site())["CITATION.cff"])
    assert found["cff-version"] == "1.2.0"
    assert found["message"]
    assert found["title"] == "livecut: edition 2025-05"
    assert found["authors"] == [{"name": "livecut"}]
    assert found["type"] == "dataset"
    assert found["version"] == "2025-05"
    assert found["date-released"] == date(2025, 5, 3)
    assert found["url"] == SITE
    assert {one["type"] for one in found["identifiers"]} == {"other"}


def test_hostile_text_stays_text_in_cff_and_on_one_line_in_text() -> None:
    edition = published(duel(), title="a: [b]\nurl: https://evil.example # {x}")
    found = yaml.safe_load(_forms(edition)["CITATION.cff"])
    assert found["authors"] == [{"name": "a: [b] url: https://evil.example # {x}"}]
    assert "url" not in found
    assert len(_forms(edition)["citation.txt"].splitlines()) == 3
