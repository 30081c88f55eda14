"""Each run in each table as a flat row: the one value that results are exported from in every form. Pure.

What the columns mean stands in results.schema.json. A run without a number has a row too, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval.editions.document import EditionRun, Numbers
from eval.eligibility import NotScored
from eval.exports._columns import Values, columns_of, ordered
from eval.exports._run_records import COMMON_RULE, NOT_IN_TABLE, own_reason
from eval.exports._tests import NOT_TOLD, apart_columns, basis_columns, own_columns
from eval.models import ModelEntry
from eval.publishing.publication import Published
from eval.report import Row, cutoff_fields
from eval.sheets import plain
from eval.standing import CUTOFF_RULE

OWN, COMMON, EQUATED = "own", "common", "equated"
TABLES = (OWN, COMMON, EQUATED)
MEASURED, ESTIMATED = "measured", "estimated"
NO_INTERVAL, REFITS = "none", "irt_refits"

EQUATED_RULE = "each run's results after its own cut-off enter the fit; the score is of the whole reference set"
RULES = {
    OWN: CUTOFF_RULE,
    COMMON: f"{COMMON_RULE}; {CUTOFF_RULE}",
    EQUATED: f"{EQUATED_RULE}; {CUTOFF_RULE}",
}
"""By which rule the cut-offs decide which problems count in a table."""

NO_RANKS = {
    OWN: "each run has problems of its own, so nobody can be ranked here",
    EQUATED: "estimates are not ranked",
}
NOT_COMPARED = "it could be compared with no other run"


def outcomes_path(published: Published, run: str) -> str:
    """The file with the results of a run, problem by problem."""
    return f"data/outcomes/{published.run_slugs[run]}.csv"


def result_rows(published: Published) -> tuple[dict[str, Any], ...]:
    """A row for each table and run, by the columns of ``results``; in the order of the table, then of the run's name.

    Raises ``ValueError`` for a number that is not finite.
    """
    sources = _Sources(published)
    runs = sorted(published.edition.runs, key=lambda run: run.name)
    columns = [column.name for column in columns_of("results")]
    found = []
    for table, fields in ((OWN, _own), (COMMON, _common), (EQUATED, _equated)):
        for run in runs:
            values = {"table": table, **sources.basis(run), **_NOTHING, **fields(sources, run)}
            found.append({name: ordered(plain(values[name])) for name in columns})
    return tuple(found)


_NOTHING: Values = {
    "window_from": None,
    "window_to": None,
    "n_eligible": None,
    "n_judged": None,
    "n_missing": None,
    "n_exposed": None,
    "n_contests": None,
    "n_samples": None,
    **NOT_TOLD,
    "score_kind": MEASURED,
    "pass_at_1": None,
    "ci_low": None,
    "ci_high": None,
    "se": None,
    "interval_method": NO_INTERVAL,
    "rank_low": None,
    "rank_high": None,
    "rank_simultaneous_low": None,
    "rank_simultaneous_high": None,
    "tier": None,
    "rank_group": None,
    "rank_reason": None,
    "answered_share": None,
    "left_out": {},
    "warnings": [],
    "problem_set_digest": None,
}
"""What a run has in a table that it is not in."""


@dataclass(frozen=True)
class _Sources:
    """An edition's numbers by the name of the run."""

    published: Published

    @property
    def numbers(self) -> Numbers:
        return self.published.edition.numbers

    @cached_property
    def groups(self) -> dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """For each run of the common table its group and its row there."""
        groups = self.numbers.common.data.get("groups", ())
        return {row["model"]: (group, row) for group in groups for row in group["rows"]}

    @cached_property
    def in_common(self) -> dict[str, Mapping[str, Any]]:
        """What the common window has of each of its runs."""
        return {one["name"]: one for one in self.numbers.common.data.get("runs", ())}

    @cached_property
    def unfit(self) -> dict[str, str]:
        """Why a run is fit for no rank, by the run."""
        groups = self.numbers.common.data.get("groups", ())
        return {run: reason for group in groups for run, reason in group["not_ranked"]}

    @cached_property
    def estimates(self) -> dict[str, Mapping[str, Any]]:
        return {row["model"]: row for row in self.numbers.equated.data.get("rows", ())}

    @cached_property
    def verdicts(self) -> dict[str, str]:
        return {one["model"]: one["in_all"] for one in self.numbers.contamination.data.get("summary", ())}

    @cached_property
    def entries(self) -> dict[str, ModelEntry]:
        return {entry.name.casefold(): entry for entry in self.published.edition.models}

    @cached_property
    def refusals(self) -> dict[str, dict[str, str]]:
        """By table of several runs why a run, or a model, is not in it."""
        return {
            table: {one.model: one.reason for one in reversed(list(not_scored(self.numbers, table)))}
            for table in (COMMON, EQUATED)
        }

    def row(self, run: EditionRun) -> Row | None:
        return self.published.edition.row_of(run.name)

    def refusal(self, table: str, run: EditionRun) -> str:
        known = self.refusals[table]
        return known.get(run.name) or known.get(run.model) or NOT_IN_TABLE

    def basis(self, run: EditionRun) -> dict[str, Any]:
        """What a run is, and by what it is measured, the same in every table."""
        published, edition, row = self.published, self.published.edition, self.row(run)
        entry = self.entries.get((run.entry or "").casefold())
        environment = edition.environment
        cutoff = {name: getattr(row, name) for name in cutoff_fields(None)} if row else cutoff_fields(None)
        return {
            "run": run.name,
            "model": run.entry or run.model,
            "label": run.label,
            "origin": run.origin,
            "is_imported": run.imported,
            "ran_on": run.ran_on,
            "conditions": run.conditions,
            "provider": entry.provider if entry else None,
            **cutoff,
            "margin_hours": edition.settings.margin_hours,
            "gap_verdict": self.verdicts.get(run.name),
            "broken_months": self.numbers.broken_months.get(run.name, ()),
            "environment_digest": None if run.imported or environment is None else environment.digest,
            "edition": published.name,
            "edition_digest": published.digest,
            "as_of": edition.as_of,
            "built_at": published.frozen_at,
            "software": edition.software,
            "outcomes": outcomes_path(published, run.name),
        }


