"""The data files of an edition described in Croissant, so that readers of data sets find and load them.

Format: Croissant 1.1 (http://mlcommons.org/croissant/1.1, JSON-LD on schema.org). What the files hold is taken from the
files themselves, their columns from the schemas beside this module. The format wants a licence: nobody states one for
an edition, and none is made up.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eval.exports import outcomes, problems, results
from eval.exports._columns import Kind, columns_of, schema_bytes
from eval.exports._naming import SOFTWARE, edition_urn, json_file, one_line
from eval.exports._run_records import edition_basis, written
from eval.exports.citation import bibtex, title_of
from eval.publishing.publication import File, Published
from eval.report import utc_text

NAME = "croissant"
DESCRIPTION = "croissant.json: what the data files hold, in the Croissant format"
PATH = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"

NO_LICENCE = "The publisher of this edition states no licence here."

_KEYS = {"results": ("table", "run"), "problems": ("problem",), "outcomes": ("problem",)}
_TYPES = {
    Kind.TEXT: "sc:Text",
    Kind.INSTANT: "sc:DateTime",
    Kind.DAY: "sc:Date",
    Kind.COUNT: "sc:Integer",
    Kind.NUMBER: "sc:Float",
    Kind.TRUTH: "sc:Boolean",
    Kind.NESTED: "sc:Text",
}
_CROISSANT_WORDS = (
    "annotation", "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "excludes", "extract",
    "field", "fileObject", "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath",
    "key", "md5", "parentField", "path", "readLines", "recordSet", "references", "regex", "repeated", "replace",
    "samplingRate", "sdVersion", "separator", "source", "subField", "transform", "unArchive", "value",
)  # fmt: skip
"""The words of the vocabulary that are written without a prefix (appendix 1 of the specification)."""

_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    **{word: f"cr:{word}" for word in _CROISSANT_WORDS},
}


@dataclass(frozen=True)
class _DataFile:
    """A CSV file with the schema of its table; ``name`` is that of its records."""

    file: File
    table: str
    name: str
    description: str

    @property
    def columns(self) -> list[str]:
        """The names in its first row."""
        return next(csv.reader(io.StringIO(self.file.body.decode(), newline="")))


def files(published: Published) -> Iterator[File]:
    """The description of all data files."""
    yield json_file(PATH, _document(published, list(_data_files(published))))


def _data_files(published: Published) -> Iterator[_DataFile]:
    """The files in CSV that other exports write."""
    runs = {f"data/outcomes/{slug}.csv": (run, slug) for run, slug in published.run_slugs.items()}
    for module in (results, problems, outcomes):
        for file in module.files(published):
            if not file.path.endswith(".csv"):
                continue
            if file.path in runs:
                run, slug = runs[file.path]
                what = f"{_described('outcomes')} The run is {one_line(run)}."
                yield _DataFile(file, "outcomes", f"outcomes/{slug}", what)
            else:
                yield _DataFile(file, module.NAME, module.NAME, _described(module.NAME))


def _described(table: str) -> str:
    return str(_schema(table)["description"])


def _schema(table: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(schema_bytes(table))
    return schema


def _document(published: Published, data_files: list[_DataFile]) -> dict[str, Any]:
    at = published.frozen_at
    creator: dict[str, Any] = {"@type": "sc:Organization", "name": one_line(published.title) or SOFTWARE}
    if published.base_url is not None:
        creator["url"] = published.base_url
    return {
        "@context": dict(_CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": title_of(published),
        "description": _about(published),
        "url": published.base_url or edition_urn(published.name, published.digest),
        "identifier": f"sha256:{published.digest}",
        "creator": creator,
        "license": {"@type": "sc:CreativeWork", "name": "not stated", "description": NO_LICENCE},
        "datePublished": utc_text(at),
        "version": f"{at.year}.{at.month}.{at.day}+{published.build_id}",
        "keywords": ["benchmark", "code generation", "contamination", "training cut-off"],
        "inLanguage": "en",
        "isLiveDataset": False,
        "citeAs": bibtex(published),
        "distribution": [_file_object(one) for one in data_files],
        "recordSet": [_record_set(one) for one in data_files],
    }


def _about(published: Published) -> str:
    """What was measured, as the format has no fields for it."""
    basis = {key: value for key, value in edition_basis(published).items() if value is not None}
    n_problems, n_runs = len(published.edition.problems), len(published.edition.runs)
    said = "; ".join(f"{key}: {written(value)}" for key, value in sorted(basis.items()))
    return (
        "Scores of code models on problems published after their training cut-off, with all results that they rest on. "
        f"{n_problems} problems, {n_runs} runs. Scores are shares from 0 to 1; windows and set digests stand in each "
        f"row of the results. {said}"
    )


def _file_object(one: _DataFile) -> dict[str, Any]:
    body = one.file.body
    return {
        "@type": "cr:FileObject",
        "@id": one.file.path,
        "name": one.file.path.rpartition("/")[2],
        "description": one.description,
        "contentUrl": one.file.path,
        "contentSize": f"{len(body)} B",
        "encodingFormat": "text/csv",
        "sha256": hashlib.sha256(body).hexdigest(),
    }


def _record_set(one: _DataFile) -> dict[str, Any]:
    known = {column.name: column.kind for column in columns_of(one.table)}
    described = _schema(one.table)["$defs"]["row"]["properties"]
    return {
        "@type": "cr:RecordSet",
        "@id": one.name,
        "name": one.name,
        "description": one.description,
        "key": [{"@id": f"{one.name}/{column}"} for column in _KEYS[one.table]],
        "field": [_field(one, column, known[column], described[column]["description"]) for column in one.columns],
    }


def _field(one: _DataFile, column: str, kind: Kind, description: str) -> dict[str, Any]:
    found = {
        "@type": "cr:Field",
        "@id": f"{one.name}/{column}",
        "name": column,
        "description": f"{description} JSON in text." if kind is Kind.NESTED else description,
        "dataType": _TYPES[kind],
        "source": {"fileObject": {"@id": one.file.path}, "extract": {"column": column}},
    }
    if one.table == "outcomes" and column == "problem":
        found["references"] = {"field": {"@id": "problems/problem"}}
    return found
