"""Reading answers back from files: what becomes an answer, what a failed request, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from db import tables as t
from db.completions import RunRecord, save_run
from db.engine import Store, open_store
from db.importing import UnknownFormat, UnreadableSource
from db.problems import problem_ids, save_problem
from db.records import IoKind, Place, ProblemKey, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from db.refused import list_refused
from db.responses import count_failures, places_answered
from eval.generate.batches import request_lines
from eval.generate.conditions import Asking
from eval.generate.importing import RepliesReport, import_replies
from eval.generate.prompts import load_prompt
from eval.generate.sampling import Sampling
from tests.eval.stored import completions

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKING = Asking(load_prompt("plain", "code_generation"), "python3")
RECORDS = tuple(
    ProblemRecord(
        ProblemKey("nova", native_id),
        "A problem",
        (),
        "nova",
        statement=f"Statement of {native_id}.",
        suite=SuiteRecord((TestCaseRecord("1", b"1\n", b"2\n", TestOrigin.SAMPLE),), IoKind.STDIN),
    )
    for native_id in ("n1", "n2")
)
PROGRAM = "print(int(input()) + 1)\n"
ANSWER = f"Add one.\n\n```python\n{PROGRAM}```\n"


@dataclass(frozen=True)
class Batch:
    """A store with a run that asked for three samples of two problems, and the ids of its requests."""

    store: Store
    run_id: int
    ids: list[str]
    folder: Path

    def read(self, *rows: object, at: datetime = NOW) -> RepliesReport:
        """Import a file of these rows (texts as they are), written at that time."""
        path = self.folder / "answers.jsonl"
        path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
        os.utime(path, (at.timestamp(), at.timestamp()))
        return import_replies(self.store, path, "openai-batch", now=NOW + timedelta(days=1))

    @property
    def answered(self) -> set[Place]:
        with self.store.read() as session:
            return places_answered(session, self.run_id)

    @property
    def failures(self) -> dict[str, int]:
        with self.store.read() as session:
            return dict(count_failures(session, [self.run_id]).get(self.run_id, {}))


@pytest.fixture
def batch(tmp_path: Path) -> Iterator[Batch]:
    with open_store(f"sqlite:///{tmp_path / 'live.db'}") as store:
        with store.write() as session:
            for record in RECORDS:
                save_problem(session, record, now=NOW)
            run = RunRecord("nova-1", "generate", ASKING.conditions("nova-1", Sampling()))
            run_id = save_run(session, run, now=NOW)
            numbers = sorted(problem_ids(session, (record.key for record in RECORDS)).values())
            places = [Place(number, 0, sample) for number in numbers for sample in range(3)]
            lines = list(request_lines(session, run.digest, places, ASKING, "nova-1", Sampling()))
        yield Batch(store, run_id, [json.loads(line)["custom_id"] for line in lines], tmp_path)


def completion(content: str | None = ANSWER, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "nova-1-2026-01-01",
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 50, "completion_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 5}},
    }


def openai(custom_id: str, body: Any = None, status: int = 200) -> dict[str, Any]:
    """A line of OpenAI's output file, or of its error file where the status says so."""
    response = {"status_code": status, "request_id": "req_1", "body": completion() if body is None else body}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None}


def openai_error(custom_id: str, code: str, message: str) -> dict[str, Any]:
    return {"id": "batch_req_1", "custom_id": custom_id, "response": None, "error": {"code": code, "message": message}}


def vllm_error(custom_id: str, error: object, status: int = 400) -> dict[str, Any]:
    """What vLLM's run-batch writes of a request that failed: a status without a body, and the error beside it."""
    response = {"status_code": status, "request_id": "vllm-batch-1", "body": None}
    return {"id": "vllm-1", "custom_id": custom_id, "response": response, "error": error}


def told(found: RepliesReport) -> tuple[int, int, int]:
    return found.report.created, found.report.unchanged, found.report.n_refused


