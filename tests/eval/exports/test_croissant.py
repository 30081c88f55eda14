"""The Croissant description against the specification 1.1 and against the files that it describes.

Source: docs/croissant-spec-1.1.md of https://github.com/mlcommons/croissant (required properties, FileObject,
RecordSet, Field). mlcroissant 1.1.1 reads it without an error or a warning, and all records through it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from typing import Any

import pytest

from eval.exports import croissant, outcomes, problems, results
from eval.publishing.publication import Published
from tests.eval.editions.built import published
from tests.eval.exports.small_editions import SITE, by_path, duel, empty, odd, odd_on_a_site, strict_json

REQUIRED = {
    "@context", "@type", "conformsTo", "description", "license", "name", "url", "creator", "datePublished",
    "distribution",
}  # fmt: skip
ATOMIC = {"sc:Text", "sc:Integer", "sc:Float", "sc:Boolean", "sc:Date", "sc:DateTime"}


def _document(edition: Published) -> Any:
    (file,) = croissant.files(edition)
    assert file.path == "croissant.json"
    return strict_json(file.body)


def _data(edition: Published) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for module in (results, problems, outcomes):
        files |= by_path(module.files(edition))
    return {path: body for path, body in files.items() if path.endswith(".csv")}


@pytest.mark.parametrize("edition", [odd, odd_on_a_site, lambda: published(duel()), lambda: published(empty())])
def test_each_data_file_is_described_with_its_own_digest(edition: Any) -> None:
    document, data = _document(edition()), _data(edition())
    described = {one["contentUrl"]: one for one in document["distribution"]}
    assert set(described) == set(data)
    for path, body in data.items():
        one = described[path]
        assert one["@type"] == "cr:FileObject"
        assert one["@id"] == path
        assert one["encodingFormat"] == "text/csv"
        assert one["sha256"] == hashlib.sha256(body).hexdigest()
        assert one["contentSize"] == f"{len(body)} B"


def test_every_run_has_its_outcomes_described() -> None:
    records = {one["@id"] for one in _document(odd())["recordSet"]}
    assert records == {"results", "problems", *(f"outcomes/{slug}" for slug in odd().run_slugs.values())}


def test_fields_are_the_columns_of_the_files_with_types_of_the_vocabulary() -> None:
    document, data = _document(odd()), _data(odd())
    for one in document["recordSet"]:
        sources = {field["source"]["fileObject"]["@id"] for field in one["field"]}
        (path,) = sources
        header = next(csv.reader(io.StringIO(data[path].decode())))
        assert [field["source"]["extract"]["column"] for field in one["field"]] == header
        for field in one["field"]:
            assert field["@type"] == "cr:Field"
            assert field["@id"] == f"{one['@id']}/{field['name']}"
            assert field["dataType"] in ATOMIC
            assert field["description"]


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("results/pass_at_1", "sc:Float"),
        ("results/window_from", "sc:DateTime"),
        ("results/n_judged", "sc:Integer"),
        ("results/is_imported", "sc:Boolean"),
        ("problems/native_id", "sc:Text"),
        ("outcomes/steady/eligible", "sc:Boolean"),
    ],
)
def test_types_say_what_a_column_holds(field: str, kind: str) -> None:
    fields = {one["@id"]: one for records in _document(odd())["recordSet"] for one in records["field"]}
    assert fields[field]["dataType"] == kind


def test_ids_are_unique_and_what_is_referred_to_is_there() -> None:
    document = _document(odd())
    ids = [one["@id"] for one in document["distribution"]]
    ids += [one["@id"] for one in document["recordSet"]]
    ids += [field["@id"] for records in document["recordSet"] for field in records["field"]]
    assert len(set(ids)) == len(ids)
    for records in document["recordSet"]:
        assert {key["@id"] for key in records["key"]} <= {field["@id"] for field in records["field"]}
    references = [
        f["references"]["field"]["@id"] for one in document["recordSet"] for f in one["field"] if "references" in f
    ]
    assert set(references) == {"problems/problem"} <= set(ids)


def test_the_document_has_what_the_specification_requires() -> None:
    document = _document(odd_on_a_site())
    assert document.keys() >= REQUIRED
    assert document["@type"] == "sc:Dataset"
    assert document["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert document["@context"]["cr"] == "http://mlcommons.org/croissant/"
    assert document["url"] == SITE
    assert document["datePublished"] == "2025-05-03T09:00:30Z"
    assert re.fullmatch(r"2025\.5\.3\+[0-9a-f]{12}", document["version"])  # MAJOR.MINOR.PATCH, with a build
    assert document["citeAs"].startswith("@misc{livecut-2025-05-")


def test_words_without_a_prefix_are_of_schema_org_or_in_the_context() -> None:
    schema_org = {
        "citeAs", "contentSize", "contentUrl", "creator", "datePublished", "distribution", "encodingFormat",
        "identifier", "inLanguage", "keywords", "license", "sha256", "url", "version",
    }  # fmt: skip
    document = _document(odd())
    context = document.pop("@context")
    words = {word for word in _keys(document) if not word.startswith("@")}
    assert words - set(context) <= schema_org


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for one in value.values() for key in _keys(one)}
    return {key for one in value for key in _keys(one)} if isinstance(value, list) else set()


def test_no_licence_and_no_address_are_made_up() -> None:
    document = _document(odd())
    assert document["license"]["name"] == "not stated"
    assert document["url"].startswith("urn:uuid:")
    assert "url" not in document["creator"]


def test_the_description_says_what_was_measured() -> None:
    said = _document(published(duel(24.0)))["description"]
    for one in (
        "14 problems, 2 runs",
        "margin_hours: 24.0",
        "as_of: 2025-05-02T03:17:00Z",
        "strictly later than the end",
    ):
        assert one in said
