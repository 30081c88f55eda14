"""References: kept with their problem by role; solutions are judged once for each suite and environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from db.completions import RunRecord, save_completions, save_run
from db.engine import Store
from db.judgements import EnvironmentRecord, save_environment
from db.problems import save_problem
from db.records import ProblemRecord, ProgramRole, ReferenceRecord, SaveOutcome
from db.references import (
    FailedReference,
    PendingReference,
    ReferenceVerdictRecord,
    StoredReference,
    failed_references,
    last_environment,
    list_references,
    pending_references,
    save_reference_verdicts,
    save_references,
)
from tests.db.builders import LATER, NOW, case, completion, problem, row_counts, suite_of

FIRST = ReferenceRecord("first.py", "python3", "print(5)  # \ud800\n")
SECOND = ReferenceRecord("second.cpp", "cpp20", "int main() {}\n")


def with_references(*references: ReferenceRecord, source: str = "list") -> ProblemRecord:
    return replace(problem(), references=references, source=source)


@pytest.fixture
def environment(store: Store) -> int:
    """An environment; the problem p1 has two references and an answer of a model."""
    with store.write() as session:
        save_problem(session, with_references(FIRST, SECOND), now=NOW)
        run = save_run(session, RunRecord("model"), now=NOW)
        save_completions(session, run, [completion()])
        return save_environment(session, EnvironmentRecord("sha", "docker", {}), now=NOW)


def pending(store: Store, environment: int) -> dict[str, PendingReference]:
    with store.read() as session:
        return {one.name: one for one in pending_references(session, environment)}


def judge(store: Store, environment: int, **verdicts: str) -> None:
    """Give the pending references, by name without its ending, these verdicts."""
    waiting = pending(store, environment)
    with store.write() as session:
        records = [
            ReferenceVerdictRecord(one.reference_id, one.suite_id, verdicts[name.partition(".")[0]], "test 1", NOW)
            for name, one in waiting.items()
            if name.partition(".")[0] in verdicts
        ]
        save_reference_verdicts(session, environment, records)


def failed(store: Store, environment: int) -> list[FailedReference]:
    with store.read() as session:
        return failed_references(session, environment, accepted="accepted")


def test_references_come_back_as_they_were(store: Store, environment: int) -> None:
    waiting = pending(store, environment)
    shown = [(one.name, one.language, one.code) for one in waiting.values()]
    assert shown == [(one.name, one.language, one.code) for one in (FIRST, SECOND)]
    with store.write() as session:
        before = row_counts(session)
        assert save_problem(session, with_references(FIRST, SECOND), now=LATER).outcome is SaveOutcome.UNCHANGED
        # A record without references says nothing of them.
        assert save_problem(session, problem(), now=LATER).outcome is SaveOutcome.UNCHANGED
        assert row_counts(session) == before


def test_only_problems_that_were_answered_wait(store: Store, environment: int) -> None:
    with store.write() as session:
        answered = save_problem(session, problem(), now=NOW).problem_id
        save_problem(session, replace(problem("p2"), references=(FIRST,)), now=NOW)
        other_run = save_run(session, RunRecord("another"), now=NOW)
    with store.read() as session:
        assert [one.problem_id for one in pending_references(session, environment)] == [answered, answered]
        assert pending_references(session, environment, run_ids=[other_run]) == []


def test_a_verdict_stands_unless_it_is_an_internal_error(store: Store, environment: int) -> None:
    judge(store, environment, first="accepted", second="internal_error")
    assert list(pending(store, environment)) == [SECOND.name]
    assert failed(store, environment) == []
    judge(store, environment, second="time_limit")
    assert pending(store, environment) == {}
    (one,) = failed(store, environment)
    assert (one.name, one.verdict, one.detail) == (SECOND.name, "time_limit", "test 1")


def test_a_changed_reference_is_judged_again(store: Store, environment: int) -> None:
    judge(store, environment, first="wrong_answer", second="accepted")
    with store.write() as session:
        changed = with_references(replace(FIRST, code="print(6)\n"), SECOND)
        assert save_problem(session, changed, now=LATER).outcome is SaveOutcome.UPDATED
    assert failed(store, environment) == []
    assert [one.code for one in pending(store, environment).values()] == ["print(6)\n"]


def test_a_reference_that_its_source_drops_goes_with_its_verdict(store: Store, environment: int) -> None:
    judge(store, environment, first="accepted", second="wrong_answer")
    with store.write() as session:
        save_problem(session, with_references(FIRST), now=LATER)
        assert (row_counts(session)["reference"], row_counts(session)["reference_verdict"]) == (1, 1)
    assert failed(store, environment) == []
    assert pending(store, environment) == {}


def test_a_source_that_has_none_any_more_loses_all_of_its_own(store: Store, environment: int) -> None:
    judge(store, environment, second="wrong_answer")
    with store.write() as session:
        save_problem(session, with_references(replace(FIRST, code="print(7)\n"), source="archive"), now=LATER)
        assert save_problem(session, with_references(), now=LATER).outcome is SaveOutcome.UPDATED
        assert save_problem(session, with_references(), now=LATER).outcome is SaveOutcome.UNCHANGED
    assert failed(store, environment) == []
    assert [one.code for one in pending(store, environment).values()] == ["print(7)\n"]


def test_failures_are_those_of_what_some_runs_answer(store: Store, environment: int) -> None:
    judge(store, environment, second="wrong_answer")
    with store.write() as session:
        other_run = save_run(session, RunRecord("another"), now=NOW)
        assert failed_references(session, environment, accepted="accepted", run_ids=[other_run]) == []
        save_completions(session, other_run, [completion()])
        (one,) = failed_references(session, environment, accepted="accepted", run_ids=[other_run])
    assert one.reason == "its solution second.cpp gets wrong_answer (test 1)"


def test_the_environment_of_the_last_verdict(store: Store, environment: int) -> None:
    with store.write() as session:
        (first, *_) = pending_references(session, environment)
        assert last_environment(session, first.problem_id) is None
        other = save_environment(session, EnvironmentRecord("other", "docker", {}), now=NOW)
        for place, when in ((other, NOW), (environment, LATER)):
            verdict = ReferenceVerdictRecord(first.reference_id, first.suite_id, "accepted", "", when)
            save_reference_verdicts(session, place, [verdict])
        assert last_environment(session, first.problem_id) == environment
        assert last_environment(session, first.problem_id + 1) is None


def test_each_source_has_references_of_its_own(store: Store, environment: int) -> None:
    with store.write() as session:
        save_problem(session, with_references(replace(FIRST, code="print(7)\n"), source="archive"), now=LATER)
        assert row_counts(session)["reference"] == 3


def test_another_suite_asks_for_other_verdicts(store: Store, environment: int) -> None:
    judge(store, environment, first="wrong_answer", second="accepted")
    with store.write() as session:
        save_problem(session, problem(suite=suite_of(case("1", "2 3\n", "6\n"))), now=LATER)
    assert failed(store, environment) == []
    assert list(pending(store, environment)) == [FIRST.name, SECOND.name]


def test_two_references_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="has a name twice"):
        with_references(FIRST, FIRST)


def roles_of(store: Store, problem_id: int) -> dict[str, ProgramRole]:
    with store.read() as session:
        return {one.name: one.role for one in list_references(session, problem_id)}


def test_programs_of_all_roles_are_listed_and_solutions_alone_are_judged(store: Store, environment: int) -> None:
    others = [ReferenceRecord(f"{role}.py", "python3", f"# {role}\n", role) for role in ProgramRole]
    with store.write() as session:
        problem_id = save_problem(session, problem(), now=NOW).problem_id
        assert save_references(session, problem_id, others, source="user")
        assert not save_references(session, problem_id, others, source="user")
        assert list_references(session, problem_id) == [
            StoredReference(FIRST.name, FIRST.language, FIRST.code, ProgramRole.ACCEPTED, "list"),
            StoredReference(SECOND.name, SECOND.language, SECOND.code, ProgramRole.ACCEPTED, "list"),
            *(
                StoredReference(f"{role}.py", "python3", f"# {role}\n", role, "user")
                for role in sorted(ProgramRole, key=str)
            ),
        ]
        assert list_references(session, problem_id + 1) == []
    assert set(pending(store, environment)) == {FIRST.name, SECOND.name, "accepted.py"}


def test_a_changed_role_takes_the_verdicts_away(store: Store, environment: int) -> None:
    judge(store, environment, first="wrong_answer", second="accepted")
    with store.write() as session:
        problem_id = save_problem(session, problem(), now=NOW).problem_id
        assert last_environment(session, problem_id) == environment
        wrong = replace(FIRST, role=ProgramRole.WRONG)
        slow = replace(SECOND, role=ProgramRole.TOO_SLOW)
        assert save_problem(session, with_references(wrong, slow), now=LATER).outcome is SaveOutcome.UPDATED
        assert row_counts(session)["reference_verdict"] == 0
        assert last_environment(session, problem_id) is None
        assert save_problem(session, with_references(wrong, slow), now=LATER).outcome is SaveOutcome.UNCHANGED
    assert (failed(store, environment), pending(store, environment)) == ([], {})
    assert roles_of(store, problem_id) == {FIRST.name: ProgramRole.WRONG, SECOND.name: ProgramRole.TOO_SLOW}
    with store.write() as session:
        save_problem(session, with_references(FIRST, slow), now=LATER)
    assert list(pending(store, environment)) == [FIRST.name]


def test_a_role_that_this_version_does_not_know_is_never_taken_for_accepted(store: Store, environment: int) -> None:
    judge(store, environment, first="wrong_answer", second="wrong_answer")
    with store.write() as session:
        session.execute(text("UPDATE reference SET role = 'oracle' WHERE name = :name"), {"name": FIRST.name})
        problem_id = save_problem(session, problem(), now=NOW).problem_id
        assert [one.name for one in failed_references(session, environment, accepted="accepted")] == [SECOND.name]
        other = save_environment(session, EnvironmentRecord("other", "docker", {}), now=NOW)
    assert list(pending(store, other)) == [SECOND.name]
    assert roles_of(store, problem_id) == {SECOND.name: ProgramRole.ACCEPTED}
    # Its source says what it is in words that are known.
    with store.write() as session:
        assert save_problem(session, with_references(FIRST, SECOND), now=LATER).outcome is SaveOutcome.UPDATED
    assert list(pending(store, environment)) == [FIRST.name]


def test_a_source_names_its_programs_apart(store: Store, environment: int) -> None:
    with store.write() as session:
        problem_id = save_problem(session, problem(), now=NOW).problem_id
        before = row_counts(session)
        with pytest.raises(ValueError, match="programs of user have a name twice"):
            save_references(session, problem_id, [FIRST, replace(SECOND, name=FIRST.name)], source="user")
        assert row_counts(session) == before


@pytest.mark.parametrize("broken", [{"name": ""}, {"name": "a\0"}, {"language": ""}])
def test_references_without_name_or_language_are_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="ReferenceRecord"):
        replace(FIRST, **broken)
