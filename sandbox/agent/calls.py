"""Call a function of a program, or the methods of its class, with JSON arguments; write what is returned as JSON.

FUNCTION: arguments stand one a line, as in LiveCodeBench and LeetCode; the method of a fresh ``Solution``, or a
function, is called. DESIGN: a line of names, the class first, and one of argument lists, as in LeetCode; what the calls
return makes a list. The program finds the names that LiveCodeBench's grader imports first (its ``import_string``) and
LeetCode's nodes, and is no ``__main__``. Each test has its own process, so that nothing is left of the one before.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import types
from typing import Any, NoReturn

from .encoding import LIST, Values
from .forms import FORMS
from .nodes import ListNode, Misshapen, TreeNode, Unencodable
from .program import report_exception

MODULE_NAME = "solution"

# The first byte of what is written: a value follows, or what was returned in place of one, or nothing since the test's
# input is not what its signature says.
VALUE, UNENCODABLE, UNREADABLE = b"V", b"T", b"A"

FUNCTION, DESIGN = "function", "design"
VOID = "void"
# The type of a line that is not passed on: it closes the list of the line before, as LeetCode writes cycles.
POSITION = "ListNode.pos"

# In the grader's order: a later star import wins (operator's and builtins' `pow` over math's).
STAR_IMPORTS = (
    "string",
    "re",
    "datetime",
    "collections",
    "heapq",
    "bisect",
    "copy",
    "math",
    "random",
    "statistics",
    "itertools",
    "functools",
    "operator",
    "io",
    "sys",
    "json",
    "builtins",
    "typing",
)
# LeetCode has these names at hand as well; here only where the package is (the full image).
_SORTED = ("SortedList", "SortedDict", "SortedSet")
_MODULES = [name for name in STAR_IMPORTS if name not in ("builtins", "typing")]
RECURSION_LIMIT = 50_000


def prelude() -> dict[str, Any]:
    """The names that call-based programs may use without importing them."""
    names: dict[str, Any] = {"ListNode": ListNode, "TreeNode": TreeNode}
    for module_name in STAR_IMPORTS:
        module = importlib.import_module(module_name)
        public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        names.update({name: getattr(module, name) for name in public})
    names.update({name: importlib.import_module(name) for name in _MODULES})
    with contextlib.suppress(ImportError):
        sorted_containers = importlib.import_module("sortedcontainers")
        names.update({name: getattr(sorted_containers, name) for name in _SORTED})
    return names


def read_arguments(text: bytes) -> list[Any]:
    """The arguments of a call: one JSON value on each line that is not blank. ``ValueError`` when one is none."""
    return [json.loads(line) for line in text.decode().split("\n") if line.strip()]


def check(details: dict[str, Any], text: bytes) -> None:
    """``ValueError`` or ``RecursionError`` when a test's input is not what the details say, whatever the program."""
    values = _read(details, text)
    handled = Values({})
    for given, kinds in _calls(details, values):
        _arguments(handled, given, kinds)


def run(code: types.CodeType, names: dict[str, Any], details: dict[str, Any], arguments: bytes, fd: int) -> NoReturn:
    """Run the program, make the calls, write what is returned to ``fd`` as JSON, end the process.

    ``details``: ``form`` is FUNCTION (the default) or DESIGN, ``entry_point`` the name of the function or class,
    ``parameters`` and ``returns`` types as :class:`Values` takes them, ``answer`` the index of the argument that is
    the answer where nothing is returned, ``methods`` the same by name for a class. All but the name may be left out.
    """
    write, leave = os.write, os._exit
    try:
        values = _read(details, arguments)
    except (ValueError, RecursionError):
        write(fd, UNREADABLE)
        leave(0)
    module = types.ModuleType(MODULE_NAME)
    module.__dict__.update(names, **_own_nodes(details))
    sys.modules[MODULE_NAME] = module
    sys.setrecursionlimit(RECURSION_LIMIT)
    perform = _design if details.get("form") == DESIGN else _function
    try:
        exec(code, module.__dict__)
        payload = _payload(perform, details, values, module.__dict__)
        while payload:
            payload = payload[write(fd, payload) :]
    except BaseException as error:
        report_exception(error)
        sys.stderr.flush()
        leave(1)
    leave(0)


def _payload(perform: Any, details: dict[str, Any], values: list[Any], namespace: dict[str, Any]) -> bytes:
    try:
        text: str = perform(details, values, namespace)
    except Unencodable as error:
        return UNENCODABLE + str(error).encode(errors="backslashreplace")
    except Misshapen:
        return UNREADABLE
    return VALUE + text.encode()


def _read(details: dict[str, Any], text: bytes) -> list[Any]:
    values = read_arguments(text)
    if details.get("form") == DESIGN:
        _check_design(details, values)
    elif details.get("parameters") and len(details["parameters"]) != len(values):
        raise ValueError(f"{len(values)} arguments for {len(details['parameters'])} parameters")
    return values


