"""Sentences about strings: how long they are, which characters are in them, which words they can be. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eval.made_tests.grammar import Characters, Constant, Kind, OneOf, Reference, Remainder
from eval.made_tests.reading.alphabets import alphabet_of, values_of
from eval.made_tests.reading.expressions import parse_expression
from eval.made_tests.reading.said import Fact, KindSaid, Whole, bounded, bounds, length_of, subjects, whole
from eval.made_tests.reading.scope import Qualifier, Scope, compared
from eval.made_tests.reading.terms import NotUnderstood

_IS_STRING = re.compile(
    r"^(?P<subject>.+?) (?:is|are)(?: each)?(?: an?| also)?(?: (?P<filled>non-?empty))?"
    r"(?: (?P<case>(?:lower|upper)[- ]?case)(?: English(?: letter)?)?)?"
    r"(?: length[- ]?(?P<length>\S+))?(?: (?P<count>\d+)-(?:character|letter))? strings?(?P<rest>\b.*)$"
)
_CONSIST = re.compile(
    r"^(?P<subject>.+?) (?:consists?|is composed|are composed) (?:only |solely |entirely )?of (?P<alphabet>.+)$"
)
_LENGTHS = re.compile(r"^the lengths? of (?P<subject>.+?) (?:is|are)(?: each)? (?P<bounds>.+)$", re.IGNORECASE)
_CHARACTER_OF = re.compile(r"^each character (?:of|in) (?P<subject>.+?) is (?P<alphabet>.+)$", re.IGNORECASE)
_IS_LETTER = re.compile(r"^(?P<subject>.+?) (?:is|are)(?: all| each)?(?: either)? (?P<alphabet>.*\bletters?\b.*)$")
_LENGTH_PHRASE = re.compile(
    r",?\s*(?:and )?\b(?:of|with|has|have|having)(?: an?)? lengths?(?: of)? "
    r"(?P<bounds>between .+? and .+?,? inclusive|at least .+? and at most [^,]+?|at most [^,]+?|at least [^,]+?"
    r"|between .+? and [^,]+?|[^,]+? to [^,]+?,? inclusive|[^,]+?)"
    r"(?=,? (?:each )?(?:consisting|composed)|,? (?:where|of) |,?$)"
)
_MADE_OF = re.compile(
    r"^,?\s*(?:and |each |that |which )*(?:consisting|composed|consists?|of)(?: only| solely)?(?: of)? "
    r"(?P<alphabet>.+)$"
    r"|^,?\s*where each character is (?P<character>.+)$"
)
_GRID = re.compile(
    r"^(?P<subject>.+?) is a grid with (?P<rows>\S+) rows and (?P<columns>\S+) columns consisting of (?P<alphabet>.+)$"
)
_ONE_OF = re.compile(
    r"^(?P<subject>.+?) (?:is|are)(?: each)?(?: either)?(?: one of)?(?P<said>(?: the)? characters?)? (?P<values>.+)$"
)
_CELL = re.compile(
    r"^(?P<of>[A-Za-z]\w*\S*?(?:_\{.+?\})?)(?P<how> ?!= ?| ?==? ?| is not | is )(?P<character>`\S`|'\S'|\S)$"
)
_EQUALS = re.compile(r"^(?P<subject>.+?) ?==? ?(?P<values>.+)$")

# A single word behind "is" is no list: "P is a prime".
_LEAST_VALUES = 2
_LONGEST_VALUE = 12


def read_string(text: str, scope: Scope, said: Qualifier) -> list[Fact] | None:
    """What a sentence says of strings; None for a sentence of another form."""
    for pattern, reader in (
        (_LENGTHS, _lengths),
        (_CHARACTER_OF, _consists),
        (_GRID, _is_grid),
        (_IS_STRING, _is_string),
        (_CONSIST, _consists),
        (_IS_LETTER, _consists),
    ):
        if match := pattern.match(text):
            return list(reader(match, scope, said))
    return None


def read_values(text: str, scope: Scope, said: Qualifier) -> list[Fact] | None:
    """What a sentence says that lists values, ``T_i is 0, 1, or 2``; None for a sentence of another form."""
    if (match := _EQUALS.match(text)) and " or " in match["values"]:
        values = re.sub(rf"{re.escape(match['subject'])} ?= ", "", match["values"])
        are_characters = False
    elif match := _ONE_OF.match(text):
        values, are_characters = match["values"], bool(match["said"])
    else:
        return None
    listed = values_of(values, bare=True)
    if listed is None or len(listed) < _LEAST_VALUES or not (are_characters or _are_values(listed, scope)):
        return None
    return list(_one_of(match["subject"], listed, scope, said))


def _are_values(listed: Sequence[str], scope: Scope) -> bool:
    """Whether words can be values that stand in an input, and no variables: "M or F" where only M is a variable."""
    if any("_" in each or len(each) > _LONGEST_VALUE for each in listed):
        return False
    variables = [each in scope and not scope[each].dimensions for each in listed]
    return not any(variables) or not (all(variables) or any(each.lstrip("-").isdigit() for each in listed))


def _one_of(subject: str, listed: tuple[str, ...], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    are_numbers = all(re.fullmatch(r"-?\d+", each) for each in listed)
    for of in whole(subjects(subject, scope), scope, said):
        if of.cells and not are_numbers:
            yield from _characters(of, listed)
            continue
        if not are_numbers:
            yield KindSaid(of.name, Kind.STRING)
        yield OneOf(of.name, listed)


def _characters(of: Whole, listed: tuple[str, ...]) -> Iterator[Fact]:
    if any(len(each) != 1 for each in listed):
        raise NotUnderstood("a cell of more than one character")
    yield KindSaid(of.name, Kind.STRING)
    yield Characters(of.name, "".join(sorted(listed)))


def _lengths(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    found = whole(subjects(match["subject"], scope), scope, said)
    text = match["bounds"]
    for of in found:
        yield KindSaid(of.name, Kind.STRING)
    if equal := re.match(r"^(?:equal|the same)(?: and (.+))?$", text):
        if len(found) < 2 or any(of.of.indices for of in found):
            raise NotUnderstood("lengths are equal to what?")
        for of in found[1:]:
            yield compared(length_of(found[0]), "==", length_of(of), scope, said)
        text = equal[1] or ""
    if parity := re.match(r"^an? (odd|even) (?:number|integer) (.+)$", text):
        text = parity[2]
        for of in found:
            indices = compared(length_of(of), "==", length_of(of), scope, said).indices
            yield Remainder(length_of(of), 2, int(parity[1] == "odd"), indices)
    if text:
        for of in found:
            yield from bounded(length_of(of), bounds(text, scope), scope, said)


def _consists(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    alphabet, by = _without_length(match["alphabet"])
    characters = alphabet_of(alphabet, bare=True)
    if characters is None:
        raise NotUnderstood(f"the characters {alphabet!r}")
    single = match.re is _IS_LETTER
    for of in whole(subjects(match["subject"], scope), scope, said, bare=not single):
        yield KindSaid(of.name, Kind.STRING)
        yield Characters(of.name, characters)
        if single and not of.cells:
            yield compared(length_of(of), "==", Constant(1), scope, said)
        for text in by:
            yield from bounded(length_of(of), bounds(text, scope), scope, said)


def _is_string(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    rest, by = _without_length(match["rest"])
    characters = _characters_in(rest)
    if match["case"]:
        if characters is not None:
            raise NotUnderstood("characters are said twice")
        characters = alphabet_of(f"{match['case']} English letters")
    by += [each for each in (match["length"], match["count"]) if each]
    for of in whole(subjects(match["subject"], scope), scope, said):
        if of.cells:
            raise NotUnderstood("a character is no string")
        yield KindSaid(of.name, Kind.STRING)
        if match["filled"]:
            yield compared(Constant(1), "<=", length_of(of), scope, said)
        for text in by:
            yield from bounded(length_of(of), bounds(text, scope), scope, said)
        if characters is not None:
            yield Characters(of.name, characters)


def _is_grid(match: re.Match[str], scope: Scope, said: Qualifier) -> Iterator[Fact]:
    characters = alphabet_of(match["alphabet"], bare=True)
    sizes = [parse_expression(match[each], scope.keys()) for each in ("rows", "columns")]
    for of in whole(subjects(match["subject"], scope), scope, said, bare=True):
        shape = scope[of.name]
        if characters is None or [*shape.dimensions, shape.cells] != sizes:
            raise NotUnderstood("a grid of another size")
        yield KindSaid(of.name, Kind.STRING)
        yield Characters(of.name, characters)


def _without_length(text: str) -> tuple[str, list[str]]:
    """A text without what it says of lengths, and what that is."""
    found: list[str] = []
    if re.match(r"^ length [^,]+$|^ length \S+ ", text):
        text = f" of{text}"
    while match := _LENGTH_PHRASE.search(text):
        found.append(match["bounds"])
        text = f"{text[: match.start()]} {text[match.end() :].lstrip(', ')}".strip()
        if len(found) > 3:
            raise NotUnderstood("several lengths")
    return text.strip().strip(","), found


def _characters_in(rest: str) -> str | None:
    """The characters that are left to be said of a string; None where nothing is left."""
    rest = rest.strip(" ,")
    if not rest:
        return None
    match = _MADE_OF.match(rest)
    characters = alphabet_of(match["alphabet"] or match["character"], bare=True) if match else None
    if characters is None:
        raise NotUnderstood(f"a string {rest!r}")
    return characters


def read_cell(text: str, scope: Scope, said: Qualifier) -> list[Fact] | None:
    """What a sentence says of one cell of a grid, ``S_{X,Y} = .`` or ``A_{R_i,C_i} is not #``; None for another one."""
    match = _CELL.match(text)
    if match is None:
        return None
    of = parse_expression(match["of"], scope.keys())
    if not isinstance(of, Reference) or of.name not in scope or scope[of.name].cells is None:
        return None
    if len(of.indices) != len(scope[of.name].dimensions) + 1:
        return None
    operator = "!=" if "not" in match["how"] or "!" in match["how"] else "=="
    character = Constant(ord(match["character"].strip("`'") or match["character"]))
    return [KindSaid(of.name, Kind.STRING), compared(of, operator, character, scope, said.ordered())]
