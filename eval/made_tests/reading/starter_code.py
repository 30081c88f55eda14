"""What is called, and with which arguments, from the Python starter code of a LeetCode problem. Pure.

The functions of starter code have no body, so that it is no Python as a whole: each head is read by itself. ``self`` is
left out.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

Signature = tuple[tuple[str, str], ...]
"""The (name, type) pairs of a call, in order; "any" where no type is stated."""

_CLASS = re.compile(r"^class[ \t]+(\w+)", re.MULTILINE)
_FUNCTION = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(def[ \t]+\w+[ \t]*\(.*?:)[ \t]*(?:#[^\n]*)?$", re.MULTILINE | re.DOTALL
)
_CONSTRUCTOR = "__init__"


@dataclass(frozen=True)
class DesignSignature:
    """The arguments of a class's constructor, and of its methods by name."""

    constructor: Signature
    methods: Mapping[str, Signature]


def design_signature_of(starter_code: str, class_name: str) -> DesignSignature | None:
    """The arguments of a class and of its methods; None where there is no such class, or it has no methods."""
    starts = list(_CLASS.finditer(starter_code))
    for place, start in enumerate(starts):
        if start[1] == class_name:
            end = starts[place + 1].start() if place + 1 < len(starts) else len(starter_code)
            found = _functions(starter_code[start.start() : end])
            constructor = found.pop(_CONSTRUCTOR, ())
            methods = {name: signature for name, signature in found.items() if not name.startswith("_")}
            return DesignSignature(constructor, methods) if methods else None
    return None


def parameters_of(starter_code: str, entry_point: str) -> Signature:
    """The arguments of a function; () where the code does not show it."""
    return _functions(starter_code).get(entry_point, ())


def _functions(code: str) -> dict[str, Signature]:
    found: dict[str, Signature] = {}
    for match in _FUNCTION.finditer(code):
        try:
            with warnings.catch_warnings(action="ignore"):  # of what a parser finds odd in it
                (function,) = ast.parse(f"{match[1]} pass").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if isinstance(function, ast.FunctionDef):
            arguments = [*function.args.posonlyargs, *function.args.args]
            found.setdefault(function.name, tuple((each.arg, _type(each)) for each in arguments if each.arg != "self"))
    return found


def _type(argument: ast.arg) -> str:
    return "any" if argument.annotation is None else ast.unparse(argument.annotation)
