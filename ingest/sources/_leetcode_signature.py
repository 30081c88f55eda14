"""What a LeetCode problem calls, out of its ``metaData``: a function, or a class to design. Pure.

``metaData`` is JSON inside a string, and spells types in several ways (``string``, ``String``, ``list<integer>``,
``integer[]``). A type here is a name in lower case with one ``[]`` for each level of lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from db.json_lines import json_kind
from db.records import TestCaseRecord
from ingest.errors import BadRow
from ingest.fields import long_text, optional_text, required_text
from ingest.sources._leetcode_examples import Example, answers_to, read_answer, read_lines
from ingest.sources._samples_as_tests import sample_test
from ingest.text import encode_test_text

_ALIASES = {"int": "integer", "bool": "boolean", "char": "character", "float": "double"}
_PLAIN = frozenset({"integer", "long", "double", "boolean", "string", "character", "void"})
_LIST = re.compile(r"list<(.*)>|(.*)\[\]")
_LONGEST_TYPE = 200
_WRITTEN_BARE = frozenset({"string", "character"})


@dataclass(frozen=True)
class Signature:
    """What is called, with the types of what goes in and comes out.

    ``params`` are (name, type). ``methods`` of a class to design give the type that each returns, its constructor
    among them as "void"; ``params`` are then the two lines of a test. ``changed`` is the index of the argument that
    is the answer of a function, where it is not the returned value. ``is_manual``: judged by code of the site's own.
    """

    name: str
    params: tuple[tuple[str, str], ...]
    returns: str = "void"
    methods: Mapping[str, str] = field(default_factory=dict)
    types: frozenset[str] = frozenset()
    changed: int | None = None
    is_manual: bool = False

    @property
    def answer_type(self) -> str:
        """The type of a function's answer."""
        return self.returns if self.changed is None else self.params[self.changed][1]

    def obstacles(self) -> tuple[tuple[str, str], ...]:
        """Why the judge cannot run it yet, as (flag, reason) pairs: it calls functions with JSON values alone."""
        found = []
        if self.methods:
            found.append(("design_class", f"class {self.name} is designed, and the judge calls functions only"))
        if self.changed is not None:
            name = self.params[self.changed][0]
            found.append(("in_place", f"the answer is what becomes of {name}, and the judge sees the returned value"))
        if odd := sorted({kind for kind in self.types if kind.rstrip("[]") not in _PLAIN}):
            found.append(("data_structure", f"it uses {', '.join(odd)}, and the judge passes JSON values only"))
        if self.is_manual:
            found.append(("custom_judge", "metaData says manual: the site judges it with code of its own"))
        return tuple(found)

    def check_arguments(self, values: list[Any]) -> None:
        """``BadRow`` unless the values of a test fit the parameters."""
        if len(values) != len(self.params):
            raise BadRow(f"lines of its input: {len(values)}, parameters: {len(self.params)}")
        if self.methods:
            _check_calls(values)
            return
        for value, (name, kind) in zip(values, self.params, strict=True):
            try:
                _fitted(value, kind)
            except BadRow as error:
                raise BadRow(f"its argument {name} {error.reason}") from None

    def expected(self, answer: str, values: list[Any]) -> Any:
        """The value that a right program gives, as the statement's `answer` to a test with these arguments says it.

        Numbers of type double are floats, whatever they are written as. ``BadRow`` when the answer does not fit.
        """
        if not self.methods:
            return read_typed(answer, self.answer_type)
        results, (names, arguments) = read_answer(answer), values
        if not isinstance(results, list) or not len(results) == len(names) == len(arguments):
            raise BadRow(f"its output is not one value for each of its {len(names)} calls: {answer[:60]!r}")
        return [_result(self.methods, name, value) for name, value in zip(names, results, strict=True)]


