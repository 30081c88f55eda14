"""Code execution: which programs are asked about, by whom, and as what."""

from __future__ import annotations

from db.completions import RunRecord, save_run
from db.questions import load_questions
from eval.generate.choosing import Choice
from eval.generate.places import places_of, questions_at
from eval.outcomes import load_judged_runs
from tests.eval.facts import NOW
from tests.eval.scenarios.stores import Nova, asking, save_told

NAME = "code_execution"
CLASS = "class Solution:\n    def pair(self, xs, y):\n        return [xs, y]\n"
FUNCTION = "def pair(xs, y):\n    return xs, y\n"
NO_PROGRAM = "no short Python program (2000 bytes) that is not of the model's family is known to be right"


def asked(nova: Nova, choice: Choice, name: str) -> list[tuple[str, str, str]]:
    """Input, expected output and origin of the program of the questions on a problem."""
    records = [one.record for one in choice.asked if nova.native(one.problem_id) == name]
    return [(one.input or "", one.expected, one.feedback or "") for one in records if one is not None]


def test_a_reference_solution_on_short_tests_samples_among_them(nova: Nova) -> None:
    choice = nova.choose(NAME)
    reference = "right: solution sum.py of nova"
    assert asked(nova, choice, "sum") == [
        ("1 2\n", "3\n", reference),
        ("1   2\n", "3\n", reference),
        ("10 20\n", "30\n", reference),
    ]
    assert choice.left_out == {
        NO_PROGRAM: 5,
        "a checker judges: no single answer is the right one": 1,
        "arguments or result are no plain values": 1,
    }


def test_programs_of_another_family(nova: Nova) -> None:
    nova.add_run("nova-2", {"called": [CLASS]})  # of the same provider, in another case
    nova.add_run("lyra-1", {"called": [CLASS]})  # made from nova-2
    nova.add_run("unheard-of", {"called": [CLASS]})
    nova.add_run("orion-1", {"called": ["def pair(xs, y): return 1", FUNCTION]})
    nova.judge({"def pair(xs, y): return 1": ("wrong_answer", ())})
    origin = "right: sample 1 of orion-1, run 'generate'"
    calls = [("pair([1, 2], 'a')", '[[1,2],"a"]', origin), ("pair([], None)", "[[],null]", origin)]
    assert asked(nova, nova.choose(NAME, "nova-1"), "called") == calls
    # For orion-1 the first that was stored: its method is called on a new object.
    found = asked(nova, nova.choose(NAME, "orion-1"), "called")
    assert found[0] == ("Solution().pair([1, 2], 'a')", '[[1,2],"a"]', "right: sample 0 of nova-2, run 'generate'")


def test_repaired_programs_and_failed_ones_are_not_asked_about(nova: Nova) -> None:
    nova.add_run("orion-1", {"called": [FUNCTION]}, conditions={"scenario": "self_repair"})
    nova.judge()
    assert asked(nova, nova.choose(NAME), "called") == []
    nova.add_run("orion-1", {"called": ["x = 1"]})  # accepted, as it were, and nothing in it can be called
    nova.judge()
    assert nova.choose(NAME).left_out[NO_PROGRAM] == 5


def test_the_prompt_has_the_program_and_not_where_it_comes_from(nova: Nova) -> None:
    nova.add_run("orion-1", {"called": [FUNCTION]})
    nova.judge()
    choice = nova.choose(NAME)
    with nova.store.write() as session:
        places = places_of(session, choice.asked, 1, now=NOW)
        questions = questions_at(session, NAME, places)
        (stored,) = load_questions(session, [places[0].question_id]).values()
    texts = {one.input: asking(NAME).messages(one)[0].content for one in questions.values()}
    text = texts["pair([1, 2], 'a')"]
    assert FUNCTION in text
    assert "orion" not in text
    assert "Statement of called." not in text
    assert "prints for the input below" in texts["10 20\n"]
    assert stored.feedback == "right: sample 0 of orion-1, run 'generate'"


def test_what_answers_count_for(nova: Nova) -> None:
    with nova.store.write() as session:
        run_id = save_run(session, RunRecord("nova-1", "generate", {"scenario": NAME}), now=NOW)
    save_told(
        nova, run_id, NAME, {("sum", "1 2\n", 0): "3", ("sum", "10 20\n", 0): "1020", ("sum", "1   2\n", 0): "3\n"}
    )
    with nova.store.read() as session:
        (run,) = load_judged_runs(session, None, scenario=NAME)
    (found,) = run.outcomes
    assert (nova.native(found.problem_id), found.n_samples, found.n_correct) == ("sum", 3, 2)
