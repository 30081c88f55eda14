"""What is said in an edition without the names of private problems: reasons, notes and programs may hold them. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from eval.editions.document import Edition, EditionProblem

HIDDEN = "a private problem"

COPY_REASONS = {
    "exposed_earlier": "public earlier elsewhere",
    "undated_copy": "may have been public earlier elsewhere",
}
"""The flags of `db.exposure` that say of which problem one is a copy, and what they say where that is a private one."""

_SHORTEST = 4
"""A native id that is shorter than this, or has no letter, is hidden only behind its platform or a quoted title."""

_SHORTEST_TITLE = 6
"""Columns of a terminal: a title of fewer is told from other words only if it has two words."""

# A name ends where letters and digits do; it may follow an escaped character, as in the programs that print it.
_BEGIN = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[abfnrtv])|(?<=%[0-9A-F][0-9A-F])"
    r"|(?<=\\x[0-9A-F][0-9A-F])|(?<=\\u[0-9A-F][0-9A-F][0-9A-F][0-9A-F]))"
)
_END = r"(?![A-Za-z0-9])"
_IN_PARENTHESES = r"(?<=[\"'”’»]\s\(){}(?=\))"
_APART = r"(?:[\s_-]|\\[nrt]|%20)+"
_ESCAPED = re.compile(r"\\[abfnrtv]|%[0-9a-f]{2}|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}")
_WORD = re.compile(r"[a-z0-9]+")
_KEY = re.compile(r"[a-z_]+")
_DATA = frozenset({"data", "settings"})

T = TypeVar("T")


class _Name(NamedTuple):
    """One way to name a problem, as it is written and as what matches it."""

    text: str
    pattern: str


@dataclass(frozen=True)
class _Index:
    """Names by the rarest of their words; ``wordless`` have none in Latin letters or digits."""

    by_word: Mapping[str, tuple[tuple[_Name, set[str]], ...]]
    wordless: tuple[_Name, ...]

    @staticmethod
    def of(names: Iterable[_Name]) -> _Index:
        words = {name: set(_WORD.findall(name.text.casefold())) for name in names}
        n_names = Counter(word for found in words.values() for word in found)
        by_word: defaultdict[str, list[tuple[_Name, set[str]]]] = defaultdict(list)
        for name, found in words.items():
            if found:
                by_word[min(found, key=lambda word: (n_names[word], word))].append((name, found))
        wordless = (name for name, found in words.items() if not found)
        return _Index({word: tuple(pairs) for word, pairs in by_word.items()}, tuple(wordless))

    def perhaps_in(self, text: str) -> list[_Name]:
        """The names that may be in a text; no other one is."""
        folded = text.casefold()
        words = {*_WORD.findall(folded), *_WORD.findall(_ESCAPED.sub(" ", folded))}
        pairs = (pair for word in words & self.by_word.keys() for pair in self.by_word[word])
        return [*self.wordless, *(name for name, found in pairs if found <= words)]


@dataclass(frozen=True)
class PrivateNames:
    """The problems that nothing may name, by their written ids ("atcoder:abc301_a") and by what else tells them.

    ``titles``, ``urls`` and ``revisions`` are theirs. A name of a ``public`` problem stays as it is where a private
    one is a part of it, and not where it is the same.
    """

    written_ids: frozenset[str]
    titles: frozenset[str] = frozenset()
    urls: frozenset[str] = frozenset()
    revisions: frozenset[str] = frozenset()
    public: frozenset[str] = frozenset()

    @staticmethod
    def of(editions: Iterable[Edition], also: Iterable[str] = ()) -> PrivateNames:
        """Those that are private in any of these editions, and those with the written ids ``also``."""
        problems = [one for edition in editions for one in edition.problems]
        ids = {*also, *(one.written_id for one in problems if one.facts.is_private)}
        private = [one for one in problems if one.written_id in ids]
        public = [one for one in problems if one.written_id not in ids]
        return PrivateNames(
            frozenset(ids),
            frozenset(one.title for one in private),
            frozenset(one.url for one in private if one.url),
            frozenset(one.revision for one in private if one.revision),
            frozenset(name for one in public for name in _names_of(one)),
        )

    def __contains__(self, written_id: str) -> bool:
        return written_id in self.written_ids

    def hidden_in(self, text: str) -> str:
        """The text with each name of a private problem replaced, whatever its case."""
        found = self._names.perhaps_in(text)
        if not found:
            return text
        patterns = sorted((*found, *self._public.perhaps_in(text)), key=_longest_first)
        return re.sub(
            "|".join(one.pattern for one in patterns),
            lambda match: match.group() if match.group().casefold() in self._kept else HIDDEN,
            text,
            flags=re.IGNORECASE,
        )

    def reason_without(self, flag: str, reason: str) -> str:
        """The reason of a flag. One that names the private problem of which this is a copy is replaced as a whole.

        Without the name alone it would still say that the public problem is a private one.
        """
        hidden = self.hidden_in(reason)
        return COPY_REASONS.get(flag, hidden) if hidden != reason or HIDDEN in reason else reason

    def hidden_throughout(
        self, value: T, structure: Mapping[type, AbstractSet[str]], names: AbstractSet[str] = frozenset()
    ) -> T:
        """Nested dataclasses, mappings and sequences with `hidden_in` every text and every key of a mapping.

        ``structure`` has the fields of each class that are left as they are; so is a text that is one of ``names``.
        """
        found: T = _Walk(self, structure, names).of(value)
        return found

    @cached_property
    def _all_names(self) -> tuple[_Name, ...]:
        found: list[_Name] = []
        for written in self.written_ids:
            platform, _, native = written.partition(":")
            found += _of_id(platform, native)
        found += (_whole(title, _spaced(title)) for title in self.titles if _is_telling(title))
        found += (one for url in self.urls for one in _of_url(url))
        found += (_whole(one, re.escape(one)) for one in self.revisions if len(one) > _SHORTEST)
        return tuple(found)

    @cached_property
    def _names(self) -> _Index:
        return _Index.of(self._all_names)

    @cached_property
    def _kept(self) -> frozenset[str]:
        """The names of public problems that may have a private one in them."""
        hidden = {one.text.casefold() for one in self._all_names}
        return frozenset(
            one.casefold() for one in self.public if one.casefold() not in hidden and self._names.perhaps_in(one)
        )

    @cached_property
    def _public(self) -> _Index:
        return _Index.of(_whole(one, re.escape(one)) for one in self._kept)


@dataclass(frozen=True)
class _Walk:
    private: PrivateNames
    structure: Mapping[type, AbstractSet[str]]
    names: AbstractSet[str]

    def of(self, value: Any, *, is_data: bool = False) -> Any:
        """The value without private names; ``is_data`` where the keys that are words are the program's own."""
        if isinstance(value, Enum):
            return value
        if isinstance(value, str):
            return value if value in self.names else self.private.hidden_in(value)
        if is_dataclass(value) and not isinstance(value, type):
            left = self.structure.get(type(value), frozenset())
            names = [one.name for one in fields(value) if one.name not in left]
            return replace(value, **{name: self.of(getattr(value, name), is_data=name in _DATA) for name in names})
        if isinstance(value, Mapping):
            return self._mapping(value, is_data)
        if isinstance(value, (tuple, list)):
            return type(value)(self.of(one, is_data=is_data) for one in value)
        return value

    def _mapping(self, value: Mapping[str, Any], is_data: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, one in value.items():
            shown = key if is_data and _KEY.fullmatch(key) else self.of(key)
            n = 1
            while shown in found:  # two that differed in a private name alone
                n += 1
                shown = f"{self.of(key)} ({n})"
            # The settings of a run are its conditions, under the names that its maker gave them.
            found[shown] = self.of(one, is_data=is_data and key not in ("settings", "conditions"))
        return found


def _names_of(problem: EditionProblem) -> tuple[str, ...]:
    names = (problem.written_id, problem.facts.native_id, problem.title, problem.url or "")
    return tuple(one for one in names if one.strip())


def _of_id(platform: str, native: str) -> list[_Name]:
    is_told = len(native) >= _SHORTEST and any(map(str.isalpha, native))
    if not native:
        return []
    # "codeforces 17" may count something, "codeforces 9A" does not.
    is_mixed = any(map(str.isalpha, native)) and any(map(str.isdigit, native))
    between = r"[\s:/#_-]{1,2}" if is_told or is_mixed else "[:/#_-]"
    written = f"{platform}:{native}"
    found = [_whole(written, f"{re.escape(platform)}{between}{re.escape(native)}")]
    if is_told:
        return [*found, _whole(native, re.escape(native))]
    return [*found, _Name(native, _IN_PARENTHESES.format(re.escape(native)))]


def _of_url(url: str) -> list[_Name]:
    """Links with and without the scheme; one to a site as a whole names no problem."""
    bare = re.sub(r"^https?://(?:www\.)?", "", url.strip(), flags=re.IGNORECASE).rstrip("/")
    if "/" not in bare:
        return []
    name = _whole(bare, re.escape(bare))
    return [_Name(bare, rf"(?:https?://)?(?:www\.)?{name.pattern}")]


def _is_telling(title: str) -> bool:
    columns = sum(2 if east_asian_width(one) in "WF" else 1 for one in title.strip())
    words = [one for one in re.split(_APART, title) if any(map(str.isalpha, one))]
    n_letters = sum(map(str.isalpha, title))
    return bool(words) and (columns >= _SHORTEST_TITLE or (len(words) > 1 and n_letters >= _SHORTEST))


def _spaced(title: str) -> str:
    """The pattern of a title, its words apart by spaces, hyphens or lines."""
    words = [one for one in re.split(_APART, title.strip()) if one]
    return _APART.join(re.sub("['’]", "['’]", re.escape(one)) for one in words)


def _whole(text: str, pattern: str) -> _Name:
    """A name that is no part of a longer word. Scripts without spaces between words have no such ends."""
    begin, end = (
        edge if one.isascii() and one.isalnum() else "" for edge, one in ((_BEGIN, text[0]), (_END, text[-1]))
    )
    return _Name(text, f"{begin}{pattern}{end}")


def _longest_first(name: _Name) -> tuple[int, str, str]:
    return -len(name.text), name.text, name.pattern
