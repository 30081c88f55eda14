"""Whatever window a reader chooses, the page shows what the command line prints for it, cell by cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from db.records import MadeStrength, TestOrigin
from eval.editions.document import Edition, EditionSettings, RareOutcome
from eval.publishing.publication import Published
from eval.site.board_data import filter_values
from eval.statistics.intervals import IntervalMethod
from tests.eval.editions.built import edition_problem, edition_run
from tests.eval.facts import model, registry, utc
from tests.eval.site.board_pages import COLUMNS, View, shown, wait_for_view, write_page
from tests.eval.site.board_reference import Reference, reference
from tests.eval.site.browser import Offline
from tests.eval.site.odd_boards import Shape, edition_of, large_edition, odd_edition, published_of, recorded_site

pytestmark = pytest.mark.browser

SHAPES = (
    Shape(1, 160, 2.5),
    Shape(2, 60, 15),
    Shape(3, 40, 40),
    Shape(4, 300, 1.2, EditionSettings(margin_hours=36, include_flagged=True, seed=3)),
    Shape(5, 120, 3, EditionSettings(platforms=("atcoder",), across=("temperature",))),
    Shape(6, 20, 1),
)


def random_views(edition: Edition, rng: Random, n: int) -> list[View]:
    """Views of all kinds, most of them with results; the first has every platform, and so no other problems."""
    values = filter_values(edition)
    dates = sorted(one.facts.exposed_at for one in edition.problems if one.facts.exposed_at is not None)
    views = [View(platforms=values.platforms)]
    while len(views) < n:
        first, last = sorted(f"{rng.choice(dates):%Y-%m}" for _ in range(2))
        platforms = rng.sample(values.platforms, rng.randrange(len(values.platforms) + 1))
        difficulties = rng.sample(values.difficulties, rng.randrange(len(values.difficulties) + 1))
        view = View(
            rng.choice(["", first]),
            rng.choice(["", "", last]),
            tuple(platforms) if rng.random() < 0.3 else (),
            tuple(difficulties) if rng.random() < 0.3 else (),
        )
        if view != View():
            views.append(view)
    return views


def differences(found: dict[str, Any], expected: Reference, slugs: dict[str, str]) -> list[str]:
    """Each cell that is not as it should be: another text, or a number that is off by more than 1e-9."""
    wrong = []
    for table, rows in (("own", expected.own), ("common", expected.common)):
        assert set(found["tables"][table]) == {slugs[name] for name in rows}
        for name, cells in rows.items():
            for column in (name for name in COLUMNS[table] if name in cells):
                text, *numbers = found["tables"][table][slugs[name]][column]
                if text != cells[column][0] or numbers != pytest.approx(cells[column][1:], abs=1e-9):
                    wrong.append(f"{table} {name} {column}: {[text, *numbers]} instead of {cells[column]}")
    return wrong


def compare(
    offline: Offline, folder: Path, site: Published, views: list[View]
) -> tuple[list[dict[str, Any]], list[Reference]]:
    page = offline.page()
    page.goto(f"{write_page(folder, site)}#{views[0].fragment}")
    wait_for_view(page)
    found = shown(page, views)
    expected = [reference(site.edition, view) for view in views]
    wrong = {
        view: lines
        for view, one, told in zip(views, found, expected, strict=True)
        if (lines := differences(one, told, site.run_slugs))
    }
    assert wrong == {}
    for view, one, told in zip(views, found, expected, strict=True):
        for refusal, is_ranked in zip(told.refusals, told.ranked, strict=True):
            if refusal and not refusal.startswith("no two models"):
                assert refusal in one["said"], view
            elif not is_ranked:
                assert "not computed beforehand" in one["said"], view
    return found, expected


def every_method() -> Edition:
    """Twenty contests of two problems each, and runs that call for each kind of interval in some view.

    "cancels" solves one problem of each contest, so that its residuals cancel within every one of them; "waiting" and
    its likes have answers without a result, for every reason that there is.
    """
    problems = [
        edition_problem(
            place,
            exposed_at=f"{2023 + place // 24}-{1 + place // 2 % 12:02}-15T12:00",
            contest=f"c{place // 2}",
            n_tests=0 if place == 39 else 2,
        )
        for place in range(40)
    ]
    answers = {
        "all": [(place, 2, 2) for place in range(40)],
        "none": [(place, 2, 0) for place in range(40)],
        "cancels": [(place, 2, 2 * (place % 2)) for place in range(40)],
        "half": [(place, 10, 3 + place % 5) for place in range(40)],
        "nearly all": [(place, 10, 10 - (place == 30)) for place in range(40)],
        "one contest": [(place, 2, 1) for place in (20, 21)],
        "waiting": [(place, 0, 0) for place in range(14, 38)],
        "imported": [(place, 0, 0) for place in range(14, 38)],
    }
    counts = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 1, 1, 0), (0, 1, 1, 0)]
    rare = tuple(RareOutcome(place, *counts[place % 6]) for place in range(14, 38))
    runs = [
        edition_run(name, found, imported=name == "imported", rare=rare if name in {"waiting", "imported"} else ())
        for name, found in answers.items()
    ]
    models = registry(*(model(name, "2023-03") for name in answers))
    return edition_of(problems, runs, models)


def test_every_kind_of_interval_and_every_reason_is_the_same(offline: Offline, tmp_path: Path) -> None:
    site = published_of(every_method())
    views = [View("2023-04"), View(last="2023-10"), View("2023-11", "2023-12"), View("2024-08"), View("2026-01")]
    found, expected = compare(offline, tmp_path, site, views)
    assert set.union(*(one.methods for one in expected)) == {method.value for method in IntervalMethod}
    notes = {name: found[0]["tables"]["own"][name]["note"][0] for name in ("waiting", "imported")}
    for reason in ("not judged", "internal error of the judge", "answers an older statement", "no completion"):
        assert reason in notes["waiting"]
    assert "no imported result" in notes["imported"]
    assert "no tests" in notes["waiting"]
    # 10 contests with one of two problems solved in each: 10 of 20, and no clustered error.
    assert found[1]["tables"]["own"]["cancels"]["score"] == ["50.0 %", 0.5, None]


def test_ranks_stand_only_where_they_were_computed(offline: Offline, tmp_path: Path) -> None:
    windows = [(utc("2024-02-01"), None), (utc("2024-02-01"), utc("2024-10-01"))]
    site = published_of(large_edition(6, 300, windows))
    views = {
        View("2024-02"): True,
        View("2024-02", "2024-09"): True,
        View("2024-02", platforms=filter_values(site.edition).platforms): True,
        View("2024-02", platforms=("atcoder",)): False,
        View("2024-02", difficulties=("hard",)): False,
        View("2024-03"): False,
    }
    found, expected = compare(offline, tmp_path, site, list(views))
    assert [one.ranked for one in expected] == [[has_ranks] for has_ranks in views.values()]
    ranks = [one["tables"]["common"]["model-000"]["rank"] for one in found]
    assert ranks == [["1–6", 1, 6] if has_ranks else ["–", None, None] for has_ranks in views.values()]


def test_results_on_samples_alone_count_in_no_view(offline: Offline, tmp_path: Path) -> None:
    # By month: official, made and sample tests; what was made has known-wrong programs to fail.
    made: dict[str, Any] = {"hidden_origins": (TestOrigin.GENERATED,), "strength": MadeStrength(10, 8)}
    kinds: list[dict[str, Any]] = [{"hidden_origins": (TestOrigin.OFFICIAL,)}, made, {"samples_only": True}]
    problems = [
        edition_problem(place, exposed_at=f"2024-{1 + place // 20:02}-15T12:00", **kinds[place // 20])
        for place in range(60)
    ]
    runs = [
        edition_run("a", [(place, 1, 1) for place in range(60)]),
        edition_run("b", [(place, 2, place % 3) for place in range(60)]),
        edition_run("cheat", [(place, 1, 1) for place in range(40, 60)]),
        edition_run("elsewhere", [(place, 1, 0) for place in range(60)], imported=True, origin="site"),
    ]
    site = published_of(edition_of(problems, runs, registry(*(model(run.name, "2023-03") for run in runs))))
    views = [View("2024-01"), View("2024-02"), View("2024-03")]
    found, _ = compare(offline, tmp_path, site, views)
    own, common = ([one["tables"][name] for one in found] for name in ("own", "common"))
    assert [table["a"]["tests"][0] for table in own] == [
        "20 official, 20 made; made ones fail 160/200 known-wrong",
        "20 made; made ones fail 160/200 known-wrong",
        "–",
    ]
    assert [table["a"]["problems"][0] for table in own] == ["40", "20", "0"]
    assert [table["elsewhere"]["problems"][0] for table in own] == ["60", "40", "20"]
    assert {table["elsewhere"]["tests"][0] for table in own} == {"not run here"}
    assert own[1]["cheat"]["note"][0] == (
        "no score, since no problem with tests beyond the samples was judged; left out: "
        "20 no completion, 20 outside the window, 20 sample tests only"
    )
    assert own[2]["cheat"]["note"][0].startswith("no score, since all eligible problems have sample tests only; ")
    for table in common:
        assert "on sample tests only, which count in no comparison: live tests build" in table["cheat"]["note"][0]


def test_an_edition_that_counts_samples_does_so_in_every_view(offline: Offline, tmp_path: Path) -> None:
    site = published_of(replace(odd_edition(Shape(7, 120, 2.5)), format=1))
    found, _ = compare(offline, tmp_path, site, random_views(site.edition, Random(7), 8))
    texts = {row["tests"][0] for one in found for row in one["tables"]["own"].values()}
    assert any(text.endswith(" samples alone") for text in texts)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(shape.seed))
def test_odd_boards_show_what_the_command_line_says(offline: Offline, tmp_path: Path, shape: Shape) -> None:
    site = published_of(odd_edition(shape))
    compare(offline, tmp_path, site, random_views(site.edition, Random(shape.seed), 15))


@pytest.mark.shared
@pytest.mark.slow
def test_the_recorded_board_shows_what_the_command_line_says(
    offline: Offline, tmp_path: Path, shared_data: Path
) -> None:
    site = recorded_site(shared_data)
    compare(offline, tmp_path, site, random_views(site.edition, Random(0), 60))
