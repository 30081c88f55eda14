"""The registry of models: names, aliases, cut-offs and where they are stated, read from TOML files.

A file holds ``[[model]]`` entries::

    [[model]]
    name = "example-2024-09-12"           # the snapshot's id as its API or repository gives it
    aliases = [{name = "example", from = 2024-09-12, to = 2025-01-31}]      # half-open [from, to)
    provider = "Example"
    cutoff = "2023-10"                    # as the source writes it
    cutoff_status = "stated"              # stated by the provider, estimated by somebody, or assumed
    cutoff_source = "https://..."
    cutoff_looked_up = 2026-05-04
    release_date = "2024-09-12"
    release_source = "https://..."
    web_access = false
    notes = "..."

The shipped files are in ``eval/registry``; a user's own files are read beside them. One name leads to one model.
"""

from __future__ import annotations

import difflib
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from eval.cutoffs import Cutoff, CutoffUnreadable, is_unknown, parse_cutoff

SHIPPED = Path(__file__).parent / "registry"
EARLY_CUTOFF_MONTHS = 12
"""An unsourced cut-off that lies further than this before the release looks like a placeholder."""

_KEYS = (
    "name", "aliases", "provider", "cutoff", "cutoff_status", "cutoff_source", "cutoff_looked_up",
    "release_date", "release_source", "web_access", "notes",
)  # fmt: skip


class RegistryError(ValueError):
    """A registry that cannot be used. ``message`` says what and in which file, ``hint`` what to do.

    RegistryError
        ModelAmbiguous      an alias that led to several snapshots, used without a day
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ModelAmbiguous(RegistryError):
    """An alias that led to several snapshots, or no longer leads to one, used without a day."""


class CutoffStatus(StrEnum):
    """Who vouches for a cut-off: the provider, somebody's estimate, or nobody (a stand-in such as the release date)."""

    STATED = "stated"
    ESTIMATED = "estimated"
    ASSUMED = "assumed"


@dataclass(frozen=True)
class Alias:
    """Another name of a snapshot, in the half-open period ``[start, end)`` (None: no bound)."""

    name: str
    start: date | None = None
    end: date | None = None

    def covers(self, day: date) -> bool:
        """Whether the alias led to its snapshot on that day."""
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)

    def overlaps(self, other: Alias) -> bool:
        """Whether there is a day on which both aliases hold."""
        starts_before = self.start is None or other.end is None or self.start < other.end
        ends_after = self.end is None or other.start is None or other.start < self.end
        return starts_before and ends_after


@dataclass(frozen=True)
class ModelEntry:
    """One model snapshot. ``release`` is its release date, read like a cut-off; ``origin`` the file of the entry."""

    name: str
    provider: str | None = None
    aliases: tuple[Alias, ...] = ()
    cutoff: Cutoff | None = None
    cutoff_status: CutoffStatus | None = None
    cutoff_source: str | None = None
    cutoff_looked_up: date | None = None
    release: Cutoff | None = None
    release_source: str | None = None
    web_access: bool = False
    notes: str | None = None
    origin: str = ""


@dataclass(frozen=True)
class UsedCutoff:
    """The cut-off that a score rests on, which may be the release date standing in as ``assumed``."""

    cutoff: Cutoff
    status: CutoffStatus
    source: str | None
    looked_up: date | None


@dataclass(frozen=True)
class NotScored:
    """A model that cannot be scored by its cut-off, and why."""

    model: str
    reason: str


def usable_cutoff(entry: ModelEntry) -> UsedCutoff | NotScored:
    """The cut-off to score a model by: the known one, else its release date; with neither, or live web access, none."""
    if entry.web_access:
        return NotScored(entry.name, "has live web access: no cut-off bounds what it can have seen")
    if entry.cutoff is not None:
        status = entry.cutoff_status or CutoffStatus.ASSUMED
        return UsedCutoff(entry.cutoff, status, entry.cutoff_source, entry.cutoff_looked_up)
    if entry.release is not None:
        return UsedCutoff(entry.release, CutoffStatus.ASSUMED, entry.release_source, entry.cutoff_looked_up)
    return NotScored(entry.name, "no cut-off and no release date is known")


