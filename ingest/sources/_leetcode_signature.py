"""What a LeetCode problem calls, out of its ``metaData``: a function, or a class to design. Pure.

``metaData`` is JSON inside a string, and spells types in several ways (``string``, ``String``, ``list<integer>``,
``integer[]``). A type here has the one spelling of ``sandbox.signatures``. Which kind of ``Node`` is meant is not in
``metaData``: the starter code's definition of it says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from db.json_lines import json_kind
from db.records import IoKind, SuiteRecord, TestCaseRecord
from ingest.errors import BadRow
from ingest.fields import optional_text, required_text
from ingest.sources._leetcode_examples import read_answer
from ingest.starter_code import Function, node_kind, read_functions
from sandbox import plain, signatures
from sandbox.programs import Io
from sandbox.programs import Signature as CallSignature

_VOID = "void"
_WRITTEN_BARE = frozenset({"string", "character"})
_LEVELS = "Node.next"


@dataclass(frozen=True)
class Method:
    """One thing that is called: its parameters as (name, type), and the type of what it returns."""

    params: tuple[tuple[str, str], ...] = ()
    returns: str = _VOID

    @property
    def types(self) -> tuple[str, ...]:
        """All its types, that of what it returns last."""
        return (*(kind for _, kind in self.params), self.returns)

    def check_arguments(self, values: Sequence[Any], what: str = "") -> None:
        """``BadRow`` unless the values fit the parameters."""
        if len(values) != len(self.params):
            raise BadRow(f"arguments{what}: {len(values)}, parameters: {len(self.params)}")
        for value, (name, kind) in zip(values, self.params, strict=True):
            try:
                _fitted(value, kind)
            except BadRow as error:
                raise BadRow(f"its argument {name}{what} {error.reason}") from None


@dataclass(frozen=True)
class Signature:
    """What is called, with the types of what goes in and comes out.

    ``call`` is the function, or the constructor of a class to design, whose other methods are in ``methods``.
    ``changed`` is the index of the argument that is the answer of a function, where it is not the returned value, and
    ``is_cut`` says that only a part of it is. ``is_manual``: judged by code of the site's own. ``doubts`` say where the
    starter code tells something else.
    """

    name: str
    call: Method
    methods: Mapping[str, Method] = field(default_factory=dict)
    changed: int | None = None
    is_design: bool = False
    is_manual: bool = False
    is_cut: bool = False
    doubts: tuple[str, ...] = ()

    @property
    def answer_type(self) -> str:
        """The type of a function's answer."""
        return self.call.returns if self.changed is None else self.call.params[self.changed][1]

    @property
    def io_kind(self) -> IoKind:
        """How a program is called."""
        return IoKind.DESIGN if self.is_design else IoKind.FUNCTION

    @property
    def n_lines(self) -> int:
        """Lines of a test's input: one for each argument, or one of names and one of lists of arguments."""
        return 2 if self.is_design else len(self.call.params)

    def _as_call(self) -> CallSignature:
        methods = tuple((name, _as_call(method)) for name, method in self.methods.items())
        return replace(_as_call(self.call), answer=self.changed, methods=methods)

    def _refusal(self) -> str:
        """Why the sandbox cannot make its values; empty where it can."""
        kinds = {kind for method in (self.call, *self.methods.values()) for kind in method.types}
        if unknown := sorted(kind for kind in kinds if not signatures.is_known(kind)):
            return f"it uses {', '.join(unknown)}, which the judge does not know"
        try:
            signatures.details_of(Io(self.io_kind), self.name, self._as_call())
        except ValueError as error:
            return str(error)
        return ""

    def as_plain(self) -> dict[str, Any] | None:
        """For ``SuiteRecord.signature``; None when the sandbox cannot make its values."""
        return None if self._refusal() else plain.signature_as_plain(self._as_call())

    def suite(self, tests: tuple[TestCaseRecord, ...], comparison: dict[str, Any]) -> SuiteRecord:
        """The tests as a suite of what is called."""
        return SuiteRecord(tests, self.io_kind, self.name, comparison, signature=self.as_plain())

    def obstacles(self) -> tuple[tuple[str, str], ...]:
        """Why the judge cannot run it, as (flag, reason) pairs."""
        found = []
        if reasons := [reason for reason in (self._refusal(), *self.doubts) if reason]:
            found.append(("data_structure", "; ".join(reasons)))
        if self.is_manual:
            found.append(("custom_judge", "metaData says manual: the site judges it with code of its own"))
        elif not self.is_design and (why := self._no_answer()):
            found.append(("custom_judge", why))
        return tuple(found)

    def _no_answer(self) -> str:
        """Why it is not known what the answer of a function is; empty where it is."""
        if self.changed is None:
            return "it returns nothing, and no argument is named as the answer" if self.call.returns == _VOID else ""
        name = self.call.params[self.changed][0]
        if self.is_cut or self.call.returns != _VOID:
            return f"the answer is a part of {name}, whose length the call says"
        return ""

    def check_arguments(self, values: list[Any]) -> None:
        """``BadRow`` unless the values of a test fit the parameters."""
        if len(values) != self.n_lines:
            raise BadRow(f"lines of its input: {len(values)}, parameters: {self.n_lines}")
        if not self.is_design:
            self.call.check_arguments(values)
            return
        for name, given in _calls(values, self.name):
            self._method(name).check_arguments(given, f" of {name}")

    def _method(self, name: str) -> Method:
        if name == self.name:
            return replace(self.call, returns=_VOID)
        if name not in self.methods:
            raise BadRow(f"it calls {name!r}, which metaData does not have")
        return self.methods[name]

    def expected(self, answer: str, values: list[Any]) -> Any:
        """The value that a right program gives, as the statement's `answer` to a test with these arguments says it.

        Numbers of type double are floats, whatever they are written as. ``BadRow`` when the answer does not fit.
        """
        if not self.is_design:
            return read_typed(answer, self.answer_type)
        results, calls = read_answer(answer), _calls(values, self.name)
        if not isinstance(results, list) or len(results) != len(calls):
            raise BadRow(f"its output is not one value for each of its {len(calls)} calls: {answer[:60]!r}")
        return [_result(self._method(name), name, value) for (name, _), value in zip(calls, results, strict=True)]


