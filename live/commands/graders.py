"""The comparison of two graders as a user sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from live.session import one_line, output_console, print_json

if TYPE_CHECKING:
    from db.engine import Store
    from eval.graders import Disagreement, ModelComparison

_SHOWN = 20


def print_comparison(store: Store, environment_ids: Sequence[int], run_ids: Sequence[int], as_json: bool) -> None:
    """One row for each run, then the solutions on which our grader and the other disagree."""
    from eval.graders import compare_graders

    ours, theirs = environment_ids
    comparisons, disagreements = compare_graders(store, ours, theirs, run_ids)
    if as_json:
        runs = [{**asdict(row), "our_share": row.our_share, "their_share": row.their_share} for row in comparisons]
        print_json({"runs": runs, "disagreements": [asdict(one) for one in disagreements]})
        return
    _print_table(comparisons)
    for one in disagreements[:_SHOWN]:
        typer.echo(one_line(_line(one)))
    if len(disagreements) > _SHOWN:
        typer.echo(f"… and {len(disagreements) - _SHOWN} more; --json has them all")


def _print_table(comparisons: list[ModelComparison]) -> None:
    from rich.table import Table

    columns = ("model", "solutions", "accepted here", "by LiveCodeBench", "only here", "only there", "not compared")
    table = Table(*columns, box=None, pad_edge=False)
    for row in comparisons:
        shares = ("–" if share is None else f"{share:.1%}" for share in (row.our_share, row.their_share))
        counts = (str(n) for n in (row.n_only_ours, row.n_only_theirs, row.n_not_compared))
        table.add_row(row.model, str(row.n_solutions), *shares, *counts)
    output_console().print(table)


def _line(one: Disagreement) -> str:
    reasons = "; ".join(detail for detail in (one.our_detail, one.their_detail) if detail)
    return f"{one.model} {one.problem} #{one.sample_index}: here {one.ours}, there {one.theirs} ({reasons})"
