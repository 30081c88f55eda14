"""From the store to made tests and back: what becomes current, what stays as it was, and what is flagged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from db.engine import Store, open_store
from db.flags import clear_flags
from db.made_suites import load_made_details
from db.problems import load_suite, save_problem
from db.records import (
    IoKind,
    MadeStrength,
    ProblemKey,
    ProblemRecord,
    ProgramRole,
    ReferenceRecord,
    SuiteRecord,
    TestCaseRecord,
    TestOrigin,
)
from db.references import save_references
from eval.made_tests.gathering import Gatherer
from eval.made_tests.making import Making, Unchanged
from tests.eval.made_tests.stored_sums import (
    FEW,
    HIDDEN,
    NOW,
    REGISTRY,
    answer,
    built,
    give,
    id_of,
    judge,
    make,
    no_machine,
    refer,
    refused,
    suites,
    summary,
    vote,
)
from tests.eval.made_tests.sums import SAMPLES, STATEMENT, FakeMachine, right, row

SAMPLE_CALL = TestCaseRecord("sample", b"3", b"six", TestOrigin.SAMPLE)


def test_a_reference_makes_tests_that_are_current(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED), ("in 32 bits", ProgramRole.WRONG))
    result = built(make(store))
    assert result.is_current
    assert result.flags == ()
    problem = summary(store)
    assert problem.suite_id == result.suite_id
    assert problem.hidden_origins == (TestOrigin.GENERATED,)
    assert problem.strength == MadeStrength(n_wrong=1, n_wrong_killed=1, n_right=1)
    with store.read() as session:
        kept = load_suite(session, result.suite_id)
        details = load_made_details(session, result.suite_id)
    tests = [test for test in kept.tests if test.origin is TestOrigin.GENERATED]
    assert [(test.input.decode(), test.expected) for test in kept.tests[:2]] == [
        (sample["input"], sample["expected"].encode()) for sample in SAMPLES
    ]
    assert len(tests) == result.made.n_made > 10
    assert all(test.expected == right(test.input) for test in tests)
    assert details["environment"]["executor"] == "fake"
    assert details["not_run"] == []


def test_the_same_again_runs_nothing(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED))
    first = built(make(store))
    again = make(store, machine=no_machine)
    assert again == Unchanged(first.problem_id, "nova:sum", first.suite_id, is_current=True)
    assert built(make(store, again=True)).suite_id == first.suite_id
    assert len(suites(store)) == 1


def test_a_seed_that_was_there_before_counts_again_without_running(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED))
    first, second = built(make(store)), built(make(store, settings=replace(FEW, seed=7)))
    assert first.suite_id != second.suite_id == summary(store).suite_id
    back = make(store, machine=no_machine)
    assert isinstance(back, Unchanged)
    assert (back.is_restored, back.is_current) == (True, True)
    assert summary(store).suite_id == first.suite_id
    assert {one.seed: one.is_current for one in suites(store)} == {0: True, 7: False}


def test_another_statement_makes_other_tests(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED))
    built(make(store))
    give(store, row(statement=STATEMENT.replace("N \\leq 1000", "N \\leq 10")), days=1)
    assert [one.is_older for one in suites(store)] == [True]
    second = built(make(store))
    assert [(one.is_current, one.is_older) for one in suites(store)] == [(False, True), (True, False)]
    assert all(len(test.input.split()) <= 11 for test in second.made.suite.tests)


def test_the_same_text_as_another_revision_is_taken_without_running(store: Store) -> None:
    """Starter code makes a revision; programs that read standard input have no use for it."""
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED))
    first = built(make(store))
    give(store, row(starter_code="# your program"), days=1)
    assert [one.is_older for one in suites(store)] == [True]
    assert make(store, machine=no_machine) == Unchanged(first.problem_id, "nova:sum", first.suite_id, is_current=True)
    assert [(one.is_current, one.is_older) for one in suites(store)] == [(True, False)]


def test_tests_from_elsewhere_stay_current(store: Store) -> None:
    give(store, row(tests=[*SAMPLES, HIDDEN]))
    refer(store, ("right", ProgramRole.ACCEPTED))
    before = summary(store).suite_id
    assert not built(make(store)).is_current
    assert summary(store).suite_id == before
    again = make(store, machine=no_machine)
    assert isinstance(again, Unchanged)
    assert not again.is_current


def test_who_is_known_to_be_wrong_is_known_from_tests_from_elsewhere(store: Store) -> None:
    give(store, row(tests=[*SAMPLES, HIDDEN]))
    refer(store, ("right", ProgramRole.ACCEPTED))
    vote(store, "first hundred", "in 32 bits", "right too")
    judge(store, {"first hundred": "wrong_answer", "in 32 bits": "time_limit", "right too": "accepted"})
    strength = built(make(store)).made.strength
    assert (strength.n_wrong, strength.n_wrong_killed) == (1, 1)
    assert strength.n_slow == 1
    assert (strength.n_right, strength.n_right_killed) == (2, 0)


def test_completions_vote_and_who_did_is_kept(store: Store) -> None:
    give(store, row())
    vote(store, "right", "right too", "right again")
    result = built(make(store))
    voters = {one["model"]: one for one in result.made.details["voters"]}
    assert {name: one["family"] for name, one in voters.items()} == {"oak-1": "oak", "oak-2": "oak", "elm": "elm"}
    assert all(one["is_under_evaluation"] for one in voters.values())


def test_the_order_of_imports_changes_nothing(tmp_path: Path) -> None:
    digests, recipes = set(), set()
    for place, order in enumerate((("oak-1", "oak-2", "elm"), ("elm", "oak-2", "oak-1"))):
        with open_store(f"sqlite:///{tmp_path}/{place}.db") as store:
            give(store, *(row(name) for name in (("other", "sum") if place else ("sum",))))
            for model in order:
                answer(store, model, {"oak-1": "right", "oak-2": "right too", "elm": "right again"}[model])
            result = built(make(store))
            recipes.add(result.made.recipe)
            digests.add(suites(store)[0].digest)
    assert (len(digests), len(recipes)) == (1, 1)


def test_references_that_differ_keep_the_problem_out_of_scores_until_they_agree(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED), ("first hundred", ProgramRole.ACCEPTED))
    ((name, reason),) = built(make(store)).flags
    assert name == "references_disagree"
    assert reason.startswith("the references give 2 different answers: first hundred against right (on ")
    assert summary(store).flags == ((name, reason),)
    with store.write() as session:
        assert clear_flags(session, id_of(store), name, now=NOW) == 1
    make(store, machine=no_machine)
    assert summary(store).flags == ()  # nothing was made, so that the maintainer's word holds
    refer(store, ("right", ProgramRole.ACCEPTED), ("right too", ProgramRole.ACCEPTED))
    assert built(make(store)).flags == ()


def test_flags_go_when_tests_are_made_without_a_finding(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED), ("first hundred", ProgramRole.ACCEPTED))
    assert built(make(store)).flags
    refer(store, ("right", ProgramRole.ACCEPTED))
    assert built(make(store)).flags == ()
    assert summary(store).flags == ()


def test_references_that_differ_everywhere_are_flagged_though_nothing_is_made(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED), ("first five", ProgramRole.ACCEPTED))
    before = summary(store)
    result = refused(make(store))
    assert result.message.startswith("too few tests: ")
    assert [name for name, _ in result.flags] == ["references_disagree"]
    after = summary(store)
    assert after.flags == result.flags
    assert (after.suite_id, after.n_tests, suites(store)) == (before.suite_id, before.n_tests, [])


def test_models_that_differ_on_a_third_of_the_inputs_are_worth_a_word(store: Store) -> None:
    """Four families, two against two, wherever more than a hundred numbers are drawn."""
    give(store, row(statement=STATEMENT.replace("1000", "5000")))
    for model, code in {"oak-1": "right", "elm": "right too", "ash": "first hundred", "yew": "first hundred"}.items():
        answer(store, model, code)
    result = make(store)
    assert not isinstance(result, Unchanged)
    ((name, reason),) = result.flags
    assert name == "answers_differ"
    assert "different answers" in reason


def test_a_right_program_that_fails_is_worth_a_word(store: Store) -> None:
    give(store, row(tests=[*SAMPLES, HIDDEN]))
    refer(store, ("right", ProgramRole.ACCEPTED))
    answer(store, "oak-1", "first hundred")
    judge(store, {"first hundred": "accepted"})
    result = built(make(store))
    ((name, reason),) = result.flags
    assert name == "answers_differ"
    assert "known to be right, fails where right agree" in reason
    assert (result.made.strength.n_right, result.made.strength.n_right_killed) == (2, 1)


@pytest.mark.parametrize("name", ["interactive", "multiple_answers"])
def test_problems_without_one_right_answer_are_refused(store: Store, name: str) -> None:
    give(store, row(flags=[{"name": name, "reason": "any order is accepted"}]))
    refer(store, ("right", ProgramRole.ACCEPTED))
    assert refused(make(store, machine=no_machine)).message == f"it is flagged {name}: any order is accepted"


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        (
            SuiteRecord((SAMPLE_CALL,), IoKind.FUNCTION, "twice", time_limit_s=1.0),
            "sample 1 cannot be judged: ",
        ),
        (
            SuiteRecord((replace(SAMPLE_CALL, expected=b"6"),), IoKind.FUNCTION, "twice", {"by_taste": True}),
            "its samples cannot be judged: a comparison has no field 'by_taste'",
        ),
    ],
)
def test_samples_that_cannot_be_judged(store: Store, suite: SuiteRecord, message: str) -> None:
    statement = "Double it.\n\n**Constraints:**\n\n* `1 <= n <= 9`\n"
    starter = "class Solution:\n    def twice(self, n: int) -> int:\n        "
    record = ProblemRecord(
        ProblemKey("nova", "sum"), "Twice", (), "list", statement=statement, starter_code=starter, suite=suite
    )
    with store.write() as session:
        save_problem(session, record, now=NOW)
    refer(store, ("right", ProgramRole.ACCEPTED))
    assert refused(make(store)).message.startswith(message)


def test_programs_that_cannot_be_run_here_are_left_out_and_named(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED), ("in 32 bits", ProgramRole.WRONG))
    with store.write() as session:
        records = [ReferenceRecord("old", "python3", "right too", ProgramRole.ACCEPTED)]
        save_references(session, id_of(store), records, source="user")
    result = built(make(store, machine=lambda: FakeMachine(absent=["cpp17"])))
    assert [one["name"] for one in result.made.details["voters"]] == ["old"]
    assert result.made.details["not_run"] == [
        {"name": "in 32 bits", "needs": "cpp17"},
        {"name": "right", "needs": "cpp17"},
    ]
    assert result.made.strength.n_wrong == 0


def test_completions_do_not_decide_where_a_reference_cannot_be_run(store: Store) -> None:
    give(store, row())
    refer(store, ("right", ProgramRole.ACCEPTED))
    vote(store, "right", "right too", "right again")
    found = refused(make(store, machine=lambda: FakeMachine(absent=["cpp17"])))
    assert found.message == "reference right cannot be run: the sandbox has no cpp17"
    assert "live doctor" in found.hint


def test_programs_of_one_name_are_told_apart(store: Store) -> None:
    give(store, row())
    for source in ("package", "user"):
        refer(store, ("right", ProgramRole.ACCEPTED), source=source)
    voters = built(make(store)).made.details["voters"]
    assert [(one["name"], one["kind"]) for one in voters] == [("right", "official"), ("right (user)", "given")]


def test_what_was_done_before_an_interruption_stays(store: Store) -> None:
    give(store, row("first"), row("second"))
    refer(store, ("right", ProgramRole.ACCEPTED), native_id="first")
    refer(store, ("right too", ProgramRole.ACCEPTED), native_id="second")
    with store.read() as session:
        gatherer = Gatherer.of(session, REGISTRY)
    machine = FakeMachine(interrupted_by="right too")
    making = Making(store, gatherer, FEW, lambda: machine, lambda: NOW)
    results = making.make([id_of(store, "first"), id_of(store, "second")])
    assert built(next(results)).key == "nova:first"
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert [str(one.key) for one in suites(store)] == ["nova:first"]
