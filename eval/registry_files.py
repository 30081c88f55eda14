"""Registry files: models and claims as people write them in TOML.

A file holds ``[[model]]`` entries, each with its claims::

    [[model]]
    name = "example-2024-09-12"           # the snapshot's id as its API or repository gives it
    provider = "Example"
    aliases = [{name = "example", from = 2024-09-12, to = 2025-01-31}]      # half-open [from, to)
    base_models = ["example-base"]        # models whose data it inherits
    rolling = true                        # a name without a snapshot ("example-latest"): never scored by cut-off
    release_date = "2024-09-12"
    release_source = "https://..."
    web_access = false
    notes = "..."

    [[model.claim]]
    kind = "training_data"                # or reliable_knowledge, estimate: shown, and never used to score
    cutoff = "2023-10"                    # as the source writes it
    by = "Example"                        # who says so
    source = "https://..."
    looked_up = 2026-05-04
    superseded = 2026-09-01               # the day from which it no longer holds; claims are never deleted

A day that is the first or the last of its month counts as the whole month, since lists of models write months so; a day
that is meant is written out ("1 June 2024"). A model whose maker states no date has notes that say "not stated" or
"states no cut-off", or a training-data claim whose cut-off is "unknown": no list can date it. The shipped files are in
``eval/registry``; a user's own are read beside them.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

from eval.claims import Claim, ClaimKind
from eval.cutoffs import Cutoff, CutoffUnreadable, is_unknown, parse_cutoff
from eval.models import Alias, ModelEntry, Registry, RegistryError, build_registry

SHIPPED = Path(__file__).parent / "registry"

_KEYS = (
    "name", "aliases", "provider", "base_models", "rolling", "release_date", "release_source", "web_access", "notes",
    "claim",
)  # fmt: skip
_CLAIM_KEYS = ("kind", "cutoff", "by", "source", "looked_up", "superseded")
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_STATED = re.compile(r"\b(?:not stated|states? no (?:cut-off|date)|no cut-off was found)\b", re.IGNORECASE)
_FLAT_KEYS = {"cutoff": "cutoff", "cutoff_source": "source", "cutoff_looked_up": "looked_up"}


def load_registry(
    extra_paths: Iterable[Path] = (), *, shipped: Path | None = SHIPPED, today: date | None = None
) -> Registry:
    """Read the shipped files and the user's own (files, or folders of ``*.toml``). Raises ``RegistryError``.

    With ``today`` a claim that is superseded only later is refused: until then it holds, and must be counted.
    """
    files = sorted(shipped.glob("*.toml")) if shipped is not None else []
    for path in extra_paths:
        files.extend(sorted(path.glob("*.toml")) if path.is_dir() else [path])
    registry = build_registry([entry for file in dict.fromkeys(files) for entry in read_file(file)])
    for entry in registry.entries if today is not None else ():
        for claim in entry.claims:
            if claim.superseded is not None and today is not None and claim.superseded > today:
                where = f'{", ".join(entry.origins)}, model "{entry.name}"'
                found = f"the claim {claim.cutoff.as_written} is superseded on {claim.superseded}, a day to come"
                raise RegistryError(f"{where}: {found}", "write the day on which it was, once it is")
    return registry


def read_file(path: Path) -> list[ModelEntry]:
    """The entries of one TOML file. Raises ``RegistryError`` with the file and the entry that is wrong."""
    try:
        return read_entries(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise RegistryError(f"{path}: cannot be read ({error.strerror})", "check the path") from error
    except UnicodeDecodeError as error:
        raise RegistryError(f"{path}: not UTF-8: {error.reason} at byte {error.start}", "save it as UTF-8") from error


def read_entries(text: str, origin: str) -> list[ModelEntry]:
    """The entries of a registry file's text. ``origin`` names the file. Raises as `read_file` does."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RegistryError(f"{origin}: not valid TOML: {error}", 'put dates in quotes: cutoff = "2023-10"') from error
    tables = content.get("model", [])
    if set(content) - {"model"} or not _is_list_of_tables(tables):
        raise RegistryError(f"{origin}: holds something else than [[model]] tables", "write each as [[model]]")
    return [read_entry(table, f"{origin}, model {number}", origin) for number, table in enumerate(tables, start=1)]


def read_entry(table: dict[str, Any], where: str, origin: str) -> ModelEntry:
    """One ``[[model]]`` table, checked. ``where`` names it in errors."""
    _refuse_flat_cutoff(table, where)
    _check_keys(table, _KEYS, where)
    name = _text(table, "name", where)
    if name is None:
        raise RegistryError(f"{where}: has no name", 'give it one: name = "..."')
    where = f'{where} "{name}"'
    claims = table.get("claim", [])
    if not _is_list_of_tables(claims):
        raise RegistryError(f"{where}: its claims are no tables", "write each below the model as [[model.claim]]")
    return ModelEntry(
        name=name,
        provider=_text(table, "provider", where),
        aliases=_aliases(table, where),
        claims=tuple(_claims(claims, where)),
        base_models=_names(table, "base_models", where),
        rolling=_flag(table, "rolling", where),
        release=_date(table, "release_date", where),
        release_source=_text(table, "release_source", where),
        web_access=_flag(table, "web_access", where),
        notes=_text(table, "notes", where),
        not_stated=_says_not_stated(table, claims),
        origins=(origin,),
    )


