"""The tests of a LeetCode problem: its example inputs, with the outputs that its statement shows for them. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from db.records import TestCaseRecord
from ingest.errors import BadRow
from ingest.fields import long_text
from ingest.sources._leetcode_examples import Example, answers_to, read_lines
from ingest.sources._leetcode_signature import Signature
from ingest.sources._samples_as_tests import sample_test
from ingest.text import encode_test_text
from sandbox import plain, signatures
from sandbox.programs import Io


def sample_tests(
    question: Mapping[str, Any], signature: Signature, examples: Sequence[Example]
) -> tuple[tuple[TestCaseRecord, ...], tuple[str, ...]]:
    """The example inputs of a question with their outputs out of its statement, and what is wrong with the others.

    Only examples whose output is certain are tests.
    """
    cases = _cases(question, signature)
    tests, flaws = [], [] if cases else ["there are no example inputs"]
    answers = answers_to([_readable(case) for case in cases], examples)
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True), start=1):
        try:
            tests.append(_test(number, case, answer, signature))
        except BadRow as error:
            flaws.append(f"example {number}: {error.reason}")
    if len(examples) != len(cases):
        flaws.append(f"inputs: {len(cases)}, outputs in the statement: {len(examples)}")
    return tuple(tests), tuple(flaws)


def _readable(case: str) -> list[Any] | None:
    try:
        return read_lines(case)
    except BadRow:
        return None


def _test(number: int, case: str, answer: str | None, signature: Signature) -> TestCaseRecord:
    values = read_lines(case)
    signature.check_arguments(values)
    _check_readable(signature, case)
    if answer is None:
        raise BadRow("no output of the statement is certainly its own")
    expected = json.dumps(signature.expected(answer, values), ensure_ascii=False)
    return sample_test(number, encode_test_text("the input", case), encode_test_text("the output", expected))


def _check_readable(signature: Signature, case: str) -> None:
    """``BadRow`` unless the sandbox can make the test's nodes."""
    stated = signature.as_plain()
    if stated is None:
        return
    io = Io(signature.io_kind)
    try:
        details = signatures.details_of(io, signature.name, plain.read_signature(stated))
        signatures.check_input(details, case.encode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise BadRow(f"its input cannot be used: {error}") from None


def _cases(question: Mapping[str, Any], signature: Signature) -> tuple[str, ...]:
    """The inputs of the examples: listed one by one, or all in one text, or the first alone."""
    listed = question.get("exampleTestcaseList")
    if isinstance(listed, list) and listed:
        return tuple(long_text({"an example": case}, "an example").strip() for case in listed)
    lines = long_text(question, "exampleTestcases").strip().split("\n")
    size = signature.n_lines
    if lines != [""] and size and len(lines) % size == 0:
        return tuple("\n".join(lines[start : start + size]) for start in range(0, len(lines), size))
    first = long_text(question, "sampleTestCase").strip()
    return (first,) if first else ()
