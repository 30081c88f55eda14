"""What the index says: the edition, its conditions, all tables, and what they do not show. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.report import TOO_FEW_PROBLEMS, utc_text
from eval.site.cells import Grid
from eval.site.common_table import common_table, ties_at_the_top
from eval.site.own_table import left_out_table, own_table, warning_lines
from eval.site.problem_list import flagged
from eval.site.run_conditions import asking_lines
from eval.site.runs import RunsOf
from eval.site.sheet_tables import changes_tables, equated_table, picture_table, private_table, saturation_table
from eval.site.tests_told import basis_table, rules_of_tests
from eval.site.wording import METHODS, counted, hours_text
from eval.statistics.ranks import MIN_COMMON
from eval.statistics.ranks import MIN_MODELS as MIN_RANKED

INDEX_PICTURES = ("coverage", "saturation")


@dataclass(frozen=True)
class Fact:
    """Something that holds for the whole edition. ``code`` is shown as it is, to copy; ``link`` leads on."""

    name: str
    text: str = ""
    code: str = ""
    when: str = ""
    link: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture with the numbers that it shows; ``path`` is from the folder of the site on, ``label`` a word for it."""

    label: str
    path: str
    title: str
    alt: str
    data: Grid


def index_values(runs: RunsOf, pictures: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the template of the index takes."""
    edition, numbers = runs.edition, runs.numbers
    return {
        "facts": tuple(_facts(runs)),
        "note": edition.note,
        "own": own_table(runs),
        "own_conditions": tuple(_own_conditions(runs)),
        "methods": tuple(_methods(runs)),
        "warnings": warning_lines(runs),
        "left_out": left_out_table(runs),
        "tests": basis_table(runs),
        "not_scored": tuple((one.model, one.reason) for one in numbers.own.not_scored),
        "withdrawn": tuple(sorted(edition.withdrawn.items())),
        "common": common_table(runs),
        "ties": tuple(ties_at_the_top(runs)),
        "common_conditions": numbers.common.conditions,
        "flagged": tuple(flagged(runs)),
        "rank_rule": (MIN_COMMON, MIN_RANKED),
        "too_few": TOO_FEW_PROBLEMS,
        "equated": equated_table(runs),
        "equated_conditions": numbers.equated.conditions,
        "figures": tuple(figures(runs, pictures, INDEX_PICTURES)),
        "saturation": saturation_table(runs),
        "saturation_conditions": () if numbers.saturation is None else numbers.saturation.conditions,
        "changes": runs.published.changes,
        "changes_tables": tuple(changes_tables(runs)),
        "private": private_table(runs),
    }


def figures(runs: RunsOf, pictures: Mapping[str, Any], names: Sequence[str]) -> Iterator[Figure]:
    """Those of the pictures that there are."""
    for name in names:
        if name in pictures:
            one = pictures[name]
            yield Figure(
                name.capitalize(),
                f"pictures/{name}.svg",
                one.title,
                one.alt,
                picture_table(runs, name, one.title, one.data),
            )


def _facts(runs: RunsOf) -> Iterator[Fact]:
    edition, published = runs.edition, runs.published
    yield Fact("edition", published.name)
    yield Fact("data as of", when=utc_text(edition.as_of) or "")
    yield Fact("frozen at", when=utc_text(published.frozen_at) or "")
    yield Fact("problems", _problem_words(runs), link="problems.html")
    yield Fact("runs", f"{len(edition.runs)}, of which {len(runs.rows)} have a row")
    yield Fact("results", _origin_words(runs))
    yield Fact("software", edition.software)
    if edition.environment is None:
        yield Fact("environment", "none: no program was judged here")
    else:
        yield Fact("environment", edition.environment.executor, code=edition.environment.digest)
    yield Fact("digest", "SHA-256 of the frozen edition", code=published.digest)


def _origin_words(runs: RunsOf) -> str:
    n_imported = sum(run.imported for run in runs.edition.runs)
    judged = len(runs.edition.runs) - n_imported
    words = [f"{judged} judged here"] if judged else []
    words += [f"{n_imported} imported from {', '.join(runs.origins)}"] if n_imported else []
    return "; ".join(words) or "none"


def _problem_words(runs: RunsOf) -> str:
    dates = sorted(one.facts.exposed_at.date() for one in runs.edition.problems if one.facts.exposed_at is not None)
    span = f", published {dates[0]} to {dates[-1]}" if dates else ""
    return f"{len(runs.edition.problems):,} public{span}"


def _own_conditions(runs: RunsOf) -> Iterator[tuple[str, str]]:
    """What was measured under which rules, as pairs of a name and a sentence."""
    settings = runs.edition.settings
    yield (
        "window",
        "a problem counts if it became public strictly after the end of the model's cut-off at UTC−12, the last time "
        "zone: a cut-off of 2023-10 ends with 31 October there, so that problems count from 2023-11-01 12:00 UTC on",
    )
    yield from asking_lines(runs)
    yield "margin", f"{hours_text(settings.margin_hours)} beyond the end of the cut-off"
    yield "platforms", ", ".join(settings.platforms) or "all"
    yield "difficulties", ", ".join(settings.difficulties) or "all"
    flagged = "scored all the same" if settings.include_flagged else "left out (bad tests, interactive, and so on)"
    yield "flagged problems", flagged
    yield (
        "pass@1",
        "the share of samples that passed every test, on average over problems, each of which weighs the same",
    )
    yield (
        "95 %",
        "an interval for the mean over problems that come in contests; it holds the noise of the samples already",
    )
    yield "tests", rules_of_tests(runs)
    yield "seed", f"{settings.seed}, for what is drawn at random"


def _methods(runs: RunsOf) -> Iterator[str]:
    """The methods of the intervals in use, with how many rows have each."""
    uses = Counter(row.pass_at_1.interval_method for row in runs.numbers.own.rows)
    for name, text in METHODS.items():
        if uses[name]:
            yield f"{text} ({counted(uses[name], 'row')})"
