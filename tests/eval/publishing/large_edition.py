"""The plan of report G08 as an edition in a store: 2,000 problems, 60 models, 10 samples each, invented verdicts.

Run as a program: the case's own script makes the rows, and the edition goes to the SQLite file that is named.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from db.editions import save_edition
from db.engine import open_store
from eval.editions.document import EditionProblem, EditionRun, to_bytes
from tests.eval.editions.built import FROZEN_AT, edition_problem, edition_run, freeze_built
from tests.eval.facts import model, registry, utc

FIRST_DAY = utc("2023-05-01")


def make(store: Path, case: Path) -> None:
    """Freeze the edition of a case's plan into a store."""
    plan = json.loads((case / "plan.json").read_text(encoding="utf-8"))
    problems = [_problem(place, plan["items"]) for place in range(plan["items"])]
    runs = list(_runs(case, plan))
    entries = [model(run.name, f"202{3 + place % 2}-{1 + place % 12:02d}") for place, run in enumerate(runs)]
    frozen = freeze_built(problems, runs, registry(*entries), name="large")
    with open_store(f"sqlite:///{store}") as opened, opened.write() as writing:
        save_edition(writing, frozen.name, frozen.digest, to_bytes(frozen.edition), now=FROZEN_AT)


def _problem(place: int, n_problems: int) -> EditionProblem:
    """Three a contest, over two years of contests."""
    contest = place // 3
    at = FIRST_DAY + timedelta(days=730 * contest / (n_problems / 3))
    return edition_problem(
        place,
        exposed_at=at.replace(microsecond=0).isoformat(),
        native_id=f"p{place:05d}",
        platform=("atcoder", "codeforces", "leetcode")[contest % 3],
        difficulty=("easy", "medium", "hard")[place % 3],
        contest=f"contest {contest}",
    )


def _runs(case: Path, plan: dict[str, int]) -> Iterator[EditionRun]:
    sizes = [str(plan[name]) for name in ("items", "models", "samples")]
    made = subprocess.Popen([sys.executable, str(case / "make_rows.py"), *sizes], stdout=subprocess.PIPE, text=True)
    solved: dict[str, Counter[int]] = {}
    assert made.stdout is not None
    with made, made.stdout as rows:
        for line in rows:
            row = json.loads(line)
            solved.setdefault(row["model"], Counter())[int(row["problem"][1:])] += row["verdict"] == "AC"
    assert made.returncode == 0
    for name, counts in solved.items():
        yield edition_run(name, [(place, plan["samples"], counts[place]) for place in range(plan["items"])])


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
