"""models.dev (github.com/anomalyco/models.dev): its api.json, or its base models as CSV; the content tells which.

api.json is ``{provider: {"models": {id: {"id", "name", "knowledge", "release_date", ...}}}}``. One model is served by
many providers under its id, in front of which some put its maker ("openai/gpt-5"); what follows the last slash is its
name, in capitals or not. All entries of a name, or of names that the registry knows for one model, are one model. Of
several release dates the latest counts, whoever states it: it stands in for a cut-off, and makers' entries too are
early by a year at times. What differs is said, with all the dates and who states them. Makers are the providers whose
id several others put in front of models.

Columns of the CSV: ``model`` ("provider/id"), ``name``, ``knowledge``, ``release_date``, and ``source``, which may end
in the day of the copy.

``knowledge`` is that of the training data for some models and of reliable knowledge for others, so it counts as the
latter, which decides nothing. The maker's own counts; where none is known and providers differ, none does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from db.importing import Note, Refusal, UnreadableSource
from db.json_lines import is_cut_off, json_kind
from eval.claims import Claim, ClaimKind
from eval.cutoffs import Cutoff
from eval.registry_forms import ListedModel
from eval.registry_forms._rows import BadCell, Row, csv_rows, date_in, name_in, read_text, shown

NAME = "models.dev"
DESCRIPTION = "api.json of models.dev, or CSV of its base models: release dates, and dates of reliable knowledge"
BY = "anomalyco/models.dev"
SOURCE = "https://github.com/anomalyco/models.dev"
COLUMNS = ("model", "name", "knowledge", "release_date", "source")
_AGAIN = "get https://models.dev/api.json again"
_NAMED_BY = 2
"""So many other providers put a maker's id in front of models; one alone may mean where it has them served."""
_SHOWN_PROVIDERS = 3
_DAY_OF_COPY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}$")


@dataclass(frozen=True)
class _Entry:
    """What one provider, or one row of the CSV, says of a model. ``namespace`` is what stands in front of the name."""

    where: str
    provider: str
    namespace: str
    name: str
    knowledge: Cutoff | None
    release: Cutoff | None
    says_latest: bool
    day: date | None


def read(path: Path, canonical: Callable[[str], str]) -> Iterator[ListedModel | Refusal | Note]:
    """The models of the file. One without any date is noted, and so is a name that must have been moved.

    Refused are single rows or entries. Raises ``UnreadableSource`` where the file is neither of the two.
    """
    text = read_text(path)
    is_api = text.lstrip()[:1] in ("{", "[")
    entries: list[_Entry] = []
    for row in _api_rows(text, path) if is_api else csv_rows(text, path, COLUMNS):
        if isinstance(row, Refusal):
            yield row
            continue
        try:
            entry = _entry(row)
        except BadCell as error:
            yield Refusal(row.where, error.reason, error.hint)
            continue
        if is_api:
            entries.append(entry)
        else:
            yield from _listed([entry], [entry])
    makers, models = _makers(entries), dict[str, list[_Entry]]()
    for entry in entries:
        models.setdefault(canonical(entry.name).casefold(), []).append(entry)
    for stated in models.values():
        yield from _listed(stated, _own(stated, makers))


def _api_rows(text: str, path: Path) -> Iterator[Row | Refusal]:
    """The entries of api.json as rows. Raises ``UnreadableSource``."""
    providers = _json(text, path)
    if not isinstance(providers, dict):
        found = f"{path}: expected an object of providers, found {json_kind(providers)}"
        raise UnreadableSource(found, _AGAIN)
    if not any(isinstance(provider, dict) and "models" in provider for provider in providers.values()):
        found = f"{path}: no entry of it is a provider with models"
        raise UnreadableSource(found, "models.json and catalog.json are other forms: get https://models.dev/api.json")
    for provider, facts in providers.items():
        where = f'provider "{shown(provider)}"'
        models = facts.get("models") if isinstance(facts, dict) else None
        if not isinstance(models, dict):
            yield Refusal(where, f'expected an object "models", found {json_kind(models)}', _AGAIN)
            continue
        for key, model in models.items():
            yield _api_row(f'{where}, model "{shown(key)}"', shown(provider), model)


def _json(text: str, path: Path) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{path}, line {error.lineno}, column {error.colno}"
        if is_cut_off(error, len(text.rstrip())):
            raise UnreadableSource(f"{place}: the file ends in the middle of its JSON", _AGAIN) from error
        raise UnreadableSource(f"{place}: not JSON: {error.msg}", _AGAIN) from error
    except (RecursionError, ValueError) as error:
        raise UnreadableSource(f"{path}: not readable as JSON: {error}", _AGAIN) from error


