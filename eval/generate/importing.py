"""Reading back the answers to requests that went out as a file (`eval.generate.batches`), joined by their ids alone.

An answer counts only if it answers what would be asked today: prompt, statement, samples and limits are those that the
id was made of. A request that failed is kept as such and asked again; it is no answer.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from db.batches import Progress, Result, Tally, save_in_batches
from db.completions import RunRecord, RunSummary, list_runs
from db.errors import CompletionConflict, UnknownRow
from db.importing import ImportReport, Refusal, UnknownFormat
from db.places import answered_among
from db.records import Place, SaveOutcome, require_utc
from db.refused import keep_refused
from db.responses import FailureRecord, ResponseRecord, save_failures, save_responses
from eval.formats import ReplyRow, reply_formats
from eval.generate.answers import Exchange
from eval.generate.batches import CustomId, ForeignId, is_run, matches, read_custom_id
from eval.generate.conditions import Asking, OtherVersion, read_asking
from eval.generate.failures import FailureKind
from eval.generate.places import Target, questions_at
from eval.generate.prompts import UnknownPrompt
from eval.generate.questions import Question
from eval.generate.redaction import Secrets, whole_characters
from eval.generate.replies import BadReply, Reply, read_reply
from eval.generate.server_errors import Asked, ServerError, error_in, is_refusal, refused, trouble_of
from eval.scenarios import task_form

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.engine import Store

_ASK_ANEW: Final = "ask anew: `live prompts` writes what is missing"


@dataclass(frozen=True)
class RepliesReport:
    """What an import of answers did. ``failed`` counts the requests without an answer by their reason."""

    report: ImportReport
    failed: dict[str, int]


def import_replies(
    store: Store, path: Path, format_name: str, *, now: datetime, progress: Progress | None = None
) -> RepliesReport:
    """Import the answers of a file into the runs that their ids name. The same file twice changes nothing.

    Raises ``ImportFailure`` and ``StoreError`` as `eval.importing.import_solutions` does. Refused row by row: ids that
    are not ours, runs that the store does not have, answers to what is asked otherwise by now, a second and different
    answer to one request. A failed request counts as failed when the file was written, which is all that is known.
    """
    require_utc("now", now)
    formats = reply_formats()
    if format_name not in formats:
        raise UnknownFormat(f"unknown format of answers {format_name!r}", f"there are: {', '.join(formats)}")
    read = formats[format_name].read_replies
    assert read is not None  # reply_formats has no others
    importer = _ReplyImporter(min(now, _written_at(path, now)))
    tally = Tally()
    save_in_batches(store, read(path), importer.save, tally, size=_size, progress=progress)
    report = keep_refused(store, path, tally.report(importer.notes()), now=now)
    return RepliesReport(report, dict(importer.failed))


def _written_at(path: Path, now: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return now


def _size(row: ReplyRow) -> int:
    return len(str(row.document))


class _NotTaken(Exception):
    """Why a row is refused, and what to do."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True)
class _Run:
    """A run that answers belong to, and how it asks."""

    summary: RunSummary
    asking: Asking

    @property
    def scenario(self) -> str:
        """What it asks for."""
        return self.asking.prompt.scenario

    @property
    def asked(self) -> Asked:
        """For messages about failed requests; the key is known to nobody here."""
        name = str(self.summary.conditions.get("asked_as", self.summary.model))
        return Asked("the endpoint", name, "its variable", has_key=True)


