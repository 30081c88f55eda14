"""What is not measured, and from where on there is a number at all; thresholds are those of the code. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from eval.audits.contamination import ENOUGH_CONTROLS
from eval.cautions import CEILING, FEW_PROBLEMS, FLOOR, MAX_MISSING, OLD
from eval.editions.document import EditionProblem
from eval.editions.tests_in_words import kind_of_tests
from eval.models import EARLY_CUTOFF_MONTHS
from eval.report import TOO_FEW_PROBLEMS
from eval.site.runs import RunsOf
from eval.site.wording import hours_text
from eval.statistics import correlation, difficulty, gap, intervals, linking, placebo, ranks, run_health, saturation


@dataclass(frozen=True)
class Threshold:
    """A number without which, or beyond which, something is refused or warned of."""

    what: str
    limit: str
    otherwise: str


def limits_values(runs: RunsOf) -> dict[str, Any]:
    """Everything that the template takes; its sentences hold of every edition, these numbers of this one."""
    problems = runs.edition.problems
    return {
        "margin": hours_text(runs.edition.settings.margin_hours),
        "n_problems": len(problems),
        "kinds_of_tests": _kinds_of_tests(problems),
        "counts_samples": runs.edition.counts_samples,
        "n_apart": sum(row.samples_only is not None for row in runs.numbers.own.rows),
        "n_runs": len(runs.edition.runs),
        "n_imported": sum(run.imported for run in runs.edition.runs),
        "n_private": runs.edition.n_private,
        "has_private_scores": bool(runs.numbers.private),
        "thresholds": tuple(_thresholds()),
    }


def _kinds_of_tests(problems: Iterable[EditionProblem]) -> str:
    """How many problems have tests of which kind, the most frequent first."""
    counts = Counter(kind_of_tests(one.facts) for one in problems)
    return ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _thresholds() -> Iterator[Threshold]:
    yield Threshold("a rate in percent", f"{TOO_FEW_PROBLEMS} problems", 'a count ("7 of 9") and no interval')
    yield Threshold(
        "an interval clustered by contest",
        f"{intervals.MIN_CLUSTERS} contests",
        "the larger of two errors, and a warning",
    )
    yield Threshold("any interval", "2 problems in 2 contests", "none")
    yield Threshold("no warning of few contests", f"{intervals.FEW_CLUSTERS} contests", "a warning")
    yield Threshold("no warning of few problems", f"{FEW_PROBLEMS} problems", "a warning")
    yield Threshold("no warning of missing results", f"at most {100 * MAX_MISSING:g} % missing", "a warning")
    yield Threshold(
        "no warning of a ceiling or a floor",
        f"{100 * FLOOR:g} to {100 * CEILING:g} % solved",
        "a warning: little is told apart",
    )
    yield Threshold(
        "no warning of old problems", f"at most {OLD.days // 30} months old", "clean for this snapshot only"
    )
    yield Threshold("ranks", f"{ranks.MIN_COMMON} common problems and {ranks.MIN_MODELS} models", "no ranks")
    yield Threshold(
        "estimated scores",
        f"{linking.MIN_MODELS} models, {linking.MIN_ANCHORS} problems that {linking.MODELS_OF_AN_ANCHOR} of them share",
        "no estimate",
    )
    yield Threshold(
        "a gap at the cut-off",
        f"{gap.MIN_CONTESTS} contests and {gap.MIN_ITEMS} problems on each side, {gap.MIN_CONTROLS} controls "
        f"({ENOUGH_CONTROLS} are aimed at)",
        "withheld",
    )
    yield Threshold(
        "a gap that is called found", f"p below {100 * placebo.ALPHA:g} % (Holm), beyond every placebo", "not found"
    )
    yield Threshold(
        "a month of a run that is judged",
        f"{run_health.MIN_EASY} easy problems and {run_health.MIN_MODELS} models",
        "not judged",
    )
    yield Threshold("a month that is sound", f"|z| at most {run_health.MAX_Z:g} on easy problems", "broken")
    yield Threshold("a score in the saturation picture", f"{saturation.MIN_PROBLEMS} problems of each set", "no gap")
    yield Threshold(
        "beyond others, below line",
        f"{saturation.MIN_PEERS} and {correlation.MIN_MODELS} other models",
        "no number",
    )
    yield Threshold("a band of difficulty", f"{difficulty.MIN_PROBLEMS} problems", "no number")
    yield Threshold(
        "a cut-off without a source that is ranked by",
        f"at most {EARLY_CUTOFF_MONTHS} months before the release",
        "not ranked until somebody confirms it",
    )
