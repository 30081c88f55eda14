"""``live audit saturation``: a saturated set of problems beside a fresh one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.audits.files import read_text
from live.commands.audits.selection import Models, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, chosen_form, show
from live.commands.windows import CutoffsAsOf, IncludeFlagged
from live.errors import ExitCode, UsageError
from live.session import utc_now

if TYPE_CHECKING:
    from eval.audits.saturation import PublishedSet
    from eval.problem_sets import ProblemSet


def saturation(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    fresh: Annotated[
        str, typer.Option(metavar="SET", help="platform=, difficulty=, since=, until=, joined by commas.")
    ],
    names: Models = None,
    saturated: Annotated[
        str | None, typer.Option(metavar="SET", help='Written alike: "platform=humaneval", "until=2023-06".')
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Or published scores: CSV of model, score (percent: 88, not 0.88), n; EvalPlus's JSON.",
        ),
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="Which of EvalPlus's scores: humaneval, humaneval+, mbpp or mbpp+.")
    ] = None,
    cutoffs_as_of: CutoffsAsOf = None,
    include_flagged: IncludeFlagged = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """The gap of each model between a saturated and a fresh set of problems, with what the sets can tell."""
    from eval.audits.broken_months import broken_runs
    from eval.audits.saturation import audit_saturation, saturation_sheet
    from eval.problem_sets import ProblemSet, check_problem_set, read_problem_set

    form = chosen_form(as_json, as_csv, as_markdown)
    old = _saturated(saturated, published, benchmark)
    new = read_problem_set(fresh)
    chosen = choose(context, names, cutoffs_as_of=cutoffs_as_of, keep_others=True)
    problems, board = chosen.results.problems, chosen.selection.board
    for one in (old, new):
        if isinstance(one, ProblemSet):
            check_problem_set(one, problems)
    audit = audit_saturation(
        problems,
        [board.runs[row] for row in chosen.selection.shown],
        chosen.session.registry,
        old,
        new,
        now=utc_now(),
        include_flagged=include_flagged,
        broken=broken_runs(board),
    )
    show(saturation_sheet(audit), form)
    if all(row.gap is None for row in audit.found.rows):
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)


def _saturated(text: str | None, published: Path | None, benchmark: str | None) -> ProblemSet | PublishedSet:
    from eval.audits.saturation import PublishedSet
    from eval.problem_sets import read_problem_set
    from eval.published_scores import read_published

    if (text is None) == (published is None):
        raise UsageError("one saturated side is needed", "give either --saturated SET or --published FILE")
    if published is None:
        if benchmark is not None:
            raise UsageError("--benchmark chooses among published scores", "leave it out, or give --published FILE")
        return read_problem_set(text or "")
    scores = read_published(read_text(published), str(published), benchmark)
    return PublishedSet(f"{len(scores)} published scores of {published.name} {benchmark or ''}".rstrip(), tuple(scores))
