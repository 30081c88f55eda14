"""A lone method, completed with the class that it belongs to. Pure."""

from __future__ import annotations

import ast
import re

from eval.generate.python_programs import parsed

_CLASS = re.compile(r"^class +\w+[^\n]*:", re.MULTILINE)
_DEFAULT_CLASS = "class Solution:"
_FIRST_INDENTED = re.compile(r"^[ \t]+(?:async +def|def|@)", re.MULTILINE)


def completed(code: str, entry_point: str, starter_code: str) -> str:
    """The code as it is, or with the class of the starter code where it is a method ``entry_point`` without one.

    Methods that are indented get the class's first line above them. Functions at the margin that take ``self`` are
    named in a class at the end. The code's own lines stay as they are, but for the indentation of a first line whose
    followers kept theirs. Only Python; what does not parse then either stays as it is.
    """
    found = _CLASS.search(starter_code)
    header = found[0] if found is not None else _DEFAULT_CLASS
    tree = parsed(code)
    if tree is not None:
        names = _methods_at_the_margin(tree)
        if entry_point not in names:
            return code
        separator = "" if code.endswith("\n") else "\n"
        return f"{code}{separator}\n\n{header}\n" + "".join(f"    {name} = {name}\n" for name in names)
    for attempt in _under_class(code, header):
        tree = parsed(attempt)
        if tree is not None and _has_method(tree, entry_point):
            return attempt
    return code


def _under_class(code: str, header: str) -> list[str]:
    attempts = [f"{header}\n    {code.lstrip()}"]
    first = _FIRST_INDENTED.search(code)
    if first is not None:
        attempts.insert(0, f"{code[: first.start()]}{header}\n{code[first.start() :]}")
    return attempts


def _methods_at_the_margin(tree: ast.Module) -> list[str]:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [one.name for one in functions if [argument.arg for argument in one.args.args[:1]] == ["self"]]


def _has_method(tree: ast.Module, name: str) -> bool:
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return any(isinstance(node, ast.FunctionDef) and node.name == name for one in classes for node in one.body)
