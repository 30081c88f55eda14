"""Records refuse what no store can hold, and name the field."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from db.completions import RunRecord
from db.judgements import EnvironmentRecord
from db.questions import QuestionRecord
from db.records import AnswerStatus, CompletionRecord, Place, ProblemKey, ProblemRecord, SuiteRecord, TallyRecord
from db.responses import FailureRecord, ResponseRecord
from tests.db.builders import NOW, key_of


def answer(**fields: Any) -> ResponseRecord:
    return ResponseRecord(Place(1), key_of(), AnswerStatus.OK, **fields)


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: ProblemKey("", "a"), "ProblemKey.platform must not be empty"),
        (lambda: ProblemKey("judge", ""), "ProblemKey.native_id must not be empty"),
        (lambda: ProblemKey("judge", "a\0b"), "ProblemKey.native_id holds a NUL"),
        (lambda: ProblemRecord(key_of(), "\ud800", (), "list"), "ProblemRecord.title holds a lone surrogate"),
        (lambda: ProblemRecord(key_of(), "t", (), "list", flags=(("", "r"),)), "ProblemRecord.flags"),
        (lambda: SuiteRecord((), time_limit_s=0), "SuiteRecord.time_limit_s"),
        (lambda: SuiteRecord((), time_limit_s=float("nan")), "SuiteRecord.time_limit_s"),
        (lambda: SuiteRecord((), memory_limit_bytes=-1), "SuiteRecord.memory_limit_bytes"),
        (lambda: CompletionRecord(key_of(), -1, ""), "CompletionRecord.sample_index"),
        (lambda: CompletionRecord(key_of(), 10**12, ""), "CompletionRecord.sample_index"),
        (lambda: CompletionRecord(key_of(), 0, "", language=""), "CompletionRecord.language"),
        (lambda: TallyRecord(key_of(), "m", 0, 0, "o"), "TallyRecord.n_samples must be at least 1"),
        (lambda: TallyRecord(key_of(), "m", 3, 4, "o"), "TallyRecord.n_correct"),
        (lambda: TallyRecord(key_of(), "m", 3, 1, "o", ""), "TallyRecord.scenario"),
        (lambda: CompletionRecord(key_of(), 0, "", rule="\0"), "CompletionRecord.rule"),
        (lambda: Place(1, -1), "Place.question_id"),
        (lambda: Place(1, 0, -1), "Place.sample_index"),
        (lambda: QuestionRecord(1, ""), "QuestionRecord.scenario"),
        (lambda: QuestionRecord(1, "self_repair", language=""), "QuestionRecord.language"),
        (lambda: FailureRecord(Place(1), datetime(2026, 1, 1), "r", "m"), "FailureRecord.failed_at"),
        (lambda: FailureRecord(Place(1), NOW, "", "m"), "FailureRecord.reason must not be empty"),
        (lambda: FailureRecord(Place(1), NOW, "r", "m", -1), "FailureRecord.attempts"),
        (lambda: answer(requested_at=datetime(2026, 1, 1)), "ResponseRecord.requested_at"),
        (lambda: answer(latency_s=-1.0), "ResponseRecord.latency_s"),
        (lambda: answer(cost=float("nan"), currency="USD"), "ResponseRecord.cost"),
        (lambda: answer(cost=1.0), "ResponseRecord.cost 1.0 goes with a currency"),
        (lambda: answer(currency="USD"), "ResponseRecord.cost None goes with a currency"),
        (lambda: answer(tokens_out=-1), "ResponseRecord.tokens_out"),
        (lambda: answer(attempts=-1), "ResponseRecord.attempts"),
        (lambda: answer(completion=CompletionRecord(key_of(), 1, "")), "ResponseRecord.completion is sample 1"),
        (lambda: answer(completion=CompletionRecord(key_of("p2"), 0, "")), "ResponseRecord.completion is sample 0"),
        (lambda: RunRecord(""), "RunRecord.model"),
        (lambda: EnvironmentRecord("", "docker"), "EnvironmentRecord.digest"),
    ],
)
def test_what_no_store_can_hold_is_refused(build: Callable[[], object], field: str) -> None:
    with pytest.raises(ValueError, match=re.escape(field)):
        build()


@pytest.mark.parametrize("endpoint", ["host/v1?key=secret", "me:secret@host/v1"])
def test_an_address_with_a_key_is_refused_without_repeating_it(endpoint: str) -> None:
    with pytest.raises(ValueError, match=r"ResponseRecord\.endpoint") as caught:
        answer(endpoint=endpoint)
    assert "secret" not in str(caught.value)


def test_two_statuses_have_a_program() -> None:
    assert [status for status in AnswerStatus if status.has_program] == ["ok", "ok_unfenced"]


def test_a_key_reads_as_platform_and_id() -> None:
    assert str(ProblemKey("humaneval", "HumanEval/0")) == "humaneval:HumanEval/0"
