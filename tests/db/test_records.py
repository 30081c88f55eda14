"""Records refuse what no store can hold, and name the field."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from db.completions import RunRecord
from db.judgements import EnvironmentRecord
from db.records import CompletionRecord, ProblemKey, ProblemRecord, SuiteRecord, TallyRecord
from tests.db.builders import key_of


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
        (lambda: RunRecord(""), "RunRecord.model"),
        (lambda: EnvironmentRecord("", "docker"), "EnvironmentRecord.digest"),
    ],
)
def test_what_no_store_can_hold_is_refused(build: Callable[[], object], field: str) -> None:
    with pytest.raises(ValueError, match=re.escape(field)):
        build()


def test_a_key_reads_as_platform_and_id() -> None:
    assert str(ProblemKey("humaneval", "HumanEval/0")) == "humaneval:HumanEval/0"