class _ReplyImporter:
    """Saves batches of answers. Problems and runs are looked up anew for each batch: it is one transaction."""

    def __init__(self, received_at: datetime) -> None:
        self.failed: Counter[str] = Counter()
        self._received_at = received_at
        self._runs: dict[str, _Run | _NotTaken] = {}
        self._seen: dict[str, tuple[str, bytes]] = {}
        self._n_standing = 0

    def notes(self) -> list[str]:
        """What is known only when all rows were seen."""
        notes = []
        if self.failed:
            reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(self.failed.items()))
            notes.append(f"requests that failed and are no answers: {reasons}; `live prompts` writes them again")
        if self._n_standing:
            notes.append(f"already answered, so these failures count no more: {self._n_standing}")
        return notes

    def save(self, session: Session, rows: Sequence[ReplyRow]) -> list[Result]:
        """What became of each row, in their order; None for a request that failed."""
        results: list[Result] = [None] * len(rows)
        ids: dict[int, CustomId] = {}
        for place, row in enumerate(rows):
            try:
                ids[place] = self._identify(session, row)
            except _NotTaken as error:
                results[place] = _refusal(row, error)
        questions = self._questions(session, ids.values())
        by_run: defaultdict[str, list[tuple[int, ResponseRecord | FailureRecord]]] = defaultdict(list)
        for place, name in ids.items():
            try:
                by_run[name.run].append((place, self._record(rows[place], name, questions)))
            except _NotTaken as error:
                results[place] = _refusal(rows[place], error)
        for run, records in by_run.items():
            for place, result in self._save_run(session, self._run(run), records):
                results[place] = self._told(rows[place], self._run(run), result)
        return results

    def _questions(self, session: Session, names: Iterable[CustomId]) -> dict[tuple[str, Target], Question]:
        """What is asked by these ids, by scenario, problem and question, as far as the store has it."""
        wanted: defaultdict[str, set[Place]] = defaultdict(set)
        for name in names:
            wanted[self._run(name.run).scenario].add(name.place)
        return {
            (scenario, target): question
            for scenario, places in wanted.items()
            for target, question in _load(session, scenario, places).items()
        }

    def _run(self, name: str) -> _Run:
        run = self._runs[name]
        if isinstance(run, _NotTaken):
            raise _NotTaken(run.reason, run.hint)
        return run

    def _identify(self, session: Session, row: ReplyRow) -> CustomId:
        """What the id of a row says, if its run is known and can be gone on with."""
        try:
            name = read_custom_id(row.custom_id)
        except ForeignId as error:
            raise _NotTaken(error.message, error.hint) from None
        if name.run not in self._runs:
            self._runs[name.run] = _find_run(session, name.run)
        self._run(name.run)
        return name

    def _record(
        self, row: ReplyRow, name: CustomId, questions: Mapping[tuple[str, Target], Question]
    ) -> ResponseRecord | FailureRecord:
        run, place = self._run(name.run), name.place
        question = questions.get((run.scenario, (place.problem_id, place.question_id)))
        if question is None:
            reason = f"the store has no question {place.question_id} on a problem {place.problem_id}"
            raise _NotTaken(reason, "import into the store that the requests came from")
        try:
            messages = run.asking.messages(question)
        except UnknownPrompt as error:
            raise _NotTaken(error.message, error.hint) from None
        if not matches(name, messages):
            reason = (
                f"{question.problem.key} would be asked otherwise now: its statement, samples or limits have changed"
            )
            raise _NotTaken(reason, _ASK_ANEW)
        reply = self._read(row, run, place)
        if isinstance(reply, FailureRecord):
            return reply
        exchange = Exchange(self._received_at)
        try:
            recorder = task_form(run.scenario).record
            record = recorder(run.asking, question, place.sample_index, messages, reply, exchange)
        except ValueError as error:
            raise _NotTaken(str(error), "mend the row") from None
        if isinstance(record, ResponseRecord):
            self._refuse_other_answer(row, reply)
        return record

    def _read(self, row: ReplyRow, run: _Run, place: Place) -> Reply | FailureRecord:
        error = error_in(row.document)
        if error is not None and is_refusal(error, row.status):
            return refused(error)
        if row.status >= 400 or error is not None:
            kind, message = _why(row.status, error, run.asked)
            return FailureRecord(place, self._received_at, kind, message)
        try:
            return _whole(read_reply(row.document))
        except BadReply as bad:
            return FailureRecord(place, self._received_at, bad.kind, Secrets(()).line(bad.message))

    def _refuse_other_answer(self, row: ReplyRow, reply: Reply) -> None:
        """Refuse an answer that contradicts one that stands earlier in the file."""
        digest = hashlib.sha256(json.dumps([reply.content, reply.reasoning, reply.refusal]).encode()).digest()
        where, first = self._seen.setdefault(row.custom_id, (row.where, digest))
        if first != digest:
            reason = f"answers the same request as {where.partition(',')[0]}, with another text"
            raise _NotTaken(reason, "the first one counts; remove the one that does not hold")

    def _save_run(
        self, session: Session, run: _Run, records: Iterable[tuple[int, ResponseRecord | FailureRecord]]
    ) -> list[tuple[int, SaveOutcome | CompletionConflict]]:
        run_id = run.summary.run_id
        answers = [(place, record) for place, record in records if isinstance(record, ResponseRecord)]
        failures = [record for _, record in records if isinstance(record, FailureRecord)]
        saved = save_responses(session, run_id, [record for _, record in answers])
        if failures:
            save_failures(session, run_id, failures)
            answered = answered_among(session, run_id, [record.place for record in failures])
            self.failed.update(record.reason for record in failures if record.place not in answered)
            self._n_standing += sum(record.place in answered for record in failures)
        return [(place, result) for (place, _), result in zip(answers, saved, strict=True)]

    def _told(self, row: ReplyRow, run: _Run, result: SaveOutcome | CompletionConflict) -> Result:
        if isinstance(result, SaveOutcome):
            return result
        held = f"run {run.summary.label!r} of {run.summary.model} already holds"
        reason = f"{held} sample {result.sample_index} of {result.key} with other {result.field}"
        return Refusal(row.where, reason, "ask under another --run label to keep both", row.raw)


def _refusal(row: ReplyRow, error: _NotTaken) -> Refusal:
    return Refusal(row.where, error.reason, error.hint, row.raw)


def _find_run(session: Session, beginning: str) -> _Run | _NotTaken:
    for summary in list_runs(session):
        if is_run(RunRecord(summary.model, summary.label, summary.conditions).digest, beginning):
            break
    else:
        return _NotTaken("it answers a run that the store does not have", "use the store of its `live prompts`")
    try:
        asking = read_asking(summary.conditions)
    except OtherVersion as error:
        return _NotTaken(error.message, error.hint)
    return _Run(summary, asking)


def _load(session: Session, scenario: str, places: set[Place]) -> dict[Target, Question]:
    """What is asked at these places, as far as the store has it."""
    try:
        return questions_at(session, scenario, sorted(places, key=lambda place: (place.problem_id, place.question_id)))
    except UnknownRow:
        found: dict[Target, Question] = {}
        if len(places) > 1:
            for place in places:
                found |= _load(session, scenario, {place})
        return found


def _why(status: int, error: ServerError | None, asked: Asked) -> tuple[str, str]:
    """Why a request failed, in one word and in one line. Without a status the error speaks for itself."""
    if status >= 400:
        trouble = trouble_of(status, error, asked, Secrets(()))
        return trouble.kind, trouble.message
    said = error or ServerError("no answer")
    code = f" ({said.code})" if said.code else ""
    return FailureKind.ERROR_BODY, Secrets(()).line(f"{said.message}{code}")


def _whole(reply: Reply) -> Reply:
    """The reply with whole characters, as an endpoint that is asked itself gives it."""
    return replace(
        reply,
        content=whole_characters(reply.content),
        reasoning=whole_characters(reply.reasoning),
        refusal=whole_characters(reply.refusal),
    )
