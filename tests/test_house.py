"""The rules of the house that no other tool checks: sizes, docstrings, help texts, one value in one place."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("live", "ingest", "sandbox", "eval", "db")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 70


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_room_has_files() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in SOURCES} == set(ROOMS)


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_module_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), f"{_name(path)} has no docstring"


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=_name)
def test_file_can_be_read_in_one_sitting(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_FILE_LINES
    long = {
        function.name: length
        for function in _functions(ast.parse(text))
        if (length := (function.end_lineno or 0) - function.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert not long


def _pins(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", text, flags=re.MULTILINE))


def test_every_pin_has_a_hash_and_no_index_is_named() -> None:
    for name in ("constraints.txt", "constraints-runtime.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        entries = re.split(r"\n(?=[a-z])", text)[1:]
        assert len(entries) == len(_pins(name)) > 20
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
        assert "://" not in text


def test_runtime_pins_are_the_same_as_all_pins() -> None:
    assert _pins("constraints-runtime.txt").items() <= _pins("constraints.txt").items()


def test_declared_dependencies_are_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime = {re.split(r"[<>=!~\[; ]", entry)[0].lower() for entry in project["dependencies"]}
    everything = runtime | {
        re.split(r"[<>=!~\[; ]", entry)[0].lower() for entry in project["optional-dependencies"]["dev"]
    }
    assert runtime <= _pins("constraints-runtime.txt").keys()
    assert everything <= _pins("constraints.txt").keys()


def test_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_command_and_option_has_help() -> None:
    import typer.main

    from live.app import app

    silent: list[str] = []
    waiting = [("live", typer.main.get_command(app))]
    while waiting:
        name, command = waiting.pop()
        if not (command.help or "").strip():
            silent.append(name)
        silent += [
            f"{name} {parameter.name}"
            for parameter in command.params
            if parameter.name != "help" and not getattr(parameter, "help", None)
        ]
        waiting += [(f"{name} {sub}", child) for sub, child in getattr(command, "commands", {}).items()]
    assert silent == []


def test_the_readme_has_no_placeholder_left(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^[A-Z]{3,}_[A-Z]{3,}$", text, re.MULTILINE) == []
