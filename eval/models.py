"""The registry of models: names, aliases, base models, and what is claimed of their cut-offs.

One name leads to one model. A model may stand in several files (the shipped ones and a user's own): then it has the
claims of all of them.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date

from eval.claims import Claim, ClaimKind, claims_on, holding
from eval.cutoffs import Cutoff

EARLY_CUTOFF_MONTHS = 12
"""An unsourced cut-off that lies further than this before the release looks like a placeholder."""

MANY_MODELS = 5
"""So many models with one unsourced cut-off look as if somebody had filled it in."""


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
    """One model snapshot. ``release`` is its release date, read like a cut-off; ``origins`` the files that have it.

    ``base_models`` are those whose data it inherits. ``rolling`` marks a name without a snapshot behind it,
    ``not_stated`` a model whose maker was looked up and does not say what its training data reach to.
    """

    name: str
    provider: str | None = None
    aliases: tuple[Alias, ...] = ()
    claims: tuple[Claim, ...] = ()
    base_models: tuple[str, ...] = ()
    rolling: bool = False
    release: Cutoff | None = None
    release_source: str | None = None
    web_access: bool = False
    notes: str | None = None
    not_stated: bool = False
    origins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Registry:
    """All known models, by name. Names are compared without regard to case. ``warnings`` are for the user to read.

    ``known_on`` is the day as of which it stands; None: now.
    """

    entries: tuple[ModelEntry, ...]
    warnings: tuple[str, ...] = ()
    known_on: date | None = None
    _by_name: dict[str, ModelEntry] = field(init=False, repr=False, compare=False)
    _by_alias: dict[str, list[tuple[Alias, ModelEntry]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_alias: dict[str, list[tuple[Alias, ModelEntry]]] = {}
        for entry in self.entries:
            for alias in entry.aliases:
                by_alias.setdefault(alias.name.casefold(), []).append((alias, entry))
        object.__setattr__(self, "_by_name", {entry.name.casefold(): entry for entry in self.entries})
        object.__setattr__(self, "_by_alias", by_alias)

    def as_of(self, day: date) -> Registry:
        """The registry with the claims as they were known on that day."""
        then = [replace(entry, claims=claims_on(entry.claims, day)) for entry in self.entries]
        return replace(build_registry(then), known_on=day)

    def canonical(self, name: str, on: date | None = None) -> str:
        """The registry's name for a model that is called so (on a day); the same if it leads to none or several."""
        try:
            entry = self.resolve(name, on)
        except ModelAmbiguous:
            return name
        return name if entry is None else entry.name

    def ancestors(self, entry: ModelEntry) -> tuple[ModelEntry, ...]:
        """The models whose data it inherits, nearest first. Raises ``RegistryError`` for one not known, or a cycle."""
        found: dict[str, ModelEntry] = {}
        waiting = [(entry, base) for base in entry.base_models]
        while waiting:
            child, name = waiting.pop(0)
            base = self.resolve(name)
            where = f'{", ".join(child.origins) or "the registry"}, model "{child.name}"'
            if base is None:
                hint = f"add an entry for it, or correct the name: {self.unknown_model(name)}"
                raise RegistryError(f'{where}: its base model "{name}" is in no file', hint)
            if base.name == entry.name:
                raise RegistryError(f'{where}: its base model "{name}" has it as base model', "remove one of the two")
            if base.name not in found:
                found[base.name] = base
                waiting += [(base, further) for further in base.base_models]
        return tuple(found.values())

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
        """Known names close to an unknown one, best first: those that begin with it, the shortest of them first."""
        asked = name.strip().casefold()
        if not asked:
            return []
        known = {alias.name.casefold(): entry.name for entry in self.entries for alias in entry.aliases}
        known |= {entry.name.casefold(): entry.name for entry in self.entries}
        longer = sorted((key for key in known if key.startswith(asked)), key=lambda key: (len(key), key))
        close = difflib.get_close_matches(asked, known, n=3 * limit, cutoff=0.6)
        return list(dict.fromkeys(known[key] for key in [*longer, *close]))[:limit]

    def unknown_model(self, name: str) -> str:
        """One line for a name that is not known, with the closest known names."""
        close = self.suggest(name)
        return f'unknown model "{name}"' + (f"; did you mean {' or '.join(close)}?" if close else "")


