"""``live tests``: hidden tests for problems whose platforms publish none, made here."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands import made_tests, prospects, write_tests
from live.commands.findings import Seed
from live.commands.judge import Executor, Image, Jobs, JudgingOptions
from live.commands.windows import Platforms, Since, Until, read_since, read_until
from live.errors import ExitCode
from live.progress import making_bar
from live.session import Session, one_line, print_json, session_of, utc_now

if TYPE_CHECKING:
    from db.engine import Store
    from eval.made_tests.building import BuildSettings
    from eval.made_tests.gathering import Gatherer
    from eval.made_tests.making import Built, Machine, Refused, Result, Unchanged

app = typer.Typer(
    help="Hidden tests for problems whose platforms publish none: made here, cross-checked, and measured.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("build")
def build(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    problems: Annotated[
        list[str] | None, typer.Argument(metavar="[PROBLEM]...", help="PLATFORM:ID, or the id where it is unique.")
    ] = None,
    platform: Platforms = None,
    since: Since = None,
    until: Until = None,
    all_problems: Annotated[
        bool, typer.Option("--all", help="Also problems with tests from elsewhere, which stay what they are judged by.")
    ] = False,
    seed: Seed = 0,
    inputs: Annotated[int | None, typer.Option("--inputs", min=1, help="How many inputs are drawn at most.")] = None,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="Keep only the tests that the kill rate and the limits need.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Also where tests are there that were made from the very same.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Run nothing: say of which problems the input is understood.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="A line for each problem without tests.")] = False,
    executor: Executor = None,
    image: Image = None,
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON document.")] = False,
) -> None:
    """Make hidden tests: inputs from the statement's constraints, expected outputs from references or from completions
    of at least three models that agree, and how many wrong programs they fail.

    Without a problem named: for all that have samples alone, or tests that were made from something else than what is
    there now (another statement, other programs, another seed), newest first. The same command twice changes nothing;
    interrupt it at any time, and the problems that are done are kept.

    Tests of the platform stay current where there are any. Where no tests can be made the problem stays as it is.

    Exit codes: 0 done; 1 a named problem got no tests, or none did; 4 the sandbox cannot be used; 130 interrupted.
    """
    from eval.made_tests.building import WANTED, BuildSettings

    session = session_of(context)
    settings = BuildSettings(seed, WANTED if inputs is None else inputs, minimal)
    wanted = prospects.Wanted(
        tuple(problems or ()), tuple(platform or ()), read_since(since), read_until(until), all_problems
    )
    with session.open_store(must_exist=True, reading=dry_run) as store:
        ids, gatherer = prospects.find(session, store, wanted)
        if dry_run:
            is_named = bool(problems)
            prospects.say(
                session,
                store,
                ids,
                gatherer,
                settings,
                is_named=is_named,
                is_each=is_named or verbose,
                as_json=as_json,
            )
            return
        options = JudgingOptions(executor, jobs, image=image)
        report = _Report(session, is_each=bool(problems) or verbose)
        _make(session, store, ids, gatherer, settings, options, report, again=again)
    if as_json:
        print_json(report.document())
    report.end(is_named=bool(problems))


app.command("list")(made_tests.list_suites)
app.command("show")(made_tests.show)
app.command("write")(write_tests.write)


@dataclass
class _Report:
    """What came of the problems so far; ``is_each``: a line is said of each that got no tests."""

    session: Session
    is_each: bool
    built: list[Built] = field(default_factory=list)
    unchanged: list[Unchanged] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    waiting: tuple[int, int] = (0, 0)
    started: float = field(default_factory=time.monotonic)

    def add(self, result: Result) -> str:
        """Take a result, say what there is to say, and give it in a word."""
        from eval.made_tests.making import Built, Refused

        if isinstance(result, Built):
            self.built.append(result)
            self._say(_built_line(result))
            return "made"
        if isinstance(result, Refused):
            self.refused.append(result)
            if self.is_each:
                self._complain(f"{result.key}: {result.message}")
            self._say_flags(result)
            return "not made"
        self.unchanged.append(result)
        if self.is_each:
            word = "made before, current again" if result.is_restored else "unchanged"
            self._say(f"{result.key}: {word}" + ("" if result.is_current else _OTHERS_STAY))
        return "unchanged"

    def close(self) -> None:
        """Say the counts, what to do about refusals, and what is to be judged."""
        if not self.is_each:
            for kind, n in Counter(one.kind for one in self.refused).most_common():
                self._complain(f"{_problems(n)} without tests: {kind}")
        for hint in dict.fromkeys(one.hint for one in self.refused):
            self._complain(f"  what to do: {hint}")
        seconds = time.monotonic() - self.started
        rate = f" ({60 * len(self.built) / max(seconds, 1e-6):.1f} problems a minute)" if self.built else ""
        self._say(
            f"made tests for {_problems(len(self.built))} in {seconds:.1f} s{rate}, "
            f"{len(self.unchanged)} unchanged, {len(self.refused)} got none"
        )
        n_answers, n_runs = self.waiting
        if n_answers:
            answers, runs = ("1 answer" if n_answers == 1 else f"{n_answers} answers"), f"{n_runs} runs"
            verb = "waits" if n_answers == 1 else "wait"
            self._say(f"{answers} of {'1 run' if n_runs == 1 else runs} {verb} for judgement: live judge")

    def document(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "made": [_built_dict(one) for one in self.built],
            "unchanged": [
                {"problem": one.key, "is_current": one.is_current, "is_restored": one.is_restored}
                for one in self.unchanged
            ],
            "refused": [
                {"problem": one.key, "reason": one.message, "hint": one.hint, "flags": _flags(one.flags)}
                for one in self.refused
            ],
            "n_answers_waiting": self.waiting[0],
            "n_runs_waiting": self.waiting[1],
            "seconds": time.monotonic() - self.started,
        }

    def end(self, *, is_named: bool) -> None:
        """End the command with 1 where a named problem, or every problem, got no tests."""
        if self.refused and (is_named or not (self.built or self.unchanged)):
            raise typer.Exit(ExitCode.SOMETHING_FAILED)

    def _say_flags(self, result: Refused) -> None:
        for name, reason in result.flags:
            self._say(f"{result.key} is flagged {name}: {reason}")

    def _say(self, line: str) -> None:
        self.session.messages.print(one_line(line), markup=False)

    def _complain(self, line: str) -> None:
        """On stderr also where messages are not wanted; above a bar where there is one."""
        if self.session.quiet:
            typer.echo(one_line(line), err=True)
        else:
            self._say(line)


def _make(
    session: Session,
    store: Store,
    ids: Sequence[int],
    gatherer: Gatherer,
    settings: BuildSettings,
    options: JudgingOptions,
    report: _Report,
    *,
    again: bool,
) -> None:
    """Make tests for these problems, with a bar on a terminal; the sandbox is opened when it is first needed."""
    from eval.made_tests.making import Making, waiting_for_judgement

    with ExitStack() as stack:
        opened: list[Machine] = []

        def machine() -> Machine:
            if not opened:
                opened.append(stack.enter_context(options.open_judge(session)))
            return opened[0]

        making = Making(store, gatherer, settings, machine, utc_now, again)
        with making_bar(session.messages, len(ids)) as on_done:
            for result in making.make(ids):
                on_done(report.add(result))
        current = [one.problem_id for one in report.built if one.is_current]
        if current:
            report.waiting = waiting_for_judgement(store, machine().environment, current, now=utc_now())
    report.close()


_OTHERS_STAY = "; tests from elsewhere stay what it is judged by"


def _built_line(result: Built) -> str:
    """The line of one problem."""
    from eval.made_tests import account_text

    details, strength = result.made.details, result.made.strength
    parts = [
        f"{account_text.counted(result.made.n_made, 'made test')}, decided by {account_text.decided_by(details)}",
        account_text.kills(strength),
        account_text.set_aside(details),
        "" if details["time_limit"] is None else f"time limit {details['time_limit']['cpu_s']:g} s",
        *(f"flagged {name}: {reason}" for name, reason in result.flags),
        f"{result.seconds:.1f} s",
    ]
    return f"{result.key}: {'; '.join(part for part in parts if part)}" + ("" if result.is_current else _OTHERS_STAY)


def _built_dict(result: Built) -> dict[str, Any]:
    from dataclasses import asdict

    from db.digests import suite_digest
    from eval.made_tests import account_text

    details = result.made.details
    return {
        "problem": result.key,
        "suite_digest": suite_digest(result.made.suite),
        "recipe": result.made.recipe,
        "n_made": result.made.n_made,
        "decided_by": account_text.decided_by(details),
        "strength": asdict(result.made.strength),
        "time_limit_s": None if details["time_limit"] is None else details["time_limit"]["cpu_s"],
        "set_aside": details["set_aside"]["counts"],
        "not_run": details["not_run"],
        "flags": _flags(result.flags),
        "is_current": result.is_current,
        "seconds": result.seconds,
    }


def _flags(flags: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "reason": reason} for name, reason in flags]


def _problems(n: int) -> str:
    return "1 problem" if n == 1 else f"{n} problems"
