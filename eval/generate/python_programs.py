"""What a Python program does, by its syntax tree: reads input, tests another program, defines what is called. Pure."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

MAX_PARSED = 1 << 17
"""Characters: a longer text is not parsed as Python, and counts as one that does not parse."""


@lru_cache(maxsize=8)  # a block is looked at from several sides
def parsed(text: str) -> ast.Module | None:
    """The text as Python; None where it is none, or too long or too deep to be looked at."""
    if len(text) > MAX_PARSED:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a text is the model's affair
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def is_python_program(tree: ast.Module) -> bool:
    """Whether something is done or defined: more than names, texts, numbers, and annotations ("Answer: 42")."""
    return any(_does_something(statement) for statement in tree.body)


_PLAIN = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass, ast.Delete, ast.Raise, ast.Assert)


def _does_something(statement: ast.stmt) -> bool:
    return not isinstance(statement, _PLAIN) or any(isinstance(node, ast.Call) for node in ast.walk(statement))


_STANDARD_INPUT = (0, "/dev/stdin")


def reads(text: str) -> bool:
    """Whether a program reads standard input: not in a comment or a text, and not by putting another in its place.
    What does not parse may."""
    tree = parsed(text)
    return tree is None or any(_is_read(node) for node in ast.walk(tree))


def _is_read(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="input" | "raw_input" | "stdin" | "fileinput", ctx=ast.Load()):
            return True
        case ast.Attribute(attr="stdin" | "__stdin__", ctx=ast.Load()):
            return True
        case ast.Attribute(value=ast.Name(id="os"), attr="read") | ast.Import(names=[ast.alias(name="fileinput"), *_]):
            return True
        case ast.Call(func=ast.Name(id="open"), args=[ast.Constant(value=name), *_]):
            return name in _STANDARD_INPUT
        case ast.Call(args=[ast.Constant(value="/dev/stdin"), *_]):
            return True
    return False


_TESTING = frozenset({"unittest", "pytest", "doctest", "timeit", "subprocess", "hypothesis"})
_OTHER_PROGRAM = re.compile(r"(?:(?:my|your)_?)?(?:solutions?|sol|main|submission|program|module)", re.IGNORECASE)
_TEST_SIGNS = re.compile(r"\b(?:import|StringIO|BytesIO)\b")


def is_harness(text: str) -> bool:
    """Whether a program tests or calls another one: it imports that, or a module for tests, or makes up the input."""
    tree = parsed(text) if _TEST_SIGNS.search(text) else None
    return tree is not None and any(_is_testing(node) for node in ast.walk(tree))


def _is_testing(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(_tests(one.name) for one in names)
        case ast.ImportFrom(module=str(module)):
            return _tests(module)
        case ast.Assign(
            targets=[ast.Attribute(attr="stdin"), *_],
            value=ast.Call(
                func=ast.Name(id="StringIO" | "BytesIO") | ast.Attribute(attr="StringIO" | "BytesIO"),
                args=[made_up, *_],
            ),
        ):
            return not any(_is_read(inner) for inner in ast.walk(made_up))
    return False


def _tests(module: str) -> bool:
    first = module.partition(".")[0]
    return first in _TESTING or _OTHER_PROGRAM.fullmatch(first) is not None


_EMPTY_BODY = f"\n{' ' * 99}pass\n"


def is_stub(text: str) -> bool:
    """Whether a text ends with the first line of a definition whose body is left out: the starter code, quoted."""
    return parsed(text) is None and parsed(text.rstrip() + _EMPTY_BODY) is not None


def defines_whole(tree: ast.Module, name: str) -> bool:
    """Whether a function, method or class of that name is defined with more than the outline of a body.

    A name that is given to something else counts where that is a lambda, or where the program defines anything: else it
    is the use of another one (``solve = Solution().solve``).
    """
    is_defining = any(isinstance(one, _DEFINITIONS) for one in tree.body)
    return any(_is_whole(one, is_defining=is_defining) for one in _named(tree, name))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _named(tree: ast.Module | ast.ClassDef, name: str) -> Iterator[ast.stmt]:
    for one in tree.body:
        match one:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if one.name == name:
                yield one
            case ast.ClassDef():
                yield from _named(one, name)
            case ast.Assign(targets=[ast.Name(id=found), *_], value=value) if found == name:
                if not (isinstance(value, ast.Name) and value.id == name):  # a class completed with a function
                    yield one


def _is_whole(one: ast.stmt, *, is_defining: bool) -> bool:
    if isinstance(one, ast.Assign):
        return is_defining or isinstance(one.value, ast.Lambda)
    if any(_is_elision(node) for node in ast.walk(one)):
        return False
    inner = one.body if isinstance(one, ast.ClassDef) else [one]
    functions = [node for node in inner if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return any(_does_more(statement) for function in functions for statement in function.body)


def _is_elision(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _does_more(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return False
        case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
            return False
    return True
