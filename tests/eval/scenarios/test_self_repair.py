"""Self-repair: which samples are asked, with what, and what a run scores before and after."""

from __future__ import annotations

import json
from typing import Any

import pytest

from db.completions import RunRecord, save_completions
from db.questions import QuestionRecord
from db.records import CompletionRecord, ProblemKey
from eval.evaluation import Outcome, Repairs, evaluate
from eval.generate.choosing import Choice
from eval.generate.places import places_of, questions_at, unanswered
from eval.outcomes import load_judged_runs, load_problem_facts
from eval.report import Row
from eval.scenarios import task_form
from eval.scenarios.self_repair import BaseUnknown
from tests.eval.facts import NOW
from tests.eval.scenarios.stores import REGISTRY, WINDOW, Nova, asking

NAME = "self_repair"
RIGHT, WRONG, SLOW, BROKEN = "print(sum(...))", "print(0)", "while True: pass", "print("


def failing(verdict: str, name: str, detail: str = "") -> tuple[str, list[dict[str, Any]]]:
    passed = {"name": "s1", "verdict": "accepted", "detail": ""}
    return verdict, [passed, {"name": name, "verdict": verdict, "detail": detail}]


VERDICTS = {
    WRONG: failing("wrong_answer", "2", "token 1: expected '30', got '0'"),
    SLOW: failing("time_limit", "4"),
    BROKEN: ("compile_error", []),
}


def base(nova: Nova, programs: dict[str, list[str]] | None = None, label: str = "generate") -> str:
    """A judged run of nova-1; how the condition names it."""
    nova.add_run("nova-1", programs or {"sum": [RIGHT, WRONG, WRONG, SLOW], "called": [RIGHT] * 4}, label)
    nova.judge(VERDICTS)
    return digits(nova, label)


def digits(nova: Nova, label: str | None = None) -> str:
    repairs = task_form(NAME).repairs
    assert repairs is not None
    with nova.store.read() as session:
        return repairs(session, "nova-1", label)


def choose(nova: Nova, repairs: str) -> Choice:
    return nova.choose(NAME, repairs=repairs)


def questions(choice: Choice) -> list[tuple[QuestionRecord, tuple[int, ...] | None]]:
    return [(one.record, one.samples) for one in choice.asked if one.record is not None]


def test_each_failing_program_is_asked_with_its_first_failing_test(nova: Nova) -> None:
    choice = choose(nova, base(nova))
    (wrong, of_wrong), (slow, of_slow) = questions(choice)
    assert (wrong.program, wrong.language, of_wrong) == (WRONG, "python3", (1, 2))  # the same program twice
    assert (slow.program, of_slow) == (SLOW, (3,))
    assert json.loads(wrong.feedback or "") == {
        "verdict": "wrong_answer",
        "input": "10 20\n",
        "expected": "30\n",
        "error": "token 1: expected '30', got '0'",
    }
    assert json.loads(slow.feedback or "")["error"] is None
    assert choice.left_out == {"all samples pass": 1, "no statement": 1, "not in the run that is repaired": 5}
    assert choose(nova, digits(nova)) == choice


def test_a_long_test_is_shown_in_part_and_a_program_that_does_not_compile_without_one(nova: Nova) -> None:
    tests = {"long": [WRONG], "sum": [BROKEN]}
    nova.add_run("nova-1", tests)
    nova.judge(VERDICTS | {WRONG: failing("wrong_answer", "1")})
    (long, _), (broken, _) = questions(choose(nova, digits(nova)))
    shown = json.loads(long.feedback or "")
    assert shown["expected"] == "3" * 201  # short enough
    assert json.loads(broken.feedback or "") == {
        "verdict": "compile_error",
        "input": "",
        "expected": None,
        "error": None,
    }


def test_what_is_not_judged_is_not_asked(nova: Nova) -> None:
    nova.add_run("nova-1", {"sum": [WRONG, RIGHT], "called": [RIGHT]})
    choice = choose(nova, digits(nova))
    assert choice.asked == ()
    assert choice.left_out["not judged in the run that is repaired"] == 2


def test_places_are_those_of_the_samples_and_nothing_is_repaired_twice(nova: Nova) -> None:
    choice = choose(nova, base(nova))
    with nova.store.write() as session:
        places = places_of(session, choice.asked, 1, now=NOW)
        asked = questions_at(session, NAME, places)
    assert [place.sample_index for place in places] == [1, 2, 3]
    assert len({place.question_id for place in places}) == 2
    text = asking(NAME).messages(asked[places[0].problem_id, places[0].question_id])[0].content
    assert WRONG in text
    assert "10 20" in text
    assert "got '0'" in text
    # Judged anew, a program may be shown with another test: the sample was repaired all the same.
    moved = {type(place)(place.problem_id, place.question_id + 100, place.sample_index) for place in places[:2]}
    assert unanswered(places, moved, NAME) == places[2:]


