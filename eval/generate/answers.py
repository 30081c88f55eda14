"""An endpoint's reply as the store keeps it, or the failed request that it is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from db.records import CompletionRecord, Place, storable_text
from db.responses import FailureRecord, ResponseRecord
from eval.generate.conditions import Asking
from eval.generate.extraction import EmptyContent, Extraction, extract_program
from eval.generate.prompts import Message, prompt_text
from eval.generate.questions import Question
from eval.generate.replies import Reply


@dataclass(frozen=True)
class Exchange:
    """What is known of how an answer came, beside the reply: None and "" where nobody saw it (a batch file).

    ``received_at`` is the UTC instant of the answer, ``cost`` in ``currency`` by the user's prices.
    """

    received_at: datetime
    requested_at: datetime | None = None
    latency_s: float | None = None
    attempts: int = 1
    endpoint: str = ""
    cost: float | None = None
    currency: str | None = None


def record_program(
    asking: Asking,
    question: Question,
    sample_index: int,
    messages: Sequence[Message],
    reply: Reply,
    exchange: Exchange,
) -> ResponseRecord | FailureRecord:
    """A reply to a question that asks for a program: an answer with its completion, whether there is a program in it
    or not; a failed request where the reply has no answer at all.

    ``ValueError`` for an answer that the store cannot hold.
    """
    problem = question.problem
    found = extract_program(
        reply,
        language=asking.language,
        entry_point=problem.entry_point,
        starter_code=problem.starter_code,
        reasoning_is_answer=asking.reasoning_is_answer,
    )
    kept = record_found(question, sample_index, messages, reply, exchange, found)
    if isinstance(kept, FailureRecord) or isinstance(found, EmptyContent):
        return kept
    completion = CompletionRecord(
        problem.key,
        sample_index,
        found.code,
        language=asking.language,
        finish_reason=kept.finish_reason,
        raw_output=reply.content,
        status=found.status,
        rule=found.rule,
    )
    return replace(kept, completion=completion)


def record_found(
    question: Question,
    sample_index: int,
    messages: Sequence[Message],
    reply: Reply,
    exchange: Exchange,
    found: Extraction | EmptyContent,
) -> ResponseRecord | FailureRecord:
    """A reply with what was found in it, as an answer without a completion or as the failed request that it is.

    ``ValueError`` for an answer that the store cannot hold.
    """
    problem = question.problem
    place = Place(problem.problem_id, question.question_id, sample_index)
    if isinstance(found, EmptyContent):
        return FailureRecord(
            place,
            exchange.received_at,
            found.kind,
            found.message,
            exchange.attempts,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=exchange.cost,
            currency=exchange.currency,
        )
    return ResponseRecord(
        place,
        problem.key,
        found.status,
        rule=found.rule,
        prompt=prompt_text(messages),
        raw=reply.content,
        reasoning=reply.reasoning,
        answer=found.code,
        revision_id=problem.revision_id,
        requested_at=exchange.requested_at,
        latency_s=exchange.latency_s,
        attempts=exchange.attempts,
        endpoint=exchange.endpoint,
        served_model=reply.served_model,
        fingerprint=reply.fingerprint,
        response_id=reply.response_id,
        finish_reason=None if reply.finish_reason is None else storable_text(reply.finish_reason),
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        tokens_reasoning=reply.tokens_reasoning,
        cost=exchange.cost,
        currency=exchange.currency,
    )
