"""The scenarios that there are, and what each says of itself."""

from __future__ import annotations

import pytest

from eval.generate.prompts import prompts
from eval.scenarios import UnknownScenario, scenario_names, scenario_of, task_form


def test_all_scenarios_are_found_and_have_a_prompt() -> None:
    assert scenario_names() == ("code_generation", "code_execution", "output_prediction", "self_repair")
    for name in scenario_names():
        assert task_form(name).name == name
        assert "plain" in prompts(name)


def test_what_they_say_of_themselves() -> None:
    forms = [task_form(name) for name in scenario_names()]
    assert [form.is_judged for form in forms] == [True, False, False, True]
    assert [form.max_k for form in forms] == [None, 1, 1, None]
    assert [form.once for form in forms] == [False, False, False, True]
    assert [form.repairs is not None for form in forms] == [False, False, False, True]


def test_a_scenario_that_there_is_not() -> None:
    with pytest.raises(UnknownScenario) as refused:
        task_form("selfrepair")
    assert refused.value.message == 'no scenario is called "selfrepair"'
    assert refused.value.hint == "there are: code_generation, code_execution, output_prediction, self_repair"


def test_a_run_without_the_condition_is_of_code_generation() -> None:
    assert scenario_of({"temperature": 0.2}) == "code_generation"
    assert scenario_of({"scenario": "self_repair"}) == "self_repair"
