"""What output prediction and code execution share: an answer is a text that is held against the right one.

The answer is looked for as a program is (refusals, failed requests, thinking: rules 1 and 2 of
`eval.generate.extraction`, whose version covers these rules as well), and then

``answer_block``  is the last complete block whose tag is ``answer``;
``last_block``    without one, the last complete block that is no program: its tag names no language, or it is a value.
                  Of several, the last whose line before it speaks of an answer or output and of no input, if any does;
``answer_line``   without such a block, what follows ``ANSWER:`` on the last line that begins so, in any case;
``answer_mark``   without such a line, what stands in the last ``<answer>…</answer>``, ``\\boxed{…}`` or, on one line,
                  "```answer …```", or in the paragraph under a last heading "Answer".

A last block that is never closed means that the answer was cut off: where its tag is ``answer``, or where no complete
block has that tag. Fences are read as CommonMark reads them, and where that leaves a block open, or finds none with the
tag, as models mean them (`eval.generate.fences.read_loosely`), if that finds one.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from db.judged_tests import SuiteRules, load_suite_rules
from db.questions import QuestionRecord, load_questions
from db.records import WITHOUT_PROGRAM, AnswerStatus
from db.responses import AnswerRow, FailureRecord, ResponseRecord, load_answers
from db.test_texts import ShortTests, load_short_tests
from eval.evaluation import Outcome
from eval.generate.answers import Exchange, record_found
from eval.generate.extraction import EmptyContent, Extraction, answer_text, cut_status, is_limit
from eval.generate.fences import Block, TooLong, language_of, read_blocks, read_loosely, tag_of
from eval.generate.prompts import Message
from eval.generate.questions import Question
from sandbox import Comparison
from sandbox.comparison import first_difference as difference_of_outputs
from sandbox.values import first_difference as difference_of_values

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.completions import RunSummary
    from eval.generate.conditions import Asking
    from eval.generate.replies import Reply

MAX_INPUT: Final = 400
MAX_EXPECTED: Final = 200
"""In bytes: what is longer cannot be followed by hand."""
MAX_TESTS: Final = 3
"""So many tests of a problem are asked, the first that can be."""
NONE_SHORT: Final = f"no short test with one right answer (at most {MAX_INPUT} bytes in, {MAX_EXPECTED} out)"

_TAG: Final = "answer"
_LINE: Final = re.compile(r"^[ \t*_]*answer[ \t*_]*:[ \t*_]*(?P<answer>\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_MARKS: Final = re.compile(
    r"<answer>(?P<tag>[^<]*+)</answer>|\\boxed\{(?P<boxed>[^{}\n]*+)\}|```answer[ \t]+(?P<ticks>[^`\n]*+)```",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"^#{1,6}[ \t]*(?:final[ \t]+)?answer[ \t]*:?[ \t]*\n\s*", re.IGNORECASE | re.MULTILINE)
_SPEAKS_OF_IT: Final = re.compile(r"\b(?:answer|outputs?|prints?|result|returns?)\b", re.IGNORECASE)
_SPEAKS_OF_INPUT: Final = re.compile(r"\binputs?\b", re.IGNORECASE)
_LONGEST: Final = 64 * 1024
"""Characters: a longer answer is no value, and not right as an output either."""

StillAsked = Callable[[QuestionRecord, ShortTests], bool]
"""Whether a question has its right answer from a test that the problem's current suite still has."""


def extract_told(reply: Reply, *, reasoning_is_answer: bool = False) -> Extraction | EmptyContent:
    """The output or value that an answer tells, or why there is none."""
    text = answer_text(reply, reasoning_is_answer=reasoning_is_answer)
    if not isinstance(text, str):
        return text
    is_cut = is_limit(reply.finish_reason)
    try:
        blocks = _blocks(text)
    except TooLong:
        return Extraction(AnswerStatus.TRUNCATED if is_cut else AnswerStatus.NO_CODE, "too_long")
    told = [one for one in blocks if one.is_closed and _is_told(one)]
    if blocks and not blocks[-1].is_closed and (not told or _is_told(blocks[-1])):
        return Extraction(cut_status(reply.finish_reason), "open_block")
    if is_cut and not told:
        return Extraction(AnswerStatus.TRUNCATED, "limit_before_program")
    return _last(told, "answer_block") or _without_tag(text, blocks)


def _blocks(text: str) -> tuple[Block, ...]:
    blocks = read_blocks(text)
    if blocks and blocks[-1].is_closed and any(map(_is_told, blocks)):
        return blocks
    second = read_loosely(text, lambda _: False)
    is_more = _finds(second) > _finds(blocks)
    return second if is_more else blocks


def _finds(blocks: Sequence[Block]) -> tuple[bool, bool]:
    """How much a reading finds: a complete block with the tag, and none that is open."""
    return any(one.is_closed and _is_told(one) for one in blocks), bool(blocks) and blocks[-1].is_closed


def _is_told(block: Block) -> bool:
    return tag_of(block.info) == _TAG


def _last(blocks: Sequence[Block], rule: str) -> Extraction | None:
    return Extraction(AnswerStatus.OK, rule, blocks[-1].content) if blocks else None


def _without_tag(text: str, blocks: Sequence[Block]) -> Extraction:
    others = [one for one in blocks if language_of(tag_of(one.info)) is None or as_json(one.content) is not None]
    named = [one for one in others if _SPEAKS_OF_IT.search(one.lead) and not _SPEAKS_OF_INPUT.search(one.lead)]
    if others:
        return Extraction(AnswerStatus.OK, "last_block", (named or others)[-1].content)
    lines = list(_LINE.finditer(text))
    if lines:
        return Extraction(AnswerStatus.OK_UNFENCED, "answer_line", lines[-1]["answer"].strip("*_ \t"))
    marked = _marked(text)
    if marked:
        return Extraction(AnswerStatus.OK_UNFENCED, "answer_mark", marked)
    return Extraction(AnswerStatus.NO_CODE, "no_program_block" if blocks else "no_block")


