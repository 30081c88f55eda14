"""``live tests list`` and ``live tests show``: the suites that were made here, and how each came to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.commands.problems import ProblemId, find_key
from live.session import Session, one_line, output_console, print_json, session_of

if TYPE_CHECKING:
    from db.engine import Store
    from db.made_suites import MadeSuiteRow
    from db.records import ProblemKey
    from eval.made_tests.prospects import Prospect

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


def list_suites(
    context: typer.Context,
    show_all: Annotated[bool, typer.Option("--all", help="Also suites that others have taken the place of.")] = False,
    as_json: AsJson = False,
) -> None:
    """Problems with tests that were made here, and how many wrong programs these fail."""
    from db.made_suites import list_made_suites, load_made_details

    session = session_of(context)
    with session.open_store(reading=True) as store, store.read() as reading:
        rows = list_made_suites(reading)
        if not show_all:
            rows = list(_one_for_each(rows).values())
        details = [load_made_details(reading, row.suite_id) for row in rows]
    if as_json:
        print_json([_as_dict(row, found) for row, found in zip(rows, details, strict=True)])
        return
    if not rows:
        session.messages.print("no problem has tests that were made here; live tests build makes some")
        return
    from rich.table import Table

    from eval.made_tests import account_text

    titles = ("problem", "made tests", "decided by", "wrong programs that fail (95 %)", "too slow", "mutants")
    table = Table(*titles, "right that fail", "made (UTC)", "", box=None, pad_edge=False)
    for row, found in zip(rows, details, strict=True):
        one = row.strength
        table.add_row(
            str(row.key),
            str(row.n_made),
            account_text.decided_by(found),
            account_text.rate(one.n_wrong_killed, one.n_wrong),
            _of(one.n_slow_killed, one.n_slow),
            _of(one.n_mutants_killed, one.n_mutants),
            _of(one.n_right_killed, one.n_right),
            f"{row.made_at:%Y-%m-%d}",
            _standing(row, rows),
        )
    output_console().print(table)


def _one_for_each(rows: Sequence[MadeSuiteRow]) -> dict[int, MadeSuiteRow]:
    """The current suite of each problem, or the newest where tests from elsewhere are."""
    found: dict[int, MadeSuiteRow] = {}
    for row in rows:
        before = found.get(row.problem_id)
        if before is None or not before.is_current:
            found[row.problem_id] = row
    return found


def _of(n_killed: int, n: int) -> str:
    return f"{n_killed}/{n}" if n else "–"


def _standing(row: MadeSuiteRow, rows: Sequence[MadeSuiteRow]) -> str:
    """What a suite counts for."""
    if row.is_current:
        return "of an older statement or older samples" if row.is_older else "current"
    is_replaced = any(one.is_current for one in rows if one.problem_id == row.problem_id)
    return "replaced" if is_replaced else "tests from elsewhere count"


def _as_dict(row: MadeSuiteRow, details: dict[str, Any]) -> dict[str, Any]:
    from eval.made_tests import account_text
    from eval.statistics.intervals import wilson

    one = row.strength
    low, high = wilson(one.n_wrong_killed / one.n_wrong, one.n_wrong) if one.n_wrong else (None, None)
    return {
        "problem": str(row.key),
        "suite_digest": row.digest,
        "n_tests": row.n_tests,
        "n_made": row.n_made,
        "decided_by": account_text.decided_by(details),
        "strength": asdict(one),
        "kill_rate_low": low,
        "kill_rate_high": high,
        "made_at": row.made_at,
        "seed": row.seed,
        "recipe": row.recipe,
        "is_current": row.is_current,
        "is_older": row.is_older,
    }


@dataclass(frozen=True)
class _Shown:
    """All that is known of one problem's made tests: the suite that counts or the newest, None where none was made."""

    key: ProblemKey
    row: MadeSuiteRow | None
    details: dict[str, Any]
    standing: str
    flags: Sequence[tuple[str, str]]
    prospect: Prospect | None

    def lines(self) -> Iterator[str]:
        """What a person reads."""
        from eval.made_tests.account_text import account_lines, counted

        if self.row is None:
            assert self.prospect is not None
            yield from _lines_without(self.prospect)
        else:
            n_samples = self.row.n_tests - self.row.n_made
            yield (
                f"{self.key}: {counted(self.row.n_made, 'made test')} after {counted(n_samples, 'sample')}, "
                f"made on {self.row.made_at:%Y-%m-%d} with seed {self.row.seed}: {self.standing}"
            )
            yield f"suite {self.row.digest}"
            yield from account_lines(self.details, self.row.strength)
        for name, reason in self.flags:
            yield f"flag {name}: {reason}"

    def document(self) -> dict[str, Any]:
        """The same for scripts."""
        refusal = None if self.prospect is None else self.prospect.refusal
        return {
            "problem": str(self.key),
            "suite": None if self.row is None else _as_dict(self.row, self.details),
            "details": self.details or None,
            "why_none": None if refusal is None else refusal.message,
            "hint": None if refusal is None else refusal.hint,
            "flags": [{"name": name, "reason": reason} for name, reason in self.flags],
        }


def show(context: typer.Context, problem: ProblemId, as_json: AsJson = False) -> None:
    """How the made tests of a problem came to be: inputs, who voted, what was set aside, and what they are worth.

    For a problem without made tests: why none could be made, as far as that can be said without running anything.
    """
    session = session_of(context)
    with session.open_store(reading=True) as store:
        found = _load(session, store, problem)
    if as_json:
        print_json(found.document())
        return
    for line in found.lines():
        typer.echo(one_line(line))


def _load(session: Session, store: Store, name: str) -> _Shown:
    from db.asked import load_askable
    from db.identity import problem_ids
    from db.made_suites import list_made_suites, load_made_details
    from eval.made_tests.building import BuildSettings
    from eval.made_tests.gathering import Gatherer
    from eval.made_tests.prospects import look

    with store.read() as reading:
        key = find_key(reading, name)
        problem_id = problem_ids(reading, [key])[key]
        rows = list_made_suites(reading, problem_ids=[problem_id])
        row = _one_for_each(rows).get(problem_id)
        (problem,) = load_askable(reading, [problem_id])
        prospect = None
        if row is None:
            gatherer = Gatherer.of(reading, session.registry)
            (prospect,) = look(reading, gatherer, [problem_id], BuildSettings())
        details = {} if row is None else load_made_details(reading, row.suite_id)
    return _Shown(key, row, details, "" if row is None else _standing(row, rows), problem.flags, prospect)


def _lines_without(prospect: Prospect) -> Iterator[str]:
    from live.commands.prospects import line_of

    yield line_of(prospect)
    if prospect.refusal is not None:
        yield f"  what to do: {prospect.refusal.hint}"
    elif prospect.can_decide:
        yield f"  what to do: live tests build {prospect.key}"
    else:
        yield "  what to do: live import references, or completions of three models of two families"
