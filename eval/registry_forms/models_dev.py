"""The base models of models.dev (github.com/anomalyco/models.dev), as CSV.

Columns: ``model`` ("provider/id"), ``name``, ``knowledge``, ``release_date``, and ``source``, which may end in the day
of the copy. ``knowledge`` is that of the training data for some models and of reliable knowledge for others, so it
counts as the latter, which decides nothing. What decides is the release date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from db.importing import Note, Refusal
from eval.claims import Claim, ClaimKind
from eval.cutoffs import Cutoff
from eval.registry_forms import ListedModel
from eval.registry_forms._csv_rows import BadCell, CsvRow, date_in, name_in, read_rows

NAME = "models.dev"
DESCRIPTION = "CSV of the base models of anomalyco/models.dev: release dates, and dates of reliable knowledge"
BY = "anomalyco/models.dev"
SOURCE = "https://github.com/anomalyco/models.dev"
COLUMNS = ("model", "name", "knowledge", "release_date", "source")
_DAY_OF_COPY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}$")


def read(path: Path) -> Iterator[ListedModel | Refusal | Note]:
    """The models of the file. A row without any date is noted, and so is a name that must have been moved."""
    for row in read_rows(path, COLUMNS):
        if isinstance(row, Refusal):
            yield row
            continue
        try:
            listed = _listed(row)
        except BadCell as error:
            yield Refusal(row.where, error.reason, error.hint)
            continue
        place = f"{row.where}, {listed.name}"
        if not listed.claims and listed.release is None:
            yield Note(place, "no date is given")
            continue
        if listed.rolling and not _says_latest(row):
            yield Note(place, "its date is later than its release: taken for an alias that was moved, not scored")
        yield listed


def _listed(row: CsvRow) -> ListedModel:
    provider, _, name = name_in(row, "model").rpartition("/")
    if not name:
        raise BadCell("model: has no id after its provider", "write it as provider/id")
    knowledge, release = date_in(row, "knowledge"), date_in(row, "release_date")
    day = _day_of_copy(row.cells["source"])
    claims = () if knowledge is None else (Claim(ClaimKind.RELIABLE_KNOWLEDGE, knowledge, BY, SOURCE, day),)
    rolling = _says_latest(row) or _is_after(knowledge, release)
    return ListedModel(row.where, name, provider or None, claims, release, SOURCE if release else None, rolling)


def _says_latest(row: CsvRow) -> bool:
    return row.cells["model"].endswith("-latest") or "(latest)" in row.cells["name"].casefold()


def _is_after(knowledge: Cutoff | None, release: Cutoff | None) -> bool:
    """A snapshot cannot know what was written after its release; a name that was moved to a newer one can."""
    return knowledge is not None and release is not None and knowledge.first > release.last


def _day_of_copy(text: str) -> date | None:
    found = _DAY_OF_COPY.search(text)
    try:
        return date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None