def _as_call(method: Method) -> CallSignature:
    return CallSignature(tuple(kind for _, kind in method.params), method.returns)


def read_signature(text: str, starter_code: str = "") -> Signature:
    """The signature that ``metaData`` states. ``BadRow`` when it is no JSON object, or names nothing to call.

    The starter code says which kind of node a ``Node`` is; where its types are others, that is noted as a doubt.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRow(f"metaData is not JSON ({error})") from None
    if not isinstance(given, dict):
        raise BadRow(f"metaData is {json_kind(given)}, not an object")
    is_manual = given.get("manual") is True
    kind = node_kind(starter_code)
    if optional_text(given, "classname") is not None:
        return _with_doubts(_design(given, is_manual, kind), starter_code)
    call = _method(given, kind)
    changed, is_cut = _changed(given, call)
    signature = Signature(required_text(given, "name"), call, changed=changed, is_manual=is_manual, is_cut=is_cut)
    return _with_doubts(signature, starter_code)


def read_type(written: str, node: str | None = None) -> str:
    """A type in the one spelling: ``List<String>`` is ``string[]``, a ``Node`` is `node` if that is known.

    ``BadRow`` for one that is too long to be any.
    """
    try:
        kind = signatures.read_type(written)
    except ValueError as error:
        raise BadRow(f"metaData has {error}") from None
    base = kind.replace("[]", "")
    return kind.replace(base, node) if node and base.lower() == "node" else kind


def read_typed(answer: str, kind: str) -> Any:
    """The value of type `kind` that an answer shows. Old statements write texts without quotes, and ``True``."""
    try:
        return _fitted(_written(answer, kind), kind)
    except BadRow as error:
        raise BadRow(f"its output {error.reason}") from None


def _written(answer: str, kind: str) -> Any:
    if kind == _LEVELS:
        answer = answer.replace('"#"', "#").replace("#", '"#"')  # bare in statements, which is no JSON
    line, _, later = answer.partition("\n")
    bare = line.strip()
    if kind in _WRITTEN_BARE and bare and bare != "null" and bare[0] not in "\"'":
        if later.strip() and not later.startswith("\n"):
            raise BadRow(f"is a text of several lines: {answer[:60]!r}")
        return bare
    if kind == "boolean" and bare in ("True", "False"):
        return bare == "True"
    return read_answer(answer)


def _fitted(value: Any, kind: str) -> Any:
    """The value as the sandbox would write it: integers are floats where the type is double, nodes in one way.

    ``BadRow`` when it is of another type. What an unknown type is written as is not known here: it is taken as it is.
    """
    if kind.replace("[]", "") in signatures.NODES:
        return _fitted_nodes(value, kind)
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


def _fitted_nodes(value: Any, kind: str) -> Any:
    if kind == _LEVELS and not isinstance(value, list):
        raise BadRow(f"is {json_kind(value)}, not {kind}")
    try:
        return signatures.written_as_returned(value, kind)
    except ValueError as error:
        raise BadRow(f"is no {kind}: {error}") from None


def _design(given: Mapping[str, Any], is_manual: bool, node: str | None) -> Signature:
    members = [method for method in _list(given, "methods") if isinstance(method, dict)]
    methods = {required_text(method, "name"): _method(method, node) for method in members}
    constructor = given.get("constructor")
    call = replace(_method(constructor, node), returns=_VOID) if isinstance(constructor, dict) else Method()
    return Signature(required_text(given, "classname"), call, methods, is_design=True, is_manual=is_manual)


def _method(given: Mapping[str, Any], node: str | None) -> Method:
    returned = given.get("return")
    written = optional_text(returned, "type") if isinstance(returned, dict) else None
    return Method(_params(given, node), read_type(written or _VOID, node))


def _params(given: Mapping[str, Any], node: str | None) -> tuple[tuple[str, str], ...]:
    found = []
    for number, param in enumerate(_list(given, "params"), start=1):
        if not isinstance(param, dict):
            raise BadRow(f"metaData: parameter {number} is {json_kind(param)}, not an object")
        kind = read_type(required_text(param, "type"), node)
        found.append((optional_text(param, "name") or f"number {number}", kind))
    return tuple(found)


def _changed(given: Mapping[str, Any], call: Method) -> tuple[int | None, bool]:
    """The index of the argument that is the answer, if it is one, and whether only a part of it counts."""
    output = given.get("output")
    index = output.get("paramindex") if isinstance(output, dict) else None
    if not isinstance(output, dict) or index is None:
        return None, False
    if type(index) is not int or not 0 <= index < len(call.params):
        raise BadRow(f"metaData: output.paramindex is {index!r} for {len(call.params)} parameters")
    return index, output.get("size") is not None


def _with_doubts(signature: Signature, starter_code: str) -> Signature:
    """The signature with what the starter code says otherwise: of nodes, and of how many arguments there are."""
    functions = read_functions(starter_code)
    named = {name: method for name, method in signature.methods.items() if name in functions}
    first = "__init__" if signature.is_design else signature.name
    if first in functions:
        named[first] = signature.call
    doubts = [doubt for name, method in named.items() for doubt in _doubts(name, method, functions[name])]
    return replace(signature, doubts=tuple(doubts))


def _doubts(name: str, method: Method, stated: Function) -> Iterable[str]:
    if len(stated.parameters) != len(method.params):
        yield f"{name} has {len(stated.parameters)} parameters in the starter code, {len(method.params)} in metaData"
        return
    returns = stated.returns if name != "__init__" else _VOID
    for mine, theirs in zip(method.types, (*stated.parameters, returns), strict=True):
        if _is_plain(mine) and not _is_plain(theirs):
            yield f"{name} has {theirs} in the starter code where metaData has {mine}"


def _is_plain(kind: str) -> bool:
    return kind.replace("[]", "") in signatures.PLAIN


def _list(given: Mapping[str, Any], name: str) -> Iterable[Any]:
    value = given.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadRow(f"metaData: {name} is {json_kind(value)}, not a list")
    return value


def _calls(values: list[Any], class_name: str) -> list[tuple[str, list[Any]]]:
    names, arguments = values
    lists = isinstance(names, list) and isinstance(arguments, list) and len(names) == len(arguments)
    if not lists or not all(isinstance(given, list) for given in arguments):
        raise BadRow("its two lines are not as many names as lists of arguments")
    if not all(isinstance(name, str) for name in names):
        raise BadRow("its names are not all texts")
    if names[:1] != [class_name] or class_name in names[1:]:
        raise BadRow(f"it does not make one {class_name} and then call its methods")
    return list(zip(names, arguments, strict=True))


def _result(method: Method, name: str, value: Any) -> Any:
    try:
        return _fitted(value, method.returns)
    except BadRow as error:
        raise BadRow(f"its output for {name} {error.reason}") from None
