"""One problem package in the Kattis/ICPC format: its metadata, its statement and its rule for the time limit.

Reads files of the package's own folder and nothing else. Its tests, its groups, its validator and its submissions are
read by ``package_tests``, ``package_groups``, ``package_validators`` and ``package_submissions``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ingest.comparison import checked_tolerance
from ingest.errors import BadRow
from ingest.text import normalise_file, storable

MAX_YAML_BYTES = 1024 * 1024
LEGACY = "legacy"
KNOWN_VERSIONS = (LEGACY, "legacy-icpc", "2023-07-draft", "2023-07", "2025-09-draft", "2025-09", "draft")

_TYPE_FLAGS = {
    "multi-pass": ("multi_pass", "it runs a program several times on each test"),
    "submit-answer": ("submit_answer", "it takes answers instead of a program"),
}
_STATEMENT = re.compile(r"problem(?:\.(?P<language>[A-Za-z-]+))?\.(?P<kind>tex|md|pdf)")
_STATEMENT_FOLDERS = ("problem_statement", "statement")
_CONSTANT = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}")
_PLAIN_NAME = re.compile(r"^%+\s*plainproblemname:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """A package's metadata.

    ``types`` are the problem's ("scoring", "interactive"), ``validation`` the legacy form's words for its validator;
    ``own_validator`` says that outputs are judged by a program of the package. ``validator_flags`` are the arguments of
    whichever validator it is; ``grading`` and ``limits`` are those maps of ``problem.yaml``. ``constants`` take the
    place of their names in double braces in the package's own texts.

    ``time_limit_s`` is the one that is stated; without one, the forms derive it from the slowest accepted submission on
    the judging machine, which nobody outside knows.

    ``statements`` are (language, text) pairs, LaTeX or Markdown as they stand there, the English one first; a file
    without a language in its name has None. ``sources`` are the contests that it says it comes from, ``embargo_until``
    what it says of when it may be shown. ``flags`` are (name, reason) pairs for what cannot be judged yet, ``notes``
    lines for a person about what was left out.
    """

    folder: Path
    version: str
    title: str
    statements: tuple[tuple[str | None, str], ...]
    sources: tuple[str, ...]
    embargo_until: str | None
    time_limit_s: float | None
    memory_limit_bytes: int | None
    types: tuple[str, ...]
    validation: tuple[str, ...]
    own_validator: bool
    validator_flags: tuple[str, ...]
    grading: dict[str, Any]
    limits: dict[str, Any]
    constants: dict[str, str]
    flags: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def legacy(self) -> bool:
        """Whether the package is in the form from before the format had versions."""
        return self.version.startswith(LEGACY)

    @property
    def is_interactive(self) -> bool:
        """Whether its validator talks with the running program."""
        return "interactive" in (*self.types, *self.validation)

    @property
    def is_scoring(self) -> bool:
        """Whether an accepted program gets a score."""
        return "scoring" in self.types

    def with_constants(self, text: str) -> str:
        """A text of the package with its constants put in; a name in braces that is none of them stays."""
        return _with_constants(text, self.constants)

    @property
    def statement(self) -> str:
        """The statement that is shown; "" when there is none as text."""
        return self.statements[0][1] if self.statements else ""

    @property
    def language(self) -> str | None:
        """The language of the statement that is shown, as its file's name says it."""
        return self.statements[0][0] if self.statements else None

    @property
    def translations(self) -> tuple[tuple[str, str], ...]:
        """The statements in other languages, by language."""
        return tuple((language, text) for language, text in self.statements[1:] if language is not None)

    @property
    def source(self) -> str | None:
        """The first contest that it says it comes from."""
        return self.sources[0] if self.sources else None


