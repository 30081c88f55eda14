"""What the wording of a statement means for what is called: a function whose answer is a list, or a class. Pure.

A list whose parts may come in any order, and nothing else is free, can be compared (``unordered`` of
``sandbox.Comparison``); other answers of which there are several cannot. The rules ask for more than those that flag a
problem: a wrong comparison makes wrong answers right or right ones wrong, a flag too many only leaves a problem out.
Where lists are in the list, the statement must say what holds within them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ingest.statements.sentences import Part, Sentence, any_of, sentences
from ingest.statements.several_answers import hints_at_several_answers, says_several_answers, says_unique_answer
from ingest.statements.wording import Wording

LIST, NESTED = "list", "nested"

_ANY_ORDER = r"in (?:any|arbitrary|whatever|whichever)(?: possible| arbitrary)? order"
_WHOLE = (
    r"(?:answers?|results?|outputs?|solutions?|lists?|arrays?|indices|values|elements|integers|numbers|strings|words)"
)
_ORDER = re.compile(_ANY_ORDER)
_ANY = re.compile(r"\b(?:any|arbitrary|either|one)\b")
# The end of the sentence: what comes after "in any order" would say what else holds.
_END = r"[\s.!)\]]*$"

_RETURNED = any_of(
    # "return the answer in any order", "return an array of all good indices, in any order"
    rf"\breturn(?:ed|s)?\b[^;:]*,? {_ANY_ORDER}{_END}",
    # "the returned list may be in any order"
    rf"\b(?:returned \w+|{_WHOLE}) (?:can|may|could) be (?:returned )?{_ANY_ORDER}{_END}",
    # "the order of the returned list does not matter"
    rf"\border of (?:the |your )?(?:\w+ ){{0,4}}(?:returned |in the )?{_WHOLE}\b[^,;:]{{0,40}}"
    rf"\b(?:do|does|is|are)(?:n't| not) (?:matter|important|relevant|checked){_END}",
)
# Words with which only a part is in any order, or something else beside the list.
_NARROWED = any_of(
    r"\b(?:each|every|where|inside|within|inner|both|characters?|letters?|digits?|bits?)\b",
    r"\b(?:ties?|tied|same|equal|if|when|whenever|unless|except|remaining|rest|others?|among|multiple|several|first)\b",
    r"\b(?:such|so|provided|given) that\b|\bas long as\b|\bwith (?:the )?(?:minimum|maximum)\b",
)
_SORTED = re.compile(
    r"\b(?:sort(?:ed|ing)?|(?:non-)?(?:a|de)scending|(?:non-)?(?:in|de)creasing|lexicograph\w*|alphabet\w*)\b"
)
_ANSWERED = re.compile(r"\breturn|\banswer|\bresult|\boutput")

# "... the order of the output and the order of the triplets does not matter", "the groups, and the names within each
# group, may be in any order".
_OUTER_AND_INNER = any_of(
    rf"\border of (?:the |your )?(?:returned )?{_WHOLE}\b,? (?:and|or|nor) (?:the )?order (?:of|in|within|inside) "
    rf"(?:the |each |every )?[\w ]{{1,30}}\b(?:do|does|is|are)(?:n't| not) (?:matter|important|relevant|checked){_END}",
    rf"\b{_ANY_ORDER}\b.{{0,60}}\b(?:within|inside|in) each\b.{{0,60}}\b{_ANY_ORDER}{_END}",
    rf"\b(?:and|or) (?:the )?[\w ]{{1,30}} (?:within|inside|in|of) each (?:of them|\w+),? "
    rf"(?:can|may|could) be (?:returned )?{_ANY_ORDER}{_END}",
)

_SEVERAL = "multiple_answers"
_RANDOM = re.compile(r"\brandom|\bequally likely\b|\b(?:equal|same) probability\b")


def for_function(wording: Wording, statement: str, returned: str) -> Wording:
    """The wording of a function that returns this type: a list in any order is compared so, and raises no flag."""
    unordered = free_order(statement, returned)
    if unordered is None:
        return wording
    flags = tuple(flag for flag in wording.flags if flag[0] != _SEVERAL)
    return Wording(flags, {**wording.comparison, "unordered": unordered})


def for_class(wording: Wording, statement: str) -> Wording:
    """The wording of a class to design: methods that answer at random have several answers, though none is said to."""
    chance = next((sentence for sentence in sentences(statement) if _RANDOM.search(sentence.plain)), None)
    if chance is None or _SEVERAL in {name for name, _ in wording.flags}:
        return wording
    return replace(wording, flags=(*wording.flags, (_SEVERAL, chance.around(0))))


def free_order(statement: str, returned: str) -> str | None:
    """The value for ``unordered`` of a function's statement in Markdown; None where none is certain.

    ``returned`` is the type of its answer in the spelling of ``sandbox.signatures``.
    """
    depth = returned.count("[]")
    if depth == 0:
        return None
    said = [sentence for sentence in sentences(statement) if not sentence.is_heading]
    found = [sentence for sentence in said if _says_several(sentence)]
    if not found or any(_asks_for_an_order(sentence) for sentence in said) or _hints(said):
        return None
    if depth == 1 and all(map(_is_about_all, found)):
        return LIST
    if depth == 2 and any(map(_is_about_both, said)) and all(_is_about_both(s) or _is_about_all(s) for s in found):
        return NESTED
    return None


def _says_several(sentence: Sentence) -> bool:
    if sentence.part is Part.INPUT:
        return False
    is_output = sentence.part is Part.OUTPUT
    return says_several_answers(sentence.plain, is_call=True, is_output=is_output) is not None


def _is_about_all(sentence: Sentence) -> bool:
    """Whether the sentence sets the order of all that is returned free, and nothing else."""
    others = _ORDER.sub("", sentence.plain)
    return _RETURNED.search(sentence.plain) is not None and not _NARROWED.search(others) and not _ANY.search(others)


def _is_about_both(sentence: Sentence) -> bool:
    """Whether the sentence sets free the order of lists and that within each."""
    return _OUTER_AND_INNER.search(sentence.plain) is not None


def _asks_for_an_order(sentence: Sentence) -> bool:
    return _SORTED.search(sentence.plain) is not None and _ANSWERED.search(sentence.plain) is not None


def _hints(said: Iterable[Sentence]) -> bool:
    """Whether another sentence lets one think of several answers, and none says that there is only one."""
    said = list(said)
    if any(says_unique_answer(sentence.plain) for sentence in said):
        return False
    return any(
        hints_at_several_answers(sentence.plain, is_lenient=False)
        for sentence in said
        if sentence.part is not Part.INPUT
    )