def read_signature(text: str) -> Signature:
    """The signature that ``metaData`` states. ``BadRow`` when it is no JSON object, or names nothing to call."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRow(f"metaData is not JSON ({error})") from None
    if not isinstance(given, dict):
        raise BadRow(f"metaData is {json_kind(given)}, not an object")
    is_manual = given.get("manual") is True
    if optional_text(given, "classname") is not None:
        return _design(given, is_manual)
    params = _params(given)
    returns = _returned(given)
    types = frozenset({kind for _, kind in params} | {returns})
    return Signature(required_text(given, "name"), params, returns, {}, types, _changed(given, params), is_manual)


def read_type(written: str) -> str:
    """A type in the one spelling: ``List<String>`` is ``string[]``. ``BadRow`` for one that is too long to be any."""
    if len(written) > _LONGEST_TYPE:
        raise BadRow(f"metaData has a type of {len(written)} characters: {written[:60]!r}")
    kind, depth = re.sub(r"\s", "", written).lower(), 0
    while match := _LIST.fullmatch(kind):
        kind, depth = match[1] if match[1] is not None else match[2], depth + 1
    return _ALIASES.get(kind, kind) + "[]" * depth


def read_typed(answer: str, kind: str) -> Any:
    """The value of type `kind` that an answer shows. Old statements write texts without quotes, and ``True``."""
    try:
        return _fitted(_written(answer, kind), kind)
    except BadRow as error:
        raise BadRow(f"its output {error.reason}") from None


def _written(answer: str, kind: str) -> Any:
    line, _, later = answer.partition("\n")
    bare = line.strip()
    if kind in _WRITTEN_BARE and bare and bare != "null" and bare[0] not in "\"'":
        if later.strip() and not later.startswith("\n"):
            raise BadRow(f"is a text of several lines: {answer[:60]!r}")
        return bare
    if kind == "boolean" and bare in ("True", "False"):
        return bare == "True"
    return read_answer(answer)


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
    if answer is None:
        raise BadRow("no output of the statement is certainly its own")
    expected = json.dumps(signature.expected(answer, values), ensure_ascii=False)
    return sample_test(number, encode_test_text("the input", case), encode_test_text("the output", expected))


def _cases(question: Mapping[str, Any], signature: Signature) -> tuple[str, ...]:
    """The inputs of the examples: listed one by one, or all in one text, or the first alone."""
    listed = question.get("exampleTestcaseList")
    if isinstance(listed, list) and listed:
        return tuple(long_text({"an example": case}, "an example").strip() for case in listed)
    lines = long_text(question, "exampleTestcases").strip().split("\n")
    size = len(signature.params)
    if lines != [""] and size and len(lines) % size == 0:
        return tuple("\n".join(lines[start : start + size]) for start in range(0, len(lines), size))
    first = long_text(question, "sampleTestCase").strip()
    return (first,) if first else ()


def _fitted(value: Any, kind: str) -> Any:
    """The value, with integers made floats where the type is double. ``BadRow`` when it is of another type.

    What a type of the site's own is written as is not known here: it is taken as it is.
    """
    if kind.endswith("[]"):
        if not isinstance(value, list):
            raise BadRow(f"is {json_kind(value)}, not {kind}")
        return [_fitted(part, kind.removesuffix("[]")) for part in value]
    fits = {
        "integer": type(value) is int,
        "long": type(value) is int,
        "double": type(value) in (int, float),
        "boolean": type(value) is bool,
        "string": type(value) is str,
        "character": type(value) is str and len(value) == 1,
        "void": value is None,
    }.get(kind, True)
    if not fits:
        raise BadRow(f"is {json_kind(value)}, not {kind}")
    try:
        return float(value) if kind == "double" else value
    except OverflowError:
        raise BadRow("is beyond the range of numbers") from None


def _design(given: Mapping[str, Any], is_manual: bool) -> Signature:
    name = required_text(given, "classname")
    members = [method for method in _list(given, "methods") if isinstance(method, dict)]
    methods = {required_text(method, "name"): _returned(method) for method in members}
    constructor = given.get("constructor")
    made = [constructor] if isinstance(constructor, dict) else []
    types = {kind for member in (*members, *made) for _, kind in _params(member)} | set(methods.values())
    lines = (("names", "string[]"), ("arguments", "list"))
    return Signature(name, lines, "void", {**methods, name: "void"}, frozenset(types), None, is_manual)


def _params(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found = []
    for number, param in enumerate(_list(given, "params"), start=1):
        if not isinstance(param, dict):
            raise BadRow(f"metaData: parameter {number} is {json_kind(param)}, not an object")
        found.append((optional_text(param, "name") or f"number {number}", read_type(required_text(param, "type"))))
    return tuple(found)


def _returned(given: Mapping[str, Any]) -> str:
    returned = given.get("return")
    return read_type(optional_text(returned, "type") or "void") if isinstance(returned, dict) else "void"


def _changed(given: Mapping[str, Any], params: tuple[tuple[str, str], ...]) -> int | None:
    output = given.get("output")
    index = output.get("paramindex") if isinstance(output, dict) else None
    if index is None:
        return None
    if type(index) is not int or not 0 <= index < len(params):
        raise BadRow(f"metaData: output.paramindex is {index!r} for {len(params)} parameters")
    return index


def _list(given: Mapping[str, Any], name: str) -> Iterable[Any]:
    value = given.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadRow(f"metaData: {name} is {json_kind(value)}, not a list")
    return value


def _check_calls(values: list[Any]) -> None:
    names, arguments = values
    if not isinstance(names, list) or not isinstance(arguments, list) or len(names) != len(arguments):
        raise BadRow("its two lines are not as many names as lists of arguments")


def _result(methods: Mapping[str, str], name: Any, value: Any) -> Any:
    if not isinstance(name, str) or name not in methods:
        raise BadRow(f"it calls {name!r}, which metaData does not have")
    try:
        return _fitted(value, methods[name])
    except BadRow as error:
        raise BadRow(f"its output for {name} {error.reason}") from None
