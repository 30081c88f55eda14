"""How the judged samples of each run ended, and a few failures of each kind, drawn the same way every time."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from db.judged_programs import load_judged_programs
from db.judged_tests import JudgedTests, iter_judged_tests
from eval.editions.document import RunFailures, SampledFailure
from sandbox import Verdict

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

DRAWN = 3
"""Failures shown for each verdict."""

MAX_LINES = 60
MAX_CHARACTERS = 4_000
_NOT_THE_MODELS = frozenset({str(Verdict.ACCEPTED), str(Verdict.INTERNAL_ERROR)})


class Judged(NamedTuple):
    """A judged run: its id in the store, and the written ids of the problems to look at by their ids there."""

    run_id: int
    problems: Mapping[int, str]


def load_failures(
    session: Session, environment_id: int, runs: Mapping[str, Judged], seed: int
) -> tuple[RunFailures, ...]:
    """The verdicts of each run, by its name, on its problems, with up to three failures for each verdict."""
    return tuple(_of_run(session, environment_id, name, run, seed) for name, run in runs.items())


def _of_run(session: Session, environment_id: int, name: str, run: Judged, seed: int) -> RunFailures:
    verdicts: Counter[str] = Counter()
    failed: defaultdict[str, list[JudgedTests]] = defaultdict(list)
    for one in iter_judged_tests(session, environment_id, [run.run_id]):
        if one.problem_id in run.problems:
            verdicts[one.verdict] += 1
            if one.verdict not in _NOT_THE_MODELS:
                failed[one.verdict].append(one)
    drawn = [
        one
        for verdict in sorted(failed)
        for one in sorted(failed[verdict], key=lambda one: _lot(seed, name, run.problems[one.problem_id], one))[:DRAWN]
    ]
    return RunFailures(name, dict(sorted(verdicts.items())), tuple(_with_programs(session, environment_id, run, drawn)))


def _lot(seed: int, run: str, problem: str, one: JudgedTests) -> bytes:
    """What a failure draws: the same for the same sample in every store."""
    return hashlib.sha256(f"{seed}\t{run}\t{problem}\t{one.sample_index}".encode()).digest()


def _with_programs(
    session: Session, environment_id: int, run: Judged, drawn: Iterable[JudgedTests]
) -> Iterable[SampledFailure]:
    chosen = list(drawn)
    programs = {
        (one.problem_id, one.sample_index): one
        for one in load_judged_programs(session, run.run_id, environment_id, {one.problem_id for one in chosen})
    }
    for one in chosen:
        program = programs[one.problem_id, one.sample_index]
        first = next((test.name for test in one.tests if test.verdict != Verdict.ACCEPTED), "")
        code, is_cut = _beginning(program.code)
        yield SampledFailure(
            run.problems[one.problem_id], one.sample_index, one.verdict, first, program.language, code, is_cut
        )


def _beginning(code: str) -> tuple[str, bool]:
    """The first lines of a program, and whether there are more."""
    lines = code[:MAX_CHARACTERS].splitlines(keepends=True)[:MAX_LINES]
    beginning = "".join(lines)
    return beginning, len(beginning) < len(code)
