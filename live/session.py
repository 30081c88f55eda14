"""What every command shares: the options before the subcommand, the store, the registry, the consoles."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from live.config import Config, load_config
from live.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from db.engine import Store
    from db.importing import ImportReport
    from eval.models import Registry

_SHOWN_REFUSALS = 20
_WIDE = 200
_LONGEST_LINE = 500


@dataclass
class Work:
    """The stores that a command has opened: whether anything is kept of it, should it be interrupted."""

    stores: list[Store] = field(default_factory=list)

    @property
    def is_kept(self) -> bool:
        """Whether something was written that the next run of the command finds."""
        return any(store.has_written for store in self.stores)


@dataclass(frozen=True)
class Session:
    """The options of one command. ``quiet`` leaves out progress and messages, never data or errors.

    ``cutoffs_as_of`` is the day as of which cut-offs are taken; None: as they are known now.
    """

    db: str | None
    models: list[Path] | None
    quiet: bool
    cutoffs_as_of: date | None = None
    work: Work = field(default_factory=Work)

    @cached_property
    def config(self) -> Config:
        """The configuration, read when first asked for."""
        return load_config(db=self.db, models=self.models, folder=Path.cwd())

    @cached_property
    def registry(self) -> Registry:
        """The models that ship with the command and the user's own."""
        from eval.registry_files import load_registry

        registry = load_registry(self.config.model_paths, today=utc_now().date())
        return registry if self.cutoffs_as_of is None else registry.as_of(self.cutoffs_as_of)

    @cached_property
    def messages(self) -> Console:
        """The console on stderr."""
        from rich.console import Console

        return Console(stderr=True, quiet=self.quiet, highlight=False, soft_wrap=True)

    def open_store(self, *, reading: bool = False, must_exist: bool = False) -> Store:
        """The store, made and migrated if need be; for ``reading`` one that exists and need not be writable.

        One that has to exist and holds nothing is worth a message. Raises ``StoreError``.
        """
        from db.engine import open_store

        default = self.config.default_folder
        if default is not None and not (reading or must_exist):
            try:
                default.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                hint = "name a store with --db, LIVE_DB or live.toml"
                raise UsageError(f"the folder for the store cannot be made: {error}", hint) from error
        store = open_store(self.config.db_url, reading=reading, must_exist=must_exist)
        if (reading or must_exist) and not self.work.stores and store.is_empty():
            self.messages.print(
                f"there is no problem in {store.shown} yet: live import problems and live ingest bring some",
                markup=False,
            )
        self.work.stores.append(store)
        return store

    def canonical_names(self, names: Iterable[str], store: Store) -> list[str]:
        """Registry names for what the user typed, or the name as it stands where only the store has it.

        Raises ``UsageError`` for one that neither knows.
        """
        from db.completions import list_runs
        from db.tallies import list_tally_models

        found = []
        stored: set[str] | None = None
        for name in names:
            entry = self.registry.resolve(name)
            if entry is None and stored is None:
                with store.read() as reading:
                    stored = {*list_tally_models(reading), *(run.model for run in list_runs(reading))}
            if entry is None and name not in (stored or ()):
                hint = "add it to a file of your own: see live models --help"
                raise UsageError(self.registry.unknown_model(name), hint)
            found.append(entry.name if entry else name)
        return found

    def print_import(self, report: ImportReport, what: str) -> None:
        """Say what an import did, and every refusal up to a number that still can be read."""
        self.messages.print(
            f"{what}: {report.created} new, {report.updated} updated, {report.unchanged} unchanged, "
            f"{report.n_refused} refused"
        )
        for note in report.notes[:_SHOWN_REFUSALS]:
            self.messages.print(f"note: {note}", markup=False)
        for refusal in report.refused[:_SHOWN_REFUSALS]:
            typer.echo(f"refused: {refusal}" + (f" ({refusal.hint})" if refusal.hint else ""), err=True)
        for kind, total in (("notes", len(report.notes)), ("refusals", report.n_refused)):
            if total > _SHOWN_REFUSALS:
                self.messages.print(f"… and {total - _SHOWN_REFUSALS} more {kind}; --json has up to 1,000 of them")


def session_of(context: typer.Context) -> Session:
    """The session that the main callback made."""
    session = context.find_object(Session)
    assert session is not None
    return session


def utc_now() -> datetime:
    """The clock, read at the door and nowhere else."""
    return datetime.now(UTC)


def output_console() -> Console:
    """The console for tables on stdout. Where that is no terminal lines may be wide, so that ids stay whole."""
    from rich.console import Console

    return Console(width=None if sys.stdout is not None and sys.stdout.isatty() else _WIDE)


def one_line(text: str) -> str:
    """A text of a site as a line of ours: no control characters, which a terminal obeys, and of a length to be read."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return plain if len(plain) <= _LONGEST_LINE else plain[: _LONGEST_LINE - 1] + "…"


def _json_value(value: Any) -> str:
    return value.isoformat() if isinstance(value, (datetime, date)) else str(value)


def read_day(text: str | None, option: str) -> date | None:
    """The day that an option names, None where it is not given. Raises ``UsageError`` that names the option."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UsageError(f'{option}: cannot read the day "{text}"', "write it as 2025-03-01") from error


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    import json

    json.dump(document, sys.stdout, indent=2, ensure_ascii=False, default=_json_value)
    sys.stdout.write("\n")
