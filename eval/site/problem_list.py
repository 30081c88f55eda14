"""The lists of all problems: one page, or one for each year where there are many. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eval.editions.document import EditionProblem
from eval.editions.tests_in_words import kind_of_tests
from eval.scoring import UNKNOWN
from eval.site.cells import Body, Cell, Grid, GridRow, Head, Reasons
from eval.site.problem_page import heading
from eval.site.runs import RunsOf
from eval.site.standing import Standings
from eval.site.wording import spaced

MAX_NAMED = 20
"""Problems of one flag that the index names."""

MAX_ROWS = 1_500
"""Rows of one page; with more problems than that there is a page for each year, and more pages for a long year."""


@dataclass(frozen=True)
class ListPage:
    """One page of the list: its file, what it holds in words, and its rows."""

    path: str
    label: str
    grid: Grid


@dataclass(frozen=True)
class Flagged:
    """The problems with one flag: the first of them as (written id, page), and how many more there are."""

    flag: str
    count: int
    first: tuple[tuple[str, str], ...]

    @property
    def n_more(self) -> int:
        """How many are not named."""
        return self.count - len(self.first)


@dataclass(frozen=True)
class _Solved:
    """The mean share of samples that passed, over how many runs; apart those that cannot have seen the problem.

    Results on sample tests alone are none of them; ``is_apart``: there are such, and no others.
    """

    share: float | None
    n_runs: int
    clean_share: float | None
    n_clean: int
    is_apart: bool


def list_pages(runs: RunsOf, standings: Standings) -> tuple[ListPage, ...]:
    """The pages of the list, the newest problems first."""
    problems = sorted(runs.edition.problems, key=_age)
    if len(problems) <= MAX_ROWS:
        return (ListPage("problems.html", "all problems", _grid(runs, standings, problems)),)
    years: dict[str, list[EditionProblem]] = defaultdict(list)
    for problem in problems:
        at = problem.facts.exposed_at
        years["no date" if at is None else str(at.year)].append(problem)
    return tuple(page for year, members in years.items() for page in _of_year(runs, standings, year, members))


def flagged(runs: RunsOf) -> Iterator[Flagged]:
    """The public problems with a flag or withdrawn, by that, the most frequent first; the newest problems first."""
    found: dict[str, list[EditionProblem]] = defaultdict(list)
    for problem in sorted(runs.edition.problems, key=_age):
        for name in dict.fromkeys(flag_names(problem)):
            found[name].append(problem)
    for name, members in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        pages = ((one.written_id, runs.published.problem_slugs[one.written_id]) for one in members[:MAX_NAMED])
        yield Flagged(name, len(members), tuple((written, f"problems/{slug}.html") for written, slug in pages))


def flag_names(problem: EditionProblem) -> list[str]:
    """What keeps a problem out of scores, or may, in words."""
    facts = problem.facts
    return [spaced(name) for name, _ in facts.flags] + (["withdrawn"] if facts.withdrawn else [])


def _age(problem: EditionProblem) -> tuple[bool, float, str]:
    at = problem.facts.exposed_at
    return at is None, 0.0 if at is None else -at.timestamp(), problem.written_id


def _of_year(runs: RunsOf, standings: Standings, year: str, problems: Sequence[EditionProblem]) -> Iterator[ListPage]:
    name = year.replace(" ", "-")
    for number, start in enumerate(range(0, len(problems), MAX_ROWS), 1):
        part = problems[start : start + MAX_ROWS]
        label = year if len(problems) <= MAX_ROWS else f"{year}, part {number}"
        path = f"problems-{name}.html" if number == 1 else f"problems-{name}-{number}.html"
        yield ListPage(path, label, _grid(runs, standings, part))


def _grid(runs: RunsOf, standings: Standings, problems: Sequence[EditionProblem]) -> Grid:
    reasons = Reasons()
    rows = tuple(_row(runs, _solved(runs, standings, problem), problem, reasons) for problem in problems)
    heads = (
        Head("problem"),
        Head("title"),
        Head("public since (UTC)"),
        Head("platform"),
        Head("difficulty"),
        Head("tests"),
        Head("solved, all runs", is_number=True),
        Head("solved, after their cut-off", is_number=True),
        Head("flags"),
    )
    return Grid(
        "problems",
        "Problems, the newest first; solved: the mean share of samples that passed, with the number of runs",
        heads,
        (Body(rows),),
        tuple(reasons.texts),
    )


def _row(runs: RunsOf, solved: _Solved, problem: EditionProblem, reasons: Reasons) -> GridRow:
    facts = problem.facts
    at = facts.exposed_at
    nobody = "all results on it are on sample tests alone" if solved.is_apart else "no run has a result on it"
    nobody_clean = nobody if solved.is_apart else f"{nobody} that cannot have seen it"
    return GridRow(
        (
            Cell(problem.written_id, href=f"problems/{runs.published.problem_slugs[problem.written_id]}.html"),
            Cell(heading(problem)),
            reasons.empty("no date is known") if at is None else Cell(f"{at:%Y-%m-%d}"),
            Cell(facts.platform),
            Cell(facts.difficulty or UNKNOWN),
            Cell(kind_of_tests(facts)),
            _share(solved.share, solved.n_runs, nobody, reasons),
            _share(solved.clean_share, solved.n_clean, nobody_clean, reasons),
            Cell(", ".join(flag_names(problem))),
        )
    )


def _share(share: float | None, n: int, reason: str, reasons: Reasons) -> Cell:
    return reasons.empty(reason) if share is None else Cell(f"{100 * share:.0f} % ({n})")


def _solved(runs: RunsOf, standings: Standings, problem: EditionProblem) -> _Solved:
    everyone = [standings.of(problem, run.name) for run in runs.edition.runs]
    found = [one for one in everyone if one.n_samples and not one.is_apart]
    shares = [one.n_correct / one.n_samples for one in found]
    clean = [one.n_correct / one.n_samples for one in found if one.is_clean]
    is_apart = not found and any(one.is_apart for one in everyone)
    return _Solved(_mean(shares), len(shares), _mean(clean), len(clean), is_apart)


def _mean(shares: Sequence[float]) -> float | None:
    return float(np.mean(sorted(shares))) if shares else None