def _marked(text: str) -> str:
    """What stands in the last mark of an answer, or under its heading; "" for neither."""
    found = [(match.end(), match[str(match.lastgroup)]) for match in _MARKS.finditer(text)]
    found += [(match.end(), text[match.end() :].partition("\n\n")[0]) for match in [*_HEADING.finditer(text)][-1:]]
    return max(found)[1].strip() if found else ""


def record_told(
    asking: Asking,
    question: Question,
    sample_index: int,
    messages: Sequence[Message],
    reply: Reply,
    exchange: Exchange,
) -> ResponseRecord | FailureRecord:
    """What a reply tells, as an answer that no test judges. ``ValueError`` for one that the store cannot hold."""
    found = extract_told(reply, reasoning_is_answer=asking.reasoning_is_answer)
    return record_found(question, sample_index, messages, reply, exchange, found)


def is_right(told: str, expected: str, rules: SuiteRules) -> bool:
    """Whether an answer is the right one by the problem's own comparison; a value of a call by value.

    Raises ``ValueError`` for a right answer or a comparison that cannot be compared with.
    """
    comparison = Comparison(**rules.comparison)
    wanted = expected.encode()
    if len(told) > _LONGEST:
        return False
    if not rules.calls_function:
        return difference_of_outputs(wanted, told.encode(errors="backslashreplace"), comparison) is None
    value = as_json(told)
    return value is not None and difference_of_values(wanted, value, comparison) is None


def as_json(told: str) -> bytes | None:
    """A value written as JSON or as a Python literal (tuples for lists), as JSON; None for what is neither."""
    text = told.strip()
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        return text.encode(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes in texts
            return json.dumps(ast.literal_eval(text)).encode()
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def told_outcomes(
    session: Session, scenario: str, runs: Sequence[RunSummary], still_asked: StillAsked
) -> dict[int, tuple[Outcome, ...]]:
    """Answers counted by problem, over all its questions: each question and each sample weighs the same.

    An answer to a statement that has been changed since, or to a test that its problem does not have any more, counts
    as an older one; one whose right answer cannot be compared with, as an internal error.
    """
    rows = load_answers(session, [run.run_id for run in runs], scenario)
    asked = load_questions(session, {row.question_id for row in rows})
    problem_ids = {row.problem_id for row in rows}
    rules = load_suite_rules(session, problem_ids)
    tests = load_short_tests(session, problem_ids, max_input_bytes=MAX_INPUT, max_expected_bytes=MAX_EXPECTED)
    is_current = {
        one: record.problem_id in tests and still_asked(record, tests[record.problem_id])
        for one, record in asked.items()
    }
    counts: dict[int, defaultdict[int, Counter[str]]] = {run.run_id: defaultdict(Counter) for run in runs}
    statuses: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for row in rows:
        verdict = _OLDER if row.is_older or not is_current[row.question_id] else _verdict(row, rules)
        counts[row.run_id][row.problem_id][verdict] += 1
        if verdict is _WRONG and row.status in WITHOUT_PROGRAM:
            statuses[row.run_id, row.problem_id][row.status] += 1
    return {
        run_id: tuple(_outcome(one, verdicts, statuses[run_id, one]) for one, verdicts in of_run.items())
        for run_id, of_run in counts.items()
    }


_RIGHT, _WRONG, _OLDER, _UNKNOWN, _INTERNAL = "right", "wrong", "older", "unknown", "internal"
_STATUSES: Final = {str(status): status for status in AnswerStatus}


def _verdict(row: AnswerRow, rules: Mapping[int, SuiteRules]) -> str:
    status = _STATUSES.get(row.status)
    if status is None:
        return _UNKNOWN
    if not status.has_program:
        return _WRONG
    try:
        return _RIGHT if is_right(row.answer, row.expected or "", rules[row.problem_id]) else _WRONG
    except (ValueError, TypeError, RecursionError):
        return _INTERNAL


def _outcome(problem_id: int, verdicts: Counter[str], statuses: Mapping[str, int]) -> Outcome:
    return Outcome(
        problem_id,
        verdicts[_RIGHT] + verdicts[_WRONG],
        verdicts[_RIGHT],
        n_waiting=verdicts[_UNKNOWN],
        n_internal=verdicts[_INTERNAL],
        n_older=verdicts[_OLDER],
        statuses=statuses,
    )


def short_tests(session: Session, problem_ids: Sequence[int]) -> dict[int, ShortTests]:
    """The tests of some problems that are short enough to be asked, those without anything to tell left out."""
    found = load_short_tests(session, problem_ids, max_input_bytes=MAX_INPUT, max_expected_bytes=MAX_EXPECTED)
    return {
        problem_id: ShortTests(
            suite.comparison,
            suite.has_checker,
            suite.n_hidden,
            tuple(test for test in suite.tests if test.expected.strip()),
        )
        for problem_id, suite in found.items()
    }


def why_not_told(suite: ShortTests | None, flags: Mapping[str, Any]) -> str | None:
    """Why no test of a problem has one right answer that can be told; None where some may."""
    if suite is None:
        return "no tests"
    if suite.has_checker:
        return "a checker judges: no single answer is the right one"
    if "multiple_answers" in flags:
        return "several answers are right"
    return None
