"""Where things are, and how sources are asked: options, then environment, then the file ``live.toml``."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.planning import NIGHTLY
from live.errors import UsageError

CONFIG_FILE = "live.toml"
_KINDS = {str: "a text", list: "a list", dict: "a table", int: "a whole number"}
_MOST_DAYS = 3650
_LONGEST_INTERVAL_S = 3600
_KEYS: dict[str, type] = {
    "db": str,
    "models": list,
    "executor": str,
    "image": str,
    "generate": dict,
    "ingest": dict,
    "sources": dict,
}
_GENERATE_KEYS: dict[str, type] = {"base_url": str}
_INGEST_KEYS: dict[str, type] = {
    "contact": str,
    "sources": list,
    "schedule": str,
    "recheck_days": int,
    "mirrors": dict,
    "intervals_s": dict,
}


@dataclass(frozen=True)
class IngestConfig:
    """How sources are asked. ``contact`` is the address that hosts see; ``sources`` None means all that can run.

    ``schedule`` is a cron text in UTC; ``of_source`` holds the tables ``[sources.NAME]``, whose key ``schedule`` is for
    that source alone. ``mirrors`` map prefixes of addresses, ``intervals_s`` hosts to seconds between requests.
    """

    contact: str | None = None
    sources: tuple[str, ...] | None = None
    schedule: str = NIGHTLY
    recheck_days: int = 14
    mirrors: Mapping[str, str] = field(default_factory=dict)
    intervals_s: Mapping[str, float] = field(default_factory=dict)
    of_source: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Config:
    """What the command works with. ``default_folder`` is where the store lies when nobody said where; else None.

    ``executor`` and ``image`` are what programs are run in; an image is for Docker alone, None is its own choice.
    ``generate_base_url`` is the endpoint that models are asked at.
    """

    db_url: str
    default_folder: Path | None
    model_paths: tuple[Path, ...]
    executor: str
    image: str | None
    ingest: IngestConfig
    generate_base_url: str | None = None


def load_config(*, db: str | None, models: list[Path] | None, folder: Path) -> Config:
    """The configuration for a command started in ``folder``. Raises ``UsageError`` for a file that cannot be used."""
    settings = _read_file(folder / CONFIG_FILE)
    _check_keys(settings.get("generate", {}), _GENERATE_KEYS, f"{folder / CONFIG_FILE}: [generate]")
    named = settings.get("models", [])
    if not all(isinstance(entry, str) for entry in named):
        raise UsageError(f"{folder / CONFIG_FILE}: models must be a list of texts", "write the paths in quotes")
    paths = [*(models or []), *(folder / entry for entry in named)]
    if models_folder().is_dir():
        paths.append(models_folder())
    given = db or settings.get("db")
    default = _user_folder("XDG_DATA_HOME", ".local/share")
    return Config(
        db_url=given or f"sqlite:///{default / 'live.db'}",
        default_folder=None if given else default,
        model_paths=tuple(path for entry in paths for path in _toml_files(entry)),
        executor=settings.get("executor", "auto"),
        image=settings.get("image"),
        ingest=_ingest_config(settings, folder),
        generate_base_url=settings.get("generate", {}).get("base_url"),
    )


def _ingest_config(settings: Mapping[str, Any], folder: Path) -> IngestConfig:
    file = folder / CONFIG_FILE
    table = settings.get("ingest", {})
    _check_keys(table, _INGEST_KEYS, f"{file}: [ingest]")
    for name, kind in (("mirrors", str), ("intervals_s", (int, float))):
        for key, value in table.get(name, {}).items():
            if not isinstance(value, kind) or isinstance(value, bool):
                wanted = "a text" if kind is str else "a number of seconds"
                raise UsageError(f"{file}: [ingest.{name}] {key!r} must be {wanted}", "correct it, or remove it")
    of_source = settings.get("sources", {})
    for name, values in of_source.items():
        if not isinstance(values, dict):
            raise UsageError(f"{file}: [sources.{name}] must be a table", "write its settings below [sources.NAME]")
    _check_numbers(table, str(file))
    named = table.get("sources")
    return IngestConfig(
        contact=os.environ.get("LIVE_CONTACT") or table.get("contact"),
        sources=None if named is None else tuple(str(name) for name in named),
        schedule=table.get("schedule", NIGHTLY),
        recheck_days=table.get("recheck_days", 14),
        mirrors=table.get("mirrors", {}),
        intervals_s=table.get("intervals_s", {}),
        of_source={
            name: _with_paths(values, folder, f"{file}: [sources.{name}]") for name, values in of_source.items()
        },
    )


def _check_numbers(table: Mapping[str, Any], file: str) -> None:
    days = table.get("recheck_days", 0)
    if not 0 <= days <= _MOST_DAYS:
        raise UsageError(f"{file}: [ingest] recheck_days is {days}", f"write a number from 0 to {_MOST_DAYS}")
    for host, seconds in table.get("intervals_s", {}).items():
        if not 0 < seconds <= _LONGEST_INTERVAL_S:
            hint = f"write seconds above 0 and up to {_LONGEST_INTERVAL_S}"
            raise UsageError(f"{file}: [ingest.intervals_s] {host!r} is {seconds}", hint)


def _with_paths(values: Mapping[str, Any], folder: Path, where: str) -> dict[str, Any]:
    """A source's settings, its paths meant from where the file lies."""
    if "paths" not in values:
        return dict(values)
    paths = values["paths"]
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise UsageError(f"{where}: paths must be a list of texts", 'write paths = ["/folder/of/packages"]')
    return {**values, "paths": [str(folder / Path(path).expanduser()) for path in paths]}


def _read_file(path: Path) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "correct it, or remove it") from error
    _check_keys(settings, _KEYS, str(path))
    return settings


def _check_keys(table: Mapping[str, Any], known: Mapping[str, type], where: str) -> None:
    for key, value in table.items():
        if key not in known:
            raise UsageError(f"{where} has an unknown key {key!r}", f"known keys: {', '.join(known)}")
        if not isinstance(value, known[key]) or isinstance(value, bool):
            raise UsageError(f"{where}: {key} must be {_KINDS[known[key]]}", "correct it, or remove it")


def models_folder() -> Path:
    """Where a user's own model files are found unasked; it need not be there."""
    return _user_folder("XDG_CONFIG_HOME", ".config") / "models"


def _user_folder(variable: str, below_home: str) -> Path:
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / below_home) / "livecut"


def _toml_files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.toml"))
    if not path.exists():
        raise UsageError(f"there is no model file {path}", "check --models, LIVE_MODELS and live.toml")
    return [path]
