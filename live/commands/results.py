"""From the store to what a table or an audit starts from, with what is missing judged on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from live.commands.judge import JudgingOptions, check_references, judge_with_bar, say_faults, say_judged
from live.session import Session, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from db.environments import EnvironmentRow
    from eval.evaluation import RunOutcomes
    from eval.models import Registry
    from eval.settings import Settings
    from eval.tables import Material
    from eval.window import ProblemFacts


@dataclass(frozen=True)
class Results:
    """What a table or an audit starts from: problems, and runs with their verdicts in one environment or imported.

    ``everyone`` are all runs of the store, beside which those that were asked for can be judged.
    """

    problems: tuple[ProblemFacts, ...]
    runs: tuple[RunOutcomes, ...]
    environment: EnvironmentRow | None
    everyone: tuple[RunOutcomes, ...]

    def as_material(self, registry: Registry, now: datetime) -> Material:
        """What tables are made from, with the models of a registry."""
        from eval.tables import Material

        digest = self.environment.digest if self.environment else None
        return Material(self.problems, self.runs, self.everyone, registry, now, digest)


def gather(
    session: Session,
    store: Store,
    settings: Settings | None,
    wanted: list[str],
    judging: JudgingOptions,
    *,
    run_nothing: bool = False,
) -> Results:
    """The problems and runs of the store, after judging what rows under these settings need (None: judge nothing).

    The runs are those of the scenario of the settings, by default of code generation: nothing mixes them.
    """
    from db.environments import latest_environment
    from db.records import CODE_GENERATION
    from eval.outcomes import load_imported_runs, load_judged_runs, load_problem_facts
    from eval.scenarios import task_form

    scenario = CODE_GENERATION if settings is None else settings.scenario

    chosen = _chooser(session, wanted)
    if settings is not None and (settings.platforms or settings.difficulties):
        with store.read() as reading:
            check_filters(load_problem_facts(reading), settings)
    with store.read() as reading:
        runs = tuple(filter(chosen, load_judged_runs(reading, None, scenario=scenario)))
        environment = latest_environment(reading, {run.model for run in runs}, grader=judging.grader)
    if runs and settings is not None and not run_nothing and task_form(scenario).is_judged:
        environment = _judge_missing(session, store, runs, settings, judging)
    with store.read() as reading:
        # After judging: what was imported or flagged while programs ran belongs to the same picture as their verdicts.
        environment_id = environment.environment_id if environment else None
        problems = load_problem_facts(reading, environment_id=environment_id)
        everyone = (
            *load_judged_runs(reading, environment_id, scenario=scenario),
            *load_imported_runs(reading, scenario=scenario),
        )
    return Results(problems, tuple(filter(chosen, everyone)), environment, everyone)


def check_filters(problems: Iterable[ProblemFacts], settings: Settings) -> None:
    """Raises ``LabelUnknown`` for a platform or a difficulty of the settings that no problem of the store has."""
    from eval.labels import check_labels

    check_labels(problems, settings.platforms, settings.difficulties)


def _chooser(session: Session, wanted: list[str]) -> Callable[[RunOutcomes], bool]:
    """Which runs are asked for: those of the wanted models, under whatever name; all when none is named."""
    names = {name.casefold() for name in wanted}

    def chosen(run: RunOutcomes) -> bool:
        return not names or session.registry.canonical(run.model, run.ran_on).casefold() in names

    return chosen


def _judge_missing(
    session: Session,
    store: Store,
    runs: tuple[RunOutcomes, ...],
    settings: Settings,
    judging: JudgingOptions,
) -> EnvironmentRow:
    """Judge the completions that rows of this report rest on; which environment they were judged in."""
    from db.environments import load_environment
    from eval.evaluation import eligible_problems
    from eval.judging import Pending, register_environment
    from eval.outcomes import load_problem_facts

    now = utc_now()
    with judging.open_judge(session) as judge:
        environment_id = register_environment(store, judge.environment, now=now)
        check_references(session, store, judge, environment_id, [one for run in runs for one in _judged_for(run)])
        with store.read() as reading:  # after that, since what fails need not be judged
            problems = load_problem_facts(reading, environment_id=environment_id)
        for run in runs:
            eligible = eligible_problems(problems, run, session.registry, settings, now=now)
            pending = Pending(store, environment_id, _judged_for(run), [problem.problem_id for problem in eligible])
            if eligible and pending.count():
                session.messages.print(f"judging {run.model}", markup=False)
                report = judge_with_bar(session, store, judge, environment_id, pending)
                say_judged(session, report, judge)
        say_faults(session, judge)
    with store.read() as reading:
        return load_environment(reading, environment_id)


def _judged_for(run: RunOutcomes) -> list[int]:
    """The runs whose programs a row of this one rests on: itself, and the one that it repairs."""
    return [one for one in (run.run_id, run.repairs_run_id) if one is not None]
