"""``live audit runs``: whether runs are whole, before anything is believed of them."""

from __future__ import annotations

import typer

from live.commands.audits.selection import Shown, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, chosen_form, show
from live.commands.windows import Difficulties, IncludeFlagged, Platforms, Since, Until
from live.errors import ExitCode


def runs(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Shown = None,
    since: Since = None,
    until: Until = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Whether runs are whole: easy problems month by month, lost answers, other answers under the same name.

    A broken run looks exactly like contamination: look here first. Exit code 1 when a month is broken.
    """
    from db.answer_counts import count_answers, rules_of_runs
    from db.failed_requests import count_failures
    from eval.audits.runs import TRUNCATED, audit_runs, runs_sheet

    form = chosen_form(as_json, as_csv, as_markdown)
    chosen = choose(
        context,
        names,
        since=since,
        until=until,
        platforms=platform,
        difficulties=difficulty,
        include_flagged=include_flagged,
        keep_others=True,
    )
    selection = chosen.selection
    run_ids = [run.run_id for run in selection.board.runs if run.run_id is not None]
    environment = chosen.results.environment
    with chosen.session.open_store(reading=True) as store, store.read() as reading:
        answers = count_answers(
            reading, run_ids, environment.environment_id if environment else None, truncated=TRUNCATED
        )
        rules, failures = rules_of_runs(reading, run_ids), count_failures(reading, run_ids)
    audit = audit_runs(selection, answers, rules, failures)
    show(runs_sheet(audit), form)
    if any(one.withheld for one in audit.shown_months):
        raise typer.Exit(ExitCode.SOMETHING_FAILED)
    if not any(audit.counts[row] or selection.board.seen[row].any() for row in selection.shown):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)
