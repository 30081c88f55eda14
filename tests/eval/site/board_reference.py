"""What the command line's own functions say of a view: the cells that the page has to show for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import numpy as np

from eval.common_window import common_window
from eval.editions.document import Edition, RankRange
from eval.evaluation import RunOutcomes, evaluate
from eval.ranking import RankedGroup, RankedRun, rank_runs
from eval.render import interval_text, share_text
from eval.report import Row
from eval.settings import Settings
from eval.sheets import NO_NUMBER, interval, percent, span
from eval.site.board_data import filter_values
from eval.test_basis import TestBasis
from eval.window import parse_since, parse_until
from tests.eval.site.board_pages import View

Cell = tuple[str, float | None, float | None]
"""A text, what it sorts by, and the upper end of a range."""

NOTHING: Cell = (NO_NUMBER, None, None)


@dataclass
class Reference:
    """The cells of each run by column, the sentences that say why a group has no ranks, and the methods in use."""

    own: dict[str, dict[str, Cell]] = field(default_factory=dict)
    common: dict[str, dict[str, Cell]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    ranked: list[bool] = field(default_factory=list)
    methods: set[str] = field(default_factory=set)


def reference(edition: Edition, view: View) -> Reference:
    """What `live eval` gives for the same settings, both tables."""
    found = Reference()
    runs = {run.name: run.as_outcomes(counts_samples=edition.counts_samples) for run in edition.runs}
    settings = _settings(edition, view)
    _own(found, edition, runs, settings)
    if view.first or view.last:
        settings = replace(settings, after_cutoff=False, margin=timedelta(0))
    _common(found, edition, runs, settings, view)
    if edition.counts_samples:
        # Where the tests of such an edition come from was not recorded: the command line says nothing of it.
        for cells in (*found.own.values(), *found.common.values()):
            del cells["tests"]
    return found


def _settings(edition: Edition, view: View) -> Settings:
    base = edition.settings.after_cutoff()
    return replace(
        base,
        since=parse_since(view.first) if view.first else None,
        until=parse_until(view.last) if view.last else None,
        platforms=view.platforms or base.platforms,
        difficulties=view.difficulties or base.difficulties,
    )


def _own(found: Reference, edition: Edition, runs: dict[str, RunOutcomes], settings: Settings) -> None:
    problems = [one.facts for one in edition.problems]
    report = evaluate(problems, runs.values(), edition.registry, settings, now=edition.as_of)
    rows = {row.run: row for row in report.rows}
    reasons = {one.model: one.reason for one in report.not_scored}
    for name, run in runs.items():
        if name in rows:
            found.own[name] = _own_cells(rows[name]) | _tests(run, rows[name].tests)
            found.methods.add(rows[name].pass_at_1.interval_method)
        else:
            found.own[name] = dict.fromkeys(("score", "interval", "problems", "contests", "eligible", "tests"), NOTHING)
            found.own[name]["note"] = (f"not scored: {reasons[run.model]}", None, None)


def _own_cells(row: Row) -> dict[str, Cell]:
    score = row.pass_at_1
    ends = NOTHING if interval_text(score) == NO_NUMBER else (interval_text(score), score.ci_low, score.ci_high)
    return {
        "score": (share_text(score), score.value, None),
        "interval": ends,
        "problems": _count(row.n_judged),
        "contests": _count(row.n_contests),
        "eligible": _count(row.n_eligible),
        "note": (_own_note(row.n_judged, row.n_eligible, row.left_out), None, None),
    }


def _own_note(n_judged: int, n_eligible: int, left_out: Mapping[str, int]) -> str:
    """Why there is no number or no rate, in words of its own: nothing is asked of the code that pages call."""
    if n_judged:
        return _few(n_judged)
    by_count = sorted((-count, reason) for reason, count in left_out.items())
    counted = ", ".join(f"{-count} {reason}" for count, reason in by_count)
    alone = left_out.get("sample tests only", 0)
    why = "no problem was judged"
    if alone == n_eligible > 0:
        why = "no score, since all eligible problems have sample tests only"
    elif alone:
        why = "no score, since no problem with tests beyond the samples was judged"
    return f"{why}; {f'left out: {counted}' if counted else 'nothing left out'}"


def _tests(run: RunOutcomes, basis: TestBasis | None) -> dict[str, Cell]:
    """What the tests under a score are, as the page words it."""
    if run.imported:
        return {"tests": ("not run here", None, None)}
    if basis is None or not basis.n_problems:
        return {"tests": NOTHING}
    counts = {
        "official": basis.n_official,
        "made": basis.n_made,
        "recovered": basis.n_recovered,
        "of several origins": basis.n_mixed,
        "not recorded": basis.n_not_recorded,
    }
    text = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    if basis.strength is not None and basis.strength.n_wrong:
        text += f"; made ones fail {basis.strength.n_wrong_killed}/{basis.strength.n_wrong} known-wrong"
    return {"tests": (text, None, None)}


def _common_note(n_problems: int) -> str:
    return _few(n_problems) if n_problems else "no problem of the window has a result of every run"


def _few(n_problems: int) -> str:
    return "" if n_problems >= 10 else f"fewer than 10 problems ({n_problems}): read it as a list, not as a rate"


def _count(n: int | None) -> Cell:
    return NOTHING if n is None else (str(n), n, None)


def _common(found: Reference, edition: Edition, runs: dict[str, RunOutcomes], settings: Settings, view: View) -> None:
    problems = [one.facts for one in edition.problems]
    common = common_window(problems, runs.values(), edition.registry, settings, now=edition.as_of)
    groups = rank_runs(common, np.random.default_rng(edition.settings.seed), across=edition.settings.across)
    refused = {one.model: one.reason for one in common.not_scored}
    for name, run in runs.items():
        reason = refused.get(name) or refused.get(run.model)
        found.common[name] = _absent(f"not compared: {reason}")
    for group in groups:
        for name, reason in group.unfit:
            found.common[name] = _absent(f"not compared: {reason}")
        ranks = _ranks(edition, settings, view) if group.ranks.refusal is None else {}
        found.ranked.append(any(run.name in ranks for run in group.runs))
        found.refusals.append(group.ranks.refusal or "")
        for one in group.runs:
            cells = _common_cells(group, one, common.n_eligible, ranks.get(one.name))
            found.common[one.name] = cells | _tests(runs[one.name], group.tests)
            found.methods.add(one.interval.method.value)


def _absent(note: str) -> dict[str, Cell]:
    columns = ("score", "interval", "rank", "rank_all", "tier", "lacks", "exposed", "problems", "contests", "eligible")
    return dict.fromkeys((*columns, "tests"), NOTHING) | {"note": (note, None, None)}


def _ranks(edition: Edition, settings: Settings, view: View) -> dict[str, RankRange]:
    """The ranks that were computed beforehand for exactly this window; a filter that lets all through is none."""
    values = filter_values(edition)
    if view.platforms not in {(), values.platforms} or view.difficulties not in {(), values.difficulties}:
        return {}
    windows = [
        one for one in edition.numbers.ranked_windows if (one.since, one.until) == (settings.since, settings.until)
    ]
    return {one.run: one for window in windows for one in window.ranks}


def _common_cells(group: RankedGroup, run: RankedRun, n_eligible: int, rank: RankRange | None) -> dict[str, Cell]:
    ends = span(run.interval.low, run.interval.high)
    score: Cell = NOTHING
    if run.score is not None and group.few:
        score = (f"{run.score * group.n_problems:.3g} of {group.n_problems}", run.score, None)
    elif run.score is not None:
        score = (f"{percent('').text(run.score)} %", run.score, None)
    ranks: dict[str, Any] = {"rank": NOTHING, "rank_all": NOTHING, "tier": NOTHING}
    if rank is not None:
        ranks = {
            "rank": _range(rank.low, rank.high),
            "rank_all": _range(rank.simultaneous_low, rank.simultaneous_high),
            "tier": _count(rank.tier),
        }
    return {
        "score": score,
        "interval": NOTHING if group.few or ends is None else (interval().text(ends), *ends),
        **ranks,
        "lacks": _count(run.n_missing),
        "exposed": _count(run.n_exposed),
        "problems": _count(group.n_problems),
        "contests": _count(group.n_contests),
        "eligible": _count(n_eligible),
        "note": (_common_note(group.n_problems), None, None),
    }


def _range(low: int, high: int) -> Cell:
    return (str(low) if low == high else f"{low}–{high}", low, high)
