"""The list of knowledge cut-offs by HaoooWang (github.com/HaoooWang/llm-knowledge-cutoff-dates), as CSV.

Columns: ``section`` (the provider), ``model``, ``cutoff_as_written``, ``reliable_cutoff_as_written`` ("-" or empty
where the provider does not tell the two apart), ``source``. The first date is taken for that of the training data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from db.importing import Note, Refusal
from eval.claims import Claim, ClaimKind
from eval.registry_forms import ListedModel
from eval.registry_forms._rows import BadCell, Row, csv_rows, date_in, link_in, name_in, read_text

NAME = "haooowang"
DESCRIPTION = "CSV of HaoooWang/llm-knowledge-cutoff-dates: training-data and reliable-knowledge dates with sources"
BY = "HaoooWang/llm-knowledge-cutoff-dates"
COLUMNS = ("section", "model", "cutoff_as_written", "reliable_cutoff_as_written", "source")
_KINDS = {
    "cutoff_as_written": ClaimKind.TRAINING_DATA,
    "reliable_cutoff_as_written": ClaimKind.RELIABLE_KNOWLEDGE,
}


def read(path: Path, _canonical: Callable[[str], str]) -> Iterator[ListedModel | Refusal | Note]:
    """The models of the file, a model for each row; one without any date is noted."""
    for row in csv_rows(read_text(path), path, COLUMNS):
        if isinstance(row, Refusal):
            yield row
            continue
        try:
            listed = _listed(row)
        except BadCell as error:
            yield Refusal(row.where, error.reason, error.hint)
            continue
        yield listed if listed.claims else Note(f"{row.where}, {listed.name}", "no date is given")


def _listed(row: Row) -> ListedModel:
    source = link_in(row, "source")
    dates = {kind: date_in(row, column) for column, kind in _KINDS.items()}
    claims = tuple(Claim(kind, cutoff, BY, source) for kind, cutoff in dates.items() if cutoff is not None)
    return ListedModel(row.where, name_in(row, "model"), row.cells["section"] or None, claims)