def repair(
    nova: Nova, repairs: str, answers: dict[tuple[str, int], str], verdicts: dict[str, Any] | None = None
) -> int:
    run_id = nova.add_run("nova-1", {}, conditions={"scenario": NAME, "repairs": repairs})
    with nova.store.write() as session:
        records = [CompletionRecord(ProblemKey("nova", name), index, code) for (name, index), code in answers.items()]
        save_completions(session, run_id, records)
    return nova.judge(VERDICTS if verdicts is None else verdicts)


def outcomes(nova: Nova, environment_id: int) -> dict[str, Outcome]:
    with nova.store.read() as session:
        (run,) = load_judged_runs(session, environment_id, scenario=NAME)
    return {nova.native(one.problem_id): one for one in run.outcomes}


def test_a_sample_counts_that_passed_before_or_does_so_now(nova: Nova) -> None:
    repairs = base(nova)
    environment = repair(nova, repairs, {("sum", 1): "fixed", ("sum", 2): WRONG, ("sum", 3): "faster"})
    found = outcomes(nova, environment)
    ids = nova.ids()
    assert found == {
        "sum": Outcome(ids["sum"], 4, 3, repairs=Repairs(n_before=1, n_asked=3)),
        "called": Outcome(ids["called"], 4, 4, repairs=Repairs(n_before=4, n_asked=0)),
    }
    (row,) = report(nova, environment)
    assert row.repair is not None
    assert row.pass_at_1.value == pytest.approx((3 / 4 + 1) / 2)
    assert row.repair.before.value == pytest.approx((1 / 4 + 1) / 2)
    assert row.repair.repaired.value == pytest.approx(2 / 3)
    assert (row.repair.n_repaired, row.repair.n_asked, row.repair.repaired.n_problems) == (2, 3, 1)


def report(nova: Nova, environment_id: int) -> tuple[Row, ...]:
    with nova.store.read() as session:
        runs = load_judged_runs(session, environment_id, scenario=NAME)
        problems = load_problem_facts(session)
    return evaluate(problems, runs, REGISTRY, WINDOW, now=NOW).rows


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {("sum", 1): "fixed", ("sum", 2): "fixed"},
        {("sum", 1): "fixed", ("sum", 2): "fixed", ("sum", 3): "unjudged"},
    ],
    ids=["nothing asked yet", "one missing", "one not judged"],
)
def test_a_problem_counts_when_all_its_repairs_are_there(nova: Nova, answers: dict[tuple[str, int], str]) -> None:
    repairs = base(nova)
    environment = repair(nova, repairs, answers, {"unjudged": ("internal_error", ())})
    one = outcomes(nova, environment)["sum"]
    assert (one.n_samples, one.n_correct) == (0, 0)
    assert one.repairs == Repairs(1, 3)
    # What passed from the start is not counted alone either.
    (row,) = report(nova, environment)
    assert row.n_judged == 0
    assert row.left_out["no repair was needed, and many repairs are missing"] == 1


def test_answers_without_a_program_are_not_repaired_and_stay_unsolved(nova: Nova) -> None:
    from db.completions import save_run
    from db.records import AnswerStatus

    with nova.store.write() as session:
        run_id = save_run(session, RunRecord("nova-1", "generate"), now=NOW)
        done = [
            CompletionRecord(ProblemKey("nova", "sum"), 0, "", status=AnswerStatus.NO_CODE, rule="no_block"),
            CompletionRecord(ProblemKey("nova", "sum"), 1, WRONG),
        ]
        save_completions(session, run_id, done)
    nova.judge(VERDICTS)
    repairs = digits(nova)
    assert [samples for _, samples in questions(choose(nova, repairs))] == [(1,)]
    environment = repair(nova, repairs, {("sum", 1): "fixed"})
    found = outcomes(nova, environment)["sum"]
    assert (found.n_samples, found.n_correct, found.repairs) == (2, 1, Repairs(0, 1))


def test_an_imported_run_holds_the_programs_after_the_repair(nova: Nova) -> None:
    nova.add_run("nova-1", {"sum": [RIGHT, WRONG]}, conditions={"scenario": NAME})
    environment = nova.judge(VERDICTS)
    found = outcomes(nova, environment)["sum"]
    assert (found.n_samples, found.n_correct, found.repairs) == (2, 1, None)


@pytest.mark.parametrize(
    ("labels", "label", "message"),
    [
        ([], None, "nova-1 has no run to repair"),
        (["a", "b"], None, "nova-1 has 2 runs"),
        (["a"], "b", '--repairs: nova-1 has no run "b"'),
        (["a", "a"], "a", '--repairs: 2 runs of nova-1 are called "a" and differ in their conditions'),
    ],
)
def test_it_must_be_clear_which_run_is_repaired(nova: Nova, labels: list[str], label: str | None, message: str) -> None:
    for place, one in enumerate(labels):
        nova.add_run("nova-1", {"sum": [RIGHT]}, one, {"temperature": place})
    with pytest.raises(BaseUnknown) as refused:
        digits(nova, label)
    assert refused.value.message == message
    assert refused.value.hint
