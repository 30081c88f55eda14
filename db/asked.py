"""What a model is shown of a problem: its statement, samples, contract and limits, many problems at one go."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import decode_text, get_blobs
from db.errors import UnknownRow
from db.records import IoKind, ProblemKey, TestOrigin
from db.sql import chunks, is_one_of
from db.summaries import load_flags

_AT_ONCE = 500
_revision, _suite, _case = t.revision.c, t.test_suite.c, t.test_case.c
_PROBLEMS: Select[Any] = (
    select(
        t.problem.c.id,
        t.problem.c.platform,
        t.problem.c.native_id,
        t.problem.c.title,
        t.problem.c.url,
        _revision.id.label("revision_id"),
        _revision.statement_sha256,
        _revision.starter_sha256,
        _revision.language,
        _suite.id.label("suite_id"),
        _suite.io_kind,
        _suite.entry_point,
        _suite.time_limit_s,
        _suite.memory_limit_bytes,
        _suite.rules_sha256,
    )
    .select_from(t.problem)
    .outerjoin(t.revision, _revision.id == t.problem.c.current_revision_id)
    .outerjoin(t.test_suite, _suite.id == t.problem.c.current_suite_id)
)
_SAMPLES = (
    select(_case.suite_id, _case.input_sha256, _case.expected_sha256)
    .where(_case.origin == str(TestOrigin.SAMPLE), _case.expected_sha256.is_not(None))
    .order_by(_case.suite_id, _case.position)
)


class AskedSample(NamedTuple):
    """A sample test of a statement: what goes in, and what comes out."""

    input: str
    expected: str


@dataclass(frozen=True)
class AskableProblem:
    """A problem as it is put to a model, by its current statement and tests.

    ``statement_language`` None: not known. ``statement`` is empty and ``revision_id`` None without a statement;
    ``io_kind`` is None without tests, or of a kind that this version does not know. ``signature`` is JSON as
    ``SuiteRecord`` has it. ``time_limit_s`` is CPU time. ``samples`` are the tests of origin sample with an expected
    output, in the order of the suite, without those that are not text. ``flags`` are the (name, reason) that hold.
    """

    problem_id: int
    key: ProblemKey
    title: str
    url: str | None
    statement: str
    statement_language: str | None
    starter_code: str
    io_kind: IoKind | None
    entry_point: str | None
    signature: dict[str, Any] | None
    time_limit_s: float | None
    memory_limit_bytes: int | None
    samples: tuple[AskedSample, ...]
    revision_id: int | None
    flags: tuple[tuple[str, str], ...] = ()


def load_askable(session: Session, problem_ids: Iterable[int]) -> list[AskableProblem]:
    """These problems in the order in which they are named, each once. ``UnknownRow`` when one is missing."""
    return [one for some in chunks(dict.fromkeys(problem_ids), _AT_ONCE) for one in _load(session, some)]


def _load(session: Session, problem_ids: Sequence[int]) -> list[AskableProblem]:
    chosen = is_one_of(t.problem.c.id, problem_ids)
    rows = {row.id: row for row in session.execute(_PROBLEMS.where(chosen))}
    for missing in (one for one in problem_ids if one not in rows):
        raise UnknownRow("problem", missing)
    samples: defaultdict[int | None, list[tuple[str, str]]] = defaultdict(list)
    suites = [row.suite_id for row in rows.values() if row.suite_id is not None]
    for suite_id, given, expected in session.execute(_SAMPLES.where(is_one_of(_case.suite_id, suites))):
        samples[suite_id].append((given, expected))
    hashes = {sha256 for shown in samples.values() for pair in shown for sha256 in pair}
    for row in rows.values():
        hashes |= {row.statement_sha256, row.starter_sha256, row.rules_sha256} - {None}
    blobs, flags = get_blobs(session, hashes), load_flags(session, chosen)
    return [
        _problem(rows[one], _texts_of(samples[rows[one].suite_id], blobs), blobs, tuple(flags[one]))
        for one in problem_ids
    ]


def _problem(
    row: Row[Any],
    samples: tuple[AskedSample, ...],
    blobs: Mapping[str, bytes],
    flags: tuple[tuple[str, str], ...],
) -> AskableProblem:
    rules = {} if row.rules_sha256 is None else json.loads(blobs[row.rules_sha256])
    return AskableProblem(
        problem_id=row.id,
        key=ProblemKey(row.platform, row.native_id),
        title=row.title,
        url=row.url,
        statement="" if row.revision_id is None else decode_text(blobs[row.statement_sha256]),
        statement_language=row.language,
        starter_code="" if row.revision_id is None else decode_text(blobs[row.starter_sha256]),
        io_kind=IoKind(row.io_kind) if row.io_kind in set(IoKind) else None,
        entry_point=row.entry_point,
        signature=rules.get("signature"),
        time_limit_s=row.time_limit_s,
        memory_limit_bytes=row.memory_limit_bytes,
        samples=samples,
        revision_id=row.revision_id,
        flags=flags,
    )


def _texts_of(samples: Iterable[tuple[str, str]], blobs: Mapping[str, bytes]) -> tuple[AskedSample, ...]:
    """The samples as text; those that are not are left out."""
    texts = []
    for given, expected in samples:
        try:
            texts.append(AskedSample(blobs[given].decode(), blobs[expected].decode()))
        except UnicodeDecodeError:
            continue
    return tuple(texts)
