"""``live demo``: the whole job on twenty invented problems and three invented models."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from live.commands.evaluate import make_report, print_report
from live.commands.judge import Executor, Jobs, JudgingOptions
from live.commands.publish import write_folder
from live.commands.windows import read_settings
from live.errors import ExitCode
from live.session import Session, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from eval.editions.document import FrozenEdition
    from eval.report import Report, Score

DATA = Path(__file__).parent.parent / "demo"


def demo(
    context: typer.Context,
    executor: Executor = None,
    jobs: Jobs = None,
    site: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also publish it as a site to this folder: see live publish.")
    ] = None,
) -> None:
    """Import, judge and score twenty invented problems in a store that is thrown away; say what the table shows."""
    options = session_of(context)
    if site is not None:
        from eval.publishing.folder import check_target, real_folder

        check_target(real_folder(site))
    with tempfile.TemporaryDirectory(prefix="livecut-demo-") as folder:
        session = Session(db=f"sqlite:///{folder}/demo.db", models=[DATA / "models.toml"], quiet=options.quiet)
        with session.open_store() as store:
            names = _import_all(session, store)
            fresh = _report(session, store, names, JudgingOptions(executor, jobs), after_cutoff=True)
            naive = _report(session, store, names, JudgingOptions(executor, jobs), after_cutoff=False)
            frozen = None if site is None else _freeze(session, store)
    print_report(fresh, "table")
    for line in explain(fresh, naive):
        typer.echo(line)
    if site is not None and frozen is not None:
        _publish(options, site, frozen)
    if not fresh.has_scores:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _import_all(session: Session, store: Store) -> list[str]:
    """Import problems and solutions; the names of the models."""
    from eval.importing import import_solutions
    from ingest.importing import import_problems

    report = import_problems(store, DATA / "problems.jsonl", "jsonl", now=utc_now())
    session.print_import(report, "problems")
    names = []
    for path in sorted((DATA / "solutions").glob("*.jsonl")):
        entry = session.registry.resolve(path.stem)
        assert entry is not None  # a test keeps the demonstration's files together
        names.append(entry.name)
        report = import_solutions(
            store, path, "jsonl", model=entry.name, known_models=lambda name: name, now=utc_now(), label="demo"
        )
        session.print_import(report, f"solutions of {entry.name}")
    return names


def _report(session: Session, store: Store, names: list[str], judging: JudgingOptions, *, after_cutoff: bool) -> Report:
    since = None if after_cutoff else "2000"
    settings = read_settings(after_cutoff, since, None, "0d", None, None, "1", include_flagged=False)
    return make_report(session, store, settings, names, judging)


def _freeze(session: Session, store: Store) -> FrozenEdition:
    """The edition of what was just judged."""
    from eval.editions.document import EditionSettings
    from eval.editions.freezing import Chosen
    from eval.editions.stored import frozen_now

    chosen = Chosen(EditionSettings(), note="invented problems and models, judged by live demo")
    return frozen_now(store, session.registry, chosen, "demo", now=utc_now())


def _publish(session: Session, site: Path, frozen: FrozenEdition) -> None:
    from eval.publishing.plan import plan_site

    def load(name: str) -> FrozenEdition:
        return frozen

    write_folder(session, site, plan_site([frozen.name], load, title="livecut demo"), load)


def explain(fresh: Report, naive: Report) -> list[str]:
    """What the table shows, in a few lines: each model after its cut-off beside all problems taken together."""
    lines = ["", "What this shows (invented models, real judging):"]
    everything = {row.model: row.pass_at_1 for row in naive.rows}
    for row in fresh.rows:
        overall = everything.get(row.model)
        if row.pass_at_1.value is None or overall is None or overall.value is None:
            continue
        lines.append(
            f"  {row.model}: {_solved(overall)} problems of all dates, {_solved(row.pass_at_1)} published after its "
            f"cut-off ({row.cutoff})"
        )
    lines.append("A table over all dates would rank by what the models had already seen. Rows here rest on different")
    lines.append("problems, so they carry no ranks; with so few problems the intervals overlap, and the table says so.")
    return lines


def _solved(score: Score) -> str:
    """How much of how many problems was solved: a handful is counted, and gives no rate."""
    assert score.value is not None
    if not score.is_rate:
        return f"{score.value * score.n_problems:.3g} of the {score.n_problems}"
    return f"{100 * score.value:.1f} % of the {score.n_problems}"
