"""What is asked about a problem beyond the problem itself: a program to repair, an output or a result to tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from db import tables as t
from db.blobs import decode_text, encode_text, get_blobs, put_blobs
from db.digests import digest_of
from db.errors import UnknownRow
from db.records import require_text, require_utc
from db.sql import chunks, insert_missing, is_one_of

_AT_ONCE = 500
_asked = t.question.c
_KNOWN = select(_asked.id, _asked.problem_id, _asked.scenario, _asked.digest).where(
    _asked.problem_id.in_(bindparam("problems", expanding=True)),
    _asked.scenario.in_(bindparam("scenarios", expanding=True)),
    _asked.digest.in_(bindparam("digests", expanding=True)),
)
_TEXTS = ("program", "input", "expected", "feedback")
_Key = tuple[int, str, str]
"""What makes a question: problem id, scenario, digest."""


@dataclass(frozen=True)
class QuestionRecord:
    """A question on a problem, in a scenario. None: the scenario has no such part.

    ``language`` is that of ``program``, ``input`` what the program is given, ``feedback`` what became of it before,
    ``expected`` the right answer as text ("" where tests judge the answer).
    """

    problem_id: int
    scenario: str
    expected: str = ""
    language: str | None = None
    program: str | None = None
    input: str | None = None
    feedback: str | None = None

    def __post_init__(self) -> None:
        require_text("QuestionRecord.scenario", self.scenario, allow_empty=False)
        require_text("QuestionRecord.language", self.language, allow_empty=False)

    @property
    def digest(self) -> str:
        """The sha256 of all that is asked, which tells one question on a problem from another."""
        return digest_of(
            {
                "language": self.language,
                "program": self.program,
                "input": self.input,
                "expected": self.expected,
                "feedback": self.feedback,
            }
        )


def save_questions(session: Session, records: Sequence[QuestionRecord], now: datetime) -> list[int]:
    """The ids of these questions in their order, each made if it is not there yet. ``now`` is an aware UTC instant.

    Raises ``UnknownRow`` when a problem is not in the store; nothing is written then.
    """
    require_utc("now", now)
    wanted = {record.problem_id for record in records}
    there = select(t.problem.c.id).where(is_one_of(t.problem.c.id, wanted))
    for missing in sorted(wanted - set(session.execute(there).scalars())):
        raise UnknownRow("problem", missing)
    keys = [(record.problem_id, record.scenario, record.digest) for record in records]
    by_key = dict(zip(keys, records, strict=True))
    known = _known(session, by_key)
    new = {key: record for key, record in by_key.items() if key not in known}
    _insert(session, new, now)
    known |= _known(session, new)
    return [known[key] for key in keys]


def _known(session: Session, keys: Iterable[_Key]) -> dict[_Key, int]:
    found: dict[_Key, int] = {}
    for some in chunks(keys, _AT_ONCE):
        problems, scenarios, digests = (sorted(set(values)) for values in zip(*some, strict=True))
        rows = session.execute(_KNOWN, {"problems": problems, "scenarios": scenarios, "digests": digests})
        found |= {(problem_id, scenario, digest): row_id for row_id, problem_id, scenario, digest in rows}
    return found


def _insert(session: Session, new: Mapping[_Key, QuestionRecord], now: datetime) -> None:
    texts = {text for record in new.values() for name in _TEXTS if (text := getattr(record, name)) is not None}
    hashes: dict[str | None, str | None] = {None: None}
    hashes |= zip(texts, put_blobs(session, [encode_text(text) for text in texts]), strict=True)
    rows = [
        {
            "problem_id": problem_id,
            "scenario": scenario,
            "digest": digest,
            "language": record.language,
            "made_at": now,
            **{f"{name}_sha256": hashes[getattr(record, name)] for name in _TEXTS},
        }
        for (problem_id, scenario, digest), record in new.items()
    ]
    insert_missing(session, t.question, rows)


def load_questions(session: Session, ids: Iterable[int]) -> dict[int, QuestionRecord]:
    """The questions with these ids. ``UnknownRow`` when one is missing."""
    wanted = set(ids)
    rows = session.execute(select(t.question).where(is_one_of(_asked.id, wanted))).mappings().all()
    for missing in sorted(wanted - {row["id"] for row in rows}):
        raise UnknownRow("question", missing)
    blobs = get_blobs(session, {row[f"{name}_sha256"] for row in rows for name in _TEXTS} - {None})
    texts: dict[str | None, str | None] = {sha256: decode_text(data) for sha256, data in blobs.items()}
    texts[None] = None
    return {
        row["id"]: QuestionRecord(
            problem_id=row["problem_id"],
            scenario=row["scenario"],
            expected=texts[row["expected_sha256"]] or "",
            language=row["language"],
            program=texts[row["program_sha256"]],
            input=texts[row["input_sha256"]],
            feedback=texts[row["feedback_sha256"]],
        )
        for row in rows
    }
