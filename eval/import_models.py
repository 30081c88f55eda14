"""What is settled before an import writes anything: whose answers the file holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from db.importing import ImportFailure
from eval.formats import Format, ResultRow, SolutionRow

ModelResolver = Callable[[str], "str | None"]
"""Gives the canonical name of a model for any of its names, None for a name that nobody knows."""

MAX_NAMES_SHOWN = 10


class UnknownModel(ImportFailure):
    """A model that no registry knows, or a file that names none where none was given; nothing was written."""


class Models:
    """Canonical model names, each looked up once.

    Without a resolver every name stands for itself. With ``keep_unknown`` so does a name that the resolver does not
    know; ``kept`` has those.
    """

    def __init__(self, resolver: ModelResolver | None, *, keep_unknown: bool = False) -> None:
        self.kept: set[str] = set()
        self._resolver = resolver
        self._keep_unknown = keep_unknown
        self._known: dict[tuple[str, str | None], str | None] = {}

    def resolve(self, name: str, exact_name: str | None = None) -> str | None:
        """The canonical name; the more exact name of the two is asked for first."""
        pair = (name, exact_name)
        if pair not in self._known:
            candidates = [candidate for candidate in (exact_name, name) if candidate]
            if self._resolver is None:
                self._known[pair] = candidates[0]
            else:
                found = (self._resolver(candidate) for candidate in candidates)
                self._known[pair] = next((canonical for canonical in found if canonical is not None), None)
                if self._known[pair] is None and self._keep_unknown:
                    self._known[pair] = candidates[0]
                    self.kept.add(candidates[0])
        return self._known[pair]

    def require(self, names: Iterable[tuple[str, str | None]]) -> None:
        """Raise ``UnknownModel`` that names those of the (name, more exact name) pairs that nobody knows."""
        unknown = sorted({name for name, exact in names if self.resolve(name, exact) is None})
        if not unknown:
            return
        shown = ", ".join(repr(name) for name in unknown[:MAX_NAMES_SHOWN])
        unshown = len(unknown) - MAX_NAMES_SHOWN
        more = f" and {unshown} more" if unshown > 0 else ""
        hint = "`live models list` shows the known ones; a model of yours is one entry in a registry file"
        raise UnknownModel(f"unknown model{'s' if len(unknown) > 1 else ''} {shown}{more}", hint)


def models_in(reader: Format, rows: Iterable[object], path: Path) -> set[tuple[str, str | None]]:
    """The (name, more exact name) pairs that a file gives: a pass before the import, so that nothing is half done."""
    hint = "say whose answers these are with --model NAME"
    if not reader.names_models:
        raise UnknownModel(f"files of the format {reader.name} do not name their model", hint)
    names: set[tuple[str, str | None]] = set()
    n_rows = 0
    for row in rows:
        if isinstance(row, SolutionRow | ResultRow):
            n_rows += 1
            if row.model is not None:
                names.add((row.model, row.model_id if isinstance(row, ResultRow) else None))
    if n_rows and not names:
        raise UnknownModel(f"{path}: no row names its model", hint)
    return names