def _check_design(details: dict[str, Any], values: list[Any]) -> None:
    if len(values) != 2 or not all(isinstance(part, list) for part in values):
        raise ValueError("not a line with a list of names and one with a list of arguments")
    names, arguments = values
    if len(names) != len(arguments) or not all(isinstance(given, list) for given in arguments):
        raise ValueError("not a list of arguments for each name")
    if names[:1] != [details["entry_point"]]:
        raise ValueError(f"the first name is not {details['entry_point']}")
    known = details.get("methods")
    for name in names[1:]:
        if not isinstance(name, str) or (known and name not in known):
            raise ValueError(f"{name!r:.60} is no method")


def _calls(details: dict[str, Any], values: list[Any]) -> list[tuple[list[Any], list[str]]]:
    """The arguments of each call with their types."""
    kinds = details.get("parameters") or []
    if details.get("form") != DESIGN:
        return [(values, kinds)]
    methods = details.get("methods") or {}
    (_, *names), (first, *others) = values
    return [(first, kinds), *((given, _typed(methods, name)[0]) for name, given in zip(names, others, strict=True))]


def _typed(methods: dict[str, Any], name: str) -> tuple[list[str], str]:
    """The types of a method's parameters and of what it returns."""
    method = methods.get(name, {})
    return method.get("parameters") or [], method.get("returns", "")


def _arguments(handled: Values, given: list[Any], kinds: list[str]) -> list[Any]:
    """The arguments of one call. They go as they are where no types are stated."""
    if not kinds:
        return given
    if len(kinds) != len(given):
        raise Misshapen(f"{len(given)} arguments for {len(kinds)} parameters")
    arguments: list[Any] = []
    for value, kind in zip(given, kinds, strict=True):
        if kind == POSITION:
            _close(arguments[-1] if arguments else None, value)
            arguments.append(POSITION)
        else:
            arguments.append(handled.read(value, kind))
    return arguments


def _close(head: Any, position: Any) -> None:
    """Let the last node of a list lead back to the one at this index; -1 leaves it open."""
    if position == -1:
        return
    last = target = head
    while last is not None and last.next is not None:
        last = last.next
    for _ in range(position):
        target = target and target.next
    if target is None or type(position) is not int or position < 0:
        raise Misshapen(f"{position!r:.60} is no index of a node")
    last.next = target


def _function(details: dict[str, Any], values: list[Any], namespace: dict[str, Any]) -> str:
    handled = Values(namespace)
    kinds, answer = details.get("parameters") or [], details.get("answer")
    arguments = _arguments(handled, values, kinds)
    passed = [argument for argument in arguments if argument is not POSITION]
    returned = _target(namespace, details["entry_point"])(*passed)
    if answer is None:
        return handled.write(returned, details.get("returns", ""))
    return handled.write(arguments[answer], kinds[answer] if kinds else "")


def _target(namespace: dict[str, Any], entry_point: str) -> Any:
    holder = namespace.get("Solution")
    if isinstance(holder, type):
        return getattr(holder(), entry_point)
    if entry_point not in namespace:
        raise NameError(f"neither class Solution nor function {entry_point} is defined")
    return namespace[entry_point]


def _design(details: dict[str, Any], values: list[Any], namespace: dict[str, Any]) -> str:
    if details["entry_point"] not in namespace:
        raise NameError(f"class {details['entry_point']} is not defined")
    handled = Values(namespace)
    methods = details.get("methods") or {}
    (_, *names), (first, *others) = values
    made = namespace[details["entry_point"]](*_arguments(handled, first, details.get("parameters") or []))
    texts = ["null"]
    for name, given in zip(names, others, strict=True):
        kinds, returns = _typed(methods, name)
        returned = getattr(made, name)(*_arguments(handled, given, kinds))
        # Written at once: what a later call does to it does not count.
        texts.append("null" if returns == VOID else _written(handled, returned, returns, name))
    return f"[{', '.join(texts)}]"


def _written(handled: Values, returned: Any, returns: str, name: str) -> str:
    try:
        return handled.write(returned, returns)
    except Unencodable as error:
        raise Unencodable(f"{error} from {name}") from None


def _own_nodes(details: dict[str, Any]) -> dict[str, type]:
    """The class that the name ``Node`` means here, if any type is one of its forms."""
    typed = [details, *(details.get("methods") or {}).values()]
    kinds = [kind for part in typed for kind in [*(part.get("parameters") or []), part.get("returns", "")]]
    forms = [FORMS[base] for kind in kinds if (base := kind.replace(LIST, "")) in FORMS]
    return {form.name: form.standard for form in forms}
