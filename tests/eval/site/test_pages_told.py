"""What pages tell beside the numbers: who cannot be told apart, what was asked how, what was left out and why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from eval.editions.document import Edition, EditionProblem, EditionRun, EditionSettings, PrivateScore
from eval.publishing.publication import Published
from eval.site.pages import site_files
from tests.eval.editions.built import edition_problem, edition_run, freeze_built, invented, published
from tests.eval.facts import model, registry
from tests.eval.site.reading import rows_of

N_PROBLEMS = 40
NAMES = ("ann", "ben", "cy", "dee", "eve", "fay")


def problems(n: int = N_PROBLEMS, **changes: object) -> list[EditionProblem]:
    """A problem a month from January 2024 on, each of a contest of its own."""
    return [
        edition_problem(
            place, **({"exposed_at": f"{2024 + place // 12}-{1 + place % 12:02}-15", "contest": f"c{place}"} | changes)
        )
        for place in range(n)
    ]


def site_of(
    runs: list[EditionRun], chosen: list[EditionProblem] | None = None, settings: EditionSettings | None = None
) -> Published:
    models = registry(*(model(run.name, "2023-12") for run in runs))
    return published(freeze_built(chosen or problems(), runs, models, settings=settings))


def page_of(site: Published, path: str = "index.html") -> BeautifulSoup:
    return BeautifulSoup(next(file.body for file in site_files(site, {}) if file.path == path), "lxml")


def said(page: BeautifulSoup, selector: str) -> list[str]:
    return [" ".join(one.get_text().split()) for one in page.select(selector)]


def rule(page: BeautifulSoup, name: str) -> str:
    """What "How it was measured" says of something."""
    pairs = zip(page.select("#rules dt"), page.select("#rules dd"), strict=True)
    return {term.get_text(): detail.get_text() for term, detail in pairs}[name]


def solving(name: str, share: float, **changes: object) -> EditionRun:
    """A run that solves about this share of ten samples of each problem, unevenly."""
    counts = [min(10, max(0, round(10 * share + (place * 7 % 5 - 2)))) for place in range(N_PROBLEMS)]
    return edition_run(name, [(place, 10, n) for place, n in enumerate(counts)], **changes)


def test_runs_that_share_the_first_tier_are_named_together() -> None:
    equal = [
        edition_run(name, [(p, 10, 5 + (p + row) % 3) for p in range(N_PROBLEMS)]) for row, name in enumerate(NAMES[:3])
    ]
    worse = [solving(name, 0.2) for name in NAMES[3:]]
    site = site_of([*equal, *worse])
    (line,) = said(page_of(site), "#ties li")
    assert line.endswith(": 3 runs in tier 1, each of which may be the best")
    assert set(line.partition(":")[0].split(", ")) == set(NAMES[:3])
    (line,) = said(page_of(site_of([solving("top", 0.8), *worse, solving("low", 0.3)])), "#ties li")
    assert line == "nothing at the top: top alone may be the best"


def test_where_nobody_is_ranked_nobody_is_told_apart() -> None:
    lines = said(page_of(site_of([solving(name, 0.5) for name in NAMES[:3]])), "#ties li")
    assert lines == ["all of it: nobody is ranked, since ranks need at least 5 models, there are 3"]


def test_flagged_problems_are_counted_by_reason_and_lead_to_their_pages() -> None:
    chosen = problems(30, flags=(("bad_tests", "two right programs fail"),)) + problems()[30:]
    chosen[35] = edition_problem(35, exposed_at="2026-11-15", flags=(("interactive", "asks"),), withdrawn=True)
    page = page_of(site_of([solving("ann", 0.5)], chosen))
    lines = said(page, "#flagged-section li")
    assert [line.partition(":")[0] for line in lines] == ["bad tests, 30", "interactive, 1", "withdrawn, 1"]
    assert lines[0].endswith(" and 10 more")
    links = [str(link["href"]) for link in page.select("#flagged-section li:first-child a")]
    assert len(links) == 20
    assert links[0] == "problems/atcoder-p29.html"
    assert not page_of(site_of([solving("ann", 0.5)])).select("#flagged-section")


def test_prompt_temperature_and_samples_stand_with_the_rules() -> None:
    same = page_of(site_of([solving(name, 0.5) for name in NAMES[:2]]))
    assert [rule(same, name) for name in ("prompt", "temperature", "samples of each problem")] == [
        "plain, in every run",
        "0.2, in every run",
        "10, in every run",
    ]
    warm = solving("eve", 0.5, conditions={"temperature": 1.0, "prompt": "plain"})
    bought = solving("fay", 0.5, conditions={}, imported=True, origin="site")
    once = edition_run("dee", [(place, 1 + place % 2, 1) for place in range(N_PROBLEMS)], conditions={})
    other = page_of(site_of([solving("ann", 0.5), solving("ben", 0.5), warm, bought, once]))
    assert rule(other, "prompt") == (
        "the runs differ: plain: ann, ben, eve; not known, since imported: fay; not set: dee"
    )
    assert rule(other, "temperature") == (
        "the runs differ: 0.2: ann, ben; 1.0: eve; not known, since imported: fay; not set: dee"
    )
    assert rule(other, "samples of each problem") == "the runs differ: 10: ann, ben, eve, fay; 1 to 2: dee"


def test_what_lies_within_the_margin_is_after_the_cutoff_and_does_not_count() -> None:
    # The cut-off is 2023-12, to the end at UTC-12; 60 days later it is 2024-03-01T12:00.
    site = site_of([solving("ann", 0.5)], settings=EditionSettings(margin_hours=60 * 24))
    within, after = (rows_of(page_of(site, f"problems/atcoder-p{place}.html"), "results")["ann"] for place in (1, 2))
    assert within["published"] == "after the cut-off, within the margin"
    assert within["counts in its row"].startswith("no: ")
    assert (after["published"], after["counts in its row"]) == ("after the cut-off", "yes")
    listed = rows_of(page_of(site, "problems.html"), "problems")["atcoder:p1"]
    assert listed["solved, after their cut-off"] == listed["solved, all runs"]


def test_a_model_page_without_a_judged_problem_says_so() -> None:
    early = [edition_problem(place, exposed_at="2023-05-15") for place in range(20)]
    page = page_of(site_of([edition_run("ann", [(place, 2, 1) for place in range(20)])], early), "models/ann.html")
    (line,) = [one for one in said(page, "#main > p") if one.startswith("pass@1")]
    assert line.startswith("pass@1 after its cut-off: no number: no problem was judged. ")


@pytest.mark.parametrize("has_scores", [False, True])
def test_private_problems_are_told_of_though_no_run_is_scored_on_them(has_scores: bool) -> None:
    source = published(invented())
    scores = (PrivateScore("steady", 1, None, None, None, "too few"),) if has_scores else ()
    (line,) = held_back(replace(source.edition, numbers=replace(source.edition.numbers, private=scores)), source)
    assert line.startswith("Part of the problems is private and never named")
    assert line.endswith("There are 2 of them.")
    assert ("They are in no number here." in line) is not has_scores


def test_an_edition_without_private_problems_says_so() -> None:
    source = site_of([solving("ann", 0.5)])
    (line,) = held_back(source.edition, source)
    assert line == "No problem of this edition is private: every number can be worked out again from the files."


def held_back(edition: Edition, source: Published) -> list[str]:
    page = page_of(replace(source, edition=edition), "limits.html")
    return said(page, "section[aria-labelledby=held-back] li")[:1]
