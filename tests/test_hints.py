"""What to do about an error reads alike everywhere: it goes on after a colon or in brackets, so it is no sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOMS = ("db", "eval", "ingest", "live", "sandbox")
A_NAME = re.compile(r"_?(.*_)?hint", re.IGNORECASE)
A_CAPITAL = re.compile(r"(?:[A-Z]|[A-Z][a-z]+)(?![A-Za-z0-9_])")
A_STOP = re.compile(r"(?<!\.)\.$")


def hints(tree: ast.Module, places: dict[str, int]) -> Iterator[tuple[int, str]]:
    """Line and text of every hint that is written out: `hint=...`, `hint = ...`, or where a class expects its hint."""
    for node in ast.walk(tree):
        found: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            found += [keyword.value for keyword in node.keywords if keyword.arg == "hint"]
            found += node.args[places[name] : places[name] + 1] if name in places else []
        if isinstance(node, ast.Assign) and any(A_NAME.fullmatch(getattr(one, "id", "")) for one in node.targets):
            found.append(node.value)
        for one in found:
            for branch in (one.body, one.orelse) if isinstance(one, ast.IfExp) else (one,):
                if isinstance(branch, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in branch.values]
                    yield branch.lineno, "".join(map(str, parts))
                elif isinstance(branch, ast.Constant) and isinstance(branch.value, str):
                    yield branch.lineno, branch.value


def places_of_hints(trees: list[ast.Module]) -> dict[str, int]:
    """For each class whose maker takes a hint, its place among the arguments; classes that derive from it, too."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    places: dict[str, int] = {}
    for node in classes:
        names = [
            one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        ]
        for one in node.body:
            if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                names = [argument.arg for argument in one.args.args[1:]]
        if "hint" in names:
            places[node.name] = names.index("hint")
    for _ in range(5):  # as deep as errors derive from each other
        for node in classes:
            inherited = [places[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in places]
            if inherited:
                places.setdefault(node.name, inherited[0])
    return places


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    root = Path(__file__).resolve().parent.parent
    files = [path for room in ROOMS for path in sorted((root / room).rglob("*.py"))]
    return {path.relative_to(root): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_a_hint_begins_small_and_ends_without_a_stop(trees: dict[Path, ast.Module]) -> None:
    places = places_of_hints(list(trees.values()))
    assert {"Refusal": 2, "UsageError": 1, "StoreBusy": 1}.items() <= places.items()
    found = [(f"{path}:{line}", text) for path, tree in trees.items() for line, text in hints(tree, places)]
    assert len(found) > 300  # or they are no longer seen
    assert [one for one in found if A_CAPITAL.match(one[1]) or A_STOP.search(one[1])] == []
