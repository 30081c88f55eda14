"""What the Python starter code of a problem says: the types of its functions, and which kind of ``Node`` it has. Pure.

LeetCode's starter code ends its functions without a body, and shows the definition of a node in a comment or a text
before the class. Types come in the spelling of ``sandbox.signatures``.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from sandbox.signatures import NODES, read_type

_FUNCTION = re.compile(r"^[ \t]*(def [^\n]*:)[ \t]*$", re.MULTILINE)
_NODE = re.compile(r"^[ \t#]*class Node\b[^\n]*\n((?:[ \t#]*\n|[ \t#]+[^\n]*\n?)*)", re.MULTILINE)
_FIELD = re.compile(r"\bself\.(\w+)\s*(?::[^=\n]+)?=(?!=)")
_KINDS = {fields: kind for kind, (name, fields) in NODES.items() if name == "Node"}


@dataclass(frozen=True)
class Function:
    """The types of a function's parameters, ``self`` left out, and of what it returns; "any" where none is stated."""

    parameters: tuple[str, ...]
    returns: str


def read_functions(code: str) -> dict[str, Function]:
    """The functions of a starter code by their names; what cannot be read is left out."""
    found = {}
    for match in _FUNCTION.finditer(code):
        try:
            with warnings.catch_warnings(action="ignore"):  # of what a parser finds odd in it
                (function,) = ast.parse(f"{match[1]} pass").body
            if isinstance(function, ast.FunctionDef):
                found[function.name] = _function(function)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return found


def node_kind(code: str) -> str | None:
    """Which kind of node the class ``Node`` of a starter code is, by its fields; None if it is none of those known."""
    match = _NODE.search(code)
    return _KINDS.get(frozenset(_FIELD.findall(match[1]))) if match else None


def _function(function: ast.FunctionDef) -> Function:
    arguments = [*function.args.posonlyargs, *function.args.args]
    parameters = [_type(argument.annotation) for argument in arguments if argument.arg != "self"]
    return Function(tuple(parameters), _type(function.returns))


def _type(annotation: ast.expr | None) -> str:
    return read_type("" if annotation is None else ast.unparse(annotation))
