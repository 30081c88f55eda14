"""Small problems, runs and registries for tests of the scoring, and the recorded results as the plain data it takes."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from db.records import Precision
from eval.claims import Claim, ClaimKind
from eval.cutoffs import parse_cutoff
from eval.evaluation import Outcome, RunOutcomes
from eval.models import ModelEntry, Registry, build_registry
from eval.window import ProblemFacts

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


def utc(text: str) -> datetime:
    """An ISO date or datetime as UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).replace(tzinfo=UTC)


def problem(number: int, exposed_at: str | None = "2024-06-01", **changes: Any) -> ProblemFacts:
    """A sound problem with two tests, alone in its contest unless `contest` says otherwise."""
    facts: dict[str, Any] = {
        "problem_id": number,
        "platform": "atcoder",
        "native_id": f"p{number}",
        "exposed_at": None if exposed_at is None else utc(exposed_at),
        "difficulty": "easy",
        "contest": f"contest {number}",
        "suite_digest": f"suite {number}",
        "n_tests": 2,
    }
    return ProblemFacts(**(facts | changes))


def run(model: str, results: Iterable[tuple[int, int, int]], **changes: Any) -> RunOutcomes:
    """A run with (problem id, samples, correct) for each of its problems."""
    return RunOutcomes(model, tuple(Outcome(*result) for result in results), **changes)


def claim(cutoff: str, kind: ClaimKind = ClaimKind.TRAINING_DATA, **changes: Any) -> Claim:
    """A sourced claim, about training data unless ``kind`` says otherwise."""
    fields: dict[str, Any] = {"source": "https://example.org/cutoffs"}
    return Claim(kind, parse_cutoff(cutoff, from_registry=True), **(fields | changes))


def model(name: str, cutoff: str | None = "2023-10", **changes: Any) -> ModelEntry:
    """A model with a sourced claim about its training data."""
    fields: dict[str, Any] = {"name": name, "claims": () if cutoff is None else (claim(cutoff),)}
    return ModelEntry(**(fields | changes))


def registry(*entries: ModelEntry) -> Registry:
    """A registry of these models alone."""
    return build_registry(entries)


def livecodebench_problems(data: Path) -> list[ProblemFacts]:
    """The recorded LiveCodeBench problems by their published days."""
    with gzip.open(data / "livecodebench" / "problems.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        ProblemFacts(
            problem_id=number,
            platform=row["platform"],
            native_id=row["question_id"],
            exposed_at=utc(row["contest_date"][:10]),
            exposed_precision=Precision.DAY,
            difficulty=row["difficulty"],
            contest=row["contest_id"],
            n_tests=len(row["public_tests"]),
            samples_only=True,
            flags=tuple((flag, "errata") for flag in row["flags"]),
        )
        for number, row in enumerate(rows)
    ]


def published_runs(data: Path, problems: Iterable[ProblemFacts]) -> list[RunOutcomes]:
    """The published grades of the 12 recorded runs, as tallies."""
    ids = {facts.native_id: facts.problem_id for facts in problems}
    counts: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    with gzip.open(data / "livecodebench" / "solutions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            count = counts[row["model"]][ids[row["question_id"]]]
            count[0] += 1
            count[1] += bool(row["published_grade"])
    return [
        run(name, ((number, n, c) for number, (n, c) in found.items()), imported=True, origin="published grades")
        for name, found in counts.items()
    ]


def matrix_rows(data: Path, name: str) -> Iterator[dict[str, str]]:
    """The rows of a recorded leaderboard matrix."""
    with gzip.open(data / "leaderboards" / "matrices" / f"{name}.csv.gz", "rt", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def matrix(data: Path, name: str) -> tuple[list[ProblemFacts], list[RunOutcomes]]:
    """A matrix of percentages over ten samples, as problems and runs. A problem's contest is its platform and date.

    Where a problem has several rows for a model (one for each of its tests), each row counts as a problem of its own;
    so do the two dates that five problems carry, depending on the model.
    """
    problems: dict[tuple[str, int, str], ProblemFacts] = {}
    results: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for row in matrix_rows(data, name):
        copy = seen[row["model"], row["question_id"]]
        seen[row["model"], row["question_id"]] += 1
        key = (row["question_id"], copy, row["site_date"])
        if key not in problems:
            problems[key] = problem(
                len(problems),
                row["site_date"],
                platform=row["platform"],
                native_id=f"{row['question_id']}#{copy}",
                difficulty=row["difficulty"],
                contest=row["site_date"],
            )
        percent = float(row["pass@1"])
        assert percent % 10 == 0
        results[row["model"]].append((problems[key].problem_id, 10, round(percent / 10)))
    return list(problems.values()), [run(name, found, imported=True) for name, found in results.items()]
