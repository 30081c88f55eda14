"""Cut-offs that cannot be true, and those that need not be."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from eval.cutoffs import parse_cutoff
from eval.eligibility import NotScored, UsedCutoff, usable_cutoff
from eval.models import ModelEntry
from eval.plausibility import believable_cutoff, doubtful, former_cutoffs, impossible
from tests.eval.facts import claim, model, registry

TODAY = date(2026, 1, 15)


def used(*entries: ModelEntry) -> UsedCutoff:
    """The cut-off of the first of these models."""
    found = usable_cutoff(entries[0], registry(*entries))
    assert isinstance(found, UsedCutoff)
    return found


def released(entry: ModelEntry, written: str) -> ModelEntry:
    return replace(entry, release=parse_cutoff(written, from_registry=True))


@pytest.mark.parametrize(
    ("cutoff", "release", "reason"),
    [
        ("2031-01", "2024-12-01", "the cut-off 2031-01 lies in the future"),
        ("2025-01-31", "2024-12-02", "the cut-off 2025-01-31 is later than the release 2024-12-02"),
        ("2024-12", "2024-12-02", None),
        ("2024", "2024-06-05", None),
    ],
)
def test_a_cut_off_after_the_release_or_today_is_impossible(cutoff: str, release: str, reason: str | None) -> None:
    entry = released(model("m", cutoff), release)
    found = impossible(entry, used(entry), registry(entry), TODAY)
    assert found == (None if reason is None else NotScored("m", reason))


def test_an_inherited_cut_off_is_held_against_the_release_of_its_owner() -> None:
    base = released(model("base", "2024-10"), "2024-03-05")
    child = released(model("child", "2024-01", base_models=("base",)), "2024-12-05")
    assert impossible(child, used(child, base), registry(child, base), TODAY) == NotScored(
        "child", "the cut-off 2024-10 is later than the release 2024-03-05"
    )


def test_only_an_early_cut_off_without_a_source_is_doubtful() -> None:
    unsourced = claim("2023-01", source=None)
    early = released(model("m", claims=(unsourced,)), "2024-07-23")
    assert doubtful(early, used(early), registry(early)) == (
        "the cut-off 2023-01 is 18 months before the release (2024-07-23) and has no source: not ranked until it is "
        "confirmed"
    )
    for sound in (
        released(model("m", claims=(claim("2023-01"),)), "2024-07-23"),
        released(model("m", claims=(unsourced,)), "2024-01-23"),
        model("m", claims=(unsourced,)),
        released(model("m", None), "2024-07-23"),
    ):
        assert doubtful(sound, used(sound), registry(sound)) is None


def test_former_cut_offs_are_told_with_who_said_them() -> None:
    changed = model("m", claims=(claim("2023-03", by="the maker", superseded=date(2024, 5, 4)), claim("2023-08")))
    assert former_cutoffs(changed) == "the cut-off was changed: before, it was 2023-03 by the maker until 2024-05-04"
    assert former_cutoffs(model("m")) is None


def test_nothing_is_scored_by_a_cut_off_that_cannot_be() -> None:
    late = released(model("m", "2025-01-31"), "2024-12-02")
    assert believable_cutoff(late, registry(late), TODAY) == NotScored(
        "m", "the cut-off 2025-01-31 is later than the release 2024-12-02"
    )
    sound = released(model("m", "2024-10"), "2024-12-02")
    assert believable_cutoff(sound, registry(sound), TODAY) == used(sound)
    rolling = model("m", rolling=True)
    assert believable_cutoff(rolling, registry(rolling), TODAY) == usable_cutoff(rolling, registry(rolling))
