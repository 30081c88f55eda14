"""What was found where tests were made is a finding of the audit of problems."""

from __future__ import annotations

from eval.audits.problem_evidence import Evidence
from eval.audits.problems import Signal
from eval.audits.problems_sheet import problems_sheet
from eval.sheets import sheet_to_json
from tests.eval.audits.test_problems import audited
from tests.eval.facts import problem

DISAGREE = ("references_disagree", "the references give 2 different answers: a.py against b.py")
DIFFER = ("answers_differ", "4 families of models give 3 different answers")


def test_references_that_disagree_are_strong_and_answers_that_differ_are_weak() -> None:
    problems = [problem(0, flags=(DISAGREE,)), problem(1, flags=(DIFFER,)), problem(2, flags=(("has_image", "x"),))]
    found = audited(problems, [], Evidence()).findings
    assert [(one.problem, one.signal, one.weak, one.sentence) for one in found] == [
        ("atcoder:p0", Signal.REFERENCES_DISAGREE, False, DISAGREE[1]),
        ("atcoder:p1", Signal.ANSWERS_DIFFER, True, DIFFER[1]),
    ]
    assert found[0].command is None  # the flag that it is about keeps the problem out of scores
    assert found[1].command is not None
    assert found[1].command.startswith("live problems flag atcoder:p1 multiple_answers --reason ")


def test_the_legend_says_how_a_person_ends_it() -> None:
    text = sheet_to_json(problems_sheet(audited([problem(0, flags=(DISAGREE,))], [], Evidence())))
    assert "live problems unflag ID references_disagree" in text
