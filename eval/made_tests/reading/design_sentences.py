"""The sentences of design classes that speak of calls: how many, in what order, and when. Pure.

What else a sentence says is for `eval.made_tests.reading.calls`, whose words are about single arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval.made_tests.design_grammar import CallLimit, DifferentCalls, NeedsElement, RisingCalls
from eval.made_tests.reading.call_shapes import Parameter
from eval.made_tests.reading.terms import NotUnderstood

Methods = Mapping[str, Mapping[str, Parameter]]
"""The parameters of each method, by their names."""

_GUARANTEED = r"(?:It(?: is|'s) guaranteed that |The (?:input|test cases|tests) (?:is|are) generated such that )?"
_NUMBER = r"(?P<most>(?:\d{1,9} ?\* ?)?\d{1,9}(?:\^\d{1,2})?)"
_TOTAL = r"(?: in total| total| combined| altogether)?"
_LIMITS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^(?:There (?:will be|are) )?[Aa]t most,? {_NUMBER}(?: total)?"
        rf" (?:(?:function |method )?calls?|queries){_TOTAL}"
        rf"(?: (?:will be|are|is) made)?{_TOTAL}(?: (?:to|for|of) (?P<methods>.+?))?{_TOTAL}$",
        rf"^(?P<methods>\w[\w, ]*?) (?:will be|is|are) called at most {_NUMBER} times{_TOTAL}$",
        rf"^The (?:total )?number of (?:all )?calls{_TOTAL}(?: (?:to|of) (?P<methods>.+?))?{_TOTAL}"
        rf" (?:is at most|does not exceed|will not exceed|doesn't exceed|won't exceed) {_NUMBER}$",
    )
)
_EACH = re.compile(
    r"^(?:each|every)(?: of the)?(?: \w+)? ?(?:methods?|functions?|operations?)$"
    r"|^(?:each|every)(?: (?:methods?|functions?|operations?))?(?: of)? (?P<methods>.+?)(?: each)?(?: separately)?$"
    r"|^(?P<apart>.+?) (?:each(?: separately)?|separately|respectively)$"
)
_ALL = re.compile(
    r"^(?:all|any)(?: of)?(?: the)? ?(?:methods?|functions?|operations?)|them|the (?:class|methods|functions)$"
)
_BETWEEN = re.compile(r",? and |,? or |, ")
_NOUN = re.compile(r"^(?:the |all |both )?(?:methods?|functions?|operations?|calls to)? ?")
_NOUN_AFTER = re.compile(r" ?(?:methods?|functions?|operations?|calls?)$")
_ORDER = r"(?P<order>strictly increasing|non-decreasing|monotonically increasing|increasing|chronological)"
_WHAT = r"(?:(?:timestamps?|values?|times?) (?:of |for |in )?)?"
_CALLS = r"(?:the )?(?:function |method )?calls(?: (?:to|of) (?P<methods>.+?))?"
_RISING = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{_GUARANTEED}(?:(?:All|Every|The|Each|all|every|the|each) )?(?:the )?{_WHAT}(?P<parameter>\w+)"
        rf"(?: (?:of|in|passed to|for) (?P<methods>.+?)| (?:across|in|over) all {_CALLS.replace('methods', 'over')})?"
        rf" (?:is|are|will be)(?: passed| given| made)? (?:in )?(?:an? )?{_ORDER}(?: order)?(?: \(.*\))?$",
        r"^Each test case will call (?P<methods>\w+) with (?P<order>strictly increasing) values of (?P<parameter>\w+)$",
        rf"^{_GUARANTEED}(?:every|each|Every|Each) call to (?P<methods>\w+) uses"
        r" a (?P<order>strictly) (?:larger|greater) value of (?P<parameter>\w+)"
        r" than (?:the previous call|before|the previous one)$",
        r"^(?:Note that )?(?:[Qq]ueries|[Cc]alls) (?:to|for|of) (?P<methods>\w+)(?:\(\))? will be made (?:in|with)"
        rf" {_ORDER}(?: order of)? (?P<parameter>\w+)$",
        rf"^{_GUARANTEED}(?:[Aa]ll )?(?:the )?calls are (?:being )?made(?: to the system)?"
        r" in (?P<order>chronological) order \((?:i\.e\.,? )?(?P<parameter>\w+) is (?P<how>[\w -]+)\)$",
    )
)
_HOW = {
    "strictly increasing": (True, False),
    "strictly": (True, False),
    "non-decreasing": (False, False),
}
_NON_EMPTY = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{_GUARANTEED}(?:[Aa]ll )?(?:the )?(?:[Cc]alls to |[Mm]ethods? |[Oo]perations? )?(?P<methods>\w[\w, ]*?)"
        r"(?: operations?| methods?| functions?| calls?)? (?:will|are|is|must)(?: always| only)?(?: be)?"
        r"(?: always| only)? (?:called|made|performed) (?:on|when the \w+ is) (?:an? )?non-empty \w+$",
        rf"^{_GUARANTEED}[Tt]here will (?:always )?be at least one (?:element|number|item) in the [\w ]+?"
        r" (?:before calling|when calling|before|when) (?P<methods>\w[\w, ]*?)(?: (?:is|are) called)?$",
        r"^(?:All )?(?:the )?[Cc]alls to (?P<methods>\w[\w, ]*?) (?:are|will be) (?:always )?valid$",
    )
)
_AFTER = (
    re.compile(
        r"^(?P<methods>\w[\w, ]*?) (?:will be|are|is) (?:only )?called (?:only )?after (?P<first>\w+)"
        r" (?:has been|is|was) called(?: at least once)?$"
    ),
)
_REQUIRED = (
    re.compile(
        r"^At least one call (?:will be|is) made to (?P<each>each(?: (?:method|function))?(?: of)? )?(?P<methods>.+?)$"
    ),
)
_DIFFERENT = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:All|Each|Every) (?:the )?calls? to (?P<methods>\w+) (?:will )?(?:contains?|have|has|uses?)"
        r" (?:an? )?(?:unique|distinct|different) (?:values? of )?(?P<parameter>\w+)$",
        r"^All (?:the )?(?:values? of )?(?P<parameter>\w+)(?: (?:in|of|passed to) (?P<methods>\w+))?"
        r" are (?:unique|distinct)$",
    )
)
_LINE = re.compile(r"^(?:[\w<>\[\], ]+ )?(?P<method>\w+)\((?P<parameters>[^()]*)\):? (?P<said>.+)$")
_THING = r"(?:(?:top|front|first|last|new|given|integer|number) )*(?:element|integer|number|value|item|\w+)"
_ADDS = re.compile(
    rf"^(?:Pushes|Push|Adds|Add|Inserts|Insert|Appends|Append|Enqueues|Enqueue) (?:an? |the )?{_THING}\b"
)
_REMOVES = re.compile(
    rf"^(?:Removes|Remove|Pops|Pop|Deletes|Delete|Dequeues|Dequeue)(?: and returns?)? (?:an? |the ){_THING}\b(?! and)"
)
_READS = re.compile(r"^(?:Gets|Get|Returns|Return|Retrieves|Retrieve|Finds|Find|Peeks|Peek)\b")
_CONDITION = re.compile(
    r"\b(?:if|unless|when|only|not|until|all|every|each|times|at most|duplicate\w*)\b", re.IGNORECASE
)
_CHANGES = re.compile(
    r"\b(?:remov|delet|pop|dequeu|push|insert|add|append|clear|mov|evict|merg|discard)\w*", re.IGNORECASE
)


@dataclass(frozen=True)
class Said:
    """What a sentence says of calls, in the words of ``DesignGrammar``."""

    limits: tuple[CallLimit, ...] = ()
    rising: tuple[RisingCalls, ...] = ()
    needs: tuple[NeedsElement, ...] = ()
    different: tuple[DifferentCalls, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()


def read_of_calls(sentence: str, name: str, methods: Methods, premises: Sequence[str]) -> Said | None:
    """What a sentence says of calls; None where it speaks of something else; ``NotUnderstood``."""
    readers: tuple[tuple[Sequence[re.Pattern[str]], Callable[[re.Match[str]], Said | None]], ...] = (
        (_LIMITS, lambda match: Said(limits=_limits(match, name, methods))),
        (_RISING, lambda match: _rising(match, methods)),
        (_NON_EMPTY, lambda match: Said(needs=(_needs(match, methods, premises),))),
        (_DIFFERENT, lambda match: _different(match, methods)),
        (_AFTER, lambda match: _after(match, methods)),
        (_REQUIRED, lambda match: _required(match, methods)),
    )
    for patterns, reader in readers:
        for pattern in patterns:
            if (match := pattern.match(sentence)) and (said := reader(match)) is not None:
                return said
    return None


def _after(match: re.Match[str], methods: Methods) -> Said:
    """What has to be called before something else: each call of it counts as an element that stays."""
    return Said(needs=(NeedsElement(_named(match["methods"], methods), _named(match["first"], methods), ()),))


def _required(match: re.Match[str], methods: Methods) -> Said:
    chosen = _named(match["methods"], methods)
    return Said(required=tuple((method,) for method in chosen) if match["each"] else (chosen,))


def _different(match: re.Match[str], methods: Methods) -> Said | None:
    """None where it is said of the elements of an argument."""
    parameter = match["parameter"]
    having = tuple(name for name, parameters in methods.items() if parameter in parameters)
    if not having or any(methods[name][parameter].depth for name in having):
        return None
    chosen = having if match["methods"] is None else _named(match["methods"], methods)
    if not set(chosen) <= set(having):
        raise NotUnderstood(f"{parameter} is no argument of all of them")
    return Said(different=(DifferentCalls(chosen, parameter),))


def _limits(match: re.Match[str], name: str, methods: Methods) -> tuple[CallLimit, ...]:
    factor, _, power = match["most"].replace(" ", "").rpartition("*")
    base, _, exponent = power.partition("^")
    most = int(factor or 1) * int(base) ** int(exponent or 1)
    said = match["methods"]
    if said is None or _ALL.match(said):
        return (CallLimit(tuple(methods), most),)
    if each := _EACH.match(said):
        listed = each["methods"] or each["apart"]
        chosen = tuple(methods) if listed is None else _named(listed, methods)
        return tuple(CallLimit((method,), most) for method in chosen)
    return (CallLimit(_named(said, methods, name), most),)


def _named(text: str, methods: Methods, name: str | None = None) -> tuple[str, ...]:
    """The methods that a text lists; the class itself, which is made once, does not count."""
    listed = [_NOUN_AFTER.sub("", part).removesuffix("()") for part in _BETWEEN.split(_NOUN.sub("", text, count=1))]
    found = [part.strip() for part in listed if part.strip() != name]
    if unknown := [part for part in found if part not in methods]:
        raise NotUnderstood(f"no method is called {unknown[0]}")
    if not found:
        raise NotUnderstood("no method is named")
    return tuple(dict.fromkeys(found))


def _rising(match: re.Match[str], methods: Methods) -> Said | None:
    """None where it is said of something else than a number that calls have."""
    parameter = match["parameter"]
    having = tuple(name for name, parameters in methods.items() if parameter in parameters)
    if not having or any(not _is_number(methods[name][parameter]) for name in having):
        return None
    parts = match.groupdict()
    said = parts.get("methods") or parts.get("over")
    chosen = having if said is None or _ALL.match(said) else _named(said, methods)
    if not set(chosen) <= set(having):
        raise NotUnderstood(f"{parameter} is no argument of all of them")
    # "Increasing" may leave out equal neighbours or not.
    is_strict, is_doubtful = _HOW.get(parts.get("how") or match["order"], (False, True))
    return Said(rising=(RisingCalls(chosen, parameter, is_strict, is_doubtful),))


def _is_number(parameter: Parameter) -> bool:
    return parameter.depth == 0 and parameter.kind == "integer"


def _needs(match: re.Match[str], methods: Methods, premises: Sequence[str]) -> NeedsElement:
    guarded = _named(match["methods"], methods)
    if any(methods[method] for method in guarded):
        raise NotUnderstood("what has to be there is said of a call with arguments")
    adders, removers = _roles(methods, premises)
    return NeedsElement(guarded, adders, removers)


def _roles(methods: Methods, premises: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The methods that add one element, and those that remove one; ``NotUnderstood`` where one may do something else.

    The statement says it in a line for each: "void push(int val) pushes the element val onto the stack".
    """
    said = _lines_of_methods(methods, premises)
    adders, removers = [], []
    for method, parameters in methods.items():
        first, *others = said.get(method, [""])
        text = f"{first[:1].upper()}{first[1:]}"
        if _ADDS.match(text) and parameters and not any(map(_CONDITION.search, (first, *others))):
            adders.append(method)
        elif _REMOVES.match(text) and not _CONDITION.search(first):
            removers.append(method)
        elif not _READS.match(text) or any(map(_CHANGES.search, (first, *others))):
            raise NotUnderstood(f"what {method} does to the elements is not certain")
    if not adders:
        raise NotUnderstood("no method adds an element")
    return tuple(adders), tuple(removers)


def _lines_of_methods(methods: Iterable[str], premises: Sequence[str]) -> dict[str, list[str]]:
    """The sentences that the statement has for each method."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for sentence in premises:
        if match := _LINE.match(sentence):
            current = found.setdefault(match["method"], [])
            current.append(match["said"])
        elif current is not None:
            current.append(sentence)
    return {method: found[method] for method in methods if method in found}
