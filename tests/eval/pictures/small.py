"""Small editions for pictures: so many problems of a month, so many of them solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eval.editions.document import EditionSettings
from eval.models import ModelEntry
from eval.pictures import Picture, kinds
from eval.publishing.publication import Published
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, published
from tests.eval.facts import model, registry
from tests.eval.pictures.drawn import Drawn

Months = Mapping[str, tuple[int, int]]
"""By month, how many problems it has and how many of them are solved."""

PLAIN: Months = {"2024-01": (20, 10), "2024-02": (20, 5), "2024-03": (4, 1)}


def months_edition(
    platforms: Mapping[str, Months],
    entry: ModelEntry | None = None,
    *,
    settings: EditionSettings | None = None,
    days: Sequence[str] = (),
    **changes: Any,
) -> Published:
    """One run on problems of these platforms and months, each in a contest of its own, from the second of a month on.

    ``days`` are instants of further problems of the first platform, none of them solved.
    """
    problems, results = [], []
    wanted = [
        (platform, f"{month}-{2 + place}T12:00" if place > 7 else f"{month}-0{2 + place}T12:00", place < n_solved)
        for platform, months in platforms.items()
        for month, (n, n_solved) in months.items()
        for place in range(n)
    ] + [(next(iter(platforms)), day, False) for day in days]
    for place, (platform, at, is_solved) in enumerate(wanted):
        level = ("easy", "medium", "hard")[place % 3]
        problems.append(edition_problem(place, platform=platform, exposed_at=at, difficulty=level))
        results.append((place, 2, 2 * is_solved))
    entry = entry or model("steady", "2024-01")
    runs = [edition_run(entry.name, results)] if results else []
    return published(freeze_built(problems, runs, registry(entry), settings=settings), **changes)


def with_numbers(before: Published, **numbers: Any) -> Published:
    """The same edition with other numbers."""
    return replace(before, edition=replace(before.edition, numbers=replace(before.edition.numbers, **numbers)))


def picture(of: Published, name: str) -> Picture:
    """The first picture whose name begins so; no more are drawn than that takes."""
    return next(one for one in kinds()[name.partition("-")[0]](of) if one.name.startswith(name))


def drawn(of: Published, name: str) -> Drawn:
    """The same, read back."""
    return Drawn(picture(of, name))
