"""Output prediction: which tests are asked, why others are not, and what an answer counts for."""

from __future__ import annotations

from dataclasses import replace

from db.completions import RunRecord, save_run
from db.problems import save_problem
from db.records import SuiteRecord
from eval.evaluation import Outcome
from eval.generate.places import places_of, questions_at
from eval.outcomes import load_judged_runs
from eval.settings import Settings
from tests.eval.facts import NOW
from tests.eval.scenarios.stores import SUM, WINDOW, Nova, asking, save_told

NAME = "output_prediction"


def outcomes(nova: Nova) -> dict[str, Outcome]:
    with nova.store.read() as session:
        (run,) = load_judged_runs(session, None, scenario=NAME)
    return {nova.native(one.problem_id): one for one in run.outcomes}


def new_run(nova: Nova) -> int:
    with nova.store.write() as session:
        return save_run(session, RunRecord("nova-1", "generate", {"scenario": NAME}), now=NOW)


def test_three_short_tests_that_no_sample_shows(nova: Nova) -> None:
    choice = nova.choose(NAME)
    inputs = [(nova.native(one.problem_id), one.record.input) for one in choice.asked if one.record is not None]
    assert inputs == [
        ("called", '[1,2]\n"a"\n'),
        ("called", "[]\nnull\n"),
        ("nodes", "[1,2]\n"),
        ("sum", "10 20\n"),  # the first test is the sample again
        ("sum", "5 5\n"),
        ("sum", "7 8\n"),  # the fourth test is too long, and the sixth one too many
    ]
    assert choice.left_out == {
        "no short test with one right answer (at most 400 bytes in, 200 out)": 2,  # too long, other rules
        "a checker judges: no single answer is the right one": 1,
        "no statement": 1,
        "no tests beyond the samples, whose outputs stand in the statement": 1,
    }
    assert nova.choose(NAME) == choice


def test_several_right_answers_are_not_asked_for(nova: Nova) -> None:
    with nova.store.write() as session:
        save_problem(session, replace(SUM, flags=(("multiple_answers", "any order"),)), now=NOW)
    choice = nova.choose(NAME, settings=replace(WINDOW, include_flagged=True))
    assert choice.left_out["several answers are right"] == 1


def test_questions_have_places_and_stay_the_same(nova: Nova) -> None:
    choice = nova.choose(NAME)
    with nova.store.write() as session:
        places = places_of(session, choice.asked, 2, now=NOW)
        assert places_of(session, choice.asked, 2, now=NOW) == places
        questions = questions_at(session, NAME, places)
    assert len(set(places)) == 2 * len(choice.asked)
    assert {one.sample_index for one in places} == {0, 1}
    assert [question.input for question in questions.values()] == [
        one.record.input for one in choice.asked if one.record
    ]
    (message,) = asking(NAME).messages(next(one for one in questions.values() if one.problem.key.native_id == "sum"))
    assert "Statement of sum." in message.content
    assert "10 20" in message.content
    assert "30" not in message.content  # the right answer


def test_what_answers_count_for(nova: Nova) -> None:
    run_id = new_run(nova)
    right = {("sum", "10 20\n", 0): " 30", ("sum", "10 20\n", 1): "30\n", ("called", "[]\nnull\n", 0): "([], None)"}
    wrong = {("sum", "5 5\n", 0): "11", ("sum", "7 8\n", 0): None, ("called", '[1,2]\n"a"\n', 0): "[1, 2]"}
    save_told(nova, run_id, NAME, right | wrong)
    found = outcomes(nova)
    assert found.keys() == {"sum", "called"}
    # Each question and each sample weighs the same; an answer in which nothing was found is a wrong one.
    assert (found["sum"].n_samples, found["sum"].n_correct) == (4, 2)
    assert (found["called"].n_samples, found["called"].n_correct) == (2, 1)


def test_answers_to_tests_that_are_gone_do_not_count(nova: Nova) -> None:
    run_id = new_run(nova)
    save_told(nova, run_id, NAME, {("sum", "10 20\n", 0): "30", ("sum", "5 5\n", 0): "10"})
    assert SUM.suite is not None
    corrected = [replace(one, expected=b"31\n") if one.input == b"10 20\n" else one for one in SUM.suite.tests]
    with nova.store.write() as session:
        save_problem(session, replace(SUM, suite=SuiteRecord(tuple(corrected))), now=NOW)
    found = outcomes(nova)["sum"]
    assert (found.n_samples, found.n_correct, found.n_older) == (1, 1, 1)


def test_runs_of_other_scenarios_are_not_loaded(nova: Nova) -> None:
    save_told(nova, new_run(nova), NAME, {("sum", "10 20\n", 0): "30"})
    nova.add_run("nova-1", {"sum": ["print(3)"]})
    with nova.store.read() as session:
        assert [run.conditions for run in load_judged_runs(session, None)] == [{}]
        assert [run.conditions for run in load_judged_runs(session, None, scenario=NAME)] == [{"scenario": NAME}]
        assert load_judged_runs(session, None, scenario="self_repair") == ()


def test_the_cut_off_decides_as_for_programs(nova: Nova) -> None:
    late = Settings(after_cutoff=False, since=WINDOW.since, until=WINDOW.since and WINDOW.since.replace(month=2))
    assert nova.choose(NAME, settings=late).left_out == {"outside the window": 8}
