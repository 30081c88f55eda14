"""The comparison of two graders as a user sees it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from live.session import one_line, output_console, print_json

if TYPE_CHECKING:
    from eval.graders import Comparison, Disagreement, ModelComparison

_SHOWN = 20
_COLUMNS = (
    "model",
    "compared",
    "accepted\nhere",
    "accepted by\nLiveCodeBench",
    "only\nhere",
    "only\nthere",
    "not\ncompared",
)


def print_comparison(comparison: Comparison, judged: list[dict[str, Any]] | None) -> None:
    """One row for each run, then the solutions on which our grader and the other disagree; one JSON document where
    there are reports of judging (``judged``, ours first) to go with it."""
    if judged is not None:
        runs = [{**asdict(row), "our_share": row.our_share, "their_share": row.their_share} for row in comparison.runs]
        found = [asdict(one) for one in comparison.disagreements]
        print_json({"runs": runs, "disagreements": found, "judged": judged})
        return
    _print_table(comparison.runs)
    for one in comparison.disagreements[:_SHOWN]:
        typer.echo(one_line(_line(one)))
    if len(comparison.disagreements) > _SHOWN:
        typer.echo(f"… and {len(comparison.disagreements) - _SHOWN} more; --json has them all")


def _print_table(rows: tuple[ModelComparison, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(*_COLUMNS, box=None, pad_edge=False)
    for row in rows:
        shares = ("–" if share is None else f"{share:.1%}" for share in (row.our_share, row.their_share))
        counts = (str(n) for n in (row.n_only_ours, row.n_only_theirs, row.n_not_compared))
        table.add_row(Text(one_line(_name(row))), str(row.n_solutions), *shares, *counts)
    output_console().print(table)


def _name(one: ModelComparison | Disagreement) -> str:
    return f"{one.model} ({one.label})" if one.label else one.model


def _line(one: Disagreement) -> str:
    reasons = "; ".join(detail for detail in (one.our_detail, one.their_detail) if detail)
    where = f"{_name(one)} {one.problem} #{one.sample_index}"
    return f"{where}: here {one.ours}, there {one.theirs}" + (f" ({reasons})" if reasons else "")
