"""``live audit stability``: whether the order of models holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.audits.files import read_text
from live.commands.audits.selection import Chosen, Models, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, Seed, chosen_form, show
from live.commands.results import check_filters
from live.commands.windows import (
    CutoffsAsOf,
    Difficulties,
    IncludeFlagged,
    Margin,
    Platforms,
    Since,
    Until,
    read_settings,
)
from live.errors import ExitCode
from live.session import utc_now

if TYPE_CHECKING:
    from eval.audits.perturbations import Shares


def stability(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Models = None,
    any_time: Annotated[
        bool, typer.Option("--any-time", help="In the window of --since and --until, not after the cut-offs.")
    ] = False,
    since: Since = None,
    until: Until = None,
    margin: Margin = "0d",
    cutoffs_as_of: CutoffsAsOf = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    workload: Annotated[
        Path | None, typer.Option("--weights", metavar="FILE", help="Your workload as TOML: see live audit weights.")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(metavar="CONDITION", help="The condition that tells runs of another prompt apart, or label."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """How far each model's rank moves when something that should not matter is changed.

    One contest left out, the window a month earlier or later, other weights, samples drawn anew, another metric,
    another wording of the prompt (--variant): on problems that all models have answered, after their latest cut-off.
    """
    from eval.audits.broken_months import broken_runs
    from eval.audits.stability import Changes, audit_stability
    from eval.audits.stability_sheet import stability_sheet
    from eval.workloads import check_workload, read_workload

    form = chosen_form(as_json, as_csv, as_markdown)
    settings = read_settings(not any_time, since, until, margin, platform, difficulty, "1", include_flagged)
    wanted = None if workload is None else read_workload(read_text(workload), str(workload))
    chosen = choose(context, names, cutoffs_as_of=cutoffs_as_of, keep_others=True)
    problems, board = chosen.results.problems, chosen.selection.board
    check_filters(problems, settings)
    if wanted is not None:
        check_workload(wanted, problems, str(workload))
    audit = audit_stability(
        problems,
        [board.runs[row] for row in chosen.selection.shown],
        chosen.session.registry,
        settings,
        Changes(wanted, variant, _shares(chosen)),
        seed,
        now=utc_now(),
        broken=broken_runs(board),
    )
    show(stability_sheet(audit), form)
    if not any(group.panel.models for group in audit.groups):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)


def _shares(chosen: Chosen) -> Callable[[Iterable[int], Iterable[int]], Shares] | None:
    """What loads the shares of tests passed in the environment of the results; None where nothing was judged."""
    environment = chosen.results.environment
    if environment is None:
        return None

    def load(run_ids: Iterable[int], problem_ids: Iterable[int]) -> Shares:
        from eval.test_shares import load_test_shares

        with chosen.session.open_store(reading=True) as store, store.read() as reading:
            return load_test_shares(reading, environment.environment_id, run_ids, problem_ids)

    return load
