"""How long an edition takes, and how heavy its pages are.

    python -m benchmarks.publishing [--models 16] [--problems 1055]

Invented results of a Rasch model, ten samples each, contests of four over two years, cut-offs spread over them.
The time to move the window is measured in a browser, by ``tests/eval/site/test_board_speed.py``.
"""

from __future__ import annotations

import argparse
import resource
import time
from datetime import UTC, datetime, timedelta

import numpy as np

from db.records import Precision
from eval.claims import Claim, ClaimKind
from eval.cutoffs import parse_cutoff
from eval.editions.document import Edition, EditionProblem, EditionRun, EditionSettings, digest_of, to_bytes
from eval.editions.formats import FORMAT
from eval.editions.numbers import Inputs, numbers_of
from eval.models import ModelEntry, build_registry
from eval.publishing.building import build
from eval.publishing.publication import Published
from eval.window import ProblemFacts

START = datetime(2023, 5, 6, 12, tzinfo=UTC)
AS_OF = datetime(2025, 5, 2, tzinfo=UTC)
DAYS = 720
SAMPLES = 10
FIRST_PAGE = ("index.html", "static/style.css", "static/intervals.js", "static/tables.js", "static/board.js")


def main() -> None:
    """Freeze, write and publish, and print what each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--problems", type=int, default=1055)
    wanted = parser.parse_args()
    inputs = invented(wanted.models, wanted.problems)
    started = time.perf_counter()
    numbers = numbers_of(inputs)
    print(f"{wanted.models} models x {wanted.problems} problems")
    print(f"numbers: {time.perf_counter() - started:.1f} s")
    started = time.perf_counter()
    edition = Edition(
        format=FORMAT,
        software="livecut",
        as_of=AS_OF,
        settings=inputs.settings,
        environment=None,
        models=inputs.registry.entries,
        problems=inputs.problems,
        runs=inputs.runs,
        withdrawn={},
        note="",
        numbers=numbers,
    )
    body = to_bytes(edition)
    print(f"bytes: {len(body) / 1e6:.1f} MB in {time.perf_counter() - started:.1f} s")
    started = time.perf_counter()
    sizes = {file.path: len(file.body) for file in build(Published("bench", AS_OF, digest_of(body), edition))}
    print(f"site: {len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB in {time.perf_counter() - started:.1f} s")
    print(f"first page with its scripts: {sum(sizes[path] for path in FIRST_PAGE) / 1e3:.0f} kB")
    print(f"data/board.js: {sizes['data/board.js'] / 1e3:.0f} kB; largest file {max(sizes.values()) / 1e6:.1f} MB")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


def invented(n_models: int, n_problems: int) -> Inputs:
    """What an edition of so many models and problems is computed from; the same each time."""
    rng = np.random.default_rng(20_250_502)
    difficulty = rng.normal(0, 1.5, n_problems)
    problems = tuple(_problem(place, n_problems) for place in range(n_problems))
    places = tuple(range(n_problems))
    runs, entries = [], []
    for number, ability in enumerate(rng.normal(0, 1, n_models)):
        name = f"model-{number:03d}"
        solved = tuple(rng.binomial(SAMPLES, 1 / (1 + np.exp(difficulty - ability))).tolist())
        runs.append(
            EditionRun(
                name,
                name,
                name,
                "",
                "invented",
                True,
                {},
                None,
                places,
                (SAMPLES,) * n_problems,
                solved,
            )
        )
        cutoff = parse_cutoff(f"{2023 + number % 2}-{1 + number % 12:02d}")
        claim = Claim(ClaimKind.TRAINING_DATA, cutoff, source="https://example.org/cut-offs")
        entries.append(ModelEntry(name, claims=(claim,)))
    return Inputs(problems, tuple(runs), build_registry(entries), EditionSettings(), AS_OF, None)


def _problem(place: int, n_problems: int) -> EditionProblem:
    contest = place // 4
    at = (START + timedelta(days=DAYS * contest / (n_problems / 4))).replace(microsecond=0)
    platform = ("atcoder", "leetcode", "codeforces")[contest % 3]
    facts = ProblemFacts(
        problem_id=place,
        platform=platform,
        native_id=f"p{place:05d}",
        exposed_at=at,
        difficulty=("easy", "medium", "hard")[place % 3],
        contest=f"contest {contest}",
        n_tests=10,
    )
    return EditionProblem(facts, f"Problem {place}", f"https://example.org/{place}", "active", at, Precision.INSTANT)


if __name__ == "__main__":
    main()