def build_registry(entries: Iterable[ModelEntry]) -> Registry:
    """A registry of these entries, those of one name in several files made one.

    Raises ``RegistryError`` where one file has a name twice, two models share an alias on one day, or a base model is
    not there or comes back to its descendant.
    """
    names: dict[str, ModelEntry] = {}
    for entry in entries:
        known = names.get(entry.name.casefold())
        if known is not None:
            _refuse_if(None if _from_other_files(known, entry) else known, entry, entry.name)
        names[entry.name.casefold()] = entry if known is None else _merged(known, entry)
    found = tuple(names.values())
    uses: dict[str, list[tuple[Alias, ModelEntry]]] = {}
    for entry in found:
        for alias in entry.aliases:
            key = alias.name.casefold()
            _refuse_if(names.get(key), entry, alias.name)
            for other, owner in uses.setdefault(key, []):
                _refuse_if(owner if alias.overlaps(other) else None, entry, alias.name)
            uses[key].append((alias, entry))
    registry = Registry(found, tuple(_warnings(found)))
    for entry in found:
        registry.ancestors(entry)
    return registry


def _from_other_files(known: ModelEntry, entry: ModelEntry) -> bool:
    return bool(known.origins and entry.origins) and not set(known.origins) & set(entry.origins)


def _merged(known: ModelEntry, entry: ModelEntry) -> ModelEntry:
    """One model of two files: the claims of both; of two release dates the later, since it may stand in for a claim."""
    releases = [one for one in (known, entry) if one.release is not None]
    released = max(releases, key=lambda one: one.release.last if one.release else date.min, default=known)
    return ModelEntry(
        name=known.name,
        provider=known.provider or entry.provider,
        aliases=tuple(dict.fromkeys([*known.aliases, *entry.aliases])),
        claims=tuple(dict.fromkeys([*known.claims, *entry.claims])),
        base_models=tuple(dict.fromkeys([*known.base_models, *entry.base_models])),
        rolling=known.rolling or entry.rolling,
        release=released.release,
        release_source=released.release_source,
        web_access=known.web_access or entry.web_access,
        notes=" ".join(dict.fromkeys(one.notes for one in (known, entry) if one.notes)) or None,
        not_stated=known.not_stated or entry.not_stated,
        origins=(*known.origins, *entry.origins),
    )


def _warnings(entries: tuple[ModelEntry, ...]) -> Iterator[str]:
    """What looks like a placeholder: unsourced cut-offs long before the release, or shared by many models."""
    for entry in entries:
        cutoff = unsourced_cutoff(entry)
        if cutoff is None:
            continue
        months = 0 if entry.release is None else months_between(cutoff.last, entry.release.first)
        if months > EARLY_CUTOFF_MONTHS:
            written = cutoff.as_written
            yield f"{entry.name}: the cut-off {written} is {months} months before the release and has no source"
    for written, count in shared_without_source(entries).items():
        yield f"{count} models share the cut-off {written} without a source: it looks like a placeholder"


def unsourced_cutoff(entry: ModelEntry) -> Cutoff | None:
    """The training-data cut-off that counts for the model, if nobody says where it is from."""
    claims = holding(entry.claims, ClaimKind.TRAINING_DATA)
    return claims[0].cutoff if claims and claims[0].source is None else None


def shared_without_source(entries: Iterable[ModelEntry]) -> dict[str, int]:
    """Cut-offs without a source that so many models have that they look like placeholders, and how many have them."""
    cutoffs = (unsourced_cutoff(entry) for entry in entries)
    shared = Counter(cutoff.as_written for cutoff in cutoffs if cutoff is not None)
    return {written: count for written, count in shared.items() if count >= MANY_MODELS}


def months_between(first: date, second: date) -> int:
    """How many calendar months the second date's month is after the first's; negative where it is before."""
    return (second.year - first.year) * 12 + second.month - first.month


def _refuse_if(owner: ModelEntry | None, entry: ModelEntry, name: str) -> None:
    if owner is not None:
        both = " and ".join(dict.fromkeys([*owner.origins, *entry.origins]))
        raise RegistryError(
            f'two models are called "{name}": {owner.name} and {entry.name}, in {both}',
            "rename one of them, or give their aliases periods (from, to) that do not overlap",
        )


def _period(alias: Alias) -> str:
    return f"{alias.start or '...'} to {alias.end or 'now'}"
