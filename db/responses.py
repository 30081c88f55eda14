"""What endpoints said: each answer as it came, with what was found in it, what it cost and how long it took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Final

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import decode_text, encode_text, get_blobs, put_blobs
from db.completions import require_run, save_completions
from db.errors import CompletionConflict, UnknownProblem
from db.failed_requests import FailureRecord, count_failures, failures_of, forget_failures, save_failures
from db.identity import problem_ids
from db.older_answers import set_aside
from db.places import PLACE, answered_among, places_answered
from db.records import (
    CODE_GENERATION,
    MAX_INTEGER,
    MAX_SAMPLES,
    AnswerStatus,
    CompletionRecord,
    Place,
    ProblemKey,
    SaveOutcome,
    require_text,
    require_utc,
    storable_text,
)
from db.revisions import is_older_statement
from db.sql import insert_rows, is_one_of
from db.usage import RunUsage, usage_of_runs

__all__ = [
    "AnswerRow",
    "FailureRecord",
    "Place",
    "ResponseRecord",
    "RunUsage",
    "count_failures",
    "failures_of",
    "load_answers",
    "places_answered",
    "save_failures",
    "save_responses",
    "usage_of_runs",
]


@dataclass(frozen=True)
class ResponseRecord:
    """An answer of an endpoint at its place. ``key`` names the problem of the place.

    ``status`` and ``rule`` say what was found in it, ``answer`` is that (a program, an output; "": nothing), ``raw``
    the content as it came, ``reasoning`` the thinking before it, ``prompt`` what was sent; "" is kept as nothing.
    ``revision_id`` is the statement that was asked. ``requested_at`` and ``latency_s`` are None where nobody saw them
    (an answer from a batch file). ``endpoint`` is host and path of the base URL. ``cost`` is in ``currency``.
    ``completion`` is the program to be judged, an empty one where there is none; None: nothing is judged by tests.
    """

    place: Place
    key: ProblemKey
    status: AnswerStatus
    rule: str | None = None
    prompt: str = ""
    raw: str = ""
    reasoning: str = ""
    answer: str = ""
    completion: CompletionRecord | None = None
    revision_id: int | None = None
    requested_at: datetime | None = None
    latency_s: float | None = None
    attempts: int = 1
    endpoint: str = ""
    served_model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost: float | None = None
    currency: str | None = None

    def __post_init__(self) -> None:
        require_utc("ResponseRecord.requested_at", self.requested_at)
        require_text("ResponseRecord.rule", self.rule)
        require_text("ResponseRecord.endpoint", self.endpoint)
        require_text("ResponseRecord.currency", self.currency, allow_empty=False)
        if "?" in self.endpoint or "@" in self.endpoint.partition("/")[0]:
            # Where keys are written into addresses. The value itself is left out of the message for that reason.
            raise ValueError("ResponseRecord.endpoint must be host and path alone, without query and user")
        if (self.cost is None) != (self.currency is None):
            raise ValueError(f"ResponseRecord.cost {self.cost!r} goes with a currency, not {self.currency!r}")
        for name, amount in (("latency_s", self.latency_s), ("cost", self.cost)):
            if amount is not None and not (amount >= 0 and isfinite(amount)):
                raise ValueError(f"ResponseRecord.{name} must be a finite number from 0 on, not {amount!r}")
        for name in ("tokens_in", "tokens_out", "tokens_reasoning"):
            count = getattr(self, name)
            if count is not None and not 0 <= count <= MAX_INTEGER:
                raise ValueError(f"ResponseRecord.{name} must be between 0 and {MAX_INTEGER}, not {count!r}")
        if not 0 <= self.attempts <= MAX_SAMPLES:
            raise ValueError(f"ResponseRecord.attempts must be between 0 and {MAX_SAMPLES}, not {self.attempts!r}")
        self._require_own_completion()

    def _require_own_completion(self) -> None:
        done = self.completion
        if done is None:
            return
        # Answers to several questions on a problem are numbered by whoever judges them.
        is_own = self.place.question_id or done.sample_index == self.place.sample_index
        if done.key != self.key or not is_own:
            raise ValueError(
                f"ResponseRecord.completion is sample {done.sample_index} of {done.key}, "
                f"not sample {self.place.sample_index} of {self.key}"
            )


@dataclass(frozen=True)
class AnswerRow:
    """A stored answer. ``answer`` is "" where nothing was found, ``expected`` None where the problem itself was asked.

    ``status`` is an ``AnswerStatus``, or what a newer version calls it. ``is_older`` as ``VerdictRow`` has it.
    """

    run_id: int
    problem_id: int
    question_id: int
    sample_index: int
    answer: str
    expected: str | None
    status: str
    is_older: bool = False


def save_responses(
    session: Session, run_id: int, records: Sequence[ResponseRecord]
) -> list[SaveOutcome | CompletionConflict]:
    """Save answers of one run with their completions, and forget the failures of their places.

    The result of each stands at its place: an answer that stands is kept whatever the new one says (UNCHANGED), unless
    its statement has been edited since, when it is set aside (see ``db.older_answers``) for the new one; one
    whose completion contradicts a stored one is not saved (``CompletionConflict``). Raises ``UnknownRow`` when there is
    no such run, ``UnknownProblem`` when the problem of a place is not in the store under its key.
    """
    require_run(session, run_id)
    _require_problems(session, records)
    standing = answered_among(session, run_id, (record.place for record in records))
    new: dict[Place, ResponseRecord] = {}
    for record in records:
        if record.place not in standing:
            new.setdefault(record.place, record)
    for place in set_aside(session, run_id, {place: record.revision_id for place, record in new.items()}):
        del new[place]
    conflicts = _save_completions(session, run_id, list(new.values()))
    saved = [record for place, record in new.items() if place not in conflicts]
    _insert(session, run_id, saved)
    forget_failures(session, run_id, {record.place for record in records} - conflicts.keys())
    outcomes: dict[Place, SaveOutcome | CompletionConflict] = dict.fromkeys(new, SaveOutcome.CREATED) | conflicts
    results = []
    for record in records:
        outcome = outcomes.get(record.place, SaveOutcome.UNCHANGED)
        results.append(outcome)
        if outcome is SaveOutcome.CREATED:
            del outcomes[record.place]  # The next one at this place finds it there.
    return results


def _require_problems(session: Session, records: Sequence[ResponseRecord]) -> None:
    ids = problem_ids(session, (record.key for record in records))
    for record in records:
        if ids.get(record.key) != record.place.problem_id:
            raise UnknownProblem(record.key)


def _save_completions(
    session: Session, run_id: int, records: Sequence[ResponseRecord]
) -> dict[Place, CompletionConflict]:
    """Save the completions of the records; which places must not be saved."""
    done = [(record, record.completion) for record in records if record.completion is not None]
    results = save_completions(
        session,
        run_id,
        [completion for _, completion in done],
        revision_ids=[record.revision_id for record, _ in done],
    )
    return {
        record.place: result
        for (record, _), result in zip(done, results, strict=True)
        if isinstance(result, CompletionConflict)
    }


_OWN_WORDS: Final = ("served_model", "fingerprint", "response_id", "finish_reason")
"""What an endpoint says of itself: text of any origin."""
_AS_IT_IS: Final = (
    "requested_at",
    "latency_s",
    "attempts",
    "endpoint",
    "tokens_in",
    "tokens_out",
    "tokens_reasoning",
    "cost",
    "currency",
    "rule",
    "revision_id",
)
_TEXTS: Final = ("prompt", "raw", "reasoning", "answer")


def _insert(session: Session, run_id: int, records: Sequence[ResponseRecord]) -> None:
    texts = {text for record in records for name in _TEXTS if (text := getattr(record, name))}
    hashes = dict(zip(texts, put_blobs(session, [encode_text(text) for text in texts]), strict=True))
    insert_rows(
        session,
        t.response,
        [
            {
                "run_id": run_id,
                "status": str(record.status),
                **{name: getattr(record.place, name) for name in PLACE},
                **{name: getattr(record, name) for name in _AS_IT_IS},
                **dict(_own_words(record)),
                **{f"{name}_sha256": hashes.get(getattr(record, name)) for name in _TEXTS},
            }
            for record in records
        ],
    )


def _own_words(record: ResponseRecord) -> Iterator[tuple[str, str | None]]:
    for name in _OWN_WORDS:
        said = getattr(record, name)
        yield name, None if said is None else storable_text(said)


def load_answers(session: Session, run_ids: Iterable[int], scenario: str) -> list[AnswerRow]:
    """All answers of some runs in a scenario, by run, problem, question and sample."""
    said, asked = t.response.c, t.question.c
    answered, current = t.revision.alias("answered"), t.revision.alias("current")
    query = (
        select(
            said.run_id,
            *(said[name] for name in PLACE),
            said.answer_sha256,
            asked.expected_sha256,
            said.status,
            is_older_statement(answered, current),
        )
        .select_from(t.response)
        .join(t.problem, t.problem.c.id == said.problem_id)
        .outerjoin(t.question, asked.id == said.question_id)
        .outerjoin(answered, answered.c.id == said.revision_id)
        .outerjoin(current, current.c.id == t.problem.c.current_revision_id)
        .where(is_one_of(said.run_id, run_ids), _is_of(scenario))
        .order_by(said.run_id, *(said[name] for name in PLACE))
    )
    rows = [tuple(row) for row in session.execute(query)]
    blobs = get_blobs(session, {sha256 for row in rows for sha256 in (row[4], row[5]) if sha256 is not None})
    texts: dict[str | None, str] = {sha256: decode_text(data) for sha256, data in blobs.items()}
    return [
        AnswerRow(run, problem, question, sample, texts.get(answer, ""), texts.get(expected), status, is_older)
        for run, problem, question, sample, answer, expected, status, is_older in rows
    ]


def _is_of(scenario: str) -> ColumnElement[bool]:
    if scenario == CODE_GENERATION:
        return t.response.c.question_id == 0
    return t.question.c.scenario == scenario