def open_package(folder: Path) -> Package:
    """The package in `folder`, which holds ``problem.yaml``. ``BadRow`` says what in it cannot be read."""
    meta = read_yaml(folder / "problem.yaml")
    version = _text(meta, "problem_format_version") or LEGACY
    if version not in KNOWN_VERSIONS:
        raise BadRow(
            f"problem.yaml: the format version {version!r} is not known", f"known are: {', '.join(KNOWN_VERSIONS)}"
        )
    legacy = version.startswith(LEGACY)
    limits, constants = _map(meta, "limits"), _constants(meta)
    statements, notes = _statements(folder, constants)
    memory = positive_number(limits, "memory")
    validation = tuple((_text(meta, "validation") or "default").split())
    types = _types(meta)
    own_validator = validation[0] == "custom" or (not legacy and (folder / "output_validator").exists())
    return Package(
        folder=folder,
        version=version,
        title=_title(meta, statements[0][1] if statements else "", folder.name),
        statements=statements,
        sources=_sources(meta),
        embargo_until=_text(meta, "embargo_until"),
        time_limit_s=_time_limit_s(folder, limits),
        memory_limit_bytes=int(memory * 2**20) if memory else None,
        types=types,
        validation=validation,
        own_validator=own_validator or "interactive" in (*types, *validation),
        validator_flags=tuple((_text(meta, "validator_flags") or "").split()),
        grading=_map(meta, "grading"),
        limits=limits,
        constants=constants,
        flags=(*(_TYPE_FLAGS[kind] for kind in types if kind in _TYPE_FLAGS), *_statement_flags(folder, statements)),
        notes=notes,
    )


def _map(meta: dict[str, Any], name: str) -> dict[str, Any]:
    value = meta.get(name)
    if value in (None, "", "null", "~", []):
        return {}
    if not isinstance(value, dict):
        raise BadRow(f"problem.yaml: {name} is not a map", f"write {name} as names with values, indented")
    return value


def _with_constants(text: str, constants: dict[str, str]) -> str:
    return _CONSTANT.sub(lambda match: constants.get(match[1], match[0]), text) if constants else text


def _constants(meta: dict[str, Any]) -> dict[str, str]:
    """The constants of 2025-09 as they are written."""
    constants = _map(meta, "constants")
    return {name: _text(constants, name) or "" for name in constants}


def _statement_flags(folder: Path, statements: tuple[tuple[str | None, str], ...]) -> tuple[tuple[str, str], ...]:
    if statements or not _statement_files(folder, ("pdf",)):
        return ()
    return (("pdf_statement", "its statement is a PDF file, and there is no text of it"),)


def read_yaml(file: Path, change: Callable[[str], str] = str) -> dict[str, Any]:
    """A YAML file's map, every scalar as the text that stands there; {} when it is empty. ``BadRow`` when it is none.

    As text, because YAML makes numbers and booleans of names (a problem called "No"), and versions into dates.
    ``change`` is what becomes of the text before it is read.
    """
    data = file.read_bytes()
    if len(data) > MAX_YAML_BYTES:
        raise BadRow(f"{file.name} is larger than {MAX_YAML_BYTES // 2**20} MiB", "settings are a few lines of YAML")
    try:
        text, _ = normalise_file(data)
        value = yaml.load(change(text.decode()), Loader=yaml.BaseLoader)  # builds texts, lists and maps only
    except BadRow as error:
        raise BadRow(f"{file.name} {error.reason}", error.hint) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadRow(f"{file.name} is not YAML ({reason})", f"repair {file.name}") from None
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise BadRow(f"{file.name} is not a map of names to values", f"repair {file.name}")
    return value


def _text(meta: dict[str, Any], name: str) -> str | None:
    """The text under `name`; None when it is missing or YAML's null."""
    value = meta.get(name)
    if value in (None, "", "null", "~", [], {}):
        return None
    if not isinstance(value, str):
        raise BadRow(f"problem.yaml: {name} is not a text", f"write {name} as one text")
    return storable(name, value).strip() or None


def positive_number(limits: dict[str, Any], name: str) -> float | None:
    """The number above zero under `name`; None when it is missing. ``BadRow`` for anything else."""
    written = _text(limits, name)
    if written is None:
        return None
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise BadRow(f"problem.yaml: {name} is {written!r}", f"write {name} as a number above zero")
    return number


def _types(meta: dict[str, Any]) -> tuple[str, ...]:
    given = meta.get("type")
    if isinstance(given, list):
        return tuple(str(kind) for kind in given)
    return tuple((_text(meta, "type") or "pass-fail").split())


def _time_limit_s(folder: Path, limits: dict[str, Any]) -> float | None:
    stated = positive_number(limits, "time_limit")
    beside = folder / ".timelimit"  # written by contest-preparation tools for judging systems
    if stated is None and beside.is_file():
        return positive_number({".timelimit": beside.read_text(errors="replace").strip()}, ".timelimit")
    return stated


