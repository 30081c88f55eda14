"""What pages tell of the tests under scores: where they come from, how strong made ones are, samples alone apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from db.records import MadeStrength, TestOrigin
from eval.editions.document import EditionProblem, FrozenEdition, digest_of, from_bytes, to_bytes
from eval.publishing.publication import Published
from eval.site.pages import site_files
from tests.eval.editions.built import FROZEN_AT, edition_problem, edition_run, freeze_built, published
from tests.eval.facts import model, registry
from tests.eval.site.reading import cell_text, rows_of

FORMAT_1 = Path(__file__).parents[1] / "editions" / "data" / "format_1.json"
STRENGTHS = {1: MadeStrength(20, 18, 4, 4, 9, 6, 5, 1), 4: MadeStrength(10, 5), 7: None}
"""Of the made tests: by the place of the problem."""


def problem(place: int) -> EditionProblem:
    """By three: official, made and sample tests."""
    facts: dict[str, object] = {"hidden_origins": (TestOrigin.OFFICIAL,), "n_tests": 40}
    if place % 3 == 1:
        facts = {"hidden_origins": (TestOrigin.GENERATED,), "n_tests": 51, "strength": STRENGTHS.get(place)}
    elif place % 3 == 2:
        facts = {"samples_only": True, "n_tests": 3}
    return edition_problem(place, **facts)


@pytest.fixture(scope="module")
def pages() -> dict[str, BeautifulSoup]:
    """Twelve problems, four of each kind: "a" answers all of them with two samples, "cheat" passes samples alone."""
    runs = [
        edition_run("a", [(place, 2, place % 2 + 1) for place in range(12)]),
        edition_run("cheat", [(place, 1, 1) for place in range(2, 12, 3)]),
        edition_run("elsewhere", [(place, 1, 0) for place in range(12)], imported=True, origin="site"),
    ]
    models = registry(*(model(run.name, "2023-10") for run in runs))
    frozen = freeze_built([problem(place) for place in range(12)], runs, models)
    return _pages(published(frozen))


def _pages(source: Published) -> dict[str, BeautifulSoup]:
    files = site_files(source, {})
    return {file.path: BeautifulSoup(file.body, "lxml") for file in files if file.path.endswith(".html")}


def said(page: BeautifulSoup, name: str) -> str:
    """The text of the section under a heading."""
    heading = page.find(id=name)
    assert heading is not None
    assert heading.parent is not None
    return " ".join(heading.parent.get_text().split())


def test_the_tests_stand_beside_each_score(pages: dict[str, BeautifulSoup]) -> None:
    rows = rows_of(pages["index.html"], "own")
    heading = "tests beyond the samples"
    assert rows["a"]["judged"] == "8"
    assert rows["a"][heading] == "4 official, 4 made; made ones fail 23/30 known-wrong"
    assert rows["elsewhere"][heading] == "not run here"
    assert rows["elsewhere"]["judged"] == "12"
    assert rows["cheat"][heading] == "–"
    assert rows["cheat"]["note"].startswith("no score, since no problem with tests beyond the samples was judged; ")


def test_what_each_row_rests_on_is_told_in_full(pages: dict[str, BeautifulSoup]) -> None:
    rows = rows_of(pages["index.html"], "tests")
    assert set(rows) == {"a", "cheat"}
    row = rows["a"]
    origins = {name: row[name] for name in ("official", "made", "recovered", "of several origins", "not recorded")}
    assert origins == {"official": "4", "made": "4", "recovered": "0", "of several origins": "0", "not recorded": "0"}
    # Wilson's interval of 23 of 30: centre (0.7667 + z²/60) / (1 + z²/30), z = 1.95996.
    assert row["what made tests fail"] == (
        "23 of 30 known-wrong programs (76.7 %, 95 % 59.1–88.2), 6 of 9 mutants of right ones, "
        "4 of 4 too slow ones, none of 5 right ones (what 1 of them failed was set aside)"
    )
    assert row["weakest made tests"] == "atcoder:p4\n5 of 10 known-wrong programs"
    # Places 2, 5, 8 and 11 with two samples each: 1 + 2 + 1 + 2 of 8 pass.
    assert row["on samples alone, not in the score"] == "75.0 %\nof 8 samples, 4 problems"
    assert rows["cheat"]["on samples alone, not in the score"] == "100.0 %\nof 4 samples, 4 problems"


def test_the_page_of_a_run_says_it_in_sentences(pages: dict[str, BeautifulSoup]) -> None:
    told = said(pages["models/a.html"], "tests")
    assert "Tests beyond the samples of 8 problems: 4 official, 4 made" in told
    assert "On sample tests alone, not in the score: 4 problems, 75.0 % of 8 samples pass" in told
    assert "nothing is known of the tests" in said(pages["models/elsewhere.html"], "tests")
    assert "100.0 % of 4 samples pass" in said(pages["models/cheat.html"], "tests")
    listed = pages["models/a.html"].select("dl.facts > div")
    facts = {cell_text(one.select("dt")[0]): cell_text(one.select("dd")[0]) for one in listed}
    assert facts["tests beyond the samples"] == "4 official, 4 made; made ones fail 23/30 known-wrong"


def test_the_page_of_a_problem_says_where_its_tests_come_from(pages: dict[str, BeautifulSoup]) -> None:
    told = {place: _terms(pages[f"problems/atcoder-p{place}.html"]) for place in (0, 1, 2)}
    assert told[0]["tests"].startswith("40 tests; beyond the samples of its statement: official; digest")
    assert told[1]["tests"].startswith("51 tests; beyond the samples of its statement: made here; digest")
    assert told[2]["tests"].startswith("3 tests, the samples of its statement only; digest")
    assert ["in scores" in one for one in told.values()] == [False, False, True]
    assert told[2]["in scores"].startswith("not in any ranking")


def _terms(page: BeautifulSoup) -> dict[str, str]:
    pairs = zip(page.select("dl.terms dt"), page.select("dl.terms dd"), strict=True)
    return {term.get_text(): detail.get_text() for term, detail in pairs}


def test_the_strength_of_made_tests_stands_on_their_problem(pages: dict[str, BeautifulSoup]) -> None:
    rows = rows_of(pages["problems/atcoder-p1.html"], "strength")
    found = {name: (row["tried"], row["fail"], row["share"], row["95 %"]) for name, row in rows.items()}
    assert found == {
        "known-wrong programs": ("20", "18", "90.0 %", "69.9–97.2"),
        "right programs with one thing changed (mutants)": ("9", "6", "66.7 %", "35.4–87.9"),
        "known to be too slow": ("4", "4", "100.0 %", "51.0–100.0"),
    }
    right = "of 5 programs known to be right these tests fail none; what 1 of them failed was set aside"
    assert right in said(pages["problems/atcoder-p1.html"], "made")
    assert "no other program known to be right" in said(pages["problems/atcoder-p4.html"], "made")
    assert rows_of(pages["problems/atcoder-p4.html"], "strength")["known to be too slow"]["share"] == "–"
    assert "is not recorded" in said(pages["problems/atcoder-p7.html"], "made")
    assert pages["problems/atcoder-p0.html"].find(id="made") is None


def test_results_on_samples_alone_are_marked_and_in_no_share(pages: dict[str, BeautifulSoup]) -> None:
    rows = rows_of(pages["problems/atcoder-p2.html"], "results")
    counts = {name: (row["passed"], row["counts in its row"]) for name, row in rows.items()}
    assert counts == {
        "a": ("1/2", "no: sample tests only"),
        "cheat": ("1/1", "no: sample tests only"),
        "elsewhere": ("0/1", "yes"),
    }
    listed = rows_of(pages["problems.html"], "problems")
    kinds = [listed[f"atcoder:p{place}"]["tests"] for place in (0, 1, 2)]
    assert kinds == ["official tests", "made tests", "sample tests only"]
    # Of p2 only the imported run's result is in the share; it failed.
    assert listed["atcoder:p2"]["solved, all runs"] == "0 % (1)"
    assert listed["atcoder:p0"]["solved, all runs"] == "25 % (2)"


def test_limits_say_what_sample_tests_and_made_tests_mean(pages: dict[str, BeautifulSoup]) -> None:
    told = said(pages["limits.html"], "judging")
    assert "12 public problems here: 4 made tests, 4 official tests, 4 sample tests only" in told
    assert "is in no score, rank, comparison or audit" in told
    assert "(2 rows have such results)" in told


def test_an_edition_that_counts_samples_says_so_and_claims_no_origin() -> None:
    edition = from_bytes(FORMAT_1.read_bytes())
    frozen = FrozenEdition("2025-01", FROZEN_AT, digest_of(to_bytes(edition)), edition)
    pages = _pages(published(frozen))
    rows = rows_of(pages["index.html"], "own")
    # 20 problems, of which 6 have sample tests alone, by the version that froze it.
    assert rows["steady"]["judged"] == "20"
    assert rows["steady"]["tests beyond the samples"] == "14 not recorded, 6 samples alone"
    assert rows["frugal"]["tests beyond the samples"] == "not run here"
    told = said(pages["models/steady.html"], "tests")
    assert "6 problems of its row had sample tests alone, which counted in scores when this edition was frozen" in told
    assert "14 of origin not recorded" in told
    assert "counted as right" in said(pages["limits.html"], "judging")
    results = rows_of(pages["problems/atcoder-p3.html"], "results")
    assert results["steady"]["counts in its row"] == "yes"
    assert "in scores" not in _terms(pages["problems/atcoder-p3.html"])
    assert "an origin that is not recorded" in _terms(pages["problems/atcoder-p1.html"])["tests"]
    everything = " ".join(cell_text(cell) for page in pages.values() for cell in page.select("td"))
    assert "official" not in everything
