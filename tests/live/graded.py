"""An invented board for commands over several models: ten models, 180 problems of 60 contests on two platforms.

Solving follows a Rasch model from a fixed seed. ``memoriser`` has learnt the problems of ``leetcode`` up to its
cut-off nearly by heart; ``late`` has a cut-off nine months later than the others.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

MODELS = (*(f"m{place}" for place in range(8)), "memoriser", "late")
ABILITIES = (*np.linspace(-2.1, 2.1, 8), 0.0, 0.4)
CUTOFF, LATE_CUTOFF = "2023-12", "2024-09"
START = datetime(2023, 1, 7, 12, tzinfo=UTC)
N_CONTESTS, SAMPLES = 60, 4
LEVELS = {"easy": -1.5, "medium": 0.2, "hard": 1.8}


def write_board(folder: Path) -> None:
    """Write ``models.toml``, ``problems.jsonl`` and ``results.jsonl``."""
    folder.joinpath("models.toml").write_text("\n".join(map(_entry, MODELS)), encoding="utf-8")
    problems, results = [], []
    rng = np.random.default_rng(20_240_101)
    for number in range(N_CONTESTS):
        starts = START + timedelta(days=14 * number)
        platform = ("atcoder", "leetcode")[number % 2]
        for level, difficulty in LEVELS.items():
            row = _problem(platform, f"round-{number}", starts, level)
            problems.append(row)
            solved = _solved(difficulty + float(rng.normal(0, 0.3)), rng)
            if platform == "leetcode" and starts < datetime(2024, 1, 1, tzinfo=UTC):
                solved[MODELS.index("memoriser")] = rng.binomial(SAMPLES, 0.95)
            results += [
                {"platform": platform, "id": row["id"], "model": name, "n_samples": SAMPLES, "n_correct": int(right)}
                for name, right in zip(MODELS, solved, strict=True)
            ]
    _write_lines(folder / "problems.jsonl", problems)
    _write_lines(folder / "results.jsonl", results)


def _solved(difficulty: float, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    shares = 1 / (1 + np.exp(difficulty - np.array(ABILITIES)))
    return rng.binomial(SAMPLES, shares)


def _problem(platform: str, contest: str, starts: datetime, level: str) -> dict[str, Any]:
    return {
        "platform": platform,
        "id": f"{contest}-{level}",
        "title": f"{contest} {level}",
        "contest": {"id": contest, "starts_at": starts.isoformat()},
        "released": starts.isoformat(),
        "difficulty": level,
        "statement": f"The {level} problem of {contest}.",
    }


def _entry(name: str) -> str:
    cutoff = LATE_CUTOFF if name == "late" else CUTOFF
    return f"""[[model]]
name = "{name}"
provider = "invented"

[[model.claim]]
kind = "training_data"
cutoff = "{cutoff}"
source = "https://example.org/{name}"
looked_up = 2025-12-15
"""


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
