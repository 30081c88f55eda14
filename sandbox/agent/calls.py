"""Call one function of a program with JSON arguments and write its value as JSON: LiveCodeBench's call-based form.

Arguments stand one a line. The program finds the names that LiveCodeBench's grader imports first (its
``import_string``) and is no ``__main__``. The value is written by a strict encoder: exact types only, so that an object
with a clever ``__eq__`` or a subclass has no say in the comparison, which happens outside the jail.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from typing import Any, NoReturn

from .program import report_exception

MODULE_NAME = "solution"
ZYGOTE_NAME = "call"

# The first byte of what is written: a value follows, or the name of a type that has no JSON form, or nothing since the
# arguments could not be read.
VALUE, UNENCODABLE, UNREADABLE = b"V", b"T", b"A"
MAX_DEPTH = 500

# In the grader's order: a later star import wins (operator's and builtins' `pow` over math's).
_STAR_IMPORTS = (
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
_MODULES = [name for name in _STAR_IMPORTS if name not in ("builtins", "typing")]
_RECURSION_LIMIT = 50_000
_SCALARS = (bool, int, float, str, type(None))


class ListNode:
    """LeetCode's node of a linked list, which signatures name."""

    def __init__(self, val: int = 0, next: ListNode | None = None) -> None:
        self.val = val
        self.next = next


class TreeNode:
    """LeetCode's node of a binary tree, which signatures name."""

    def __init__(self, val: int = 0, left: TreeNode | None = None, right: TreeNode | None = None) -> None:
        self.val = val
        self.left = left
        self.right = right


def prelude() -> dict[str, Any]:
    """The names that call-based programs may use without importing them."""
    names: dict[str, Any] = {"ListNode": ListNode, "TreeNode": TreeNode}
    for module_name in _STAR_IMPORTS:
        module = importlib.import_module(module_name)
        public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        names.update({name: getattr(module, name) for name in public})
    names.update({name: importlib.import_module(name) for name in _MODULES})
    return names


class Unencodable(TypeError):
    """A returned value has a part that JSON cannot hold exactly; the message is the type's name."""


def check_encodable(value: Any) -> None:
    """Raise :class:`Unencodable` unless ``value`` is built of exact JSON types, lists and tuples, not too deep."""
    pending = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        kind = type(item)
        if kind in _SCALARS:
            continue
        if depth >= MAX_DEPTH:
            raise Unencodable("a value nested too deeply")
        if kind is list or kind is tuple:
            pending.extend([(part, depth + 1) for part in item])
        elif kind is dict:
            if any(type(key) is not str for key in item):
                raise Unencodable("dict with keys that are not str")
            pending.extend([(part, depth + 1) for part in item.values()])
        else:
            raise Unencodable(kind.__name__)


def encode(value: Any) -> bytes:
    """The tagged bytes for a returned value; tuples become lists."""
    try:
        check_encodable(value)
    except Unencodable as error:
        return UNENCODABLE + str(error).encode()
    return VALUE + json.dumps(value, check_circular=False).encode()


def _target(namespace: dict[str, Any], entry_point: str) -> Any:
    holder = namespace.get("Solution")
    if isinstance(holder, type):
        return getattr(holder(), entry_point)
    if entry_point not in namespace:
        raise NameError(f"neither class Solution nor function {entry_point} is defined")
    return namespace[entry_point]


def read_arguments(text: bytes) -> list[Any]:
    """The arguments of a call: one JSON value on each line that is not blank. ``ValueError`` when one is none."""
    return [json.loads(line) for line in text.decode().split("\n") if line.strip()]


def run(code: types.CodeType, names: dict[str, Any], entry_point: str, arguments: bytes, result_fd: int) -> NoReturn:
    """Call ``entry_point`` with the arguments, write the encoded value to ``result_fd``, end the process."""
    try:
        values = read_arguments(arguments)
    except (ValueError, RecursionError):
        os.write(result_fd, UNREADABLE)
        os._exit(0)
    module = types.ModuleType(MODULE_NAME)
    module.__dict__.update(names)
    sys.modules[MODULE_NAME] = module
    sys.setrecursionlimit(_RECURSION_LIMIT)
    write, leave, encoder = os.write, os._exit, encode
    try:
        exec(code, module.__dict__)
        payload = encoder(_target(module.__dict__, entry_point)(*values))
        while payload:
            payload = payload[write(result_fd, payload) :]
    except BaseException as error:
        report_exception(error)
        sys.stderr.flush()
        leave(1)
    leave(0)
