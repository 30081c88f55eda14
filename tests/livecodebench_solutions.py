"""Turn the shared file of LiveCodeBench runs (`solutions.jsonl.gz`) into our own jsonl forms, for tests.

Each of its lines is one graded program: question_id, model, sample, code (null where none was found in the answer),
published_grade.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

RESULTS_ORIGIN = "livecodebench published"


def as_solution_rows(path: Path, model: str | None = None) -> Iterator[dict[str, Any]]:
    """Rows of the jsonl solutions format, of one model or (None) of all; a missing program is an empty one."""
    for row in read_rows(path):
        if model is None or row["model"] == model:
            yield {
                "id": row["question_id"],
                "model": row["model"],
                "sample": row["sample"],
                "code": row["code"] or "",
            }


def as_result_rows(path: Path, model: str | None = None) -> Iterator[dict[str, Any]]:
    """Rows of the jsonl results format: the published grades, counted for each model and problem."""
    n_samples: Counter[tuple[str, str]] = Counter()
    n_correct: Counter[tuple[str, str]] = Counter()
    for row in read_rows(path):
        if model is None or row["model"] == model:
            pair = row["model"], row["question_id"]
            n_samples[pair] += 1
            n_correct[pair] += bool(row["published_grade"])
    for (name, question_id), samples in n_samples.items():
        yield {
            "id": question_id,
            "model": name,
            "n_samples": samples,
            "n_correct": n_correct[name, question_id],
            "origin": RESULTS_ORIGIN,
        }


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write one JSON object on each line; returns the path."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows as they are."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