def _sources(meta: dict[str, Any]) -> tuple[str, ...]:
    """The contests that the package names as its source: a text, a map with a name, or a list of those."""
    given = meta.get("source")
    names = [
        _text(one, "name") if isinstance(one, dict) else _text({"source": one}, "source")
        for one in (given if isinstance(given, list) else [given])
    ]
    return tuple(name for name in names if name)


def _statement_files(folder: Path, kinds: tuple[str, ...]) -> list[tuple[str | None, Path]]:
    """The statement's files of these kinds with their languages: English first, then what names none, then the rest."""
    found: list[tuple[tuple[int, str], str | None, Path]] = []
    for place in _STATEMENT_FOLDERS:
        for file in sorted((folder / place).glob("problem*")):
            match = _STATEMENT.fullmatch(file.name)
            if match and match["kind"] in kinds and file.is_file():
                rank = {"en": 0, None: 1}.get(match["language"], 2)
                found.append(((rank, file.name), match["language"], file))
    return [(language, file) for _, language, file in sorted(found, key=lambda entry: entry[0])]


def _statements(folder: Path, constants: dict[str, str]) -> tuple[tuple[tuple[str | None, str], ...], tuple[str, ...]]:
    """The statement's text in each language that it is written in, one file a language, and notes.

    A translation that cannot be read is left out with a note: the statement that is shown does not need it.
    """
    files: dict[str | None, Path] = {}
    for language, file in _statement_files(folder, ("md", "tex")):
        files.setdefault(language, file)
    texts: list[tuple[str | None, str]] = []
    notes: list[str] = []
    for language, file in files.items():
        try:
            text = _statement_text(file)
            texts.append((language, _with_constants(text, constants) if file.suffix == ".md" else text))
        except BadRow as error:
            if not texts:
                raise
            notes.append(f"the translation {error.reason}")
    return tuple(texts), tuple(notes)


def _statement_text(file: Path) -> str:
    try:
        return storable(file.name, normalise_file(file.read_bytes())[0].decode())
    except BadRow as error:
        raise BadRow(f"{file.parent.name}/{file.name} {error.reason}", error.hint) from None


def _title(meta: dict[str, Any], statement: str, folder_name: str) -> str:
    """The English name in ``problem.yaml``, else any there, else the statement's, else the folder's."""
    names = meta.get("name")
    if isinstance(names, dict):
        title = _text(names, "en") or next((name for key in names if (name := _text(names, key))), None)
    else:
        title = _text(meta, "name")
    if title is None and (plain := _PLAIN_NAME.search(statement)):
        title = plain[1]
    return title or _braced(statement, r"\problemname") or folder_name


def _braced(text: str, command: str) -> str | None:
    """The argument of the first `command` in a LaTeX text, braces inside it respected."""
    start = text.find(command + "{")
    if start < 0:
        return None
    first = start + len(command) + 1
    depth = 1
    for place in range(first, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return " ".join(text[first:place].split()) or None
    return None


def validator_rules(flags: tuple[str, ...]) -> dict[str, Any]:
    """The default output validator's arguments as a comparison. Later ones win. ``BadRow`` for an unknown one."""
    # Without a float flag the validator compares decimals as text, unlike a platform that forgot to say its tolerance.
    rules: dict[str, Any] = {"case_sensitive": False, "assume_tolerance": False}
    words = iter(flags)
    for word in words:
        if word == "case_sensitive":
            rules["case_sensitive"] = True
        elif word == "space_change_sensitive":
            rules["space_sensitive"] = True
        elif word in ("float_tolerance", "float_absolute_tolerance", "float_relative_tolerance"):
            epsilon = _epsilon(word, next(words, None))
            if word != "float_relative_tolerance":
                rules["absolute_tolerance"] = epsilon
            if word != "float_absolute_tolerance":
                rules["relative_tolerance"] = epsilon
        else:
            raise BadRow(
                f"the default output validator has no flag {word!r}",
                "its flags are case_sensitive, space_change_sensitive and float_[absolute_|relative_]tolerance EPS",
            )
    return rules


def _epsilon(flag: str, written: str | None) -> float:
    try:
        return checked_tolerance(flag, float(written or ""))
    except ValueError:
        raise BadRow(f"the flag {flag} has {written!r} for its tolerance", f"write {flag} 1e-6, say") from None
