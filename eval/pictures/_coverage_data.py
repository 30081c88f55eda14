"""What the coverage picture shows: sound problems by month, platform and difficulty, cut-offs, and bands. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from eval.eligibility import NotScored, UsedCutoff
from eval.labels import LEVELS
from eval.pictures._calendar import Calendar, calendar_of, month_at
from eval.pictures._measured import cutoffs_of, stands_in
from eval.publishing.publication import Published
from eval.window import quality_reason

OTHER_LABELS = "other or none"
LABELS = (*LEVELS, OTHER_LABELS)


@dataclass(frozen=True)
class CutoffMark:
    """The models whose cut-off ends at one instant; ``is_assumed`` where their release dates stand in for one."""

    after: datetime
    is_assumed: bool
    models: tuple[str, ...]


@dataclass(frozen=True)
class Band:
    """A band of difficulty [low, high) in logits; ``gap`` says what is too little there, None where nothing is."""

    low: float
    high: float
    n_problems: int
    information: float | None
    gap: str | None

    @property
    def middle(self) -> float:
        """Its middle, in logits."""
        return (self.low + self.high) / 2


@dataclass(frozen=True)
class Ability:
    """Where a model is, in logits; ``se`` is None where it is not known."""

    name: str
    value: float
    se: float | None


@dataclass(frozen=True)
class Bands:
    """The bands and who is in them. ``beyond`` problems are solved by no model, ``below`` by every one that tried."""

    bands: tuple[Band, ...]
    abilities: tuple[Ability, ...]
    beyond: int
    below: int

    @property
    def empty(self) -> tuple[Band, ...]:
        """The bands without a problem."""
        return tuple(one for one in self.bands if not one.n_problems)

    @property
    def thin(self) -> tuple[Band, ...]:
        """The bands that hold problems, but too few or with too large an error."""
        return tuple(one for one in self.bands if one.gap and one.n_problems)


@dataclass(frozen=True)
class Coverage:
    """All that the picture shows. ``counts`` are by platform, month and label; ``refusal`` says why there are no bands.

    ``n_undated`` sound problems have no date, ``n_unsound`` are left out; ``without`` models have no cut-off.
    """

    published: Published
    calendar: Calendar | None
    counts: Mapping[str, Mapping[tuple[int, str], int]]
    n_undated: int
    n_unsound: int
    marks: tuple[CutoffMark, ...]
    without: tuple[str, ...]
    bands: Bands | None
    refusal: str | None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that there are, easy before hard."""
        found = {label for counts in self.counts.values() for _, label in counts}
        return tuple(label for label in LABELS if label in found)

    @property
    def n_models(self) -> int:
        """How many models have a cut-off."""
        return sum(len(one.models) for one in self.marks)

    def total(self, platform: str | None = None, label: str | None = None) -> int:
        """How many dated sound problems there are, of a platform, of a label."""
        return sum(
            n
            for name, counts in self.counts.items()
            for (_, level), n in counts.items()
            if platform in {None, name} and label in {None, level}
        )


def coverage_of(published: Published) -> Coverage:
    """What the coverage picture of an edition shows."""
    settings = published.edition.settings.after_cutoff()
    admitted = [one.facts for one in published.edition.problems if settings.admits(one.facts)]
    sound = [one for one in admitted if quality_reason(one, include_flagged=settings.include_flagged) is None]
    counts: dict[str, Counter[tuple[int, str]]] = {}
    for one in sound:
        if one.exposed_at is not None:
            level = (one.difficulty or "").casefold()
            key = (month_at(one.exposed_at), level if level in LEVELS else OTHER_LABELS)
            counts.setdefault(one.platform, Counter())[key] += 1
    months = [month for found in counts.values() for month, _ in found]
    marks, without = _cutoffs(published)
    bands, refusal = _bands(published.edition.numbers.difficulty.data)
    return Coverage(
        published=published,
        calendar=calendar_of(months),
        counts={name: dict(sorted(counts[name].items())) for name in sorted(counts)},
        n_undated=sum(one.exposed_at is None for one in sound),
        n_unsound=len(admitted) - len(sound),
        marks=marks,
        without=without,
        bands=bands,
        refusal=refusal,
    )


def _cutoffs(published: Published) -> tuple[tuple[CutoffMark, ...], tuple[str, ...]]:
    """The cut-offs from the earliest on, each model once; and the models without one."""
    registry = published.edition.registry
    cutoffs = cutoffs_of(published)
    found: dict[str, UsedCutoff | NotScored] = {}
    for run in published.edition.runs:
        found.setdefault(registry.canonical(run.model, run.ran_on), cutoffs[run.name])
    together: dict[tuple[datetime, bool], list[str]] = {}
    for name, used in found.items():
        if not isinstance(used, NotScored):
            together.setdefault((used.cutoff.after, stands_in(used)), []).append(name)
    marks = tuple(
        CutoffMark(after, assumed, tuple(sorted(names))) for (after, assumed), names in sorted(together.items())
    )
    return marks, tuple(sorted(name for name, used in found.items() if isinstance(used, NotScored)))


def _bands(data: Mapping[str, Any]) -> tuple[Bands | None, str | None]:
    """The bands of the difficulty sheet's data, or why there are none."""
    if data.get("refusal") is not None or not data.get("bands"):
        return None, str(data.get("refusal") or "there is no band")
    return (
        Bands(
            tuple(
                Band(one["low"], one["high"], one["n_problems"], one["share_of_information"], one["gap"])
                for one in data["bands"]
            ),
            tuple(_abilities(data)),
            data["beyond_the_strongest"],
            data["below_the_weakest"],
        ),
        None,
    )


def _abilities(data: Mapping[str, Any]) -> Iterator[Ability]:
    for one in data["models"]:
        if one["ability"] is not None:
            yield Ability(one["model"], one["ability"], one["se"])
