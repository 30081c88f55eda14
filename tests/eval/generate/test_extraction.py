"""The program in an answer: cases on disk (``extraction/``), and what holds for every text."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records import AnswerStatus
from eval.generate.extraction import RULES, EmptyContent, Extraction, explain, extract_program, extraction_digest
from eval.generate.replies import Reply

FOLDER = Path(__file__).parent / "extraction"
CASES: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "expected.toml").read_text(encoding="utf-8"))


def case_answer(name: str) -> str:
    return (FOLDER / f"{name}.md").read_bytes().decode()


def found(content: str, finish_reason: str | None = None, **wanted: Any) -> Extraction | EmptyContent:
    return extract_program(Reply(content, finish_reason=finish_reason), **{"language": "python3", **wanted})


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    case = dict(CASES[name])
    wanted = {key: case[key] for key in ("language", "entry_point", "starter_code") if key in case}
    result = found(case_answer(name), case.get("finish_reason"), **wanted)
    if isinstance(result, EmptyContent):
        assert (result.kind, "") == (case["status"], case["rule"])
        return
    code = case.get("code", "")
    if "program" in case:
        code = (FOLDER / "programs" / case["program"]).read_text(encoding="utf-8")
    assert (result.status, result.rule, result.code) == (case["status"], case["rule"], code), case["why"]
    assert result.status.has_program == bool(result.code)


def test_every_answer_on_disk_is_a_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == CASES.keys()


def test_every_rule_is_shown_by_a_case_and_says_what_it_means() -> None:
    shown = {case["rule"].partition(":")[0] for case in CASES.values()} - {""}
    beside = {"refusal_field", "too_long"}  # shown below
    assert shown | beside == RULES.keys()
    assert {case["status"] for case in CASES.values()} >= {status.value for status in AnswerStatus}
    assert explain("other_language:haskell") == f"{RULES['other_language']}: haskell"
    assert explain("a_rule_of_tomorrow") == "a_rule_of_tomorrow"


def test_the_version_of_the_rules() -> None:
    """A change of what the cases above give is a new version: runs under two of them are not one run."""
    assert extraction_digest() == "2"


def test_the_endpoints_own_refusal() -> None:
    reply = Reply("```python\nprint(input())\n```", refusal="I cannot help with that.")
    assert extract_program(reply, language="python3") == Extraction(AnswerStatus.REFUSED, "refusal_field")


def test_reasoning_is_an_answer_where_the_run_says_so() -> None:
    reply = Reply("", reasoning="final:\n```python\nprint(input())\n```")
    assert isinstance(extract_program(reply, language="python3"), EmptyContent)
    taken = extract_program(reply, language="python3", reasoning_is_answer=True)
    assert taken == Extraction(AnswerStatus.OK, "whole_block", "print(input())\n")
    inline = Reply("<think>\n```python\nprint(input())\n```")
    assert extract_program(inline, language="python3", reasoning_is_answer=True) == taken
    assert isinstance(extract_program(Reply(" "), language="python3", reasoning_is_answer=True), EmptyContent)


def test_reasoning_is_not_searched_where_there_is_an_answer() -> None:
    reply = Reply("No.", reasoning="```python\nprint(input())\n```", finish_reason="stop")
    assert extract_program(reply, language="python3", reasoning_is_answer=True) == Extraction(
        AnswerStatus.NO_CODE, "no_block"
    )


def test_a_language_that_the_sandbox_lacks_is_found_by_its_tag() -> None:
    assert found("```Haskell\nmain = interact id\n```", language="haskell") == Extraction(
        AnswerStatus.OK, "whole_block", "main = interact id\n"
    )


# --- what holds for every text ------------------------------------------------------------------------------------

SIGNS = st.sampled_from(
    [
        *("```", "~~~", "````", "python", "cpp", "\n", "\r\n", "\r", " ", "    ", "\t", "- ", "1. ", "> "),
        *("<think>", "</think>", "<|channel|>", "final<|message|>", "$ERROR$", "\ufeff", "\0"),
        *("import sys\n", "print(1)\n", "def f(self):\n", "{", "}", "(", '"""'),
    ]
)
ANY_TEXT = st.one_of(st.text(), st.lists(st.one_of(SIGNS, st.text(max_size=5)), max_size=40).map("".join))
ENDS = st.sampled_from([None, "stop", "length", "content_filter", "odd"])


@given(
    ANY_TEXT, ENDS, st.sampled_from(["python3", "cpp17", "go", "javascript", "fortran"]), st.sampled_from([None, "f"])
)
def test_no_text_breaks_it(text: str, end: str | None, language: str, entry_point: str | None) -> None:
    result = found(text, end, language=language, entry_point=entry_point)
    assert result == found(text, end, language=language, entry_point=entry_point)
    if isinstance(result, Extraction):
        assert result.rule.partition(":")[0] in RULES
        assert result.status.has_program == bool(result.code)
        assert not any(char in result.code for char in "\r")


LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n`~\0"), max_size=30)
BODIES = st.lists(LINES, max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines))
# Whole by its frame, whatever stands in between: the text of a string.
PROGRAMS = BODIES.map(lambda body: f"import sys\ntext = r'''\n{body}'''\nprint(text)\n")
FENCES = st.sampled_from(["```", "````", "~~~", "~~~~~"])
TAGS = st.sampled_from(["", "python", "Python3", "py", "{.python}", 'python title="a.py"', "text", "language-python"])


@given(
    PROGRAMS,
    FENCES,
    TAGS,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "Here:\n\n", "# Solution\n", "- a\n- b\n\n"]),
)
def test_a_program_comes_back_as_it_was(program: str, fence: str, tag: str, end: str, before: str) -> None:
    answer = f"{before}{fence}{tag}\n{program}{fence}\nDone.\n".replace("\n", end)
    result = found(answer, "stop")
    assert isinstance(result, Extraction)
    assert (result.status, result.code) == (AnswerStatus.OK, program)


THOUGHTS = st.text().filter(
    lambda text: "<|channel|>" not in text and not text.lstrip("\ufeff").lstrip().startswith("$ERROR$")
)
TAG_PAIRS = st.sampled_from(
    [
        ("<think>", "</think>"),
        ("<THINKING>", "</THINKING>"),
        ("", "</think>"),
        ("◁think▷", "◁/think▷"),
        ("[THINK]", "[/THINK]"),
    ]
)


@given(
    THOUGHTS,
    TAG_PAIRS,
    st.sampled_from(sorted(name for name, case in CASES.items() if case["status"] in ("ok", "no_code"))),
)
def test_thinking_before_an_answer_changes_nothing(thought: str, pair: tuple[str, str], name: str) -> None:
    if name.startswith(("think", "harmony")):
        return
    case = CASES[name]
    wanted = {key: case[key] for key in ("language", "entry_point", "starter_code") if key in case}
    answer = case_answer(name).removeprefix("\ufeff")
    plain = found(answer, case.get("finish_reason"), **wanted)
    opening, closing = pair
    assert found(f"{opening}\n{thought}\n{closing}\n{answer}", case.get("finish_reason"), **wanted) == plain


@given(PROGRAMS)
def test_what_was_found_is_found_again(program: str) -> None:
    result = found(program)
    assert isinstance(result, Extraction)
    assert (result.status, result.code) == (AnswerStatus.OK_UNFENCED, program)
    assert found(f"```python\n{result.code}```") == Extraction(AnswerStatus.OK, "output_block", program)


PIECES = (
    *("`", "```\n", "```python\n", "```\nx\n```\n", "- a\n", "- ", "> ", " ", "\t", "\n"),
    *("<think>", "<think>\n", "</think>", "<think>a</think>", "</s>", "<|channel|>final<|message|>"),
    *("def f(x):\n", "input: x\n", "(", "[", "{", "'", "-", "; ", "f(x)\n"),
    *('"""\n```\n', "x```\n", "a ```python\n", "```</b>\n", "```md\n", "<|im_end|>", "```\n</think>\n", "~~~\n```\n"),
    *("[/A]\n", "[A]\n[/A]\n", "input()\nprint()\n", "```python\ninput()\n```\n", '```py\n"""\n```\n'),
)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("size", [10_000_000, 1_000_000, 130_000])
def test_hostile_answers_are_read_quickly(piece: str, size: int) -> None:
    answers = [piece * (size // len(piece)), "```python\n" + piece * (size // len(piece)) + "\n```\n"]
    for answer in answers:
        started = time.process_time()
        result = found(answer, "stop", entry_point="f")
        assert time.process_time() - started < 2.0
        assert isinstance(result, EmptyContent) or not result.status.has_program or size < 10_000_000


def test_deep_indentation_is_read_quickly() -> None:
    lines = [" " * depth + "if 1:\n" for depth in range(1400)]
    started = time.process_time()
    result = found("".join(lines) + "```\n", "stop")
    assert time.process_time() - started < 2.0
    assert isinstance(result, Extraction)
    assert not result.status.has_program


def test_what_is_too_long_for_an_answer_is_none() -> None:
    program = "```python\nimport sys\nprint(1)\n```\n"
    assert found(program + "word " * 300_000, "stop") == Extraction(AnswerStatus.NO_CODE, "too_long")
    assert found(program + "word " * 300_000, "length") == Extraction(AnswerStatus.TRUNCATED, "limit_before_program")
    # Thinking does not count: it may be much longer than the answer.
    thought = found("<think>" + "word " * 300_000 + "</think>\n" + program, "stop")
    assert thought == Extraction(AnswerStatus.OK, "output_block", "import sys\nprint(1)\n")
