"""Prompts: the text that is sent, and that it does not change without a new version."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.asked import AskedSample
from eval.generate.fences import read_blocks
from eval.generate.prompts import (
    TEMPLATES,
    Prompt,
    UnknownPrompt,
    load_prompt,
    prompt_sha256,
    prompt_text,
    prompts,
    written_languages,
)
from eval.generate.questions import FailedTest, Form, Question, Scenario
from eval.made_tests.writing import SCENARIO as TEST_PROGRAMS
from sandbox import languages
from tests.eval.generate.asked import FUNCTION, PROBLEMS, STDIN, problem, question

HERE = Path(__file__).parent
EVERY = [prompt for scenario in (*Scenario, TEST_PROGRAMS) for prompt in prompts(scenario).values()]
PLAIN = load_prompt("plain", Scenario.CODE_GENERATION)
# Text as statements have it, mathematics and the marks of templates among it.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)


def text_of(prompt: Prompt, asked: Question, language: str = "python3") -> str:
    (message,) = prompt.messages(asked, language)
    assert message.role == "user"
    return message.content


def rendered(prompt: Prompt, form: Form) -> str:
    """12 hex digits over what a prompt makes of a fixed question in this form, in every language."""
    asked = question(prompt.scenario, form)
    texts = "\0".join(f"{name}\0{text_of(prompt, asked, name)}" for name in sorted(written_languages()))
    return hashlib.sha256(texts.encode()).hexdigest()[:12]


@pytest.mark.parametrize("prompt", EVERY, ids=lambda prompt: f"{prompt.scenario}/{prompt}")
def test_a_text_changes_only_with_its_version(prompt: Prompt) -> None:
    """A run's conditions name prompt and digest. A prompt that is changed gets a new version in all its files, and a
    new entry in prompt_digests.toml; entries of former versions stay."""
    table = tomllib.loads((HERE / "prompt_digests.toml").read_text(encoding="utf-8"))
    found = {"digest": prompt.digest} | {str(form): rendered(prompt, form) for form in prompt.forms}
    assert table[prompt.scenario][str(prompt)] == found


def test_every_scenario_has_its_forms() -> None:
    called = {Form.STDIN, Form.FUNCTION, Form.DESIGN}
    code_generation = prompts("code_generation")
    assert set(code_generation) == {"plain", "worked", "bare"}
    assert all(set(one.forms) == {*called, Form.INTERACTIVE} for one in code_generation.values())
    assert set(load_prompt("plain", "self_repair").forms) == called
    assert set(load_prompt("plain", "output_prediction").forms) == {Form.STDIN, Form.FUNCTION}
    assert load_prompt("plain", "code_execution").forms == (Form.PYTHON,)
    test_programs = prompts(TEST_PROGRAMS)
    assert set(test_programs) == {"test_generator", "test_validator"}
    assert all(set(one.forms) == called for one in test_programs.values())


@pytest.mark.parametrize(
    ("name", "language"), [("plain_stdin", "cpp17"), ("plain_function", "python3")], ids=["stdin", "function"]
)
def test_the_whole_text(name: str, language: str) -> None:
    asked = Question(PROBLEMS[Form(name.partition("_")[2])])
    assert text_of(PLAIN, asked, language) == (HERE / "prompts" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("prompt", EVERY, ids=lambda prompt: f"{prompt.scenario}/{prompt}")
def test_nothing_helps_to_recognise_a_problem(prompt: Prompt) -> None:
    for form in prompt.forms:
        text = text_of(prompt, question(prompt.scenario, form)).casefold()
        assert not any(word in text for word in ("nova", "cellar", "example.org", "042", "contest", "20 2"))


@pytest.mark.parametrize("form", list(PROBLEMS))
def test_bare_is_one_line_with_statement_and_starter_code(form: Form) -> None:
    asked = PROBLEMS[form]
    first, *rest = text_of(load_prompt("bare", "code_generation"), Question(asked)).split("\n\n", 1)
    assert first.count("\n") == 0
    starter = f"\n\n```python\n{asked.starter_code.rstrip()}\n```" if asked.starter_code else ""
    assert rest == [f"{asked.statement.rstrip()}{starter}\n"]


def test_worked_asks_for_reasoning_first() -> None:
    worked = load_prompt("worked", "code_generation")
    plain_lines = text_of(PLAIN, Question(STDIN)).splitlines()
    added = [line for line in text_of(worked, Question(STDIN)).splitlines() if line not in plain_lines]
    assert len(added) == 1
    assert added[0].startswith("Reason step by step")


def test_samples_that_stand_in_the_statement_are_not_repeated() -> None:
    shown = "Add one.\r\n\r\n### Sample\r\n\r\n```\r\n3 4 \r\n5\r\n```\r\n\r\n```\r\n6\r\n```\r\n"
    asked = problem(statement=shown, samples=(AskedSample("3 4\n5\n", "6\n"),))
    assert "## Examples" not in text_of(PLAIN, Question(asked))
    # Every line of it stands there, but not as one text; and "6" alone is no word of a sentence.
    for statement in (shown.replace("\r\n5", "\r\n\r\n5"), shown.replace("6\r\n", "It is 6.\r\n")):
        assert "## Examples" in text_of(PLAIN, Question(replace(asked, statement=statement)))


def test_one_sample_that_is_missing_brings_all_of_them() -> None:
    asked = problem(statement="3\n\n4\n", samples=(AskedSample("3", "4"), AskedSample("8", "9")))
    assert text_of(PLAIN, Question(asked)).count("Input ") == 2


def test_limits_that_a_problem_does_not_state_are_those_of_the_judge() -> None:
    asked = problem(time_limit_s=None, memory_limit_bytes=None)
    assert "6 seconds of CPU time and 1024 MiB of memory" in text_of(PLAIN, Question(asked))
    asked = problem(time_limit_s=1.0, memory_limit_bytes=64_000_000)
    assert "1 second of CPU time and 61.0352 MiB of memory" in text_of(PLAIN, Question(asked))


@given(TEXT, TEXT, TEXT)
def test_texts_go_in_as_they_are(statement: str, given_input: str, expected: str) -> None:
    asked = problem(statement=f"S{{{{{statement}}}}}E", samples=(AskedSample(given_input, expected),))
    text = text_of(PLAIN, Question(asked))
    assert f"## Problem\n\n{asked.statement}\n" in text
    assert text == text_of(PLAIN, Question(asked))


@given(st.lists(st.sampled_from(["```", "````", "~~~", "a", "```python", "", "> ", "    b"])).map("\n".join))
def test_a_fence_in_a_sample_closes_no_block(shown: str) -> None:
    asked = problem(statement="Echo.", samples=(AskedSample(shown, "x"),))
    blocks = [block.content for block in read_blocks(text_of(PLAIN, Question(asked)))]
    wanted = shown if shown.endswith("\n") or not shown else f"{shown}\n"
    assert blocks == [wanted, "x\n"]


def test_a_failed_test_is_shown() -> None:
    repair = load_prompt("plain", "self_repair")
    failed = FailedTest("runtime_error", input="7 8\n", expected="18\n", error="ZeroDivisionError: division by zero")
    text = text_of(repair, Question(FUNCTION, "self_repair", 1, program="x = 1 / 0", feedback=failed.as_text()))
    assert "It ended with an error." in text
    assert "7 8\n" in text
    assert "ZeroDivisionError" in text
    assert "Got:" not in text
    broken = FailedTest("compile_error", input="", error="line 1: expected ';'")
    text = text_of(repair, Question(STDIN, "self_repair", 1, program="int main", feedback=broken.as_text()), "cpp20")
    assert "It does not compile." in text
    assert "Expected:" not in text


def test_a_program_to_execute_is_given_a_call_or_an_input() -> None:
    execution = load_prompt("plain", "code_execution")
    called = text_of(execution, question(Scenario.CODE_EXECUTION, Form.PYTHON))
    assert "## Expression\n\n```\nf(21)\n```" in called
    assert "as a Python literal" in called
    asked = Question(STDIN, "code_execution", 3, program="print(input())", input="hello\n")
    assert "## Input\n\n```\nhello\n```" in text_of(execution, asked)


def test_every_language_of_the_sandbox_has_its_words() -> None:
    assert set(written_languages()) == set(languages.names())


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(UnknownPrompt) as unknown:
        load_prompt("fancy", "code_generation")
    assert unknown.value.message == 'no prompt of code_generation is called "fancy"'
    assert unknown.value.hint == "there are: bare, plain, worked"
    with pytest.raises(UnknownPrompt):
        load_prompt("plain", "../code_generation")
    with pytest.raises(UnknownPrompt) as no_form:
        load_prompt("plain", "output_prediction").messages(question(Scenario.OUTPUT_PREDICTION, Form.DESIGN), "python3")
    assert "in the form design" in no_form.value.message
    with pytest.raises(UnknownPrompt):
        PLAIN.messages(question(Scenario.SELF_REPAIR, Form.STDIN), "python3")
    with pytest.raises(UnknownPrompt):
        PLAIN.messages(Question(STDIN), "cobol")


def test_the_text_of_messages_tells_them_apart() -> None:
    messages = PLAIN.messages(Question(STDIN), "python3")
    assert prompt_text(messages).startswith('[{"content":"Write a program')
    assert prompt_sha256(messages) == hashlib.sha256(prompt_text(messages).encode()).hexdigest()
    assert prompt_sha256(messages) != prompt_sha256(PLAIN.messages(Question(problem(time_limit_s=3.0)), "python3"))


def test_no_file_is_left_over() -> None:
    used = {f"{one.scenario}/{one.name}/{form}.md" for one in EVERY for form in one.forms}
    there = {path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.md")}
    assert {name for name in there - used if not name.startswith("parts/")} == set()
