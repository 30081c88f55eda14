"""The output validator that a package brings along, as a checker for the sandbox.

It is a program, one file or a folder, in ``output_validators/`` (legacy) or ``output_validator/``, where the files may
also lie in that folder itself. Its language is told by its files' endings, as the format has it. What lies beside its
source (headers, modules) goes with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ingest.errors import BadRow
from ingest.package_settings import require_inside
from ingest.packages import Package, positive_number
from ingest.text import normalise_file
from sandbox import languages
from sandbox.programs import MIB, Checker, Limits, Program

_FOLDERS: Final = ("output_validator", "output_validators")
_SCRIPTS: Final = ("build", "run")
_MAIN: Final = re.compile(r"(?:__main__|main)\..*", re.IGNORECASE)
_PYTHON_2: Final = re.compile(rb"#!.*python2")
_OTHER_SUFFIXES: Final = {".C": ".cpp", ".py3": ".py"}
_TOGETHER: Final = ("c", "cpp17", "cpp20", "cpp23")
"""Languages whose sources would have to be compiled together, where there are several."""
_MOST_FILES: Final = 40
_MOST_BYTES: Final = 8 * MIB


class NoChecker(BadRow):
    """A package's own validator that the sandbox cannot run; ``reason`` says why."""


@dataclass(frozen=True)
class _Parts:
    """A program's sources and the other files of its folder, hidden ones left out."""

    folder: Path
    sources: tuple[Path, ...]
    others: tuple[Path, ...]


def read_validator(package: Package, flags: tuple[str, ...] = ()) -> Checker | None:
    """The package's own validator with its arguments; None where the default one judges.

    Raises ``NoChecker`` for one that cannot be run.
    """
    if not package.own_validator:
        return None
    parts = _program(package)
    for script in _SCRIPTS:
        if (parts.folder / script).is_file():
            raise _refusal(f"is built by a script of its own ({script})")
    if not parts.sources:
        names = ", ".join(file.name for file in parts.others[:3])
        raise _refusal(f"is in no language that the sandbox has ({names or 'it is empty'})")
    found = sorted({source_language(source) or "" for source in parts.sources})
    if len(found) > 1:
        raise _refusal(f"is in several languages ({', '.join(source.name for source in parts.sources)})")
    language = found[0]
    if len(parts.sources) > 1 and language in _TOGETHER:
        raise _refusal("has several source files, which would have to be compiled together")
    main = next((source for source in parts.sources if _MAIN.fullmatch(source.name)), parts.sources[0])
    beside = [file for file in (*parts.sources, *parts.others) if file != main]
    text, files, limits = _text(package, main), _files(package, parts.folder, beside), _limits(package)
    try:
        return Checker(Program(text, language, files), flags=flags, limits=limits)
    except ValueError as error:
        raise _refusal(f"cannot be run here: {error}") from error


def _refusal(reason: str) -> NoChecker:
    return NoChecker(f"its own output validator {reason}", "judge its answers by hand, or leave the problem out")


def _program(package: Package) -> _Parts:
    """The one program in the validator's folder."""
    place = next((package.folder / name for name in _FOLDERS if (package.folder / name).is_dir()), None)
    if place is None:
        raise _refusal("is not in the package")
    top = _parts(place)
    folders = [entry for entry in sorted(place.iterdir()) if entry.is_dir() and not entry.name.startswith(".")]
    programs = [parts for parts in map(_parts, folders) if parts.sources or _has_script(parts.folder)]
    if _has_script(place) or not programs:
        if package.legacy and len(top.sources) > 1:
            raise _refusal("is not one but several, which must all accept")
        return top
    if len(programs) > 1 or top.sources:
        raise _refusal("is not one but several, which must all accept")
    return programs[0]


def _has_script(folder: Path) -> bool:
    return any((folder / script).is_file() for script in _SCRIPTS)


def _parts(folder: Path) -> _Parts:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and not _is_hidden(file, folder)]
    sources = tuple(file for file in files if file.parent == folder and source_language(file) is not None)
    return _Parts(folder, sources, tuple(file for file in files if file not in sources))


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "__pycache__")) for part in file.relative_to(folder).parts)


def source_language(file: Path) -> str | None:
    """The language of a source, by its name's ending; None for what is no source, or of a language that is not here."""
    suffix = _OTHER_SUFFIXES.get(file.suffix, file.suffix)
    return None if suffix == ".py" and _is_python_2(file) else languages.by_suffix(suffix)


def _is_python_2(file: Path) -> bool:
    if file.is_symlink():
        return False  # It may lead out of the package, where nothing is read.
    with file.open("rb") as opened:
        return _PYTHON_2.match(opened.readline(200)) is not None


def _files(package: Package, folder: Path, files: list[Path]) -> tuple[tuple[str, str], ...]:
    """The texts that lie beside the source, by their path; what is no text, a program once compiled, is left out."""
    texts: list[tuple[str, str]] = []
    for file in files:
        try:
            texts.append((file.relative_to(folder).as_posix(), _text(package, file)))
        except BadRow:
            if not file.resolve().is_relative_to(package.folder.resolve()):
                raise
    if len(texts) > _MOST_FILES or sum(len(text) for _, text in texts) > _MOST_BYTES:
        raise _refusal(f"has more beside it than {_MOST_FILES} files or {_MOST_BYTES // MIB} MiB")
    return tuple(texts)


def _text(package: Package, file: Path) -> str:
    try:
        require_inside(package.folder, file)
        data, _ = normalise_file(file.read_bytes())
    except BadRow as error:
        raise _refusal(f"cannot be read: {file.name} {error.reason.removeprefix(file.name).strip()}") from None
    return package.with_constants(data.decode())


def _limits(package: Package) -> Limits:
    """The validator's limits: those of ``problem.yaml``, else what the format calls typical."""
    limits = Checker(Program("")).limits
    stated: dict[str, Any] = {}
    if seconds := positive_number(package.limits, "validation_time"):
        stated["cpu_s"] = seconds
    if memory := positive_number(package.limits, "validation_memory"):
        stated["memory_bytes"] = int(memory * MIB)
    if output := positive_number(package.limits, "validation_output"):
        stated["output_bytes"] = int(output * MIB)
    return replace(limits, **stated)