@dataclass(frozen=True)
class Registry:
    """All known models, by name. Names are compared without regard to case. ``warnings`` are for the user to read."""

    entries: tuple[ModelEntry, ...]
    warnings: tuple[str, ...] = ()
    _by_name: dict[str, ModelEntry] = field(init=False, repr=False, compare=False)
    _by_alias: dict[str, list[tuple[Alias, ModelEntry]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_alias: dict[str, list[tuple[Alias, ModelEntry]]] = {}
        for entry in self.entries:
            for alias in entry.aliases:
                by_alias.setdefault(alias.name.casefold(), []).append((alias, entry))
        object.__setattr__(self, "_by_name", {entry.name.casefold(): entry for entry in self.entries})
        object.__setattr__(self, "_by_alias", by_alias)

    def resolve(self, name: str, on: date | None = None) -> ModelEntry | None:
        """The model of that name, or the one to which the alias led on that day; None if it is not known.

        Without a day an alias must have led to one snapshot only, and still lead there; otherwise ``ModelAmbiguous``.
        """
        key = name.strip().casefold()
        if key in self._by_name:
            return self._by_name[key]
        uses = self._by_alias.get(key, [])
        if on is not None:
            return next((entry for alias, entry in uses if alias.covers(on)), None)
        if len({entry.name for _, entry in uses}) > 1 or any(alias.end is not None for alias, _ in uses):
            led_to = ", ".join(f"{entry.name} ({_period(alias)})" for alias, entry in uses)
            raise ModelAmbiguous(
                f'"{name}" is an alias that did not always lead to the same model: {led_to}', "name the snapshot itself"
            )
        return uses[0][1] if uses else None

    def suggest(self, name: str, limit: int = 3) -> list[str]:
        """Known names close to an unknown one, best first."""
        known = {alias.name.casefold(): entry.name for entry in self.entries for alias in entry.aliases}
        known |= {entry.name.casefold(): entry.name for entry in self.entries}
        close = difflib.get_close_matches(name.strip().casefold(), known, n=3 * limit, cutoff=0.6)
        return list(dict.fromkeys(known[key] for key in close))[:limit]

    def unknown_model(self, name: str) -> str:
        """One line for a name that is not known, with the closest known names."""
        close = self.suggest(name)
        return f'unknown model "{name}"' + (f"; did you mean {' or '.join(close)}?" if close else "")


def load_registry(extra_paths: Iterable[Path] = (), *, shipped: Path | None = SHIPPED) -> Registry:
    """Read the shipped files and the user's own (files, or folders of ``*.toml``). Raises ``RegistryError``."""
    files = sorted(shipped.glob("*.toml")) if shipped is not None else []
    for path in extra_paths:
        files.extend(sorted(path.glob("*.toml")) if path.is_dir() else [path])
    return build_registry([entry for file in files for entry in read_file(file)])


def build_registry(entries: Iterable[ModelEntry]) -> Registry:
    """A registry of these entries. Two models under one name are refused with both files named."""
    found = tuple(entries)
    names: dict[str, ModelEntry] = {}
    for entry in found:
        _refuse_if(names.get(entry.name.casefold()), entry, entry.name)
        names[entry.name.casefold()] = entry
    uses: dict[str, list[tuple[Alias, ModelEntry]]] = {}
    for entry in found:
        for alias in entry.aliases:
            key = alias.name.casefold()
            _refuse_if(names.get(key), entry, alias.name)
            for other, owner in uses.setdefault(key, []):
                _refuse_if(owner if alias.overlaps(other) else None, entry, alias.name)
            uses[key].append((alias, entry))
    return Registry(found, tuple(_warnings(found)))


def read_file(path: Path) -> list[ModelEntry]:
    """The entries of one TOML file. Raises ``RegistryError`` with the file and the entry that is wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RegistryError(f"{path}: cannot be read ({error.strerror})", "check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RegistryError(f"{path}: not valid TOML: {error}", 'put dates in quotes: cutoff = "2023-10"') from error
    tables = content.get("model", [])
    if set(content) - {"model"} or not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise RegistryError(f"{path}: holds something else than [[model]] tables", "write each as [[model]]")
    return [read_entry(table, f"{path}, model {number}", str(path)) for number, table in enumerate(tables, start=1)]


def read_entry(table: dict[str, Any], where: str, origin: str) -> ModelEntry:
    """One ``[[model]]`` table, checked. ``where`` names it in errors."""
    for key in table:
        if key not in _KEYS:
            close = difflib.get_close_matches(key, _KEYS, n=1)
            raise RegistryError(f'{where}: unknown key "{key}"', f"did you mean {close[0]}?" if close else "remove it")
    name = _text(table, "name", where)
    if name is None:
        raise RegistryError(f"{where}: has no name", 'give it one: name = "..."')
    where = f'{where} "{name}"'
    cutoff = _date(table, "cutoff", where)
    web_access = table.get("web_access", False)
    if not isinstance(web_access, bool):
        raise RegistryError(f"{where}: web_access must be true or false, not {web_access!r}")
    entry = ModelEntry(
        name=name,
        provider=_text(table, "provider", where),
        aliases=_aliases(table, where),
        cutoff=cutoff,
        cutoff_status=_status(table, cutoff, where),
        cutoff_source=_text(table, "cutoff_source", where),
        cutoff_looked_up=_day(table, "cutoff_looked_up", where),
        release=_date(table, "release_date", where),
        release_source=_text(table, "release_source", where),
        web_access=web_access,
        notes=_text(table, "notes", where),
        origin=origin,
    )
    _check_order(entry, where)
    return entry


def _check_order(entry: ModelEntry, where: str) -> None:
    """A model cannot have learnt from after its release, nor from after the day on which its cut-off was looked up."""
    if entry.cutoff is None:
        return
    hint = "check both dates; a rolling alias needs an entry for each snapshot"
    if entry.release is not None and entry.cutoff.first > entry.release.last:
        raise RegistryError(
            f"{where}: the cut-off {entry.cutoff.as_written} is later than the release {entry.release.as_written}", hint
        )
    if entry.cutoff_looked_up is not None and entry.cutoff.first > entry.cutoff_looked_up:
        raise RegistryError(
            f"{where}: the cut-off {entry.cutoff.as_written} is later than {entry.cutoff_looked_up}, its look-up", hint
        )


def _warnings(entries: tuple[ModelEntry, ...]) -> Iterable[str]:
    """What looks like a placeholder: unsourced cut-offs long before the release, or shared by many models."""
    unsourced = [entry for entry in entries if entry.cutoff is not None and entry.cutoff_source is None]
    for entry in unsourced:
        if entry.cutoff is not None and entry.release is not None:
            months = (entry.release.first.year - entry.cutoff.last.year) * 12
            months += entry.release.first.month - entry.cutoff.last.month
            if months > EARLY_CUTOFF_MONTHS:
                written = entry.cutoff.as_written
                yield f"{entry.name}: the cut-off {written} is {months} months before the release and has no source"
    for written, count in Counter(entry.cutoff.as_written for entry in unsourced if entry.cutoff is not None).items():
        if count >= 5:
            yield f"{count} models share the cut-off {written} without a source: it looks like a placeholder"


def _refuse_if(owner: ModelEntry | None, entry: ModelEntry, name: str) -> None:
    if owner is not None:
        both = owner.origin if owner.origin == entry.origin else f"{owner.origin} and {entry.origin}"
        raise RegistryError(
            f'two models are called "{name}": {owner.name} and {entry.name}, in {both}',
            "rename one of them, or give their aliases periods (from, to) that do not overlap",
        )


def _text(table: dict[str, Any], key: str, where: str) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise RegistryError(f"{where}: {key} must be text, not {value!r}", f'put it in quotes: {key} = "..."')
    return value.strip() or None


def _date(table: dict[str, Any], key: str, where: str) -> Cutoff | None:
    """A coarse date: text, a TOML date, or a bare year. Words such as "unknown" mean that there is none."""
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | date):
        raise RegistryError(f"{where}: {key} must be a date, not {value!r}", f'write it as {key} = "2023-10"')
    text = value.date().isoformat() if isinstance(value, datetime) else str(value)
    if is_unknown(text):
        return None
    try:
        return parse_cutoff(text)
    except CutoffUnreadable as error:
        raise RegistryError(f"{where}: {key}: {error.message}", error.hint) from error


def _day(table: dict[str, Any], key: str, where: str) -> date | None:
    span = _date(table, key, where)
    if span is not None and span.first != span.last:
        raise RegistryError(f'{where}: {key} must be a day, not "{span.as_written}"', f"write it as {key} = 2026-05-04")
    return span.first if span is not None else None


def _status(table: dict[str, Any], cutoff: Cutoff | None, where: str) -> CutoffStatus | None:
    value = table.get("cutoff_status")
    if cutoff is None:
        return None
    if value not in set(CutoffStatus):
        problem = "has a cut-off but no cutoff_status" if value is None else f"cutoff_status cannot be {value!r}"
        raise RegistryError(f"{where}: {problem}", 'write "stated" (by the provider), "estimated" or "assumed"')
    return CutoffStatus(value)


def _aliases(table: dict[str, Any], where: str) -> tuple[Alias, ...]:
    rows = table.get("aliases", [])
    hint = 'write them as aliases = [{name = "...", from = 2024-09-12, to = 2025-01-31}]'
    if not isinstance(rows, list):
        raise RegistryError(f"{where}: aliases must be a list", hint)
    found = []
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("name"), str) or set(row) - {"name", "from", "to"}:
            raise RegistryError(f"{where}: cannot read the alias {row!r}", hint)
        alias = Alias(row["name"].strip(), _day(row, "from", where), _day(row, "to", where))
        if alias.start is not None and alias.end is not None and alias.start >= alias.end:
            raise RegistryError(f'{where}: the alias "{alias.name}" ends on {alias.end}, not after {alias.start}', hint)
        found.append(alias)
    return tuple(found)


def _period(alias: Alias) -> str:
    return f"{alias.start or '...'} to {alias.end or 'now'}"