def not_scored(numbers: Numbers, table: str) -> Iterator[NotScored]:
    """The models, or runs, that are not in a table, in its order."""
    if table == OWN:
        yield from numbers.own.not_scored
        return
    data = numbers.common.data if table == COMMON else numbers.equated.data
    for one in data.get("not_compared" if table == COMMON else "not_scored", ()):
        yield NotScored(one["model"], one["reason"])


def table_settings(numbers: Numbers, table: str) -> Mapping[str, Any]:
    """The settings of a table, as plain values."""
    if table == OWN:
        return numbers.own.settings
    settings: Mapping[str, Any] = (numbers.common if table == COMMON else numbers.equated).data["settings"]
    return settings


def _own(sources: _Sources, run: EditionRun) -> dict[str, Any]:
    table: dict[str, Any] = {
        "cutoff_rule": RULES[OWN],
        "rank_reason": NO_RANKS[OWN],
        "settings": table_settings(sources.numbers, OWN),
    }
    row = sources.row(run)
    if row is None:
        return {**table, "reason": own_reason(sources.published.edition, run)}
    score = row.pass_at_1
    rate = score if score.is_rate else None
    return {
        **table,
        "window_from": row.window_from,
        "window_to": row.window_to,
        "n_eligible": row.n_eligible,
        "n_judged": row.n_judged,
        "n_missing": row.n_eligible - row.n_judged,
        "n_exposed": 0,  # the window begins after the cut-off
        "n_contests": row.n_contests,
        "n_samples": row.n_samples,
        **own_columns(row, counts_samples=sources.published.edition.counts_samples),
        "pass_at_1": score.value,
        "ci_low": rate and rate.ci_low,
        "ci_high": rate and rate.ci_high,
        "se": rate and rate.se,
        "interval_method": NO_INTERVAL if rate is None or rate.ci_low is None else rate.interval_method,
        "reason": score.reason,
        "left_out": row.left_out,
        "warnings": row.warnings,
        "problem_set_digest": row.problem_set_digest,
    }


def _common(sources: _Sources, run: EditionRun) -> dict[str, Any]:
    data = sources.numbers.common.data
    table: dict[str, Any] = {
        "cutoff_rule": RULES[COMMON],
        "settings": table_settings(sources.numbers, COMMON),
        "window_from": data["window_from"],
        "window_to": data["window_to"],
        "n_eligible": data["n_eligible"],
        "left_out": data["left_out"],
    }
    if run.name not in sources.groups:
        reason = sources.unfit.get(run.name) or sources.refusal(COMMON, run)
        return {**table, "reason": reason, "rank_reason": reason}
    group, row = sources.groups[run.name]
    ranks = row["ranks"] or {}
    return {
        **table,
        "n_judged": group["n_problems"],
        "n_missing": row["n_missing"],
        "n_exposed": row["n_exposed"],
        "n_contests": group["n_contests"],
        "n_samples": row["n_samples"],
        **basis_columns(None if run.imported else group.get("tests")),
        **apart_columns(sources.in_common.get(run.name)),
        "pass_at_1": row["score"],
        "ci_low": row["low"],
        "ci_high": row["high"],
        "se": row["se"],
        "interval_method": row["interval_method"] if row["low"] is not None else NO_INTERVAL,
        "reason": row["reason"],
        "rank_low": ranks.get("low"),
        "rank_high": ranks.get("high"),
        "rank_simultaneous_low": ranks.get("simultaneous_low"),
        "rank_simultaneous_high": ranks.get("simultaneous_high"),
        "tier": ranks.get("tier"),
        "rank_group": group["settings"],
        "rank_reason": group["refusal"] or (None if ranks else NOT_COMPARED),
        "warnings": group["cautions"],
        "problem_set_digest": group["problem_set_digest"],
    }


def _equated(sources: _Sources, run: EditionRun) -> dict[str, Any]:
    data = sources.numbers.equated.data
    table: dict[str, Any] = {
        "cutoff_rule": RULES[EQUATED],
        "rank_reason": NO_RANKS[EQUATED],
        "settings": table_settings(sources.numbers, EQUATED),
        "window_from": data["reference_from"],
        "window_to": data["reference_to"],
        "score_kind": ESTIMATED,
    }
    found = sources.estimates.get(run.name)
    if found is None:
        return {**table, "reason": sources.refusal(EQUATED, run)}
    row = sources.row(run)
    is_same = row is not None and row.n_judged == found["n_own_problems"]
    return {
        **table,
        "n_eligible": data["n_reference"],
        "n_judged": found["n_own_problems"],
        "n_exposed": 0,  # what lies before the cut-off was left out before the fit
        "n_contests": row.n_contests if row is not None and is_same else None,
        "n_samples": row.n_samples if row is not None and is_same else None,
        **basis_columns(None if run.imported else data.get("tests")),
        "pass_at_1": found["estimate"],
        "ci_low": found["low"],
        "ci_high": found["high"],
        "se": found["se"],
        "interval_method": REFITS if found["low"] is not None else NO_INTERVAL,
        "reason": found["refusal"],
        "answered_share": found["answered"],
        "problem_set_digest": data["problem_set_digest"],
    }
