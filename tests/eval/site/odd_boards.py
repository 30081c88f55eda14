"""Invented boards in which everything is odd that a board may have, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from db.records import MadeStrength, Precision, TestOrigin
from eval.cutoffs import parse_cutoff
from eval.editions.document import (
    Edition,
    EditionProblem,
    EditionRun,
    EditionSettings,
    Numbers,
    RankedWindow,
    RankRange,
    RareOutcome,
)
from eval.editions.formats import FORMAT
from eval.models import Alias, ModelEntry, Registry
from eval.publishing.publication import Published
from eval.report import Report
from eval.sheets import Sheet
from tests.eval.editions.built import AS_OF, FROZEN_AT, edition_problem, edition_run, published, recorded
from tests.eval.facts import claim, model, registry

EMPTY = Sheet("", (), ())
FIRST = datetime(2023, 1, 1, tzinfo=UTC)
N_MONTHS = 30
QUOTES = "it's 'odd'"
SCRIPT = "</script><img src=x onerror=alert(1)>"


def edition_of(
    problems: list[EditionProblem],
    runs: list[EditionRun],
    models: Registry,
    settings: EditionSettings | None = None,
    ranked: tuple[RankedWindow, ...] = (),
) -> Edition:
    """An edition with empty numbers but for ranks: pages that count again take nothing else of them."""
    own = Report((), (), {}, "", None, AS_OF)
    numbers = Numbers(own, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, None, (), ranked, {})
    return Edition(
        format=FORMAT,
        software="livecut 0.1.0",
        as_of=AS_OF,
        settings=settings or EditionSettings(),
        environment=None,
        models=models.entries,
        problems=tuple(problems),
        runs=tuple(runs),
        withdrawn={},
        note="",
        numbers=numbers,
    )


@cache
def recorded_site(shared: Path) -> Published:
    """The recorded board as it is published. It takes ten seconds, so that it is made once."""
    return published(recorded(shared))


def published_of(edition: Edition) -> Published:
    """What is published of such an edition, all of whose problems are public."""
    return Published("odd", FROZEN_AT, f"{0xABCDEF:064x}", edition)


@dataclass(frozen=True)
class Shape:
    """How a board is drawn: sizes, how many problems a contest has, and the settings that it was frozen with."""

    seed: int
    n_problems: int
    per_contest: float
    settings: EditionSettings = field(default_factory=EditionSettings)


def odd_edition(shape: Shape) -> Edition:
    """A board of this shape; the same for the same seed."""
    rng = Random(shape.seed)
    problems = list(_problems(rng, shape))
    return edition_of(problems, list(_runs(rng, problems)), _models(), shape.settings)


def _problems(rng: Random, shape: Shape) -> Iterator[EditionProblem]:
    n_contests = max(1, round(shape.n_problems / shape.per_contest))
    starts = [FIRST + timedelta(minutes=rng.randrange(N_MONTHS * 30 * 24 * 60)) for _ in range(n_contests)]
    for place in range(shape.n_problems):
        contest = rng.randrange(n_contests)
        precision = rng.choice([Precision.INSTANT] * 6 + list(Precision))
        at: datetime | None = starts[contest]
        if rng.random() < 0.1:
            at = starts[contest].replace(microsecond=rng.randrange(1_000_000))
        if precision is not Precision.INSTANT:
            at = starts[contest].replace(hour=0, minute=0)
        changes: dict[str, Any] = {}
        if rng.random() < 0.1:
            flag = rng.choice(["interactive", "multiple_answers", "bad_tests", "has_image", f"own {SCRIPT}"])
            changes = {"flags": ((flag, "odd"),), "has_checker": rng.random() < 0.5}
        if rng.random() < 0.05:
            at = None
        yield edition_problem(
            place,
            exposed_at=None if at is None else at.isoformat(),
            exposed_precision=precision,
            platform=rng.choice(["atcoder", "atcoder", "AtCoder", "leetcode", SCRIPT]),
            difficulty=rng.choice(["easy", "Easy", "hard", "1600", "900", None, QUOTES]),
            contest=None if rng.random() < 0.05 else f"c{contest}",
            n_tests=0 if rng.random() < 0.1 else 3,
            withdrawn=rng.random() < 0.03,
            **_tests(rng),
            **changes,
        )


def _tests(rng: Random) -> dict[str, Any]:
    """Samples alone, or hidden tests of an origin or two; made ones with a strength, most of them."""
    if rng.random() < 0.2:
        return {"samples_only": True}
    origins = rng.sample([TestOrigin.OFFICIAL, TestOrigin.GENERATED, TestOrigin.RECOVERED], rng.choice([0, 1, 1, 1, 2]))
    wrong, killed = sorted((rng.randrange(20), rng.randrange(20)), reverse=True)
    strength = MadeStrength(wrong, killed) if TestOrigin.GENERATED in origins and rng.random() < 0.8 else None
    return {"hidden_origins": tuple(sorted(origins)), "strength": strength}


def _models() -> Registry:
    """Models with every kind of cut-off, and without one."""
    return registry(
        model("steady", "2023-03"),
        model("month", "2023-10"),
        model("day", "2023-06-17", aliases=(Alias("nick"),)),
        model("quarter", "2023-Q2"),
        model("late", "2025-03"),
        model("released", None, release=parse_cutoff("2023-05-04")),
        model("undated", None),
        model("surfer", "2023-03", web_access=True),
        model("doubted", None, claims=(claim("2020-01", source=None),), release=parse_cutoff("2023-02-01")),
        model("before", "2023-01", aliases=(Alias("moved", end=date(2024, 1, 1)),)),
        model("after", "2023-04", aliases=(Alias("moved", start=date(2024, 1, 1)),)),
        ModelEntry("alias-only", rolling=True),
        model(SCRIPT, "2023-02"),
    )


def _runs(rng: Random, problems: list[EditionProblem]) -> Iterator[EditionRun]:
    yield _run(rng, problems, "steady", 0.6)
    yield _run(rng, problems, "steady (imported)", 0.62, model="steady", imported=True, origin="site")
    yield _run(rng, problems, "month", 0.5)
    yield _run(rng, problems, "nick", 0.55, model="nick")
    yield _run(rng, problems, "quarter", 0.02)
    yield _run(rng, problems, "late", 0.7, share=0.7)
    yield _run(rng, problems, "released", 0.97)
    yield _run(rng, problems, "undated", 0.4)
    yield _run(rng, problems, "surfer", 0.4)
    yield _run(rng, problems, "doubted", 0.5)
    yield _run(rng, problems, "moved", 0.5, model="moved")
    yield _run(rng, problems, "alias-only", 0.5)
    yield _run(rng, problems, "nobody", 0.3, model="nobody", entry=None)
    yield _run(rng, problems, SCRIPT, 1.0, model=SCRIPT)
    yield _run(rng, problems, "none solved", 0.0, model="steady", imported=True, origin="site")
    yield _run(rng, problems, "warm", 0.5, model="month", conditions={"temperature": 1.0, "prompt": "plain"})
    yield _run(rng, problems, "failing", 0.5, model="day", n_failed=2)
    yield _run(rng, problems, "nothing", 0.5, model="after", share=0.0)


def _run(
    rng: Random,
    problems: list[EditionProblem],
    name: str,
    ability: float,
    *,
    share: float = 0.97,
    n_failed: int = 0,
    **changes: Any,
) -> EditionRun:
    """A run that solves about this share of the samples; one contest of ten is solved by halves, exactly."""
    results: list[tuple[int, int, int]] = []
    rare: list[RareOutcome] = []
    size = rng.choice([1, 3, 10, None])
    for one in problems:
        place = one.facts.problem_id
        if rng.random() >= share:
            continue
        n = size or rng.choice([1, 2, 5, 7, 10])
        results.append((place, n, sum(rng.random() < ability for _ in range(n))))
        if n_failed and rng.random() < 0.5:
            rare.append(RareOutcome(place, n_failed=n_failed))
        elif rng.random() < 0.08:
            waiting, internal, older, failed = (rng.randrange(2) for _ in range(4))
            rare.append(RareOutcome(place, waiting, internal, older, failed))
            if rng.random() < 0.6:
                results[-1] = (place, 0, 0)
    return edition_run(name, results, rare=tuple(rare), **changes)


def large_edition(n_runs: int, n_problems: int, ranked: Iterable[tuple[datetime, datetime | None]] = ()) -> Edition:
    """A board of this size, a contest for each two problems, ten samples each, with ranks for these windows."""
    rng = Random(n_runs)
    days = timedelta(days=900) / n_problems
    problems = [
        edition_problem(
            place,
            exposed_at=(FIRST + days * (place - place % 2)).replace(second=0, microsecond=0).isoformat(),
            platform=("atcoder", "codeforces", "leetcode")[place // 2 % 3],
            difficulty=("easy", "medium", "hard")[place % 3],
            contest=f"c{place // 2}",
        )
        for place in range(n_problems)
    ]
    names = [f"model-{number:03}" for number in range(n_runs)]
    runs = [
        edition_run(name, [(place, 10, min(10, int(11 * rng.random() ** power))) for place in range(n_problems)])
        for name, power in zip(names, (0.2 + rng.random() for _ in names), strict=True)
    ]
    ranks = tuple(RankRange(name, 1, n_runs, 1, n_runs, 1) for name in names)
    windows = [RankedWindow(since, until, ranks) for since, until in ranked]
    models = registry(*(model(name, f"2023-{1 + number % 12:02}") for number, name in enumerate(names)))
    return edition_of(problems, runs, models, ranked=tuple(windows))
