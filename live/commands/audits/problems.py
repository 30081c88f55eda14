"""``live audit problems``: problems whose tests, answers or statements may be broken."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.audits.selection import ANY_TIME, Chosen, Models, choose
from live.commands.findings import AsCsv, AsJson, AsMarkdown, chosen_form, show
from live.commands.windows import Difficulties, IncludeFlagged, Platforms, Since, Until, read_settings
from live.errors import ExitCode

if TYPE_CHECKING:
    from sqlalchemy.orm import Session as DbSession

    from db.judged_tests import SuiteRules
    from eval.audits.problem_evidence import Evidence
    from eval.window import ProblemFacts


def problems(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    names: Models = None,
    since: Since = None,
    until: Until = None,
    platform: Platforms = None,
    difficulty: Difficulties = None,
    include_flagged: IncludeFlagged = False,
    show_all: Annotated[bool, typer.Option("--all", help="Weak signals, too.")] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Problems that may be broken, with the evidence and the command that sets each aside. Nothing is flagged by this.

    From statements that allow several answers where the tests know one, from what strong models fail, from answers on
    which independent programs agree against the expected one, from other graders, and from likeness to other problems.
    """
    from eval.audits.problem_evidence import independent_groups
    from eval.audits.problems import audit_problems
    from eval.audits.problems_sheet import problems_sheet
    from eval.window import Reason, classify

    form = chosen_form(as_json, as_csv, as_markdown)
    chosen = choose(
        context,
        names,
        since=since,
        until=until,
        platforms=platform,
        difficulties=difficulty,
        include_flagged=include_flagged,
    )
    settings = read_settings(False, since or ANY_TIME, until, "0d", platform, difficulty, "1", include_flagged)
    looked_at = [
        problem
        for problem in chosen.results.problems
        if settings.admits(problem)
        and classify(problem, chosen.selection.window, include_flagged=include_flagged)
        in (None, Reason.REFERENCES_DISAGREE)  # a flag that was set by no person is a finding itself
    ]
    groups = independent_groups(chosen.selection, chosen.session.registry)
    with chosen.session.open_store(reading=True) as store, store.read() as reading:
        evidence = _evidence(reading, chosen, looked_at)
    show(problems_sheet(audit_problems(chosen.selection, looked_at, evidence, groups), show_weak=show_all), form)
    if not looked_at:
        raise typer.Exit(ExitCode.NOTHING_ELIGIBLE)


def _evidence(reading: DbSession, chosen: Chosen, looked_at: list[ProblemFacts]) -> Evidence:
    """What the store knows of these problems beyond scores."""
    from db.duplicates import DuplicateVerdict, list_pairs
    from db.judged_tests import iter_judged_tests, iter_statements, load_suite_rules, load_suite_tests
    from eval.audits.problem_evidence import Evidence, Likeness, Solution

    ids = [problem.problem_id for problem in looked_at]
    rules = load_suite_rules(reading, ids)
    wanted, environment = set(ids), chosen.results.environment
    run_ids = [run.run_id for run in chosen.selection.board.runs if run.run_id is not None]
    solutions: defaultdict[int, list[Solution]] = defaultdict(list)
    for one in iter_judged_tests(reading, environment.environment_id, run_ids) if environment else ():
        if one.problem_id in wanted:
            solutions[one.problem_id].append(Solution(one.run_id, one.tests))
    return Evidence(
        wordings={
            problem_id: _flags_of(text, rules.get(problem_id)) for problem_id, text in iter_statements(reading, ids)
        },
        suites=load_suite_tests(reading, ids),
        solutions=solutions,
        alike=[
            Likeness(str(pair.first), str(pair.second), pair.similarity, pair.reason)
            for pair in list_pairs(reading, DuplicateVerdict.RELATED)
        ],
    )


def _flags_of(statement: str, rules: SuiteRules | None) -> tuple[tuple[str, str], ...]:
    """What the wording of a statement would be flagged for, unless the tests compare as it says."""
    from eval.audits.problem_evidence import COMPARISON
    from ingest.statements.wording import read_wording

    wording = read_wording(statement, is_call=rules is not None and rules.calls_function)
    if rules is None:
        return wording.flags
    stated = {name: value for name, value in wording.comparison.items() if rules.comparison.get(name) != value}
    flags = [flag for flag in wording.flags if flag[0] != "multiple_answers" or not rules.comparison.get("unordered")]
    if stated:
        flags.append((COMPARISON, ", ".join(f"{name} {value}" for name, value in stated.items())))
    return tuple(flags)
