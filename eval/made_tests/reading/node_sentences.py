"""What LeetCode says of linked lists and binary trees by their nodes, in the words that it has for arrays. Pure.

"The number of nodes in the tree is in the range [1, 100]" becomes "1 <= root.length <= 100", "Node.val" becomes
"root[i]". A sentence that speaks of nodes in other words stays as it is, and is understood by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from eval.made_tests.reading.call_shapes import Parameter

_GENERATED = r"(?:It(?: is|'s) guaranteed that |The (?:input|test cases|tests) (?:is|are) generated such that )?"
_WHICH = r"(?:(?P<each>[Ee]ach|[Bb]oth|[Aa]ll)(?: of)?(?: the)?|[Tt]he|[Aa])(?: given| input)?"
_WHAT = r"(?:(?:binary |linked |linked-)?(?P<what>tree|list)s?|(?P<name>\w+)(?: tree| list)?)"
_OF = rf"{_WHICH} {_WHAT}"
_ROOT = rf"(?:(?:The )?(?:root of )?{_OF}|(?P<only>\w+))"
_GUARANTEED = r"(?:is|are)(?: guaranteed to be| always)?"
_NUMBER = rf"^{_GENERATED}[Tt]he (?:total )?number of (?:the )?nodes in (?:{_OF}|(?P<only>\w+))(?: (?:is|are|will be))"
_IN = r"in the range"
_VALUES = "{low} <= {subject}[i] <= {high}"
_RANGE = rf"{_IN} \[(?P<low>[^,\[\]]+), (?P<high>[^,\[\]]+)\]"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (rf"{_NUMBER} {_RANGE}$", "{low} <= {subject}.length <= {high}"),
        (
            rf"{_NUMBER} an even (?:integer|number) {_RANGE}$",
            "{low} <= {subject}.length <= {high}; {subject}.length is even",
        ),
        (rf"{_NUMBER} (?:equal to )?(?P<number>[A-Za-z]\w*|\d+)$", "{number} == {subject}.length"),
        (
            rf"^{_GENERATED}(?:[Aa]ll |[Ee]ach )?(?:[Oo]f )?(?:[Tt]he )?(?:node )?[Vv]alues?"
            rf" (?:of (?:the |all )*nodes )?(?:in|of) {_OF} (?:is|are) (?:all )?(?:unique|distinct)$",
            "All {subject}[i] are unique",
        ),
        (
            rf"^(?:The )?[Vv]alues? of (?:the |all |each |every )*nodes?(?: in the (?:tree|list))?"
            rf" (?:is|are|will be) {_RANGE}$",
            _VALUES,
        ),
        (rf"^Each node's value is (?:between|{_IN}) \[(?P<low>[^,\[\]]+), (?P<high>[^,\[\]]+)\]$", _VALUES),
        (rf"^{_OF} (?:will have|has|have) (?:node )?values {_RANGE}$", _VALUES),
        (
            rf"^{_OF} (?:will have|has|have) unique (?:node )?values {_RANGE}$",
            f"All {{subject}}[i] are unique; {_VALUES}",
        ),
        (rf"^{_OF} (?:will contain|contains) {_RANGE} nodes$", "{low} <= {subject}.length <= {high}"),
        (r"^(?:The )?[Nn]umber of nodes (?:will not exceed|is at most) (?P<high>\S+)$", "{subject}.length <= {high}"),
        (rf"^{_OF} (?:is not|isn't) empty$", "1 <= {subject}.length"),
        (rf"^{_GENERATED}{_ROOT} (?:has|have) (?:unique|distinct) values$", "All {subject}[i] are unique"),
        (
            rf"^{_GENERATED}{_ROOT} {_GUARANTEED} (?:a )?(?:valid )?(?:binary search trees?|BSTs?)(?: \(BST\))?$",
            "{subject} is a binary search tree",
        ),
        (
            rf"^{_GENERATED}{_ROOT} {_GUARANTEED} (?:a )?complete(?: binary tree)?$",
            "{subject} is a complete binary tree",
        ),
        (rf"^{_GENERATED}{_ROOT} {_GUARANTEED} (?:a )?perfect(?: binary tree)?$", "{subject} is a perfect binary tree"),
        (
            rf"^{_GENERATED}{_ROOT} {_GUARANTEED} sorted in (?P<order>[\w-]+(?: [\w-]+)?) order$",
            "{subject} is sorted in {order} order",
        ),
    )
)
_UNIQUE_NODES = re.compile(
    rf"^{_GENERATED}(?:[Ee]ach|[Ee]very|[Aa]ll|[Tt]he) (?:tree )?nodes?(?:'s?)?"
    r" (?:values? (?:is|are)|(?:in the (?:tree|list) )?(?:has|have)(?: an?)?)(?: all)? (?:unique|distinct)(?: values?)?"
    r"(?: (?:in the range \[(?P<low>[^,\[\]]+), (?P<high>[^,\[\]]+)\]|from (?P<first>\S+) to (?P<last>\S+)))?$"
)
_OF_EACH_NODE = re.compile(
    r" for (?:each|every|all) (?:of the )?nodes? in (?:the |each |both )?[\w ,-]*?(?:tree|list|trees|lists)$"
)
_OF_BOTH = re.compile(
    r"\blists?\b.*\btrees?\b|\btrees?\b.*\blists?\b|\b(?:each|both)\b.*\b(?:each|both)\b|lists$|trees$"
)
_BETWEEN = re.compile(r"\bbetween (\S+) and (\S+)(?=$| nodes$)")
_ALL_VALUES = re.compile(
    r"^(?:(?:All|The)(?: of)?(?: the)?(?: values)?(?: of)? Node\.val"
    r"|(?:The )?value of (?:each|every) node(?: in the (?:tree|list))?) (?=(?:are|is)(?: all)? (?:unique|distinct)$)"
)
_EACH_NODE_HAS = re.compile(
    r"^(?:Each|Every) node in the (?:linked )?(?:list|tree) has (?=[-\d^* ]+ <= [Nn]ode\.val <=)"
)
_ONE_NODE = re.compile(r"^Each node's value is (?=(?:either )?\S+ or \S+$)")
_BOTH_SORTED = re.compile(r"^Both (?P<one>\w+) and (?P<other>\w+) are (?P<rest>sorted in .+)$")
_BOUNDS = re.compile(r"^[-\d^* ]+ <= \w+\.val <= [-\d^* ]+$")
_VALUE = re.compile(r"\b(?P<of>\w+)\.val\b")


def without_nodes(sentence: str, parameters: Mapping[str, Parameter]) -> tuple[str, ...]:
    """The sentence in words for arrays, once for each list or tree that it speaks of; or as it is."""
    nodes = {name: each for name, each in parameters.items() if each.is_tree or each.is_linked_list}
    if not nodes:
        return (sentence,)
    text = _ALL_VALUES.sub("All Node.val ", _BETWEEN.sub(r"in the range [\1, \2]", sentence))
    text = _ONE_NODE.sub("Node.val is ", _EACH_NODE_HAS.sub("", text))
    if (both := _BOTH_SORTED.match(text)) and {both["one"], both["other"]} <= nodes.keys():
        return tuple(f"{both[part]} is {both['rest']}" for part in ("one", "other"))
    if match := _UNIQUE_NODES.match(text):
        return tuple(_unique(match, nodes)) or (sentence,)
    for pattern, plain in _PATTERNS:
        if match := pattern.match(text):
            found = [
                part
                for subject in _subjects(match, nodes)
                for part in plain.format(**match.groupdict(), subject=subject).split("; ")
            ]
            return tuple(found) or (sentence,)
    return _values_of_nodes(text, nodes) or (sentence,)


def _subjects(match: re.Match[str], nodes: Mapping[str, Parameter]) -> list[str]:
    """The parameters that are meant; none where that is not certain."""
    parts = match.groupdict()
    if named := parts.get("only") or parts.get("name"):
        return [named] if named in nodes else []
    what = parts.get("what")
    fitting = [name for name, each in nodes.items() if what is None or each.is_tree == (what == "tree")]
    return fitting if len(fitting) == 1 or parts.get("each") else []


def _unique(match: re.Match[str], nodes: Mapping[str, Parameter]) -> Iterator[str]:
    if len(nodes) > 1:
        return
    (subject,) = nodes
    yield f"All {subject}[i] are unique"
    low, high = match["low"] or match["first"], match["high"] or match["last"]
    if low and high:
        yield f"{low} <= {subject}[i] <= {high}"


def _values_of_nodes(sentence: str, nodes: Mapping[str, Parameter]) -> tuple[str, ...]:
    """ "0 <= Node.val <= 9" of each list and tree, "root.val != 0" of one."""
    if (of := _OF_EACH_NODE.search(sentence)) and len(nodes) > 1 and not _OF_BOTH.search(of[0]):
        return ()
    text = _OF_EACH_NODE.sub("", sentence)
    called = {match["of"] for match in _VALUE.finditer(text)}
    if called and called <= {"Node", "node"}:
        text = re.sub(r"^All (.+) is (?:all )?(unique|distinct)$", r"All \1 are \2", text)
        return tuple(_VALUE.sub(_element(each), text) for each in nodes.values())
    # "root.val" is every node's value in "1 <= root.val <= 9", and the root's elsewhere.
    if len(called) == 1 and called <= nodes.keys() and _BOUNDS.match(text):
        return (_VALUE.sub(_element(nodes[called.pop()]), text),)
    return ()


def _element(parameter: Parameter) -> str:
    return f"{parameter.name}[i]" if parameter.depth == 1 else f"{parameter.name}[i][j]"