def test_answers_in_any_order_are_joined_by_their_ids(batch: Batch) -> None:
    rows = [openai(name, completion(f"```python\nprint({number})\n```")) for number, name in enumerate(batch.ids)]
    assert told(batch.read(*reversed(rows))) == (6, 0, 0)
    stored = {(row.key.native_id, row.sample_index): row for row in completions(batch.store)}
    assert [stored[name, sample].code for name in ("n1", "n2") for sample in range(3)] == [
        f"print({number})\n" for number in range(6)
    ]
    assert {(row.model, row.label, row.language, row.finish_reason) for row in stored.values()} == {
        ("nova-1", "generate", "python3", "stop")
    }
    assert told(batch.read(*rows)) == (0, 6, 0)
    with batch.store.read() as session:
        row = session.execute(select(t.response).order_by(t.response.c.id)).first()
        assert row is not None
    assert (row.served_model, row.fingerprint, row.response_id) == ("nova-1-2026-01-01", "fp_1", "chatcmpl-1")
    assert (row.tokens_in, row.tokens_out, row.tokens_reasoning) == (50, 20, 5)
    assert (row.requested_at, row.latency_s, row.endpoint) == (None, None, "")
    assert row.prompt_sha256.startswith(batch.ids[-1].rpartition("-")[2])


def test_answers_without_a_program_are_answers(batch: Batch) -> None:
    found = batch.read(
        openai(batch.ids[0], completion("I do not know.")),
        openai(batch.ids[1], completion("```python\nprint(", "length")),
        openai(batch.ids[2], completion("```cpp\n#include <iostream>\nint main() { std::cout << 1; }\n```")),
        openai(batch.ids[3], completion(None, "stop", refusal="I cannot help with that.")),
        openai(batch.ids[4], {"error": {"code": "content_filter", "message": "content management policy"}}, 400),
    )
    assert (told(found), found.failed) == ((5, 0, 0), {})
    with batch.store.read() as session:
        statuses = session.execute(select(t.completion.c.status).order_by(t.completion.c.id)).scalars().all()
    assert statuses == ["no_code", "truncated", "wrong_language", "refused", "refused"]


