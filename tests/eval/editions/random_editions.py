"""Two editions of one invented store at two times, in which anything may have moved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from eval.editions.document import EditionProblem, EditionRun, EditionSettings, FrozenEdition
from eval.models import Registry
from tests.eval.editions.built import edition_problem, edition_run
from tests.eval.editions.moved import small
from tests.eval.facts import model, registry, utc

N_PROBLEMS = 60
SECRET = "hush{}x"
"""The ids of problems that may be private; no other id and no word has one of them in it."""
FLAGS = ("bad_tests", "has_image", "exposed_earlier", "interactive")
CUTOFFS = ("2023-10", "2023-11", "2024-02")
MODELS = ("alice", "bob", "carol")


def random_pair(rng: np.random.Generator) -> tuple[FrozenEdition, FrozenEdition]:
    """The first and the second edition."""
    return _edition(rng, "first"), _edition(rng, "second")


def private_in_either(first: FrozenEdition, second: FrozenEdition) -> set[str]:
    """The native ids that nothing may name."""
    both = (*first.edition.problems, *second.edition.problems)
    return {one.facts.native_id for one in both if one.facts.is_private}


def _edition(rng: np.random.Generator, name: str) -> FrozenEdition:
    there = [place for place in range(N_PROBLEMS) if rng.random() < 0.9]
    problems = [_problem(rng, place, number) for place, number in enumerate(there)]
    models = registry(*(model(one, str(rng.choice(CUTOFFS))) for one in MODELS))
    runs = [_run(rng, one, there) for one in MODELS if rng.random() < 0.9]
    settings = EditionSettings(
        margin_hours=float(rng.choice([0, 0, 24 * 20])),
        platforms=("atcoder",) if rng.random() < 0.1 else (),
        include_flagged=bool(rng.random() < 0.1),
    )
    withdrawn = {one: f"said of atcoder:{SECRET.format(2)}" for one in MODELS if rng.random() < 0.2}
    note = f"without {SECRET.format(0)} and atcoder:{SECRET.format(4)}"
    return small(problems, runs, _only(models, runs), name=name, settings=settings, withdrawn=withdrawn, note=note)


def _only(models: Registry, runs: Sequence[EditionRun]) -> Registry:
    return registry(*(one for one in models.entries if one.name in {run.model for run in runs}))


def _problem(rng: np.random.Generator, place: int, number: int) -> EditionProblem:
    """The problem of this number: what it is depends on that alone, but for what the dice change."""
    may_be_private = number % 5 == 0
    flags = [(flag, _reason(rng)) for flag in FLAGS if rng.random() < 0.05]
    if may_be_private and rng.random() < 0.5:
        flags.append(("private", "held back"))
    exposed = utc("2023-08-01") + timedelta(days=10 * number + (30 if rng.random() < 0.05 else 0))
    return edition_problem(
        place,
        exposed_at=None if rng.random() < 0.03 else exposed.isoformat(),
        native_id=SECRET.format(number) if may_be_private else f"p{number}",
        platform="codeforces" if number % 3 == 0 else "atcoder",
        difficulty=("easy", "medium", "hard", None)[(number + int(rng.random() < 0.05)) % 4],
        contest=f"contest {number // 3}",
        suite_digest=f"suite {number} {int(rng.random() < 0.1)}",
        n_tests=0 if rng.random() < 0.05 else 2,
        withdrawn=bool(rng.random() < 0.05),
        flags=tuple(flags),
        revision=f"{number} {int(rng.random() < 0.1)}",
        title=f"Title of {SECRET.format(number) if may_be_private else number}",
    )


def _reason(rng: np.random.Generator) -> str:
    """Reasons may name any problem, private ones too."""
    number = 5 * int(rng.integers(0, N_PROBLEMS // 5))
    platform = "codeforces" if number % 3 == 0 else "atcoder"
    return f"the same as {platform}:{SECRET.format(number)}, see https://example.org/{SECRET.format(number)}?x=1"


def _run(rng: np.random.Generator, name: str, there: Sequence[int]) -> EditionRun:
    """Results that are mostly the same each time."""
    fixed = np.random.default_rng(len(name)).random(N_PROBLEMS) < 0.6
    results = [
        (place, 2, int(2 * fixed[number]) if rng.random() < 0.9 else int(rng.integers(0, 3)))
        for place, number in enumerate(there)
        if rng.random() < 0.95
    ]
    return edition_run(name, results, imported=name == "bob", origin="a site" if name == "bob" else "judged")
