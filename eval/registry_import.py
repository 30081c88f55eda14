"""Bringing the claims of a public list into a registry file: what is new is added, what changed is superseded.

Everything else in the file stays as its owner wrote it, comments included. The file is replaced whole or not at all.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from db.importing import ImportFailure, ImportReport, Note, Refusal
from eval.claims import Claim, ClaimKind
from eval.eligibility import CutoffChange, changed_cutoffs
from eval.models import ModelEntry, Registry, RegistryError, build_registry
from eval.registry_files import read_entries
from eval.registry_filing import Filing, filed
from eval.registry_forms import ListedModel, form_named

_HEADER = (
    "# Models and what is claimed of their cut-offs. Claims are never deleted: one that changed is superseded.\n\n"
)


def import_claims(
    path: Path,
    form_name: str,
    target: Path,
    registry: Registry,
    *,
    looked_up: date | None,
    today: date,
    accept_earlier: bool = False,
) -> ImportReport:
    """Bring the list ``path`` into the registry file ``target``, which is made if it is not there.

    A name that ``registry`` knows for a model is written as that model's. Claims have the day ``looked_up``, else that
    of the list, else ``today``. The same claim again changes nothing, whatever its day, unless it is filed otherwise by
    what is known now. Refused row by row: what cannot be read, a date later than the list, a second word of the list
    on one model, a list older than what the file has, and, without ``accept_earlier``, what would have a model scored
    by an earlier cut-off than now. Notes name the models that are scored otherwise with it, and the claims that are
    filed as estimates. Raises ``ImportFailure`` or ``RegistryError``, and then nothing was written.
    """
    items = [
        _dated(item, looked_up, today) if isinstance(item, ListedModel) else item
        for item in form_named(form_name).read(path, registry.canonical)
    ]
    target = target.resolve()
    text = _read(target)
    too_early: dict[str, str] = {}
    while True:
        taken = _take(items, _File(text, str(target)), registry, too_early)
        if not taken.file.outcomes.changed:
            break
        written = taken.file.text()
        after = _with(registry, text, written, target)
        changes = list(changed_cutoffs(_with(registry, text, text, target), after))
        found = {} if accept_earlier else dict(_earlier(changes, taken.names, after))
        if not found:
            taken.notes = [f"{change.model}: {change.in_words(is_done=True)}" for change in changes] + taken.notes
            _replace(target, written)
            break
        too_early |= found
    counts, refused = taken.file.outcomes, tuple(taken.refused)
    notes = (*taken.notes, *taken.file.notes)
    return ImportReport(counts.created, counts.updated, counts.unchanged, refused, notes, len(refused))


@dataclass
class _Taken:
    """What became of a list: the file as it would be, the models that it took, and what is to be said."""

    file: _File
    names: set[str] = field(default_factory=set)
    refused: list[Refusal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _take(
    items: Iterable[ListedModel | Refusal | Note], file: _File, registry: Registry, too_early: Mapping[str, str]
) -> _Taken:
    """Bring the items of a list into the file, but for the models that are refused as too early."""
    taken = _Taken(file)
    for item in items:
        if isinstance(item, Note):
            taken.notes.append(str(item))
            continue
        if isinstance(item, Refusal):
            taken.refused.append(item)
            continue
        name = registry.canonical(item.name)
        if name.casefold() in too_early:
            hint = "--accept-earlier takes it nevertheless"
            taken.refused.append(Refusal(f"{item.where}, {item.name}", too_early[name.casefold()], hint))
            continue
        result = file.take(*filed(item, _entries_of(name, registry, file)), name)
        if result is None:
            taken.names.add(name.casefold())
        else:
            taken.refused.append(result)
    return taken


def _entries_of(name: str, registry: Registry, file: _File) -> Iterator[ModelEntry]:
    """What the registry and the file hold on the model of that name."""
    yield from (entry for entry in registry.entries if entry.name.casefold() == name.casefold())
    yield from file.entry_of(name)


def _earlier(changes: Iterable[CutoffChange], taken: set[str], after: Registry) -> Iterator[tuple[str, str]]:
    """The listed models that have a cut-off moved to an earlier one, and how: their own, or that of a descendant."""
    for change in changes:
        if not change.is_earlier:
            continue
        text = f"{change.model} is {change.in_words(is_done=False)}"
        entry = after.resolve(change.model)
        bases = () if entry is None else after.ancestors(entry)
        names = [name.casefold() for name in (change.model, *(base.name for base in bases))]
        yield from ((name, text) for name in (names[:1] if names[0] in taken else names) if name in taken)


@dataclass
class _Outcomes:
    """How many models were created, updated and left as they are."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0

    @property
    def changed(self) -> bool:
        return bool(self.created or self.updated)


