"""Reading problems back: a summary of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from db import tables as t
from db.dates import order_of
from db.made_suites import STRENGTH_COLUMNS
from db.records import DateClaim, MadeStrength, Precision, ProblemKey, TestOrigin, read_precision
from db.suites import read_origins


@dataclass(frozen=True)
class ProblemSummary:
    """Everything about a problem but its text and tests.

    ``n_tests`` counts the tests of the current suite that have an expected output; ``samples_only`` says that all of
    these are samples, ``has_checker`` that a program judges answers to them. ``contest`` is the native id of the first
    dated contest that has the problem. ``date_claims`` are in the order in which they decide, ``flags`` are (name,
    reason). ``hidden_origins`` say where the tests beyond the samples come from; ``strength`` is of tests that were
    made here.
    """

    problem_id: int
    key: ProblemKey
    title: str
    url: str | None
    difficulty: str | None
    contest: str | None
    released_at: datetime | None
    released_precision: Precision | None
    exposed_at: datetime | None
    date_claims: tuple[DateClaim, ...]
    suite_id: int | None
    suite_digest: str | None
    n_tests: int
    samples_only: bool
    comparison: dict[str, Any]
    io_kind: str | None
    flags: tuple[tuple[str, str], ...]
    status: str
    has_checker: bool = False
    hidden_origins: tuple[TestOrigin, ...] = ()
    strength: MadeStrength | None = None


def list_problems(session: Session, *, platform: str | None = None) -> list[ProblemSummary]:
    """All problems, or those of one platform, by platform and native id."""
    chosen = t.problem.c.platform == platform if platform is not None else t.problem.c.id.is_not(None)
    claims = _load_claims(session, chosen)
    flags = load_flags(session, chosen)
    contests = _load_contests(session, chosen)
    problem, suite = t.problem.c, t.test_suite.c
    query = (
        select(
            problem.id,
            problem.platform,
            problem.native_id,
            problem.title,
            problem.url,
            problem.difficulty,
            problem.status,
            problem.released_at,
            problem.released_precision,
            problem.exposed_at,
            suite.id,
            suite.digest,
            suite.n_tests,
            suite.samples_only,
            suite.comparison,
            suite.io_kind,
            suite.has_checker,
            suite.hidden_origins,
            *STRENGTH_COLUMNS,
        )
        .select_from(t.problem)
        .outerjoin(t.test_suite, suite.id == problem.current_suite_id)
        .outerjoin(t.made_suite, t.made_suite.c.suite_id == problem.current_suite_id)
        .where(chosen)
        .order_by(problem.platform, problem.native_id)
    )
    return [
        _summary(row, contests.get(row[0]), tuple(claims[row[0]]), tuple(flags[row[0]]))
        for row in session.execute(query).all()
    ]


def _summary(
    row: Sequence[Any], contest: str | None, claims: tuple[DateClaim, ...], flags: tuple[tuple[str, str], ...]
) -> ProblemSummary:
    # By place and not by name: for ten thousand rows it takes half the time.
    problem_id, platform, native_id, title, url, difficulty, status, released_at, precision, exposed_at, *suite = row
    suite_id, digest, n_tests, samples_only, comparison, io_kind, has_checker, origins, *strength = suite
    return ProblemSummary(
        problem_id=problem_id,
        key=ProblemKey(platform, native_id),
        title=title,
        url=url,
        difficulty=difficulty,
        contest=contest,
        released_at=released_at,
        released_precision=read_precision(precision) if precision else None,
        exposed_at=exposed_at,
        date_claims=claims,
        suite_id=suite_id,
        suite_digest=digest,
        n_tests=n_tests or 0,
        samples_only=bool(samples_only),
        comparison=comparison or {},
        io_kind=io_kind,
        flags=flags,
        status=status,
        has_checker=bool(has_checker),
        hidden_origins=read_origins(origins or ""),
        strength=MadeStrength(*strength) if strength[0] is not None else None,
    )


def _load_claims(session: Session, chosen: ColumnElement[bool]) -> defaultdict[int, list[DateClaim]]:
    """The date claims that hold, by problem id, the deciding one first."""
    columns = t.date_claim.c
    query = (
        select(
            columns.problem_id, columns.as_written, columns.earliest, columns.precision, columns.source, columns.contest
        )
        .join(t.problem, t.problem.c.id == columns.problem_id)
        .where(chosen, columns.superseded_at.is_(None))
    )
    claims: defaultdict[int, list[DateClaim]] = defaultdict(list)
    for problem_id, as_written, earliest, precision, source, contest in session.execute(query).all():
        claims[problem_id].append(DateClaim(as_written, earliest, read_precision(precision), source, contest))
    for said in claims.values():
        said.sort(key=order_of)
    return claims


def load_flags(session: Session, chosen: ColumnElement[bool]) -> defaultdict[int, list[tuple[str, str]]]:
    """The (name, reason) flags that hold, by problem id, of the chosen rows of ``problem``; each once."""
    columns = t.flag.c
    query = (
        select(columns.problem_id, columns.name, columns.reason)
        .join(t.problem, t.problem.c.id == columns.problem_id)
        .where(chosen, columns.cleared_at.is_(None))
        .order_by(columns.id)
    )
    flags: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for problem_id, name, reason in session.execute(query).all():
        if (name, reason) not in flags[problem_id]:  # two sources may say the same
            flags[problem_id].append((name, reason))
    return flags


def _load_contests(session: Session, chosen: ColumnElement[bool]) -> dict[int, str]:
    """The native id of each problem's first dated contest; where none is dated, of the first by id."""
    link, contest = t.contest_problem, t.contest
    query = (
        select(link.c.problem_id, contest.c.native_id)
        .join(contest, contest.c.id == link.c.contest_id)
        .join(t.problem, t.problem.c.id == link.c.problem_id)
        .where(chosen)
        # The databases differ on where NULL sorts, so that is asked first.
        .order_by(contest.c.starts_at.is_(None), contest.c.starts_at, contest.c.native_id)
    )
    contests: dict[int, str] = {}
    for problem_id, native_id in session.execute(query).all():
        contests.setdefault(problem_id, native_id)
    return contests
