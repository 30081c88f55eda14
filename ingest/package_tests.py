"""The tests of one Kattis/ICPC package, in the format's order, each with the comparison that applies to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from db.importing import Refusal
from db.records import TestCaseRecord, TestOrigin
from ingest.errors import BadRow
from ingest.package_settings import group_settings, own_settings, require_inside, words
from ingest.packages import Package, validator_rules
from ingest.text import normalise_file

_ORIGINS = {"sample": TestOrigin.SAMPLE, "secret": TestOrigin.OFFICIAL}
_VALIDATOR_KEYS = ("output_validator_args", "output_validator_flags")


class _Arguments(NamedTuple):
    """What a test's validator, and its program, are called with."""

    validator: tuple[str, ...] = ()
    program: tuple[str, ...] = ()


@dataclass
class PackageTests:
    """Tests found so far. ``normalised`` names the files that were no UTF-8 with LF, and what they were.

    ``checker_flags`` are the arguments of the package's own validator for tests that have none of their own.
    """

    cases: tuple[TestCaseRecord, ...] = ()
    comparison: dict[str, Any] = field(default_factory=dict)
    checker_flags: tuple[str, ...] = ()
    refused: list[Refusal] = field(default_factory=list)
    normalised: list[str] = field(default_factory=list)


def read_tests(package: Package, where: str) -> PackageTests:
    """The tests under ``data/sample`` and ``data/secret``, groups and tests by name.

    A test that cannot be used is refused alone. ``BadRow`` for settings that cannot be read: every test would be
    compared by the wrong rule.
    """
    data = package.folder / "data"
    root = _arguments(_Arguments(), group_settings(package, data))
    found = PackageTests(comparison=_rules(package, root), checker_flags=_checker_flags(package, root))
    cases: list[TestCaseRecord] = []
    for group, origin in _ORIGINS.items():
        for file, arguments in _inputs(package, data / group, root):
            name = file.relative_to(data).with_suffix("").as_posix()
            try:
                cases.append(_case(package, file, name, origin, arguments, found))
            except BadRow as error:
                found.refused.append(Refusal(f"{where}/data/{name}", error.reason, error.hint))
        found.refused.extend(_answers_alone(data / group, where, data))
    found.cases = tuple(cases)
    return found


def _rules(package: Package, arguments: _Arguments) -> dict[str, Any]:
    """The comparison for one group or test. Flags of the package come first, so that the group's win."""
    return validator_rules(() if package.own_validator else (*package.validator_flags, *arguments.validator))


def _checker_flags(package: Package, arguments: _Arguments) -> tuple[str, ...]:
    return (*package.validator_flags, *arguments.validator) if package.own_validator else ()


def _inputs(package: Package, folder: Path, inherited: _Arguments) -> list[tuple[Path, _Arguments]]:
    """The ``.in`` files at and below `folder` in the order of their names, with the arguments of their group."""
    if not folder.is_dir():
        return []
    arguments = _arguments(inherited, group_settings(package, folder))
    found: list[tuple[Path, _Arguments]] = []
    for entry in sorted(
        folder.iterdir(), key=lambda entry: (entry.stem if entry.is_file() else entry.name, entry.name)
    ):
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            if entry.suffix != ".files":
                found.extend(_inputs(package, entry, arguments))
        elif entry.suffix == ".in":
            found.append((entry, arguments))
    return found


def _arguments(inherited: _Arguments, settings: dict[str, Any]) -> _Arguments:
    """The arguments that settings state, else those of the group above."""
    given = next((settings[key] for key in _VALIDATOR_KEYS if key in settings), None)
    validator = inherited.validator if given is None else words("the arguments of the output validator", given)
    program = words("the arguments of the program", settings["args"]) if "args" in settings else inherited.program
    return _Arguments(validator, program)


def _case(
    package: Package, file: Path, name: str, origin: TestOrigin, inherited: _Arguments, found: PackageTests
) -> TestCaseRecord:
    arguments = _arguments(inherited, own_settings(package, file))
    rules, checker_flags = _rules(package, arguments), _checker_flags(package, arguments)
    answer = file.with_suffix(".ans")
    if not answer.is_file():
        raise BadRow("has no answer file", f"add {answer.name}; it may be empty")
    if file.with_suffix(".files").exists():
        raise BadRow("gives its program files beside stdin, which is not supported", "only stdin tests can be judged")
    if arguments.program:
        raise BadRow("gives its program arguments, which is not supported", "only stdin tests can be judged")
    given, expected = (_contents(package, path, found.normalised) for path in (file, answer))
    return TestCaseRecord(
        name=name,
        input=given,
        expected=expected,
        origin=origin,
        comparison=rules if rules != found.comparison else None,
        checker_flags=checker_flags if checker_flags != found.checker_flags else None,
    )


def _contents(package: Package, file: Path, normalised: list[str]) -> bytes:
    require_inside(package.folder, file)
    try:
        data, changes = normalise_file(file.read_bytes())
    except BadRow as error:
        raise BadRow(f"{file.name} {error.reason}", error.hint) from None
    if changes:
        normalised.append(f"{file.relative_to(package.folder / 'data').as_posix()} ({', '.join(changes)})")
    return data


def _answers_alone(folder: Path, where: str, data: Path) -> list[Refusal]:
    return [
        Refusal(f"{where}/data/{file.relative_to(data).with_suffix('').as_posix()}", "has no input file", "add the .in")
        for file in sorted(folder.rglob("*.ans"))
        if not file.with_suffix(".in").is_file()
    ]
