"""Sentences about single places of a string: its first character, its last one, how it ends. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eval.made_tests.grammar import Comparison, Constant, Expression, Index, Kind, Length, Reference
from eval.made_tests.reading.alphabets import alphabet_of
from eval.made_tests.reading.said import Fact, KindSaid, PlaceSaid, one, subjects, whole
from eval.made_tests.reading.scope import Qualifier, Scope, free_letters
from eval.made_tests.reading.terms import NotUnderstood, operation

_ONE = re.compile(
    r"^the (?P<which>first|last) character of (?P<of>.+?) is (?P<negated>not )?(?P<alphabet>.+)$", re.IGNORECASE
)
_REST = re.compile(
    r"^(?:the second and (?:subsequent|later|following) characters|(?:all|the) (?:other )?characters"
    r"(?: except (?:for )?the first(?: one)?)?) of (?P<of>.+?) (?:is|are)(?: all)? (?P<alphabet>.+)$",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"^(?P<of>.+?) (?P<how>ends|starts|begins|does not end|does not start|does not begin) with (?P<word>`[^`\s]+`|\S+)$"
)


def read_places(text: str, scope: Scope, said: Qualifier) -> list[Fact] | None:
    """What a sentence says of single characters of one string; None for a sentence of another form."""
    for pattern, reader in ((_ONE, _one_character), (_REST, _rest), (_ENDS, _ends)):
        if match := pattern.match(text):
            return list(reader(match, _string(match["of"], scope, said), scope))
    return None


def _string(text: str, scope: Scope, said: Qualifier) -> str:
    found = one(whole(subjects(text, scope), scope, said))
    if scope[found.name].dimensions or scope[found.name].cells is not None or scope[found.name].each:
        raise NotUnderstood("single characters of several strings")
    return found.name


def _one_character(match: re.Match[str], name: str, scope: Scope) -> Iterator[Fact]:
    del scope
    is_first = match["which"].lower() == "first"
    at = Reference(name, (Constant(1) if is_first else Length(Reference(name)),))
    characters = _alphabet(match["alphabet"])
    yield KindSaid(name, Kind.STRING)
    if match["negated"]:
        yield from (Comparison(at, "!=", Constant(ord(each))) for each in characters)
        return
    yield from _within(at, characters, ())
    if is_first:
        yield PlaceSaid(name, is_first=True, characters=characters)


def _rest(match: re.Match[str], name: str, scope: Scope) -> Iterator[Fact]:
    if not re.search(r"second and|except|other", match.group(0)):
        raise NotUnderstood("which characters?")
    letter = free_letters(scope)[0]
    characters = _alphabet(match["alphabet"])
    yield KindSaid(name, Kind.STRING)
    yield PlaceSaid(name, is_first=False, characters=characters)
    after = Index(letter, Constant(2), Length(Reference(name)))
    yield from _within(Reference(name, (Reference(letter),)), characters, (after,))


def _ends(match: re.Match[str], name: str, scope: Scope) -> Iterator[Fact]:
    del scope
    word = match["word"].strip("`") or match["word"]
    is_end, is_negated = "end" in match["how"], "not" in match["how"]
    if is_negated and len(word) > 1:
        raise NotUnderstood("a string that does not end with a word")
    yield KindSaid(name, Kind.STRING)
    if len(word) > 1:
        yield Comparison(Constant(len(word)), "<=", Length(Reference(name)))
    for place, character in enumerate(word):
        at: Expression = Constant(place + 1)
        if is_end:
            at = Length(Reference(name))
            if behind := len(word) - place - 1:
                at = operation("-", at, Constant(behind))
        yield Comparison(Reference(name, (at,)), "!=" if is_negated else "==", Constant(ord(character)))


def _alphabet(text: str) -> str:
    characters = alphabet_of(text, bare=True)
    if characters is None:
        raise NotUnderstood(f"the characters {text!r}")
    return characters


def _within(at: Reference, characters: str, indices: tuple[Index, ...]) -> Iterator[Comparison]:
    """That a character is one of some that follow each other."""
    codes = sorted(ord(each) for each in characters)
    if codes != list(range(codes[0], codes[0] + len(codes))):
        raise NotUnderstood("characters that do not follow each other")
    yield Comparison(Constant(codes[0]), "<=", at, indices)
    yield Comparison(at, "<=", Constant(codes[-1]), indices)