@dataclass
class _Known:
    """A model of the file: its table, and its claims in the order of the tables below it."""

    table: Table
    entry: ModelEntry
    claims: list[Claim] = field(default_factory=list)


class _File:
    """A registry file that takes listed models. ``notes`` are for its owner to read."""

    def __init__(self, text: str, origin: str) -> None:
        entries = read_entries(text, origin)
        self.outcomes = _Outcomes()
        self.notes: list[str] = []
        self._document = tomlkit.parse(text or _HEADER)
        tables = self._document.get("model")
        if tables is not None and not isinstance(tables, AoT):
            raise RegistryError(f"{origin}: its models are no [[model]] tables", "write each as [[model]]")
        self._models = tables if tables is not None else tomlkit.aot()
        self._known = {
            entry.name.casefold(): _Known(table, entry, list(entry.claims))
            for entry, table in zip(entries, self._models.body, strict=True)
        }
        self._said: dict[tuple[str, ClaimKind, str | None], str] = {}

    def text(self) -> str:
        """The file as it is now."""
        if self._models.body and "model" not in self._document:
            self._document.append("model", self._models)
        return tomlkit.dumps(self._document)

    def entry_of(self, name: str) -> Iterator[ModelEntry]:
        """What the file holds on the model of that name, if it has it."""
        known = self._known.get(name.casefold())
        if known is not None:
            yield replace(known.entry, claims=tuple(known.claims))

    def take(self, listed: ListedModel, filings: Iterable[Filing], name: str) -> Refusal | None:
        """Add or update one model under this name; a refusal leaves it as it was.

        ``filings`` say why claims of it are filed otherwise than listed: noted where they are written.
        """
        known = self._known.get(name.casefold())
        for claim in listed.claims:
            reason = self._objection(name, claim, known)
            if reason is not None:
                return Refusal(f"{listed.where}, {listed.name}", *reason)
        for claim in listed.claims:
            self._said[name.casefold(), _subject(claim), claim.by] = listed.where
        if known is None:
            self._create(listed, name)
            self.outcomes.created += 1
        elif self._update(listed, known):
            self.outcomes.updated += 1
        else:
            self.outcomes.unchanged += 1
            return None
        self.notes += [f"{one.where}: {one.in_words(is_done=True)}" for one in filings]
        self.notes += [f"{listed.where}, {listed.name}: {conflict}" for conflict in listed.conflicts]
        return None

    def _objection(self, name: str, claim: Claim, known: _Known | None) -> tuple[str, str] | None:
        """Why a claim cannot be taken, and what to do; None where it can."""
        if claim.looked_up is not None and claim.cutoff.first > claim.looked_up:
            hint = "correct the date, or give the day of the list with --looked-up"
            return f"{claim.cutoff.as_written} is later than {claim.looked_up}, the day of the list", hint
        earlier = self._said.get((name.casefold(), _subject(claim), claim.by))
        if earlier is not None:
            return f"{earlier} already gives a date for {name}", "leave one of the two out"
        old = None if known is None else _predecessor(claim, known.claims)
        if old is not None and _differs(old, claim) and _is_older(claim, old):
            hint = f"if the list is as of a later day, say so with --looked-up; not before {old.looked_up}"
            return f"the file has what was found on {old.looked_up}, later than this list of {claim.looked_up}", hint
        return None

    def _create(self, listed: ListedModel, name: str) -> None:
        table = tomlkit.table()
        facts: dict[str, Any] = {"name": name, "provider": listed.provider, "rolling": listed.rolling or None}
        if listed.release is not None:
            facts |= {"release_date": listed.release.as_written, "release_source": listed.release_source}
        _fill(table, facts)
        if self._models.body:
            _set_apart(table, self._models.body[-1])
        self._models.append(table)
        known = _Known(table, ModelEntry(name, release=listed.release, rolling=listed.rolling))
        for claim in listed.claims:
            self._append(claim, known)
        self._known[name.casefold()] = known

    def _update(self, listed: ListedModel, known: _Known) -> bool:
        """Take what the list says beyond or against the file; whether that changed anything."""
        changed = False
        for claim in listed.claims:
            old = _predecessor(claim, known.claims)
            if old is not None and not _differs(old, claim):
                continue
            if old is not None:
                place = known.claims.index(old)
                known.claims[place] = replace(old, superseded=claim.looked_up)
                _claim_tables(known.table).body[place].add("superseded", claim.looked_up)
            self._append(claim, known)
            changed = True
        if listed.rolling and not known.entry.rolling:
            known.table["rolling"] = True
            known.entry = replace(known.entry, rolling=True)
            changed = True
        return self._update_release(listed, known) or changed

    def _update_release(self, listed: ListedModel, known: _Known) -> bool:
        """A release date that the file lacks is taken; another than its own is for the owner to judge."""
        theirs, ours = listed.release, known.entry.release
        if theirs is None:
            return False
        if ours is not None:
            if (ours.first, ours.last) != (theirs.first, theirs.last):
                dates = f"released {theirs.as_written} by the list, {ours.as_written} by the file"
                self.notes.append(f"{listed.where}, {known.entry.name}: {dates}, which stays")
            return False
        known.table["release_date"] = theirs.as_written
        if listed.release_source:
            known.table["release_source"] = listed.release_source
        known.entry = replace(known.entry, release=theirs)
        return True

    def _append(self, claim: Claim, known: _Known) -> None:
        table = tomlkit.table()
        _fill(table, {"kind": claim.kind.value, "cutoff": claim.cutoff.as_written, "by": claim.by})
        _fill(table, {"source": claim.source, "looked_up": claim.looked_up})
        _set_apart(table, known.table)
        if "claim" in known.table:
            _claim_tables(known.table).append(table)
        else:
            known.table.add("claim", _tables_of(table))
        for table_after in self._tables_after(known.table):
            if "\n" not in table_after.trivia.indent:
                table.add(tomlkit.nl())
        known.claims.append(claim)

    def _tables_after(self, table: Table) -> list[Table]:
        """The next model's table, or none for the last."""
        places = [place for place, one in enumerate(self._models.body) if one is table]
        return self._models.body[places[0] + 1 : places[0] + 2]