def _says_not_stated(table: dict[str, Any], claims: list[dict[str, Any]]) -> bool:
    """Whether the entry says that its maker states no date: by a claim of an unknown one, or in its notes."""
    unknown = any(
        claim["kind"] == ClaimKind.TRAINING_DATA and "superseded" not in claim and is_unknown(str(claim["cutoff"]))
        for claim in claims
    )
    return unknown or _NOT_STATED.search(str(table.get("notes") or "")) is not None


def _refuse_flat_cutoff(table: dict[str, Any], where: str) -> None:
    """Show an entry of the form that files had before claims what it has to become."""
    if not any(key in table for key in (*_FLAT_KEYS, "cutoff_status")):
        return
    kind = "estimate" if table.get("cutoff_status") == "estimated" else "training_data"
    lines = [f'kind = "{kind}"']
    for old, new in _FLAT_KEYS.items():
        value = table.get(old)
        if value is not None:
            lines.append(f"{new} = {value}" if isinstance(value, date) else f'{new} = "{value}"')
    name = f' "{table["name"]}"' if isinstance(table.get("name"), str) else ""
    raise RegistryError(
        f"{where}{name}: a cut-off is a claim, not the keys cutoff, cutoff_status, cutoff_source of its model",
        f"write below the model, each on a line of its own: [[model.claim]] {' '.join(lines)}",
    )


def _claims(tables: list[dict[str, Any]], where: str) -> Iterator[Claim]:
    """The claims of a model. One whose cut-off is written as unknown says that nothing is claimed."""
    for number, table in enumerate(tables, start=1):
        claim = _claim(table, f"{where}, claim {number}")
        if claim is not None:
            yield claim


def _claim(table: dict[str, Any], where: str) -> Claim | None:
    _check_keys(table, _CLAIM_KEYS, where)
    kind = table.get("kind")
    if kind not in set(ClaimKind):
        problem = "has no kind" if kind is None else f"kind cannot be {kind!r}"
        raise RegistryError(f"{where}: {problem}", f"write one of {', '.join(ClaimKind)}")
    cutoff = _date(table, "cutoff", where)
    if cutoff is None:
        if "cutoff" in table:
            return None
        raise RegistryError(f"{where}: has no cut-off", 'write it as cutoff = "2023-10", or leave the claim out')
    claim = Claim(
        ClaimKind(kind),
        cutoff,
        by=_text(table, "by", where),
        source=_text(table, "source", where),
        looked_up=_day(table, "looked_up", where),
        superseded=_day(table, "superseded", where),
    )
    if claim.looked_up is not None and claim.cutoff.first > claim.looked_up:
        found = f"the cut-off {claim.cutoff.as_written} is later than {claim.looked_up}, its look-up"
        raise RegistryError(f"{where}: {found}", "check both dates")
    if claim.looked_up is not None and claim.superseded is not None and claim.superseded < claim.looked_up:
        found = f"it is superseded on {claim.superseded}, before {claim.looked_up}, its look-up"
        raise RegistryError(f"{where}: {found}", "check both dates")
    return claim


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(table, dict) for table in value)


def _check_keys(table: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            raise RegistryError(f'{where}: unknown key "{key}"', f"did you mean {close[0]}?" if close else "remove it")


def _text(table: dict[str, Any], key: str, where: str) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise RegistryError(f"{where}: {key} must be text, not {value!r}", f'put it in quotes: {key} = "..."')
    return value.strip() or None


def _flag(table: dict[str, Any], key: str, where: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise RegistryError(f"{where}: {key} must be true or false, not {value!r}", f"write {key} = true")
    return value


def _names(table: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) and value.strip() for value in values):
        raise RegistryError(f"{where}: {key} must be a list of names, not {values!r}", f'write {key} = ["..."]')
    return tuple(value.strip() for value in values)


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
        return parse_cutoff(text, from_registry=True)
    except CutoffUnreadable as error:
        raise RegistryError(f"{where}: {key}: {error.message}", error.hint) from error


def _day(table: dict[str, Any], key: str, where: str) -> date | None:
    """A day that is meant as one: a TOML date, or an ISO day as text."""
    value = table.get(key)
    if value is None:
        return None
    day = value.date() if isinstance(value, datetime) else value
    if isinstance(day, str) and _ISO_DAY.fullmatch(day.strip()):
        span = _date({key: day}, key, where)
        day = span and date.fromisoformat(span.as_written)
    if not isinstance(day, date):
        raise RegistryError(f"{where}: {key} must be a day, not {value!r}", f"write it as {key} = 2026-05-04")
    return day


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
