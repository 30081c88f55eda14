"""Output files and error files of OpenAI's batch API, and what vLLM's ``run-batch`` writes: answers to the requests of
``live prompts``, one JSON object a line, in any order.

A line has a ``custom_id`` and either a ``response`` (``status_code`` and ``body``) or an ``error``. vLLM gives both
for a request that failed, other services the ``message`` of an error beside its status.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from db.importing import Note, Refusal
from db.json_lines import JsonRow, named, read_json_lines
from eval.formats import ReplyRow
from eval.formats._fields import BadRow, Row, as_row, required_count
from eval.formats._reading import MAX_ROW

NAME = "openai-batch"
DESCRIPTION = (
    "answers to the requests of `live prompts`: output and error files of OpenAI's batch API, vLLM's run-batch"
)

_ERROR_FROM = 400


def read_replies(path: Path) -> Iterator[ReplyRow | Refusal | Note]:
    """One row for each line, answers and failed requests alike."""
    for item in read_json_lines(path, MAX_ROW):
        if isinstance(item, Refusal):
            yield item
            continue
        try:
            yield _reply_row(item, as_row(item.value))
        except BadRow as error:
            yield Refusal(named(item.where, item.value, "custom_id"), error.reason, error.hint, item.raw)


def _reply_row(item: JsonRow, row: Row) -> ReplyRow:
    custom_id = row.get("custom_id")
    if not isinstance(custom_id, str):
        raise BadRow("the line has no 'custom_id'", "give the file that the endpoint answered with, as it came")
    if "method" in row and "url" in row:
        raise BadRow("this is a request, not an answer", "give the file that the endpoint answered with")
    response, error = row.get("response"), row.get("error")
    where = named(item.where, row, "custom_id")
    if response is not None and not isinstance(response, dict):
        raise BadRow("'response' is no object", "give the file as it came")
    said = cast(Row, response or {})
    status = required_count(said, "status_code") if said.get("status_code") is not None else 200
    body = said.get("body")
    if status < _ERROR_FROM and not error:
        if body is None:
            raise BadRow("there is neither an answer nor an error", "give the file as it came")
        return ReplyRow(where, custom_id, status, body, item.raw)
    words = error or said.get("message")
    failed = body if isinstance(body, dict) and body.get("error") else words if _wraps(words) else {"error": words}
    return ReplyRow(where, custom_id, status, failed, item.raw)


def _wraps(error: object) -> bool:
    """Whether an error is a whole document with an ``error`` in it, as vLLM writes it."""
    return isinstance(error, dict) and isinstance(error.get("error"), dict)
