"""Our own form as CSV: the keys of the ``jsonl`` form as columns, in any order. ``question_id`` may stand for ``id``.

Every cell is text, ids above all: "0123" stays "0123" and "1e3" stays "1e3". An empty cell is one that says nothing,
but in the column ``code``, where it is an empty program.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from db.importing import Note, Refusal
from db.json_lines import GET_IT_AGAIN, READ_FAULTS, JsonRow, cannot_go_on, open_bytes, raw_of
from eval.formats import ResultRow, SolutionRow
from eval.formats._reading import MAX_ROW
from eval.formats._rows import build_rows
from eval.formats.jsonl import RESULT_KEYS, SOLUTION_KEYS, result_row, solution_row

NAME = "csv"
DESCRIPTION = "our own form as CSV: columns id, code (solutions) or id, n_samples, n_correct (results)"
NAMES_MODELS = True

OTHER_NAME = "question_id"
COUNTS = ("sample", "n_samples", "n_correct")


def read_solutions(path: Path) -> Iterator[SolutionRow | Refusal | Note]:
    """One row for each line of the table."""
    seen: Counter[tuple[str | None, str | None, str]] = Counter()
    rows = _rows(path, SOLUTION_KEYS, ("id", "code"))
    return build_rows(rows, lambda where, row: solution_row(where, row, seen), "id")


def read_results(path: Path) -> Iterator[ResultRow | Refusal | Note]:
    """One tally for each line of the table."""
    return build_rows(_rows(path, RESULT_KEYS, ("id", "n_samples", "n_correct")), result_row, "id")


def _rows(path: Path, known: tuple[str, ...], needed: tuple[str, ...]) -> Iterator[JsonRow | Refusal]:
    """The rows under the header, as the ``jsonl`` form has them. What ends the file early is a refusal at its end."""
    csv.field_size_limit(MAX_ROW)
    row = 0
    try:
        with open_bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(text, strict=True)
            names = ["id" if name == OTHER_NAME else name for name in next(reader, [])]
            wrong = _wrong_header(names, known, needed)
            if wrong:
                yield Refusal("line 1", wrong, f"the columns of this format are {', '.join(known)}")
                return
            for row, cells in enumerate(filter(None, reader), start=1):
                yield _row(f"row {row}", names, cells)
    except UnicodeDecodeError as error:
        yield Refusal(f"after row {row}", f"not UTF-8: {error.reason}", "write the file in UTF-8")
    except (csv.Error, *READ_FAULTS) as error:
        reason = f"not CSV: {error}" if isinstance(error, csv.Error) else cannot_go_on(error)
        yield Refusal(f"after row {row}", reason, GET_IT_AGAIN)


def _row(where: str, names: list[str], cells: list[str]) -> JsonRow | Refusal:
    raw = raw_of(",".join(cells))
    if len(cells) == len(names):
        return JsonRow(where, _values(names, cells), raw)
    reason = f"{len(cells)} cells under {len(names)} columns"
    return Refusal(where, reason, "put cells that hold commas or line ends in quotes", raw)


def _wrong_header(names: list[str], known: tuple[str, ...], needed: tuple[str, ...]) -> str | None:
    unknown = [repr(name) for name in names if name not in known]
    missing = [name for name in needed if name not in names]
    if unknown:
        return f"unknown column {', '.join(unknown)}"
    if missing:
        return f"no column {', '.join(missing)}"
    twice = [name for name, count in Counter(names).items() if count > 1]
    return f"two columns {twice[0]}" if twice else None


def _values(names: list[str], cells: list[str]) -> dict[str, object]:
    """The cells that say something. Only counts become numbers; what is no whole number stays text, to be refused."""
    values: dict[str, object] = {}
    for name, cell in zip(names, cells, strict=True):
        if cell or name == "code":
            is_count = name in COUNTS and cell.isascii() and cell.isdigit()
            values[name] = int(cell) if is_count else cell
    return values