def _api_row(where: str, provider: str, model: Any) -> Row | Refusal:
    """One entry as a row of the CSV's columns."""
    if not isinstance(model, dict):
        return Refusal(where, f"expected an object, found {json_kind(model)}", _AGAIN)
    cells = {"provider": provider, "source": ""}
    for key, column in (("id", "model"), ("name",) * 2, ("knowledge",) * 2, ("release_date",) * 2):
        value = model.get(key, "")
        if not isinstance(value, str):
            return Refusal(where, f"{key}: expected text, found {json_kind(value)}", _AGAIN)
        cells[column] = value.strip()
    return Row(where, cells) if cells["model"] else Refusal(where, "has no id", _AGAIN)


def _entry(row: Row) -> _Entry:
    """A row, read. Raises ``BadCell``."""
    path, _, name = name_in(row, "model").rpartition("/")
    if not name:
        raise BadCell("model: has no id after its provider", "write it as provider/id")
    return _Entry(
        row.where,
        row.cells.get("provider", path),
        path.rpartition("/")[2],
        name,
        date_in(row, "knowledge"),
        date_in(row, "release_date"),
        name.endswith("-latest") or "(latest)" in row.cells["name"].casefold(),
        _day_of_copy(row.cells["source"]),
    )


def _makers(entries: Sequence[_Entry]) -> set[str]:
    """The providers that make models."""
    named_by: dict[str, set[str]] = {}
    for entry in entries:
        if entry.namespace != entry.provider:
            named_by.setdefault(entry.namespace, set()).add(entry.provider)
    providers = {entry.provider for entry in entries}
    return {name for name, others in named_by.items() if name in providers and len(others) >= _NAMED_BY}


def _own(entries: Sequence[_Entry], makers: set[str]) -> list[_Entry]:
    """The entries by the maker of a model; none where it cannot be told, since makers serve models of others too."""
    named = {entry.namespace for entry in entries} & makers
    own = [one for one in entries if one.provider in (named or makers) and one.namespace in ("", one.provider)]
    return own if len({entry.provider for entry in own}) == 1 else []


def _listed(entries: Sequence[_Entry], own: Sequence[_Entry]) -> Iterator[ListedModel | Note]:
    """The model of these entries, of which ``own`` are by its maker, and what is to be noted of it."""
    first = (own or entries)[0]
    where = first.where if len(entries) == 1 else f"{len(entries)} providers"
    release, latest = _latest(entry.release for entry in entries), _latest(entry.knowledge for entry in entries)
    if latest is None and release is None:
        yield Note(f"{where}, {first.name}", "no date is given")
        return
    by_maker = _latest(entry.knowledge for entry in own)
    disputed = list(_dispute("knowledge to", ((one.provider, one.knowledge) for one in entries)))
    knowledge = by_maker or (None if disputed else latest)
    released = list(_dispute("released", ((one.provider, one.release) for one in entries)))
    conflicts = [f"{dates}: the latest counts" for dates in released]
    conflicts += [f"{dates}: {'that of its maker' if by_maker else 'none'} counts" for dates in disputed]
    says_latest = any(entry.says_latest for entry in own or entries)
    moved = _is_after(by_maker or latest, release)
    if moved and not says_latest:
        text = "its date is later than its release: taken for an alias that was moved, not scored"
        yield Note(f"{where}, {first.name}", text)
    yield ListedModel(
        where,
        first.name,
        first.provider or None if own else None,
        () if knowledge is None else (Claim(ClaimKind.RELIABLE_KNOWLEDGE, knowledge, BY, SOURCE, first.day),),
        release,
        SOURCE if release else None,
        says_latest or moved,
        tuple(conflicts),
    )


def _is_after(knowledge: Cutoff | None, release: Cutoff | None) -> bool:
    """A snapshot cannot know what was written after its release; a name that was moved to a newer one can."""
    return knowledge is not None and release is not None and knowledge.first > release.last


def _latest(dates: Iterable[Cutoff | None]) -> Cutoff | None:
    return max((one for one in dates if one is not None), key=lambda one: one.last, default=None)


def _dispute(what: str, stated: Iterable[tuple[str, Cutoff | None]]) -> Iterator[str]:
    """Every date and who states it, where they cannot all be true."""
    by_date: dict[Cutoff, list[str]] = {}
    for provider, found in stated:
        if found is not None:
            by_date.setdefault(found, []).append(provider)
    if by_date and max(one.first for one in by_date) > min(one.last for one in by_date):
        dates = sorted(by_date, key=lambda one: (one.last, one.first), reverse=True)
        yield f"{what} {'; '.join(f'{one.in_words} by {_listing(by_date[one])}' for one in dates)}"


def _listing(providers: Iterable[str]) -> str:
    """Providers by name, the first few of many."""
    names = list(dict.fromkeys(providers))
    more = len(names) - _SHOWN_PROVIDERS
    return ", ".join(names[:_SHOWN_PROVIDERS]) + (f" and {more} more" if more > 0 else "")


def _day_of_copy(text: str) -> date | None:
    found = _DAY_OF_COPY.search(text)
    try:
        return date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None
