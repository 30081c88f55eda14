"""What models are shown of problems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from db.asked import AskableProblem, AskedSample, load_askable
from db.engine import Store
from db.errors import UnknownRow
from db.problems import flag_problem, save_problem
from db.records import IoKind, ProblemRecord, SuiteRecord, TestCaseRecord, TestOrigin
from tests.db.builders import LATER, NOW, case, key_of, problem, suite_of

SIGNATURE = {"parameters": [["x", "int"]], "returns": "int"}
SUITE = SuiteRecord(
    tests=(
        case("s2", "7", "8", TestOrigin.SAMPLE),
        case("hidden", "100", "101"),
        case("s1", "é\n", "ü\n", TestOrigin.SAMPLE),
        case("open", "5", None, TestOrigin.SAMPLE),
        TestCaseRecord("binary", b"\xff\xfe", b"1", TestOrigin.SAMPLE),
    ),
    io_kind=IoKind.FUNCTION,
    entry_point="next_one",
    time_limit_s=2.5,
    memory_limit_bytes=2**32,
    signature=SIGNATURE,
)


def test_a_problem_is_shown_with_its_samples_contract_and_limits(store: Store) -> None:
    record = replace(
        problem(suite=SUITE, statement="Add one."),
        url="https://judge.example/p1",
        language="en",
        starter_code="def next_one(x):",
        flags=(("interactive", "says so"), ("image", "a picture")),
    )
    with store.write() as session:
        found = save_problem(session, record, now=NOW).problem_id
        bare = save_problem(session, ProblemRecord(key_of("bare"), "Bare", (), "list"), now=NOW).problem_id
        (first, second) = load_askable(session, [found, bare])
    assert first.revision_id is not None
    assert first == AskableProblem(
        problem_id=found,
        key=key_of("p1"),
        title="Problem p1",
        url="https://judge.example/p1",
        statement="Add one.",
        statement_language="en",
        starter_code="def next_one(x):",
        io_kind=IoKind.FUNCTION,
        entry_point="next_one",
        signature=SIGNATURE,
        time_limit_s=2.5,
        memory_limit_bytes=2**32,
        samples=(AskedSample("7", "8"), AskedSample("é\n", "ü\n")),
        revision_id=first.revision_id,
        flags=(("interactive", "says so"), ("image", "a picture")),
    )
    assert second == AskableProblem(
        bare, key_of("bare"), "Bare", None, "", None, "", None, None, None, None, None, (), None
    )


def test_what_counts_is_what_the_problem_says_now(store: Store) -> None:
    with store.write() as session:
        found = save_problem(session, problem(suite=SUITE), now=NOW).problem_id
        (before,) = load_askable(session, [found])
        edited = problem(
            statement="Multiply.", suite=suite_of(case("1", "2", "4", TestOrigin.SAMPLE), case("2", "", ""))
        )
        save_problem(session, edited, now=LATER)
        flag_problem(session, key_of(), "broken", "no answer", by="me", now=LATER)
        (after,) = load_askable(session, [found])
    assert (after.statement, after.samples, after.io_kind) == ("Multiply.", (AskedSample("2", "4"),), IoKind.STDIN)
    assert after.revision_id != before.revision_id
    assert after.signature is None
    assert (before.flags, after.flags) == ((), (("broken", "no answer"),))


def test_problems_come_in_the_order_in_which_they_are_named(store: Store) -> None:
    with store.write() as session:
        ids = [save_problem(session, problem(f"p{number}"), now=NOW).problem_id for number in range(4)]
    with store.read() as session:
        assert [one.problem_id for one in load_askable(session, [*ids[::-1], ids[2]])] == ids[::-1]
        assert load_askable(session, []) == []
        with pytest.raises(UnknownRow, match="no problem 99"):
            load_askable(session, [ids[0], 99])