def _tables_of(table: Table) -> AoT:
    tables = tomlkit.aot()
    tables.append(table)
    return tables


def _fill(table: Table, facts: Mapping[str, Any]) -> None:
    for key, value in facts.items():
        if value is not None:
            table.add(key, value)


def _claim_tables(model: Table) -> AoT:
    """The claims of a model's table. Raises ``ImportFailure`` where they are written in one line."""
    tables = model["claim"]
    if not isinstance(tables, AoT):
        raise ImportFailure(f'the claims of "{model["name"]}" are a list in one line', "write each as [[model.claim]]")
    return tables


def _set_apart(table: Table, before: Table) -> None:
    """One blank line before a new table, where what stands before it does not end in one."""
    if not before.as_string().endswith("\n\n"):
        table.trivia.indent = "\n"


def _predecessor(claim: Claim, known: Iterable[Claim]) -> Claim | None:
    """The claim that holds of what the same people say of the same thing."""
    subject = _subject(claim)
    same = (one for one in known if one.holds and (_subject(one), one.by) == (subject, claim.by))
    return next(same, None)


def _subject(claim: Claim) -> ClaimKind:
    """What a claim is about: an estimate is about the training data too, and takes the place of a claim about them."""
    return ClaimKind.TRAINING_DATA if claim.kind is ClaimKind.ESTIMATE else claim.kind


def _is_older(claim: Claim, old: Claim) -> bool:
    return claim.looked_up is not None and old.looked_up is not None and claim.looked_up < old.looked_up


def _differs(old: Claim, new: Claim) -> bool:
    return (old.kind, old.cutoff, old.source) != (new.kind, new.cutoff, new.source)


def _dated(listed: ListedModel, looked_up: date | None, today: date) -> ListedModel:
    days = [looked_up or claim.looked_up or today for claim in listed.claims]
    claims = (replace(claim, looked_up=day) for claim, day in zip(listed.claims, days, strict=True))
    return replace(listed, claims=tuple(claims))


def _read(target: Path) -> str:
    """The text of the file, empty where there is none yet."""
    try:
        text = target.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ImportFailure(f"{target}: cannot be read ({error.strerror})", "name a TOML file with --into") from error
    except UnicodeDecodeError as error:
        raise ImportFailure(f"{target}: not UTF-8: {error.reason}", "save it as UTF-8") from error
    return text if not text or text.endswith("\n") else text + "\n"


def _with(registry: Registry, old: str, new: str, target: Path) -> Registry:
    """The registry with the file as it would be, in place of what it may have of the file as it is.

    Raises ``RegistryError`` where the two do not go together.
    """
    former = {entry.name.casefold(): set(entry.claims) for entry in read_entries(old, str(target))}
    others = [
        replace(entry, claims=tuple(one for one in entry.claims if one not in former.get(entry.name.casefold(), ())))
        for entry in registry.entries
    ]
    return build_registry([*others, *read_entries(new, f"{target} as it would be")])


def _replace(target: Path, text: str) -> None:
    """Put the file in place in one step, with the permissions it had."""
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False) as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, 0o644 if mode is None else mode)
                os.replace(file.name, target)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        hint = "check that the folder is there and may be written"
        raise ImportFailure(f"{target}: cannot be written ({error.strerror})", hint) from error