@pytest.mark.parametrize(
    ("make", "reason", "message"),
    [
        (lambda name: openai_error(name, "batch_expired", "not in time"), "error_body", "not in time (batch_expired)"),
        (
            lambda name: openai(name, {"error": {"message": "slow down", "type": "requests"}}, 429),
            "rate_limited",
            "the endpoint answered 429: too many requests: slow down",
        ),
        (lambda name: openai(name, {}, 500), "server_error", "the endpoint answered 500"),
        (
            lambda name: vllm_error(name, {"error": {"message": "top_k must be positive", "code": 400}}),
            "bad_request",
            "the endpoint answered 400: top_k must be positive",
        ),
        (
            lambda name: vllm_error(name, "maximum context length is 10 tokens"),
            "too_long",
            "the endpoint answered 400: maximum context length is 10 tokens",
        ),
        (
            lambda name: {
                "custom_id": name,
                "response": {"status_code": 500, "message": "internal"},
                "error": None,
            },
            "server_error",
            "the endpoint answered 500: internal",
        ),
        (lambda name: openai(name, completion("")), "empty_content", "the answer has no text"),
        (
            lambda name: openai(name, completion("$ERROR$ rate limit")),
            "error_text",
            "the answer is an error's text: $ERROR$ rate limit",
        ),
        (lambda name: openai(name, {"choices": []}), "no_choices", "the reply has no choices (its keys: 'choices')"),
        (lambda name: openai(name, [1]), "odd_form", "the reply is no JSON object but a list"),
        (lambda name: openai(name, {"error": "boom"}), "error_body", "boom"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else None,
)
def test_failed_requests_are_no_answers(batch: Batch, make: Any, reason: str, message: str) -> None:
    row = make(batch.ids[0])
    for _ in range(2):  # the same file twice changes nothing
        found = batch.read(row, openai(batch.ids[1]))
        assert found.failed == {reason: 1}
        assert found.report.n_refused == 0
        assert len(batch.answered) == 1
        with batch.store.read() as session:
            (failed,) = session.execute(select(t.failed_request)).all()
        assert (failed.reason, failed.message, failed.attempts) == (reason, message, 1)
        assert failed.failed_at == NOW
    assert found.report.notes == (
        f"requests that failed and are no answers: {reason} 1; `live prompts` writes them again",
    )
    later = batch.read(row, openai(batch.ids[0]), at=NOW + timedelta(hours=1))
    assert (told(later), later.failed, batch.failures) == ((1, 0, 0), {}, {})
    after = batch.read(row, at=NOW + timedelta(hours=2))
    assert (after.failed, batch.failures) == ({}, {})
    assert after.report.notes == ("already answered, so these failures count no more: 1",)


def test_one_request_answered_twice(batch: Batch) -> None:
    found = batch.read(openai(batch.ids[0]), openai(batch.ids[0]), openai(batch.ids[0], completion("No idea.")))
    assert told(found) == (1, 1, 1)
    (refusal,) = found.report.refused
    assert refusal.where == f"line 3, custom_id {batch.ids[0]!r}"
    assert refusal.reason == "answers the same request as line 1, with another text"
    assert [row.code for row in completions(batch.store)] == [PROGRAM]


def test_a_file_that_breaks_off_keeps_its_whole_lines(batch: Batch) -> None:
    cut = json.dumps(openai(batch.ids[1]))[:-40]
    found = batch.read(openai(batch.ids[0]), cut)
    assert told(found) == (1, 0, 1)
    assert found.report.refused[0].where == "line 2"
    packed = batch.folder / "answers.jsonl.gz"
    packed.write_bytes(gzip.compress((json.dumps(openai(batch.ids[2])) + "\n").encode()))
    assert told(import_replies(batch.store, packed, "openai-batch", now=NOW)) == (1, 0, 0)


def test_a_statement_that_has_changed_is_another_question(batch: Batch) -> None:
    with batch.store.write() as session:
        save_problem(session, replace(RECORDS[0], statement="Statement of n1, corrected."), now=NOW)
    found = batch.read(openai(batch.ids[0]), openai(batch.ids[3]))
    assert told(found) == (1, 0, 1)
    (refusal,) = found.report.refused
    assert refusal.reason == "nova:n1 would be asked otherwise now: its statement, samples or limits have changed"
    assert refusal.hint == "ask anew: `live prompts` writes what is missing"


def test_what_answers_something_else_is_refused(batch: Batch) -> None:
    first = batch.ids[0]
    run, number, prompt = first.split("-")[1], first.split("-")[2], first.split("-")[-1]
    found = batch.read(
        openai("request-1"),
        openai(first.replace(run, "0" * 16)),
        openai(f"live-{run}-999-0-0-{prompt}"),
        openai(f"live-{run}-{number}-5-0-{prompt}"),
        {"custom_id": first, "method": "POST", "url": "/v1/chat/completions", "body": {}},
        {"id": "batch_req_1", "response": None, "error": None},
        {"custom_id": first, "response": None, "error": None},
        {"custom_id": first, "response": "x", "error": None},
        "[]\n",
    )
    assert told(found) == (0, 0, 9)
    assert [refusal.reason for refusal in found.report.refused] == [
        "the custom_id 'request-1' is none that `live prompts` has written",
        "it answers a run that the store does not have",
        "the store has no question 0 on a problem 999",
        f"the store has no question 5 on a problem {number}",
        "this is a request, not an answer",
        "the line has no 'custom_id'",
        "there is neither an answer nor an error",
        "'response' is no object",
        "expected an object, found a list",
    ]
    assert all(refusal.hint for refusal in found.report.refused)
    with batch.store.read() as session:
        assert len(list_refused(session)) == 9


def test_a_run_of_another_version_is_refused(batch: Batch) -> None:
    conditions = ASKING.conditions("nova-1", Sampling()) | {"prompt_digest": "0" * 12}
    run = RunRecord("nova-1", "older", conditions)
    with batch.store.write() as session:
        save_run(session, run, now=NOW)
    name = batch.ids[0].replace(batch.ids[0].split("-")[1], run.digest[:16])
    found = batch.read(openai(name), openai(name))
    assert told(found) == (0, 0, 2)
    assert found.report.refused[0].reason.startswith("the run goes by the prompt plain-1 (000000000000)")


def test_halves_of_characters_do_not_stop_an_import(batch: Batch) -> None:
    row = json.dumps(openai(batch.ids[0])).replace("Add one.", "Add one \\ud83d\\ude00 \\ud83d \\u0000.")
    assert told(batch.read(row + "\n")) == (1, 0, 0)
    (stored,) = completions(batch.store)
    assert stored.raw_output == ANSWER.replace("Add one.", "Add one 😀 \ufffd \0.")


def test_what_is_no_such_file(batch: Batch, tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat):
        import_replies(batch.store, tmp_path / "x", "jsonl", now=NOW)
    with pytest.raises(UnreadableSource):
        import_replies(batch.store, tmp_path / "absent", "openai-batch", now=NOW)
