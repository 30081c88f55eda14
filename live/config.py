"""Where things are: the store, the user's own model files, the executor. Options, then environment, then file."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from live.errors import UsageError

CONFIG_FILE = "live.toml"
_KEYS = {"db": str, "models": list, "executor": str}


@dataclass(frozen=True)
class Config:
    """What the command works with. ``default_folder`` is where the store lies when nobody said where; else None."""

    db_url: str
    default_folder: Path | None
    model_paths: tuple[Path, ...]
    executor: str


def load_config(*, db: str | None, models: list[Path] | None, folder: Path) -> Config:
    """The configuration for a command started in ``folder``. Raises ``UsageError`` for a file that cannot be used."""
    settings = _read_file(folder / CONFIG_FILE)
    paths = [*(models or []), *(folder / entry for entry in settings.get("models", []))]
    own_folder = _user_folder("XDG_CONFIG_HOME", ".config") / "models"
    if own_folder.is_dir():
        paths.append(own_folder)
    given = db or settings.get("db")
    default = _user_folder("XDG_DATA_HOME", ".local/share")
    return Config(
        db_url=given or f"sqlite:///{default / 'live.db'}",
        default_folder=None if given else default,
        model_paths=tuple(path for entry in paths for path in _toml_files(entry)),
        executor=settings.get("executor", "auto"),
    )


def _read_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "correct it, or remove it") from error
    for key, value in settings.items():
        if key not in _KEYS:
            raise UsageError(f"{path} has an unknown key {key!r}", f"known keys: {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]):
            raise UsageError(f"{path}: {key} must be a {_KEYS[key].__name__}", "correct it, or remove it")
    return settings


def _user_folder(variable: str, below_home: str) -> Path:
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / below_home) / "livecut"


def _toml_files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.toml"))
    if not path.exists():
        raise UsageError(f"there is no model file {path}", "check --models, LIVE_MODELS and live.toml")
    return [path]
