"""Report G10: a picture that is cut out and passed on still says what its numbers rest on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.editions.document import EditionSettings
from eval.evaluation import digest_of_problems
from eval.pictures import Picture
from eval.publishing.publication import Published
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, published
from tests.eval.facts import model, registry
from tests.eval.pictures.drawn import SVG, Drawn
from tests.eval.pictures.small import picture

N_PROBLEMS, N_RUNS = 36, 2


def edition() -> Published:
    """Two runs of three samples on 36 problems of March to August 2024, with a margin of a day."""
    problems = [
        edition_problem(place, exposed_at=f"2024-0{3 + place // 6}-{2 + place % 6:02d}T12:00", contest=f"c{place}")
        for place in range(N_PROBLEMS)
    ]
    runs = [edition_run(name, [(place, 3, place % 3) for place in range(N_PROBLEMS)]) for name in ("one", "two")]
    settings = EditionSettings(
        margin_hours=24.0, platforms=("atcoder",), saturated="until=2024-05", fresh="since=2024-06"
    )
    models = registry(*(model(name, "2024-05") for name in ("one", "two")))
    return published(freeze_built(problems, runs, models, settings=settings))


def said_in(name: str) -> dict[str, str]:
    """Texts by what the report asks for; each has to stand in the picture."""
    of = edition()
    digest = digest_of_problems([one.facts for one in of.edition.problems], imported=False)
    return {
        "window_start": "problems published 2024-03-02",
        "window_end": "to 2024-08-07 (UTC)",
        "cutoff_rule": "later than the end of the cut-off (its last day at UTC-12) plus the margin, 24 h",
        "set_id": f"edition 2025-05, digest {of.build_id}",
        "items_hash": f"problem set {digest[:12]}",
        "n_items": "36 problems",
        "n_samples": "216 samples of 2 runs",
        "settings": "platforms: atcoder; difficulties: all; no flagged problems",
        "built_at": "frozen 2025-05-03T09:00Z",
        "interval_method": {"coverage": "which have no intervals", "saturation": "over contests (Welch)"}[name],
    }


def places_of(shown: Picture) -> list[str]:
    """The texts that go with a picture: what is drawn, the description in the SVG, and beside it for programs."""
    drawn = Drawn(shown)
    return [" ".join(drawn.words), drawn.root.find(f"{SVG}desc").text, "; ".join(shown.data.notes)]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["coverage", "saturation"])
def test_g10_a_picture_carries_what_its_numbers_rest_on(name: str, shared_data: Path) -> None:
    plan = shared_data.parent / "reports" / "cases" / "G10" / "plan.json"
    said = said_in(name)
    assert sorted(said) == sorted(json.loads(plan.read_bytes())["required"])
    for place in places_of(picture(edition(), name)):
        assert [field for field, text in said.items() if text not in place] == []


def test_another_set_of_problems_has_another_digest() -> None:
    of = edition()
    fewer = replace(of, edition=replace(of.edition, problems=of.edition.problems[:-1]))
    (first, _, _), (second, _, _) = (places_of(picture(one, "coverage")) for one in (of, fewer))
    assert first.partition("problem set ")[2][:12] != second.partition("problem set ")[2][:12]
