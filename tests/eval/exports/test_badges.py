"""Badges against the fields that shields.io names (https://shields.io/badges/endpoint-badge), and messages by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eval.exports import badges
from eval.publishing.publication import Published
from tests.eval.editions.built import HOSTILE, edition_problem, edition_run, freeze_built, published
from tests.eval.exports.small_editions import by_path, duel, empty, odd, one_run, strict_json
from tests.eval.facts import model, registry


def _badges(edition: Published) -> dict[str, Any]:
    return {path: strict_json(body) for path, body in by_path(badges.files(edition)).items()}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        # 12 problems of 2025 until April, three at 0, six at 1/2, three at 1; t with 11 degrees of freedom is 2.201.
        ("memoriser", "50.0 % [26.5–73.5], 12 problems after 2024-12"),
        # five problems after 19 February 2025, the one at place 57 not solved; the release date stands in.
        ("frugal", "4 of 5 problems after 2025-02-18 (release) (imported)"),
        ("late", "not scored: no problem after 2025-04 was judged"),
        ("nameless", "not scored: no cut-off and no release date is known"),
    ],
)
def test_a_badge_says_the_score_with_its_basis_or_why_there_is_none(run: str, message: str) -> None:
    assert _badges(odd())[f"badges/{run}.json"]["message"] == message


def test_a_badge_has_the_four_fields_of_the_endpoint_schema() -> None:
    for badge in _badges(odd()).values():
        assert badge.keys() == {"schemaVersion", "label", "message", "color"}
        assert badge["schemaVersion"] == 1
        assert badge["label"] == "livecut pass@1"
        assert badge["message"]
        assert badge["color"] == ("blue" if " % " in badge["message"] else "lightgrey")


def test_every_run_has_a_badge_and_its_name_is_nowhere_but_in_the_file_name() -> None:
    found = _badges(odd())
    assert set(found) == {f"badges/{slug}.json" for slug in odd().run_slugs.values()}
    assert len(found) == 7
    assert not any("script" in badge["message"] for badge in found.values())


def test_without_an_interval_the_badge_says_so() -> None:
    found = _badges(published(duel(contest="one")))
    assert found["badges/beta.json"]["message"] == "25.0 %, no interval, 12 problems after 2024-03"


def test_the_margin_is_part_of_the_cutoff() -> None:
    assert _badges(published(duel(24.0)))["badges/beta.json"]["message"].endswith("12 problems after 2024-03 + 1d")
    assert _badges(published(duel(36.0)))["badges/beta.json"]["message"].endswith("12 problems after 2024-03 + 36h")


def test_a_run_that_looks_broken_has_no_number() -> None:
    """A rate, a count and imported results are all of a run whose months look broken; others keep their number."""
    numbers = odd().edition.numbers
    months = {"memoriser": ("2025-01", "2025-02"), "frugal": ("2025-01", "2025-02", "2025-03"), "late": ("2025-01",)}
    edition = replace(odd().edition, numbers=replace(numbers, broken_months=months))
    found = _badges(replace(odd(), edition=edition))
    broken = found["badges/memoriser.json"]
    assert broken["message"] == "run looks broken in 2025-01, 2025-02: no score after 2024-12"
    assert broken["color"] == "lightgrey"
    assert found["badges/frugal.json"]["message"] == (
        "run looks broken in 3 months: no score after 2025-02-18 (release) (imported)"
    )
    assert found["badges/late.json"]["message"] == "not scored: no problem after 2025-04 was judged"
    assert found["badges/steady.json"] == _badges(odd())["badges/steady.json"]


@pytest.mark.parametrize(
    ("months", "message"),
    [
        (("2025-01",), "run looks broken in 2025-01: no score after 2025-02-18 (release) (imported)"),
        (("2025-01", "2025-02"), "run looks broken in 2025-01, 2025-02: no score after 2025-02-18 (release)"),
    ],
)
def test_what_is_imported_is_said_where_there_is_room(months: tuple[str, ...], message: str) -> None:
    numbers = replace(odd().edition.numbers, broken_months={"frugal": months})
    found = _badges(replace(odd(), edition=replace(odd().edition, numbers=numbers)))
    assert found["badges/frugal.json"]["message"] == message


def test_one_problem_is_no_plural() -> None:
    lone = one_run(edition_run("solo", [(0, 1, 1)]), [edition_problem(0)])
    assert _badges(published(lone))["badges/solo.json"]["message"] == "1 of 1 problem after 2024-01"


def test_a_long_reason_is_cut() -> None:
    name = HOSTILE + "\x00\n" + "x" * 300
    frozen = freeze_built([edition_problem(0)], [edition_run(name, [(0, 1, 1)], entry=None)], registry(model("a")))
    (badge,) = _badges(published(frozen)).values()
    message = badge["message"]
    assert message.startswith('not scored: unknown model "A | B "C" <script>')
    assert len(message) == badges.LONGEST_MESSAGE
    assert message.endswith("…")
    assert message.isprintable()


def test_an_edition_without_runs_has_no_badges() -> None:
    assert _badges(published(empty())) == {}
