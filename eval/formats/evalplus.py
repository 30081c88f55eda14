"""HumanEval and evalplus files: samples as JSON lines, or evalplus' graded ``*_eval_results.json``.

A line has ``task_id`` ("HumanEval/0", "Mbpp/2") and either ``solution``, a whole program, or ``completion``, which goes
on where the problem's prompt ends: the starter code of the stored problem is put in front of it, and it is refused
where the stored problem has none. Other keys are left alone. The sample index counts the rows of one task.
The graded file holds the same rows under ``eval``, by task, each with ``base_status`` and ``plus_status``.
Source of the shape: github.com/openai/human-eval and github.com/evalplus/evalplus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from db.importing import Note, Refusal
from db.json_lines import JsonRow, read_json_lines
from eval.formats import ResultRow, SolutionRow
from eval.formats._fields import BadRow, Row, as_row, identifier, required_list, required_text, storable_code
from eval.formats._reading import MAX_ROW, peek_bytes, read_members
from eval.formats._rows import build_rows

NAME = "evalplus"
DESCRIPTION = "HumanEval/evalplus samples as JSON lines, or evalplus' graded *_eval_results.json"

PLATFORMS = {"HumanEval": "humaneval", "Mbpp": "mbpp"}
ORIGIN_BASE = "evalplus base"
ORIGIN_PLUS = "evalplus plus"


def read_solutions(path: Path) -> Iterator[SolutionRow | Refusal | Note]:
    """One row for each sample of either file."""
    seen: Counter[str] = Counter()
    rows = _graded_rows(path) if _is_graded(path) else read_json_lines(path, MAX_ROW)
    yield from build_rows(rows, lambda where, row: _solution(where, row, seen), "task_id")


def read_results(path: Path) -> Iterator[ResultRow | Refusal | Note]:
    """Two tallies for each task of a graded file: on the base tests and, where they were run, on the added ones."""
    for item in read_members(path, "eval"):
        if isinstance(item, Refusal):
            yield item
            continue
        try:
            yield from _tallies(item.where, item.value)
        except BadRow as error:
            yield Refusal(f"task_id {item.where!r}", error.reason, error.hint, item.raw)


def _is_graded(path: Path) -> bool:
    """Whether the file is one document with the key ``eval``, which then comes before the first sample."""
    head = peek_bytes(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    task, graded = head.find(b'"task_id"'), head.find(b'"eval"')
    return head.startswith(b"{") and graded >= 0 and (task < 0 or graded < task)


def _graded_rows(path: Path) -> Iterator[JsonRow | Refusal]:
    for item in read_members(path, "eval"):
        if isinstance(item, Refusal):
            yield item
            continue
        try:
            rows = required_list({item.where: item.value}, item.where)
        except BadRow as error:
            yield Refusal(f"task_id {item.where!r}", error.reason, error.hint, item.raw)
            continue
        for number, row in enumerate(rows, start=1):
            yield JsonRow(f"sample {number}", row, item.raw)


def _solution(where: str, row: Row, seen: Counter[str]) -> Iterator[SolutionRow]:
    task_id, platform = _task(identifier(row, "task_id"))
    index = seen[task_id]
    # Counted before the program is looked at: a refused sample must not move the ones behind it.
    seen[task_id] += 1
    whole = row.get("solution") is not None
    if not whole and row.get("completion") is None:
        raise BadRow("the row has neither 'solution' nor 'completion'", "one of the two must hold the program")
    code = storable_code(required_text(row, "solution" if whole else "completion"))
    yield SolutionRow(where, task_id, code, index, platform=platform, continues_starter=not whole)


def _tallies(task_id: str, value: object) -> Iterator[ResultRow]:
    task_id, platform = _task(task_id)
    rows = [as_row(row) for row in required_list({task_id: value}, task_id)]
    if not rows:
        raise BadRow("the task has no samples", "a result needs at least one graded sample")
    base, plus = _passes(rows, "base_status"), _passes(rows, "plus_status")
    if None in base:
        raise BadRow("a sample has no 'base_status'", "grade the file again")
    where = f"task_id {task_id!r}"
    yield ResultRow(where, task_id, len(rows), sum(map(bool, base)), ORIGIN_BASE, platform=platform)
    if None in plus:
        return
    # A program counts on the added tests only if it passes the base tests too: so evalplus prints it.
    n_both = sum(bool(b and p) for b, p in zip(base, plus, strict=True))
    yield ResultRow(where, task_id, len(rows), n_both, ORIGIN_PLUS, platform=platform)


def _passes(rows: list[Row], key: str) -> list[bool | None]:
    """Whether each sample passed; None for one that was not graded."""
    statuses = [row.get(key) for row in rows]
    return [status == "pass" if isinstance(status, str) else None for status in statuses]


def _task(task_id: str) -> tuple[str, str]:
    platform = PLATFORMS.get(task_id.partition("/")[0])
    if platform is None:
        known = " or ".join(f"'{prefix}/0'" for prefix in PLATFORMS)
        raise BadRow(f"the task id {task_id!r} is of no known benchmark", f"task ids look like {known}")
    return task_id, platform
