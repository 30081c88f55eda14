"""The tests of one Kattis/ICPC package, in the format's order, each with the comparison that applies to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from db.importing import Refusal
from db.records import TestCaseRecord, TestOrigin
from ingest.errors import BadRow
from ingest.packages import Package, read_yaml, validator_rules
from ingest.text import normalise_file

_GROUP_FILES = ("testdata.yaml", "test_group.yaml")
_ORIGINS = {"sample": TestOrigin.SAMPLE, "secret": TestOrigin.OFFICIAL}


@dataclass
class PackageTests:
    """Tests found so far. ``normalised`` names the files that were no UTF-8 with LF, and what they were."""

    cases: tuple[TestCaseRecord, ...] = ()
    comparison: dict[str, Any] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    normalised: list[str] = field(default_factory=list)


def read_tests(package: Package, where: str) -> PackageTests:
    """The tests under ``data/sample`` and ``data/secret``, groups and tests by name.

    A test that cannot be used is refused alone. ``BadRow`` for settings that cannot be read: every test would be
    compared by the wrong rule.
    """
    data = package.folder / "data"
    root_arguments = _arguments(package, data, ())
    found = PackageTests(comparison=_rules(package, root_arguments))
    cases: list[TestCaseRecord] = []
    for group, origin in _ORIGINS.items():
        for file, arguments in _inputs(package, data / group, root_arguments):
            name = file.relative_to(data).with_suffix("").as_posix()
            try:
                rules = _rules(package, arguments)
                override = rules if rules != found.comparison else None
                cases.append(_case(package, file, name, origin, override, found.normalised))
            except BadRow as error:
                found.refused.append(Refusal(f"{where}/data/{name}", error.reason, error.hint))
        found.refused.extend(_answers_alone(data / group, where, data))
    found.cases = tuple(cases)
    return found


def _rules(package: Package, arguments: tuple[str, ...]) -> dict[str, Any]:
    """The comparison for one group or test. Flags of the package come first, so that the group's win."""
    return validator_rules(() if package.own_validator else (*package.validator_flags, *arguments))


def _inputs(package: Package, folder: Path, inherited: tuple[str, ...]) -> list[tuple[Path, tuple[str, ...]]]:
    """The ``.in`` files at and below `folder` in the order of their names, with the validator arguments of each."""
    if not folder.is_dir():
        return []
    arguments = _arguments(package, folder, inherited)
    found: list[tuple[Path, tuple[str, ...]]] = []
    for entry in sorted(
        folder.iterdir(), key=lambda entry: (entry.stem if entry.is_file() else entry.name, entry.name)
    ):
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            if entry.suffix != ".files":
                found.extend(_inputs(package, entry, arguments))
        elif entry.suffix == ".in":
            found.append((entry, _own_arguments(entry, arguments)))
    return found


def _arguments(package: Package, folder: Path, inherited: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments for the validator that a group's settings file states, else those of the group above."""
    for name in _GROUP_FILES:
        file = folder / name
        if file.is_file():
            _inside(package.folder, file)
            settings = read_yaml(file)
            for key in ("output_validator_args", "output_validator_flags"):
                if key in settings:
                    return _words(settings[key])
    return inherited


def _own_arguments(file: Path, inherited: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments that a test's own settings file (from 2025-09 on) states, else those of its group."""
    settings_file = file.with_suffix(".yaml")
    if not settings_file.is_file():
        return inherited
    settings = read_yaml(settings_file)
    return _words(settings["output_validator_args"]) if "output_validator_args" in settings else inherited


def _words(given: object) -> tuple[str, ...]:
    """Arguments as words: a text, a list of texts, or the legacy map with "flags"."""
    if isinstance(given, dict):
        given = given.get("flags", "")
    if isinstance(given, str):
        return () if given in ("null", "~") else tuple(given.split())
    if isinstance(given, list) and all(isinstance(word, str) for word in given):
        return tuple(word for words in given for word in words.split())
    raise BadRow("the arguments of the output validator are not words", "Write them as one text or a list of texts.")


def _case(
    package: Package,
    file: Path,
    name: str,
    origin: TestOrigin,
    comparison: dict[str, Any] | None,
    normalised: list[str],
) -> TestCaseRecord:
    answer = file.with_suffix(".ans")
    if not answer.is_file():
        raise BadRow("has no answer file", f"Add {answer.name}; it may be empty.")
    if file.with_suffix(".files").exists():
        raise BadRow("gives its program files beside stdin, which is not supported", "Only stdin tests can be judged.")
    settings = file.with_suffix(".yaml")
    if settings.is_file() and read_yaml(settings).get("args"):
        raise BadRow("gives its program arguments, which is not supported", "Only stdin tests can be judged.")
    given, expected = (_contents(package, path, normalised) for path in (file, answer))
    return TestCaseRecord(name, given, expected, origin, comparison)


def _contents(package: Package, file: Path, normalised: list[str]) -> bytes:
    _inside(package.folder, file)
    try:
        data, changes = normalise_file(file.read_bytes())
    except BadRow as error:
        raise BadRow(f"{file.name} {error.reason}", error.hint) from None
    if changes:
        normalised.append(f"{file.relative_to(package.folder / 'data').as_posix()} ({', '.join(changes)})")
    return data


def _inside(folder: Path, file: Path) -> None:
    """Refuse a link that leads out of the package: it would read whatever stands there into the store."""
    if not file.resolve().is_relative_to(folder.resolve()):
        raise BadRow(f"{file.name} is a link out of the package", "Copy the file into the package.")


def _answers_alone(folder: Path, where: str, data: Path) -> list[Refusal]:
    return [
        Refusal(
            f"{where}/data/{file.relative_to(data).with_suffix('').as_posix()}", "has no input file", "Add the .in."
        )
        for file in sorted(folder.rglob("*.ans"))
        if not file.with_suffix(".in").is_file()
    ]
